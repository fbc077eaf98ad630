//! Unpacking and packing gzip, with a limit on how much a small file may become.

use std::io::Read;
use std::path::Path;

use flate2::read::MultiGzDecoder;

use super::error::{FileError, Place, Problem};

/// Unpacked bytes that are always allowed.
const HARMLESS: u64 = 64 << 20;

/// Unpacked bytes per packed byte that are allowed beyond [`HARMLESS`].
///
/// Deflate reaches 1032 at most, on constant data. Real meshes measured here reach 1.5 to 4, a flat grid of 10⁶ vertices
/// 8 as text and 9 as binary.
const LARGEST_RATIO: u64 = 200;

/// Whether data begin like a gzip file.
pub(super) fn is_gzip(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\x1f\x8b")
}

/// The unpacked content of a gzip file of one or more members.
pub(super) fn unpack(path: &Path, packed: &[u8]) -> Result<Vec<u8>, FileError> {
    let packed_count = packed.len() as u64;
    let limit = HARMLESS.max(LARGEST_RATIO.saturating_mul(packed_count));
    let mut bytes = Vec::new();
    MultiGzDecoder::new(packed)
        .take(limit + 1)
        .read_to_end(&mut bytes)
        .map_err(|e| FileError::new(path, Place::Whole, Problem::Gzip(e.to_string())))?;
    if bytes.len() as u64 > limit {
        let problem = Problem::Bomb {
            packed: packed_count,
            limit,
        };
        return Err(FileError::new(path, Place::Whole, problem));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{Compression, write::GzEncoder};
    use std::io::Write;

    fn pack(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn members_are_joined_and_damage_is_named() {
        let path = Path::new("x.gz");
        let mut packed = pack(b"ab");
        packed.extend(pack(b"cd"));
        assert_eq!(unpack(path, &packed).unwrap(), b"abcd");
        for cut in 1..packed.len() {
            // cutting between the members leaves a whole file
            if cut != pack(b"ab").len() {
                let error = unpack(path, &packed[..cut]).unwrap_err();
                assert!(matches!(*error.problem, Problem::Gzip(_)), "{error}");
            }
        }
    }

    #[test]
    fn a_bomb_is_refused_before_it_fills_the_memory() {
        // a member of 64 MiB of zeros is about 64 kB; four of them unpack 1000-fold
        let zeros = vec![0; HARMLESS as usize];
        let bomb = pack(&zeros).repeat(4);
        assert!(bomb.len() < 1 << 20);
        let error = unpack(Path::new("b.gz"), &bomb).unwrap_err();
        assert!(matches!(*error.problem, Problem::Bomb { .. }), "{error}");
    }
}

//! Numbers of a glTF file: buffers, views and accessors, with every range checked.
//!
//! The readers of the crate `gltf` trust that accessors lie within their buffers; a damaged file must be an error here, not a panic.

use glam::{DAffine3, DMat3, DVec3};
use gltf::accessor::{Accessor, DataType, Dimensions};
use gltf::buffer::Source;
use gltf::{Document, Gltf};

/// What is wrong, in words.
pub(super) type Wrong = String;

/// The contents of all buffers of a file.
pub(super) struct Buffers(Vec<Vec<u8>>);

impl Buffers {
    /// Those within the file; others are refused.
    pub(super) fn of(file: &Gltf) -> Result<Self, Wrong> {
        let read = |buffer: gltf::Buffer<'_>| {
            let bytes = match buffer.source() {
                Source::Bin => file.blob.clone().ok_or("it has no binary part")?,
                Source::Uri(uri) => match uri.strip_prefix("data:").and_then(|u| u.split_once(','))
                {
                    Some((kind, text)) if kind.ends_with(";base64") => {
                        base64(text).ok_or("its embedded data are not base64")?
                    }
                    _ => {
                        return Err(format!(
                            "its numbers are in another file, '{uri}'; export it as .glb, which is one file"
                        ));
                    }
                },
            };
            if bytes.len() < buffer.length() {
                return Err(format!(
                    "buffer {} should have {} bytes and has {}: the file is cut off",
                    buffer.index(),
                    buffer.length(),
                    bytes.len()
                ));
            }
            Ok(bytes)
        };
        file.buffers().map(read).collect::<Result<_, _>>().map(Self)
    }

    /// The numbers of an accessor, N of them for each element; `what` names it in errors.
    pub(super) fn numbers<const N: usize>(
        &self,
        accessor: &Accessor<'_>,
        what: &str,
    ) -> Result<Vec<[f64; N]>, Wrong> {
        let wide = accessor.dimensions().multiplicity();
        if wide != N {
            return Err(format!(
                "{what} should have {N} numbers each and have {wide}"
            ));
        }
        if accessor.sparse().is_some() {
            return Err(format!(
                "{what} are stored sparsely; export them without sparse accessors"
            ));
        }
        let Some(view) = accessor.view() else {
            return Ok(vec![[0.0; N]; accessor.count()]);
        };
        let size = accessor.data_type().size();
        let element = N * size;
        let stride = view.stride().unwrap_or(element);
        let cut_off = || format!("{what} reach beyond the end of the file's data");
        let whole = &self.0[view.buffer().index()];
        let bytes = view.offset().checked_add(view.length());
        let bytes = bytes.and_then(|end| whole.get(view.offset()..end));
        let bytes = bytes
            .and_then(|bytes| bytes.get(accessor.offset()..))
            .ok_or_else(cut_off)?;
        let last = accessor.count().saturating_sub(1).checked_mul(stride);
        let end = last
            .and_then(|last| last.checked_add(element))
            .ok_or_else(cut_off)?;
        if accessor.count() > 0 && end > bytes.len() {
            return Err(cut_off());
        }
        let number = |at: usize| {
            let raw = &bytes[at..at + size];
            let (value, most) = match accessor.data_type() {
                DataType::I8 => (f64::from(raw[0] as i8), 127.0),
                DataType::U8 => (f64::from(raw[0]), 255.0),
                DataType::I16 => (f64::from(i16::from_le_bytes([raw[0], raw[1]])), 32767.0),
                DataType::U16 => (f64::from(u16::from_le_bytes([raw[0], raw[1]])), 65535.0),
                DataType::U32 => {
                    let bits = [raw[0], raw[1], raw[2], raw[3]];
                    (f64::from(u32::from_le_bytes(bits)), 1.0)
                }
                DataType::F32 => {
                    let bits = [raw[0], raw[1], raw[2], raw[3]];
                    (f64::from(f32::from_le_bytes(bits)), 1.0)
                }
            };
            match accessor.normalized() {
                true => (value / most).max(-1.0),
                false => value,
            }
        };
        let elements = (0..accessor.count()).map(|k| {
            let values: [f64; N] = std::array::from_fn(|c| number(k * stride + c * size));
            match values.iter().all(|value| value.is_finite()) {
                true => Ok(values),
                false => Err(format!(
                    "{what}: number {k} (from 0) is not finite; repair it in the program that wrote the file"
                )),
            }
        });
        elements.collect()
    }

    /// Matrices that keep straight lines straight and parallels parallel.
    pub(super) fn matrices(
        &self,
        accessor: &Accessor<'_>,
        what: &str,
    ) -> Result<Vec<DAffine3>, Wrong> {
        if accessor.dimensions() != Dimensions::Mat4 {
            return Err(format!("{what} are not matrices"));
        }
        let matrices = self.numbers::<16>(accessor, what)?;
        Ok(matrices.iter().map(affine).collect())
    }
}

/// The first three rows of a matrix of four columns.
pub(super) fn affine(m: &[f64; 16]) -> DAffine3 {
    let column = |c: usize| DVec3::new(m[4 * c], m[4 * c + 1], m[4 * c + 2]);
    let turn = DMat3::from_cols(column(0), column(1), column(2));
    DAffine3::from_mat3_translation(turn, column(3))
}

/// Names of the clips of a file, in order.
pub(super) fn clip_names(document: &Document) -> Vec<String> {
    let names = document
        .animations()
        .map(|clip| clip.name().unwrap_or_default().to_string());
    names.collect()
}

fn base64(text: &str) -> Option<Vec<u8>> {
    let digit = |c: u8| match c {
        b'A'..=b'Z' => Some(c - b'A'),
        b'a'..=b'z' => Some(c - b'a' + 26),
        b'0'..=b'9' => Some(c - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let digits = text.trim_end_matches('=').bytes().map(digit);
    let digits: Vec<u8> = digits.collect::<Option<_>>()?;
    let mut bytes = Vec::with_capacity(digits.len() * 3 / 4);
    for group in digits.chunks(4) {
        let bits = group.iter().fold(0u32, |bits, d| bits << 6 | u32::from(*d));
        let bits = bits << (6 * (4 - group.len()));
        bytes.extend_from_slice(&bits.to_be_bytes()[1..group.len()]);
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_its_standard() {
        // RFC 4648, section 10
        for (text, bytes) in [
            ("", ""),
            ("Zg==", "f"),
            ("Zm8=", "fo"),
            ("Zm9v", "foo"),
            ("Zm9vYmE=", "fooba"),
        ] {
            assert_eq!(base64(text).as_deref(), Some(bytes.as_bytes()), "{text}");
        }
        assert_eq!(base64("Zm9*"), None);
    }
}

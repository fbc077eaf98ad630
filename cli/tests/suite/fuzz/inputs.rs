//! Meshes and scenes with faults in them.

use crate::random::Random;

/// Two small sheets, flat, crumpled or across each other, and a fan.
fn triangles(random: &mut Random) -> (Vec<[f64; 3]>, Vec<[u32; 3]>) {
    let (mut x, mut faces) = (Vec::new(), Vec::new());
    let n = 2 + random.below(3) as u32;
    let crumpled = *random.pick(&[0.0, 0.0, 0.1, 0.5]);
    // in half of the cases nothing crosses before it is mutated
    let is_apart = random.below(2) == 0;
    let crumpled = if is_apart { 0.2 * crumpled } else { crumpled };
    for sheet in 0..2u32 {
        let first = x.len() as u32;
        for i in 0..=n {
            for j in 0..=n {
                let [a, b] = [i, j].map(|k| f64::from(k) / f64::from(n) - 0.5);
                let mut p = match sheet {
                    0 => [a, 0.0, b],
                    _ if is_apart => [a, 0.3, b],
                    _ => [a, b + 0.25, 0.1],
                };
                p.iter_mut().for_each(|c| *c += crumpled * random.centred());
                x.push(p);
            }
        }
        for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
            let a = first + i * (n + 1) + j;
            faces.extend([[a, a + 1, a + n + 2], [a, a + n + 2, a + n + 1]]);
        }
    }
    if !is_apart && random.below(3) == 0 {
        let (first, spokes) = (x.len() as u32, 3 + random.below(8) as u32);
        x.extend((0..=spokes).map(|_| [random.centred(), random.centred(), random.centred()]));
        faces.extend((1..=spokes).map(|k| [first, first + k, first + 1 + k % spokes]));
    }
    (x, faces)
}

const FORMATS: [&str; 6] = ["obj", "ply", "ply-little", "ply-big", "stl", "stl-binary"];

fn written(format: &str, x: &[[f64; 3]], faces: &[[u32; 3]]) -> Vec<u8> {
    let words = |values: &[f64]| {
        values
            .iter()
            .map(f64::to_string)
            .collect::<Vec<_>>()
            .join(" ")
    };
    let mut out = Vec::new();
    let mut line = |text: String| out.extend(format!("{text}\n").bytes());
    match format {
        "obj" => {
            line("o sheet".into());
            x.iter().for_each(|p| line(format!("v {}", words(p))));
            for [a, b, c] in faces {
                line(format!("f {} {} {}", a + 1, b + 1, c + 1));
            }
        }
        "stl" => {
            line("solid sheet".into());
            for face in faces {
                line("facet normal 0 0 0\nouter loop".into());
                for &v in face {
                    line(format!("vertex {}", words(&x[v as usize])));
                }
                line("endloop\nendfacet".into());
            }
            line("endsolid sheet".into());
        }
        "stl-binary" => {
            out.resize(80, b' ');
            out.extend((faces.len() as u32).to_le_bytes());
            for face in faces {
                out.extend([0; 12]);
                for c in face.iter().flat_map(|&v| x[v as usize]) {
                    out.extend((c as f32).to_le_bytes());
                }
                out.extend([0; 2]);
            }
        }
        _ => {
            let (encoding, big) = match format {
                "ply" => ("ascii", false),
                "ply-little" => ("binary_little_endian", false),
                _ => ("binary_big_endian", true),
            };
            line(format!(
                "ply\nformat {encoding} 1.0\nelement vertex {}",
                x.len()
            ));
            line("property double x\nproperty double y\nproperty double z".into());
            line(format!("element face {}", faces.len()));
            line("property list uchar int vertex_indices\nend_header".into());
            if format == "ply" {
                x.iter().for_each(|p| line(words(p)));
                faces
                    .iter()
                    .for_each(|[a, b, c]| line(format!("3 {a} {b} {c}")));
                return out;
            }
            for c in x.as_flattened() {
                out.extend(if big {
                    c.to_be_bytes()
                } else {
                    c.to_le_bytes()
                });
            }
            for face in faces {
                out.push(3);
                for v in face {
                    out.extend(if big {
                        v.to_be_bytes()
                    } else {
                        v.to_le_bytes()
                    });
                }
            }
        }
    }
    out
}

const NASTY_NUMBERS: [&str; 24] = [
    "NaN",
    "inf",
    "-inf",
    "1e308",
    "-1e308",
    "1e-320",
    "-0",
    "0",
    "-1",
    "1",
    "2",
    "4294967295",
    "4294967296",
    "99999999999999999999",
    "1e30",
    "1e31",
    "1e-70",
    "1e-71",
    "1e15",
    "1e-15",
    "0.30000000000000004",
    "1e",
    "1/1/1",
    "",
];

/// Where numbers stand in a text.
fn numbers(text: &[u8]) -> Vec<std::ops::Range<usize>> {
    let part = |c: u8| c.is_ascii_digit() || b"+-.".contains(&c);
    let mut found = Vec::new();
    let mut i = 0;
    while i < text.len() {
        let before = i == 0 || !(text[i - 1].is_ascii_alphanumeric() || text[i - 1] == b'_');
        if before && part(text[i]) {
            let is_more = |c: &u8| part(*c) || *c == b'e';
            let end = i + text[i..].iter().take_while(|c| is_more(c)).count();
            found.push(i..end);
            i = end;
        } else {
            i += 1;
        }
    }
    found
}

fn lines_of(bytes: &[u8]) -> Vec<Vec<u8>> {
    bytes
        .split_inclusive(|&c| c == b'\n')
        .map(<[u8]>::to_vec)
        .collect()
}

fn replace(bytes: &mut Vec<u8>, place: std::ops::Range<usize>, by: &[u8]) {
    bytes.splice(place, by.iter().copied());
}

/// One change of bytes, lines or numbers.
fn mutate(bytes: &mut Vec<u8>, is_text: bool, nasty: &[&str], random: &mut Random) {
    if bytes.is_empty() {
        return;
    }
    let at = random.below(bytes.len());
    let kind = if is_text {
        random.below(14)
    } else {
        random.below(8)
    };
    match kind {
        0 => bytes[at] ^= 1 << random.below(8),
        1 => bytes[at] = random.next() as u8,
        2 => bytes.truncate(at),
        3 => {
            let end = (at + 1 + random.below(40)).min(bytes.len());
            let piece = bytes[at..end].to_vec();
            let to = random.below(bytes.len());
            replace(bytes, to..to, &piece);
        }
        4 => {
            let end = (at + 1 + random.below(40)).min(bytes.len());
            bytes.drain(at..end);
        }
        // numbers of binary files, aligned with what is behind a header of any length
        5..8 if !is_text => {
            let values: [&[u8]; 9] = [
                &f64::NAN.to_le_bytes(),
                &f64::INFINITY.to_be_bytes(),
                &1e308f64.to_le_bytes(),
                &1e-320f64.to_be_bytes(),
                &f32::NAN.to_le_bytes(),
                &1e30f32.to_le_bytes(),
                &u32::MAX.to_le_bytes(),
                &(1u32 << 31).to_be_bytes(),
                &[0; 8],
            ];
            let value = random.pick(&values);
            let place = bytes.len() - (bytes.len() - at).next_multiple_of(4).min(bytes.len());
            let end = (place + value.len()).min(bytes.len());
            bytes[place..end].copy_from_slice(&value[..end - place]);
        }
        5 | 6 => {
            let mut lines = lines_of(bytes);
            let (i, j) = (random.below(lines.len()), random.below(lines.len()));
            match random.below(3) {
                0 => lines.swap(i, j),
                1 => drop(lines.remove(i)),
                _ => lines.insert(j, lines[i].clone()),
            }
            *bytes = lines.concat();
        }
        _ => {
            let all = numbers(bytes);
            if let Some(place) = all.get(random.below(all.len())) {
                // another number of the same file, one of the same size, or a nasty one
                let own = std::str::from_utf8(&bytes[place.clone()]);
                let own: Option<f64> = own.ok().and_then(|word| word.parse().ok());
                let by = match (random.below(4), own) {
                    (0 | 1, Some(own)) if own.fract() != 0.0 => {
                        (own + random.centred()).to_string()
                    }
                    (0..3, _) => String::from_utf8_lossy(&bytes[random.pick(&all).clone()]).into(),
                    _ => (*random.pick(nasty)).into(),
                };
                replace(bytes, place.clone(), by.as_bytes());
            }
        }
    }
}

/// Both ends of a motion, mutated.
pub(super) struct MeshCase {
    pub(super) extension: &'static str,
    pub(super) start: Vec<u8>,
    pub(super) end: Vec<u8>,
}

impl MeshCase {
    pub(super) fn of(seed: u64, case: u64) -> Self {
        let mut random = Random::of(seed, case);
        let format = *random.pick(&FORMATS);
        let (x, faces) = triangles(&mut random);
        let mut start = written(format, &x, &faces);
        let mut moved = x.clone();
        for p in &mut moved {
            p[1] -= 0.3;
            p.iter_mut().for_each(|c| *c += 0.2 * random.centred());
        }
        let mut end = written(format, &moved, &faces);
        let is_text = matches!(format, "obj" | "ply" | "stl");
        for _ in 0..1 + random.below(2) {
            // both ends alike in half of the cases: a motion needs one topology
            let which = random.below(4);
            let mut again = Random(random.0);
            if which != 1 {
                mutate(&mut start, is_text, &NASTY_NUMBERS, &mut random);
            }
            if which != 0 {
                mutate(&mut end, is_text, &NASTY_NUMBERS, &mut again);
            }
        }
        Self {
            extension: &format[..3],
            start,
            end,
        }
    }
}

const NASTY_VALUES: [&str; 36] = [
    "0",
    "0.0",
    "-0.0",
    "-1",
    "1",
    "2",
    "1e308",
    "-1e308",
    "1e-308",
    "1e-320",
    "inf",
    "-inf",
    "nan",
    "1e9",
    "1e15",
    "-1e15",
    "1e30",
    "1e-9",
    "1e-30",
    "0.5",
    "3",
    "17",
    "1000",
    "1000000",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "-9223372036854775808",
    "true",
    "\"text\"",
    "\"\"",
    "[]",
    "[1.0]",
    "[0.0, 0.0, 0.0]",
    "{}",
    "1e4",
];

/// A scene, mutated.
pub(super) fn scene_case(seed: u64, case: u64, seeds: &[String]) -> String {
    let mut random = Random::of(seed, case ^ 0x5ce0_0000_0000);
    let mut text = random.pick(seeds).clone().into_bytes();
    for _ in 0..1 + random.below(2) {
        match random.below(10) {
            // anything at all; most of it is no TOML
            0 => mutate(&mut text, true, &NASTY_VALUES, &mut random),
            // a key less, twice, elsewhere or under another name
            1 | 2 => {
                let mut lines = lines_of(&text);
                let (i, j) = (random.below(lines.len()), random.below(lines.len()));
                match random.below(4) {
                    0 => lines.swap(i, j),
                    1 => lines.insert(j, lines[i].clone()),
                    2 if lines[i].len() > 2 => drop(lines[i].remove(1)),
                    _ => drop(lines.remove(i)),
                }
                text = lines.concat();
            }
            // a whole value
            3 => {
                let mut lines = lines_of(&text);
                let keys: Vec<usize> = (0..lines.len())
                    .filter(|&i| lines[i].windows(3).any(|w| w == b" = "))
                    .collect();
                if !keys.is_empty() {
                    let i = *random.pick(&keys);
                    let key = String::from_utf8_lossy(&lines[i]).into_owned();
                    let key = key.split(" = ").next().unwrap_or_default();
                    lines[i] = format!("{key} = {}\n", random.pick(&NASTY_VALUES)).into_bytes();
                }
                text = lines.concat();
            }
            _ => {
                let all = numbers(&text);
                if !all.is_empty() {
                    let place = random.pick(&all).clone();
                    let own = String::from_utf8_lossy(&text[place.clone()]).parse::<f64>();
                    let by = match own {
                        // a few powers of ten more or less, or another sign
                        Ok(own) if random.below(2) == 0 => {
                            let factor = 10f64.powi(random.below(13) as i32 - 6);
                            format!(
                                "{:?}",
                                own * if random.below(4) == 0 {
                                    -factor
                                } else {
                                    factor
                                }
                            )
                        }
                        _ => (*random.pick(&NASTY_VALUES)).into(),
                    };
                    replace(&mut text, place, by.as_bytes());
                }
            }
        }
    }
    String::from_utf8_lossy(&text).into_owned()
}

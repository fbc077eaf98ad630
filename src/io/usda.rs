//! USD as text: meshes with positions over time. Y up, metres, one time code per frame.

use std::io::{self, Write};

use glam::{DVec3, Vec3};

/// What a stage is about, beyond its meshes.
pub(crate) struct Stage<'a> {
    pub(crate) fps: f64,
    pub(crate) frame_count: u64,
    /// Name of the root.
    pub(crate) name: &'a str,
}

impl Stage<'_> {
    /// Writes what stands before the meshes.
    pub(crate) fn begin(&self, out: &mut dyn Write) -> io::Result<()> {
        let Self {
            fps,
            frame_count,
            name,
        } = self;
        writeln!(
            out,
            "#usda 1.0\n\
             (\n    defaultPrim = \"{name}\"\n    endTimeCode = {}\n    framesPerSecond = {fps}\n    \
             metersPerUnit = 1\n    startTimeCode = 0\n    timeCodesPerSecond = {fps}\n    upAxis = \"Y\"\n)\n\n\
             def Xform \"{name}\"\n{{",
            frame_count - 1
        )
    }

    /// Writes what stands behind them.
    pub(crate) fn end(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "}}")
    }
}

/// Writes one mesh; an object that never moves is written once.
pub(crate) fn mesh(
    out: &mut dyn Write,
    name: &str,
    faces: impl ExactSizeIterator<Item = [u32; 3]>,
    frame_count: u64,
    positions: impl Fn(u64) -> io::Result<Vec<DVec3>>,
) -> io::Result<()> {
    writeln!(out, "    def Mesh \"{name}\"\n    {{")?;
    writeln!(out, "        uniform bool doubleSided = 1")?;
    write!(out, "        int[] faceVertexCounts = [")?;
    for face in 0..faces.len() {
        write!(out, "{}3", comma(face))?;
    }
    write!(out, "]\n        int[] faceVertexIndices = [")?;
    for (face, [a, b, c]) in faces.enumerate() {
        write!(out, "{}{a}, {b}, {c}", comma(face))?;
    }
    writeln!(out, "]\n        uniform token subdivisionScheme = \"none\"")?;

    let start = positions(0)?;
    let mut moves = false;
    for frame in 1..frame_count {
        moves = moves || positions(frame)? != start;
    }
    if moves {
        writeln!(out, "        float3[] extent.timeSamples = {{")?;
        for frame in 0..frame_count {
            write!(out, "            {frame}: ")?;
            extent(out, &positions(frame)?)?;
            writeln!(out, ",")?;
        }
        writeln!(out, "        }}\n        point3f[] points.timeSamples = {{")?;
        for frame in 0..frame_count {
            write!(out, "            {frame}: ")?;
            points(out, positions(frame)?.into_iter().map(|p| p.as_vec3()))?;
            writeln!(out, ",")?;
        }
        writeln!(out, "        }}")?;
    } else {
        write!(out, "        float3[] extent = ")?;
        extent(out, &start)?;
        write!(out, "\n        point3f[] points = ")?;
        points(out, start.into_iter().map(|p| p.as_vec3()))?;
        writeln!(out)?;
    }
    writeln!(out, "    }}")
}

fn comma(index: usize) -> &'static str {
    if index == 0 { "" } else { ", " }
}

fn extent(out: &mut dyn Write, x: &[DVec3]) -> io::Result<()> {
    let x = x.iter().map(|p| p.as_vec3());
    let (low, high) = x.fold((Vec3::MAX, Vec3::MIN), |(low, high), p| {
        (low.min(p), high.max(p))
    });
    points(out, [low, high].into_iter())
}

fn points(out: &mut dyn Write, x: impl Iterator<Item = Vec3>) -> io::Result<()> {
    write!(out, "[")?;
    for (v, p) in x.enumerate() {
        // shortest decimals that read back as the same f32
        write!(out, "{}({}, {}, {})", comma(v), p.x, p.y, p.z)?;
    }
    write!(out, "]")
}

/// Names that USD allows, one for each given name and all different.
pub(crate) fn identifiers<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut taken: Vec<String> = Vec::new();
    for name in names {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        let mut identifier: String = name.chars().map(plain).collect();
        if !identifier.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
            identifier.insert(0, '_');
        }
        while taken.contains(&identifier) {
            identifier.push('_');
        }
        taken.push(identifier);
    }
    taken
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_identifiers_and_stay_different() {
        let names = ["towel-1", "towel_1", "3", "", "ok"];
        assert_eq!(
            identifiers(names.into_iter()),
            ["towel_1", "towel_1_", "_3", "_", "ok"]
        );
    }
}

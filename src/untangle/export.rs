//! Paths for people and other programs: summaries, colours, polylines.

use std::collections::BTreeMap;
use std::io::{self, Write};

use glam::DVec3;
use serde::Serialize;

use super::{Analysis, Inside, Kind, Path, PathKind};

/// A path in a report.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PathSummary {
    /// The intersection's type, as found.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// What the path itself is, after the splits.
    pub path: PathKind,
    /// Number of the intersection.
    pub contour: u32,
    /// Number of the path at the same places; its own for LL, BLI and BLB.
    pub partner: u32,
    /// Segments on this path's side of the crossing faces.
    pub segments: usize,
    /// In metres.
    pub length: f64,
    /// Whether it has no ends.
    pub closed: bool,
    /// Loop vertices on it.
    pub loop_vertices: Vec<u32>,
    /// Inside vertices, its own or its partner's; nothing if the path does not part the cloth.
    pub inside: Option<usize>,
    /// Whether sheets merely touch along it.
    pub touch: bool,
}

impl Kind {
    /// Colour in pictures and polyline files, red, green, blue.
    pub fn colour(self) -> [u8; 3] {
        match self {
            Self::Closed => [214, 39, 40],
            Self::Eight => [250, 215, 50],
            Self::LoopLoop => [148, 103, 189],
            Self::BoundaryLoopInside => [31, 119, 180],
            Self::BoundaryLoopBoundary => [23, 190, 207],
            Self::BoundaryLoopLoopBoundary => [0, 80, 220],
            Self::Cross => [227, 119, 194],
            Self::CutAndSlit => [44, 160, 44],
            Self::CutAndNotch => [140, 200, 60],
            Self::NotchAndNotch => [20, 20, 20],
            Self::CutAndCut => [120, 120, 120],
        }
    }
}

impl Analysis {
    /// One entry per path, in order.
    pub fn summaries(&self, x: &[DVec3]) -> Vec<PathSummary> {
        self.paths
            .iter()
            .map(|path| {
                let contour = &self.contours[path.contour as usize];
                let line = path.polyline(&self.segments, x);
                PathSummary {
                    kind: contour.kind,
                    path: path.kind,
                    contour: path.contour,
                    partner: path.partner,
                    segments: path.segments.len(),
                    length: line.windows(2).map(|w| w[0].distance(w[1])).sum(),
                    closed: path.kind.is_closed(),
                    loop_vertices: path.loop_vertices(),
                    inside: self.inside_of(path).map(<[u32]>::len),
                    touch: contour.is_touch,
                }
            })
            .collect()
    }

    /// Inside vertices of a path, its own or its partner's; nothing if it does not part the cloth.
    pub(super) fn inside_of<'a>(&'a self, path: &'a Path) -> Option<&'a [u32]> {
        match &path.inside {
            Inside::None => None,
            Inside::Vertices(vertices) => Some(vertices),
            Inside::Partner => Some(self.paths[path.partner as usize].inside.vertices()),
        }
    }

    /// How many intersections there are of each type.
    pub fn counts(&self) -> BTreeMap<Kind, usize> {
        let mut counts = BTreeMap::new();
        for contour in &self.contours {
            *counts.entry(contour.kind).or_insert(0) += 1;
        }
        counts
    }

    /// The curves in space along an intersection, each once.
    pub fn curves(&self, contour: u32, x: &[DVec3]) -> Vec<Vec<DVec3>> {
        let paths = self.contours[contour as usize].paths.clone();
        paths
            .filter_map(|number| {
                let path = &self.paths[number as usize];
                let line = path.polyline(&self.segments, x);
                // a path that is its own partner runs along its curve twice
                match path.partner.cmp(&number) {
                    std::cmp::Ordering::Less => None,
                    std::cmp::Ordering::Equal => Some(line[..=path.segments.len() / 2].to_vec()),
                    std::cmp::Ordering::Greater => Some(line),
                }
            })
            .collect()
    }

    /// Writes the intersections as polylines of an OBJ file, one object each, named by type and
    /// number.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write_obj(&self, x: &[DVec3], out: &mut dyn Write) -> io::Result<()> {
        let mut next = 1;
        for (number, contour) in (0u32..).zip(&self.contours) {
            let name = contour.kind.name().replace('/', "-");
            writeln!(out, "o {name}_{number}")?;
            for line in self.curves(number, x) {
                for p in &line {
                    writeln!(out, "v {} {} {}", p.x, p.y, p.z)?;
                }
                write!(out, "l")?;
                for k in next..next + line.len() {
                    write!(out, " {k}")?;
                }
                writeln!(out)?;
                next += line.len();
            }
        }
        Ok(())
    }

    /// Writes the intersections as edges of a PLY file, coloured by type; vertices have the number
    /// of their intersection.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write_ply(&self, x: &[DVec3], out: &mut dyn Write) -> io::Result<()> {
        let curves: Vec<(u32, Vec<DVec3>)> = (0..self.contours.len() as u32)
            .flat_map(|number| self.curves(number, x).into_iter().map(move |c| (number, c)))
            .collect();
        let vertices: usize = curves.iter().map(|(_, c)| c.len()).sum();
        writeln!(
            out,
            "ply\nformat ascii 1.0\nelement vertex {vertices}\n\
             property double x\nproperty double y\nproperty double z\n\
             property uchar red\nproperty uchar green\nproperty uchar blue\nproperty int contour\n\
             element edge {}\nproperty int vertex1\nproperty int vertex2\nend_header",
            vertices - curves.len()
        )?;
        for (number, curve) in &curves {
            let [r, g, b] = self.contours[*number as usize].kind.colour();
            for p in curve {
                writeln!(out, "{} {} {} {r} {g} {b} {number}", p.x, p.y, p.z)?;
            }
        }
        let mut first = 0;
        for (_, curve) in &curves {
            for k in first..first + curve.len() - 1 {
                writeln!(out, "{k} {}", k + 1)?;
            }
            first += curve.len();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Mesh;
    use crate::scene::tangles;
    use crate::untangle::{Rest, analyse};

    fn analysed(name: &str) -> (Analysis, Vec<DVec3>) {
        let t = tangles::of_type(name, 6).unwrap();
        let mesh = Mesh::new(t.positions.len(), t.faces).unwrap();
        let analysis = analyse(&mesh, &t.positions, Rest::Unknown).unwrap();
        (analysis, t.positions)
    }

    #[test]
    fn every_curve_is_written_once() {
        for name in tangles::TYPES {
            let (analysis, x) = analysed(name);
            for (number, contour) in (0u32..).zip(&analysis.contours) {
                let curves = analysis.curves(number, &x);
                let steps: usize = curves.iter().map(|c| c.len() - 1).sum();
                assert_eq!(steps, contour.segment_count, "{name}");
                let length =
                    |c: &Vec<DVec3>| c.windows(2).map(|w| w[0].distance(w[1])).sum::<f64>();
                let length: f64 = curves.iter().map(length).sum();
                assert!((length - contour.length).abs() < 1e-12, "{name}");
            }
        }
    }

    #[test]
    fn polylines_number_their_points() {
        let (analysis, x) = analysed("ll");
        let points = analysis.contours[0].segment_count + 1;
        let mut obj = Vec::new();
        analysis.write_obj(&x, &mut obj).unwrap();
        let obj = String::from_utf8(obj).unwrap();
        assert!(obj.starts_with("o LL_0\nv "));
        let last = obj.lines().last().unwrap();
        assert!(last.starts_with("l 1 2 3") && last.ends_with(&format!(" {points}")));

        let mut ply = Vec::new();
        analysis.write_ply(&x, &mut ply).unwrap();
        let ply = String::from_utf8(ply).unwrap();
        assert!(ply.contains(&format!("element vertex {points}\n")));
        assert!(ply.contains(&format!("element edge {}\n", points - 1)));
        assert!(ply.ends_with(&format!("\n{} {}\n", points - 2, points - 1)));
    }

    #[test]
    fn names_in_reports_are_the_papers() {
        for kind in Kind::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
        }
        let (analysis, x) = analysed("cross");
        let [bb, ii] = &analysis.summaries(&x)[..] else {
            panic!("two paths");
        };
        let json = serde_json::to_value(bb).unwrap();
        assert_eq!(
            (&json["type"], &json["path"]),
            (&"CROSS".into(), &"BB".into())
        );
        assert_eq!((bb.partner, ii.partner, bb.inside), (1, 0, ii.inside));
    }
}

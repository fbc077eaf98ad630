//! Writing OBJ: polygons, texture coordinates, normals, names of objects, groups and materials.

use std::fmt::Write as _;
use std::io::{self, Write};

use glam::DVec3;

use super::super::look::{Look, NONE, Smooth};
use super::super::mesh_file::{Attribute, MeshFile, ScalarKind};
use super::super::text;
use super::CHANNELS;

/// The material of what has none, behind something that has one: OBJ cannot take a material back.
const NO_MATERIAL: &str = "default";

/// The group of what has none, as the format has it.
pub(super) const NO_GROUP: &str = "default";

/// How the objects of a part are named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Naming {
    /// As its own file names them, by the part's name where that says nothing.
    Own,
    /// By the part's name; where its file has several, `name/own`.
    Prefixed,
    /// By the part's name, as one object; where its file has several and no groups, they become groups.
    Whole,
}

/// What is written into one file with others: the vertices of each are numbered from 0.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part<'a> {
    pub(crate) name: &'a str,
    pub(crate) look: &'a Look,
    pub(crate) vertex_count: usize,
    pub(crate) naming: Naming,
}

impl Part<'_> {
    fn object(&self, polygon: usize) -> String {
        let own = self.look.objects.of(polygon);
        match (self.naming, own) {
            (Naming::Own, Some(own)) => own.into(),
            (Naming::Prefixed, Some(own)) if self.look.objects.names.len() > 1 => {
                format!("{}/{own}", self.name)
            }
            _ => self.name.into(),
        }
    }

    fn group(&self, polygon: usize) -> Option<&str> {
        let own = self.look.groups.of(polygon);
        let is_several = self.look.objects.names.len() > 1 && self.naming == Naming::Whole;
        own.or_else(|| {
            self.look
                .objects
                .of(polygon)
                .filter(|_| is_several && self.look.groups.names.is_empty())
        })
    }
}

/// Parts whose vertices move from file to file: all but positions and normals is made once.
pub(crate) struct Parts<'a> {
    /// With the corners that share a normal; without, normals are those of the part's file.
    parts: Vec<(Part<'a>, Option<Smooth>)>,
    texture_coordinates: String,
    faces: String,
}

impl<'a> Parts<'a> {
    /// Parts with the normals of the positions that are written.
    pub(crate) fn new(parts: impl Iterator<Item = Part<'a>>) -> Self {
        Self::with_normals(parts.map(|part| (part, Some(part.look.smooth(part.vertex_count)))))
    }

    /// A part with the normals that its file has.
    pub(crate) fn as_read(part: Part<'a>) -> Self {
        Self::with_normals(std::iter::once((part, None)))
    }

    fn with_normals(parts: impl Iterator<Item = (Part<'a>, Option<Smooth>)>) -> Self {
        let mut all = Self {
            parts: Vec::new(),
            texture_coordinates: String::new(),
            faces: String::new(),
        };
        let (mut vertex, mut uv, mut normal) = (1, 1, 1);
        let mut current = [None, None, None];
        for (part, smooth) in parts {
            let into = "writing to a string cannot fail";
            for t in &part.look.uv {
                let (u, v) = (text::shortest(t.x), text::shortest(t.y));
                writeln!(all.texture_coordinates, "vt {u} {v}").expect(into);
            }
            for (polygon, range) in part.look.polygons.ranges().enumerate() {
                all.enter(&part, polygon, &mut current);
                all.faces.push('f');
                for k in range {
                    let v = u64::from(part.look.polygons.corners[k]) + vertex;
                    let t = part.look.uv_of_corner.get(k).filter(|&&t| t != NONE);
                    let t = t.map(|&t| u64::from(t) + uv);
                    let own = &part.look.normal_of_corner;
                    let n = match &smooth {
                        Some(smooth) => smooth.of_corner.get(k).filter(|_| !own.is_empty()),
                        None => own.get(k).filter(|&&n| n != NONE),
                    };
                    let n = n.map(|&n| u64::from(n) + normal);
                    match (t, n) {
                        (None, None) => write!(all.faces, " {v}"),
                        (Some(t), None) => write!(all.faces, " {v}/{t}"),
                        (None, Some(n)) => write!(all.faces, " {v}//{n}"),
                        (Some(t), Some(n)) => write!(all.faces, " {v}/{t}/{n}"),
                    }
                    .expect(into);
                }
                all.faces.push('\n');
            }
            vertex += part.vertex_count as u64;
            uv += part.look.uv.len() as u64;
            normal += match &smooth {
                Some(_) if part.look.normal_of_corner.is_empty() => 0,
                Some(smooth) => smooth.count as u64,
                None => part.look.normals.len() as u64,
            };
            all.parts.push((part, smooth));
        }
        all
    }

    /// Says what the following faces belong to, where that changes.
    fn enter(&mut self, part: &Part<'_>, polygon: usize, current: &mut [Option<String>; 3]) {
        let object = one_line(&part.object(polygon));
        let group = part.group(polygon).map(one_line).unwrap_or_default();
        let material = part.look.materials.of(polygon).map(one_line);
        let is_new = |current: &mut Option<String>, name: &str, was_silent: bool| {
            let same = match current {
                None => was_silent && name.is_empty(),
                Some(current) => current == name,
            };
            *current = Some(name.into());
            !same
        };
        let into = "writing to a string cannot fail";
        if is_new(&mut current[0], &object, true) {
            writeln!(self.faces, "o {object}").expect(into);
        }
        if is_new(&mut current[1], &group, true) {
            let group = if group.is_empty() { NO_GROUP } else { &group };
            writeln!(self.faces, "g {group}").expect(into);
        }
        let material = match (&material, &current[2]) {
            (Some(material), _) => material,
            (None, None) => return,
            (None, Some(_)) => NO_MATERIAL,
        };
        if is_new(&mut current[2], material, false) {
            writeln!(self.faces, "usemtl {material}").expect(into);
        }
    }

    /// Writes a file with all parts; positions are those of all vertices, part after part, and each may have further numbers.
    pub(crate) fn write(
        &self,
        out: &mut dyn Write,
        x: &[DVec3],
        further: &[&Attribute],
        libraries: &[&str],
    ) -> io::Result<()> {
        for library in libraries {
            writeln!(out, "mtllib {}", one_line(library))?;
        }
        for (i, p) in x.iter().enumerate() {
            write!(out, "v")?;
            let numbers = p.to_array().into_iter();
            for number in numbers.chain(further.iter().map(|c| c.values[i])) {
                write!(out, " {}", text::shortest(number))?;
            }
            writeln!(out)?;
        }
        out.write_all(self.texture_coordinates.as_bytes())?;
        let mut first = 0;
        for (part, smooth) in &self.parts {
            let own = &x[first..first + part.vertex_count];
            first += part.vertex_count;
            let shortest = |n: DVec3| n.to_array().map(text::shortest).join(" ");
            match smooth {
                Some(_) if part.look.normal_of_corner.is_empty() => {}
                Some(smooth) => {
                    for n in part.look.normals_at(smooth, own) {
                        let n = n.as_vec3();
                        writeln!(out, "vn {} {} {}", n.x, n.y, n.z)?;
                    }
                }
                None => {
                    for n in &part.look.normals {
                        writeln!(out, "vn {}", shortest(*n))?;
                    }
                }
            }
        }
        out.write_all(self.faces.as_bytes())
    }
}

/// Writes an OBJ file whose numbers parse back to the same bits, but for normals, which are those of the positions.
///
/// Colours (`red`, `green`, `blue`, `alpha`) are kept if they are floating-point; OBJ has no place for other attributes.
pub fn write(file: &MeshFile, out: &mut dyn Write) -> io::Result<()> {
    let colours: Vec<&Attribute> = CHANNELS
        .iter()
        .map_while(|channel| {
            file.attributes
                .iter()
                .find(|a| a.name == *channel && matches!(a.kind, ScalarKind::F32 | ScalarKind::F64))
        })
        .collect();
    let colours = if colours.len() < 3 {
        &[]
    } else {
        colours.as_slice()
    };
    let look = file.look.as_deref();
    let fits = look.filter(|look| look.triangle_count() == file.faces.len());
    let plain = match fits {
        None => Look::of_file(file),
        Some(_) => Look::default(),
    };
    let look = fits.unwrap_or(&plain);
    let part = Part {
        name: "",
        look,
        vertex_count: file.positions.len(),
        naming: Naming::Own,
    };
    let libraries: Vec<&str> = look.libraries.iter().map(String::as_str).collect();
    let parts = Parts::new(std::iter::once(part));
    parts.write(out, &file.positions, colours, &libraries)
}

/// A name that cannot end its line early or continue it.
fn one_line(name: &str) -> String {
    name.chars()
        .map(|c| if c.is_control() || c == '\\' { '_' } else { c })
        .collect()
}

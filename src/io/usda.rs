//! USD as text: meshes with positions over time, and what their files say of their surfaces. Y up, metres, one time code per frame.

use std::io::{self, Write};

use glam::{DVec3, Vec3};

use super::look::{Look, NONE};
use super::material::Material;

/// Name of the folder of materials.
pub(crate) const MATERIALS: &str = "materials";

/// What a stage is about, beyond its meshes.
pub(crate) struct Stage<'a> {
    pub(crate) fps: f64,
    pub(crate) frame_count: u64,
    /// Name of the root.
    pub(crate) name: &'a str,
    /// Materials, each with its identifier.
    pub(crate) materials: &'a [(String, Material)],
}

/// A mesh: its identifier, how it looks, and for each of its look's materials the number in the stage.
pub(crate) struct Surface<'a> {
    pub(crate) name: &'a str,
    pub(crate) look: &'a Look,
    pub(crate) materials: &'a [usize],
    pub(crate) vertex_count: usize,
}

impl Stage<'_> {
    /// Writes what stands before the meshes.
    pub(crate) fn begin(&self, out: &mut dyn Write) -> io::Result<()> {
        let Self {
            fps,
            frame_count,
            name,
            ..
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
        if !self.materials.is_empty() {
            writeln!(out, "    def Scope \"{MATERIALS}\"\n    {{")?;
            for (identifier, material) in self.materials {
                self.material(out, identifier, material)?;
            }
            writeln!(out, "    }}")?;
        }
        writeln!(out, "}}")
    }

    fn path_of_material(&self, number: usize) -> String {
        format!("/{}/{MATERIALS}/{}", self.name, self.materials[number].0)
    }

    fn material(&self, out: &mut dyn Write, name: &str, material: &Material) -> io::Result<()> {
        let path = format!("/{}/{MATERIALS}/{name}", self.name);
        writeln!(out, "        def Material \"{name}\" (")?;
        writeln!(out, "            displayName = {}", text(&material.name))?;
        writeln!(out, "        )\n        {{")?;
        writeln!(
            out,
            "            token outputs:surface.connect = <{path}/preview.outputs:surface>\n\
             \x20           def Shader \"preview\"\n            {{\n\
             \x20               uniform token info:id = \"UsdPreviewSurface\""
        )?;
        let texture = material.texture();
        match (&texture, material.colour()) {
            (Some(_), _) => writeln!(
                out,
                "                color3f inputs:diffuseColor.connect = <{path}/picture.outputs:rgb>"
            )?,
            (None, Some([r, g, b])) => writeln!(
                out,
                "                color3f inputs:diffuseColor = ({r}, {g}, {b})"
            )?,
            (None, None) => {}
        }
        for (input, value) in [
            ("opacity", material.opacity()),
            ("roughness", material.roughness().or(Some(1.0))),
            ("metallic", material.metallic()),
        ] {
            if let Some(value) = value {
                writeln!(out, "                float inputs:{input} = {value}")?;
            }
        }
        writeln!(out, "                token outputs:surface\n            }}")?;
        if let Some(texture) = texture {
            let file = texture.display().to_string().replace('@', "%40");
            writeln!(
                out,
                "            def Shader \"coordinates\"\n            {{\n\
                 \x20               uniform token info:id = \"UsdPrimvarReader_float2\"\n\
                 \x20               string inputs:varname = \"st\"\n\
                 \x20               float2 outputs:result\n            }}\n\
                 \x20           def Shader \"picture\"\n            {{\n\
                 \x20               uniform token info:id = \"UsdUVTexture\"\n\
                 \x20               asset inputs:file = @{file}@\n\
                 \x20               token inputs:wrapS = \"repeat\"\n\
                 \x20               token inputs:wrapT = \"repeat\"\n\
                 \x20               float2 inputs:st.connect = <{path}/coordinates.outputs:result>\n\
                 \x20               float3 outputs:rgb\n            }}"
            )?;
        }
        writeln!(out, "        }}")
    }

    /// Writes one mesh; an object that never moves is written once.
    pub(crate) fn mesh(
        &self,
        out: &mut dyn Write,
        surface: &Surface<'_>,
        positions: impl Fn(u64) -> io::Result<Vec<DVec3>>,
    ) -> io::Result<()> {
        let look = surface.look;
        let bound = look.materials.members();
        let bindable = if bound.is_empty() {
            ""
        } else {
            " (\n        prepend apiSchemas = [\"MaterialBindingAPI\"]\n    )"
        };
        writeln!(out, "    def Mesh \"{}\"{bindable}\n    {{", surface.name)?;
        writeln!(out, "        uniform bool doubleSided = 1")?;
        write!(out, "        int[] faceVertexCounts = ")?;
        list(out, look.polygons.sizes.iter())?;
        write!(out, "\n        int[] faceVertexIndices = ")?;
        list(out, look.polygons.corners.iter())?;
        writeln!(out, "\n        uniform token subdivisionScheme = \"none\"")?;
        let start = positions(0)?;
        let mut moves = false;
        for frame in 1..self.frame_count {
            moves = moves || positions(frame)? != start;
        }
        let smooth = look.smooth(surface.vertex_count);
        let normals = |x: &[DVec3]| -> Vec<Vec3> {
            let normals = look.normals_at(&smooth, x);
            let normal = |&n: &u32| normals[n as usize].as_vec3();
            match smooth.by_vertex {
                true => normals.iter().map(|p| p.as_vec3()).collect(),
                false => smooth.of_corner.iter().map(normal).collect(),
            }
        };
        let between = match smooth.by_vertex {
            true => "vertex",
            false => "faceVarying",
        };
        let between = format!(" (\n            interpolation = \"{between}\"\n        )");
        let of = |x: Vec<DVec3>| x.iter().map(|p| p.as_vec3()).collect::<Vec<_>>();
        let kinds: [(&str, &str, &dyn Fn(Vec<DVec3>) -> Vec<Vec3>); 3] = [
            ("float3[] extent", "", &|x| extent(&of(x))),
            ("point3f[] points", "", &of),
            ("normal3f[] normals", &between, &|x| normals(&x)),
        ];
        let has_normals = !look.normal_of_corner.is_empty();
        for (what, meta, values) in kinds.iter().take(if has_normals { 3 } else { 2 }) {
            if !moves {
                write!(out, "        {what} = ")?;
                points(out, &values(start.clone()))?;
                writeln!(out, "{meta}")?;
                continue;
            }
            if !meta.is_empty() {
                writeln!(out, "        {what}{meta}")?;
            }
            writeln!(out, "        {what}.timeSamples = {{")?;
            for frame in 0..self.frame_count {
                write!(out, "            {frame}: ")?;
                points(out, &values(positions(frame)?))?;
                writeln!(out, ",")?;
            }
            writeln!(out, "        }}")?;
        }
        texture_coordinates(out, look)?;
        self.subsets(out, surface, &bound)?;
        writeln!(out, "    }}")
    }

    /// Which polygons have which material, and which group.
    fn subsets(
        &self,
        out: &mut dyn Write,
        surface: &Surface<'_>,
        bound: &[Vec<u32>],
    ) -> io::Result<()> {
        let look = surface.look;
        if let [all] = bound
            && all.len() == look.polygons.sizes.len()
        {
            let path = self.path_of_material(surface.materials[0]);
            writeln!(out, "        rel material:binding = <{path}>")?;
        }
        let families = [
            ("materialBind", &look.materials),
            ("group", &look.groups),
            ("object", &look.objects),
        ];
        let names = families.iter().flat_map(|(_, labels)| &labels.names);
        let mut names = identifiers(names.map(String::as_str)).into_iter();
        for (family, labels) in families {
            if labels.names.is_empty() {
                continue;
            }
            let members = labels.members();
            let covered: usize = members.iter().map(Vec::len).sum();
            let kind = match covered == look.polygons.sizes.len() {
                true => "partition",
                false => "nonOverlapping",
            };
            writeln!(
                out,
                "        uniform token subsetFamily:{family}:familyType = \"{kind}\""
            )?;
            for (number, (own, polygons)) in labels.names.iter().zip(&members).enumerate() {
                let name = names.next().expect("an identifier for each name");
                let binds = family == "materialBind";
                writeln!(out, "        def GeomSubset \"{name}\" (")?;
                if binds {
                    writeln!(
                        out,
                        "            prepend apiSchemas = [\"MaterialBindingAPI\"]"
                    )?;
                }
                writeln!(
                    out,
                    "            displayName = {}\n        )\n        {{",
                    text(own)
                )?;
                writeln!(out, "            uniform token elementType = \"face\"")?;
                writeln!(out, "            uniform token familyName = \"{family}\"")?;
                write!(out, "            int[] indices = ")?;
                list(out, polygons.iter())?;
                writeln!(out)?;
                if binds {
                    let path = self.path_of_material(surface.materials[number]);
                    writeln!(out, "            rel material:binding = <{path}>")?;
                }
                writeln!(out, "        }}")?;
            }
        }
        Ok(())
    }
}

fn texture_coordinates(out: &mut dyn Write, look: &Look) -> io::Result<()> {
    if look.uv_of_corner.is_empty() {
        return Ok(());
    }
    write!(out, "        texCoord2f[] primvars:st = [")?;
    for (k, t) in look.uv.iter().enumerate() {
        let t = t.as_vec2();
        write!(out, "{}({}, {})", comma(k), t.x, t.y)?;
    }
    // corners without any share one more
    let none = look.uv.len() as u32;
    if look.uv_of_corner.contains(&NONE) {
        write!(out, "{}(0, 0)", comma(look.uv.len()))?;
    }
    writeln!(
        out,
        "] (\n            interpolation = \"faceVarying\"\n        )"
    )?;
    write!(out, "        int[] primvars:st:indices = ")?;
    let numbers = look.uv_of_corner.iter();
    list(out, numbers.map(|&t| if t == NONE { none } else { t }))?;
    writeln!(out)
}

/// A text in quotes.
fn text(words: &str) -> String {
    let plain = |c: char| if c.is_control() { '_' } else { c };
    let words: String = words.chars().map(plain).collect();
    format!("\"{}\"", words.replace('\\', "\\\\").replace('"', "\\\""))
}

fn comma(index: usize) -> &'static str {
    if index == 0 { "" } else { ", " }
}

fn list<T: std::fmt::Display>(
    out: &mut dyn Write,
    numbers: impl Iterator<Item = T>,
) -> io::Result<()> {
    write!(out, "[")?;
    for (k, number) in numbers.enumerate() {
        write!(out, "{}{number}", comma(k))?;
    }
    write!(out, "]")
}

fn extent(x: &[Vec3]) -> Vec<Vec3> {
    let (low, high) = x.iter().fold((Vec3::MAX, Vec3::MIN), |(low, high), p| {
        (low.min(*p), high.max(*p))
    });
    vec![low, high]
}

fn points(out: &mut dyn Write, x: &[Vec3]) -> io::Result<()> {
    write!(out, "[")?;
    for (v, p) in x.iter().enumerate() {
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

    #[test]
    fn texts_stay_within_their_quotes() {
        assert_eq!(text("a \"b\\\n"), "\"a \\\"b\\\\_\"");
    }
}

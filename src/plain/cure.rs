//! The cure, on plain arrays.

use glam::{DVec2, DVec3};

use super::{Beside, CallError, check_uv, check_vertices, in_mesh, together};
use crate::geometry::Mesh;
use crate::geometry::mesh::check_positions;
use crate::untangle::{
    CureReport, CureSettings, Patient, Rest, cure, edge_lengths, pattern_lengths,
};
use crate::verify;

/// What is known of a mesh to cure, beside its positions.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    /// Pattern: parameters of each corner of each face.
    pub uv: Option<Vec<[DVec2; 3]>>,
    /// Where the vertices were before the cloth was tangled: edges get the lengths back that they have there.
    pub rest: Option<Vec<DVec3>>,
    /// Vertices that may not move.
    pub keep: Vec<u32>,
    /// Layer of each vertex; empty if nobody knows.
    pub layers: Vec<i32>,
    /// A body that the cloth must be outside of, and where it is.
    pub body: Option<(Beside, Vec<DVec3>)>,
    /// Distance to which layers that crossed are parted in the end, in metres.
    pub thickness: f64,
    /// Most steps; none: the default.
    pub max_steps: Option<u32>,
}

/// A mesh that was cured.
#[derive(Clone, Debug)]
pub struct Untangled {
    /// Of the cloth's vertices, in metres.
    pub positions: Vec<DVec3>,
    /// What happened.
    pub report: CureReport,
    /// Whether `verify` accepts the result.
    pub certified: bool,
}

/// Moves a mesh until nothing crosses, or until nothing helps; see [`cure`].
///
/// # Errors
/// Arguments that are unusable, by name.
pub fn untangled(
    x: Vec<DVec3>,
    faces: Vec<[u32; 3]>,
    evidence: Evidence,
) -> Result<Untangled, CallError> {
    let Evidence {
        uv,
        rest,
        keep,
        mut layers,
        body,
        thickness,
        max_steps,
    } = evidence;
    let (count, face_count) = (x.len(), faces.len());
    check_uv(face_count, uv.as_deref())?;
    check_vertices("keep", &keep, count)?;
    if !layers.is_empty() && layers.len() != count {
        let message = format!(
            "{} numbers for {count} vertices; give one for each",
            layers.len()
        );
        return Err(CallError::argument("layers", message));
    }
    if !(0.0..1.0).contains(&thickness) {
        let message = format!("{thickness} is no distance; write one from 0 to 1 m");
        return Err(CallError::argument("thickness", message));
    }
    let cloth = Mesh::new(count, faces.clone()).map_err(in_mesh("F"))?;
    check_positions(&cloth, &x).map_err(in_mesh("V"))?;
    let lengths = uv.and_then(|uv| pattern_lengths(&cloth, &x, &uv));
    let (beside, place) = match body {
        Some((beside, place)) => (Some(beside), place),
        None => (None, Vec::new()),
    };
    let mesh = together(count, faces, beside, "body")?;
    let missing = mesh.vertex_count() - count;
    if place.len() != missing {
        let message = format!("{} positions for {missing} vertices", place.len());
        return Err(CallError::argument("body", message));
    }
    let mut all = x;
    all.extend(place);
    check_positions(&mesh, &all).map_err(in_mesh("body"))?;
    let lengths = lengths.map(|mut lengths| {
        for face in &mesh.faces()[face_count..] {
            let [a, b, c] = face.map(|v| all[v as usize]);
            lengths.push([a.distance(b), b.distance(c), c.distance(a)]);
        }
        lengths
    });
    let held = match rest {
        Some(mut rest) => {
            check_positions(&cloth, &rest).map_err(in_mesh("rest"))?;
            rest.extend(&all[count..]);
            edge_lengths(&mesh, &rest).map_err(in_mesh("rest"))?
        }
        None => Vec::new(),
    };
    if !layers.is_empty() {
        layers.resize(all.len(), 0); // a body has an inside, and needs no layer
    }
    let mut is_kept = vec![false; all.len()];
    for v in keep {
        is_kept[v as usize] = true;
    }
    let patient = Patient {
        mesh: &mesh,
        x: &all,
        rest: lengths.as_deref().map_or(Rest::Unknown, Rest::Lengths),
        keep: &is_kept,
        layers: &layers,
        lengths: &held,
    };
    let defaults = CureSettings::default();
    let settings = CureSettings {
        max_steps: max_steps.unwrap_or(defaults.max_steps),
        thickness,
        ..defaults
    };
    let cured = cure(patient, &settings).map_err(in_mesh("V"))?;
    let mut positions = cured.positions;
    let v = vec![DVec3::ZERO; positions.len()];
    let certified = verify::start(mesh, positions.clone(), v).is_ok();
    positions.truncate(count);
    Ok(Untangled {
        positions,
        report: cured.report,
        certified,
    })
}

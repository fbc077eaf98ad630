//! Random tangles with known truth.

use std::sync::Arc;

use percale::geometry::{Mesh, crossing_faces};
use percale::scene::tangles::known::known;
use percale::untangle::{CureSettings, Patient, Rest, cure, edge_lengths};
use percale::verify::audit;

use super::laws::cured;

/// The clean states are clean, the others are not, and nothing gets worse. `percale bench cure` runs 500.
#[test]
fn random_tangles_are_cured_and_none_gets_worse() {
    let cases = 25;
    let mut count = 0;
    for case in 0..cases {
        let known = known(case);
        let mesh = Arc::new(Mesh::new(known.truth.len(), known.faces.clone()).unwrap());
        assert_eq!(
            audit::intersections(&mesh, &known.truth),
            Vec::<[u32; 2]>::new(),
            "case {case}"
        );
        let before = crossing_faces(&mesh, &known.tangled).len();
        assert!(before > 0, "case {case}");
        let result = cured(&mesh, &known.tangled, Rest::Parameters(&known.uv));
        let after = audit::intersections(&mesh, &result.positions).len();
        assert!(after <= before, "case {case}: {before} {after}");
        count += usize::from(after == 0);
    }
    assert!(count + 1 >= cases as usize, "{count} of {cases} are cured");
}

/// Where the cloth before the tangle is known, it gets its lengths back, and no others.
#[test]
fn lengths_at_rest_come_back_if_they_are_those_before_the_tangle() {
    for case in [0, 1, 3, 4] {
        let known = known(case);
        let mesh = Arc::new(Mesh::new(known.truth.len(), known.faces.clone()).unwrap());
        let lengths = edge_lengths(&mesh, &known.truth).unwrap();
        let strain = |x: &[glam::DVec3], [a, b]: [u32; 2]| {
            let length = |x: &[glam::DVec3]| x[a as usize].distance(x[b as usize]);
            (length(x) / length(&known.truth) - 1.0).abs()
        };
        let largest = |x: &[glam::DVec3]| {
            let edges = mesh.edges().iter();
            edges.map(|&e| strain(x, e)).fold(0.0, f64::max)
        };
        let patient = Patient {
            mesh: &mesh,
            x: &known.tangled,
            rest: Rest::Parameters(&known.uv),
            keep: &[],
            layers: &[],
            lengths: &lengths,
        };
        let result = cure(patient, &CureSettings::default()).unwrap();
        let left = audit::intersections(&mesh, &result.positions);
        assert_eq!(left, Vec::<[u32; 2]>::new(), "case {case}");
        let [before, after] = [&known.tangled, &result.positions].map(|x| largest(x));
        assert!(before > 0.1 && after < 0.1, "case {case}: {before} {after}");
    }
}

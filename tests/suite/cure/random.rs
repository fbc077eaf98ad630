//! Random tangles with known truth.

use std::sync::Arc;

use percale::geometry::{Mesh, crossing_faces};
use percale::scene::tangles::known::known;
use percale::untangle::Rest;
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

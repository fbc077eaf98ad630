//! For tests only: exact answers from rational arithmetic, without any geometry, and inputs that are hard.

use glam::DVec3;
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Signed, Zero};
use proptest::prelude::*;

/// Whether two convex hulls meet: Σλᵢaᵢ = Σμⱼbⱼ, Σλ = Σμ = 1, λ, μ ≥ 0 has a solution.
///
/// Phase one of the simplex method in rationals, with Bland's rule (which cannot cycle); no geometry in it.
pub(crate) fn hulls_meet(a: &[DVec3], b: &[DVec3]) -> bool {
    let rational = |x: f64| BigRational::from_float(x).unwrap();
    let n = a.len() + b.len();
    let mut rows: Vec<Vec<BigRational>> = (0..5)
        .map(|r| {
            let entry = |p: &DVec3, first: bool| match r {
                0..3 if first => rational(p[r]),
                0..3 => -rational(p[r]),
                _ => BigRational::from_integer(BigInt::from(u8::from((r == 3) == first))),
            };
            let right = BigRational::from_integer(BigInt::from(u8::from(r >= 3)));
            a.iter()
                .map(|p| entry(p, true))
                .chain(b.iter().map(|p| entry(p, false)))
                .chain([right])
                .collect()
        })
        .collect();
    // artificial variables n..n+5 are the first basis; their columns are never needed again
    let mut basis: Vec<usize> = (n..n + 5).collect();
    loop {
        let cost = |j: usize| -> BigRational {
            (0..5).filter(|&r| basis[r] >= n).map(|r| &rows[r][j]).sum()
        };
        let Some(enter) = (0..n).find(|&j| cost(j).is_positive()) else {
            return cost(n).is_zero();
        };
        let leave = (0..5)
            .filter(|&r| rows[r][enter].is_positive())
            .min_by_key(|&r| (&rows[r][n] / &rows[r][enter], basis[r]))
            .expect("the sum of artificial variables is bounded below");
        let pivot = rows[leave][enter].clone();
        for value in &mut rows[leave] {
            *value /= &pivot;
        }
        let row = rows[leave].clone();
        for (_, other) in rows.iter_mut().enumerate().filter(|(r, _)| *r != leave) {
            let factor = other[enter].clone();
            for (value, pivoted) in other.iter_mut().zip(&row) {
                *value -= &factor * pivoted;
            }
        }
        assert!(rows[leave][enter].is_one());
        basis[leave] = enter;
    }
}

/// The definition itself: all pairs of features without a common vertex.
pub(crate) fn cross_by_definition(f: [u32; 3], g: [u32; 3], x: &[DVec3]) -> bool {
    let features = |face: [u32; 3]| {
        (1..8u32).map(move |mask| -> Vec<u32> {
            (0..3)
                .filter(|k| mask >> k & 1 == 1)
                .map(|k| face[k as usize])
                .collect()
        })
    };
    let hull = |feature: &[u32]| -> Vec<DVec3> { feature.iter().map(|&v| x[v as usize]).collect() };
    features(f).any(|a| {
        features(g).any(|b| a.iter().all(|v| !b.contains(v)) && hulls_meet(&hull(&a), &hull(&b)))
    })
}

/// Coordinates on a small grid (so that touching, collinear and coplanar are common), some moved by an ulp.
fn coordinate() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => (-2..3i32).prop_map(f64::from),
        1 => (-2..3i32, any::<bool>()).prop_map(|(k, up)| {
            let x = f64::from(k) + 0.1;
            if up { x.next_up() } else { x.next_down() }
        }),
        1 => (-2..3i32).prop_map(|k| f64::from(k) * 1e-69),
    ]
}

/// A position of such coordinates.
pub(crate) fn position() -> impl Strategy<Value = DVec3> {
    [coordinate(), coordinate(), coordinate()].prop_map(DVec3::from_array)
}

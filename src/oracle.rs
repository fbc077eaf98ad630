//! For tests only: exact answers from rational arithmetic, without any geometry, and inputs that
//! are hard.

use glam::DVec3;
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Signed, Zero};
use proptest::prelude::*;

/// Whether two convex hulls meet: Σλᵢaᵢ = Σμⱼbⱼ, Σλ = Σμ = 1, λ, μ ≥ 0 has a solution.
///
/// Phase one of the simplex method in rationals, with Bland's rule (which cannot cycle); no
/// geometry in it.
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
    // larger features meet if smaller ones do, so only those count to which no vertex can be added
    let is_full = |feature: &[u32], face: [u32; 3], other: &[u32]| {
        face.iter()
            .all(|v| feature.contains(v) || other.contains(v))
    };
    features(f).any(|a| {
        features(g).any(|b| {
            a.iter().all(|v| !b.contains(v))
                && is_full(&a, f, &b)
                && is_full(&b, g, &a)
                && hulls_meet(&hull(&a), &hull(&b))
        })
    })
}

/// Coordinates on a small grid (so that touching, collinear and coplanar are common), some moved by
/// an ulp.
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

/// Six points: a face anywhere, and another with one corner a few units in the last place from it
/// (from its inside, a side or a corner), the rest of it above, or in the same plane up to
/// rounding. What filters get wrong, they get wrong here.
pub(crate) fn nearly_touching() -> impl Strategy<Value = Vec<DVec3>> {
    let free = || [-1.0..1.0f64, -1.0..1.0, -1.0..1.0].prop_map(DVec3::from_array);
    let share = || prop_oneof![1 => Just(0.0), 3 => 0.0..1.0f64];
    let face = [free(), free(), free()];
    let shares = (0.1..1.0f64, share(), share());
    let nudge = (0..3usize, -2..3i32);
    let rest = [free(), free()];
    (face, shares, nudge, rest, any::<bool>()).prop_map(
        |([a, b, c], (r, s, t), (axis, steps), [d, e], flat)| {
            let mut foot = (r * a + s * b + t * c) / (r + s + t);
            for _ in 0..steps.abs() {
                foot[axis] = if steps > 0 {
                    foot[axis].next_up()
                } else {
                    foot[axis].next_down()
                };
            }
            let to = |d: DVec3| {
                if flat {
                    foot + d.x * (b - a) + d.y * (c - a)
                } else {
                    foot + d
                }
            };
            vec![a, b, c, foot, to(d), to(e)]
        },
    )
}

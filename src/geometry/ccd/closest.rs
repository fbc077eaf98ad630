//! Closest point of a polygon of differences to the origin, in plain `f64`.
//!
//! These choose directions and weights; no proof rests on them.

use glam::DVec3;

/// The point of the polygon closest to the origin: the vector from the second feature to the first.
pub(super) fn closest_to_origin<const N: usize>(corners: &[DVec3; N]) -> DVec3 {
    if N == 4 {
        let (s, u) = closest_on_edges(corners[0], corners[3] - corners[0], corners[0] - corners[1]);
        corners[0] + s * (corners[3] - corners[0]) - u * (corners[0] - corners[1])
    } else {
        let w = closest_on_triangle([corners[0], corners[1], corners[2]]);
        w[0] * corners[0] + w[1] * corners[1] + w[2] * corners[2]
    }
}

/// Barycentric weights of the triangle's point closest to the origin.
///
/// Ericson, Real-Time Collision Detection, §5.1.5: Voronoi regions by signs of dot products.
pub(super) fn closest_on_triangle([a, b, c]: [DVec3; 3]) -> [f64; 3] {
    let (ab, ac) = (b - a, c - a);
    let (d1, d2) = (-ab.dot(a), -ac.dot(a));
    if d1 <= 0.0 && d2 <= 0.0 {
        return [1.0, 0.0, 0.0];
    }
    let (d3, d4) = (-ab.dot(b), -ac.dot(b));
    if d3 >= 0.0 && d4 <= d3 {
        return [0.0, 1.0, 0.0];
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        let v = fraction(d1, d1 - d3);
        return [1.0 - v, v, 0.0];
    }
    let (d5, d6) = (-ab.dot(c), -ac.dot(c));
    if d6 >= 0.0 && d5 <= d6 {
        return [0.0, 0.0, 1.0];
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        let w = fraction(d2, d2 - d6);
        return [1.0 - w, 0.0, w];
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 >= d3 && d5 >= d6 {
        let w = fraction(d4 - d3, (d4 - d3) + (d5 - d6));
        return [0.0, 1.0 - w, w];
    }
    let (v, w) = (fraction(vb, va + vb + vc), fraction(vc, va + vb + vc));
    [(1.0 - v - w).max(0.0), v, w]
}

/// Parameters (s, u) in [0, 1] that minimise |r + s·e − u·f|.
///
/// Ericson, Real-Time Collision Detection, §5.1.9. Parallel edges start from s = 0, which the
/// clamping of u corrects.
pub(super) fn closest_on_edges(r: DVec3, e: DVec3, f: DVec3) -> (f64, f64) {
    let (a, b, c) = (e.length_squared(), e.dot(f), e.dot(r));
    let (g, h) = (f.length_squared(), f.dot(r));
    if a <= 0.0 {
        return (0.0, fraction(h, g));
    }
    if g <= 0.0 {
        return (fraction(-c, a), 0.0);
    }
    let s = fraction(b * h - c * g, a * g - b * b);
    let u = b * s + h;
    if u < 0.0 {
        (fraction(-c, a), 0.0)
    } else if u > g {
        (fraction(b - c, a), 1.0)
    } else {
        (s, fraction(u, g))
    }
}

/// `numerator / denominator` clamped to [0, 1]; 0 if the denominator is not positive or nothing is
/// a number.
fn fraction(numerator: f64, denominator: f64) -> f64 {
    let x = numerator / denominator;
    if denominator > 0.0 && x > 0.0 {
        x.min(1.0)
    } else {
        0.0
    }
}

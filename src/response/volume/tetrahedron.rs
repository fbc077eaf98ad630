//! The tetrahedron that the four vertices of a pair span: its volume, and how that changes.
//!
//! ```text
//!        3            V = ⅙ (x₁−x₀) · ((x₂−x₀) × (x₃−x₀))
//!       /|\           ∂V/∂xᵢ = −⅓ · area · outward normal of the face opposite i
//!      / | \                 = ⅙ of a cross product of two of its edges
//!     0--|--2
//!      \ | /          no length is measured and nothing divided: a flat, short or
//!       \|/           inverted tetrahedron is as good as any
//!        1
//! ```
//!
//! Source: \[SMT08\] (3). We differ: the sign is that of the vertex order, which is fixed at the
//! start of the interval. By "outward" at the end of the motion, the normals of an inverted
//! tetrahedron would turn, and the response would push it further through.

use glam::DVec3;

/// Of six times the volume.
const SIXTH: f64 = 1.0 / 6.0;

/// Signed volume, in m³.
pub fn volume([a, b, c, d]: [DVec3; 4]) -> f64 {
    SIXTH * (b - a).dot((c - a).cross(d - a))
}

/// ∂V/∂x of the four vertices, in m²: a column of the paper's F, and a row of ∂V/∂x.
pub fn gradient([a, b, c, d]: [DVec3; 4]) -> [DVec3; 4] {
    let [ab, ac, ad] = [b - a, c - a, d - a];
    let (gb, gc, gd) = (ac.cross(ad), ad.cross(ab), ab.cross(ac));
    [-(gb + gc + gd), gb, gc, gd].map(|g| SIXTH * g)
}

/// ∂V/∂x between two places of the vertices, in m²: the mean over straight ways from the one to the
/// other. Times the ways it is the difference of the volumes, exactly and not to first order:
///
/// ```text
/// V(x₁) − V(x₀) = Σ ḡᵢ · (x₁ − x₀)ᵢ        ḡ = ∫₀¹ ∂V/∂x (x₀ + s (x₁ − x₀)) ds = (g₀ + 4 g_½ + g₁) / 6
/// ```
///
/// by Simpson's rule, which is exact here: the gradient is of the second degree in s.
pub fn mean_gradient(x0: [DVec3; 4], x1: [DVec3; 4]) -> [DVec3; 4] {
    let middle = std::array::from_fn(|i| 0.5 * (x0[i] + x1[i]));
    let [a, b, c] = [x0, middle, x1].map(gradient);
    std::array::from_fn(|i| SIXTH * (a[i] + 4.0 * b[i] + c[i]))
}

/// The sign of the volume, exactly; 0 where the four points lie in one plane.
pub fn orientation([a, b, c, d]: [DVec3; 4]) -> f64 {
    let point = |p: DVec3| robust::Coord3D {
        x: p.x,
        y: p.y,
        z: p.z,
    };
    // its sign is that of (a−d)·((b−d)×(c−d)), which is the opposite of ours
    match robust::orient3d(point(a), point(b), point(c), point(d)) {
        sign if sign < 0.0 => 1.0,
        sign if sign > 0.0 => -1.0,
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn tetrahedra() -> Vec<[DVec3; 4]> {
        let mut random = Random(21);
        let mut all: Vec<[DVec3; 4]> = (0..200)
            .map(|_| {
                std::array::from_fn(|_| {
                    DVec3::new(random.centred(), random.centred(), random.centred())
                })
            })
            .collect();
        // inverted, nearly flat, flat, with two equal corners
        all.extend(all.clone().iter().map(|&[a, b, c, d]| [b, a, c, d]));
        all.extend(
            all.clone()
                .iter()
                .map(|x| x.map(|p| p * DVec3::new(1.0, 1e-6, 1.0))),
        );
        all.extend(
            all.clone()
                .iter()
                .map(|x| x.map(|p| p * DVec3::new(1.0, 0.0, 1.0))),
        );
        all.extend(all.clone().iter().map(|&[a, b, c, _]| [a, b, c, c]));
        all
    }

    #[test]
    fn impulses_are_the_derivative_of_the_volume_also_where_it_is_inverted() {
        // V is linear in each coordinate: a central difference is exact up to rounding, here 1e-16/1e-3
        let step = 1e-3;
        let (mut positive, mut negative, mut worst) = (0, 0, 0.0f64);
        for x in tetrahedra() {
            positive += usize::from(orientation(x) > 0.0);
            negative += usize::from(orientation(x) < 0.0);
            let gradient = gradient(x);
            for i in 0..4 {
                for k in 0..3 {
                    let mut ends = [x; 2];
                    ends[0][i][k] += step;
                    ends[1][i][k] -= step;
                    let difference = (volume(ends[0]) - volume(ends[1])) / (2.0 * step);
                    worst = worst.max((difference - gradient[i][k]).abs());
                }
            }
        }
        assert!(positive > 200 && negative > 200, "{positive} {negative}");
        println!("worst difference {worst:.1e} m²");
        assert!(worst < 1e-12, "{worst}");
    }

    #[test]
    fn the_mean_gradient_times_the_way_is_the_change_of_the_volume() {
        let all = tetrahedra();
        let (mut worst, mut at_end) = (0.0f64, 0.0f64);
        for pair in all.windows(2) {
            let [x0, x1] = [pair[0], pair[1]];
            let along = |g: [DVec3; 4]| -> f64 {
                (0..4).map(|i| g[i].dot(x1[i] - x0[i])).sum::<f64>() - (volume(x1) - volume(x0))
            };
            worst = worst.max(along(mean_gradient(x0, x1)).abs());
            at_end = at_end.max(along(gradient(x1)).abs());
            let sum: DVec3 = mean_gradient(x0, x1).iter().sum();
            assert!(sum.length() < 1e-15, "{sum}");
        }
        println!("off by {worst:.1e} m³, with the gradient at the end by {at_end:.1e} m³");
        assert!(worst < 1e-15 && at_end > 0.1, "{worst} {at_end}");
    }

    #[test]
    fn the_four_impulses_of_a_tetrahedron_have_no_sum_and_no_moment() {
        for x in tetrahedra() {
            let gradient = gradient(x);
            let sum: DVec3 = gradient.iter().sum();
            let moment: DVec3 = x.iter().zip(gradient).map(|(x, g)| x.cross(g)).sum();
            assert!(sum.length() < 1e-15, "{sum}");
            assert!(moment.length() < 1e-15, "{moment}");
            // Σ xᵢ · ∂V/∂xᵢ = 3 V: V is of the third degree
            let virial: f64 = x.iter().zip(gradient).map(|(x, g)| x.dot(g)).sum();
            assert!((virial - 3.0 * volume(x)).abs() < 1e-15);
        }
    }

    #[test]
    fn the_sign_is_exact_where_the_volume_is_rounding() {
        for x in tetrahedra() {
            let v = volume(x);
            if v.abs() > 1e-15 {
                assert_eq!(orientation(x), v.signum());
            }
        }
        let flat = |y: f64| {
            [
                DVec3::new(0.1, y, 0.1),
                DVec3::new(0.3, 0.1, 0.7),
                DVec3::new(0.9, 0.1, 0.2),
                DVec3::new(0.5, 0.1, 0.6),
            ]
        };
        assert_eq!(orientation(flat(0.1)), 0.0);
        let up = orientation(flat(0.1f64.next_up()));
        assert_eq!(up.abs(), 1.0);
        assert_eq!(orientation(flat(0.1f64.next_down())), -up);
        assert_eq!(orientation(flat(0.2)), up);
    }
}

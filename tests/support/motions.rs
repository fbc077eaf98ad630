//! Families of near-degenerate motions of four points: the tests compare the answers to them with an oracle, `percale bench query` looks for
//! the slowest.

use glam::DVec3;
use percale::geometry::Sweep;

use super::random::Random;

fn vector(r: &mut Random) -> DVec3 {
    DVec3::new(r.signed(), r.signed(), r.signed())
}

/// Integers from −n to n.
fn grid(r: &mut Random, n: usize) -> DVec3 {
    let mut pick = || r.below(2 * n + 1) as f64 - n as f64;
    DVec3::new(pick(), pick(), pick())
}

pub(crate) type Points = [DVec3; 8];
pub(crate) type Make = fn(&mut Random) -> Points;

pub(crate) fn sweep(p: Points) -> Sweep {
    Sweep {
        start: [p[0], p[1], p[2], p[3]],
        end: [p[4], p[5], p[6], p[7]],
    }
}

/// The family with the largest numbers, on which the oracle is slow: asked less often.
pub(crate) const ALL_MAGNITUDES: &str = "all magnitudes";

/// The families of motions; each returns start and end of four points.
pub(crate) const FAMILIES: [(&str, Make); 19] = [
    ("uniform", |r| std::array::from_fn(|_| vector(r))),
    ("near each other", |r| {
        let centre = vector(r);
        std::array::from_fn(|_| centre + 0.3 * vector(r))
    }),
    ("small integers", |r| {
        let n = 1 + r.below(3);
        std::array::from_fn(|_| grid(r, n))
    }),
    ("small integers, half of the points still", |r| {
        let mut p: Points = std::array::from_fn(|_| grid(r, 2));
        for i in 0..4 {
            if r.below(2) == 0 {
                p[4 + i] = p[i];
            }
        }
        p
    }),
    ("coplanar integers", |r| {
        let (x, y) = (grid(r, 2), grid(r, 2));
        std::array::from_fn(|_| {
            let c = grid(r, 2);
            c.x * x + c.y * y
        })
    }),
    ("coplanar, plane moves", |r| {
        let [x0, y0, x1, y1] = std::array::from_fn(|_| grid(r, 2));
        let c: [DVec3; 4] = std::array::from_fn(|_| grid(r, 2));
        let shift = grid(r, 1);
        std::array::from_fn(|i| {
            let c = c[i % 4];
            if i < 4 {
                c.x * x0 + c.y * y0
            } else {
                c.x * x1 + c.y * y1 + shift
            }
        })
    }),
    ("nearly coplanar", |r| {
        let (x, y) = (vector(r), vector(r));
        std::array::from_fn(|_| r.signed() * x + r.signed() * y)
    }),
    ("collinear", |r| {
        let (x, y) = (
            grid(r, 2),
            if r.below(2) == 0 {
                grid(r, 2)
            } else {
                DVec3::ZERO
            },
        );
        std::array::from_fn(|i| grid(r, 3).x * x + if i < 4 { DVec3::ZERO } else { y })
    }),
    ("parallel edges", |r| {
        let (d, e) = (
            vector(r),
            if r.below(2) == 0 {
                vector(r)
            } else {
                DVec3::ZERO
            },
        );
        let [a, b, c, f]: [DVec3; 4] = std::array::from_fn(|_| vector(r));
        let k = grid(r, 2);
        [a, a + d, b, b + k.x * d, c, c + d + e, f, f + k.y * (d + e)]
    }),
    ("meets in the middle, a few ulps off", |r| {
        // Point 0 meets a combination of the others (or of edge 0 1 and 2 3) at a time, up to rounding.
        let [a, b, c, v0, v1, v2, v3] = std::array::from_fn(|_| vector(r));
        let t = [0.25, 0.5, 0.75, 1.0, 0.3][r.below(5)];
        let mut weight = || [0.0, 0.0, 0.25, 0.5, 1.0, 0.2][r.below(6)];
        let (s, u) = (weight(), weight());
        let hit = if r.below(2) == 0 {
            (1.0 - s) * a + s * ((1.0 - u) * b + u * c)
        } else {
            let second = vector(r);
            return [
                ((1.0 - s) * b + s * c - 0.5 * second) * 2.0 - t * v0,
                second - t * v1,
                b - t * v2,
                c - t * v3,
                ((1.0 - s) * b + s * c - 0.5 * second) * 2.0 + (1.0 - t) * v0,
                second + (1.0 - t) * v1,
                b + (1.0 - t) * v2,
                c + (1.0 - t) * v3,
            ];
        };
        let now = [hit, a, b, c];
        let v = [v0, v1, v2, v3];
        std::array::from_fn(|i| {
            let x = now[i % 4] + v[i % 4] * if i < 4 { -t } else { 1.0 - t };
            DVec3::new(r.nudged(x.x), r.nudged(x.y), r.nudged(x.z))
        })
    }),
    ("ends in contact", |r| {
        let mut p: Points = std::array::from_fn(|_| vector(r));
        let (s, u) = (r.below(3) as f64 * 0.5, r.below(3) as f64 * 0.5);
        let at = if r.below(2) == 0 { 0 } else { 4 };
        p[at] = (1.0 - s) * p[at + 1] + s * ((1.0 - u) * p[at + 2] + u * p[at + 3]);
        p
    }),
    ("shared coordinates", |r| {
        let values: [f64; 3] = std::array::from_fn(|_| r.signed());
        std::array::from_fn(|_| {
            let mut pick = || {
                let value = values[r.below(3)];
                r.nudged(value)
            };
            DVec3::new(pick(), pick(), pick())
        })
    }),
    ("grazing", |r| {
        // The face z = t·x turns about the y axis, the vertex moves along a tangent of t ↦ (t + 1) t: coplanarity has
        // a double root at t = ½ with the vertex inside, all in exact numbers. Then sheared, and perhaps nudged.
        let y = grid(r, 2).y;
        let (start, end) = (DVec3::new(1.0, y, -0.25), DVec3::new(2.0, y, 1.75));
        let far = grid(r, 1).x * 0.5 + 4.0;
        let (low, high) = (DVec3::new(0.0, -4.0, 0.0), DVec3::new(0.0, 4.0, 0.0));
        let tips = [DVec3::new(far, 0.0, 0.0), DVec3::new(far, 0.0, far)];
        let shear = grid(r, 2);
        let nudge = r.below(2) == 0;
        [start, low, high, tips[0], end, low, high, tips[1]].map(|x| {
            let x = DVec3::new(x.x + shear.x * x.y, x.y + shear.y * x.z, x.z);
            if nudge {
                DVec3::new(x.x, x.y, r.nudged(x.z))
            } else {
                x
            }
        })
    }),
    ("multiple roots", |r| {
        // The matrix of corners is triangular with diagonal ±(2t−1) or constant: a double or triple root at t = ½.
        let mut corner: [[DVec3; 2]; 3] = Default::default();
        for (k, corner) in corner.iter_mut().enumerate() {
            let diagonal = grid(r, 2).x;
            let signs = if r.below(4) == 0 {
                [1.0, 1.0]
            } else {
                [-1.0, 1.0]
            };
            for (x, sign) in corner.iter_mut().zip(signs) {
                let mut x_new = grid(r, 2);
                x_new[k] = sign * diagonal;
                for axis in k + 1..3 {
                    x_new[axis] = 0.0;
                }
                *x = x_new;
            }
        }
        let nudge = r.below(2) == 0;
        let edges = r.below(2) == 0;
        std::array::from_fn(|i| {
            let [a, b, c] = corner.map(|x| x[i / 4]);
            // Corners p−a, p−b, p−c with p = 0, or a₀−b₀, a₀−b₁, a₁−b₁ with a₀ = 0.
            let x = match (i % 4, edges) {
                (0, _) => DVec3::ZERO,
                (1, false) => -a,
                (2, false) => -b,
                (3, false) => -c,
                (1, true) => c - b,
                (2, true) => -a,
                _ => -b,
            };
            if nudge {
                DVec3::new(r.nudged(x.x), r.nudged(x.y), r.nudged(x.z))
            } else {
                x
            }
        })
    }),
    ("sliding in a tilted plane", |r| {
        let (x, y) = (vector(r), vector(r));
        let c: [DVec3; 4] = std::array::from_fn(|_| grid(r, 2));
        let turn = r.signed();
        std::array::from_fn(|i| {
            let c = c[i % 4] * 0.5;
            let c = if i < 4 {
                c
            } else {
                DVec3::new(c.x - turn * c.y, c.y + turn * c.x, 0.0)
            };
            c.x * x + c.y * y
        })
    }),
    ("layers a few ulps apart", |r| {
        let height = 1.0 + r.signed();
        let mut p: Points = std::array::from_fn(|_| vector(r));
        for (i, p) in p.iter_mut().enumerate() {
            p.z = match i % 4 {
                0 => r.nudged(height),
                1 if r.below(2) == 0 => r.nudged(height),
                _ => height,
            };
        }
        p
    }),
    (ALL_MAGNITUDES, |r| {
        std::array::from_fn(|_| {
            let mut any = || match r.below(4) {
                0 => 0.0,
                1 => r.signed(),
                _ => {
                    // 2⁻²¹⁰ to 2⁷⁸, so that scaling by 1e±6 stays within 1e-70 and 1e30
                    let exponent = 1023 - 210 + r.below(288) as u64;
                    f64::from_bits(r.next() >> 63 << 63 | exponent << 52 | r.next() >> 12)
                }
            };
            DVec3::new(any(), any(), any())
        })
    }),
    ("crosses a plane at the border of a part", |r| {
        // The crossing lies within rounding errors of a time k/2^m, where parts of the motion meet: each part alone
        // must not be excluded by a wrong sign of what is nearly 0 there.
        let m = 1 + r.below(8);
        let t = (1 + 2 * r.below(1 << (m - 1))) as f64 / (1u64 << m) as f64;
        let plane = r.signed();
        let from = r.signed();
        let aim = plane - (from - plane) * (1.0 - t) / t;
        let to = r.nudged(aim);
        let edges = r.below(2) == 0;
        let second = if edges { -1.0 } else { 2.0 };
        let place = |moving: f64, own: f64| {
            let other = if edges { moving } else { own };
            [
                [moving, 0.1, 0.2],
                [other, second, 0.25],
                [own, -1.0, 2.0],
                [own, 0.5, -3.0],
            ]
        };
        let (start, end) = (place(from, plane), place(to, plane));
        let axes = match r.below(3) {
            0 => [DVec3::X, DVec3::Y, DVec3::Z],
            1 => [DVec3::Y, DVec3::Z, DVec3::X],
            _ => std::array::from_fn(|_| vector(r)),
        };
        std::array::from_fn(|i| {
            let x = if i < 4 { start[i] } else { end[i - 4] };
            x[0] * axes[0] + x[1] * axes[1] + x[2] * axes[2]
        })
    }),
    ("creeping out of or into contact", |r| {
        let mut x: [DVec3; 4] = std::array::from_fn(|_| vector(r));
        let (s, u) = (r.below(5) as f64 * 0.25, r.below(5) as f64 * 0.25);
        x[0] = (1.0 - s) * x[1] + s * ((1.0 - u) * x[2] + u * x[3]);
        if r.below(2) == 0 {
            x[0] = 2.0 * ((1.0 - s) * x[2] + s * x[3]) - x[1];
        }
        std::array::from_fn(|i| {
            let x = x[i % 4];
            DVec3::new(r.nudged(x.x), r.nudged(x.y), r.nudged(x.z))
        })
    }),
];

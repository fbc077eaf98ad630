//! Looks at eight pairs at a time, in single precision: directions that prove them apart.
//!
//! The first look takes the two directions that are cheapest, across the features and from middle to middle. What it leaves is
//! gathered for the second, which takes the closest points at the start and at the end, and a direction that turns from the one to
//! the other (see `ccd/filter.rs`). Any direction is right; what none of them parts is for double precision.

use glam::Vec4;
use pulp::{Simd, WithSimd};

use super::lanes::{Eight, EightVectors, LANES, Lanes, Vectors};
use super::sweep32::{Listed, Motion32, PROJECTION_ERROR, SHORTEST, UNDERFLOW};

/// Factor that covers the roundings of comparing a squared coefficient with the product of two others: one of each factor, from
/// subtracting the bound, and one of each product, 7 · ε/2 in all.
const BELOW_ONE: f32 = 1.0 - 4.0 * f32::EPSILON;

/// Pairs of one kind, with the corners of their polygons of differences (`ccd/gap.rs`) at both ends of the motion.
#[derive(Clone, Debug)]
struct Block<const N: usize> {
    listed: [Listed; LANES],
    count: usize,
    /// What each has to stay apart, in metres.
    distance: Eight,
    start: [EightVectors; N],
    end: [EightVectors; N],
}

impl<const N: usize> Default for Block<N> {
    fn default() -> Self {
        Self {
            listed: [Listed::NONE; LANES],
            count: 0,
            distance: Eight::ZERO,
            start: [EightVectors::ZERO; N],
            end: [EightVectors::ZERO; N],
        }
    }
}

/// Pairs of one kind that wait for the first look, and for the second.
#[derive(Clone, Debug, Default)]
struct Waiting<const N: usize> {
    first: Block<N>,
    second: Block<N>,
}

/// Pairs that wait for their looks.
#[derive(Clone, Debug, Default)]
pub(super) struct Looks {
    vertex_face: Waiting<3>,
    edge_edge: Waiting<4>,
}

impl Looks {
    /// Takes a pair, and gives what is not proved to stay further apart than its distance in `motion` to `open`, now or later.
    #[inline]
    pub(super) fn add(&mut self, listed: Listed, motion: &Motion32, open: impl FnMut(Listed)) {
        match listed.is_vertex_face() {
            true => self.vertex_face.add(listed, motion, open),
            false => self.edge_edge.add(listed, motion, open),
        }
    }

    /// Looks at all that wait.
    pub(super) fn finish(&mut self, motion: &Motion32, mut open: impl FnMut(Listed)) {
        self.vertex_face.finish(motion, &mut open);
        self.edge_edge.finish(motion, &mut open);
    }
}

impl<const N: usize> Waiting<N>
where
    [Vec4; N]: Corners,
    Polygons<N>: Directions,
{
    #[inline]
    fn add(&mut self, listed: Listed, motion: &Motion32, open: impl FnMut(Listed)) {
        self.first.add(listed, motion);
        if self.first.count == LANES {
            self.look(motion, open);
        }
    }

    fn finish(&mut self, motion: &Motion32, mut open: impl FnMut(Listed)) {
        self.look(motion, &mut open);
        self.look_again(motion, open);
    }

    #[inline(never)]
    fn look(&mut self, motion: &Motion32, mut open: impl FnMut(Listed)) {
        let apart = (motion.arch).dispatch(Parted::<N, false>::of(&self.first, motion));
        for k in (0..self.first.count).filter(|k| apart >> k & 1 == 0) {
            self.second.add(self.first.listed[k], motion);
            if self.second.count == LANES {
                self.look_again(motion, &mut open);
            }
        }
        self.first.count = 0;
    }

    fn look_again(&mut self, motion: &Motion32, mut open: impl FnMut(Listed)) {
        let apart = (motion.arch).dispatch(Parted::<N, true>::of(&self.second, motion));
        for k in (0..self.second.count).filter(|k| apart >> k & 1 == 0) {
            open(self.second.listed[k]);
        }
        self.second.count = 0;
    }
}

impl<const N: usize> Block<N>
where
    [Vec4; N]: Corners,
{
    #[inline]
    fn add(&mut self, listed: Listed, motion: &Motion32) {
        let k = self.count;
        self.listed[k] = listed;
        self.distance.0[k] = motion.distance_of(&listed);
        let ways = listed.vertices.map(|v| motion.ways[v as usize]);
        let put = |corners: [Vec4; N], block: &mut [EightVectors; N]| {
            for (corner, at) in corners.into_iter().zip(block) {
                (at.x.0[k], at.y.0[k], at.z.0[k]) = (corner.x, corner.y, corner.z);
            }
        };
        put(Corners::of(ways.map(|way| way[0])), &mut self.start);
        put(Corners::of(ways.map(|way| way[1])), &mut self.end);
        self.count += 1;
    }
}

/// The polygon of differences of four vertices.
trait Corners {
    fn of(x: [Vec4; 4]) -> Self;
}

impl Corners for [Vec4; 3] {
    #[inline]
    fn of([p, a, b, c]: [Vec4; 4]) -> Self {
        [p - a, p - b, p - c]
    }
}

impl Corners for [Vec4; 4] {
    #[inline]
    fn of([a, b, c, d]: [Vec4; 4]) -> Self {
        [a - c, a - d, b - d, b - c]
    }
}

/// What looks need to know of pairs.
#[derive(Clone, Copy)]
struct Bound<S: Simd> {
    /// Largest coordinate, in metres.
    largest: Lanes<S>,
    /// What they have to stay apart, in metres.
    distance: Lanes<S>,
}

/// The first look, or the second, as the processor's vector instructions do it: which pairs stay further apart than the distance,
/// as bits.
struct Parted<'a, const N: usize, const AGAIN: bool> {
    start: &'a [EightVectors; N],
    end: &'a [EightVectors; N],
    distance: &'a Eight,
    /// Largest coordinate, in metres.
    largest: f32,
}

impl<'a, const N: usize, const AGAIN: bool> Parted<'a, N, AGAIN> {
    fn of(block: &'a Block<N>, motion: &Motion32) -> Self {
        Self {
            start: &block.start,
            end: &block.end,
            distance: &block.distance,
            largest: motion.largest(),
        }
    }
}

impl<const N: usize, const AGAIN: bool> WithSimd for Parted<'_, N, AGAIN>
where
    Polygons<N>: Directions,
{
    type Output = u8;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> u8 {
        let mut beyond = Eight::ZERO;
        for part in 0..LANES / S::F32_LANES {
            let mut start = [self.start[0].load(simd, part); N];
            let mut end = [self.end[0].load(simd, part); N];
            for k in 1..N {
                start[k] = self.start[k].load(simd, part);
                end[k] = self.end[k].load(simd, part);
            }
            let polygons = Moving { start, end };
            let distance = self.distance.load(simd, part);
            let bound = Bound {
                largest: distance.all(self.largest),
                distance,
            };
            let found = match AGAIN {
                false => polygons.first_look::<Polygons<N>>(bound),
                true => polygons.second_look::<Polygons<N>>(simd, bound),
            };
            found.store(&mut beyond, part);
        }
        let bit = |k: usize| u8::from(beyond.0[k] > 0.0) << k;
        (0..LANES).fold(0, |bits, k| bits | bit(k))
    }
}

/// Polygons of differences with `N` corners.
struct Polygons<const N: usize>;

/// What differs between the kinds of polygons.
trait Directions {
    /// A direction across both features.
    fn across<S: Simd>(corners: &[Vectors<S>]) -> Vectors<S>;
    /// A direction to the point closest to the origin, about.
    fn closest<S: Simd>(corners: &[Vectors<S>]) -> Vectors<S>;
}

impl Directions for Polygons<3> {
    #[inline(always)]
    fn across<S: Simd>(corners: &[Vectors<S>]) -> Vectors<S> {
        let [a, b, c] = [corners[0], corners[1], corners[2]];
        (a - b).cross(a - c)
    }

    /// The foot of the origin if it lies within, or the nearest of those on the sides.
    #[inline(always)]
    fn closest<S: Simd>(corners: &[Vectors<S>]) -> Vectors<S> {
        let [a, b, c] = [corners[0], corners[1], corners[2]];
        let nearest = nearer(nearer(on_side(a, b), on_side(b, c)), on_side(c, a));
        let n = Self::across(corners);
        let (ab, bc, ca) = (a.cross(b), b.cross(c), c.cross(a));
        let inside = n.dot(bc).min(n.dot(ca)).min(n.dot(ab));
        // a direction: neither does its length matter, nor must its square vanish
        let foot = n.scaled(n.dot(a));
        let foot = foot.over(foot.size());
        Vectors::if_less(inside.all(0.0), inside, foot, nearest)
    }
}

/// The point on the side from `p` to `q` that is closest to the origin.
#[inline(always)]
fn on_side<S: Simd>(p: Vectors<S>, q: Vectors<S>) -> Vectors<S> {
    let d = q - p;
    p + d.scaled(d.dot(p).negative().fraction_of(d.dot(d)))
}

#[inline(always)]
fn nearer<S: Simd>(p: Vectors<S>, q: Vectors<S>) -> Vectors<S> {
    Vectors::if_less(q.dot(q), p.dot(p), q, p)
}

impl Directions for Polygons<4> {
    #[inline(always)]
    fn across<S: Simd>(corners: &[Vectors<S>]) -> Vectors<S> {
        let [a, b, d] = [corners[0], corners[1], corners[3]];
        (d - a).cross(a - b)
    }

    /// As `closest_on_edges` in `ccd/closest.rs`.
    #[inline(always)]
    fn closest<S: Simd>(corners: &[Vectors<S>]) -> Vectors<S> {
        let r = corners[0];
        let (e, f) = (corners[3] - r, r - corners[1]);
        let (a, b, c) = (e.dot(e), e.dot(f), e.dot(r));
        let (g, h) = (f.dot(f), f.dot(r));
        let s = (b * h - c * g).fraction_of(a * g - b * b);
        let u = b * s + h;
        let before = c.negative().fraction_of(a);
        let after = (b - c).fraction_of(a);
        let s = u.if_less(u.all(0.0), before, g.if_less(u, after, s));
        r + e.scaled(s) - f.scaled(u.fraction_of(g))
    }
}

/// Polygons in motion, as many as fill the registers.
struct Moving<S: Simd, const N: usize> {
    start: [Vectors<S>; N],
    end: [Vectors<S>; N],
}

impl<S: Simd, const N: usize> Moving<S, N> {
    /// What bounds are multiples of: M + 2L + s, see [`PROJECTION_ERROR`].
    #[inline(always)]
    fn scale(&self, bound: Bound<S>) -> Lanes<S> {
        let mut size = self.start[0].size();
        for k in 0..N {
            size = size.max(self.start[k].size()).max(self.end[k].size());
        }
        size + size + (bound.largest + bound.distance)
    }

    /// Least and greatest projection of all corners at both ends.
    #[inline(always)]
    fn projections(&self, n: Vectors<S>) -> (Lanes<S>, Lanes<S>) {
        let mut least = n.dot(self.start[0]);
        let mut most = least;
        for k in 0..N {
            let (p, q) = (n.dot(self.start[k]), n.dot(self.end[k]));
            (least, most) = (least.min(p).min(q), most.max(p).max(q));
        }
        (least, most)
    }

    /// Positive where the direction across both features, or that from middle to middle, parts them.
    #[inline(always)]
    fn first_look<D: Directions>(&self, bound: Bound<S>) -> Lanes<S> {
        let scale = self.scale(bound);
        let across = D::across(&self.start);
        let (least, most) = self.projections(across);
        let by_across = least.max(most.negative()) - required(across, scale, bound);
        let mut middle = self.start[0];
        for k in 1..N {
            middle = middle + self.start[k];
        }
        let (least, _) = self.projections(middle);
        by_across.max(least - required(middle, scale, bound))
    }

    /// Positive where the direction to the closest points parts the features: that of the start, that of the end, or one that turns
    /// evenly from the one to the other.
    #[inline(always)]
    fn second_look<D: Directions>(&self, simd: S, bound: Bound<S>) -> Lanes<S> {
        let scale = self.scale(bound);
        let unit = |n: Vectors<S>| n.over(n.dot(n).sqrt());
        let (n0, n1) = (unit(D::closest(&self.start)), unit(D::closest(&self.end)));
        let (needed0, needed1) = (required(n0, scale, bound), required(n1, scale, bound));
        let needed = needed0.max(needed1);
        let [zero, one, half] = [0.0, 1.0, 0.5].map(|value| Lanes::splat(simd, value));
        let below_one = Lanes::splat(simd, BELOW_ONE);
        let underflow = Lanes::splat(simd, UNDERFLOW);
        let (mut least0, mut least1) = (n0.dot(self.start[0]), n1.dot(self.start[0]));
        let mut turning = one;
        for k in 0..N {
            let (start, end) = (self.start[k], self.end[k]);
            let (n0d0, n0d1) = (n0.dot(start), n0.dot(end));
            let (n1d0, n1d1) = (n1.dot(start), n1.dot(end));
            least0 = least0.min(n0d0).min(n0d1);
            least1 = least1.min(n1d0).min(n1d1);
            let (q0, q2) = (n0d0 - needed, n1d1 - needed);
            let q1 = half * (n0d1 + n1d0) - needed;
            // the quadratic is positive: its ends are, and its middle is or falls below 0 by less than they allow
            let room = (q1 * q1 + underflow).if_less(q0 * q2 * below_one, one, zero);
            let middle = zero.if_less(q1, one, room);
            let ends = zero.if_less(q0, zero.if_less(q2, middle, zero), zero);
            turning = turning * ends;
        }
        let constant = (least0 - needed0).max(least1 - needed1);
        zero.if_less(constant, one, turning)
    }
}

/// What a projection on `n` has to exceed: its error, and the distance; infinite if `n` proves nothing.
#[inline(always)]
fn required<S: Simd>(n: Vectors<S>, scale: Lanes<S>, bound: Bound<S>) -> Lanes<S> {
    let size = n.size();
    let error = size.all(PROJECTION_ERROR) * size * scale + size.all(UNDERFLOW);
    let required = bound.distance * n.dot(n).sqrt() + error;
    size.all(SHORTEST)
        .if_less(size, required, size.all(f32::INFINITY))
}

#[cfg(test)]
mod tests {
    use glam::DVec3;
    use proptest::prelude::*;
    use pulp::Scalar;

    use super::*;
    use crate::geometry::sweep32::tests::{PAIRS, sweep};
    use crate::geometry::{Closest, Mesh, Pair, Sweep};

    /// Eight motions in one mesh: vertices 4k to 4k + 3 are those of the k-th.
    fn eight(sweeps: &[Sweep], distance: f64) -> (Motion32, [Vec<Listed>; 2]) {
        let all = |x: fn(&Sweep) -> [DVec3; 4]| sweeps.iter().flat_map(x).collect::<Vec<_>>();
        let mut motion = Motion32::default();
        motion.set(&all(|s| s.start), &all(|s| s.end), distance);
        let mesh = Mesh::new(4, vec![[1, 2, 3], [0, 1, 2], [0, 1, 3]]).unwrap();
        let shifted = |pair: Pair| {
            let of = |k: u32| Listed {
                pair,
                vertices: mesh.vertices_of(pair).map(|v| v + 4 * k),
            };
            (0..sweeps.len() as u32).map(of).collect()
        };
        (motion, PAIRS.map(shifted))
    }

    /// What looks leave of pairs of one kind, by their place.
    fn left(motion: &Motion32, listed: &[Listed]) -> Vec<u32> {
        let (mut looks, mut open) = (Looks::default(), Vec::new());
        let mut leave = |listed: Listed| open.push(listed.vertices.iter().min().unwrap() / 4);
        for listed in listed {
            looks.add(*listed, motion, &mut leave);
        }
        looks.finish(motion, &mut leave);
        open.sort_unstable();
        open
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn what_looks_find_apart_never_comes_nearer(
            sweeps in prop::collection::vec(sweep(), 11),
            share in 0.9..1.1f64,
            ulps in -4i32..5,
        ) {
            for (kind, pair) in PAIRS.into_iter().enumerate() {
                let least = |sweep: &Sweep| {
                    let times = (0..=16).map(|k| f64::from(k) / 16.0);
                    times.map(|t| Closest::of(pair, sweep.at(t)).distance_squared.sqrt()).fold(f64::INFINITY, f64::min)
                };
                let least: Vec<f64> = sweeps.iter().map(least).collect();
                // about the least distance of the first, nearer than what rounding the positions moves them by
                let size = sweeps[0].start[0].abs().max(sweeps[0].end[0].abs()).max_element();
                let near = least[0] + f64::from(ulps) * 0.25 * f64::from(f32::EPSILON) * size;
                for asked in [0.0, least[0], share * least[0], near.max(0.0)] {
                    let (motion, listed) = eight(&sweeps, asked);
                    let left = left(&motion, &listed[kind]);
                    for (k, least) in least.iter().enumerate() {
                        prop_assert!(asked < *least || left.contains(&(k as u32)), "{pair:?}: {least} {asked}");
                    }
                }
            }
        }

        #[test]
        fn what_looks_find_apart_on_schedule_stays_so_within_the_slack(
            sweep in sweep(),
            slack in prop::array::uniform4(0.0..0.1f64),
            share in 0.9..1.1f64,
            by in prop::array::uniform8(prop::array::uniform3(-1.0..1.0f64)),
        ) {
            let mesh = Mesh::new(4, vec![[1, 2, 3], [0, 1, 2], [0, 1, 3]]).unwrap();
            let Sweep { start, end } = sweep;
            let ways: [[DVec3; 2]; 4] = std::array::from_fn(|k| [start[k], end[k]]);
            let least = |pair: Pair, sweep: &Sweep| {
                let times = (0..=16).map(|k| f64::from(k) / 16.0);
                let closest = times.map(|t| (Closest::of(pair, sweep.at(t)), sweep.at(t)));
                let (closest, x) = closest.min_by(|a, b| a.0.distance_squared.total_cmp(&b.0.distance_squared)).unwrap();
                let towards: DVec3 = closest.weights.iter().zip(x).map(|(w, x)| *w * x).sum();
                (closest.distance_squared.sqrt(), towards.normalize_or_zero())
            };
            for pair in PAIRS {
                let (distance, towards) = least(pair, &sweep);
                let first = if matches!(pair, Pair::VertexFace { .. }) { 1 } else { 2 };
                let most = |slack: &[f64]| slack.iter().copied().fold(0.0, f64::max);
                let asked = (share * (distance - most(&slack[..first]) - most(&slack[first..]))).max(0.0);
                let mut motion = Motion32::default();
                motion.set_schedule(&ways, &slack, asked);
                if !left(&motion, &[Listed::of(&mesh, pair)]).is_empty() {
                    continue;
                }
                // anywhere, and straight towards each other
                let anywhere = |k: usize| DVec3::from_array(by[k]).clamp_length_max(1.0);
                let facing = |sign: f64| move |k: usize| if k % 4 < first { sign * towards } else { -sign * towards };
                let ways: [&dyn Fn(usize) -> DVec3; 3] = [&anywhere, &facing(1.0), &facing(-1.0)];
                for way in ways {
                    let moved = Sweep {
                        start: std::array::from_fn(|k| start[k] + slack[k] * way(k)),
                        end: std::array::from_fn(|k| end[k] + slack[k] * way(k + 4)),
                    };
                    let (distance, _) = least(pair, &moved);
                    prop_assert!(distance > asked, "{pair:?}: {distance} {asked}");
                }
            }
        }

        #[test]
        fn every_lane_says_what_it_says_alone_on_any_processor(sweeps in prop::collection::vec(sweep(), 8), distance in 0.0..0.2f64) {
            let (motion, [faces, edges]) = eight(&sweeps, distance);
            let (mut face, mut edge) = (Block::<3>::default(), Block::<4>::default());
            for (f, e) in faces.iter().zip(&edges) {
                face.add(*f, &motion);
                edge.add(*e, &motion);
            }
            let arch = motion.arch;
            prop_assert_eq!(arch.dispatch(Parted::<3, false>::of(&face, &motion)), Parted::<3, false>::of(&face, &motion).with_simd(Scalar));
            prop_assert_eq!(arch.dispatch(Parted::<3, true>::of(&face, &motion)), Parted::<3, true>::of(&face, &motion).with_simd(Scalar));
            prop_assert_eq!(arch.dispatch(Parted::<4, false>::of(&edge, &motion)), Parted::<4, false>::of(&edge, &motion).with_simd(Scalar));
            prop_assert_eq!(arch.dispatch(Parted::<4, true>::of(&edge, &motion)), Parted::<4, true>::of(&edge, &motion).with_simd(Scalar));
            for listed in [&faces, &edges] {
                let alone = |k: &u32| left(&motion, &listed[*k as usize..=*k as usize]) == [*k];
                prop_assert_eq!(left(&motion, listed), (0..8).filter(alone).collect::<Vec<u32>>());
            }
        }
    }

    const FACE: [DVec3; 3] = [DVec3::ZERO, DVec3::X, DVec3::Y];

    fn is_left(start: [DVec3; 4], end: [DVec3; 4], distance: f64) -> [bool; 2] {
        let (motion, listed) = eight(&[Sweep { start, end }], distance);
        listed.map(|listed| left(&motion, &listed) == [0])
    }

    #[test]
    fn each_direction_parts_what_no_other_does() {
        let [a, b, c] = FACE;
        let turned = |x: DVec3| DVec3::new(-x.y, x.x, x.z);
        let vertex_face = |p: DVec3, q: DVec3| is_left([p, a, b, c], [q, a, b, c], 0.05)[0];
        // across; from middle to middle; from the closest point
        assert!(!vertex_face(
            DVec3::new(0.9, 0.05, 0.1),
            DVec3::new(0.05, 0.9, 0.1)
        ));
        assert!(!vertex_face(
            DVec3::new(-0.5, -0.5, 0.0),
            DVec3::new(-0.4, -0.5, 0.0)
        ));
        assert!(!vertex_face(
            DVec3::new(0.9, -0.1, -0.01),
            DVec3::new(0.1, -0.1, 0.01)
        ));
        // around a corner, as the face turns by a right angle
        let start = [DVec3::new(0.5, -0.1, 0.0), a, b, c];
        assert!(!is_left(start, start.map(turned), 0.02)[0]);
        assert!(is_left(start, start.map(turned), 0.11)[0]);
        // through it
        assert!(vertex_face(
            DVec3::new(0.2, 0.2, 1.0),
            DVec3::new(0.2, 0.2, -1.0)
        ));

        let edges = |x: [DVec3; 4], y: [DVec3; 4], distance: f64| is_left(x, y, distance)[1];
        let crossed = |z: f64| {
            [
                DVec3::new(-1.0, 0.0, z),
                DVec3::new(1.0, 0.0, z),
                DVec3::NEG_Y,
                DVec3::Y,
            ]
        };
        assert!(!edges(crossed(0.1), crossed(0.2), 0.09));
        assert!(edges(crossed(0.1), crossed(0.2), 0.11));
        assert!(edges(crossed(0.1), crossed(-0.2), 0.0));
        let beside = [
            DVec3::ZERO,
            DVec3::X,
            DVec3::new(1.1, 0.0, 0.0),
            DVec3::new(1.1, 1.0, 0.0),
        ];
        assert!(!edges(beside, beside.map(turned), 0.02));
        assert!(edges(beside, beside.map(turned), 0.11));
    }

    #[test]
    fn what_is_too_large_or_not_a_number_is_left() {
        let [a, b, c] = FACE;
        for bad in [1e9, 1e30, 1e300, f64::INFINITY, f64::NAN] {
            let p = DVec3::new(0.2, 0.2, bad);
            assert_eq!(is_left([p, a, b, c], [p, a, b, c], 0.1), [true; 2], "{bad}");
        }
        let tiny = [DVec3::new(0.0, 0.0, 1e-30), 1e-25 * a, 1e-25 * b, 1e-25 * c];
        assert_eq!(is_left(tiny, tiny, 0.0), [true; 2], "squares underflow");
    }
}

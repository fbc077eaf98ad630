//! From chains to paths: the curves on the cloth, their types, their partners.
//!
//! A chain in space has two sides; laid out on the cloth each is a path, and where the chain ends
//! at a loop vertex the two are one path that turns there. \[WLG06\] §4.1 names the types by where
//! a path ends (B on a boundary, I inside) and the loop vertices (L) on it:
//!
//! ```text
//! chain                         contour   paths
//! ring                          CLOSED    CLOSED + CLOSED
//! loop v to the same v          EIGHT     split at v: CLOSED + CLOSED
//! loop v to another loop w      LL        LL, its own partner
//! loop to boundary              BLI       BLI, its own partner (BLB where both sides end on a boundary)
//! two BLI at one loop vertex    CROSS     split: BB + II
//! two BLI at one inner point    BLLB      split: BLI and BLI
//! boundary to boundary          BB/II, BB/BI, BI/BI: two partners
//! ```
//!
//! We differ: BLB, BLLB and BB/BI need boundaries that touch *exactly*; they are recognised by
//! exact signs at the stored positions, behind the perturbation. BB/BB, which the paper does not
//! list, is the same coincidence at both ends. CROSS asks for more than two BLI at one loop vertex:
//! walking round the vertex, the two sides that end on a boundary must follow each other, and so
//! must the two that end inside; otherwise the parts of the split would pass through each other at
//! the vertex, and the two BLI are kept. On one-sided surfaces a ring may come back with its sides
//! exchanged; it is CLOSED and its own partner.

use glam::DVec3;

use super::fan::{self, FanFace};
use super::paths::{Contour, Fold, Kind, Path, PathKind};
use super::perturb;
use super::regions::Inside;
use super::segments::{End, Segments};
use super::trace::{Chain, ChainEnd, Shape, SideEnd, Touched};
use crate::geometry::Mesh;

/// Names the chains and lays them out on the cloth.
pub(super) fn classify(
    mesh: &Mesh,
    x: &[DVec3],
    found: &Segments,
    chains: &[Chain],
) -> (Vec<Contour>, Vec<Path>) {
    let crosses = partners_in_cross(mesh, found, chains);
    let ends = partners_in_end(mesh, x, found, chains, &crosses);
    let mut writer = Writer {
        x,
        found,
        contours: Vec::new(),
        paths: Vec::new(),
    };
    for (number, chain) in chains.iter().enumerate() {
        if let Some(other) = crosses[number] {
            if number < other {
                writer.cross(chain, &chains[other]);
            }
        } else if let Some(other) = ends[number] {
            if number < other {
                writer.double_end(chain, &chains[other]);
            }
        } else {
            writer.chain(chain);
        }
    }
    (writer.contours, writer.paths)
}

struct Writer<'a> {
    x: &'a [DVec3],
    found: &'a Segments,
    contours: Vec<Contour>,
    paths: Vec<Path>,
}

/// One side of a chain, or several joined: a path in the making.
#[derive(Default)]
struct Run {
    segments: Vec<u32>,
    faces: Vec<u32>,
    points: Vec<End>,
}

impl Run {
    /// A side of a chain in its own direction, without the last point.
    fn forward(mut self, chain: &Chain, side: usize) -> Self {
        self.segments.extend(chain.steps.iter().map(|s| s.segment));
        self.faces.extend(chain.steps.iter().map(|s| s.faces[side]));
        self.points.extend(&chain.points[..chain.steps.len()]);
        self
    }

    /// A side of an open chain against its direction, without the last point (the chain's first).
    fn backward(mut self, chain: &Chain, side: usize) -> Self {
        let steps = chain.steps.iter().rev();
        self.segments.extend(steps.clone().map(|s| s.segment));
        self.faces.extend(steps.map(|s| s.faces[side]));
        self.points.extend(chain.points[1..].iter().rev());
        self
    }

    fn until(mut self, last: End) -> Self {
        self.points.push(last);
        self
    }
}

/// A BLI chain, read from its boundary to its loop vertex.
#[derive(Clone, Copy)]
struct Bli<'a> {
    chain: &'a Chain,
    /// The side that ends on the boundary; the other ends inside, or on a boundary too.
    side: usize,
    /// Whether both sides end on a boundary.
    is_blb: bool,
    touched: Option<Touched>,
    /// Whether the loop vertex comes first in the chain.
    is_reversed: bool,
}

impl<'a> Bli<'a> {
    fn of(chain: &'a Chain) -> Option<Self> {
        let Shape::Open(ends) = chain.shape else {
            return None;
        };
        let (sides, is_reversed) = match ends {
            [ChainEnd::Boundary(sides), ChainEnd::Loop(_)] => (sides, false),
            [ChainEnd::Loop(_), ChainEnd::Boundary(sides)] => (sides, true),
            _ => return None,
        };
        let side = usize::from(sides[0] != SideEnd::Boundary);
        Some(Self {
            chain,
            side,
            is_blb: !sides[1 - side].is_inside(),
            touched: sides[1 - side].touched(),
            is_reversed,
        })
    }

    /// One side from the boundary to the loop vertex, without the latter.
    fn inward(&self, run: Run, side: usize) -> Run {
        if self.is_reversed {
            run.backward(self.chain, side)
        } else {
            run.forward(self.chain, side)
        }
    }

    /// One side from the loop vertex to the boundary, without the end.
    fn outward(&self, run: Run, side: usize) -> Run {
        if self.is_reversed {
            run.forward(self.chain, side)
        } else {
            run.backward(self.chain, side)
        }
    }

    fn boundary_point(&self) -> End {
        let points = &self.chain.points;
        if self.is_reversed {
            points[points.len() - 1]
        } else {
            points[0]
        }
    }
}

impl Writer<'_> {
    fn contour(&mut self, kind: Kind, chains: &[&Chain], path_count: usize) -> u32 {
        let mut length = 0.0;
        let mut is_touch = true;
        for chain in chains {
            for step in &chain.steps {
                let ends = self.found.segments[step.segment as usize].ends;
                let [a, b] = ends.map(|e| self.found.position(self.x, e));
                length += a.distance(b);
            }
            is_touch &= chain.points.iter().all(|p| match *p {
                End::Crossing(c) => self.found.locations[c as usize].is_touch,
                End::Loop(_) => true,
            });
        }
        let first = self.paths.len() as u32;
        self.contours.push(Contour {
            kind,
            paths: first..first + path_count as u32,
            segment_count: chains.iter().map(|c| c.steps.len()).sum(),
            length,
            is_touch,
        });
        self.contours.len() as u32 - 1
    }

    /// The next path of a contour; `partner` counts from this path's own number.
    fn path(&mut self, contour: u32, kind: PathKind, partner: i64, run: Run) -> &mut Path {
        let number = self.paths.len();
        self.paths.push(Path {
            kind,
            contour,
            partner: (number as i64 + partner) as u32,
            segments: run.segments,
            faces: run.faces,
            points: run.points,
            inside: Inside::None,
            share: None,
            touched: [None; 2],
            fold: Fold::Straight,
        });
        &mut self.paths[number]
    }

    fn chain(&mut self, chain: &Chain) {
        let side = |s: usize| Run::default().forward(chain, s);
        match chain.shape {
            Shape::Ring => self.two_loops(Kind::Closed, chain),
            Shape::TwistedRing => {
                let contour = self.contour(Kind::Closed, &[chain], 1);
                let run = side(0).forward(chain, 1);
                self.path(contour, PathKind::Closed, 0, run).fold = Fold::Twice;
            }
            Shape::Open([ChainEnd::Loop(v), ChainEnd::Loop(w)]) if v == w => {
                self.two_loops(Kind::Eight, chain);
            }
            Shape::Open([ChainEnd::Loop(_), ChainEnd::Loop(_)]) => {
                let contour = self.contour(Kind::LoopLoop, &[chain], 1);
                let run = side(0).backward(chain, 1);
                self.path(contour, PathKind::Ll, 0, run).fold = Fold::Back;
            }
            Shape::Open([ChainEnd::Boundary(first), ChainEnd::Boundary(last)]) => {
                let kind_of = |s: usize| match (first[s].is_inside(), last[s].is_inside()) {
                    (true, true) => PathKind::Ii,
                    (false, false) => PathKind::Bb,
                    _ => PathKind::Bi,
                };
                // BB comes first, and BI before II
                let order = if kind_of(0) <= kind_of(1) {
                    [0, 1]
                } else {
                    [1, 0]
                };
                let kinds = order.map(kind_of);
                let kind = match kinds {
                    [PathKind::Bb, PathKind::Ii] => Kind::CutAndSlit,
                    [PathKind::Bb, PathKind::Bi] => Kind::CutAndNotch,
                    [PathKind::Bb, _] => Kind::CutAndCut,
                    _ => Kind::NotchAndNotch,
                };
                let contour = self.contour(kind, &[chain], 2);
                for (i, s) in order.into_iter().enumerate() {
                    let run = side(s).until(chain.points[chain.steps.len()]);
                    let path = self.path(contour, kinds[i], [1, -1][i], run);
                    path.touched = [first[s].touched(), last[s].touched()];
                }
            }
            Shape::Open(_) => {
                let bli = Bli::of(chain).expect("the only shape left has one loop vertex");
                let kind = if bli.is_blb {
                    Kind::BoundaryLoopBoundary
                } else {
                    Kind::BoundaryLoopInside
                };
                let contour = self.contour(kind, &[chain], 1);
                self.bli(contour, bli);
            }
        }
    }

    fn two_loops(&mut self, kind: Kind, chain: &Chain) {
        let contour = self.contour(kind, &[chain], 2);
        for side in 0..2 {
            let run = Run::default().forward(chain, side);
            self.path(contour, PathKind::Closed, [1, -1][side], run);
        }
    }

    fn bli(&mut self, contour: u32, bli: Bli<'_>) {
        let run = bli.inward(Run::default(), bli.side);
        let run = bli.outward(run, 1 - bli.side).until(bli.boundary_point());
        let kind = if bli.is_blb {
            PathKind::Blb
        } else {
            PathKind::Bli
        };
        let path = self.path(contour, kind, 0, run);
        path.fold = Fold::Back;
        path.touched[1] = bli.touched;
    }

    fn cross(&mut self, first: &Chain, second: &Chain) {
        let [first, second] = [first, second].map(|c| Bli::of(c).expect("only BLI make a CROSS"));
        let contour = self.contour(Kind::Cross, &[first.chain, second.chain], 2);
        for (i, kind) in [PathKind::Bb, PathKind::Ii].into_iter().enumerate() {
            let run = first.inward(Run::default(), first.side ^ i);
            let run = second
                .outward(run, second.side ^ i)
                .until(second.boundary_point());
            self.path(contour, kind, [1, -1][i], run);
        }
    }

    fn double_end(&mut self, first: &Chain, second: &Chain) {
        let kind = Kind::BoundaryLoopLoopBoundary;
        let contour = self.contour(kind, &[first, second], 2);
        for chain in [first, second] {
            self.bli(contour, Bli::of(chain).expect("only BLI make a BLLB"));
        }
    }
}

/// An end of a chain at a loop vertex: two rays leave the vertex, one on each side.
struct LoopEnd {
    vertex: u32,
    chain: usize,
    segment: u32,
    faces: [u32; 2],
    /// For a BLI the side that ends on the boundary.
    boundary_side: Option<usize>,
}

fn loop_ends(chains: &[Chain]) -> Vec<LoopEnd> {
    let mut found = Vec::new();
    for (number, chain) in chains.iter().enumerate() {
        let Shape::Open(ends) = chain.shape else {
            continue;
        };
        let steps = [chain.steps[0], chain.steps[chain.steps.len() - 1]];
        for (end, step) in ends.into_iter().zip(steps) {
            if let ChainEnd::Loop(vertex) = end {
                found.push(LoopEnd {
                    vertex,
                    chain: number,
                    segment: step.segment,
                    faces: step.faces,
                    boundary_side: Bli::of(chain).filter(|b| !b.is_blb).map(|b| b.side),
                });
            }
        }
    }
    found.sort_by_key(|e| (e.vertex, e.chain));
    found
}

/// For each chain the other with which it is a CROSS.
fn partners_in_cross(mesh: &Mesh, found: &Segments, chains: &[Chain]) -> Vec<Option<usize>> {
    let mut partner = vec![None; chains.len()];
    let ends = loop_ends(chains);
    for group in ends.chunk_by(|a, b| a.vertex == b.vertex) {
        let blis = group.iter().filter(|e| e.boundary_side.is_some());
        if blis.count() < 2 {
            continue;
        }
        let order = rays_in_order(mesh, found, group);
        let [on_boundary, inside] = [true, false].map(|side| neighbours(&order, side));
        let crosses = on_boundary.into_iter();
        pair_where_unique(
            crosses.filter(|pair| inside.binary_search(pair).is_ok()),
            &mut partner,
        );
    }
    partner
}

/// Pairs of different BLI whose rays on one side follow each other, ascending; each once.
fn neighbours(order: &[Option<(usize, bool)>], on_boundary: bool) -> Vec<[usize; 2]> {
    let mut pairs: Vec<[usize; 2]> = order
        .windows(2)
        .filter_map(|w| match (w[0], w[1]) {
            (Some((a, one)), Some((b, other))) => {
                (a != b && one == on_boundary && other == on_boundary)
                    .then_some([a.min(b), a.max(b)])
            }
            _ => None,
        })
        .collect();
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

/// Enters those of the fitting pairs, each given once, whose two members fit nothing else: any
/// other choice would depend on the numbering.
fn pair_where_unique(fitting: impl IntoIterator<Item = [usize; 2]>, partner: &mut [Option<usize>]) {
    let fitting: Vec<[usize; 2]> = fitting.into_iter().collect();
    let mut all: Vec<usize> = fitting.iter().flatten().copied().collect();
    all.sort_unstable();
    let is_single = |a: usize| {
        let first = all.partition_point(|&b| b < a);
        all.get(first + 1) != Some(&a)
    };
    for [a, b] in fitting {
        if is_single(a) && is_single(b) {
            partner[a] = Some(b);
            partner[b] = Some(a);
        }
    }
}

/// The rays that leave a loop vertex, in their order round it: for a BLI its chain and whether the
/// ray's side ends on the boundary, nothing for others. At an inner vertex the first is repeated at
/// the end. Empty if the faces are not one fan.
fn rays_in_order(mesh: &Mesh, found: &Segments, group: &[LoopEnd]) -> Vec<Option<(usize, bool)>> {
    let Some(fan) = fan::around(mesh, group[0].vertex) else {
        return Vec::new();
    };
    let mut places: Vec<(u32, usize)> = fan.faces.iter().map(|f| f.face).zip(0..).collect();
    places.sort_unstable();
    let mut rays = Vec::new();
    for end in group {
        let [End::Crossing(crossing), _] = found.segments[end.segment as usize].ends else {
            unreachable!("a segment has at most one loop vertex, its last end");
        };
        for (side, face) in end.faces.into_iter().enumerate() {
            let place = places.binary_search_by_key(&face, |p| p.0);
            let place = places[place.expect("the faces of a loop vertex are around it")].1;
            let share = share_towards(mesh, found, crossing, &fan.faces[place]);
            rays.push((
                place,
                share,
                end.boundary_side.map(|s| (end.chain, s == side)),
            ));
        }
    }
    rays.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let mut order: Vec<_> = rays.into_iter().map(|r| r.2).collect();
    if fan.is_closed {
        order.push(order[0]);
    }
    order
}

/// How far round a face of a fan a crossing lies, seen from the common vertex: 0 to 1, in floats.
fn share_towards(mesh: &Mesh, found: &Segments, crossing: u32, place: &FanFace) -> f64 {
    let c = found.crossings[crossing as usize];
    let location = &found.locations[crossing as usize];
    if c.face == place.face {
        let corners = mesh.faces()[place.face as usize];
        let weight = |v: u32| {
            let k = corners.iter().position(|&c| c == v);
            location.weights[k.expect("a corner of the face")]
        };
        let (from, to) = (weight(place.from), weight(place.to));
        to / (from + to).max(f64::MIN_POSITIVE)
    } else if mesh.edges()[c.edge as usize][0] == place.from {
        location.along_edge
    } else {
        1.0 - location.along_edge
    }
}

/// For each chain the other with which it is a BLLB: two BLI whose inner ends are exactly the same
/// point.
fn partners_in_end(
    mesh: &Mesh,
    x: &[DVec3],
    found: &Segments,
    chains: &[Chain],
    crosses: &[Option<usize>],
) -> Vec<Option<usize>> {
    let crossing_of = |chain: usize| {
        let bli = Bli::of(&chains[chain]).filter(|b| !b.is_blb && crosses[chain].is_none())?;
        match bli.boundary_point() {
            End::Crossing(c) => Some(found.crossings[c as usize]),
            End::Loop(_) => None,
        }
    };
    let mut ends: Vec<(u32, usize)> = (0..chains.len())
        .filter_map(|chain| Some((crossing_of(chain)?.face, chain)))
        .collect();
    ends.sort_unstable();
    let mut partner = vec![None; chains.len()];
    for group in ends.chunk_by(|a, b| a.0 == b.0).filter(|g| g.len() > 1) {
        let corners = mesh.faces()[group[0].0 as usize];
        let edge = |chain: usize| {
            let crossing = crossing_of(chain).expect("only chains with one are in the group");
            mesh.edges()[crossing.edge as usize]
        };
        // a group has at most as many ends as boundary edges pass one face: few, unless faces are
        // much larger than others
        let edges: Vec<(usize, [u32; 2])> = group.iter().map(|g| (g.1, edge(g.1))).collect();
        let fitting = (0..edges.len()).flat_map(|i| {
            let (a, own) = edges[i];
            let others = edges[i + 1..].iter();
            others
                .filter(move |(_, other)| perturb::same_point(x, corners, own, *other))
                .map(move |(b, _)| [a, *b])
        });
        pair_where_unique(fitting, &mut partner);
    }
    partner
}

//! What the last look at a motion proved, and what of it still holds after the motion has changed a
//! little.
//!
//! Looked at with a margin, nearly every pair is proved to stay further apart than some distance d;
//! the others are listed. Move the end of each vertex by at most d/2: then at every time each point
//! of a feature has moved by at most d/2, and the pairs not listed still do not touch. To certify
//! the motion that a response ends with, only the listed pairs and those of vertices that went
//! further have to be tested. The exact test would say the same of all others, so results are the
//! same to the bit. Likewise what is proved of an expected motion by the whole thickness spares
//! most of the look at the actual one by half of it.

use std::sync::Arc;

use glam::DVec3;
use rayon::prelude::*;

use super::collider::{Motion, Reach};
use super::mesh::check_positions;
use super::tangle::Exempt;
use super::{Mesh, Pair};

/// Proved: every pair that is not `within`, not let through and not of two obstacle features, stays
/// at least `distance` apart while all vertices go straight from `x0` to `x1`.
///
/// Only a look can make one, and it speaks of one mesh, one start and one end: of others it covers
/// what follows from that, or nothing.
///
/// # Examples
/// What a look by a margin has proved spares [`accept`](crate::verify::accept) its own:
///
/// ```
/// use std::sync::Arc;
/// use percale::geometry::{Asked, Margin};
/// use percale::{Candidate, Collider, DVec3, Mesh, Surfaces, verify};
///
/// let mesh = Arc::new(Mesh::new(6, vec![[0, 1, 2], [3, 4, 5]])?);
/// let lower = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]];
/// let upper = [[0.2, 0.1, 0.2], [1.2, 0.1, 0.2], [0.2, 0.1, 1.2]];
/// let x0: Vec<DVec3> = lower.iter().chain(&upper).map(|&x| x.into()).collect();
/// let x1: Vec<DVec3> = x0.iter().map(|x| x + 0.1 * DVec3::X).collect();
///
/// let mut collider = Collider::new(&mesh);
/// let margin = Margin { thickness: &[1e-3; 6], rest: &x0, gap: None };
/// let asked = Asked { margin: Some(margin), ..Asked::default() };
/// let look = collider.look(collider.motion(&x0, &x1)?, &asked, None);
/// assert!(look.impacts.is_empty() && look.proof.is_some());
///
/// let start = collider.start(x0.clone(), vec![DVec3::ZERO; 6])?;
/// let surfaces = Surfaces::uniform(&mesh, x0.clone(), 1e-3, 0.3)?;
/// let candidate = Candidate::new(&start, &[1.0; 6], &surfaces, 1.0 / 60.0, x1)?;
/// let asked_before = collider.queries();
/// verify::accept(candidate, &mut collider, look.proof.as_ref())?;
/// assert_eq!(collider.queries(), asked_before, "nothing had to be tested again");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Proof {
    mesh: Arc<Mesh>,
    x0: Vec<DVec3>,
    x1: Vec<DVec3>,
    /// Pairs that nobody looked at.
    exempt: Option<Arc<Exempt>>,
    distance: f64,
    within: Vec<Pair>,
}

/// What has to be tested for another motion: these pairs, and all pairs of these vertices.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Open<'a> {
    pub(super) pairs: &'a [Pair],
    pub(super) moved: Vec<u32>,
}

/// How far a vertex may go, in units of the proved distance. Half of it in exact arithmetic: two
/// features meet halfway. The rest makes up for the rounding of the distances here and of box gaps,
/// some ε each.
const REACH: f64 = 0.499;

/// Testing vertices one by one does not pay if more than this share of them have moved.
const MAX_MOVED_SHARE: f64 = 0.25;

impl Proof {
    /// None of an end that is outside the range of the continuous test: what its bounds do not
    /// cover proves nothing. Nor does a look at nothing but what is let through.
    pub(super) fn new(
        mesh: &Arc<Mesh>,
        motion: Motion<'_>,
        distance: f64,
        within: Vec<Pair>,
    ) -> Option<Self> {
        check_positions(mesh, motion.end).ok()?;
        let exempt = match motion.reach {
            Reach::All => None,
            Reach::Outside(exempt) => Some(Arc::clone(exempt)),
            Reach::Within(_) => return None,
        };
        Some(Self {
            mesh: Arc::clone(mesh),
            x0: motion.start.to_vec(),
            x1: motion.end.to_vec(),
            exempt,
            distance,
            within,
        })
    }

    /// The proof after all pairs of the vertices in `changed`, which ascend, were tested at `x1`,
    /// `within` being what was found; none if it is about another motion.
    pub(super) fn updated(
        mut self,
        mesh: &Arc<Mesh>,
        motion: Motion<'_>,
        changed: &[u32],
        distance: f64,
        within: Vec<Pair>,
    ) -> Option<Self> {
        let x1 = motion.end;
        let is_changed = |v: u32| changed.binary_search(&v).is_ok();
        let is_stale =
            |(v, (new, old)): (usize, (&DVec3, &DVec3))| new != old && !is_changed(v as u32);
        let mut ends = x1.iter().zip(&self.x1).enumerate();
        let is_other = !self.is_of(mesh, &motion) || distance != self.distance;
        if is_other || ends.any(is_stale) {
            return None;
        }
        check_positions(mesh, x1).ok()?;
        let is_old = |pair: &Pair| !mesh.vertices_of(*pair).into_iter().any(is_changed);
        self.within.retain(is_old);
        self.within.extend(within);
        self.x1.copy_from_slice(x1);
        Some(self)
    }

    /// Whether it is about this mesh, this start, and the same pairs; not about the end.
    fn is_of(&self, mesh: &Arc<Mesh>, motion: &Motion<'_>) -> bool {
        let same_pairs = match (&self.exempt, motion.reach) {
            (None, Reach::All) => true,
            (Some(own), Reach::Outside(asked)) => Arc::ptr_eq(own, asked),
            _ => false,
        };
        same_pairs && Arc::ptr_eq(mesh, &self.mesh) && motion.start == self.x0
    }

    /// What has to be tested to know which pairs come nearer than `apart` in the motion from `x0`
    /// to `x1`; none if that would not be less than everything.
    pub(super) fn open(
        &self,
        mesh: &Arc<Mesh>,
        motion: Motion<'_>,
        apart: f64,
    ) -> Option<Open<'_>> {
        if !self.is_of(mesh, &motion) || self.distance < apart {
            return None;
        }
        let x1 = motion.end;
        let reach = REACH * (self.distance - apart);
        let moved: Vec<u32> = (0..x1.len() as u32)
            .into_par_iter()
            .with_min_len(4096)
            .filter(|&v| {
                let distance = x1[v as usize].distance(self.x1[v as usize]);
                distance.is_nan() || distance > reach
            })
            .collect();
        let pays = moved.len() as f64 <= MAX_MOVED_SHARE * x1.len() as f64;
        pays.then_some(Open {
            pairs: &self.within,
            moved,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn triangles() -> Arc<Mesh> {
        Arc::new(Mesh::new(9, vec![[0, 1, 2], [3, 4, 5], [6, 7, 8]]).unwrap())
    }

    fn positions() -> Vec<DVec3> {
        let at = |v: i32| DVec3::new(f64::from(v % 3), f64::from(v * v), f64::from(v));
        (1..10).map(at).collect()
    }

    fn pair(vertex: u32, face: u32) -> Pair {
        Pair::VertexFace { vertex, face }
    }

    /// Of no motion at all: all pairs but two stay 1 m apart.
    fn proof(mesh: &Arc<Mesh>, x: &[DVec3]) -> Proof {
        let within = vec![pair(0, 1), pair(6, 1)];
        Proof::new(mesh, Motion::new(x, x), 1.0, within).unwrap()
    }

    #[test]
    fn an_end_out_of_range_proves_nothing() {
        let (mesh, x) = (triangles(), positions());
        let bad = [vec![DVec3::splat(1e31)], x[1..].to_vec()].concat();
        assert!(Proof::new(&mesh, Motion::new(&x, &bad), 1.0, Vec::new()).is_none());
        let updated = proof(&mesh, &x).updated(&mesh, Motion::new(&x, &bad), &[0], 1.0, Vec::new());
        assert!(updated.is_none());
    }

    #[test]
    fn a_proof_of_another_mesh_start_or_distance_is_not_updated() {
        let (mesh, x) = (triangles(), positions());
        let mut start = x.clone();
        start[8].x += 1.0;
        let updated = |mesh: &Arc<Mesh>, start: &[DVec3], distance: f64, of: Proof| {
            let motion = Motion::new(start, &x);
            of.updated(mesh, motion, &[0], distance, Vec::new())
        };
        assert!(updated(&mesh, &x, 1.0, proof(&mesh, &x)).is_some());
        assert!(updated(&triangles(), &x, 1.0, proof(&mesh, &x)).is_none());
        assert!(updated(&mesh, &start, 1.0, proof(&mesh, &x)).is_none());
        assert!(updated(&mesh, &x, 0.5, proof(&mesh, &x)).is_none());
    }

    #[test]
    fn an_update_takes_up_the_pairs_of_changed_vertices_and_no_untested_end() {
        let (mesh, x) = (triangles(), positions());
        let mut end = x.clone();
        end[0].x += 0.5;
        let motion = Motion::new(&x, &end);
        let updated = |changed: &[u32]| {
            proof(&mesh, &x).updated(&mesh, motion, changed, 1.0, vec![pair(0, 2)])
        };
        assert!(updated(&[]).is_none(), "vertex 0 was not tested");
        assert!(updated(&[1]).is_none(), "nor was it here");
        let updated = updated(&[0]).unwrap();
        assert_eq!(updated.within, [pair(6, 1), pair(0, 2)]);
        assert_eq!(updated.x1, end);
    }

    #[test]
    fn a_proof_of_another_mesh_or_start_or_of_less_covers_nothing() {
        let (mesh, x) = (triangles(), positions());
        let known = proof(&mesh, &x);
        let mut start = x.clone();
        start[8].x += 1.0;
        assert!(known.open(&mesh, Motion::new(&x, &x), 0.5).is_some());
        assert!(known.open(&triangles(), Motion::new(&x, &x), 0.5).is_none());
        assert!(known.open(&mesh, Motion::new(&start, &x), 0.5).is_none());
        assert!(known.open(&mesh, Motion::new(&x, &x), 1.5).is_none());
    }

    #[test]
    fn what_goes_further_than_half_of_the_spare_distance_is_open() {
        let (mesh, x) = (triangles(), positions());
        let known = proof(&mesh, &x);
        let same = known.open(&mesh, Motion::new(&x, &x), 1.0).unwrap();
        assert_eq!(
            same.moved,
            [] as [u32; 0],
            "nothing to spare, nothing moved"
        );

        let mut end = x.clone();
        end[4].z += 0.249;
        end[7].z += 0.2499; // the half less the rounding that is allowed for
        end[8].z = f64::NAN;
        let open = known.open(&mesh, Motion::new(&x, &end), 0.5).unwrap();
        assert_eq!(open.moved, [7, 8]);
        assert_eq!(open.pairs, [pair(0, 1), pair(6, 1)]);

        end[0].z += 1.0; // a third of all
        assert!(known.open(&mesh, Motion::new(&x, &end), 0.5).is_none());
    }
}

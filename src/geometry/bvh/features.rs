//! The features of leaves, in their order, and their boxes.

use std::ops::Range;

use rayon::prelude::*;

use super::{LEAF_SIZE, Subtree};
use crate::geometry::box32::Volume;

/// Features of `N` vertices, in the order of the leaves.
#[derive(Clone, Debug, Default)]
pub(super) struct Features<const N: usize> {
    /// Indices in the mesh.
    pub(super) ids: Vec<u32>,
    pub(super) vertices: Vec<[u32; N]>,
    /// Where the features of each leaf start; one more at the end.
    starts: Vec<u32>,
}

/// Leaves whose features are listed at a time.
const LEAVES_AT_A_TIME: usize = 1024;

impl<const N: usize> Features<N> {
    /// Those that `of_face` gives for each face, `order` being that of the faces in leaves.
    pub(super) fn new(
        order: &[u32],
        of_face: impl Fn(u32) -> [Option<(u32, [u32; N])>; 3] + Sync,
    ) -> Self {
        let some = |faces: &[u32]| {
            let mut some = Self::default();
            for leaf in faces.chunks(LEAF_SIZE) {
                for (id, vertices) in leaf.iter().flat_map(|&face| of_face(face)).flatten() {
                    some.ids.push(id);
                    some.vertices.push(vertices);
                }
                some.starts.push(some.ids.len() as u32);
            }
            some
        };
        let parts: Vec<Self> = order
            .par_chunks(LEAVES_AT_A_TIME * LEAF_SIZE)
            .map(some)
            .collect();
        let mut all = Self {
            starts: vec![0],
            ..Self::default()
        };
        for part in parts {
            let before = all.ids.len() as u32;
            all.starts
                .extend(part.starts.iter().map(|start| before + start));
            all.ids.extend(part.ids);
            all.vertices.extend(part.vertices);
        }
        all
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    pub(super) fn range(&self, leaf: usize) -> Range<usize> {
        self.starts[leaf] as usize..self.starts[leaf + 1] as usize
    }

    /// Fits boxes to those of the vertices.
    pub(super) fn fit<B: Volume>(&self, boxes: &mut Vec<B>, of_vertex: &[B]) {
        let each = self.vertices.par_iter().with_min_len(4096);
        each.map(|vertices| hull(vertices, of_vertex))
            .collect_into_vec(boxes);
    }

    pub(super) fn leaf<'a, B>(&'a self, leaf: Subtree, boxes: &'a [B]) -> Leaf<'a, N, B> {
        let range = self.range(leaf.first);
        Leaf {
            ids: &self.ids[range.clone()],
            vertices: &self.vertices[range.clone()],
            boxes: &boxes[range],
        }
    }
}

/// The features of one leaf; at most three times as many as faces, so that a set of them fits into
/// a word.
#[derive(Clone, Copy)]
pub(super) struct Leaf<'a, const N: usize, B> {
    pub(super) ids: &'a [u32],
    pub(super) vertices: &'a [[u32; N]],
    pub(super) boxes: &'a [B],
}

/// Features of a leaf, one bit each. Whether boxes overlap cannot be foreseen, and a wrong guess of
/// the processor costs more than a test: so tests are gathered without branches first.
#[derive(Clone, Copy)]
pub(super) struct Set(pub(super) u32);

const _: () = assert!(3 * LEAF_SIZE <= 32, "a set of features fits into a word");

impl Iterator for Set {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        let first = self.0.trailing_zeros();
        self.0 &= self.0.wrapping_sub(1);
        (first < 32).then_some(first as usize)
    }
}

impl<const N: usize, B: Volume> Leaf<'_, N, B> {
    /// Those that overlap a box.
    #[inline]
    pub(super) fn overlapping(&self, other: &B) -> Set {
        let each = self.boxes.iter().enumerate();
        Set(each.fold(0, |set, (k, fitted)| {
            set | u32::from(fitted.overlaps(other)) << k
        }))
    }

    /// Those of a set that overlap the box of a feature and have none of its vertices.
    #[inline]
    pub(super) fn apart<const M: usize>(&self, set: Set, other: &B, vertices: [u32; M]) -> Set {
        Set(set.fold(0, |found, k| {
            let mut shares = false;
            for v in self.vertices[k] {
                for w in vertices {
                    shares |= v == w;
                }
            }
            found | u32::from(self.boxes[k].overlaps(other) & !shares) << k
        }))
    }

    pub(super) fn all(&self) -> Set {
        Set((1u64 << self.ids.len()).wrapping_sub(1) as u32)
    }
}

#[inline]
pub(super) fn hull<const N: usize, B: Volume>(vertices: &[u32; N], of_vertex: &[B]) -> B {
    let each = vertices.iter().map(|&v| of_vertex[v as usize]);
    each.fold(B::EMPTY, B::union)
}

//! The features of leaves, in their order, with their boxes.

use std::ops::Range;

use rayon::prelude::*;

use super::{LEAF_SIZE, Subtree};
use crate::geometry::box32::Box32;

/// Features of `N` vertices, in the order of the leaves.
#[derive(Clone, Debug, Default)]
pub(super) struct Features<const N: usize> {
    /// Indices in the mesh.
    pub(super) ids: Vec<u32>,
    pub(super) vertices: Vec<[u32; N]>,
    pub(super) boxes: Vec<Box32>,
    /// Where the features of each leaf start; one more at the end.
    starts: Vec<u32>,
}

impl<const N: usize> Features<N> {
    /// The features `ids`, whose vertices are listed in `all`; `starts` as in the leaves.
    pub(super) fn new(ids: Vec<u32>, all: impl Fn(u32) -> [u32; N], starts: Vec<u32>) -> Self {
        Self {
            vertices: ids.iter().map(|&id| all(id)).collect(),
            boxes: vec![Box32::EMPTY; ids.len()],
            ids,
            starts,
        }
    }

    pub(super) fn range(&self, leaf: usize) -> Range<usize> {
        self.starts[leaf] as usize..self.starts[leaf + 1] as usize
    }

    /// Fits all boxes to those of the vertices.
    pub(super) fn fit(&mut self, of_vertex: &[Box32]) {
        let each = self.boxes.par_iter_mut().zip(&self.vertices);
        each.with_min_len(4096).for_each(|(fitted, vertices)| {
            *fitted = hull(vertices, of_vertex);
        });
    }

    pub(super) fn leaf(&self, leaf: Subtree) -> Leaf<'_, N> {
        let range = self.range(leaf.first);
        Leaf {
            ids: &self.ids[range.clone()],
            vertices: &self.vertices[range.clone()],
            boxes: &self.boxes[range],
        }
    }
}

/// The features of one leaf; at most three times as many as faces, so that a set of them fits into
/// a word.
#[derive(Clone, Copy)]
pub(super) struct Leaf<'a, const N: usize> {
    pub(super) ids: &'a [u32],
    pub(super) vertices: &'a [[u32; N]],
    pub(super) boxes: &'a [Box32],
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

impl<const N: usize> Leaf<'_, N> {
    /// Those that overlap a box.
    #[inline]
    pub(super) fn overlapping(&self, other: &Box32) -> Set {
        let each = self.boxes.iter().enumerate();
        Set(each.fold(0, |set, (k, fitted)| {
            set | u32::from(fitted.overlaps(other)) << k
        }))
    }

    /// Those of a set that overlap the box of a feature and have none of its vertices.
    #[inline]
    pub(super) fn apart<const M: usize>(&self, set: Set, other: &Box32, vertices: [u32; M]) -> Set {
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
pub(super) fn hull<const N: usize>(vertices: &[u32; N], of_vertex: &[Box32]) -> Box32 {
    let each = vertices.iter().map(|&v| of_vertex[v as usize]);
    each.fold(Box32::EMPTY, Box32::union)
}

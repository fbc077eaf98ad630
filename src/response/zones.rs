//! Impacts grouped into connected zones.

/// Disjoint sets of vertices; the root of a set is its least vertex.
#[derive(Clone, Debug)]
pub(super) struct Sets {
    parent: Vec<u32>,
}

impl Sets {
    pub(super) fn new(vertex_count: usize) -> Self {
        Self {
            parent: (0..vertex_count as u32).collect(),
        }
    }

    pub(super) fn root(&mut self, mut v: u32) -> u32 {
        while self.parent[v as usize] != v {
            self.parent[v as usize] = self.parent[self.parent[v as usize] as usize];
            v = self.parent[v as usize];
        }
        v
    }

    /// Merges the movable vertices of a contact; scripted ones (inverse mass 0) do not connect
    /// zones. Returns the roots merged into one, the new root first; empty if nothing can move.
    pub(super) fn merge(&mut self, vertices: [u32; 4], inverse_mass: &[f64]) -> Vec<u32> {
        let mut roots: Vec<u32> = vertices
            .iter()
            .filter(|&&v| inverse_mass[v as usize] > 0.0)
            .map(|&v| self.root(v))
            .collect();
        roots.sort_unstable();
        roots.dedup();
        for &root in roots.iter().skip(1) {
            self.parent[root as usize] = roots[0];
        }
        roots
    }
}

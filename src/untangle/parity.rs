//! Union-find with sides: which members are known to lie on the same or on different sides.

/// Groups of members; within a group every two are on known sides of each other.
#[derive(Clone, Debug)]
pub(super) struct Sides {
    /// The next member towards the root, and whether it is on the other side.
    towards: Vec<(u32, bool)>,
}

impl Sides {
    /// `count` members that know nothing of each other.
    pub(super) fn new(count: usize) -> Self {
        Self {
            towards: (0..count as u32).map(|i| (i, false)).collect(),
        }
    }

    /// The root of a member's group, and whether the member is on the other side of it.
    pub(super) fn root(&mut self, member: usize) -> (usize, bool) {
        let mut at = member;
        let mut is_other = false;
        while self.towards[at].0 as usize != at {
            let (next, turn) = self.towards[at];
            let (after, turn_after) = self.towards[next as usize];
            // halve the way; a root points to itself without a turn
            self.towards[at] = (after, turn ^ turn_after);
            is_other ^= turn ^ turn_after;
            at = after as usize;
        }
        (at, is_other)
    }

    /// Whether two members can be on different sides (or on the same); if so, they are from now on.
    pub(super) fn relate(&mut self, a: usize, b: usize, are_different: bool) -> bool {
        let ((a, a_other), (b, b_other)) = (self.root(a), self.root(b));
        if a == b {
            return a_other ^ b_other == are_different;
        }
        let (low, high) = (a.min(b), a.max(b));
        self.towards[high] = (low as u32, a_other ^ b_other ^ are_different);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_follow_from_each_other_and_contradictions_are_refused() {
        let mut sides = Sides::new(6);
        assert!(sides.relate(0, 1, true) && sides.relate(1, 2, true) && sides.relate(4, 5, false));
        assert!(sides.relate(0, 2, false), "known already");
        assert!(!sides.relate(2, 0, true), "contradiction");
        assert!(sides.relate(2, 5, true) && !sides.relate(0, 4, false));
        assert_eq!(sides.root(4), (0, true));
        assert_eq!(sides.root(3), (3, false));
    }
}

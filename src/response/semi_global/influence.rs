//! How long a constraint stays in the set.
//!
//! ```text
//! Eⁱ⁺¹ = α Eⁱ + (1 if it occurs, else 0)        it stays while E ≥ 1
//! ```
//!
//! Source: Shi §5.3 and Table 1. As printed, what was dropped is new when it comes back: constraints
//! that compete, each of which occurs where the others alone are kept, take turns for ever (Shi
//! Fig. 1 is such a pair). We differ, unless `form = "paper"`: what presses occurs, so that only what does nothing is dropped; what
//! comes back stays for good. So each is dropped at most once, and no cycle of any length goes on.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which constraints stay from one round of detection to the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Policy {
    /// Those that have occurred often, or not long ago.
    #[default]
    SemiGlobal,
    /// All that have ever occurred.
    Global,
    /// Those that occur in this round.
    NewOnly,
}

/// What becomes of a constraint that comes back after it was dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InfluenceForm {
    /// It stays for good: ours.
    #[default]
    Returning,
    /// It is as good as new (Shi §5.3).
    Paper,
}

/// The rule of a stage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rule {
    /// Which constraints stay.
    pub policy: Policy,
    /// What becomes of those that come back.
    pub form: InfluenceForm,
    /// α.
    pub decay: f64,
}

/// The influence of one constraint.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Influence {
    value: f64,
    is_in: bool,
    was_dropped: bool,
    stays: bool,
}

impl Influence {
    /// E.
    pub fn value(&self) -> f64 {
        self.value
    }

    /// Whether the constraint is in the set.
    pub fn is_in(&self) -> bool {
        self.is_in
    }

    /// Whether it came back after it was dropped.
    pub fn came_back(&self) -> bool {
        self.stays
    }

    /// Whether it has been in the set and left it.
    pub fn was_dropped(&self) -> bool {
        self.was_dropped
    }

    /// Whether it is or was in the set.
    pub fn has_been_in(&self) -> bool {
        self.is_in || self.was_dropped
    }

    /// Takes it into the set between two rounds; whether it comes back for the first time.
    pub fn recall(&mut self) -> bool {
        let comes_back = self.was_dropped && !self.stays;
        self.stays |= self.was_dropped;
        (self.value, self.is_in) = (self.value.max(1.0), true);
        comes_back
    }

    /// The next round, in which the constraint occurs or not; whether it has entered or left the set.
    pub fn advance(&mut self, rule: &Rule, occurs: bool) -> bool {
        let was_in = self.is_in;
        self.value = rule.decay * self.value + f64::from(u8::from(occurs));
        self.stays |= occurs && self.was_dropped && rule.form == InfluenceForm::Returning;
        self.is_in = match rule.policy {
            Policy::SemiGlobal => self.value >= 1.0 || self.stays,
            Policy::Global => was_in || occurs,
            Policy::NewOnly => occurs,
        };
        if was_in && !self.is_in {
            (self.value, self.was_dropped) = (0.0, true);
        }
        was_in != self.is_in
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(policy: Policy, form: InfluenceForm) -> Rule {
        Rule {
            policy,
            form,
            decay: 0.7,
        }
    }

    #[test]
    fn the_worked_example_of_table_1() {
        let rule = rule(Policy::SemiGlobal, InfluenceForm::Paper);
        let mut influence = Influence::default();
        let mut last = 0.0;
        let rounds = [
            (true, 1.0, true),
            (true, 1.7, true),
            (false, 1.19, true),
            (false, 0.833, false),
        ];
        for (occurs, value, is_in) in rounds {
            let expected = 0.7 * last + f64::from(u8::from(occurs));
            influence.advance(&rule, occurs);
            assert!(
                (expected - value).abs() < 1e-12,
                "the example's own figures"
            );
            assert_eq!(influence.is_in(), is_in, "{value}");
            // what is dropped is forgotten
            let kept = if is_in { value } else { 0.0 };
            assert!((influence.value() - kept).abs() < 1e-12);
            last = value;
        }
    }

    /// Rounds until all constraints of a cycle are in the set together; each occurs in its turn, as
    /// long as it is not in the set. None if that takes more than a hundred.
    fn rounds_of_a_cycle(length: usize, rule: &Rule) -> Option<usize> {
        let mut all = vec![Influence::default(); length];
        let mut turn = 0;
        (1..=100).find(|_| {
            let occurs = (0..length)
                .map(|k| (turn + k) % length)
                .find(|&k| !all[k].is_in());
            for (k, influence) in all.iter_mut().enumerate() {
                influence.advance(rule, occurs == Some(k));
            }
            turn = occurs.map_or(turn, |k| (k + 1) % length);
            all.iter().all(Influence::is_in)
        })
    }

    #[test]
    fn cycles_of_every_length_end_unless_the_rule_is_as_printed() {
        use InfluenceForm::{Paper, Returning};
        for length in 2..=8 {
            let rounds = |policy, form| rounds_of_a_cycle(length, &rule(policy, form));
            assert_eq!(rounds(Policy::Global, Returning), Some(length));
            let ours = rounds(Policy::SemiGlobal, Returning);
            assert!(
                ours.is_some_and(|n| n <= 2 * length + 1),
                "{length}: {ours:?}"
            );
            assert_eq!(rounds(Policy::SemiGlobal, Paper), None, "{length}");
            assert_eq!(rounds(Policy::NewOnly, Returning), None, "{length}");
        }
    }

    #[test]
    fn what_is_recalled_after_it_was_dropped_stays() {
        let rule = rule(Policy::SemiGlobal, InfluenceForm::Returning);
        let mut influence = Influence::default();
        influence.advance(&rule, true);
        assert!(
            influence.advance(&rule, false) && influence.was_dropped(),
            "it did nothing"
        );
        assert!(influence.recall() && influence.is_in());
        assert!(!influence.recall(), "counted once");
        for _ in 0..10 {
            influence.advance(&rule, false);
            assert!(influence.is_in());
        }
    }
}

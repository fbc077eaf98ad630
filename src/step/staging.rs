//! What a scene changes on the way: gravity, wind, friction, the strength of seams and of soft pins, by keys in time.
//!
//! Straight between two keys that name the same thing, constant before the first and after the last. A value holds for a whole frame, that of
//! its middle: a function of the frame alone, so a restart gives the same bits.

use glam::DVec3;

use crate::dynamics::Staged;

/// Values at times; what has no keys is as the scene has it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Staging {
    /// Acceleration of free fall, m/s².
    pub gravity: Vec<(f64, DVec3)>,
    /// Velocity of the air, m/s.
    pub wind: Vec<(f64, DVec3)>,
    /// Friction of all pairs of surfaces without one of their own.
    pub friction: Vec<(f64, DVec3)>,
    /// Which pairs of bodies these are.
    pub pairs: Vec<[u32; 2]>,
    /// Share of their stiffness that seams have.
    pub seams: Vec<(f64, DVec3)>,
    /// Share of their stiffness that soft pins have.
    pub pins: Vec<(f64, DVec3)>,
}

impl Staging {
    /// Whether nothing ever changes.
    pub fn is_empty(&self) -> bool {
        let all = [
            &self.gravity,
            &self.wind,
            &self.friction,
            &self.seams,
            &self.pins,
        ];
        all.iter().all(|keys| keys.is_empty())
    }

    /// What forces are like in the frame after this one.
    pub(super) fn forces(&self, frame: u64, fps: f64) -> Staged {
        let time = middle(frame, fps);
        Staged {
            gravity: at(&self.gravity, time),
            wind: at(&self.wind, time),
            seams: at(&self.seams, time).map(|share| share.x),
            pins: at(&self.pins, time).map(|share| share.x),
        }
    }

    /// The friction in the frame after this one.
    pub(super) fn friction(&self, frame: u64, fps: f64) -> Option<f64> {
        at(&self.friction, middle(frame, fps)).map(|friction| friction.x)
    }
}

fn middle(frame: u64, fps: f64) -> f64 {
    (frame as f64 + 0.5) / fps
}

fn at(keys: &[(f64, DVec3)], time: f64) -> Option<DVec3> {
    let next = keys.partition_point(|(key, _)| *key <= time);
    let (Some(before), after) = (keys.get(next.saturating_sub(1)), keys.get(next)) else {
        return None;
    };
    Some(match after {
        Some(after) if next > 0 => {
            let share = (time - before.0) / (after.0 - before.0);
            before.1 + share * (after.1 - before.1)
        }
        _ => before.1,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_straight_between_keys_and_constant_outside() {
        let keys = [(0.25, DVec3::ZERO), (0.75, DVec3::ONE), (1.0, DVec3::X)];
        for (time, expected) in [
            (0.0, [0.0; 3]),
            (0.5, [0.5; 3]),
            (0.75, [1.0; 3]),
            (0.875, [1.0, 0.5, 0.5]),
            (9.0, [1.0, 0.0, 0.0]),
        ] {
            assert_eq!(at(&keys, time), Some(expected.into()), "{time}");
        }
        assert_eq!(at(&[], 1.0), None);
        let staging = Staging {
            seams: vec![(0.0, DVec3::ZERO), (1.0, DVec3::ONE)],
            ..Staging::default()
        };
        // frame 30 ends after half a second; its middle is half a frame before
        assert_eq!(staging.forces(29, 60.0).seams, Some(29.5 / 60.0));
        assert_eq!(staging.forces(29, 60.0).gravity, None);
        assert!(!staging.is_empty() && Staging::default().is_empty());
    }
}

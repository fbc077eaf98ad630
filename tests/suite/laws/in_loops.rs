//! Contact within the loops of the integrator: rest, momentum and energy.

use glam::DVec3;
use percale::step::Simulation;

use crate::support::{full, scene, small};

/// The fastest vertex of a frame by the way that it goes, in m/s.
fn fastest(simulation: &mut Simulation, fps: f64) -> f64 {
    let before = simulation.state().positions().to_vec();
    assert_eq!(simulation.step().unwrap().intersections, 0);
    let ways = simulation.state().positions().iter().zip(before);
    ways.fold(0.0, |most: f64, (x, old)| most.max(x.distance(old) * fps))
}

/// Frame from which on nothing is faster than 1 mm/s; says so.
fn rest(simulation: &mut Simulation, frames: usize) -> usize {
    let speeds: Vec<f64> = (0..frames).map(|_| fastest(simulation, 60.0)).collect();
    let last = speeds.iter().rposition(|&speed| speed > 1e-3);
    let rests = last.map_or(0, |last| last + 1);
    let after = speeds[rests..].iter().copied().fold(0.0, f64::max);
    println!("below 1 mm/s from frame {rests} of {frames}, then at most {after:.1e} m/s");
    rests
}

#[test]
fn a_stack_of_ten_sheets_comes_to_rest_within_five_seconds_and_stays() {
    let simulation = &mut small("stack", &[]).build().unwrap();
    let rests = rest(simulation, 300);
    assert!(rests < 300, "faster than 1 mm/s in frame {rests}");
    let after = (0..60).map(|_| fastest(simulation, 60.0));
    let after = after.fold(0.0, f64::max);
    println!("after 5 s at most {after:.1e} m/s");
    assert!(after < 0.5e-3, "{after} m/s");
}

#[test]
#[ignore = "minutes: 4,410 vertices, 240 frames"]
fn a_stack_of_ten_sheets_at_full_size_comes_to_rest_within_two_seconds_and_stays() {
    let rests = rest(&mut full("stack", &[]).build().unwrap(), 240);
    assert!(rests <= 120, "faster than 1 mm/s in frame {rests}");
}

#[test]
fn two_sheets_that_are_dropped_by_three_millimetres_rest_after_a_second() {
    let text = "frames = 90\nfps = 60\nthickness = 2e-3\nfriction = 0.3\n\
         [[cloth]]\nname = \"sheet\"\nshape = { kind = \"sheet\", size = [0.5, 0.5], cells = [12, 12] }\n\
         position = [0, 5e-3, 0]\ncopies = { count = 2, step = [0, 5e-3, 0], turn = [0, 11, 0] }\n\
         [[obstacle]]\nname = \"floor\"\nshape = { kind = \"plane\", size = [2, 2] }\n";
    let rests = rest(&mut scene(text, &[]).build().unwrap(), 90);
    assert!(rests <= 60, "faster than 1 mm/s in frame {rests}");
}

/// Two sheets meet askew in free space, with friction.
fn two_free_sheets() -> Simulation {
    let text = "frames = 20\nfps = 60\nthickness = 4e-3\nfriction = 0.4\n[dynamics]\ngravity = [0, 0, 0]\n\
         [[cloth]]\nname = \"lower\"\nshape = { kind = \"sheet\", size = [0.5, 0.5], cells = [9, 9] }\nvelocity = [0.1, 0.8, 0]\n\
         [[cloth]]\nname = \"upper\"\nshape = { kind = \"sheet\", size = [0.4, 0.4], cells = [7, 7] }\n\
         position = [0.05, 0.06, 0.02]\nrotation = [8, 20, 5]\nvelocity = [0, -0.5, 0.2]\n";
    scene(text, &[]).build().unwrap()
}

#[test]
fn contact_in_the_loops_keeps_momentum_and_takes_energy() {
    let mut simulation = two_free_sheets();
    let sums = |simulation: &Simulation| {
        let each = simulation
            .mass()
            .iter()
            .zip(simulation.state().velocities());
        each.fold((DVec3::ZERO, 0.0), |(sum, size), (m, v)| {
            (sum + *m * v, size + m * v.length())
        })
    };
    let (momentum, size) = sums(&simulation);
    let (mut taken, mut pressed) = (0.0, 0);
    for frame in 1..=20 {
        let report = simulation.step().unwrap();
        assert_eq!(report.intersections, 0);
        let (now, _) = sums(&simulation);
        let lost = (now - momentum).length() / size;
        assert!(lost < 1e-12, "frame {frame}: {lost:e} of the momentum");
        let contact = report.stages["contact"];
        let given = DVec3::from_array(contact.momentum_change).length() / size;
        assert!(given < 1e-12, "frame {frame}: contact gave {given:e}");
        // what is too near is opened, slowly
        assert!(contact.energy_lost() > -1e-6, "frame {frame}: {contact:?}");
        taken += contact.energy_lost();
        pressed += usize::from(contact.energy_lost() > 1e-9);
    }
    println!("contact took {taken:.3e} J in {pressed} frames");
    assert!(pressed > 3 && taken > 1e-3, "the sheets are meant to meet");
}

#[test]
fn what_hits_in_long_intervals_gains_no_energy() {
    // squares that slide into a stop at 2 m/s, in intervals of 1/24 s: put back at their end, they would be shot away by their own stretch
    let mut simulation = small("squares-incline", &[]).build().unwrap();
    let start = simulation.energy().total();
    let (mut before, mut gained) = (start, 0.0);
    for _ in 0..120 {
        assert_eq!(simulation.step().unwrap().intersections, 0);
        let now = simulation.energy().total();
        gained += (now - before).max(0.0);
        before = now;
    }
    let lost = start - before;
    println!("{lost:.3} J lost, {gained:.4} J gained in some frames");
    assert!(
        lost > 0.05 && gained < 0.1 * lost,
        "{lost} J lost, {gained} J gained"
    );
}

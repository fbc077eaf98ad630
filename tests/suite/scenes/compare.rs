//! Methods side by side: the same method twice gives the same figures, and every frame starts from the same state.

use std::ops::ControlFlow;

use percale::compare::{Compared, Method, compare};

use crate::support::small;

fn method(name: &str, response: &str) -> Method {
    // what contact in the loops leaves would be nothing
    let keys = [("response", response), ("repulsion.in_loops", "false")];
    let scene = small("squares-plane", &keys);
    Method {
        name: name.into(),
        simulation: scene.build().unwrap(),
    }
}

/// All that does not depend on the clock.
fn figures(of: &Compared) -> Vec<(usize, usize, f64, Option<f64>)> {
    let frames = of.frames.iter().map(|frame| &frame.figures);
    frames
        .map(|f| (f.calls(), f.retries, f.energy_lost(), f.sliding_kept()))
        .collect()
}

#[test]
fn the_same_method_twice_is_the_same_and_another_starts_every_frame_from_its_state() {
    let impulses = r#"[{ kind = "impulses" }]"#;
    let mut methods = [
        method("first", impulses),
        method("second", impulses),
        method("inelastic", r#"[{ kind = "inelastic" }]"#),
    ];
    let mut farthest = 0.0f64;
    let compared = compare(&mut methods, 40, false, &mut |_| {}, |_, states| {
        assert_eq!(states[0], states[1]);
        let apart = states[0].iter().zip(states[2]);
        let apart = apart.map(|(a, b)| (a - b).length());
        farthest = apart.fold(farthest, f64::max);
        ControlFlow::Continue(())
    });
    let compared = compared.unwrap();
    assert_eq!(figures(&compared[0]), figures(&compared[1]));
    assert!(compared.iter().all(|f| f.failed_frames() == 0));
    assert!(compared.iter().all(|f| f.figures.intersections == 0));
    assert!(compared[2].figures.calls() > 0, "impacts");
    // one frame of 1/24 s apart at most, not forty
    assert!(farthest > 0.0 && farthest < 0.05, "{farthest} m");
    let kept = compared[2].figures.sliding_kept().unwrap();
    assert!((0.0..=1.0 + 1e-9).contains(&kept), "{kept}");
}

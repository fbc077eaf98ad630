//! The example of the README compiles, and its cloth stays on the ball.

mod own_loop {
    include!("../../examples/own_loop.rs");

    pub(super) fn run() {
        main().unwrap();
    }
}

#[test]
fn the_own_loop_of_the_readme_runs_to_its_end() {
    own_loop::run();
}

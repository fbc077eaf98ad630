//! The example of the README compiles, and its cloth stays on the ball.

#[path = "../../../examples/own_loop.rs"]
mod own_loop;

#[test]
fn the_own_loop_of_the_readme_runs_to_its_end() {
    own_loop::main().unwrap();
}

//! The command line of Percale.
fn main() {}

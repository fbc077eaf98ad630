//! Coulomb's law for two patches that one zone holds: what the one needs does not reach the other.

use percale::scene::Scene;

/// Ice and rubber thrown along a heavy free plate that lies on the ground. The plate joins all contacts to one zone, in our form
/// too, where scripted vertices do not; it weighs 3,600 times what a patch weighs, so that it stays where it is.
/// Its diagonal and that of the ground are not under the patches. The thickness is small against the fall of one interval,
/// so that contact begins at once, and that the patches do not reach the ground through the plate.
const PLATE: &str = r#"
frames = 30
thickness = 1e-4
[repulsion]
max_sweeps = 0
[[surface_pair]]
surfaces = ["ice", "plate"]
friction = 0
[[surface_pair]]
surfaces = ["rubber", "plate"]
friction = 1
[[surface_pair]]
surfaces = ["plate", "ground"]
friction = 0
[[cloth]]
name = "ice"
surface = "ice"
shape = { kind = "sheet", size = [0.1, 0.1], cells = [3, 3] }
position = [0, 0.000202, -0.1]
velocity = [1, 0, 0]
[[cloth]]
name = "rubber"
surface = "rubber"
shape = { kind = "sheet", size = [0.1, 0.1], cells = [3, 3] }
position = [0, 0.000202, 0.1]
velocity = [1, 0, 0]
[[cloth]]
name = "plate"
surface = "plate"
shape = { kind = "sheet", size = [6, 6], cells = [1, 1] }
position = [0, 0.000101, 2]
[[obstacle]]
name = "ground"
surface = "ground"
shape = { kind = "plane", size = [40, 40] }
position = [0, 0, 12]
"#;

/// Ways of the middles of ice and rubber, in metres.
fn throw(form: &str) -> [f64; 2] {
    let stage = format!("[{{ kind = \"inelastic\", form = \"{form}\" }}]");
    let scene = Scene::from_text(PLATE, "plate").unwrap();
    let scene = scene.set("response", stage).unwrap();
    let mut simulation = scene.build().unwrap();
    for _ in 0..scene.frames {
        let report = simulation.step().unwrap();
        assert!(report.failsafes.is_empty() && report.unsolved_zones == 0 && report.retries == 0);
    }
    let x = simulation.state().positions();
    [0, 16].map(|from| x[from..from + 16].iter().map(|p| p.x).sum::<f64>() / 16.0)
}

#[test]
fn within_one_zone_ice_keeps_its_speed_and_rubber_stops_where_coulomb_says() {
    let stop = 1.0 / (2.0 * 9.81); // v²/(2 μ g)
    let [ours, paper] = ["coulomb", "paper"].map(throw);
    for (form, [ice, rubber]) in [("ours", ours), ("paper", paper)] {
        println!(
            "{form}: ice {:.4} of 0.5 m, rubber {:.4} of {stop:.4} m",
            ice, rubber
        );
    }
    let [ice, rubber] = ours;
    assert!((ice / 0.5 - 1.0).abs() < 0.03, "ice: {ice}");
    assert!((rubber / stop - 1.0).abs() < 0.03, "rubber: {rubber}");
    // one friction norm and one μ for the zone: both patches move as one, which also shows that they are in one
    let [ice, rubber] = paper;
    assert!(ice < 0.9 * 0.5 && rubber > 1.5 * stop, "{ice}, {rubber}");
}

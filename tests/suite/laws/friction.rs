//! Coulomb's law on a slope, against its closed formula: both integrators, two interval lengths.

use percale::scene::Scene;

/// A sheet on a slope of tan = ½, 0.1 mm above its thickness.
const SLOPE: &str = r#"
frames = 60
thickness = 1e-3
[[cloth]]
name = "cloth"
shape = { kind = "sheet", size = [0.2, 0.2], cells = [6, 6] }
rotation = [0, 0, -26.56505117707799]
[[obstacle]]
name = "slope"
shape = { kind = "plane", size = [6, 6] }
rotation = [0, 0, -26.56505117707799]
position = [-0.000491935, -0.00098387, 0]
"#;

/// Distance that the middle of the sheet has gone after a second, in metres.
fn slid(friction: f64, integrator: &str, interval: f64) -> f64 {
    let changes = [
        ("friction", friction.to_string()),
        (
            "dynamics.integrator",
            format!("{{ kind = \"{integrator}\" }}"),
        ),
        ("time.max_interval", interval.to_string()),
    ];
    let scene = Scene::from_text(SLOPE, "slope").unwrap();
    let scene = scene.set_all(changes).unwrap();
    let mut simulation = scene.build().unwrap();
    let start = simulation.state().positions()[24];
    for _ in 0..scene.frames {
        let report = simulation.step().unwrap();
        assert_eq!(report.intersections, 0);
        assert!(
            report.failsafes.is_empty(),
            "friction must not come from holding"
        );
    }
    (simulation.state().positions()[24] - start).length()
}

#[test]
fn a_sheet_slides_down_a_slope_as_coulomb_says_and_sticks_where_he_says() {
    let (sin, cos) = (0.2f64.sqrt(), 0.8f64.sqrt());
    for (integrator, intervals) in [("implicit", [1.0, 0.125]), ("newmark", [0.5, 0.125])] {
        for interval in intervals {
            let way = slid(0.45, integrator, interval);
            let expected = 0.5 * 9.81 * (sin - 0.45 * cos);
            let error = way / expected - 1.0;
            let stuck = slid(0.55, integrator, interval);
            println!("{integrator}, {interval}: {error:+.4}, {stuck:.2e} m");
            assert!(error.abs() < 0.02, "{integrator}, {interval}: {error}");
            // the fall to the thickness, 0.1 mm, and the way along the slope during it
            assert!(stuck < 2e-4, "{integrator}, {interval}: {stuck}");
        }
    }
}

#[test]
fn where_impulses_carry_the_cloth_the_mean_velocity_as_end_velocity_loses_acceleration() {
    // Sifakis' rule, kept as a setting, against ours; without repulsions every interval has impacts
    let expected = 0.5 * 9.81 * 0.2f64.sqrt() / 9.0;
    let [ours, mean] = ["settle", "sifakis"].map(|velocity| {
        let changes = [
            ("friction", "0"),
            ("repulsion.max_sweeps", "0"),
            ("time.max_interval", "0.5"),
            ("time.velocity", velocity),
        ];
        let scene = Scene::from_text(SLOPE, "slope").unwrap();
        let scene = scene.set_all(changes).unwrap();
        let mut simulation = scene.build().unwrap();
        let start = simulation.state().positions()[24];
        for _ in 0..20 {
            simulation.step().unwrap();
        }
        (simulation.state().positions()[24] - start).length() / expected
    });
    assert!((ours - 1.0).abs() < 0.02, "{ours} of the way");
    assert!(mean < 0.8, "{mean} of the way");
    println!("sifakis: {mean:.3} of the way, ours {ours:.3}");
}

/// Two patches, one of ice and one of rubber, thrown along a plane; the stage under test does everything.
const PATCHES: &str = r#"
frames = 30
thickness = 1e-3
[repulsion]
max_sweeps = 0
[[surface_pair]]
surfaces = ["ice", "ground"]
friction = 0
[[surface_pair]]
surfaces = ["rubber", "ground"]
friction = 1
[[cloth]]
name = "ice"
surface = "ice"
shape = { kind = "sheet", size = [0.1, 0.1], cells = [3, 3] }
position = [0, 0.00101, -0.1]
velocity = [1, 0, 0]
[[cloth]]
name = "rubber"
surface = "rubber"
shape = { kind = "sheet", size = [0.1, 0.1], cells = [3, 3] }
position = [0, 0.00101, 0.1]
velocity = [1, 0, 0]
[[obstacle]]
name = "plane"
surface = "ground"
shape = { kind = "plane", size = [6, 6] }
"#;

/// How far ice and rubber go, in metres, with one stage and the plane moved by `aside`.
fn patches(stage: &str, aside: f64) -> [f64; 2] {
    let changes = [
        ("response", format!("[{stage}]")),
        ("obstacle.0.position", format!("[0, 0, {aside}]")),
    ];
    let scene = Scene::from_text(PATCHES, "patches").unwrap();
    let scene = scene.set_all(changes).unwrap();
    let mut simulation = scene.build().unwrap();
    for _ in 0..scene.frames {
        let report = simulation.step().unwrap();
        assert!(report.failsafes.is_empty() && report.unsolved_zones == 0);
    }
    let x = simulation.state().positions();
    let mean = |from: usize| x[from..from + 16].iter().map(|p| p.x).sum::<f64>() / 16.0;
    [mean(0), mean(16)]
}

#[test]
fn where_a_plane_is_cut_into_triangles_does_not_matter() {
    let stop = 1.0 / (2.0 * 9.81);
    for stage in ["{ kind = \"impulses\" }", "{ kind = \"inelastic\" }"] {
        let [ice, rubber] = patches(stage, 0.0);
        println!("{stage}: ice {ice:.4} of 0.5 m, rubber {rubber:.4} of {stop:.4} m");
        assert!((ice / 0.5 - 1.0).abs() < 0.03, "{stage}, ice: {ice}");
        assert!(
            (rubber / stop - 1.0).abs() < 0.03,
            "{stage}, rubber: {rubber}"
        );
    }
}

#[test]
fn ice_keeps_its_speed_and_rubber_stops_where_coulomb_says() {
    let ways = |form: &str| {
        patches(
            &format!("{{ kind = \"inelastic\", form = \"{form}\" }}"),
            2.0,
        )
    };
    let [ice, rubber] = ways("coulomb");
    let stop = 1.0 / (2.0 * 9.81); // v²/(2 μ g)
    println!("ours: ice {ice:.4} of 0.5 m, rubber {rubber:.4} of {stop:.4} m");
    let paper = ways("paper");
    println!("paper: ice {:.4}, rubber {:.4}", paper[0], paper[1]);
    assert!((ice / 0.5 - 1.0).abs() < 0.03, "ice: {ice}");
    assert!((rubber / stop - 1.0).abs() < 0.03, "rubber: {rubber}");
    // one friction norm and one μ for the zone: the rubber's friction leaks to the ice
    assert!(paper[0] < 0.9 * 0.5, "the paper's form, ice: {}", paper[0]);
}

#[test]
fn the_inelastic_projection_alone_lets_a_sheet_slide_as_coulomb_says() {
    let (sin, cos) = (0.2f64.sqrt(), 0.8f64.sqrt());
    for friction in [0.0, 0.1, 0.3, 0.45] {
        let changes = [
            ("friction", friction.to_string()),
            ("repulsion.max_sweeps", "0".to_string()),
            ("response", "[{ kind = \"inelastic\" }]".to_string()),
        ];
        let scene = Scene::from_text(SLOPE, "slope").unwrap();
        let scene = scene.set_all(changes).unwrap();
        let mut simulation = scene.build().unwrap();
        for _ in 0..30 {
            assert!(simulation.step().unwrap().failsafes.is_empty());
        }
        let v = &simulation.state().velocities()[..49];
        let speed = v.iter().sum::<glam::DVec3>().length() / 49.0;
        let expected = 0.5 * 9.81 * (sin - friction * cos);
        println!("friction {friction}: {speed:.4} of {expected:.4} m/s");
        assert!(
            (speed / expected - 1.0).abs() < 0.05,
            "{friction}: {speed} of {expected}"
        );
    }
}

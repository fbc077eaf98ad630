//! What is answered first matters: objects before cloth \[HVTG08\] §3, and early impacts before late ones (its "Limitations").

use std::sync::Arc;

use glam::{DVec3, dvec3};
use percale::geometry::{Body, BodyKind, Mesh};
use percale::response::inelastic::Form;
use percale::response::{
    Impulses, Inelastic, Pass, Response, RigidZones, Scope, Stage, respond_in,
};
use percale::verify;
use percale::{Candidate, Collider, Surfaces};

const THICKNESS: f64 = 1e-3;

/// Triangles, each a body of its own, and how each wants to move.
struct Triangles {
    kinds: Vec<BodyKind>,
    /// 1/kg of each vertex.
    inverse_mass: Vec<f64>,
    x: Vec<DVec3>,
    way: Vec<DVec3>,
}

impl Triangles {
    fn new() -> Self {
        Self {
            kinds: Vec::new(),
            inverse_mass: Vec::new(),
            x: Vec::new(),
            way: Vec::new(),
        }
    }

    fn add(mut self, kind: BodyKind, inverse_mass: f64, corners: [DVec3; 3], way: DVec3) -> Self {
        self.kinds.push(kind);
        self.inverse_mass.extend([inverse_mass; 3]);
        self.x.extend(corners);
        self.way.push(way);
        self
    }

    /// What the passes do, where the vertices end, and whether that is accepted.
    fn respond(&self, passes: &[Pass<'_>]) -> (Response, Vec<DVec3>, bool) {
        let count = self.kinds.len() as u32;
        let faces = (0..count).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).collect();
        let bodies = (0..).zip(&self.kinds).map(|(i, &kind)| Body {
            name: format!("triangle-{i}"),
            kind,
            vertices: 3 * i..3 * i + 3,
            faces: i..i + 1,
        });
        let mesh = Mesh::with_bodies(self.x.len(), faces, bodies.collect()).unwrap();
        let surfaces = Surfaces::uniform(&mesh, self.x.clone(), THICKNESS, 0.0).unwrap();
        let still = vec![DVec3::ZERO; self.x.len()];
        let start = verify::start(Arc::new(mesh), self.x.clone(), still).unwrap();
        let mut collider = Collider::new(start.mesh());
        let wanted = self.x.iter().enumerate().map(|(v, x)| x + self.way[v / 3]);
        let mut candidate = Candidate::new(
            &start,
            &self.inverse_mass,
            &surfaces,
            0.01,
            wanted.collect(),
        )
        .unwrap();
        let response = respond_in(passes, &[], &mut candidate, &mut collider, None);
        let x = candidate.positions().to_vec();
        let proof = response.proof.as_ref();
        let accepted = verify::accept(candidate, &mut collider, proof).is_ok();
        (response, x, accepted)
    }
}

/// A level triangle of about the given size.
fn level(size: f64, y: f64) -> [DVec3; 3] {
    [
        dvec3(-0.9 * size, y, -size),
        dvec3(1.1 * size, y, -0.8 * size),
        dvec3(0.1 * size, y, size),
    ]
}

#[test]
fn two_passes_let_cloth_push_cloth_into_an_object_and_one_pass_does_not() {
    // a heavy triangle would stop less than a thickness above the floor, but there lies a light one
    let fall = dvec3(0.0, -0.0292, 0.0);
    let pile = Triangles::new()
        .add(BodyKind::Cloth, 0.1, level(0.10, 0.03), fall)
        .add(BodyKind::Cloth, 1.0, level(0.12, 0.0015), DVec3::ZERO)
        .add(BodyKind::Obstacle, 0.0, level(10.0, 0.0), DVec3::ZERO);
    for stage in [
        Stage::Impulses(Impulses::default()),
        Stage::RigidZones(RigidZones::default()),
        Stage::Inelastic(Inelastic::default()),
    ] {
        let stages = &[stage][..];
        let pass = |scope| Pass { scope, stages };
        let (one, _, accepted) = pile.respond(&[pass(Scope::All)]);
        assert!(one.left == 0 && accepted, "{stages:?}");
        let (two, _, accepted) = pile.respond(&[pass(Scope::Objects), pass(Scope::Cloth)]);
        assert!(two.left > 0 && !accepted, "{stages:?}");
        // what fail-safes are for: they see everything
        let (three, _, accepted) = pile.respond(&[
            pass(Scope::Objects),
            pass(Scope::Cloth),
            Pass {
                scope: Scope::All,
                stages: &[Stage::named("hold").unwrap()],
            },
        ]);
        assert!(three.left == 0 && accepted, "{stages:?}");
    }
}

#[test]
fn in_causal_order_an_impact_that_an_earlier_one_prevents_costs_nothing() {
    // behind the floor stands a wall; who stops at the floor does not meet it
    let wall = [
        dvec3(0.3, -0.05, 0.0),
        dvec3(0.3, -3.0, -3.0),
        dvec3(0.3, -3.0, 3.0),
    ];
    let scene = Triangles::new()
        .add(
            BodyKind::Cloth,
            1.0,
            level(0.05, 0.01),
            dvec3(0.5, -0.5, 0.0),
        )
        .add(BodyKind::Obstacle, 0.0, level(10.0, 0.0), DVec3::ZERO)
        .add(BodyKind::Obstacle, 0.0, wall, DVec3::ZERO);
    let way = |form: Form| {
        let stages = [Stage::Inelastic(Inelastic {
            form,
            ..Inelastic::default()
        })];
        let scope = Scope::All;
        let stages = &stages;
        let (response, x, accepted) = scene.respond(&[Pass { scope, stages }]);
        assert!(response.left == 0 && accepted);
        (0..3).map(|v| (x[v] - scene.x[v]).x).sum::<f64>() / 3.0
    };
    let (at_once, causal) = (way(Form::Coulomb), way(Form::Causal));
    println!("along the floor: {at_once:.3} m at once, {causal:.3} m in causal order");
    assert!((causal - 0.5).abs() < 1e-12, "{causal}");
    // what is nearest comes first in any order, but some of the wall is answered too
    assert!(at_once < 0.45, "{at_once}");
}

//! Certificates with listed tangles: what they hold, and attempts to get one that says too little.

use std::sync::Arc;

use percale::geometry::{BadTangle, Tangle};
use percale::response::{Pass, Scope, respond_in};
use percale::scene::tangles::{TYPES, by_name, dents};
use percale::untangle::{Rest, analyse};
use percale::verify::{self, audit};
use percale::{
    Candidate, Collider, DVec3, Mesh, Settings, StartError, StepError, Surfaces, Verified,
    intersections,
};

use crate::support::{two_triangles, upper_moved};

struct Tangled {
    mesh: Arc<Mesh>,
    x: Vec<DVec3>,
    /// As `untangle` finds them.
    tangles: Vec<Tangle>,
    surfaces: Surfaces,
    w: Vec<f64>,
}

impl Tangled {
    fn new(sheet: percale::scene::tangles::Tangled) -> Self {
        let mesh = Arc::new(Mesh::new(sheet.positions.len(), sheet.faces).unwrap());
        let x = sheet.positions;
        let analysis = analyse(&mesh, &x, Rest::Unknown).unwrap();
        let crossing = intersections(&mesh, &x).unwrap();
        Self {
            tangles: analysis.tangles(&mesh, &crossing),
            surfaces: Surfaces::uniform(&mesh, x.clone(), 1e-3, 0.3).unwrap(),
            w: vec![1.0; x.len()],
            mesh,
            x,
        }
    }

    fn named(name: &str) -> Self {
        Self::new(by_name(name, 8).unwrap())
    }

    fn start(&self, tangles: &[Tangle]) -> Result<Verified, StartError> {
        let v = vec![DVec3::ZERO; self.x.len()];
        verify::start_listed(Arc::clone(&self.mesh), self.x.clone(), v, tangles.to_vec())
    }

    fn accept(&self, state: &Verified, x: Vec<DVec3>) -> Result<Verified, StepError> {
        let mut collider = Collider::new(&self.mesh);
        let candidate = Candidate::new(state, &self.w, &self.surfaces, 0.1, x).unwrap();
        verify::accept_stored(candidate, &mut collider, None)
    }

    /// What is wrong with the first tangle after a change of it.
    fn refused(&self, change: impl Fn(&mut Tangle)) -> BadTangle {
        let mut tangles = self.tangles.clone();
        change(&mut tangles[0]);
        match self.start(&tangles) {
            Err(StartError::Tangle { number: 0, what }) => what,
            other => panic!("{other:?}"),
        }
    }
}

/// The height at which the upper layer would be if the dent looked the other way: without crossings.
fn flipped(x: &[DVec3]) -> Vec<DVec3> {
    x.iter()
        .map(|x| x.with_y(x.y.abs().max(1e-4 * x.x)))
        .collect()
}

#[test]
fn every_type_of_path_is_certified_with_its_list_and_not_without() {
    let rows = ["table-1a", "table-1b"];
    for name in TYPES.into_iter().chain(rows) {
        let tangled = Tangled::named(name);
        let refused = tangled.start(&[]);
        assert!(
            matches!(refused, Err(StartError::Crossing { .. })),
            "{name}"
        );
        let state = tangled
            .start(&tangled.tangles)
            .unwrap_or_else(|e| panic!("{name}: {e}"));
        let audited = audit::intersections(&tangled.mesh, &tangled.x);
        assert_eq!(state.crossing(), audited, "{name}");
        // to stay is always allowed
        let after = tangled.accept(&state, tangled.x.clone()).unwrap();
        assert_eq!(after.crossing(), audited, "{name}");
    }
}

#[test]
fn a_crossing_that_no_path_names_is_refused() {
    let tangled = Tangled::new(dents(24));
    assert!(tangled.tangles.len() > 3, "several dents");
    for without in 0..tangled.tangles.len() {
        let mut tangles = tangled.tangles.clone();
        let gone = tangles.remove(without);
        let Err(StartError::Crossing { count, .. }) = tangled.start(&tangles) else {
            panic!("path {without} is not listed");
        };
        assert_eq!(count, gone.path.len());
    }
    let mut tangles = tangled.tangles.clone();
    let pair = tangles[1].path.pop().unwrap();
    let Err(StartError::Crossing { faces, .. }) = tangled.start(&tangles) else {
        panic!("a pair of a path is not named");
    };
    assert_eq!(faces, [pair[0].min(pair[1]), pair[0].max(pair[1])]);
    // to name it in a tangle that does not hold it is no way out
    tangles[2].path.push(pair);
    tangles[2].path.sort_unstable();
    let refused = tangled.start(&tangles);
    let outside = |e: &StartError| {
        matches!(
            e,
            StartError::Tangle {
                number: 2,
                what: BadTangle::PathOutside
            }
        )
    };
    assert!(refused.as_ref().is_err_and(outside), "{refused:?}");
}

#[test]
fn a_list_that_is_not_what_it_says_is_refused_by_name() {
    let tangled = Tangled::named("closed");
    let faces = tangled.mesh.faces().len() as u32;
    assert_eq!(tangled.refused(|t| t.path.clear()), BadTangle::NoPath);
    assert_eq!(tangled.refused(|t| t.sides[0].reverse()), BadTangle::List);
    assert_eq!(tangled.refused(|t| t.sides[1].push(faces)), BadTangle::List);
    assert_eq!(tangled.refused(|t| t.path.push(t.path[0])), BadTangle::List);
    let without = |t: &mut Tangle| t.sides[0].retain(|&f| f != t.path[0][0]);
    // it lies inside as well
    assert!(matches!(
        tangled.refused(without),
        BadTangle::Stray { .. } | BadTangle::PathOutside
    ));
    // a face at the other end of the sheet
    let far = *(0..faces)
        .collect::<Vec<_>>()
        .iter()
        .rev()
        .find(|f| {
            let near = tangled.tangles[0].sides.iter().flatten();
            !near.copied().any(|near| near == **f)
        })
        .unwrap();
    let what = tangled.refused(|t| {
        t.sides[0].push(far);
        t.sides[0].sort_unstable();
    });
    assert_eq!(what, BadTangle::Stray { face: far });
    let what = tangled.refused(|t| t.inside[1].insert(0, 0));
    assert!(
        matches!(what, BadTangle::Stray { face: 0 } | BadTangle::List),
        "{what:?}"
    );
    // a pair of the two sides that does not cross
    let what = tangled.refused(|t| {
        let crosses = |pair: &[u32; 2]| t.path.contains(pair);
        let mut pairs = t.sides[0]
            .iter()
            .flat_map(|&f| t.sides[1].iter().map(move |&g| [f, g]));
        let idle = pairs.find(|pair| !crosses(pair)).unwrap();
        t.path.push(idle);
        t.path.sort_unstable();
    });
    assert_eq!(what, BadTangle::Stale);
    let mut twice = tangled.tangles.clone();
    twice.push(twice[0].clone());
    let refused = tangled.start(&twice);
    let is_named = |e: &StartError| {
        matches!(
            e,
            StartError::Tangle {
                number: 1,
                what: BadTangle::Twice
            }
        )
    };
    assert!(refused.as_ref().is_err_and(is_named), "{refused:?}");
}

#[test]
fn a_list_of_another_time_is_refused() {
    let mut tangled = Tangled::named("closed");
    let mut state = tangled.start(&tangled.tangles).unwrap();
    let old = tangled.tangles.clone();
    let clean = flipped(&tangled.x);
    assert!(intersections(&tangled.mesh, &clean).unwrap().is_empty());
    // half of the way up, something still crosses, but elsewhere
    let up = |share: f64| -> Vec<DVec3> {
        let way = tangled.x.iter().zip(&clean);
        way.map(|(x, end)| x.lerp(*end, share)).collect()
    };
    let x = up(0.4);
    let after = tangled.accept(&state, x.clone()).unwrap();
    assert!(!after.tangles().is_empty());
    let stale = |e: StartError| {
        matches!(
            e,
            StartError::Tangle {
                what: BadTangle::Stale,
                ..
            }
        )
    };
    let mut relisted = after.clone();
    if after.crossing() != state.crossing() {
        assert!(verify::relist(&mut relisted, old.clone()).is_err());
        assert_eq!(relisted.tangles(), after.tangles(), "unchanged");
    }
    tangled.x = clean;
    assert!(
        tangled.start(&old).is_err_and(stale),
        "nothing crosses any more"
    );
    assert!(tangled.start(&[]).is_ok());
    // nor does a state take fewer than it has
    assert!(verify::relist(&mut state, Vec::new()).is_err());
}

#[test]
fn a_cured_path_is_dropped_and_does_not_come_back() {
    let tangled = Tangled::named("closed");
    let state = tangled.start(&tangled.tangles).unwrap();
    let clean = flipped(&tangled.x);
    let cured = tangled.accept(&state, clean).unwrap();
    assert!(cured.tangles().is_empty());
    let back = tangled.accept(&cured, tangled.x.clone());
    assert!(
        matches!(back, Err(StepError::Unresolved { .. })),
        "{back:?}"
    );
}

#[test]
fn outside_of_a_tangle_nothing_meets() {
    let tangled = Tangled::named("closed");
    let state = tangled.start(&tangled.tangles).unwrap();
    // a vertex of the upper layer far from the dent, and not at the crease
    let is_near = |v: u32| {
        let around = tangled.mesh.faces_of_vertex(v).iter();
        let sides = &tangled.tangles[0].sides;
        around
            .clone()
            .any(|f| sides.iter().any(|side| side.contains(f)))
    };
    let (v, _) = (0..)
        .zip(&tangled.x)
        .find(|&(v, x)| x.y > 0.05 && !is_near(v))
        .unwrap();
    let mut x = tangled.x.clone();
    x[v as usize].y = -0.05;
    let through = tangled.accept(&state, x);
    assert!(
        matches!(through, Err(StepError::Unresolved { .. })),
        "{through:?}"
    );
}

/// The tangle of a type with wide sides: all that hangs together with its path on either layer.
fn wide(tangled: &Tangled) -> Tangle {
    let mut tangle = tangled.tangles[0].clone();
    let is_upper = |f: u32| {
        tangled.mesh.faces()[f as usize]
            .iter()
            .all(|&v| tangled.x[v as usize].y != 0.0)
    };
    let is_lower = |f: u32| {
        tangled.mesh.faces()[f as usize]
            .iter()
            .all(|&v| tangled.x[v as usize].y == 0.0)
    };
    let all = 0..tangled.mesh.faces().len() as u32;
    let layers = [
        all.clone().filter(|&f| is_upper(f)).collect(),
        all.filter(|&f| is_lower(f)).collect(),
    ];
    let [upper, lower]: [Vec<u32>; 2] = layers;
    tangle.sides = match upper.contains(&tangle.path[0][0]) {
        true => [upper, lower],
        false => [lower, upper],
    };
    tangle
}

#[test]
fn a_new_path_is_refused_even_where_crossings_are_let_through() {
    let tangled = Tangled::named("closed");
    let tangle = wide(&tangled);
    let state = tangled.start(std::slice::from_ref(&tangle)).unwrap();
    let is_near = |v: u32| {
        let mut around = tangled.mesh.faces_of_vertex(v).iter();
        let path = tangle.path.iter().flatten();
        around.any(|f| path.clone().any(|p| p == f) || tangle.inside.iter().any(|i| i.contains(f)))
    };
    let upper = |v: u32| {
        let mut around = tangled.mesh.faces_of_vertex(v).iter();
        around.all(|f| tangle.sides.iter().any(|side| side.contains(f)))
    };
    let found = (0..)
        .zip(&tangled.x)
        .find(|&(v, x)| x.y > 0.05 && !is_near(v) && upper(v));
    let (v, _) = found.unwrap();
    let mut x = tangled.x.clone();
    x[v as usize].y = -0.02;
    let born = tangled.accept(&state, x.clone());
    assert!(matches!(born, Err(StepError::NewPath { .. })), "{born:?}");
    // unless somebody opens the door for it, by name
    let door = Tangle {
        path: Vec::new(),
        inside: Default::default(),
        ..tangle.clone()
    };
    let opened = verify::open(&state, vec![door]).unwrap();
    let born = tangled.accept(&opened, x).unwrap();
    assert_eq!(born.tangles().len(), 2);
    // and through it nothing comes that has a path already
    assert!(verify::open(&state, vec![tangle]).is_err());
}

#[test]
fn an_open_door_closes_behind_what_does_not_come() {
    let (mesh, x) = two_triangles(0.1);
    let v = vec![DVec3::ZERO; 6];
    let state = verify::start(Arc::clone(&mesh), x.clone(), v).unwrap();
    let door = Tangle {
        sides: [vec![0], vec![1]],
        ..Tangle::default()
    };
    let opened = verify::open(&state, vec![door.clone()]).unwrap();
    assert_eq!(opened.crossing(), Vec::<[u32; 2]>::new());
    let mut collider = Collider::new(&mesh);
    let surfaces = Surfaces::uniform(&mesh, x.clone(), 1e-2, 0.3).unwrap();
    let mut accept = |state: &Verified, by: f64| {
        let x = upper_moved(&x, by * DVec3::Y);
        let candidate = Candidate::new(state, &[1.0; 6], &surfaces, 0.1, x).unwrap();
        verify::accept_stored(candidate, &mut collider, None)
    };
    let nearer = accept(&opened, -0.05).unwrap();
    assert!(nearer.tangles().is_empty());
    assert!(accept(&nearer, -0.2).is_err());
    // the first corners of the small triangle go through the large one
    let mut pierced = x.clone();
    pierced[5].y = -0.1;
    let candidate = Candidate::new(&opened, &[1.0; 6], &surfaces, 0.1, pierced).unwrap();
    let mut collider = Collider::new(&mesh);
    let pierced = verify::accept(candidate, &mut collider, None).unwrap();
    assert_eq!(pierced.tangles().len(), 1);
    assert_eq!(pierced.crossing(), [[0, 1]]);
}

#[test]
fn a_proof_of_a_tangled_motion_is_none_of_a_clean_one() {
    let (mesh, x) = two_triangles(0.1);
    let v = vec![DVec3::ZERO; 6];
    let state = verify::start(Arc::clone(&mesh), x.clone(), v).unwrap();
    let door = Tangle {
        sides: [vec![0], vec![1]],
        ..Tangle::default()
    };
    let opened = verify::open(&state, vec![door.clone()]).unwrap();
    let reopened = verify::open(
        &state,
        vec![Tangle {
            sides: [vec![1], vec![1]],
            ..door
        }],
    )
    .unwrap();
    let mut collider = Collider::new(&mesh);
    let surfaces = Surfaces::uniform(&mesh, x.clone(), 1e-2, 0.3).unwrap();
    let end = upper_moved(&x, -0.2 * DVec3::Y);
    let through = |state| Candidate::new(state, &[1.0; 6], &surfaces, 0.1, end.clone()).unwrap();
    let settings = Settings::default();
    let pass = Pass {
        scope: Scope::All,
        stages: &settings.response,
    };
    let mut candidate = through(&opened);
    let response = respond_in(&[pass], &[], &mut candidate, &mut collider, None);
    assert!(
        response.proof.is_some() && response.met.is_empty(),
        "nobody looked"
    );
    assert_eq!(candidate.positions(), end);
    assert!(verify::accept(candidate, &mut collider, response.proof.as_ref()).is_ok());
    for state in [&state, &reopened] {
        let judged = verify::accept(through(state), &mut collider, response.proof.as_ref());
        assert!(
            matches!(judged, Err(StepError::Unresolved { .. })),
            "{judged:?}"
        );
    }
}

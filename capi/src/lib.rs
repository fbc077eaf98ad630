//! Percale for C: see `include/percale.h`. Passes arrays in and out, turns errors into codes with texts, and decides nothing.
//!
//! Handles are numbers that are never used twice, so one that was freed is told from one that lives; what a call makes is listed, so
//! freeing it twice does nothing. No panic crosses the border.

mod border;
mod recording;
mod simulation;

use std::ffi::{c_char, c_int, c_void};

use border::{
    Handles, Out, Refusal, Status, call, give_list, give_text, given, list, out, release, text,
    vectors, wanted,
};
use percale::geometry::{self, Collider, Mode};
use percale::plain::{self, Beside, Stepper, Terms};
use percale::response::Stage;
use percale::{DVec2, DVec3};

static COLLIDERS: Handles<Stepper> = Handles::new();

/// An impact, as in `percale.h`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Impact {
    vertices: [u32; 4],
    time: f64,
    weights: [f64; 4],
    normal: [f64; 3],
    is_vertex_face: i32,
    is_certain: i32,
}

impl Impact {
    fn of(impact: &geometry::Impact) -> Self {
        Self {
            vertices: impact.vertices,
            time: impact.time,
            weights: impact.weights,
            normal: impact.normal.to_array(),
            is_vertex_face: impact.is_vertex_face().into(),
            is_certain: impact.certain.into(),
        }
    }

    /// Gives a list of them to C.
    fn give(found: &[geometry::Impact], impacts: &Out<*mut Self>, count: &Out<usize>) {
        let found: Vec<Self> = found.iter().map(Self::of).collect();
        count.set(found.len());
        impacts.set(give_list(&found));
    }
}

/// What is known of a mesh to cure beside its positions, as in `percale.h`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Evidence {
    uv: *const f64,
    keep: *const u32,
    keep_count: usize,
    layers: *const i32,
    rest: *const f64,
    body: *const f64,
    body_vertices: usize,
    body_faces: *const u32,
    body_triangles: usize,
    thickness: f64,
    max_steps: u32,
}

impl Evidence {
    /// For a cloth of so many vertices and triangles.
    ///
    /// # Safety
    /// Pointers are null or hold what the counts say.
    unsafe fn read(self, vertices: usize, triangles: usize) -> Result<plain::Evidence, Refusal> {
        // SAFETY: by the caller's promise, for all of these
        unsafe {
            let body = match (self.body_vertices, self.body.is_null()) {
                (0, true) => None,
                (vertex_count, _) => {
                    let faces = given("body_faces", self.body_faces, self.body_triangles)?;
                    let x = vectors("body", self.body, vertex_count)?;
                    let beside = Beside {
                        vertex_count,
                        faces,
                    };
                    Some((beside, x))
                }
            };
            Ok(plain::Evidence {
                uv: pattern(self.uv, triangles)?,
                keep: list("keep", self.keep, self.keep_count)?,
                layers: match self.layers.is_null() {
                    true => Vec::new(),
                    false => list("layers", self.layers, vertices)?,
                },
                rest: match self.rest.is_null() {
                    true => None,
                    false => Some(vectors("rest", self.rest, vertices)?),
                },
                body,
                thickness: self.thickness,
                max_steps: (self.max_steps > 0).then_some(self.max_steps),
            })
        }
    }
}

/// Places of the corners of each face in the pattern, if there is one.
///
/// # Safety
/// The place is null or holds six numbers for each triangle.
unsafe fn pattern(uv: *const f64, triangles: usize) -> Result<Option<Vec<[DVec2; 3]>>, Refusal> {
    if uv.is_null() {
        return Ok(None);
    }
    // SAFETY: by the caller's promise
    let corners = unsafe { list("uv", uv.cast::<[[f64; 2]; 3]>(), triangles)? };
    let corners = corners.iter().map(|corners| corners.map(DVec2::from));
    Ok(Some(corners.collect()))
}

/// Version of the library.
#[unsafe(no_mangle)]
pub extern "C" fn percale_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// Why the last call of this thread was refused.
#[unsafe(no_mangle)]
pub extern "C" fn percale_error() -> *const c_char {
    border::last_error()
}

/// Frees what a call has made; anything else is left alone.
#[unsafe(no_mangle)]
pub extern "C" fn percale_free(made: *mut c_void) {
    release(made.cast());
}

/// See `percale.h`.
///
/// # Safety
/// Pointers are null or point to as many values as the counts say; so for all calls below.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn percale_intersections(
    positions: *const f64,
    vertices: usize,
    faces: *const u32,
    triangles: usize,
    pairs: *mut *mut u32,
    count: *mut usize,
) -> Status {
    call(|| {
        // SAFETY: by the caller's promise
        let (pairs, count) = unsafe { (out("pairs", pairs)?, out("count", count)?) };
        // SAFETY: by the caller's promise
        let (x, faces) = unsafe {
            (
                vectors("positions", positions, vertices)?,
                given("faces", faces, triangles)?,
            )
        };
        let mesh = plain::mesh(x.len(), faces)?;
        let found = plain::crossings(&mesh, &x)?.faces;
        count.set(found.len());
        pairs.set(give_list(&found).cast());
        Ok(())
    })
}

/// See `percale.h`.
///
/// # Safety
/// As of [`percale_intersections`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn percale_has_intersections(
    positions: *const f64,
    vertices: usize,
    faces: *const u32,
    triangles: usize,
    found: *mut c_int,
) -> Status {
    call(|| {
        // SAFETY: by the caller's promise
        let found = unsafe { out("found", found)? };
        // SAFETY: by the caller's promise
        let (x, faces) = unsafe {
            (
                vectors("positions", positions, vertices)?,
                given("faces", faces, triangles)?,
            )
        };
        let mesh = plain::mesh(x.len(), faces)?;
        found.set(c_int::from(plain::has_crossings(&mesh, &x)?));
        Ok(())
    })
}

/// See `percale.h`.
///
/// # Safety
/// As of [`percale_intersections`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn percale_check(
    positions: *const f64,
    vertices: usize,
    faces: *const u32,
    triangles: usize,
    json: *mut *mut c_char,
) -> Status {
    call(|| {
        // SAFETY: by the caller's promise
        let json = unsafe { out("json", json)? };
        // SAFETY: by the caller's promise
        let (x, faces) = unsafe {
            (
                vectors("positions", positions, vertices)?,
                given("faces", faces, triangles)?,
            )
        };
        let mesh = plain::mesh(x.len(), faces)?;
        let crossings = plain::crossings(&mesh, &x)?;
        let groups = crossings.by_group(&mesh, &mesh.components());
        let by_body = groups.iter().map(|([a, b], counts)| {
            serde_json::json!({
                "a": a, "b": b, "intersections": counts.intersections, "edge_face": counts.edge_face,
            })
        });
        let report = serde_json::json!({
            "vertices": x.len(), "triangles": mesh.faces().len(), "intersections": crossings.faces.len(),
            "edge_face": crossings.edge_faces.len(), "by_body": by_body.collect::<Vec<_>>(),
        });
        json.set(give_text(&report.to_string()));
        Ok(())
    })
}

/// See `percale.h`.
///
/// # Safety
/// As of [`percale_intersections`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn percale_impacts(
    start: *const f64,
    end: *const f64,
    vertices: usize,
    faces: *const u32,
    triangles: usize,
    impacts: *mut *mut Impact,
    count: *mut usize,
) -> Status {
    call(|| {
        // SAFETY: by the caller's promise
        let (impacts, count) = unsafe { (out("impacts", impacts)?, out("count", count)?) };
        // SAFETY: by the caller's promise
        let (x0, x1) = unsafe {
            (
                vectors("start", start, vertices)?,
                vectors("end", end, vertices)?,
            )
        };
        // SAFETY: by the caller's promise
        let faces = unsafe { given("faces", faces, triangles)? };
        let mesh = plain::mesh(x0.len(), faces)?;
        let found = plain::impacts(&mut Collider::new(&mesh), &x0, &x1, Mode::Fast)?;
        Impact::give(&found, &impacts, &count);
        Ok(())
    })
}

/// See `percale.h`.
///
/// # Safety
/// As of [`percale_intersections`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn percale_paths(
    positions: *const f64,
    vertices: usize,
    faces: *const u32,
    triangles: usize,
    uv: *const f64,
    json: *mut *mut c_char,
) -> Status {
    call(|| {
        // SAFETY: by the caller's promise
        let json = unsafe { out("json", json)? };
        // SAFETY: by the caller's promise
        let (x, faces) = unsafe {
            (
                vectors("positions", positions, vertices)?,
                given("faces", faces, triangles)?,
            )
        };
        let mesh = plain::mesh(x.len(), faces)?;
        // SAFETY: by the caller's promise
        let uv = unsafe { pattern(uv, triangles)? };
        let found = plain::paths(&mesh, &x, uv.as_deref())?;
        json.set(give_text(&serde_json::to_string(&found.summaries(&x))?));
        Ok(())
    })
}

/// See `percale.h`.
///
/// # Safety
/// As of [`percale_intersections`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn percale_untangle(
    positions: *const f64,
    vertices: usize,
    faces: *const u32,
    triangles: usize,
    evidence: *const Evidence,
    result: *mut f64,
    certified: *mut i32,
    json: *mut *mut c_char,
) -> Status {
    call(|| {
        // SAFETY: by the caller's promise
        let (result, certified, json) = unsafe {
            (
                out("result", result)?,
                wanted("certified", certified)?,
                wanted("json", json)?,
            )
        };
        // SAFETY: by the caller's promise
        let (x, faces) = unsafe {
            (
                vectors("positions", positions, vertices)?,
                given("faces", faces, triangles)?,
            )
        };
        let evidence = match evidence.is_null() {
            true => plain::Evidence::default(),
            // SAFETY: by the caller's promise
            false => unsafe {
                let evidence = list("evidence", evidence, 1)?[0];
                evidence.read(vertices, triangles)?
            },
        };
        let cured = plain::untangled(x, faces, evidence)?;
        let report = serde_json::to_string(&cured.report)?;
        // SAFETY: by the caller's promise there is room for all vertices
        unsafe { result.set_vectors(&cured.positions) };
        certified.inspect(|place| place.set(cured.certified.into()));
        json.inspect(|place| place.set(give_text(&report)));
        Ok(())
    })
}

/// See `percale.h`.
///
/// # Safety
/// As of [`percale_intersections`]; texts end with a 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn percale_collider_new(
    vertices: usize,
    faces: *const u32,
    triangles: usize,
    mass: *const f64,
    fixed: *const u32,
    fixed_count: usize,
    obstacle_vertices: usize,
    obstacle_faces: *const u32,
    obstacle_triangles: usize,
    thickness: f64,
    friction: f64,
    rest: *const f64,
    response: *const c_char,
    made: *mut u64,
) -> Status {
    call(|| {
        // SAFETY: by the caller's promise
        let made = unsafe { out("made", made)? };
        // SAFETY: by the caller's promise
        let faces = unsafe { given("faces", faces, triangles)? };
        let obstacle = match (obstacle_faces.is_null(), obstacle_vertices) {
            (true, 0) => None,
            _ => Some(Beside {
                vertex_count: obstacle_vertices,
                // SAFETY: by the caller's promise
                faces: unsafe { given("obstacle_faces", obstacle_faces, obstacle_triangles)? },
            }),
        };
        let mass = match mass.is_null() {
            true => None,
            // SAFETY: by the caller's promise
            false => Some(unsafe { list("mass", mass, vertices)? }),
        };
        let response = match response.is_null() {
            true => None,
            // SAFETY: by the caller's promise
            false => Some(stages(unsafe { text("response", response)? })?),
        };
        let terms = Terms {
            mass,
            // SAFETY: by the caller's promise
            fixed: unsafe { list("fixed", fixed, fixed_count)? },
            rest: match rest.is_null() {
                true => None,
                // SAFETY: by the caller's promise
                false => Some(unsafe { vectors("rest", rest, vertices)? }),
            },
            thickness: (thickness != 0.0).then_some(thickness),
            friction,
            response,
        };
        made.set(COLLIDERS.keep(Stepper::new(vertices, faces, obstacle, terms)?));
        Ok(())
    })
}

fn stages(names: &str) -> Result<Vec<Stage>, Refusal> {
    let stage = |name: &str| {
        let known = Stage::NAMES.join(", ");
        let message = format!("response: there is no stage '{name}'; there are {known}");
        Stage::named(name).ok_or_else(|| Refusal::argument(message))
    };
    names.split(',').map(|name| stage(name.trim())).collect()
}

/// See `percale.h`.
#[unsafe(no_mangle)]
pub extern "C" fn percale_collider_free(collider: u64) -> Status {
    call(|| COLLIDERS.drop(collider, "collider"))
}

/// See `percale.h`.
///
/// # Safety
/// As of [`percale_intersections`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn percale_collider_resolve(
    collider: u64,
    start: *const f64,
    end: *const f64,
    obstacle_start: *const f64,
    obstacle_end: *const f64,
    dt: f64,
    result: *mut f64,
    velocities: *mut f64,
    json: *mut *mut c_char,
) -> Status {
    call(|| {
        // SAFETY: by the caller's promise
        let (result, velocities, json) = unsafe {
            (
                out("result", result)?,
                wanted("velocities", velocities)?,
                wanted("json", json)?,
            )
        };
        COLLIDERS.with(collider, "collider", |stepper| {
            // SAFETY: by the caller's promise
            let Motion { x0, x1, obstacle } =
                unsafe { Motion::read(stepper, start, end, obstacle_start, obstacle_end)? };
            let done = stepper.resolve(x0, x1, obstacle, dt)?;
            let report = serde_json::to_string(&done.report)?;
            // SAFETY: by the caller's promise there is room for all vertices
            unsafe {
                result.set_vectors(&done.positions);
                if let Some(velocities) = velocities {
                    velocities.set_vectors(&done.velocities);
                }
            }
            json.inspect(|place| place.set(give_text(&report)));
            Ok(())
        })
    })
}

/// A motion of a cloth and of what is beside it.
struct Motion {
    x0: Vec<DVec3>,
    x1: Vec<DVec3>,
    obstacle: Option<[Vec<DVec3>; 2]>,
}

impl Motion {
    /// # Safety
    /// Pointers are null or hold the vertices of the collider.
    unsafe fn read(
        stepper: &Stepper,
        start: *const f64,
        end: *const f64,
        obstacle_start: *const f64,
        obstacle_end: *const f64,
    ) -> Result<Self, Refusal> {
        let (count, all) = (stepper.vertex_count(), stepper.mesh().vertex_count());
        if all == count && !(obstacle_start.is_null() && obstacle_end.is_null()) {
            let message = "obstacle_start, obstacle_end: this collider has no obstacle; give NULL";
            return Err(Refusal::argument(message.into()));
        }
        // SAFETY: by the caller's promise
        unsafe {
            let obstacle = match all > count {
                true => Some([
                    vectors("obstacle_start", obstacle_start, all - count)?,
                    vectors("obstacle_end", obstacle_end, all - count)?,
                ]),
                false => None,
            };
            Ok(Self {
                x0: vectors("start", start, count)?,
                x1: vectors("end", end, count)?,
                obstacle,
            })
        }
    }
}

/// See `percale.h`.
///
/// # Safety
/// As of [`percale_intersections`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn percale_collider_intersections(
    collider: u64,
    positions: *const f64,
    obstacle: *const f64,
    pairs: *mut *mut u32,
    count: *mut usize,
) -> Status {
    call(|| {
        // SAFETY: by the caller's promise
        let (pairs, count) = unsafe { (out("pairs", pairs)?, out("count", count)?) };
        COLLIDERS.with(collider, "collider", |stepper| {
            // SAFETY: by the caller's promise
            let motion =
                unsafe { Motion::read(stepper, positions, positions, obstacle, obstacle)? };
            let beside = motion.obstacle.map(|[start, _]| start);
            let found = stepper.crossings(motion.x0, beside)?.faces;
            count.set(found.len());
            pairs.set(give_list(&found).cast());
            Ok(())
        })
    })
}

/// See `percale.h`.
///
/// # Safety
/// As of [`percale_intersections`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn percale_collider_has_intersections(
    collider: u64,
    positions: *const f64,
    obstacle: *const f64,
    found: *mut c_int,
) -> Status {
    call(|| {
        // SAFETY: by the caller's promise
        let found = unsafe { out("found", found)? };
        COLLIDERS.with(collider, "collider", |stepper| {
            // SAFETY: by the caller's promise
            let motion =
                unsafe { Motion::read(stepper, positions, positions, obstacle, obstacle)? };
            let beside = motion.obstacle.map(|[start, _]| start);
            found.set(c_int::from(stepper.has_crossings(motion.x0, beside)?));
            Ok(())
        })
    })
}

/// See `percale.h`.
///
/// # Safety
/// As of [`percale_intersections`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn percale_collider_impacts(
    collider: u64,
    start: *const f64,
    end: *const f64,
    obstacle_start: *const f64,
    obstacle_end: *const f64,
    impacts: *mut *mut Impact,
    count: *mut usize,
) -> Status {
    call(|| {
        // SAFETY: by the caller's promise
        let (impacts, count) = unsafe { (out("impacts", impacts)?, out("count", count)?) };
        COLLIDERS.with(collider, "collider", |stepper| {
            // SAFETY: by the caller's promise
            let Motion { x0, x1, obstacle } =
                unsafe { Motion::read(stepper, start, end, obstacle_start, obstacle_end)? };
            let found = stepper.impacts(x0, x1, obstacle, Mode::Fast)?;
            Impact::give(&found, &impacts, &count);
            Ok(())
        })
    })
}

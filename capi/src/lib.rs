//! Percale for C: see `include/percale.h`. Passes arrays in and out, turns errors into codes with texts, and decides nothing.
//!
//! Handles are numbers that are never used twice, so one that was freed is told from one that lives; what a call makes is listed, so
//! freeing it twice does nothing. No panic crosses the border.

mod border;

use std::ffi::{c_char, c_void};
use std::ops::ControlFlow;
use std::path::Path;

use border::{
    Handles, Refusal, Status, call, give_bytes, give_list, give_text, given, list, out, release,
    text, vectors, write_vectors,
};
use percale::geometry::{Collider, Mode};
use percale::plain::{self, Beside, Evidence, Stepper, Terms};
use percale::record::{Earlier, pack, run, unpack};
use percale::response::Stage;
use percale::{Figures, Scene, Simulation};

static COLLIDERS: Handles<Stepper> = Handles::new();
static SIMULATIONS: Handles<(Scene, Simulation)> = Handles::new();

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
        *count = found.len();
        *pairs = give_list(&found).cast();
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
        let found: Vec<Impact> = (found.iter())
            .map(|impact| Impact {
                vertices: impact.vertices,
                time: impact.time,
                weights: impact.weights,
                normal: impact.normal.to_array(),
                is_vertex_face: impact.is_vertex_face().into(),
                is_certain: impact.certain.into(),
            })
            .collect();
        *count = found.len();
        *impacts = give_list(&found);
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
        let found = plain::paths(&mesh, &x, None)?;
        *json = give_text(&serde_json::to_string(&found.summaries(&x))?);
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
    keep: *const u32,
    kept: usize,
    result: *mut f64,
    json: *mut *mut c_char,
) -> Status {
    call(|| {
        // SAFETY: by the caller's promise
        let (x, faces) = unsafe {
            (
                vectors("positions", positions, vertices)?,
                given("faces", faces, triangles)?,
            )
        };
        out_room("result", result)?;
        let evidence = Evidence {
            // SAFETY: by the caller's promise
            keep: unsafe { list("keep", keep, kept)? },
            ..Evidence::default()
        };
        let cured = plain::untangled(x, faces, evidence)?;
        let report = serde_json::to_string(&cured.report)?;
        // SAFETY: by the caller's promise
        unsafe {
            write_vectors(result, &cured.positions);
            tell(json, &report);
        }
        Ok(())
    })
}

/// Refuses an output that is none.
fn out_room(name: &'static str, place: *mut f64) -> Result<(), Refusal> {
    match place.is_null() || !place.is_aligned() {
        true => Err(Refusal::argument(format!(
            "{name}: it is NULL, or not aligned"
        ))),
        false => Ok(()),
    }
}

/// Gives a text to who wants it.
///
/// # Safety
/// The place is null or can be written.
unsafe fn tell(json: *mut *mut c_char, text: &str) {
    if !json.is_null() && json.is_aligned() {
        // SAFETY: by the caller's promise
        unsafe { json.write(give_text(text)) };
    }
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
    response: *const c_char,
    made: *mut u64,
) -> Status {
    call(|| {
        // SAFETY: by the caller's promise
        let made = unsafe { out("made", made)? };
        // SAFETY: by the caller's promise
        let faces = unsafe { given("faces", faces, triangles)? };
        let obstacle = match obstacle_faces.is_null() {
            true => None,
            false => Some(Beside {
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
            rest: None,
            thickness: (thickness != 0.0).then_some(thickness),
            friction,
            response,
        };
        *made = COLLIDERS.keep(Stepper::new(vertices, faces, obstacle, terms)?);
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
        out_room("result", result)?;
        COLLIDERS.with(collider, "collider", |stepper| {
            let (count, all) = (stepper.vertex_count(), stepper.mesh().vertex_count());
            // SAFETY: by the caller's promise
            let (x0, x1) =
                unsafe { (vectors("start", start, count)?, vectors("end", end, count)?) };
            let obstacle = match all > count {
                // SAFETY: by the caller's promise
                true => Some(unsafe {
                    [
                        vectors("obstacle_start", obstacle_start, all - count)?,
                        vectors("obstacle_end", obstacle_end, all - count)?,
                    ]
                }),
                false => None,
            };
            let done = stepper.resolve(x0, x1, obstacle, dt)?;
            let report = serde_json::to_string(&done.report)?;
            // SAFETY: by the caller's promise
            unsafe {
                write_vectors(result, &done.positions);
                if !velocities.is_null() && velocities.is_aligned() {
                    write_vectors(velocities, &done.velocities);
                }
                tell(json, &report);
            }
            Ok(())
        })
    })
}

fn keep_scene(scene: Scene, made: &mut u64) -> Result<(), Refusal> {
    let simulation = scene.build()?;
    *made = SIMULATIONS.keep((scene, simulation));
    Ok(())
}

/// See `percale.h`.
///
/// # Safety
/// As of [`percale_collider_new`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn percale_simulation_load(name: *const c_char, made: *mut u64) -> Status {
    call(|| {
        // SAFETY: by the caller's promise
        let (made, name) = unsafe { (out("made", made)?, text("name", name)?) };
        keep_scene(Scene::load(name)?, made)
    })
}

/// See `percale.h`.
///
/// # Safety
/// As of [`percale_collider_new`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn percale_simulation_from_text(
    toml: *const c_char,
    base: *const c_char,
    made: *mut u64,
) -> Status {
    call(|| {
        // SAFETY: by the caller's promise
        let made = unsafe { out("made", made)? };
        // SAFETY: by the caller's promise
        let (toml, base) = unsafe { (text("toml", toml)?, text("base", base)?) };
        keep_scene(Scene::from_text_in(toml, "toml", Path::new(base))?, made)
    })
}

/// See `percale.h`.
#[unsafe(no_mangle)]
pub extern "C" fn percale_simulation_free(simulation: u64) -> Status {
    call(|| SIMULATIONS.drop(simulation, "simulation"))
}

/// See `percale.h`.
///
/// # Safety
/// As of [`percale_intersections`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn percale_simulation_counts(
    simulation: u64,
    vertices: *mut usize,
    triangles: *mut usize,
    frame: *mut u64,
) -> Status {
    call(|| {
        SIMULATIONS.with(simulation, "simulation", |(_, simulation)| {
            let mesh = simulation.state().mesh();
            // SAFETY: by the caller's promise
            unsafe {
                *out("vertices", vertices)? = mesh.vertex_count();
                *out("triangles", triangles)? = mesh.faces().len();
                *out("frame", frame)? = simulation.frame();
            }
            Ok(())
        })
    })
}

/// See `percale.h`.
///
/// # Safety
/// As of [`percale_intersections`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn percale_simulation_faces(simulation: u64, faces: *mut u32) -> Status {
    call(|| {
        SIMULATIONS.with(simulation, "simulation", |(_, simulation)| {
            let all = simulation.state().mesh().faces().as_flattened();
            if faces.is_null() || !faces.is_aligned() {
                return Err(Refusal::argument(
                    "faces: it is NULL, or not aligned".into(),
                ));
            }
            // SAFETY: by the caller's promise there is room for all faces
            unsafe { faces.copy_from_nonoverlapping(all.as_ptr(), all.len()) };
            Ok(())
        })
    })
}

/// See `percale.h`.
///
/// # Safety
/// As of [`percale_intersections`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn percale_simulation_positions(
    simulation: u64,
    positions: *mut f64,
) -> Status {
    call(|| {
        out_room("positions", positions)?;
        SIMULATIONS.with(simulation, "simulation", |(_, simulation)| {
            // SAFETY: by the caller's promise there is room for all vertices
            unsafe { write_vectors(positions, simulation.state().positions()) };
            Ok(())
        })
    })
}

/// See `percale.h`.
///
/// # Safety
/// As of [`percale_intersections`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn percale_simulation_step(
    simulation: u64,
    json: *mut *mut c_char,
) -> Status {
    call(|| {
        SIMULATIONS.with(simulation, "simulation", |(_, simulation)| {
            let report = simulation.step()?;
            // SAFETY: by the caller's promise
            unsafe { tell(json, &serde_json::to_string(&report)?) };
            Ok(())
        })
    })
}

/// See `percale.h`.
///
/// # Safety
/// As of [`percale_intersections`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn percale_simulation_checkpoint(
    simulation: u64,
    bytes: *mut *mut u8,
    count: *mut usize,
) -> Status {
    call(|| {
        // SAFETY: by the caller's promise
        let (bytes, count) = unsafe { (out("bytes", bytes)?, out("count", count)?) };
        SIMULATIONS.with(simulation, "simulation", |(scene, simulation)| {
            let packed = pack(&simulation.checkpoint(), scene);
            *count = packed.len();
            *bytes = give_bytes(&packed);
            Ok(())
        })
    })
}

/// See `percale.h`.
///
/// # Safety
/// As of [`percale_intersections`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn percale_simulation_restore(
    simulation: u64,
    bytes: *const u8,
    count: usize,
) -> Status {
    call(|| {
        // SAFETY: by the caller's promise
        let bytes: Vec<u8> = unsafe { list("bytes", bytes, count)? };
        SIMULATIONS.with(simulation, "simulation", |(scene, simulation)| {
            let vertices = simulation.state().mesh().vertex_count();
            let checkpoint = unpack(&bytes, scene, vertices)?;
            Ok(simulation.restore(checkpoint)?)
        })
    })
}

/// See `percale.h`.
///
/// # Safety
/// As of [`percale_collider_new`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn percale_run(
    scene: *const c_char,
    folder: *const c_char,
    frames: u64,
    json: *mut *mut c_char,
) -> Status {
    call(|| {
        // SAFETY: by the caller's promise
        let (name, folder) = unsafe { (text("scene", scene)?, text("folder", folder)?) };
        let scene = Scene::load(name)?;
        let mut simulation = scene.build()?;
        let frames = if frames == 0 { scene.frames } else { frames };
        let each = &mut |_: &Simulation, _: &Figures| ControlFlow::Continue(());
        let summary = run(
            &scene,
            &mut simulation,
            Path::new(folder),
            frames,
            Earlier::Refuse,
            each,
        )?;
        // SAFETY: by the caller's promise
        unsafe { tell(json, &serde_json::to_string(&summary)?) };
        Ok(())
    })
}

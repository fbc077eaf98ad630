//! Scenes that are stepped, or run into result folders.

use std::ffi::{c_char, c_int};
use std::ops::ControlFlow;
use std::path::Path;

use percale::record::{Earlier, pack, run, unpack};
use percale::{Figures, Scene, Simulation};

use crate::border::{
    Handles, Out, Refusal, Status, call, give_bytes, give_text, list, out, text, wanted,
};

static SIMULATIONS: Handles<(Scene, Simulation)> = Handles::new();

fn keep_scene(scene: Scene, made: &Out<u64>) -> Result<(), Refusal> {
    let simulation = scene.build()?;
    made.set(SIMULATIONS.keep((scene, simulation)));
    Ok(())
}

/// See `percale.h`.
///
/// # Safety
/// As of [`super::percale_collider_new`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn percale_simulation_load(name: *const c_char, made: *mut u64) -> Status {
    call(|| {
        // SAFETY: by the caller's promise
        let (made, name) = unsafe { (out("made", made)?, text("name", name)?) };
        keep_scene(Scene::load(name)?, &made)
    })
}

/// See `percale.h`.
///
/// # Safety
/// As of [`super::percale_collider_new`].
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
        keep_scene(Scene::from_text_in(toml, "toml", Path::new(base))?, &made)
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
/// As of [`super::percale_intersections`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn percale_simulation_counts(
    simulation: u64,
    vertices: *mut usize,
    triangles: *mut usize,
    frame: *mut u64,
) -> Status {
    call(|| {
        // SAFETY: by the caller's promise
        let (vertices, triangles, frame) = unsafe {
            (
                out("vertices", vertices)?,
                out("triangles", triangles)?,
                out("frame", frame)?,
            )
        };
        SIMULATIONS.with(simulation, "simulation", |(_, simulation)| {
            let mesh = simulation.state().mesh();
            vertices.set(mesh.vertex_count());
            triangles.set(mesh.faces().len());
            frame.set(simulation.frame());
            Ok(())
        })
    })
}

/// See `percale.h`.
///
/// # Safety
/// As of [`super::percale_intersections`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn percale_simulation_faces(simulation: u64, faces: *mut u32) -> Status {
    call(|| {
        // SAFETY: by the caller's promise
        let faces = unsafe { out("faces", faces)? };
        SIMULATIONS.with(simulation, "simulation", |(_, simulation)| {
            // SAFETY: by the caller's promise there is room for all faces
            unsafe { faces.set_faces(simulation.state().mesh().faces()) };
            Ok(())
        })
    })
}

/// See `percale.h`.
///
/// # Safety
/// As of [`super::percale_intersections`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn percale_simulation_positions(
    simulation: u64,
    positions: *mut f64,
) -> Status {
    call(|| {
        // SAFETY: by the caller's promise
        let positions = unsafe { out("positions", positions)? };
        SIMULATIONS.with(simulation, "simulation", |(_, simulation)| {
            // SAFETY: by the caller's promise there is room for all vertices
            unsafe { positions.set_vectors(simulation.state().positions()) };
            Ok(())
        })
    })
}

/// See `percale.h`.
///
/// # Safety
/// As of [`super::percale_intersections`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn percale_simulation_velocities(
    simulation: u64,
    velocities: *mut f64,
) -> Status {
    call(|| {
        // SAFETY: by the caller's promise
        let velocities = unsafe { out("velocities", velocities)? };
        SIMULATIONS.with(simulation, "simulation", |(_, simulation)| {
            // SAFETY: by the caller's promise there is room for all vertices
            unsafe { velocities.set_vectors(simulation.state().velocities()) };
            Ok(())
        })
    })
}

/// See `percale.h`.
///
/// # Safety
/// As of [`super::percale_intersections`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn percale_simulation_step(
    simulation: u64,
    json: *mut *mut c_char,
) -> Status {
    call(|| {
        // SAFETY: by the caller's promise
        let json = unsafe { wanted("json", json)? };
        SIMULATIONS.with(simulation, "simulation", |(_, simulation)| {
            let report = serde_json::to_string(&simulation.step()?)?;
            json.inspect(|place| place.set(give_text(&report)));
            Ok(())
        })
    })
}

/// See `percale.h`.
///
/// # Safety
/// As of [`super::percale_intersections`].
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
            count.set(packed.len());
            bytes.set(give_bytes(&packed));
            Ok(())
        })
    })
}

/// See `percale.h`.
///
/// # Safety
/// As of [`super::percale_intersections`].
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
/// As of [`super::percale_collider_new`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn percale_run(
    scene: *const c_char,
    folder: *const c_char,
    frames: u64,
    earlier: c_int,
    json: *mut *mut c_char,
) -> Status {
    call(|| {
        // SAFETY: by the caller's promise
        let json = unsafe { wanted("json", json)? };
        let earlier = match earlier {
            0 => Earlier::Refuse,
            1 => Earlier::ResumeIfAny,
            2 => Earlier::Replace,
            other => {
                let message = format!("earlier: {other} is no percale_earlier");
                return Err(Refusal::argument(message));
            }
        };
        // SAFETY: by the caller's promise
        let (name, folder) = unsafe { (text("scene", scene)?, text("folder", folder)?) };
        let scene = Scene::load(name)?;
        let mut simulation = scene.build()?;
        let frames = if frames == 0 { scene.frames } else { frames };
        let each = &mut |_: &Simulation, _: &Figures| ControlFlow::Continue(());
        let folder = Path::new(folder);
        let summary = run(&scene, &mut simulation, folder, frames, earlier, each)?;
        let summary = serde_json::to_string(&summary)?;
        json.inspect(|place| place.set(give_text(&summary)));
        Ok(())
    })
}

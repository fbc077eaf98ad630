//! What a run will cost, said before it starts; what would not end is refused.

use std::fs;

use percale::dynamics::{Fabric, Implicit, Integrator, Newmark};
use percale::scene::{Scene, SceneError, Soft, Springs};
use percale::step::{Doubt, Forecast, Simulation, Stiffest};

use crate::failure::Failure;
use crate::run::cannot_start;

/// Loops per frame from which on a run says what makes them so many.
const MANY_LOOPS: f64 = 1_000.0;
/// Loops per frame that no run gets: even the smallest cloth takes 20 µs for each.
const MAX_LOOPS: f64 = 2e5;
/// Loops per frame times vertices that no run gets: about an hour per frame.
const MAX_WORK: f64 = 1e10;
/// Pairs nearer than the thickness that no run gets: about 100 bytes each, looked at several times per frame.
const MAX_NEAR_PAIRS: f64 = 1e8;

/// Says on stderr what looks like a mistake in a scene that is about to run, and refuses what cannot end in sensible time.
pub(crate) fn announce(name: &str, scene: &Scene, simulation: &Simulation) -> Result<(), Failure> {
    let forecast = simulation.forecast();
    for doubt in &forecast.doubts {
        eprintln!("warning: {name}: {}", describe(doubt));
    }
    check_cost(name, scene, &forecast)?;
    for doubt in &forecast.doubts {
        // a few may be in any mesh
        if let Doubt::Slivers { body, count, faces } = doubt
            && 2 * count > *faces
        {
            let key = fabric_of(scene, body).0;
            let shape = key.replace(".soft", "").replace(".fabric", ".shape");
            return Err(refusal(name, shape, describe(doubt)));
        }
    }
    Ok(())
}

/// Refuses a scene that does not fit into memory, before it is built.
pub(crate) fn check_memory(name: &str, scene: &Scene) -> Result<(), Failure> {
    let size = scene.size();
    let Some(available) = available_memory().filter(|&bytes| size.bytes > bytes) else {
        return Ok(());
    };
    let gigabytes = |bytes: f64| format!("{:.1} GB", bytes / 1e9);
    let message = format!(
        "about {} vertices, which with all other objects take {}, but {} are free; make it coarser, or have fewer copies",
        grouped(size.largest_vertices),
        gigabytes(size.bytes),
        gigabytes(available),
    );
    Err(refusal(name, format!("{}.shape", size.largest), message))
}

/// An error with its place in the scene file.
fn refusal(name: &str, place: String, message: String) -> Failure {
    let error = SceneError::Value {
        line: None,
        place,
        message,
    };
    cannot_start(name, error)
}

/// Bytes that the system and the limits of this process leave; none where it does not say.
fn available_memory() -> Option<f64> {
    let number = |text: &str| text.split_whitespace().find_map(|word| word.parse().ok());
    let line = |file: &str, key: &str| -> Option<f64> {
        let text = fs::read_to_string(file).ok()?;
        number(text.lines().find_map(|line| line.strip_prefix(key))?)
    };
    let free = line("/proc/meminfo", "MemAvailable:").map(|kilobytes| 1024.0 * kilobytes);
    let limit = line("/proc/self/limits", "Max address space");
    [free, limit].into_iter().flatten().min_by(f64::total_cmp)
}

fn check_cost(name: &str, scene: &Scene, forecast: &Forecast) -> Result<(), Failure> {
    let Forecast {
        loops,
        vertices,
        near_pairs,
        ..
    } = forecast;
    if *near_pairs > MAX_NEAR_PAIRS {
        let message = format!(
            "about {} pairs of features would be nearer than it, and no frame would end; \
             make it smaller than the edges of the triangles",
            grouped(*near_pairs)
        );
        return Err(refusal(name, "thickness".into(), message));
    }
    if *loops < MANY_LOOPS {
        return Ok(());
    }
    let cost = format!("about {} loops per frame", grouped(*loops));
    let culprit = culprit(scene, forecast.stiffest.as_ref());
    let Culprit {
        key, value, remedy, ..
    } = culprit;
    if *loops <= MAX_LOOPS && loops * *vertices as f64 <= MAX_WORK {
        eprintln!("warning: {name}: {cost}: {key} = {value}; {remedy}");
        return Ok(());
    }
    let message =
        format!("{value} takes {cost} of {vertices} vertices, and no run would end; {remedy}");
    Err(refusal(name, key, message))
}

/// What makes loops so many.
struct Culprit {
    key: String,
    value: String,
    remedy: &'static str,
    /// How many times more loops it takes than cotton in triangles of 1 cm at 60 frames per second with the defaults.
    factor: f64,
}

const SOFTER: &str =
    "try a softer fabric, larger triangles, or dynamics.integrator.kind = \"implicit\"";

impl Culprit {
    fn new(
        key: impl Into<String>,
        value: impl ToString,
        remedy: &'static str,
        factor: f64,
    ) -> Self {
        Self {
            key: key.into(),
            value: value.to_string(),
            remedy,
            factor,
        }
    }
}

/// The one that takes most; of equal ones the first.
fn culprit(scene: &Scene, stiffest: Option<&Stiffest>) -> Culprit {
    let remedy = "try more frames per second";
    let first = Culprit::new("fps", scene.fps, remedy, 60.0 / scene.fps);
    let mut all = Vec::new();
    match &scene.dynamics.integrator {
        // its loops do not know what is stiff
        Integrator::Implicit(Implicit { max_loop, .. }) => {
            let factor = Implicit::default().max_loop / max_loop;
            let key = "dynamics.integrator.max_loop";
            all.push(Culprit::new(key, max_loop, "try a longer one", factor));
        }
        Integrator::Newmark(Newmark { cfl }) => {
            all = springs(scene);
            let factor = Newmark::default().cfl / cfl;
            let key = "dynamics.integrator.cfl";
            all.push(Culprit::new(key, cfl, "try a larger one", factor));
        }
    }
    all.extend(stiffest.into_iter().flat_map(|place| at(scene, place)));
    let larger = |most: Culprit, next: Culprit| match next.factor > most.factor {
        true => next,
        false => most,
    };
    all.into_iter().fold(first, larger)
}

/// Seams, soft pins and soft obstacles.
fn springs(scene: &Scene) -> Vec<Culprit> {
    let stiff = |key: String, value: String, most: f64| {
        Culprit::new(key, value, "try less", (most / 1e3).sqrt())
    };
    let mut all = Vec::new();
    for (i, seam) in scene.seam.iter().enumerate() {
        let (key, most) = (format!("seam.{i}.stiffness"), seam.stiffness);
        all.push(stiff(key, most.to_string(), most));
    }
    for (i, cloth) in scene.cloth.iter().enumerate() {
        for (p, pin) in cloth.pin.iter().enumerate() {
            let Some(Springs { stiffness, .. }) = &pin.soft else {
                continue;
            };
            let key = format!("cloth.{i}.pin.{p}.soft.stiffness");
            all.push(stiff(key, format!("{stiffness:?}"), most(stiffness)));
        }
    }
    for (i, obstacle) in scene.obstacle.iter().enumerate() {
        if let Some(Soft { lag, .. }) = &obstacle.soft {
            // loops of 2/ω = 2 lag, against the 1e-3 s of cotton
            let key = format!("obstacle.{i}.soft.lag");
            all.push(Culprit::new(key, lag, "try a longer one", 1e-3 / lag));
        }
    }
    all
}

/// The triangles and the fabric of the place that asks for the shortest loops.
fn at(scene: &Scene, place: &Stiffest) -> Vec<Culprit> {
    let Stiffest {
        body,
        vertex,
        height,
        mean_edge,
    } = place;
    let remedy = match *height < 0.1 * mean_edge {
        true => "try to remove this sliver from the mesh, or cells that are nearly square",
        false => "try larger triangles, and check that lengths are in metres",
    };
    let (key, fabric) = fabric_of(scene, body);
    let shape = key.replace(".soft", "").replace(".fabric", ".shape");
    let value = format!("a triangle of height {height:.2e} m at vertex {vertex} of '{body}'");
    let mut all = vec![Culprit::new(shape, value, remedy, 0.01 / height)];
    if let Some(Fabric {
        density,
        stretch,
        shear,
        bend,
        ..
    }) = fabric
    {
        let bending = most(bend) / (height * height);
        for (name, value, factor) in [
            ("stretch", format!("{stretch:?}"), most(stretch) / 1e3),
            ("shear", shear.to_string(), shear / 250.0),
            ("bend", format!("{bend:?}"), bending / 1e3),
            ("density", density.to_string(), 0.2 / density),
        ] {
            let key = format!("{key}.{name}");
            all.push(Culprit::new(key, value, SOFTER, factor.sqrt()));
        }
    }
    all
}

fn most(values: &[f64]) -> f64 {
    values.iter().copied().fold(0.0, f64::max)
}

/// The key of an object's fabric, and the fabric.
fn fabric_of<'a>(scene: &'a Scene, body: &str) -> (String, Option<&'a Fabric>) {
    let cloths = scene.cloth.iter().enumerate();
    if let Some((i, cloth)) = cloths
        .clone()
        .find(|(_, c)| c.names().iter().any(|n| n == body))
    {
        return (format!("cloth.{i}.fabric"), Some(&cloth.fabric));
    }
    let mut obstacles = scene.obstacle.iter().enumerate();
    match obstacles.find(|(_, o)| o.name == body) {
        Some((i, obstacle)) => (
            format!("obstacle.{i}.soft.fabric"),
            obstacle.soft.as_ref().map(|soft| &soft.fabric),
        ),
        None => ("cloth".into(), None),
    }
}

fn describe(doubt: &Doubt) -> String {
    match doubt {
        Doubt::Thick {
            body,
            thickness,
            edge,
        } => format!(
            "'{body}' keeps a thickness of {thickness} m, more than its edges are long (on average {edge:.2e} m): \
             contact is found between all that is near each other; try a thickness of at most a tenth of an edge"
        ),
        Doubt::Slivers { body, count, faces } => format!(
            "{count} of the {faces} triangles of '{body}' are more than a thousand times longer than high: such needles take many loops or \
             iterations; try cells that are nearly square, or another mesh"
        ),
        Doubt::Scale { body, size, cloth } => {
            let (times, than) = if size > cloth {
                (size / cloth, "larger")
            } else {
                (cloth / size, "smaller")
            };
            format!(
                "'{body}' measures {size:.2e} m, {} times {than} than the cloth ({cloth:.2e} m); \
                 lengths are in metres: try `scale` in its shape",
                grouped(times)
            )
        }
    }
}

/// A count for people: `3,400`, or `1.2e12` where digits say nothing.
fn grouped(count: f64) -> String {
    if count.is_nan() || count >= 1e9 {
        return format!("{count:.1e}");
    }
    let digits = format!(
        "{:.0}",
        if count >= 1e4 {
            (count / 100.0).round() * 100.0
        } else {
            count
        }
    );
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_grouped_by_thousands() {
        assert_eq!(grouped(999.6), "1,000");
        assert_eq!(grouped(3_412.0), "3,412");
        assert_eq!(grouped(1_234_567.0), "1,234,600");
        assert_eq!(grouped(3.4e12), "3.4e12");
    }
}

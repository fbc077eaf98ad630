//! What the values of a scene may be.

use super::file::nearest;
use super::{Cloth, Motion, Scene};
use crate::dynamics::Integrator;

/// Largest acceleration of free fall along an axis, m/s²: that of the fastest centrifuges.
const MAX_GRAVITY: f64 = 1e6;

/// Largest speed along an axis, m/s: that of a satellite. Faster, and every pair of features meets within a frame.
const MAX_SPEED: f64 = 1e4;

/// The key, and what is wrong with its value.
pub(super) type Problem = (String, String);

fn problem<T>(key: impl Into<String>, message: impl Into<String>) -> Result<T, Problem> {
    Err((key.into(), message.into()))
}

impl Scene {
    /// Checks every value that can be judged without building the scene.
    pub(super) fn check(&self) -> Result<(), Problem> {
        positive("fps", self.fps)?;
        within("fps", &[self.fps], 1e-3, 1e9, "frames per second")?;
        if let Some(thickness) = self.thickness {
            positive("thickness", thickness)?;
        }
        not_negative("friction", self.friction)?;
        self.camera.check()?;
        positive("time.max_interval", self.time.max_interval)?;
        positive("time.min_interval", self.time.min_interval)?;
        if self.time.max_stretch != f64::INFINITY {
            positive("time.max_stretch", self.time.max_stretch)?;
        }
        if !(1..=2).contains(&self.passes) {
            let message = "1 (all impacts) or 2 (obstacles, then cloth with cloth)";
            return problem("passes", message);
        }
        not_negative("time.smoothing", self.time.smoothing)?;
        share("time.restitution", self.time.restitution)?;
        share("repulsion.damping", self.repulsion.damping)?;
        not_negative("repulsion.stiffness", self.repulsion.stiffness)?;
        if self.cloth.is_empty() {
            return problem("cloth", "a scene needs at least one [[cloth]]");
        }
        for (i, cloth) in self.cloth.iter().enumerate() {
            cloth.check(&format!("cloth.{i}"))?;
        }
        for (i, obstacle) in self.obstacle.iter().enumerate() {
            let place = format!("obstacle.{i}");
            check_name(&place, &obstacle.name)?;
            finite(format!("{place}.position"), &obstacle.position)?;
            finite(format!("{place}.rotation"), &obstacle.rotation)?;
            let shape = obstacle.shape.check();
            shape.map_err(|(key, message)| (format!("{place}.shape.{key}"), message))?;
            if let Some(thickness) = obstacle.thickness {
                positive(&format!("{place}.thickness"), thickness)?;
            }
            if let Some(soft) = &obstacle.soft {
                positive(&format!("{place}.soft.lag"), soft.lag)?;
            }
            check_motions(&place, &obstacle.motion)?;
        }
        self.check_names()?;
        self.check_leaders()?;
        self.check_seams()?;
        self.check_stage()?;
        self.check_dynamics()?;
        self.check_surfaces()
    }

    fn check_dynamics(&self) -> Result<(), Problem> {
        finite("dynamics.gravity".into(), &self.dynamics.gravity)?;
        within(
            "dynamics.gravity",
            &self.dynamics.gravity,
            0.0,
            MAX_GRAVITY,
            "m/s²",
        )?;
        match &self.dynamics.integrator {
            Integrator::Implicit(implicit) => {
                positive("dynamics.integrator.max_loop", implicit.max_loop)?;
                positive("dynamics.integrator.tolerance", implicit.tolerance)?;
                let iterations = f64::from(implicit.iterations);
                positive("dynamics.integrator.iterations", iterations)?;
            }
            Integrator::Newmark(newmark) => positive("dynamics.integrator.cfl", newmark.cfl)?,
        }
        let air = &self.dynamics.air;
        not_negative("dynamics.air.density", air.density)?;
        not_negative("dynamics.air.drag", air.drag)?;
        not_negative("dynamics.air.friction", air.friction)?;
        not_negative("dynamics.air.gust", air.gust)?;
        positive("dynamics.air.gust_period", air.gust_period)?;
        finite("dynamics.air.wind".into(), &air.wind)?;
        within("dynamics.air.wind", &air.wind, 0.0, MAX_SPEED, "m/s")?;
        within(
            "dynamics.air.gust",
            &[air.gust],
            0.0,
            100.0,
            "times the wind",
        )?;
        within(
            "dynamics.air.density",
            &[air.density],
            0.0,
            1e5,
            "kg/m³ (air: 1.2, water: 1000)",
        )
    }

    fn check_stage(&self) -> Result<(), Problem> {
        let mut last = f64::NEG_INFINITY;
        for (k, key) in self.stage.iter().enumerate() {
            let place = format!("stage.{k}");
            finite(format!("{place}.time"), &[key.time])?;
            if key.time <= last {
                let message = format!("{} is not after {last}, the key before", key.time);
                return problem(format!("{place}.time"), message);
            }
            last = key.time;
            if let Some(gravity) = &key.gravity {
                let key = format!("{place}.gravity");
                finite(key.clone(), gravity)?;
                within(&key, gravity, 0.0, MAX_GRAVITY, "m/s²")?;
            }
            if let Some(wind) = &key.wind {
                let name = format!("{place}.wind");
                finite(name.clone(), wind)?;
                within(&name, wind, 0.0, MAX_SPEED, "m/s")?;
                if self.dynamics.air.density == 0.0 {
                    let message = "there is no air to blow; write dynamics.air.density = 1.2";
                    return problem(name, message);
                }
            }
            let shares = [
                ("friction", key.friction),
                ("seams", key.seams),
                ("pins", key.pins),
            ];
            for (name, value) in shares {
                not_negative(&format!("{place}.{name}"), value.unwrap_or(0.0))?;
            }
        }
        if self.output.pre_roll > self.frames {
            let message = format!(
                "{} is more than the {} frames of the scene",
                self.output.pre_roll, self.frames
            );
            return problem("output.pre_roll", message);
        }
        Ok(())
    }

    fn check_seams(&self) -> Result<(), Problem> {
        let names: Vec<String> = self.cloth.iter().flat_map(Cloth::names).collect();
        for (i, seam) in self.seam.iter().enumerate() {
            let place = format!("seam.{i}");
            for name in &seam.between {
                if !names.contains(name) {
                    let known = names.iter().map(String::as_str);
                    let hint = nearest(name, known).map(|word| format!("; did you mean '{word}'?"));
                    let message = format!("no cloth '{name}'{}", hint.unwrap_or_default());
                    return problem(format!("{place}.between"), message);
                }
            }
            let given = [
                seam.regions.is_some(),
                !seam.pairs.is_empty(),
                !seam.stitches.is_empty(),
            ];
            if given.into_iter().filter(|&given| given).count() > 1 {
                let message = "a seam has either `regions`, `pairs` or `stitches`";
                return problem(place, message);
            }
            for (s, stitch) in seam.stitches.iter().enumerate() {
                for point in stitch {
                    let whole = |v: &f64| *v >= 0.0 && v.fract() == 0.0 && *v < f64::from(u32::MAX);
                    let is_usable = match point[..] {
                        [v] => whole(&v),
                        [a, b, share] => whole(&a) && whole(&b) && (0.0..=1.0).contains(&share),
                        _ => false,
                    };
                    if !is_usable {
                        let message = format!(
                            "{point:?} is no point: write [vertex], or [vertex, vertex, share] with a share from 0 to 1 of the way between them"
                        );
                        return problem(format!("{place}.stitches.{s}"), message);
                    }
                }
            }
            if let Some(gap) = seam.gap {
                positive(&format!("{place}.gap"), gap)?;
            }
            not_negative(&format!("{place}.start"), seam.start)?;
            not_negative(&format!("{place}.duration"), seam.duration)?;
            positive(&format!("{place}.stiffness"), seam.stiffness)?;
            not_negative(&format!("{place}.damping"), seam.damping)?;
        }
        Ok(())
    }

    /// Only pins follow, and what they follow is there.
    fn check_leaders(&self) -> Result<(), Problem> {
        let names: Vec<&str> = self.obstacle.iter().map(|o| o.name.as_str()).collect();
        for (i, cloth) in self.cloth.iter().enumerate() {
            for (p, pin) in cloth.pin.iter().enumerate() {
                for (m, motion) in pin.motion.iter().enumerate() {
                    let Some(name) = motion.leader().filter(|name| !names.contains(name)) else {
                        continue;
                    };
                    let hint = nearest(name, names.iter().copied());
                    let hint = hint.map(|word| format!("; did you mean '{word}'?"));
                    let message = format!("no obstacle '{name}'{}", hint.unwrap_or_default());
                    return problem(format!("cloth.{i}.pin.{p}.motion.{m}.obstacle"), message);
                }
            }
        }
        for (i, obstacle) in self.obstacle.iter().enumerate() {
            if let Some(m) = obstacle.motion.iter().position(|m| m.leader().is_some()) {
                let message = "only pins of cloths follow; give the obstacle the same motion";
                return problem(format!("obstacle.{i}.motion.{m}"), message);
            }
        }
        Ok(())
    }

    fn check_names(&self) -> Result<(), Problem> {
        let mut names: Vec<(String, String)> = Vec::new();
        for (i, cloth) in self.cloth.iter().enumerate() {
            let place = format!("cloth.{i}.name");
            names.extend(cloth.names().into_iter().map(|name| (name, place.clone())));
        }
        for (i, obstacle) in self.obstacle.iter().enumerate() {
            names.push((obstacle.name.clone(), format!("obstacle.{i}.name")));
        }
        names.sort();
        match names.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            Some(pair) => {
                let message = format!("'{}' is used twice; names must differ", pair[1].0);
                problem(pair[1].1.clone(), message)
            }
            None => Ok(()),
        }
    }

    fn check_surfaces(&self) -> Result<(), Problem> {
        let mut known: Vec<&str> = self.cloth.iter().map(|c| c.surface.as_str()).collect();
        known.extend(self.obstacle.iter().map(|o| o.surface.as_str()));
        known.sort_unstable();
        known.dedup();
        let mut seen: Vec<[&str; 2]> = Vec::new();
        for (i, pair) in self.surface_pair.iter().enumerate() {
            let place = format!("surface_pair.{i}");
            not_negative(&format!("{place}.friction"), pair.friction)?;
            for surface in &pair.surfaces {
                if !known.contains(&surface.as_str()) {
                    let message = match nearest(surface, known.iter().copied()) {
                        Some(word) => {
                            format!("no object has the surface '{surface}'; did you mean '{word}'?")
                        }
                        None => format!(
                            "no object has the surface '{surface}'; there are: {}",
                            known.join(", ")
                        ),
                    };
                    return problem(format!("{place}.surfaces"), message);
                }
            }
            let mut names = [pair.surfaces[0].as_str(), pair.surfaces[1].as_str()];
            names.sort_unstable();
            if seen.contains(&names) {
                let message = format!("'{}' and '{}' have a pair already", names[0], names[1]);
                return problem(format!("{place}.surfaces"), message);
            }
            seen.push(names);
        }
        Ok(())
    }
}

impl Cloth {
    fn check(&self, place: &str) -> Result<(), Problem> {
        check_name(place, &self.name)?;
        finite(format!("{place}.position"), &self.position)?;
        finite(format!("{place}.rotation"), &self.rotation)?;
        finite(format!("{place}.velocity"), &self.velocity)?;
        within(
            &format!("{place}.velocity"),
            &self.velocity,
            0.0,
            MAX_SPEED,
            "m/s",
        )?;
        let shape = self.shape.check();
        shape.map_err(|(key, message)| (format!("{place}.shape.{key}"), message))?;
        if let Some(thickness) = self.thickness {
            positive(&format!("{place}.thickness"), thickness)?;
        }
        if let Some(rest) = &self.rest {
            positive(&format!("{place}.rest.scale"), rest.scale())?;
        }
        if let Some(copies) = &self.copies {
            if !(1..=10_000).contains(&copies.count) {
                let message = format!("{} must be between 1 and 10,000", copies.count);
                return problem(format!("{place}.copies.count"), message);
            }
            finite(format!("{place}.copies.step"), &copies.step)?;
            finite(format!("{place}.copies.turn"), &copies.turn)?;
            not_negative(&format!("{place}.copies.delay"), copies.delay)?;
            if copies.count > 1 && copies.step == [0.0; 3] && copies.turn == [0.0; 3] {
                let message =
                    "all copies would lie in one place; write e.g. step = [0.0, 0.01, 0.0]";
                return problem(format!("{place}.copies.step"), message);
            }
        }
        for (p, pin) in self.pin.iter().enumerate() {
            check_motions(&format!("{place}.pin.{p}"), &pin.motion)?;
            if let Some(until) = pin.until {
                not_negative(&format!("{place}.pin.{p}.until"), until)?;
            }
            if let Some(springs) = &pin.soft {
                let key = format!("{place}.pin.{p}.soft");
                for stiffness in springs.stiffness {
                    not_negative(&format!("{key}.stiffness"), stiffness)?;
                }
                not_negative(&format!("{key}.damping"), springs.damping)?;
                if pin.until.is_some() {
                    return problem(key, "a soft pin cannot be let go: remove `until`");
                }
            }
        }
        for (p, paint) in self.paint.iter().enumerate() {
            positive(&format!("{place}.paint.{p}.factor"), paint.factor)?;
        }
        Ok(())
    }
}

fn check_motions(place: &str, motions: &[Motion]) -> Result<(), Problem> {
    for (m, motion) in motions.iter().enumerate() {
        let checked = motion.check();
        checked.map_err(|(key, message)| (format!("{place}.motion.{m}.{key}"), message))?;
    }
    Ok(())
}

fn check_name(place: &str, name: &str) -> Result<(), Problem> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if !name.is_empty() && name.chars().all(plain) {
        return Ok(());
    }
    let message = format!("'{name}' names files: use letters, digits, - and _");
    problem(format!("{place}.name"), message)
}

fn positive(key: &str, value: f64) -> Result<(), Problem> {
    if value > 0.0 && value.is_finite() {
        return Ok(());
    }
    problem(key, format!("{value} must be a positive number"))
}

fn not_negative(key: &str, value: f64) -> Result<(), Problem> {
    if value >= 0.0 && value.is_finite() {
        return Ok(());
    }
    problem(key, format!("{value} must be at least 0"))
}

/// Magnitudes from `least` to `most`.
fn within(key: &str, values: &[f64], least: f64, most: f64, unit: &str) -> Result<(), Problem> {
    match values
        .iter()
        .find(|value| !(least..=most).contains(&value.abs()))
    {
        None => Ok(()),
        Some(value) if value.abs() < least => {
            problem(key, format!("{value:e} must be at least {least} {unit}"))
        }
        Some(value) => problem(key, format!("{value:e} must be at most {most:e} {unit}")),
    }
}

fn share(key: &str, value: f64) -> Result<(), Problem> {
    if (0.0..=1.0).contains(&value) {
        return Ok(());
    }
    problem(key, format!("{value} must be from 0 to 1"))
}

fn finite(key: String, values: &[f64]) -> Result<(), Problem> {
    if values.iter().all(|value| value.is_finite()) {
        return Ok(());
    }
    problem(key, format!("{values:?}: all numbers must be finite"))
}

//! `percale play`: a scene that runs while one looks, in the page of `percale view`.
//!
//! Frames go to the page over a websocket; wishes come back: run, step, start again, other settings, a hand that pulls. A setting that
//! changes makes a new simulation of the changed scene, which goes on from a checkpoint of the old one and certifies it anew:
//! what is shown is certified as in a run.

mod wish;

use std::io::ErrorKind;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use glam::DVec3;
use percale::dynamics::Attraction;
use percale::geometry::BodyKind;
use percale::response::Stage;
use percale::scene::{Camera, Scene, Variant};
use percale::step::Checkpoint;
use percale::{Figures, Simulation, render};
use serde_json::{Value, json};
use tungstenite::protocol::CloseFrame;
use tungstenite::protocol::frame::coding::CloseCode;
use tungstenite::{Error, Message};

use crate::failure::Failure;
use crate::render::stage::Source;
use crate::run::{self, NoStart, key_value, short_name};
use crate::stages::stage_list;
use crate::view;
use crate::view::server::{self, Answer, Site, Socket};
use crate::view::show::{self, Looks};
use crate::view::touch::Toucher;
use wish::{Drag, Setting, Wish};

/// Frames that are on their way and not yet shown, at most: more would be seen late.
const AHEAD: u64 = 2;
/// How long one looks for a message that may be there.
const SHORT: Duration = Duration::from_millis(1);
/// How long a page waits for another one to go away, such as itself before it was loaded anew.
const WAIT: Duration = Duration::from_secs(2);
/// Radius of what a hand takes hold of, as a share of the cloth's extent at the start: a single vertex could not lift a cloth.
const HAND: f64 = 0.1;
/// Time in which the hand's way becomes a third, s.
const LAG: f64 = 0.03;
/// Stiffness of the hand, as a multiple of that of one pull: as much as loops of an integrator bear.
const GRIP: f64 = 3.0;
/// The pull grows with the way up to this share of the cloth's extent.
const REACH: f64 = 0.3;
/// Density of air that blows where the scene has none, kg/m³: at sea level.
const AIR: f64 = 1.2;
/// The response of the scene itself, in the list of methods.
const OWN: &str = "scene";

/// Simulate a scene while looking at it in the browser: drag the cloth, change friction, thickness, wind and response
#[derive(Debug, clap::Args)]
pub(crate) struct Play {
    /// Built-in scene or file, e.g. drop or scenes/drop.toml
    scene: String,
    /// Play the scene's small variant
    #[arg(long)]
    small: bool,
    /// Change a key of the scene, e.g. --set friction=0.5 --set cloth.0.fabric=silk
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = key_value)]
    changes: Vec<(String, String)>,
    /// Port on 127.0.0.1; 0 is any that is free
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Do not open a browser, only print the address
    #[arg(long)]
    no_open: bool,
}

impl Play {
    pub(crate) fn run(&self) -> Result<ExitCode, Failure> {
        let variant = match self.small {
            true => Variant::Small,
            false => Variant::Full,
        };
        let changes = self.changes.iter().map(|(k, v)| (k.as_str(), v.as_str()));
        let scene = Scene::load_variant(&self.scene, variant)?.set_all(changes)?;
        let simulation = run::build(&self.scene, &scene).map_err(|error| match error {
            NoStart::Tangled(start) => Failure::input(format!(
                "{}: {start}; `percale run {}` keeps it to be looked at with `percale view`",
                self.scene, self.scene
            )),
            NoStart::Refused(failure) => failure,
        })?;
        let game = Game::new(short_name(&self.scene, self.small), scene, simulation)?;
        let listener = server::listen(self.port)?;
        let table = Table::new(game);
        let site: Arc<dyn Site> = Arc::new(table);
        server::serve(&listener, &site, !self.no_open)?;
        Ok(ExitCode::SUCCESS)
    }
}

/// What a hand holds: vertices with weights that sum to 1.
struct Hand {
    vertex: u32,
    parts: Vec<(u32, f64)>,
    extent: f64,
}

/// A simulation and what the page has asked of it.
struct Game {
    title: String,
    /// As it was loaded.
    first: Scene,
    /// With the settings of the page.
    scene: Scene,
    /// Which of the methods in the page's list it has.
    response: String,
    /// Settings that wait until all that the page has sent is read: each makes a new simulation.
    waiting: Option<Setting>,
    /// Settings that the page has sent, and those that were made or refused.
    sets: [u64; 2],
    simulation: Simulation,
    /// The last whole frame.
    last: Checkpoint,
    /// Its start, and the start of the frame before.
    start: Checkpoint,
    before: Option<Vec<DVec3>>,
    toucher: Toucher,
    hand: Option<Hand>,
    is_running: bool,
    steps: u32,
    shows_touches: bool,
    failure: Option<String>,
    report: Option<Figures>,
}

impl Game {
    fn new(title: String, scene: Scene, simulation: Simulation) -> Result<Self, Failure> {
        let start = simulation.checkpoint();
        let mesh = simulation.state().mesh();
        Ok(Self {
            title,
            first: scene.clone(),
            toucher: Toucher::new(mesh, simulation.surfaces()),
            scene,
            response: OWN.into(),
            waiting: None,
            sets: [0; 2],
            simulation,
            last: start.clone(),
            start,
            before: None,
            hand: None,
            is_running: false,
            steps: 0,
            shows_touches: false,
            failure: None,
            report: None,
        })
    }

    /// What does not change from frame to frame.
    fn meta(&self) -> Result<Value, Failure> {
        let mesh = self.simulation.state().mesh();
        let camera = match self.scene.camera {
            Camera::Auto => None,
            Camera::At(view) => Some(render::Camera {
                eye: view.position.into(),
                target: view.target.into(),
                fov: view.fov,
            }),
        };
        let looks = Looks::of(mesh, Source::Still(mesh, &self.start.x), &[0], camera)?;
        let methods: Vec<&str> = [OWN].iter().chain(Stage::NAMES).copied().collect();
        let thickness = show::thickness_of(&self.scene, mesh, self.simulation.surfaces());
        Ok(json!({
            "title": self.title, "kind": "play", "fps": self.scene.fps, "thickness": thickness,
            "frames": 1, "complete": false, "written": false, "stopped": null, "reports": [],
            "bodies": looks.bodies, "camera": looks.camera,
            "methods": methods, "settings": self.settings(),
        }))
    }

    /// Where the sliders of the page have to stand.
    fn settings(&self) -> Value {
        let mesh = self.simulation.state().mesh();
        let thickness = show::thickness_of(&self.scene, mesh, self.simulation.surfaces());
        json!({
            "friction": self.scene.friction, "thickness": thickness,
            "wind": self.scene.dynamics.air.wind[0], "response": self.response,
        })
    }

    /// Takes a wish; settings are kept until [`Game::settle`], or a wish that comes after them.
    fn wish(&mut self, wish: Wish) {
        let wish = match wish {
            Wish::Set(later) => {
                self.sets[0] += 1;
                self.waiting = Some(self.waiting.take().unwrap_or_default().then(later));
                return;
            }
            wish => wish,
        };
        if !matches!(wish, Wish::Drag(_) | Wish::Ack(_)) {
            self.settle();
        }
        match wish {
            Wish::Run(runs) => self.is_running = runs,
            Wish::Step(count) => {
                self.is_running = false;
                self.steps = self.steps.saturating_add(count).min(1000);
            }
            Wish::Restart(_) => {
                self.failure = None;
                self.report = None;
                self.before = None;
                self.last = self.start.clone();
                if let Err(error) = self.simulation.restore(self.start.clone()) {
                    self.fail(error.to_string());
                }
            }
            Wish::Drag(drag) => self.drag(drag),
            Wish::Touches(shows) => self.shows_touches = shows,
            Wish::Set(_) | Wish::Ack(_) => {}
        }
    }

    /// Makes the simulation that the settings ask for, if any wait.
    fn settle(&mut self) {
        let Some(setting) = self.waiting.take() else {
            return;
        };
        if let Err(failure) = self.set(&setting) {
            self.failure = Some(format!("not changed: {failure}"));
        }
        self.sets[1] = self.sets[0];
    }

    fn fail(&mut self, why: String) {
        self.failure = Some(why);
        self.is_running = false;
        self.steps = 0;
    }

    /// Goes on with another scene from the last whole frame.
    fn set(&mut self, setting: &Setting) -> Result<(), Failure> {
        let mut changes: Vec<(&str, String)> = Vec::new();
        if let Some(friction) = setting.friction {
            changes.push(("friction", float(friction)));
        }
        if let Some(thickness) = setting.thickness {
            changes.push(("thickness", float(thickness)));
        }
        if let Some(wind) = setting.wind {
            let [_, y, z] = self.scene.dynamics.air.wind.map(float);
            changes.push(("dynamics.air.wind", format!("[{}, {y}, {z}]", float(wind))));
            if self.scene.dynamics.air.density == 0.0 {
                changes.push(("dynamics.air.density", float(AIR)));
            }
        }
        if let Some(response) = &setting.response {
            let list = match response.as_str() {
                OWN => toml_list(&self.first.response)?,
                name => stage_list(name).map_err(Failure::input)?,
            };
            changes.push(("response", list));
        }
        let scene = self.scene.clone().set_all(changes)?;
        let mut simulation = scene.build()?;
        simulation.restore(self.last.clone())?;
        self.toucher = Toucher::new(simulation.state().mesh(), simulation.surfaces());
        self.simulation = simulation;
        self.scene = scene;
        if let Some(response) = &setting.response {
            self.response.clone_from(response);
        }
        self.failure = None;
        Ok(())
    }

    fn drag(&mut self, drag: Option<Drag>) {
        let Some(Drag { vertex, to }) = drag else {
            self.hand = None;
            let _ = self.simulation.pull(Vec::new());
            return;
        };
        if self.hand.as_ref().is_none_or(|hand| hand.vertex != vertex) {
            self.hand = self.grasp(vertex);
        }
        let Some(hand) = &self.hand else { return };
        let pull = Attraction {
            parts: hand.parts.clone(),
            wanted: DVec3::from(to),
            share: GRIP,
            reach: REACH * hand.extent,
            lag: LAG,
            damping: 1.0,
        };
        if let Err(error) = self.simulation.pull(vec![pull]) {
            self.failure = Some(error.to_string());
        }
    }

    /// The free vertices of a cloth that lie around one of them at the start.
    fn grasp(&self, vertex: u32) -> Option<Hand> {
        let mesh = self.simulation.state().mesh();
        let body = mesh
            .bodies()
            .iter()
            .find(|body| body.vertices.contains(&vertex) && body.kind == BodyKind::Cloth)?;
        let x = &self.start.x;
        let points = body.vertices.clone().map(|v| x[v as usize]);
        let extent = percale::geometry::Aabb::of(points).size().max_element();
        let radius = HAND * extent;
        let free = self.simulation.inverse_mass();
        let near = body.vertices.clone().filter_map(|v| {
            let share = 1.0 - x[v as usize].distance(x[vertex as usize]) / radius;
            (share > 0.0 && free[v as usize] > 0.0).then_some((v, share))
        });
        let near: Vec<(u32, f64)> = near.collect();
        let sum: f64 = near.iter().map(|(_, share)| share).sum();
        (sum > 0.0).then(|| Hand {
            vertex,
            parts: near.iter().map(|(v, share)| (*v, share / sum)).collect(),
            extent,
        })
    }

    /// One frame more, if it is wanted and possible.
    fn advance(&mut self) -> bool {
        if !self.is_running && self.steps == 0 {
            return false;
        }
        self.steps = self.steps.saturating_sub(1);
        match self.simulation.step() {
            Ok(report) => {
                let next = self.simulation.checkpoint();
                self.before = Some(std::mem::replace(&mut self.last, next).x);
                self.report = Some(report);
                self.failure = None;
            }
            Err(error) => {
                self.fail(format!(
                    "{error}\nThis is the last whole frame; change something and run on, or restart."
                ));
                if let Err(error) = self.simulation.restore(self.last.clone()) {
                    self.fail(error.to_string());
                }
            }
        }
        true
    }

    /// The frame as a message: length of a JSON head, the head padded to four bytes, positions (f32), what touches.
    fn message(&mut self, number: u64) -> Vec<u8> {
        let state = self.simulation.state();
        let paths = match state.tangles().is_empty() {
            true => json!([]),
            false => show::curves(state.mesh(), state.positions()).unwrap_or(json!([])),
        };
        let head = json!({
            "number": number, "frame": self.simulation.frame(), "running": self.is_running,
            "failure": self.failure, "report": self.report.take(), "paths": paths,
            "settings": self.settings(), "sets": self.sets[1],
        });
        let mut bytes = head.to_string().into_bytes();
        let length = bytes.len() as u32;
        bytes.splice(0..0, length.to_le_bytes());
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes.extend(show::position_bytes(state.positions()));
        let touch = match self.shows_touches {
            true => self
                .toucher
                .touch(state.positions(), self.before.as_deref())
                .to_bytes(),
            false => vec![0; 4],
        };
        bytes.extend(touch);
        bytes
    }
}

/// A number as TOML has it.
fn float(x: f64) -> String {
    format!("{x:?}")
}

/// Stages as a TOML list.
fn toml_list(stages: &[Stage]) -> Result<String, Failure> {
    let text = |stage: &Stage| -> Result<String, Failure> { inline(&serde_json::to_value(stage)?) };
    let each: Result<Vec<String>, Failure> = stages.iter().map(text).collect();
    Ok(format!("[{}]", each?.join(", ")))
}

/// A value as inline TOML; nothing stands for what is not set.
fn inline(value: &Value) -> Result<String, Failure> {
    Ok(match value {
        Value::Object(map) => {
            let pairs = map.iter().filter(|(_, value)| !value.is_null());
            let each: Result<Vec<String>, Failure> = pairs
                .map(|(key, value)| Ok(format!("{key} = {}", inline(value)?)))
                .collect();
            format!("{{ {} }}", each?.join(", "))
        }
        Value::Array(values) => {
            let each: Result<Vec<String>, Failure> = values.iter().map(inline).collect();
            format!("[{}]", each?.join(", "))
        }
        other => other.to_string(),
    })
}

/// The page and its game; one page plays at a time.
struct Table {
    meta: Result<Value, String>,
    faces: Vec<u8>,
    start: Vec<u8>,
    live: Box<dyn Fn(Socket) + Send + Sync>,
}

impl Table {
    fn new(game: Game) -> Self {
        let meta = game.meta().map_err(|failure| failure.to_string());
        let faces = show::face_bytes(game.simulation.state().mesh());
        let start = show::position_bytes(&game.start.x);
        let game = Mutex::new(game);
        Self {
            meta,
            faces,
            start,
            live: Box::new(move |socket| talk(&game, socket)),
        }
    }
}

impl Site for Table {
    fn answer(&self, name: &str) -> Result<Option<Answer>, Failure> {
        Ok(match name {
            "/data/scene" => {
                let meta = self.meta.as_ref();
                Some(Answer::json(
                    meta.map_err(|why| Failure::input(why.clone()))?,
                ))
            }
            "/data/faces" => Some(Answer::bytes(self.faces.clone())),
            "/data/frame/0" => Some(Answer::bytes(self.start.clone())),
            _ => view::fixed(name, "live"),
        })
    }

    fn live(&self) -> Option<&(dyn Fn(Socket) + Sync)> {
        Some(&*self.live)
    }
}

/// Plays with one page until it goes away.
fn talk(game: &Mutex<Game>, mut socket: Socket) {
    let until = Instant::now() + WAIT;
    let mut game = loop {
        match game.try_lock() {
            Ok(game) => break game,
            Err(std::sync::TryLockError::Poisoned(poisoned)) => {
                break PoisonError::into_inner(poisoned);
            }
            Err(_) if Instant::now() < until => thread::sleep(Duration::from_millis(50)),
            Err(_) => {
                let _ = socket.close(Some(CloseFrame {
                    code: CloseCode::Again,
                    reason: "another page plays this scene; close it and load this one anew".into(),
                }));
                let _ = socket.flush();
                return;
            }
        }
    };
    let _ = game.simulation.pull(Vec::new());
    (game.hand, game.is_running, game.shows_touches) = (None, false, false);
    (game.waiting, game.sets) = (None, [0; 2]);
    let _ = play(&mut game, &mut socket);
}

/// # Errors
/// The page has gone away, or sends what no page sends.
fn play(game: &mut Game, socket: &mut Socket) -> Result<(), Box<Error>> {
    let (mut sent, mut shown) = (0, 0);
    let frame = Duration::from_secs_f64(1.0 / game.scene.fps.max(1.0));
    let mut due = Instant::now();
    let mut is_new = true; // the page is given what there is
    loop {
        if is_new {
            sent += 1;
            let message = game.message(sent);
            socket.send(Message::binary(message))?;
            is_new = false;
        }
        // wishes that are there, and those that come while there is nothing else to do
        loop {
            let is_idle = !game.is_running && game.steps == 0;
            let is_ahead = sent >= shown + AHEAD;
            let left = due.saturating_duration_since(Instant::now());
            let patience = match game.waiting.is_some() {
                true => SHORT,
                false if is_idle || is_ahead => Duration::from_millis(50),
                false => left.clamp(SHORT, frame),
            };
            let _ = socket.get_ref().set_read_timeout(Some(patience));
            match socket.read() {
                Ok(Message::Text(text)) => match serde_json::from_str(&text) {
                    Ok(Wish::Ack(number)) => shown = number.min(sent),
                    Ok(wish) => {
                        let is_seen = !matches!(wish, Wish::Drag(_));
                        game.wish(wish);
                        is_new |= is_seen;
                    }
                    Err(error) => {
                        let reason = format!("not understood: {error}");
                        let reason = reason.chars().take(100).collect::<String>().into();
                        let code = CloseCode::Policy;
                        socket.close(Some(CloseFrame { code, reason }))?;
                        return Ok(socket.flush()?);
                    }
                },
                Ok(Message::Close(_)) => return Ok(()),
                Ok(_) => {}
                Err(Error::Io(error))
                    if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) =>
                {
                    if game.waiting.is_some() {
                        game.settle();
                        break; // to show it
                    }
                    if !is_idle && !is_ahead && Instant::now() >= due {
                        break;
                    }
                    if is_new {
                        break;
                    }
                }
                Err(error) => return Err(Box::new(error)),
            }
        }
        if sent < shown + AHEAD && game.advance() {
            is_new = true;
            due = (due + frame).max(Instant::now());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn game() -> Game {
        let scene = Scene::load_variant("drop", Variant::Small).unwrap();
        let simulation = scene.build().unwrap();
        Game::new("drop".into(), scene, simulation).unwrap()
    }

    fn wish(game: &mut Game, text: &str) {
        game.wish(serde_json::from_str(text).unwrap());
        game.settle();
    }

    fn steps(game: &mut Game, count: u32) {
        game.wish(Wish::Step(count));
        while game.advance() {}
    }

    #[test]
    fn a_hand_lifts_the_cloth_and_lets_it_go() {
        let mut game = game();
        steps(&mut game, 60);
        let middle = 8 * 17 + 8;
        let [x, y, z] = game.last.x[middle].to_array();
        let goal = y + 0.4;
        let drag = format!(r#"{{"drag": {{"vertex": {middle}, "to": [{x}, {goal}, {z}]}}}}"#);
        wish(&mut game, &drag);
        steps(&mut game, 60);
        let up = game.last.x[middle].y - y;
        assert!(up > 0.2, "half of the way at least: {up} m");
        assert_eq!(game.failure, None);
        wish(&mut game, r#"{"drag": null}"#);
        steps(&mut game, 60);
        assert!(game.last.x[middle].y - y < 0.5 * up, "it falls again");
    }

    #[test]
    fn settings_act_at_once_and_keep_the_state() {
        let mut game = game();
        steps(&mut game, 30);
        let before = game.last.clone();
        for text in [
            r#"{"set": {"friction": 1.0}}"#,
            r#"{"set": {"thickness": 0.003}}"#,
            r#"{"set": {"response": "impulses"}}"#,
            r#"{"set": {"response": "scene"}}"#,
        ] {
            wish(&mut game, text);
            assert_eq!(game.failure, None, "{text}");
            assert_eq!(game.simulation.state().positions(), before.x, "{text}");
        }
        assert_eq!(game.scene.friction, 1.0);
        assert_eq!(game.scene.response, game.first.response);
        wish(&mut game, r#"{"set": {"wind": 12}}"#);
        steps(&mut game, 20);
        let centre = |x: &[DVec3]| x[..289].iter().map(|x| x.x).sum::<f64>() / 289.0;
        let drift = centre(&game.last.x) - centre(&before.x);
        assert!(drift > 0.01, "blown along x: {drift} m");
        wish(&mut game, r#"{"set": {"friction": -1}}"#);
        assert!(
            game.failure.as_deref().unwrap().contains("friction"),
            "{:?}",
            game.failure
        );
        assert_eq!(game.scene.friction, 1.0, "what is wrong changes nothing");
    }

    #[test]
    fn settings_that_wait_are_made_at_once_and_the_page_is_told_what_holds() {
        let mut game = game();
        let shown = |game: &mut Game| -> Value {
            let message = game.message(1);
            let length = u32::from_le_bytes(message[..4].try_into().unwrap()) as usize;
            serde_json::from_slice(&message[4..4 + length]).unwrap()
        };
        for friction in 1..=30 {
            let set = format!(
                r#"{{"set": {{"friction": {}}}}}"#,
                0.05 * f64::from(friction)
            );
            game.wish(serde_json::from_str(&set).unwrap());
        }
        game.wish(serde_json::from_str(r#"{"set": {"response": "impulses"}}"#).unwrap());
        assert_eq!(
            game.scene.friction, game.first.friction,
            "nothing was made yet"
        );
        assert_eq!(shown(&mut game)["sets"], 0);
        game.settle();
        assert_eq!((game.scene.friction, game.sets), (1.5, [31, 31]));
        let head = shown(&mut game);
        assert_eq!(head["sets"], 31);
        assert_eq!(head["settings"]["friction"], 1.5);
        assert_eq!(head["settings"]["response"], "impulses");
        // a page that is loaded anew is told the same; what is refused is answered too, and changes nothing
        wish(&mut game, r#"{"set": {"friction": -1}}"#);
        let head = shown(&mut game);
        assert_eq!(head["sets"], 32);
        assert_eq!(head["settings"]["friction"], 1.5);
        // a wish after a setting finds it made
        game.wish(serde_json::from_str(r#"{"set": {"friction": 0.1}}"#).unwrap());
        game.wish(Wish::Step(1));
        assert_eq!(game.scene.friction, 0.1);
    }

    #[test]
    fn wind_along_x_leaves_the_rest_of_it() {
        let scene = Scene::load_variant("drop", Variant::Small).unwrap();
        let scene = scene.set("dynamics.air.wind", "[1.0, 2.0, 3.0]").unwrap();
        let simulation = scene.build().unwrap();
        let mut game = Game::new("drop".into(), scene, simulation).unwrap();
        wish(&mut game, r#"{"set": {"wind": -4}}"#);
        assert_eq!(game.scene.dynamics.air.wind, [-4.0, 2.0, 3.0]);
    }

    #[test]
    fn the_page_has_the_thickness_of_the_simulation() {
        let text = "frames = 1\n[[cloth]]\nname = \"sheet\"\nshape = { kind = \"sheet\", size = [6.0, 3.0], cells = [40, 20] }\n";
        let scene = Scene::from_text(text, "sheet.toml").unwrap();
        let simulation = scene.build().unwrap();
        let thickness = simulation.surfaces().thickness()[0];
        let game = Game::new("drop".into(), scene, simulation).unwrap();
        assert_eq!(game.settings()["thickness"], thickness);
    }

    #[test]
    fn restart_is_the_start_and_what_nobody_sends_is_refused() {
        let mut game = game();
        steps(&mut game, 5);
        wish(&mut game, r#"{"restart": true}"#);
        assert_eq!(game.simulation.frame(), 0);
        assert_eq!(game.simulation.state().positions(), game.start.x);
        for text in [
            "",
            "{}",
            "[]",
            r#"{"run": 3}"#,
            r#"{"set": {"frames": 1}}"#,
            r#"{"quit": true}"#,
        ] {
            assert!(serde_json::from_str::<Wish>(text).is_err(), "{text}");
        }
        wish(
            &mut game,
            r#"{"drag": {"vertex": 4000000, "to": [0, 0, 0]}}"#,
        );
        wish(&mut game, r#"{"drag": {"vertex": 0, "to": [1e300, 0, 0]}}"#);
        steps(&mut game, 2);
    }
}

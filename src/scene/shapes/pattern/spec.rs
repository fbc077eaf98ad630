//! What a `GarmentCode` specification says: panels as closed loops of edges, and which edges are sewn together.
//!
//! Coordinates of a panel are those of the paper, in `units_in_meter`; control points of curves are relative to the edge: (1, 0) is its
//! end, (0, 1) a quarter turn to the left of that. `rotation` turns about x, then y, then z, in degrees, before `translation`.

use std::collections::BTreeMap;

use glam::DVec2;
use serde::Deserialize;
use serde_json::Value;

/// A pattern, checked: every loop is closed, every stitch names edges that are there.
#[derive(Debug)]
pub(super) struct Spec {
    pub(super) panels: Vec<Panel>,
    /// Two sides each: panel and edge.
    pub(super) stitches: Vec<[Side; 2]>,
    /// Metres per unit of its coordinates.
    pub(super) unit: f64,
}

/// An edge of a panel, by their numbers.
pub(super) type Side = (usize, usize);

#[derive(Debug)]
pub(super) struct Panel {
    pub(super) name: String,
    /// Each edge from its start to its end; the next begins there.
    pub(super) edges: Vec<Edge>,
    pub(super) translation: [f64; 3],
    pub(super) rotation: [f64; 3],
}

/// A Bézier curve: the two ends and up to two points between them.
#[derive(Debug)]
pub(super) struct Edge {
    pub(super) points: Vec<DVec2>,
}

#[derive(Deserialize)]
struct File {
    pattern: Written,
    properties: Properties,
}

#[derive(Deserialize)]
struct Properties {
    units_in_meter: f64,
    #[serde(default)]
    curvature_coords: Option<String>,
}

#[derive(Deserialize)]
struct Written {
    panels: BTreeMap<String, WrittenPanel>,
    #[serde(default)]
    stitches: Vec<Vec<Value>>,
}

#[derive(Deserialize)]
struct WrittenPanel {
    vertices: Vec<[f64; 2]>,
    edges: Vec<WrittenEdge>,
    translation: [f64; 3],
    rotation: [f64; 3],
}

#[derive(Deserialize)]
struct WrittenEdge {
    endpoints: [usize; 2],
    #[serde(default)]
    curvature: Value,
}

impl Spec {
    /// Reads the text of a specification; the error says which panel, edge or stitch.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let file: File = serde_json::from_str(text).map_err(|error| match error.is_eof() {
            true => format!("it is cut off: {error}; fetch or export it again"),
            false => format!("not a GarmentCode specification: {error}"),
        })?;
        let units = file.properties.units_in_meter;
        if !(units > 0.0 && units.is_finite()) {
            return Err(format!("units_in_meter is {units}; centimetres are 100"));
        }
        if file
            .properties
            .curvature_coords
            .as_deref()
            .is_some_and(|kind| kind != "relative")
        {
            return Err("curvature_coords must be \"relative\"; export the pattern anew".into());
        }
        let mut panels = Vec::new();
        for (name, panel) in &file.pattern.panels {
            panels.push(panel.checked(name)?);
        }
        if panels.is_empty() {
            return Err("it has no panels".into());
        }
        let side = |number: usize, value: &Value| -> Result<Side, String> {
            let name = value["panel"].as_str().unwrap_or_default();
            let panel = panels.iter().position(|panel| panel.name == name);
            let panel = panel.ok_or_else(|| {
                let known: Vec<&str> = panels.iter().map(|panel| panel.name.as_str()).collect();
                format!(
                    "stitch {number}: no panel '{name}'; there are {}",
                    known.join(", ")
                )
            })?;
            let edges = panels[panel].edges.len();
            match value["edge"].as_u64() {
                Some(edge) if (edge as usize) < edges => Ok((panel, edge as usize)),
                _ => Err(format!(
                    "stitch {number}: '{name}' has no edge {}; it has {edges}, from 0",
                    value["edge"]
                )),
            }
        };
        let mut stitches = Vec::new();
        for (number, stitch) in file.pattern.stitches.iter().enumerate() {
            let [a, b, ..] = &stitch[..] else {
                return Err(format!(
                    "stitch {number}: it has {} sides, not two",
                    stitch.len()
                ));
            };
            let sides = [side(number, a)?, side(number, b)?];
            if sides[0] == sides[1] {
                return Err(format!("stitch {number}: an edge is sewn to itself"));
            }
            stitches.push(sides);
        }
        Ok(Self {
            panels,
            stitches,
            unit: 1.0 / units,
        })
    }
}

impl WrittenPanel {
    fn checked(&self, name: &str) -> Result<Panel, String> {
        let wrong = |text: String| Err(format!("panel '{name}': {text}"));
        let placed = self.translation.iter().chain(&self.rotation);
        if !placed
            .chain(self.vertices.iter().flatten())
            .all(|c| c.is_finite())
        {
            return wrong("all numbers must be finite".into());
        }
        let count = self.edges.len();
        if count < 2 {
            return wrong(format!("{count} edges enclose nothing"));
        }
        for (k, edge) in self.edges.iter().enumerate() {
            if let Some(v) = edge.endpoints.iter().find(|&&v| v >= self.vertices.len()) {
                return wrong(format!(
                    "edge {k} ends at vertex {v}, but there are {}, from 0: a vertex is missing",
                    self.vertices.len()
                ));
            }
            let (end, next) = (edge.endpoints[1], &self.edges[(k + 1) % count]);
            if end != next.endpoints[0] {
                return wrong(format!(
                    "edge {k} ends at vertex {end} and edge {} begins at vertex {}: an edge is missing; edges must go round the panel",
                    (k + 1) % count,
                    next.endpoints[0]
                ));
            }
        }
        let edges = self.edges.iter().enumerate();
        let edges = edges.map(|(k, edge)| {
            let ends = edge.endpoints.map(|v| DVec2::from_array(self.vertices[v]));
            let points = control_points(&edge.curvature, ends);
            points
                .map(|points| Edge { points })
                .map_err(|text| format!("panel '{name}', edge {k}: {text}"))
        });
        Ok(Panel {
            name: name.into(),
            edges: edges.collect::<Result<_, _>>()?,
            translation: self.translation,
            rotation: self.rotation,
        })
    }
}

/// The points of a Bézier curve between two ends.
fn control_points(curvature: &Value, [start, end]: [DVec2; 2]) -> Result<Vec<DVec2>, String> {
    let relative = |value: &Value| {
        let [along, aside] = [0, 1].map(|k| value.get(k).and_then(Value::as_f64));
        let (along, aside) = along
            .zip(aside)
            .filter(|(a, b)| a.is_finite() && b.is_finite())?;
        Some(start + along * (end - start) + aside * (end - start).perp())
    };
    let (kind, params): (&str, Vec<&Value>) = match curvature {
        Value::Null => return Ok(vec![start, end]),
        Value::Array(_) => ("quadratic", vec![curvature]), // of earlier versions
        _ => {
            let params = curvature["params"]
                .as_array()
                .map(|list| list.iter().collect());
            (
                curvature["type"].as_str().unwrap_or_default(),
                params.unwrap_or_default(),
            )
        }
    };
    let wanted = match kind {
        "quadratic" => 1,
        "cubic" => 2,
        _ => {
            return Err(format!(
                "a curve of type '{kind}', which is not read: export it as quadratic or cubic"
            ));
        }
    };
    let between: Option<Vec<DVec2>> = params.into_iter().map(relative).collect();
    match between.filter(|points| points.len() == wanted) {
        Some(between) => Ok([vec![start], between, vec![end]].concat()),
        None => Err(format!(
            "a {kind} curve needs {wanted} pairs of numbers in `params`"
        )),
    }
}

impl Edge {
    /// A point of the curve.
    fn at(&self, t: f64) -> DVec2 {
        // de Casteljau
        let mut points = self.points.clone();
        while points.len() > 1 {
            points = points
                .windows(2)
                .map(|p| p[0] + t * (p[1] - p[0]))
                .collect();
        }
        points[0]
    }

    /// The curve as short straight lines, and how far along it each begins.
    fn lines(&self) -> (Vec<DVec2>, Vec<f64>) {
        /// Lines of a curve: its length is then right to 1e-5 for a quarter of a circle.
        const LINES: u32 = 128;
        let count = if self.points.len() == 2 { 1 } else { LINES };
        let points: Vec<DVec2> = (0..=count)
            .map(|k| self.at(f64::from(k) / f64::from(count)))
            .collect();
        let mut along = vec![0.0];
        for pair in points.windows(2) {
            along.push(along[along.len() - 1] + pair[0].distance(pair[1]));
        }
        (points, along)
    }

    /// Its length.
    pub(super) fn length(&self) -> f64 {
        let (_, along) = self.lines();
        along[along.len() - 1]
    }

    /// Its start and the points that cut it into equal parts; the end is the next edge's.
    pub(super) fn cut(&self, parts: usize) -> Vec<DVec2> {
        let (points, along) = self.lines();
        let length = along[along.len() - 1];
        let place = |k: usize| {
            let wanted = length * k as f64 / parts as f64;
            let line = along
                .partition_point(|&a| a <= wanted)
                .clamp(1, points.len() - 1);
            let share = (wanted - along[line - 1]) / (along[line] - along[line - 1]);
            points[line - 1] + share * (points[line] - points[line - 1])
        };
        let first = self.points[0];
        std::iter::once(first)
            .chain((1..parts).map(place))
            .collect()
    }
}

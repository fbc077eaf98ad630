//! Cloth between collisions: from a state and an interval to candidate positions that take contact
//! as it was foreseen, or ignore it.
//!
//! The collision step needs only start, candidate and masses, so nothing outside this folder knows
//! what a spring is. A [`Dynamics`] is built once from the mesh, the rest shapes and the fabrics;
//! [`Dynamics::propose`] is a pure function of its arguments: no memory is carried from one
//! interval to the next, so a restart gives the same bits. Everything is summed in a fixed order,
//! and no std transcendental function is used.
//!
//! | file | holds |
//! |---|---|
//! | `material`, `fabrics` | density, stiffness and damping per area; presets and files |
//! | `elements` | rest shapes; the springs, triangles and plates of a mesh |
//! | `springs`, `stretch` | mass-spring stretching; finite-element membrane |
//! | `bend` | bending of plates by the angles at their edges |
//! | `strain` | the strain limit |
//! | `pins`, `seams` | soft pins and weights; seams that close |
//! | `attract` | pulls between points, which untangle |
//! | `touching` | what touches in the loops of Newmark, by whoever knows |
//! | `damping`, `air` | the damping matrix; drag and wind |
//! | `stability` | how long a loop may be |
//! | `implicit`, `rows` | the one solve; contact, friction and strain limit in it |
//! | `contacts`, `taut`, `sewn` | what touches, faces at their strain limit and closed seams, as rows |
//! | `integrator` | semi-implicit Newmark |
//! | `solve`, `multilevel` | sparse block matrices; their preconditioner |

mod air;
mod around;
mod attract;
mod bend;
mod contacts;
mod damping;
mod elements;
mod fabrics;
mod implicit;
mod integrator;
mod material;
mod multilevel;
mod pins;
mod rows;
mod seams;
mod sewn;
mod solve;
mod springs;
mod stability;
mod strain;
mod stretch;
mod taut;
#[cfg(test)]
mod tests;
mod touching;

use glam::DVec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::geometry::{BodyKind, Mesh};
use crate::touch::{Touch, TouchWork};
pub use air::Air;
use around::{Around, scatter};
pub use attract::Attraction;
use attract::Drawn;
use elements::Elements;
pub use elements::RestShape;
pub use fabrics::{FABRICS, FabricError};
pub use implicit::Implicit;
pub use integrator::Newmark;
use integrator::{Start, System};
pub use material::Fabric;
use multilevel::Hierarchy;
use pins::Pin;
pub use pins::SoftPin;
use rows::Rows;
use seams::{EdgeStitch, Stitch};
pub use seams::{Link, Seam, SeamReport};
use springs::Spring;
pub use strain::StrainReport;
use touching::Touching;

/// How the cloth moves; the same for all cloths of a scene.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Acceleration of free fall, m/s²; Y is up.
    pub gravity: [f64; 3],
    /// Time integration.
    pub integrator: Integrator,
    /// The air around the cloth; none by default.
    pub air: Air,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            gravity: [0.0, -9.81, 0.0],
            integrator: Integrator::default(),
            air: Air::default(),
        }
    }
}

/// The time integration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Integrator {
    /// Everything implicit: elasticity, contact, friction and strain limit in one solve.
    Implicit(Implicit),
    /// Explicit elasticity, implicit damping, several loops per interval: that of the papers.
    Newmark(Newmark),
}

impl Default for Integrator {
    fn default() -> Self {
        Self::Implicit(Implicit::default())
    }
}

/// How a cloth resists stretching and shearing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Stretch {
    /// Mass-spring: one spring per edge.
    #[default]
    Springs,
    /// Finite elements: one membrane triangle per face.
    Membrane,
}

/// What a scene changes on the way; none: as it was.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Staged {
    /// Acceleration of free fall, m/s².
    pub gravity: Option<DVec3>,
    /// Velocity of the air, m/s.
    pub wind: Option<DVec3>,
    /// Share of their stiffness that seams have.
    pub seams: Option<f64>,
    /// Share of their stiffness that soft pins have.
    pub pins: Option<f64>,
}

/// A cloth body of the mesh: what it is made of, its shape at rest, what is held.
#[derive(Clone, Debug, PartialEq)]
pub struct ClothModel {
    /// Index of the body in [`Mesh::bodies`].
    pub body: usize,
    /// What it is made of.
    pub fabric: Fabric,
    /// How it resists stretching.
    pub stretch: Stretch,
    /// Its shape without forces.
    pub rest: RestShape,
    /// Vertices that follow a script, numbered within the body.
    pub pinned: Vec<u32>,
}

/// The forces and masses of all cloths of a mesh.
#[derive(Clone, Debug)]
pub struct Dynamics {
    elements: Elements,
    hierarchy: Hierarchy,
    /// Mesh vertex of each node; the masses below are those of nodes.
    nodes: Vec<u32>,
    node_mass: Vec<f64>,
    node_inverse_mass: Vec<f64>,
    mass: Vec<f64>,
    inverse_mass: Vec<f64>,
    settings: Settings,
    attractions: Vec<Attraction>,
}

/// A candidate end state, and what it took to find it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Proposal {
    /// Candidate positions, m.
    pub x: Vec<DVec3>,
    /// The integrator's own end velocities, m/s.
    pub v: Vec<DVec3>,
    /// Integrator steps taken.
    pub loops: u32,
    /// Iterations of the solves.
    pub iterations: u32,
    /// Time spent on matrices, ms (implicit only).
    pub assembly_ms: f64,
    /// Time spent on solves, ms (implicit only).
    pub solve_ms: f64,
    /// Time spent on the forces that untangle, ms.
    pub draw_ms: f64,
    /// What contact did in the loops.
    pub contact: TouchWork,
    /// Stretch beyond the limit that is left.
    pub strain: StrainReport,
    /// What holds faces at their strain limit and stitches closed, by face: the first guess for the next interval.
    pub tension: Vec<Tension>,
}

/// What holds a face at its strain limit, or a stitch closed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tension {
    /// Face of the mesh; the stitches of seams follow the faces.
    pub face: u32,
    /// Against its largest stretch, N·m: what an elastic energy would lose per unit of it; of a stitch, N.
    pub pull: f64,
}

/// Energies of the free and pinned cloth vertices, J.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Energy {
    /// ½ m v².
    pub kinetic: f64,
    /// Stored in springs, membranes and hinges.
    pub elastic: f64,
    /// −m g · x, zero at the origin.
    pub gravity: f64,
}

impl Energy {
    /// The sum, J.
    pub fn total(&self) -> f64 {
        self.kinetic + self.elastic + self.gravity
    }
}

impl Dynamics {
    /// Builds the elements of all cloths. Each cloth body of the mesh should occur once in
    /// `cloths`; one that does not is scripted as a whole, like an obstacle.
    ///
    /// # Panics
    /// If a rest shape has not one position per vertex and one triangle per face of its body, or a
    /// cloth names an obstacle.
    pub fn new(mesh: &Mesh, cloths: &[ClothModel], settings: &Settings) -> Self {
        let mut elements = Elements::default();
        elements.face_count = mesh.faces().len() as u32;
        let mut nodes = Vec::new();
        let mut node_mass = Vec::new();
        let mut pinned = vec![false; mesh.vertex_count()];
        for cloth in cloths {
            let body = &mesh.bodies()[cloth.body];
            let (name, rest) = (&body.name, &cloth.rest);
            assert_eq!(body.kind, BodyKind::Cloth, "body '{name}' is an obstacle");
            assert!(
                [0, body.vertices.len()].contains(&rest.positions.len()),
                "rest positions of '{name}'"
            );
            assert_eq!(
                rest.material.len(),
                body.faces.len(),
                "rest triangles of '{name}'"
            );
            elements.add_cloth(mesh, cloth, &mut node_mass);
            nodes.extend(body.vertices.clone());
            for &v in &cloth.pinned {
                pinned[(body.vertices.start + v) as usize] = true;
            }
        }
        let mut mass = vec![0.0; mesh.vertex_count()];
        let mut inverse_mass = vec![0.0; mesh.vertex_count()];
        for (&v, &m) in nodes.iter().zip(&node_mass) {
            mass[v as usize] = m;
            if m > 0.0 && !pinned[v as usize] {
                inverse_mass[v as usize] = 1.0 / m;
            }
        }
        let mut dynamics = Self {
            elements,
            hierarchy: Hierarchy::default(),
            nodes,
            node_mass,
            node_inverse_mass: Vec::new(),
            mass,
            inverse_mass,
            settings: settings.clone(),
            attractions: Vec::new(),
        };
        dynamics.finish();
        dynamics
    }

    /// Adds seams. They must join cloth vertices.
    pub fn with_seams(mut self, seams: &[Seam]) -> Self {
        let node_of = self.node_of();
        let nodes = |vertices: [u32; 2]| {
            let ends = vertices.map(|v| node_of[v as usize]);
            let [a, b] = vertices;
            assert!(
                !ends.contains(&u32::MAX),
                "a seam joins cloth, not {a} and {b}"
            );
            ends
        };
        for seam in seams {
            let stitch = |ends: [u32; 2], from: f64, elements: &Elements| {
                // the length of border that a vertex stands for, by the area that it stands for
                let length = ends.map(|i| (2.0 * elements.area_of[i as usize]).sqrt());
                let length = 0.5 * (length[0] + length[1]);
                let stiffness = seam.stiffness * length;
                Stitch {
                    holds: elements.holds(ends, length),
                    spring: Spring {
                        ends,
                        rest: seam.gap,
                        stiffness,
                        damping: seam.damping * stiffness,
                    },
                    from,
                    strength: 1.0,
                    start: seam.start,
                    duration: seam.duration,
                }
            };
            for (&pair, &from) in seam.pairs.iter().zip(&seam.from) {
                let stitch = stitch(nodes(pair), from, &self.elements);
                self.elements.stitches.push(stitch);
            }
            for link in &seam.links {
                let edges = link.edges.map(nodes);
                let stitch = stitch([edges[0][0], edges[1][0]], link.from, &self.elements);
                let stitch = EdgeStitch::new(stitch, edges, link.along);
                self.elements.edge_stitches.push(stitch);
            }
        }
        self.finish();
        self
    }

    /// How many places a [`Tension`] may have: faces of the mesh and stitches.
    pub fn tension_places(&self) -> usize {
        self.elements.face_count as usize + self.elements.sewn_count()
    }

    /// How far the seams are closed at `x`.
    pub fn seams(&self, x: &[DVec3]) -> SeamReport {
        let x = self.gather(x);
        let mut report = SeamReport::default();
        for stitch in &self.elements.stitches {
            let [a, b] = stitch.spring.ends.map(|i| x[i as usize]);
            report.add(a.distance(b), stitch.spring.rest, 0.5 * (a + b));
        }
        for stitch in &self.elements.edge_stitches {
            let place = x[stitch.nodes[0] as usize];
            let gap = stitch.stitch.spring.rest;
            report.add(stitch.apart(&x).length(), gap, place);
        }
        report
    }

    /// Adds soft pins and their masses; obstacle vertices among them become free.
    ///
    /// # Panics
    /// If a vertex would be free without mass.
    pub fn with_soft_pins(mut self, pins: &[SoftPin]) -> Self {
        let mut node_of = self.node_of();
        for pin in pins {
            let v = pin.vertex as usize;
            let scripted = node_of[v] != u32::MAX && self.inverse_mass[v] == 0.0;
            if node_of[v] == u32::MAX {
                node_of[v] = self.nodes.len() as u32;
                self.nodes.push(pin.vertex);
                self.node_mass.push(0.0);
                self.elements.area_of.push(0.0);
            }
            let node = node_of[v];
            self.node_mass[node as usize] += pin.mass;
            self.mass[v] = self.node_mass[node as usize];
            assert!(self.mass[v] > 0.0, "soft pin at vertex {v} needs a mass");
            if !scripted {
                self.inverse_mass[v] = 1.0 / self.mass[v];
            }
            self.elements.pins.push(Pin {
                node,
                stiffness: DVec3::from_array(pin.stiffness),
                full: DVec3::from_array(pin.stiffness),
                damping: pin.damping,
            });
        }
        self.finish();
        self
    }

    /// Node of each mesh vertex, `u32::MAX` for those without.
    fn node_of(&self) -> Vec<u32> {
        let mut node_of = vec![u32::MAX; self.mass.len()];
        for (node, &v) in self.nodes.iter().enumerate() {
            node_of[v as usize] = node as u32;
        }
        node_of
    }

    /// What follows from elements and masses.
    fn finish(&mut self) {
        self.elements.finish(self.nodes.len());
        self.refresh();
    }

    /// Multiplies the mass of each mesh vertex: weights sewn into a hem. Stiffness stays.
    ///
    /// # Panics
    /// If there is not one positive factor per mesh vertex.
    pub fn weigh(&mut self, factor: &[f64]) {
        assert_eq!(factor.len(), self.mass.len(), "one factor per vertex");
        assert!(factor.iter().all(|&f| f > 0.0), "masses stay positive");
        for (i, &f) in factor.iter().enumerate() {
            self.mass[i] *= f;
            self.inverse_mass[i] /= f;
        }
        for (m, &v) in self.node_mass.iter_mut().zip(&self.nodes) {
            *m = self.mass[v as usize];
        }
        self.refresh();
    }

    /// Changes what a scene changes on the way, from now on.
    pub fn stage(&mut self, staged: &Staged) {
        if let Some(gravity) = staged.gravity {
            self.settings.gravity = gravity.to_array();
        }
        if let Some(wind) = staged.wind {
            self.settings.air.wind = wind.to_array();
        }
        if let Some(share) = staged.seams {
            let edges = self.elements.edge_stitches.iter_mut();
            let stitches = self.elements.stitches.iter_mut();
            for stitch in stitches.chain(edges.map(|edge| &mut edge.stitch)) {
                stitch.strength = share;
            }
        }
        if let Some(share) = staged.pins {
            for pin in &mut self.elements.pins {
                pin.stiffness = share * pin.full;
            }
        }
    }

    /// Lets exactly these pulls act from now on.
    pub fn attract(&mut self, attractions: Vec<Attraction>) {
        self.attractions = attractions;
    }

    /// Pins exactly these mesh vertices and lets all others go.
    pub fn hold(&mut self, held: &[u32]) {
        for (w, &m) in self.inverse_mass.iter_mut().zip(&self.mass) {
            *w = if m > 0.0 { 1.0 / m } else { 0.0 };
        }
        for &v in held {
            self.inverse_mass[v as usize] = 0.0;
        }
        self.refresh();
    }

    /// What follows from the inverse masses.
    fn refresh(&mut self) {
        let inverse = self.nodes.iter().map(|&v| self.inverse_mass[v as usize]);
        self.node_inverse_mass = inverse.collect();
        self.hierarchy = match self.settings.integrator {
            Integrator::Newmark(_) => Hierarchy::default(),
            Integrator::Implicit(_) => {
                let free: Vec<bool> = self.node_inverse_mass.iter().map(|&w| w > 0.0).collect();
                Hierarchy::new(&self.elements.pattern, &free)
            }
        };
    }

    /// 1/kg per mesh vertex; 0 for vertices that follow a script: obstacles, pins, vertices without
    /// a face.
    pub fn inverse_mass(&self) -> &[f64] {
        &self.inverse_mass
    }

    /// Lumped mass per mesh vertex, kg; 0 for obstacles, the true share for pins.
    pub fn mass(&self) -> &[f64] {
        &self.mass
    }

    /// Candidate state after `dt`, ignoring contact.
    ///
    /// `target` holds the end position of every vertex with inverse mass 0, which moves there
    /// straight; the other entries are not read. All slices have one entry per mesh vertex. `time`
    /// is that of the start, s.
    pub fn propose(
        &self,
        x0: &[DVec3],
        v0: &[DVec3],
        target: &[DVec3],
        time: f64,
        dt: f64,
    ) -> Proposal {
        self.propose_touching(x0, v0, [target, target], time, dt, None, &[])
    }

    /// [`Self::propose`] with contact in every loop, and with the tension that the interval before has left.
    /// Soft pins are pulled to where the script has them by then, on the straight way between the two ends that
    /// are given.
    #[expect(
        clippy::too_many_arguments,
        reason = "a state, an interval, and what acts in it"
    )]
    pub fn propose_touching(
        &self,
        x0: &[DVec3],
        v0: &[DVec3],
        [from, target]: [&[DVec3]; 2],
        time: f64,
        dt: f64,
        mut contact: Option<&mut dyn Touch>,
        tension: &[Tension],
    ) -> Proposal {
        let node_of = self.node_of();
        let longest = match self.attractions.is_empty() {
            true => 0.0,
            false => self.max_loop(x0).min(dt),
        };
        let drawn: Vec<Drawn> = (self.attractions.iter())
            .filter_map(|each| {
                Drawn::new(each, longest, &node_of, &self.inverse_mass, [x0, target])
            })
            .collect();
        let start = Start {
            drawn: &drawn,
            x: &self.gather(x0),
            v: &self.gather(v0),
            from: &self.gather(from),
            target: &self.gather(target),
            time,
            dt,
        };
        let mut left = Vec::new();
        let advance = match &self.settings.integrator {
            Integrator::Newmark(newmark) => {
                let touching =
                    contact.map(|contact| Touching::new(contact, &node_of, [x0, target], dt));
                newmark.advance(&self.system(), start, touching)
            }
            Integrator::Implicit(solve) => {
                let around = Around {
                    touch: contact.as_mut().map(|touch| &mut **touch as &mut dyn Touch),
                    nodes: &self.nodes,
                    node_of: &node_of,
                    inverse_mass: &self.inverse_mass,
                    ends: [x0, target],
                };
                let mut rows = Rows::default();
                around.begin(&mut rows.contacts);
                let mut pull = self.elements.pull_of(tension);
                let advance = solve.advance(&self.system(), start, &mut rows, &mut pull, around);
                left = self.elements.tension_of(&pull);
                if let Some(contact) = contact {
                    contact.press(&rows.contact_forces());
                }
                advance
            }
        };
        let x = self.scatter(&advance.x, target);
        let mut v: Vec<DVec3> = target
            .iter()
            .zip(x0)
            .map(|(&end, &start)| (end - start) / dt)
            .collect();
        for (k, &i) in self.nodes.iter().enumerate() {
            v[i as usize] = advance.v[k];
        }
        Proposal {
            x,
            v,
            loops: advance.loops,
            iterations: advance.iterations,
            assembly_ms: advance.assembly_ms,
            solve_ms: advance.solve_ms,
            draw_ms: advance.draw_ms,
            contact: advance.contact,
            strain: self.elements.strain(&advance.x),
            tension: left,
        }
    }

    /// Smooths a change of velocities at `x` by the damping of the cloth itself, acting for
    /// `seconds` (course notes, "smooth dv with damping dynamics"). Linear, keeps the momentum of
    /// free cloth, leaves scripted vertices alone.
    pub fn smooth(&self, x: &[DVec3], dv: &mut [DVec3], seconds: f64) {
        let mut of_nodes = self.gather(dv);
        self.system().damp(&self.gather(x), &mut of_nodes, seconds);
        for (&i, smoothed) in self.nodes.iter().zip(of_nodes) {
            dv[i as usize] = smoothed;
        }
    }

    /// Strain of all faces at `x`, against the limits of their fabrics.
    pub fn strain(&self, x: &[DVec3]) -> StrainReport {
        self.elements.strain(&self.gather(x))
    }

    /// By how much the largest strain grows from `x0` to `x` beyond the limit, or beyond what it was; 0 where it does not.
    /// Tiny faces do not count.
    pub fn overstretch(&self, x0: &[DVec3], x: &[DVec3]) -> f64 {
        let after = self.elements.strain_of_most(&self.gather(x));
        if after.over == 0 {
            return 0.0;
        }
        let before = self.elements.strain_of_most(&self.gather(x0));
        (after.largest - before.largest.max(self.strain_limit())).max(0.0)
    }

    /// By how much a face is stretched at `x` beyond its limit, or beyond what it is at `wanted`, at most.
    pub fn stretched(&self, wanted: &[DVec3], x: &[DVec3]) -> f64 {
        let [wanted, x] = [wanted, x].map(|x| self.gather(x));
        self.elements.stretched(&wanted, &x)
    }

    /// Moves free nodes of `x` so that faces are stretched no further than their limit permits, or than they are at `wanted`;
    /// ends early where that takes many sweeps. Keeps momentum.
    pub fn ease(&self, wanted: &[DVec3], x: &mut [DVec3]) {
        let mut of_nodes = self.gather(x);
        (self.elements).ease(&self.node_inverse_mass, &self.gather(wanted), &mut of_nodes);
        for (&i, eased) in self.nodes.iter().zip(of_nodes) {
            x[i as usize] = eased;
        }
    }

    /// Least strain limit of all faces; 0.1 = a tenth.
    pub fn strain_limit(&self) -> f64 {
        let limits = self.elements.faces.iter().map(|face| face.limit - 1.0);
        limits.fold(f64::INFINITY, f64::min)
    }

    /// Longest loop that the integrator will take from the state `x`, s.
    pub fn max_loop(&self, x: &[DVec3]) -> f64 {
        match &self.settings.integrator {
            Integrator::Newmark(newmark) => {
                newmark.cfl * self.system().stable_loop(&self.gather(x)).0
            }
            Integrator::Implicit(implicit) => implicit.max_loop,
        }
    }

    /// The vertex that asks for the shortest loops at `x`; none if the integrator is implicit or
    /// nothing is stiff.
    pub fn stiffest_vertex(&self, x: &[DVec3]) -> Option<u32> {
        match &self.settings.integrator {
            Integrator::Newmark(_) => {
                let (node, _) = self.system().stiffest(&self.gather(x))?;
                Some(self.nodes[node])
            }
            Integrator::Implicit(_) => None,
        }
    }

    /// Energy stored in springs, membranes and hinges at `x`, J.
    pub fn elastic_energy(&self, x: &[DVec3]) -> f64 {
        self.elements.energy(&self.gather(x))
    }

    /// Energies of a state; obstacles have none.
    pub fn energy(&self, x: &[DVec3], v: &[DVec3]) -> Energy {
        let g = DVec3::from_array(self.settings.gravity);
        let sum = |term: &dyn Fn(usize) -> f64| (0..x.len()).map(term).sum();
        Energy {
            kinetic: sum(&|i| 0.5 * self.mass[i] * v[i].length_squared()),
            elastic: self.elastic_energy(x),
            gravity: sum(&|i| -self.mass[i] * g.dot(x[i])),
        }
    }

    /// Positions of all mesh vertices: those of nodes, and `target` of obstacles and of cloths without a model.
    fn scatter(&self, x: &[DVec3], target: &[DVec3]) -> Vec<DVec3> {
        scatter(&self.nodes, x, target.to_vec())
    }

    fn gather(&self, values: &[DVec3]) -> Vec<DVec3> {
        self.nodes.iter().map(|&v| values[v as usize]).collect()
    }

    fn system(&self) -> System<'_> {
        System {
            elements: &self.elements,
            hierarchy: &self.hierarchy,
            mass: &self.node_mass,
            inverse_mass: &self.node_inverse_mass,
            gravity: DVec3::from_array(self.settings.gravity),
            air: &self.settings.air,
        }
    }
}

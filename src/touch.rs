//! What touches within the loops of an integrator: what dynamics asks for, and contact answers.
//!
//! Contact and elasticity that are solved in turn, once per interval, work against each other:
//! cloth under load is first sent into what it lies on by F dt²/m, then put back as if its vertices
//! were free. In loops of a twentieth of the interval the same error is four hundred times smaller,
//! and a few passes over the contacts per loop are enough, for what pressed in one loop presses in
//! the next (\[MSL19\], "small steps").

use glam::DVec3;

/// What acts between vertices in every loop.
pub trait Touch {
    /// The mesh vertices that take part. The slices below have one entry for each of them.
    fn vertices(&self) -> &[u32];

    /// Sets the forces, N, that act before anything has moved; then follow as many loops of `h`
    /// seconds.
    fn begin(&mut self, h: f64, loops: u32, forces: &mut [DVec3]);

    /// Changes the velocities with which positions `x` go on for `h` seconds, and then sets the
    /// forces to those that go on acting.
    ///
    /// The forces of the call before have acted on these velocities for `h` already.
    fn act(&mut self, h: f64, x: &[DVec3], v: &mut [DVec3], forces: &mut [DVec3]);

    /// The same as rows of a solve, by mesh vertices.
    fn rows(&self) -> Vec<Row>;

    /// What else may touch if every mesh vertex now goes straight on to `end`, as more rows; the
    /// rows of before stay.
    fn look(&mut self, end: &[DVec3]) -> Vec<Row> {
        let _ = end;
        Vec::new()
    }

    /// What touches where some rows have slid off the features that they are between, with every mesh vertex at `x`.
    fn slide(&mut self, left: &[Placed], x: &[DVec3]) -> Slid {
        let _ = x;
        Slid {
            rows: Vec::new(),
            heirs: vec![None; left.len()],
        }
    }

    /// The normals of rows, turned where they lean towards a surface that they stand on, with every mesh vertex at `x`; none where
    /// none is near.
    fn upright(&self, rows: &[Placed], x: &[DVec3]) -> Vec<Option<DVec3>> {
        let _ = x;
        rows.iter().map(|row| Some(row.normal)).collect()
    }

    /// Tells the forces with which the rows ended, and which of them pressed at any time.
    fn press(&mut self, forces: &[DVec3], has_pressed: &[bool]);
}

/// Two points that may touch, as a row of a solve.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Mesh vertices: of two edges, or one and those of a face.
    pub vertices: [u32; 4],
    /// Whether they are two edges.
    pub is_edge_edge: bool,
    /// Signed weights: those of the first point add up to 1, those of the second to -1.
    pub weights: [f64; 4],
    /// Unit vector from the second point to the first.
    pub normal: DVec3,
    /// The gap that is kept, m.
    pub kept: f64,
    /// Rate at which a closed gap opens, 1/s.
    pub opening: f64,
    /// Whether something next to it will be nearer when it comes: then it touches where its points are inside of their
    /// features, and nowhere else.
    pub is_aside: bool,
    /// Coulomb coefficient.
    pub friction: f64,
    /// On the first point, N, with friction: what acted last.
    pub force: DVec3,
}

/// Where a row is by now.
#[derive(Clone, Copy, Debug)]
pub struct Placed {
    /// Its number, in the order in which rows were given.
    pub row: u32,
    /// As in [`Row`].
    pub weights: [f64; 4],
    /// As in [`Row`].
    pub normal: DVec3,
}

/// What touches where rows have slid off.
#[derive(Clone, Debug)]
pub struct Slid {
    /// As more rows.
    pub rows: Vec<Row>,
    /// The number of the row that takes the place of each, if there is any; the others stay.
    pub heirs: Vec<Option<u32>>,
}

/// What it did in all loops of an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TouchWork {
    /// Kinetic energy given to the free vertices, J; negative where it took some.
    pub energy: f64,
    /// Momentum given to them, kg·m/s.
    pub momentum: DVec3,
    /// Processor time, ms.
    pub spent_ms: f64,
}

impl TouchWork {
    /// A change of velocity; scripted vertices do not count.
    pub(crate) fn add(&mut self, before: DVec3, after: DVec3, inverse_mass: f64) {
        if inverse_mass > 0.0 {
            self.energy += 0.5 * (after.length_squared() - before.length_squared()) / inverse_mass;
            self.momentum += (after - before) / inverse_mass;
        }
    }
}

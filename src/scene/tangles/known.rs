//! Random tangles whose cure is known: clean cloth, pushed through itself or its neighbour.
//!
//! Internal: may change without notice. Open for tests and the command line.
//!
//! A case is a clean state x*, and the same cloth with some of it pushed along its normals by smooth bumps, deep enough that layers change
//! places. x* is what a cure should find again, at least on which side of each other the layers are. Meshes are graded and irregular; the
//! bumps cover from 2 to 60 percent of a layer, inside it or over its edges. Everything follows from the number of the case.

use glam::{DVec2, DVec3};

/// What a case is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Make {
    /// Two sheets, one pushed through the other.
    TwoSheets,
    /// Three sheets, the middle one pushed both ways or one of the outer ones through both others.
    ThreeSheets,
    /// Two tubes, one in the other, walls pushed through each other.
    Tubes,
    /// A sheet folded over, one layer pushed through the other.
    Fold,
    /// A sheet folded twice.
    Pleat,
}

impl Make {
    /// All of them, in the order in which cases take turns.
    pub const ALL: [Self; 5] = [
        Self::TwoSheets,
        Self::ThreeSheets,
        Self::Tubes,
        Self::Fold,
        Self::Pleat,
    ];

    /// For tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::TwoSheets => "two sheets",
            Self::ThreeSheets => "three sheets",
            Self::Tubes => "tubes",
            Self::Fold => "fold",
            Self::Pleat => "pleat",
        }
    }
}

/// A tangle and its cure.
#[derive(Clone, Debug)]
pub struct Known {
    /// What it is made of.
    pub make: Make,
    /// Share of a layer that is pushed through, at most.
    pub share: f64,
    /// Corners of each face.
    pub faces: Vec<[u32; 3]>,
    /// Parameters of each corner of each face, in metres.
    pub uv: Vec<[DVec2; 3]>,
    /// Layer of each vertex, if layers are pieces of their own: a higher one lies on the side to which the faces of a lower one look. Otherwise all 0.
    pub layers: Vec<i32>,
    /// The clean state, in metres.
    pub truth: Vec<DVec3>,
    /// The tangled state, in metres.
    pub tangled: Vec<DVec3>,
    /// For each vertex the vertex of the neighbouring layer that faces it in the clean state, if there is one.
    pub facing: Vec<Option<u32>>,
}

/// `SplitMix64` (Steele, Lea, Flood 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// From 0 to 1.
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
}

/// Distance between layers, in cells.
const GAP: f64 = 0.6;

/// The case of a number.
pub fn known(case: u64) -> Known {
    let mut random = Random(case.wrapping_mul(0x2545_f491_4f6c_dd1d) ^ 0xc10f);
    random.next();
    let make = Make::ALL[(case % 5) as usize];
    let n = 14 + random.below(15) as u32;
    let cell = 1.0 / f64::from(n);
    let gap = GAP * cell;
    let mut build = Build::new(&mut random, n);
    match make {
        Make::TwoSheets => build.sheets(2, gap),
        Make::ThreeSheets => build.sheets(3, gap),
        Make::Tubes => build.tubes(gap),
        Make::Fold => build.folds(2, gap),
        Make::Pleat => build.folds(3, gap),
    }
    build.finish(make, gap, &mut random)
}

struct Build {
    cells: u32,
    faces: Vec<[u32; 3]>,
    uv: Vec<[DVec2; 3]>,
    truth: Vec<DVec3>,
    normals: Vec<DVec3>,
    /// Layer of each vertex, and its place over the layer, in metres.
    places: Vec<(u32, DVec2)>,
    /// Waves of the clean state: direction, height, phase.
    waves: Vec<(DVec2, f64, f64)>,
    /// How the mesh is graded: strength along both axes.
    grading: DVec2,
    jitter: Vec<DVec2>,
    /// Whether places repeat along the second axis, and after how many metres.
    period: Option<f64>,
    extent: DVec2,
}

impl Build {
    fn new(random: &mut Random, cells: u32) -> Self {
        let wave = |random: &mut Random| {
            let angle = random.between(0.0, std::f64::consts::TAU);
            let direction = DVec2::new(libm::cos(angle), libm::sin(angle));
            (
                random.between(3.0, 9.0) * direction,
                random.between(0.0, 0.04),
                random.between(0.0, 6.3),
            )
        };
        let waves = (0..3).map(|_| wave(random)).collect();
        let jitter =
            (0..1021).map(|_| DVec2::new(random.between(-0.2, 0.2), random.between(-0.2, 0.2)));
        let jitter = jitter.collect();
        Self {
            cells,
            faces: Vec::new(),
            uv: Vec::new(),
            truth: Vec::new(),
            normals: Vec::new(),
            places: Vec::new(),
            waves,
            grading: DVec2::new(random.between(-0.12, 0.12), random.between(-0.12, 0.12)),
            jitter,
            period: None,
            extent: DVec2::ONE,
        }
    }

    /// Place of a grid vertex in the unit square: graded, and inside the sheet jittered.
    fn place(&self, layer: u32, [i, j]: [u32; 2], [columns, rows]: [u32; 2]) -> DVec2 {
        let cell = DVec2::new(1.0 / f64::from(columns), 1.0 / f64::from(rows));
        let mut p = DVec2::new(f64::from(i), f64::from(j)) * cell;
        if i > 0 && j > 0 && i < columns && j < rows {
            let k = (layer * 7919 + i * 131 + j) as usize % self.jitter.len();
            p += cell * self.jitter[k];
        }
        let grade = |t: f64, by: f64| t + by * libm::sin(std::f64::consts::TAU * t) / 2.0;
        DVec2::new(grade(p.x, self.grading.x), grade(p.y, self.grading.y))
    }

    /// Height of the clean state over a place, and its slope.
    fn wave(&self, p: DVec2) -> (f64, DVec2) {
        let mut height = 0.0;
        let mut slope = DVec2::ZERO;
        for (k, amplitude, phase) in &self.waves {
            let angle = k.dot(p) + phase;
            height += amplitude * libm::sin(angle);
            slope += amplitude * libm::cos(angle) * *k;
        }
        (height, slope)
    }

    /// Adds a grid; `at` says where a place is, with its normal, and what its parameters are.
    fn grid(
        &mut self,
        layer: u32,
        size: [u32; 2],
        is_closed: bool,
        at: impl Fn(&Self, DVec2) -> (DVec3, DVec3, DVec2, u32, DVec2),
    ) {
        let [columns, rows] = size;
        let first = self.truth.len() as u32;
        let stored = if is_closed { rows } else { rows + 1 };
        for i in 0..=columns {
            for j in 0..stored {
                let p = self.place(layer, [i, j], size);
                let (x, n, _, of, over) = at(self, p);
                self.truth.push(x);
                self.normals.push(n);
                self.places.push((of, over));
            }
        }
        let vertex = |i: u32, j: u32| first + i * stored + j % stored;
        for i in 0..columns {
            for j in 0..rows {
                let corners = [[i, j], [i + 1, j], [i + 1, j + 1], [i, j + 1]];
                let v = corners.map(|[i, j]| vertex(i, j));
                let u = corners.map(|c| {
                    let mut p = self.place(layer, c, size);
                    if is_closed && c[1] == rows {
                        p = self.place(layer, [c[0], 0], size) + DVec2::Y;
                    }
                    at(self, p).2
                });
                // diagonals alternate
                let halves = if (i + j) % 2 == 0 {
                    [[0, 1, 2], [0, 2, 3]]
                } else {
                    [[0, 1, 3], [1, 2, 3]]
                };
                for half in halves {
                    self.faces.push(half.map(|k: usize| v[k]));
                    self.uv.push(half.map(|k: usize| u[k]));
                }
            }
        }
    }

    fn sheets(&mut self, count: u32, gap: f64) {
        let n = self.cells;
        for layer in 0..count {
            let turn = 0.05 * f64::from(layer);
            let (sin, cos) = (libm::sin(turn), libm::cos(turn));
            self.grid(layer, [n, n + layer], false, move |build, p| {
                let q = p - 0.5;
                let over = DVec2::new(cos * q.x - sin * q.y, sin * q.x + cos * q.y) + 0.5;
                let (height, slope) = build.wave(over);
                let normal = DVec3::new(-slope.x, 1.0, -slope.y).normalize();
                let x = DVec3::new(over.x, height, over.y) + f64::from(layer) * gap * normal;
                (x, normal, p, layer, over)
            });
        }
    }

    fn tubes(&mut self, gap: f64) {
        let n = self.cells;
        let radius = 1.0 / std::f64::consts::TAU;
        self.period = Some(1.0);
        for layer in 0..2 {
            let r = radius + f64::from(layer) * gap;
            self.grid(layer, [n, n], true, move |build, p| {
                let angle = std::f64::consts::TAU * p.y;
                let out = DVec3::new(0.0, libm::sin(angle), libm::cos(angle));
                // a bend along the axis, the same for both
                let bend = 0.3 * build.waves[0].1 * libm::sin(build.waves[0].0.x * p.x);
                let x = DVec3::new(p.x, bend, 0.0) + r * out;
                let uv = DVec2::new(p.x, p.y * std::f64::consts::TAU * r);
                (x, out, uv, layer, p)
            });
        }
    }

    /// A long sheet folded over `count - 1` times, with round creases of the width of the gap.
    fn folds(&mut self, count: u32, gap: f64) {
        let n = self.cells;
        let turn = std::f64::consts::PI * 0.5 * gap;
        let flat = 0.5;
        let length = flat * f64::from(count) + turn * f64::from(count - 1);
        let columns = (f64::from(n) * length).round() as u32;
        self.extent = DVec2::new(flat, 1.0);
        self.grid(0, [columns, n], false, move |build, p| {
            let mut s = p.x * length;
            let mut layer = 0;
            while layer + 1 < count && s > flat + turn {
                s -= flat + turn;
                layer += 1;
            }
            let side = if layer % 2 == 0 { 1.0 } else { -1.0 };
            let base = f64::from(layer) * gap;
            let along = |t: f64| if side > 0.0 { t } else { flat - t };
            let (x, up) = if s <= flat {
                (along(s), base)
            } else {
                let angle = (s - flat) / (0.5 * gap);
                (
                    along(flat) + side * 0.5 * gap * libm::sin(angle),
                    base + 0.5 * gap * (1.0 - libm::cos(angle)),
                )
            };
            let over = DVec2::new(x, p.y);
            let (height, slope) = build.wave(DVec2::new(0.3, 1.0) * over);
            let slope = DVec2::new(0.3, 1.0) * slope;
            let normal = DVec3::new(-slope.x, 1.0, -slope.y).normalize();
            let place = DVec3::new(x, height, p.y) + up * normal;
            let of = if s <= flat { layer } else { u32::MAX };
            (place, normal, DVec2::new(p.x * length, p.y), of, over)
        });
    }

    /// Pushes one layer through its neighbour.
    fn finish(self, make: Make, gap: f64, random: &mut Random) -> Known {
        let layers = self
            .places
            .iter()
            .map(|p| p.0)
            .filter(|&l| l != u32::MAX)
            .max()
            .unwrap_or(0)
            + 1;
        let share = [0.02, 0.05, 0.1, 0.2, 0.4, 0.6][random.below(6) as usize];
        let mut tangled = self.truth.clone();
        let bumps = 1 + random.below(2);
        for _ in 0..bumps {
            let layer = random.below(u64::from(layers)) as u32;
            let up = if layer == 0 || layer + 1 < layers && random.below(2) == 0 {
                1.0
            } else {
                -1.0
            };
            let centre = DVec2::new(random.unit(), random.unit()) * self.extent;
            let area = share * self.extent.x * self.extent.y / bumps as f64;
            let squeeze = random.between(0.7, 1.4);
            let radius = (area / std::f64::consts::PI)
                .sqrt()
                .max(1.6 / f64::from(self.cells));
            // deep enough to come out on the other side of one layer, at most of two
            let height = gap * random.between(1.6, 2.6) + random.between(0.0, 0.5) * radius;
            for (v, (of, over)) in self.places.iter().enumerate() {
                let mut d = *over - centre;
                if let Some(period) = self.period {
                    d.y -= period * (d.y / period).round();
                }
                let distance = DVec2::new(d.x * squeeze, d.y / squeeze).length() / (1.6 * radius);
                if *of == layer && distance < 1.0 {
                    let bump = (1.0 - distance * distance) * (1.0 - distance * distance);
                    tangled[v] += up * height * bump * self.normals[v];
                }
            }
        }
        Known {
            make,
            share,
            facing: self.facing(),
            layers: self.layers(make),
            faces: self.faces,
            uv: self.uv,
            truth: self.truth,
            tangled,
        }
    }

    fn layers(&self, make: Make) -> Vec<i32> {
        // faces look along the normals or against them
        let [a, b, c] = self.faces[0].map(|v| self.truth[v as usize]);
        let looks_up = (b - a)
            .cross(c - a)
            .dot(self.normals[self.faces[0][0] as usize])
            > 0.0;
        let sign = match make {
            Make::Fold | Make::Pleat => 0,
            _ if looks_up => 1,
            _ => -1,
        };
        self.places.iter().map(|p| sign * p.0 as i32).collect()
    }

    /// For each vertex the nearest of the layer next to it, if that lies above or below it.
    fn facing(&self) -> Vec<Option<u32>> {
        let reach = 1.5 / f64::from(self.cells);
        let nearest = |v: usize| {
            let (of, over) = self.places[v];
            let mut best: Option<(f64, u32)> = None;
            for (w, (layer, place)) in self.places.iter().enumerate() {
                if *layer == u32::MAX || of == u32::MAX || layer.abs_diff(of) != 1 {
                    continue;
                }
                let distance = place.distance(over);
                if distance < reach && best.is_none_or(|b| distance < b.0) {
                    best = Some((distance, w as u32));
                }
            }
            best.map(|b| b.1)
        };
        (0..self.places.len()).map(nearest).collect()
    }
}

/// How well a cure has found the clean state again.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Quality {
    /// Share of the pushed vertices that lie on the wrong side of the layer next to them.
    pub wrong_side: f64,
    /// Root mean square of the distance to the clean state, relative to how far the cloth was pushed.
    pub distance: f64,
    /// 95th percentile of the change of edge lengths, relative to the clean state.
    pub strain: f64,
}

impl Known {
    /// Compares positions with the clean state.
    pub fn quality(&self, x: &[DVec3]) -> Quality {
        let mut normals = vec![DVec3::ZERO; x.len()];
        let mut clean = normals.clone();
        for f in &self.faces {
            for (positions, normals) in [(x, &mut normals), (&self.truth[..], &mut clean)] {
                let [a, b, c] = f.map(|v| positions[v as usize]);
                for v in f {
                    normals[*v as usize] += (b - a).cross(c - a);
                }
            }
        }
        let (mut pushed, mut wrong, mut known) = (0.0, 0.0, 0.0);
        let mut off = 0.0;
        for v in 0..x.len() {
            pushed += self.tangled[v].distance_squared(self.truth[v]);
            off += x[v].distance_squared(self.truth[v]);
            if let Some(w) = self.facing[v].filter(|_| self.tangled[v] != self.truth[v]) {
                let w = w as usize;
                let side = |x: &[DVec3], n: &[DVec3]| (x[v] - x[w]).dot(n[w]) > 0.0;
                known += 1.0;
                wrong += f64::from(u8::from(side(x, &normals) != side(&self.truth, &clean)));
            }
        }
        let mut strains: Vec<f64> = Vec::new();
        for f in &self.faces {
            for k in 0..3 {
                let (a, b) = (f[k] as usize, f[(k + 1) % 3] as usize);
                strains.push(
                    (x[a].distance(x[b]) / self.truth[a].distance(self.truth[b]) - 1.0).abs(),
                );
            }
        }
        strains.sort_unstable_by(f64::total_cmp);
        Quality {
            wrong_side: if known > 0.0 { wrong / known } else { 0.0 },
            distance: if pushed > 0.0 {
                (off / pushed).sqrt()
            } else {
                0.0
            },
            strain: strains[strains.len() * 95 / 100],
        }
    }
}

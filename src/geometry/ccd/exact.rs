//! The exact decision: does the moving polygon of differences contain the origin at some time? In
//! integers.
//!
//! All coordinates are multiples of one power of two, so after scaling every corner is an integer
//! vector at both ends of the motion. With `s = t/(1−t)` a product of corners becomes a polynomial
//! in `s ∈ [0, ∞]` whose coefficients are sums of mixed products of start and end (t = 0 is the
//! lowest coefficient, t = 1 the highest).
//!
//! **The instant.** Let `dₖ` be the corners, in cyclic order, of a triangle or parallelogram that
//! is coplanar with the origin, and `nₖ = dₖ × dₖ₊₁`. All `nₖ` are multiples of one vector. The
//! polygon contains the origin if and only if
//!
//! ```text
//! no two nₖ are opposite,  and  (some nₖ ≠ 0  or  dᵢ·dⱼ ≤ 0 for some i < j)
//! ```
//!
//! and any coordinate in which some `nₖ` does not vanish shows which are opposite. Proof. The sum
//! of all `nₖ` is a positive multiple of the polygon's area vector. If that is not 0 the polygon is
//! convex and turns one way, and the origin is inside (border included) exactly if all `nₖ` point
//! along it or vanish: the first condition; then some `nₖ ≠ 0`. If it is 0, all corners lie on one
//! line. A line past the origin gives some `nₖ ≠ 0`, hence two opposite ones, and the origin is
//! outside. On a line through the origin all `nₖ` vanish and the origin is inside exactly if two
//! corners do not lie strictly on the same side, that is `dᵢ·dⱼ ≤ 0`. ∎
//!
//! **Finitely many instants.** If the coplanarity cubic is not identically 0, only its roots
//! matter. If it is, the first touching either is at the start or has the origin on an *edge* of
//! the polygon: were it inside a proper polygon it would have been inside a moment before, because
//! the plane contains the origin all the time; and a polygon without area is the union of its
//! edges. So the start and, for each edge, the moments with `dₖ × dₖ₊₁ = 0` and `dₖ·dₖ₊₁ ≤ 0`
//! decide.
//!
//! **Signs at roots.** Every sign that is needed is that of a quadratic at a root of a polynomial
//! of degree at most 3. At a root of a quadratic it is that of `X + Y√D` with integers: compare
//! `X²` with `Y²D`. A cubic's simple root `σ` lies alone between two neighbouring roots of the
//! derivative; the sign of a quadratic at `σ` follows from where the *quadratic's* roots lie, on
//! which the signs of the cubic and its derivatives *there* inform. So no root is ever
//! approximated, and the cost is bounded: the numbers have at most about 24 times as many bits as
//! the coordinates need.

use std::cmp::Ordering;

use dashu_int::IBig;

use super::Sweep;

/// Times are multiples of `2^-TIME_BITS`.
pub(super) const TIME_BITS: u32 = 32;

/// A vector of integers.
type Vector = [IBig; 3];

/// Coefficients of a polynomial in `s = t/(1−t)`, lowest first.
type Quadratic = [IBig; 3];

/// Whether the vertex meets the face at some time in [`from`, `to`], multiples of `2^-TIME_BITS`.
pub(super) fn vertex_face_meet(sweep: &Sweep, from: f64, to: f64) -> bool {
    let [start, end] = integer_positions(sweep, from, to);
    let corners = |[p, a, b, c]: &[Vector; 4]| [minus(p, a), minus(p, b), minus(p, c)];
    meets(&corners(&start), &corners(&end))
}

/// Whether the edges meet at some time in [`from`, `to`], multiples of `2^-TIME_BITS`.
pub(super) fn edge_edge_meet(sweep: &Sweep, from: f64, to: f64) -> bool {
    let [start, end] = integer_positions(sweep, from, to);
    let corners = |[a0, a1, b0, b1]: &[Vector; 4]| {
        [minus(a0, b0), minus(a0, b1), minus(a1, b1), minus(a1, b0)]
    };
    meets(&corners(&start), &corners(&end))
}

/// Positions at `from` and at `to`, each axis times a power of two of its own.
///
/// Stretching the axes moves no point into or out of a polygon, keeps parallel vectors parallel and
/// the sign of their dot product, and so changes nothing in the decision.
fn integer_positions(sweep: &Sweep, from: f64, to: f64) -> [[Vector; 4]; 2] {
    let unit = f64::from_bits(u64::from(1023 + TIME_BITS) << 52); // 2^TIME_BITS
    let ticks = [from, to].map(|t| (t * unit) as u64);
    let common = (ticks[0] | ticks[1] | 1 << TIME_BITS).trailing_zeros();
    let whole = 1u64 << (TIME_BITS - common);

    let mut positions: [[Vector; 4]; 2] = Default::default();
    for axis in 0..3 {
        let parts = [&sweep.start, &sweep.end].map(|x| x.map(|x| decompose(x[axis])));
        let exponents = parts.iter().flatten().filter(|part| part.0 != 0);
        let lowest = exponents.map(|part| part.1).min().unwrap_or(0);
        let integer = |(mantissa, exponent): (i64, i64)| match usize::try_from(exponent - lowest) {
            Ok(shift) => IBig::from(mantissa) << shift,
            Err(_) => IBig::ZERO, // only 0 has an exponent below the lowest
        };
        for vertex in 0..4 {
            let (start, end) = (integer(parts[0][vertex]), integer(parts[1][vertex]));
            for (positions, ticks) in positions.iter_mut().zip(ticks) {
                let ticks = ticks >> common;
                positions[vertex][axis] = &start * (whole - ticks) + &end * ticks;
            }
        }
    }
    positions
}

/// `x = mantissa · 2^exponent` with an odd mantissa; 0 has an exponent below all others.
fn decompose(x: f64) -> (i64, i64) {
    let bits = x.to_bits();
    let biased = ((bits >> 52) & 0x7ff) as i64;
    let fraction = (bits & ((1 << 52) - 1)) as i64;
    let (mantissa, exponent) = if biased == 0 {
        (fraction, -1074)
    } else {
        (fraction | 1 << 52, biased - 1075)
    };
    if mantissa == 0 {
        return (0, i64::MIN / 2);
    }
    let zeros = mantissa.trailing_zeros();
    let mantissa = mantissa >> zeros;
    (
        if x < 0.0 { -mantissa } else { mantissa },
        exponent + i64::from(zeros),
    )
}

fn minus(a: &Vector, b: &Vector) -> Vector {
    std::array::from_fn(|k| &a[k] - &b[k])
}

fn cross(a: &Vector, b: &Vector) -> Vector {
    std::array::from_fn(|k| {
        let (i, j) = ((k + 1) % 3, (k + 2) % 3);
        &a[i] * &b[j] - &a[j] * &b[i]
    })
}

fn dot(a: &Vector, b: &Vector) -> IBig {
    &a[0] * &b[0] + &a[1] * &b[1] + &a[2] * &b[2]
}

fn sum(a: &Vector, b: &Vector) -> Vector {
    std::array::from_fn(|k| &a[k] + &b[k])
}

/// −1, 0 or 1.
fn sign(x: &IBig) -> i32 {
    match x.cmp(&IBig::ZERO) {
        Ordering::Less => -1,
        Ordering::Equal => 0,
        Ordering::Greater => 1,
    }
}

/// The moving polygon's products: `normals[k]` = dₖ × dₖ₊₁ by axis, and the corners for dot
/// products.
struct Polygon<'a, const N: usize> {
    start: &'a [Vector; N],
    end: &'a [Vector; N],
    normals: [[Quadratic; 3]; N],
}

impl<'a, const N: usize> Polygon<'a, N> {
    fn new(start: &'a [Vector; N], end: &'a [Vector; N]) -> Self {
        let normals = std::array::from_fn(|i| {
            let j = (i + 1) % N;
            let [x0, y0, z0] = cross(&start[i], &start[j]);
            let [x1, y1, z1] = sum(&cross(&start[i], &end[j]), &cross(&end[i], &start[j]));
            let [x2, y2, z2] = cross(&end[i], &end[j]);
            [[x0, x1, x2], [y0, y1, y2], [z0, z1, z2]]
        });
        Self {
            start,
            end,
            normals,
        }
    }

    fn dot(&self, i: usize, j: usize) -> Quadratic {
        [
            dot(&self.start[i], &self.start[j]),
            dot(&self.start[i], &self.end[j]) + dot(&self.end[i], &self.start[j]),
            dot(&self.end[i], &self.end[j]),
        ]
    }

    /// d₀·(d₁ × d₂), a cubic.
    fn coplanarity(&self) -> [IBig; 4] {
        let n = |power: usize| -> Vector {
            std::array::from_fn(|axis| self.normals[1][axis][power].clone())
        };
        let (n0, n1, n2) = (n(0), n(1), n(2));
        let (a0, a1) = (&self.start[0], &self.end[0]);
        [
            dot(a0, &n0),
            dot(a0, &n1) + dot(a1, &n0),
            dot(a0, &n2) + dot(a1, &n1),
            dot(a1, &n2),
        ]
    }

    /// Whether the polygon contains the origin at an instant at which both are coplanar, given the
    /// signs of quadratics at that instant (see the module's text).
    fn contains_origin(&self, sign_at: impl Fn(&Quadratic) -> i32) -> bool {
        for axis in 0..3 {
            let mut seen = 0;
            for normals in &self.normals {
                let sign = sign_at(&normals[axis]);
                if sign * seen < 0 {
                    return false;
                }
                seen = if sign != 0 { sign } else { seen };
            }
            if seen != 0 {
                return true;
            }
        }
        (0..N).any(|j| (0..j).any(|i| sign_at(&self.dot(i, j)) <= 0))
    }

    /// Whether the origin lies on the edge from corner `i` to the next at some time strictly inside
    /// the motion, given that it does not at its ends.
    fn edge_passes_origin(&self, i: usize) -> bool {
        let dots = self.dot(i, (i + 1) % N);
        let Some(first) = self.normals[i]
            .iter()
            .find(|q| q.iter().any(|c| !c.is_zero()))
        else {
            // Collinear all the time. Not touching at the ends, so the dot product is positive
            // there.
            let [c, b, a] = &dots;
            return sign(c) <= 0 || sign(a) <= 0 || (sign(b) < 0 && b * b >= IBig::from(4) * a * c);
        };
        positive_roots(first).iter().any(|root| {
            self.normals[i].iter().all(|q| root.sign_of(q) == 0) && root.sign_of(&dots) <= 0
        })
    }
}

/// Whether a polygon with straight-moving corners contains the origin at some time.
fn meets<const N: usize>(start: &[Vector; N], end: &[Vector; N]) -> bool {
    let polygon = Polygon::new(start, end);
    let cubic = polygon.coplanarity();

    // The two ends; they also spare the search below for roots at 0 and ∞.
    if cubic[0].is_zero() && polygon.contains_origin(|q| sign(&q[0])) {
        return true;
    }
    if cubic[3].is_zero() && polygon.contains_origin(|q| sign(&q[2])) {
        return true;
    }
    if cubic.iter().all(IBig::is_zero) {
        return (0..N).any(|i| polygon.edge_passes_origin(i));
    }
    any_positive_root(cubic, |signs| polygon.contains_origin(signs))
}

/// Whether `holds` for some positive root of a cubic that is not 0, in ascending order; it is given
/// the signs of quadratics at the root.
fn any_positive_root(
    cubic: [IBig; 4],
    mut holds: impl FnMut(&dyn Fn(&Quadratic) -> i32) -> bool,
) -> bool {
    let signs: Vec<i32> = cubic.iter().map(sign).filter(|&s| s != 0).collect();
    if signs.iter().all(|&s| s == signs[0]) {
        return false; // Descartes: no positive root
    }
    let mut p = cubic;
    while p[0].is_zero() {
        p.rotate_left(1); // a root at 0
    }
    if p[3].is_zero() {
        let [c, b, a, _] = p;
        return positive_roots(&[c, b, a])
            .iter()
            .any(|root| holds(&|q| root.sign_of(q)));
    }

    // Between neighbouring roots of p′, p is monotone.
    let [p0, p1, p2, p3] = &p;
    let slope = [p1.clone(), IBig::from(2) * p2, IBig::from(3) * p3];
    let turns = real_roots(&slope);
    let mut last = sign(p0);
    for piece in 0..=turns.len() {
        let turn = turns.get(piece);
        if turn.is_some_and(|turn| !turn.is_positive()) {
            continue;
        }
        let next = turn.map_or(sign(p3), |turn| turn.sign_of(&p));
        if last * next < 0 {
            let root = CubicRoot {
                cubic: &p,
                slope: &slope,
                turn_count: turns.len(),
                piece,
                left_sign: last,
            };
            if holds(&|q| root.sign_of(q)) {
                return true;
            }
        }
        if let (Some(turn), 0) = (turn, next)
            && holds(&|q| turn.sign_of(q))
        {
            return true; // a multiple root
        }
        last = next;
    }
    false
}

/// A positive root (−b ± √D) / 2a of a quadratic a s² + b s + c, or −c/b: `(rational +
/// surd·√radicand) / denominator`.
struct QuadraticRoot {
    rational: IBig,
    surd: i32,
    radicand: IBig,
    denominator: IBig,
}

impl QuadraticRoot {
    /// The sign of a polynomial (lowest coefficient first) at this root.
    ///
    /// Horner's scheme on `x + y√D`, times a power of the denominator to stay with integers.
    fn sign_of(&self, polynomial: &[IBig]) -> i32 {
        let Some((highest, lower)) = polynomial.split_last() else {
            return 0;
        };
        let (mut x, mut y) = (highest.clone(), IBig::ZERO);
        let mut power = IBig::ONE;
        for coefficient in lower.iter().rev() {
            power *= &self.denominator;
            let (old_x, old_y) = (x, y);
            x = &old_x * &self.rational + coefficient * &power;
            y = &old_y * &self.rational;
            match self.surd {
                0 => {}
                surd => {
                    x += IBig::from(surd) * &old_y * &self.radicand;
                    y += IBig::from(surd) * old_x;
                }
            }
        }
        // The denominator is positive.
        sign_of_surd(&x, &y, &self.radicand)
    }

    fn is_positive(&self) -> bool {
        sign_of_surd(&self.rational, &IBig::from(self.surd), &self.radicand) > 0
    }
}

/// The sign of x + y√d, d ≥ 0.
fn sign_of_surd(x: &IBig, y: &IBig, d: &IBig) -> i32 {
    let (sx, sy) = (sign(x), sign(y) * sign(d));
    if sx * sy >= 0 {
        return if sx != 0 { sx } else { sy };
    }
    match (x * x).cmp(&(y * y * d)) {
        Ordering::Greater => sx,
        Ordering::Less => sy,
        Ordering::Equal => 0,
    }
}

/// The real roots of c + b s + a s² in ascending order, each once; the polynomial must not be 0.
fn real_roots([c, b, a]: &Quadratic) -> Vec<QuadraticRoot> {
    let rational = |numerator: IBig, denominator: IBig| {
        let (numerator, denominator) = if sign(&denominator) < 0 {
            (-numerator, -denominator)
        } else {
            (numerator, denominator)
        };
        QuadraticRoot {
            rational: numerator,
            surd: 0,
            radicand: IBig::ZERO,
            denominator,
        }
    };
    if a.is_zero() {
        return if b.is_zero() {
            Vec::new()
        } else {
            vec![rational(-c, b.clone())]
        };
    }
    let radicand = b * b - IBig::from(4) * a * c;
    match sign(&radicand) {
        -1 => Vec::new(),
        0 => vec![rational(-b, IBig::from(2) * a)],
        _ => [-1, 1]
            .into_iter()
            .map(|surd| QuadraticRoot {
                surd,
                radicand: radicand.clone(),
                ..rational(-b * sign(a), IBig::from(2) * a * sign(a))
            })
            .collect(),
    }
}

/// The positive real roots in ascending order.
fn positive_roots(quadratic: &Quadratic) -> Vec<QuadraticRoot> {
    let mut roots = real_roots(quadratic);
    roots.retain(QuadraticRoot::is_positive);
    roots
}

/// The simple positive root of a cubic in one of the pieces between the real roots ("turns") of its
/// derivative.
struct CubicRoot<'a> {
    cubic: &'a [IBig; 4],
    /// The derivative.
    slope: &'a Quadratic,
    /// Number of distinct real roots of the derivative.
    turn_count: usize,
    /// How many of them lie before this root.
    piece: usize,
    /// Sign of the cubic in the piece before this root.
    left_sign: i32,
}

impl CubicRoot<'_> {
    /// The sign of a quadratic at this root: that at infinity, changed by each root in between.
    fn sign_of(&self, quadratic: &Quadratic) -> i32 {
        // Often the coefficients tell: the root is positive.
        let mut seen = 0;
        let mut mixed = false;
        for coefficient in quadratic {
            let sign = sign(coefficient);
            mixed |= sign * seen < 0;
            seen = if sign != 0 { sign } else { seen };
        }
        if !mixed {
            return seen;
        }
        let roots = real_roots(quadratic);
        let highest = seen;
        if let [double] = roots.as_slice()
            && !quadratic[2].is_zero()
        {
            return if self.cmp(double) == Ordering::Equal {
                0
            } else {
                highest
            };
        }
        let mut result = highest;
        for root in &roots {
            match self.cmp(root) {
                Ordering::Less => result = -result,
                Ordering::Equal => return 0,
                Ordering::Greater => {}
            }
        }
        result
    }

    /// Compares this root with a root of a quadratic.
    fn cmp(&self, other: &QuadraticRoot) -> Ordering {
        if !other.is_positive() {
            return Ordering::Greater;
        }
        (2 * self.piece).cmp(&self.place(other)).then_with(|| {
            // In the same piece, where the cubic is monotone.
            match other.sign_of(self.cubic) * self.left_sign {
                1 => Ordering::Greater,
                0 => Ordering::Equal,
                _ => Ordering::Less,
            }
        })
    }

    /// The place of a number among the turns: 0 before the first, 1 at it, 2 behind it, and so on.
    ///
    /// Relative to the sign of the highest coefficient, the derivative is positive outside its two
    /// roots, and its own derivative negative at the first and positive at the second (Thom's
    /// lemma); at a double root both vanish.
    fn place(&self, other: &QuadraticRoot) -> usize {
        let [_, b, a] = self.slope;
        let highest = sign(a);
        let bend = other.sign_of(&[b.clone(), IBig::from(2) * a]) * highest;
        match self.turn_count {
            0 => 0,
            1 => [0, 1, 2][(bend + 1) as usize],
            _ => match (other.sign_of(self.slope) * highest, bend) {
                (1, -1) => 0,
                (0, -1) => 1,
                (0, _) => 3,
                (1, _) => 4,
                _ => 2,
            },
        }
    }
}

#[cfg(test)]
mod tests;

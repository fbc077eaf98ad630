//! An oracle for the continuous test: slow, exact, and with nothing in common with the code under test.
//!
//! Positions are polynomials in time with rational coefficients (scaled to integers). Roots are isolated by bisection
//! with Sturm sequences and signs at roots decided by greatest common divisors and further bisection. What is asked at
//! a root is the textbook definition, case by case: barycentric coordinates of a vertex in a face with area, parameters
//! of two edges that are not parallel, and points on segments for everything degenerate.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Signed, Zero};
use percale::geometry::Sweep;

/// A polynomial in time, lowest power first, without leading zeros.
#[derive(Clone, Debug, PartialEq)]
struct Poly(Vec<BigInt>);

/// A time k / 2^m.
#[derive(Clone, Debug)]
struct Dyadic {
    k: BigInt,
    m: u32,
}

impl Dyadic {
    fn new(k: i64) -> Self {
        Self { k: k.into(), m: 0 }
    }

    fn middle(&self, other: &Self) -> Self {
        let m = self.m.max(other.m);
        Self {
            k: (&self.k << (m - self.m)) + (&other.k << (m - other.m)),
            m: m + 1,
        }
    }

    fn rational(&self) -> BigRational {
        BigRational::new(self.k.clone(), BigInt::one() << self.m)
    }
}

impl Poly {
    fn new(mut coefficients: Vec<BigInt>) -> Self {
        while coefficients.last().is_some_and(BigInt::is_zero) {
            coefficients.pop();
        }
        Self(coefficients)
    }

    fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    fn degree(&self) -> usize {
        self.0.len().saturating_sub(1)
    }

    fn add(&self, other: &Self, sign: i32) -> Self {
        let at = |p: &Self, i: usize| p.0.get(i).cloned().unwrap_or_default();
        let length = self.0.len().max(other.0.len());
        Self::new(
            (0..length)
                .map(|i| at(self, i) + at(other, i) * sign)
                .collect(),
        )
    }

    fn mul(&self, other: &Self) -> Self {
        if self.is_zero() || other.is_zero() {
            return Self(Vec::new());
        }
        let mut product = vec![BigInt::zero(); self.0.len() + other.0.len() - 1];
        for (i, a) in self.0.iter().enumerate() {
            for (j, b) in other.0.iter().enumerate() {
                product[i + j] += a * b;
            }
        }
        Self::new(product)
    }

    fn derivative(&self) -> Self {
        Self::new(
            self.0
                .iter()
                .enumerate()
                .skip(1)
                .map(|(i, c)| c * i)
                .collect(),
        )
    }

    /// The value at a time times 2^(m·degree).
    fn scaled_value_at(&self, t: &Dyadic) -> BigInt {
        let mut value = BigInt::zero();
        for (steps, c) in self.0.iter().rev().enumerate() {
            value = value * &t.k + (c << (t.m as usize * steps));
        }
        value
    }

    fn sign_at(&self, t: &Dyadic) -> i32 {
        sign(&self.scaled_value_at(t))
    }

    /// The sign in all of [from, to] within [0, 1], if the slope cannot change it; else 0.
    fn sign_near(&self, from: &Dyadic, to: &Dyadic) -> i32 {
        if self.degree() == 0 {
            return sign(&self.0[0]);
        }
        let m = from.m.max(to.m);
        let from = Dyadic {
            k: &from.k << (m - from.m),
            m,
        };
        let width = (&to.k << (m - to.m)) - &from.k;
        let steepest: BigInt = self.0.iter().enumerate().map(|(i, c)| c.abs() * i).sum();
        let value = self.scaled_value_at(&from);
        if value.abs() > (width * steepest) << (m as usize * (self.degree() - 1)) {
            sign(&value)
        } else {
            0
        }
    }

    /// Divided by the greatest common divisor of its coefficients, sign kept.
    fn primitive(self) -> Self {
        let gcd = self.0.iter().fold(BigInt::zero(), |g, c| gcd(g, c.clone()));
        if gcd.is_zero() {
            self
        } else {
            Self(self.0.into_iter().map(|c| c / &gcd).collect())
        }
    }

    /// A positive multiple of the remainder of division by `other`.
    fn remainder(&self, other: &Self) -> Self {
        let lead = other.0.last().expect("a divisor that is not 0");
        let mut rest = self.clone();
        while !rest.is_zero() && rest.degree() >= other.degree() {
            let shift = rest.degree() - other.degree();
            let factor = rest.0.last().expect("not 0") * lead.signum();
            let scale = lead.abs();
            let mut next: Vec<BigInt> = rest.0.iter().map(|c| c * &scale).collect();
            for (i, c) in other.0.iter().enumerate() {
                next[i + shift] -= c * &factor;
            }
            rest = Self::new(next);
        }
        rest.primitive()
    }

    fn gcd(&self, other: &Self) -> Self {
        let (mut a, mut b) = (self.clone(), other.clone());
        while !b.is_zero() {
            (a, b) = (b.clone(), a.remainder(&b));
        }
        a.primitive()
    }

    /// The exact quotient, up to a constant factor.
    fn quotient(&self, divisor: &Self) -> Self {
        let lead = divisor.0.last().expect("a divisor that is not 0");
        let mut rest = self.clone();
        let mut quotient = vec![BigInt::zero(); self.degree() - divisor.degree() + 1];
        while !rest.is_zero() && rest.degree() >= divisor.degree() {
            let shift = rest.degree() - divisor.degree();
            let factor = rest.0.last().expect("not 0").clone();
            for c in &mut quotient {
                *c *= lead;
            }
            quotient[shift] += &factor;
            let mut next: Vec<BigInt> = rest.0.iter().map(|c| c * lead).collect();
            for (i, c) in divisor.0.iter().enumerate() {
                next[i + shift] -= c * &factor;
            }
            rest = Self::new(next);
        }
        assert!(rest.is_zero(), "the division must leave nothing");
        Self::new(quotient).primitive()
    }
}

fn gcd(mut a: BigInt, mut b: BigInt) -> BigInt {
    while !b.is_zero() {
        (a, b) = (b.clone(), a % b);
    }
    a.abs()
}

fn sign(x: &BigInt) -> i32 {
    if x.is_zero() {
        0
    } else if x.is_positive() {
        1
    } else {
        -1
    }
}

/// A Sturm sequence: counts distinct roots in half-open intervals.
#[derive(Clone, Debug)]
struct Sturm(Vec<Poly>);

impl Sturm {
    /// Of a polynomial that is not 0; made square-free.
    fn of(p: &Poly) -> Self {
        let p = p.quotient(&p.gcd(&p.derivative()).or_one());
        let mut sequence = vec![p.clone(), p.derivative()];
        while !sequence[sequence.len() - 1].is_zero() {
            let [.., a, b] = sequence.as_slice() else {
                unreachable!("two at least")
            };
            let next = Poly(a.remainder(b).0.into_iter().map(|c| -c).collect());
            sequence.push(next);
        }
        sequence.pop();
        Self(sequence)
    }

    fn variations(&self, t: &Dyadic) -> usize {
        let signs: Vec<i32> = self
            .0
            .iter()
            .map(|p| p.sign_at(t))
            .filter(|&s| s != 0)
            .collect();
        signs.windows(2).filter(|w| w[0] != w[1]).count()
    }

    /// The number of roots in (from, to].
    fn count(&self, from: &Dyadic, to: &Dyadic) -> usize {
        self.variations(from) - self.variations(to)
    }
}

impl Poly {
    /// 1 instead of a constant or 0: the gcd of a linear polynomial and its derivative.
    fn or_one(self) -> Self {
        if self.degree() == 0 {
            Self(vec![BigInt::one()])
        } else {
            self
        }
    }
}

/// A moment: a time, or the only root of a polynomial in (from, to].
#[derive(Clone, Debug)]
enum Moment {
    Time(Dyadic),
    Root {
        sturm: Sturm,
        from: Dyadic,
        to: Dyadic,
    },
}

impl Moment {
    fn refine(&mut self) {
        if let Self::Root { sturm, from, to } = self {
            let middle = from.middle(to);
            if sturm.count(from, &middle) == 1 {
                *to = middle;
            } else {
                *from = middle;
            }
        }
    }

    /// The sign of a polynomial at this moment.
    fn sign_of(&mut self, q: &Poly) -> i32 {
        if q.is_zero() {
            return 0;
        }
        while let Self::Root { from, to, .. } = self
            && from.m.max(to.m) < 40
        {
            self.refine();
        }
        match self {
            Self::Time(t) => return q.sign_at(t),
            Self::Root { sturm, from, to } => {
                let sign = q.sign_near(from, to);
                if sign != 0 {
                    return sign;
                }
                let common = q.gcd(&sturm.0[0]);
                if common.degree() > 0 && Sturm::of(&common).count(from, to) == 1 {
                    return 0;
                }
            }
        }
        let roots_of_q = Sturm::of(q);
        loop {
            if let Self::Root { from, to, .. } = self
                && q.sign_at(from) != 0
                && roots_of_q.count(from, to) == 0
            {
                return q.sign_at(to);
            }
            self.refine();
        }
    }

    /// A time not before this moment, by less than 2⁻⁹⁰.
    fn upper(&mut self) -> BigRational {
        while let Self::Root { from, to, .. } = self
            && from.m.max(to.m) < 90
        {
            self.refine();
        }
        match self {
            Self::Time(t) => t.rational(),
            Self::Root { to, .. } => to.rational(),
        }
    }
}

/// 0, 1 and all roots in between of a polynomial that is not 0.
fn roots_in_unit_interval(p: &Poly) -> Vec<Moment> {
    let mut moments = Vec::new();
    for t in [Dyadic::new(0), Dyadic::new(1)] {
        if p.sign_at(&t) == 0 {
            moments.push(Moment::Time(t));
        }
    }
    let sturm = Sturm::of(p);
    let mut open = vec![(Dyadic::new(0), Dyadic::new(1))];
    while let Some((from, to)) = open.pop() {
        match sturm.count(&from, &to) {
            0 => {}
            1 => moments.push(Moment::Root {
                sturm: sturm.clone(),
                from,
                to,
            }),
            _ => {
                let middle = from.middle(&to);
                open.push((middle.clone(), to));
                open.push((from, middle));
            }
        }
    }
    moments
}

type Vector = [Poly; 3];

fn minus(a: &Vector, b: &Vector) -> Vector {
    std::array::from_fn(|i| a[i].add(&b[i], -1))
}

fn cross(a: &Vector, b: &Vector) -> Vector {
    std::array::from_fn(|i| {
        let (j, k) = ((i + 1) % 3, (i + 2) % 3);
        a[j].mul(&b[k]).add(&a[k].mul(&b[j]), -1)
    })
}

fn dot(a: &Vector, b: &Vector) -> Poly {
    (0..3).fold(Poly(Vec::new()), |sum, i| sum.add(&a[i].mul(&b[i]), 1))
}

/// The four vertices as functions of time, times one power of two.
fn positions(sweep: &Sweep) -> [Vector; 4] {
    let rational = |x: f64| BigRational::from_float(x).expect("a finite coordinate");
    let all = sweep
        .start
        .iter()
        .chain(&sweep.end)
        .flat_map(|x| x.to_array());
    let denominator = all
        .map(|x| rational(x).denom().clone())
        .max()
        .expect("24 coordinates");
    let integer = |x: f64| (rational(x) * &denominator).to_integer();
    std::array::from_fn(|i| {
        std::array::from_fn(|axis| {
            let (x0, x1) = (integer(sweep.start[i][axis]), integer(sweep.end[i][axis]));
            Poly::new(vec![x0.clone(), x1 - x0])
        })
    })
}

/// A point on a segment: collinear, and not on one side of both ends. `u`, `v`: the ends relative to the point.
struct OnSegment {
    off_line: Poly,
    beyond: Poly,
}

impl OnSegment {
    fn new(p: &Vector, a: &Vector, b: &Vector) -> Self {
        let (u, v) = (minus(a, p), minus(b, p));
        let off = cross(&u, &v);
        Self {
            off_line: dot(&off, &off),
            beyond: dot(&u, &v),
        }
    }

    fn holds(&self, moment: &mut Moment) -> bool {
        moment.sign_of(&self.off_line) == 0 && moment.sign_of(&self.beyond) <= 0
    }
}

/// What decides at a moment of coplanarity: if `area` > 0, that all of `inside` are ≥ 0; else a point on a segment.
struct Conditions {
    coplanarity: Poly,
    area: Poly,
    inside: Vec<Poly>,
    segments: Vec<OnSegment>,
}

impl Conditions {
    fn vertex_face(sweep: &Sweep) -> Self {
        let [p, a, b, c] = positions(sweep);
        let n = cross(&minus(&b, &a), &minus(&c, &a));
        let part = |x: &Vector, y: &Vector| dot(&cross(&minus(x, &p), &minus(y, &p)), &n);
        Self {
            coplanarity: dot(&minus(&p, &a), &n),
            area: dot(&n, &n),
            inside: vec![part(&b, &c), part(&c, &a), part(&a, &b)],
            segments: vec![
                OnSegment::new(&p, &a, &b),
                OnSegment::new(&p, &b, &c),
                OnSegment::new(&p, &c, &a),
            ],
        }
    }

    fn edge_edge(sweep: &Sweep) -> Self {
        let [a, b, c, d] = positions(sweep);
        let (e, f, r) = (minus(&b, &a), minus(&d, &c), minus(&c, &a));
        let n = cross(&e, &f);
        let area = dot(&n, &n);
        // a + s e = c + u f:  s |n|² = (r × f)·n,  u |n|² = (r × e)·n
        let (s, u) = (dot(&cross(&r, &f), &n), dot(&cross(&r, &e), &n));
        Self {
            coplanarity: dot(&r, &n),
            inside: vec![area.add(&s, -1), area.add(&u, -1), s, u],
            area,
            segments: vec![
                OnSegment::new(&a, &c, &d),
                OnSegment::new(&b, &c, &d),
                OnSegment::new(&c, &a, &b),
                OnSegment::new(&d, &a, &b),
            ],
        }
    }

    fn touch_at(&self, moment: &mut Moment) -> bool {
        if moment.sign_of(&self.area) > 0 {
            self.inside.iter().all(|q| moment.sign_of(q) >= 0)
        } else {
            self.segments.iter().any(|s| s.holds(moment))
        }
    }

    /// A time not before the first meeting, by less than 2⁻⁹⁰; `None` if there is none.
    fn first_meeting(&self) -> Option<BigRational> {
        let candidates: Vec<Moment> = if self.coplanarity.is_zero() {
            // Whether they touch depends on signs of finitely many polynomials and holds on a closed set: a first moment
            // is 0 or a root of one of them.
            let all = self.inside.iter().chain([&self.area]);
            let all = all.chain(self.segments.iter().flat_map(|s| [&s.off_line, &s.beyond]));
            let ends = [Moment::Time(Dyadic::new(0)), Moment::Time(Dyadic::new(1))];
            let roots = all
                .filter(|q| !q.is_zero())
                .flat_map(roots_in_unit_interval);
            ends.into_iter().chain(roots).collect()
        } else {
            roots_in_unit_interval(&self.coplanarity)
        };
        candidates
            .into_iter()
            .filter_map(|mut moment| self.touch_at(&mut moment).then(|| moment.upper()))
            .min()
    }
}

/// The first time at which vertex and face touch, rounded up by less than 2⁻⁹⁰.
pub(crate) fn vertex_face_meeting(sweep: &Sweep) -> Option<BigRational> {
    Conditions::vertex_face(sweep).first_meeting()
}

/// The first time at which two edges touch, rounded up by less than 2⁻⁹⁰.
pub(crate) fn edge_edge_meeting(sweep: &Sweep) -> Option<BigRational> {
    Conditions::edge_edge(sweep).first_meeting()
}

//! The continuous test on published queries with exact truth (tests/data/ccd-queries-*, each with its README).

use std::array;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;

use flate2::read::GzDecoder;
use glam::DVec3;
use num_rational::BigRational;
use num_traits::Zero;
use percale::geometry::Sweep;
use percale::geometry::ccd::{Answer, Encounter, Mode, Question, edge_edge, vertex_face};

use super::ccd_separation::distance;

/// One published query.
struct Query {
    sweep: Sweep,
    meets: bool,
    /// First time of impact to 25 decimals, where published.
    time: Option<String>,
}

/// A file of queries of one kind.
struct Queries {
    name: String,
    test: fn(&Sweep, Question) -> Answer,
    queries: Vec<Query>,
}

impl Queries {
    fn ask(&self, query: &Query, mode: Mode) -> Answer {
        let question = Question {
            mode,
            ..Question::default()
        };
        (self.test)(&query.sweep, question)
    }
}

fn lines(path: &str) -> impl Iterator<Item = String> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data")
        .join(path);
    let file = File::open(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    BufReader::new(GzDecoder::new(file))
        .lines()
        .map(|line| line.expect("readable data"))
}

/// Numerator / denominator, which the data promise to be an `f64`.
fn coordinate(numerator: &str, denominator: &str) -> f64 {
    let [n, d] = [numerator, denominator].map(|s| s.parse::<i128>().expect("an integer"));
    assert!(d.count_ones() == 1, "{d} is not a power of two");
    assert!((n as f64) as i128 == n, "{n} is not an f64");
    n as f64 / d as f64
}

fn load(path: &str, name: &str) -> Vec<Query> {
    let rows: Vec<(DVec3, bool)> = lines(&format!("{path}.csv.gz"))
        .map(|line| {
            let f: Vec<&str> = line.split(',').collect();
            let x = DVec3::new(
                coordinate(f[0], f[1]),
                coordinate(f[2], f[3]),
                coordinate(f[4], f[5]),
            );
            (x, f[6] == "1")
        })
        .collect();
    assert_eq!(rows.len() % 8, 0, "{name}");
    rows.chunks_exact(8)
        .map(|rows| Query {
            sweep: Sweep {
                start: array::from_fn(|i| rows[i].0),
                end: array::from_fn(|i| rows[4 + i].0),
            },
            meets: rows[0].1,
            time: None,
        })
        .collect()
}

fn kind(ee: bool) -> (&'static str, fn(&Sweep, Question) -> Answer) {
    if ee {
        ("ee", edge_edge)
    } else {
        ("vf", vertex_face)
    }
}

fn handcrafted() -> Vec<Queries> {
    let scenes = [
        "unit-tests",
        "erleben-cube-cliff-edges",
        "erleben-cube-internal-edges",
        "erleben-sliding-spike",
        "erleben-sliding-wedge",
        "erleben-spike-crack",
        "erleben-spike-hole",
        "erleben-spikes",
    ];
    let mut all = Vec::new();
    for scene in scenes {
        for ee in [true, false] {
            let (suffix, test) = kind(ee);
            let name = format!("{scene}/{suffix}");
            let queries = load(&format!("ccd-queries-handcrafted/{name}"), &name);
            all.push(Queries {
                name,
                test,
                queries,
            });
        }
    }
    all
}

fn simulation() -> Vec<Queries> {
    let mut all = Vec::new();
    for scene in ["cloth-funnel", "rod-twist"] {
        for ee in [true, false] {
            let (suffix, test) = kind(ee);
            let name = format!("{scene}_{suffix}");
            let mut queries = load(&format!("ccd-queries-simulation/{name}"), &name);
            for line in lines(&format!("ccd-queries-simulation/{name}_toi.csv.gz")).skip(1) {
                let fields: Vec<&str> = line.split(',').collect();
                let query: usize = fields[0].parse().expect("a query number");
                queries[query].time = Some(fields[1].to_string());
            }
            all.push(Queries {
                name,
                test,
                queries,
            });
        }
    }
    all
}

fn all() -> Vec<Queries> {
    let mut all = handcrafted();
    all.extend(simulation());
    all
}

fn contact(answer: Answer) -> Option<Encounter> {
    match answer {
        Answer::Never => None,
        Answer::Hit(contact) | Answer::Uncertain(contact) => Some(contact),
    }
}

#[test]
fn all_queries_are_there() {
    let count = |sets: &[Queries], meets: bool| -> usize {
        sets.iter()
            .map(|s| s.queries.iter().filter(|q| q.meets == meets).count())
            .sum()
    };
    let (made, simulated) = (handcrafted(), simulation());
    assert_eq!(
        (count(&made, true), count(&made, false)),
        (68 + 95, 1671 + 1072)
    );
    assert_eq!(
        (count(&simulated, true), count(&simulated, false)),
        (107 + 27 + 4179 + 765, 156 + 65 + 191 + 36)
    );
}

#[test]
fn the_exact_mode_agrees_with_every_published_answer() {
    for set in all() {
        for (i, query) in set.queries.iter().enumerate() {
            let answer = set.ask(query, Mode::Exact);
            assert!(!matches!(answer, Answer::Uncertain(_)), "{} {i}", set.name);
            assert_eq!(
                answer != Answer::Never,
                query.meets,
                "{} {i}: {answer:?} {:?}",
                set.name,
                query.sweep
            );
        }
    }
}

#[test]
fn the_fast_mode_misses_nothing_published() {
    for set in all() {
        let (mut hits, mut uncertain, mut false_positives) = (0, 0, 0);
        for (i, query) in set.queries.iter().enumerate() {
            let answer = set.ask(query, Mode::Fast);
            match answer {
                Answer::Never => assert!(!query.meets, "{} {i}: {:?}", set.name, query.sweep),
                Answer::Hit(_) => {
                    assert!(query.meets, "{} {i}: {:?}", set.name, query.sweep);
                    hits += 1;
                }
                Answer::Uncertain(_) => {
                    uncertain += usize::from(query.meets);
                    false_positives += usize::from(!query.meets);
                }
            }
        }
        println!(
            "{}: {} queries, {hits} hits, {uncertain} uncertain of those that meet, {false_positives} of those that do not",
            set.name,
            set.queries.len()
        );
    }
}

/// How far apart features may be that the fast mode takes for meeting: what they can move in the shortest part of the
/// motion that it looks at (2⁻²⁰), and the rounding error of positions relative to the pair's extent.
fn stated_tolerance(sweep: &Sweep) -> f64 {
    let (mut motion, mut extent): (f64, f64) = (0.0, 0.0);
    for i in 0..4 {
        for j in 0..4 {
            let (start, end) = (sweep.start[i] - sweep.start[j], sweep.end[i] - sweep.end[j]);
            motion = motion.max((end - start).length());
            extent = extent.max(start.length()).max(end.length());
        }
    }
    motion / f64::from(1 << 20) + 64.0 * f64::EPSILON * extent
}

#[test]
fn what_the_fast_mode_takes_for_meeting_is_within_the_stated_tolerance() {
    let mut count = 0;
    let mut largest: f64 = 0.0;
    for set in all() {
        for (i, query) in set.queries.iter().enumerate().filter(|(_, q)| !q.meets) {
            let Some(Encounter { time, .. }) = contact(set.ask(query, Mode::Fast)) else {
                continue;
            };
            let at = |t: f64| distance(query.sweep.at(t), set.name.ends_with("ee"));
            // Zoom in on the nearest moment of the part.
            let (mut middle, mut width) = (time + 0.5f64.powi(21), 0.5f64.powi(21));
            for _ in 0..12 {
                let near = (-8..=8).map(|k| middle + f64::from(k) / 8.0 * width);
                middle = near
                    .min_by(|a, b| at(*a).total_cmp(&at(*b)))
                    .expect("17 times");
                width /= 4.0;
            }
            let nearest = at(middle);
            println!("{} {i}: apart by {nearest:.1e} at {time}", set.name);
            let tolerance = stated_tolerance(&query.sweep);
            assert!(
                at(time) <= tolerance,
                "{} {i}: {} > {tolerance}",
                set.name,
                at(time)
            );
            count += 1;
            largest = largest.max(nearest);
        }
    }
    println!("{count} in all, at most {largest:.1e} apart");
    assert!(count <= 120, "{count}: more than ever before");
}

/// Whether the four points are coplanar during the whole motion: a cubic that vanishes at four times.
fn always_coplanar(sweep: &Sweep) -> bool {
    let exact = |x: f64| BigRational::from_float(x).expect("a finite number");
    (0..4).all(|t| {
        let at = |i: usize, axis: usize| {
            let (x0, x1) = (exact(sweep.start[i][axis]), exact(sweep.end[i][axis]));
            &x0 + (x1 - &x0) * exact(f64::from(t))
        };
        let d: [[BigRational; 3]; 3] =
            array::from_fn(|i| array::from_fn(|k| at(i + 1, k) - at(0, k)));
        let minor = |i: usize, j: usize| &d[1][i] * &d[2][j] - &d[1][j] * &d[2][i];
        (&d[0][0] * minor(1, 2) + &d[0][1] * minor(2, 0) + &d[0][2] * minor(0, 1)).is_zero()
    })
}

#[test]
fn the_13_funnel_pairs_that_stay_coplanar_are_found() {
    let sets = simulation();
    let set = sets
        .iter()
        .find(|s| s.name == "cloth-funnel_ee")
        .expect("it is there");
    let pairs: Vec<&Query> = set
        .queries
        .iter()
        .filter(|q| q.meets && always_coplanar(&q.sweep))
        .collect();
    assert_eq!(pairs.len(), 13);
    for query in pairs {
        assert!(matches!(set.ask(query, Mode::Exact), Answer::Hit(_)));
        assert_ne!(set.ask(query, Mode::Fast), Answer::Never);
        assert!(matches!(set.ask(query, Mode::Cubic), Answer::Uncertain(_)));
    }
}

#[test]
fn no_time_is_later_than_the_published_one() {
    for set in simulation() {
        for mode in [Mode::Fast, Mode::Exact] {
            let mut worst: f64 = 0.0;
            for (i, query) in set.queries.iter().enumerate() {
                let Some(time) = &query.time else { continue };
                let found = contact(set.ask(query, mode))
                    .expect("no query that meets is missed")
                    .time;
                let digits = format!("{found:.60}"); // exact decimal expansion, so that text compares like numbers
                assert!(
                    digits.as_str() <= format!("{time:0<62}").as_str(),
                    "{} {i}: {digits} > {time}",
                    set.name
                );
                worst = worst.max(time.parse::<f64>().expect("a number") - found);
            }
            println!("{} {mode:?}: at most {worst:.1e} early", set.name);
        }
    }
}

#[test]
fn the_cubic_mode_never_says_never_to_queries_that_meet() {
    for set in all() {
        let (mut found, mut lost) = (0, 0);
        for (i, query) in set.queries.iter().enumerate().filter(|(_, q)| q.meets) {
            match set.ask(query, Mode::Cubic) {
                Answer::Never => panic!("{} {i}: {:?}", set.name, query.sweep),
                Answer::Hit(_) => found += 1,
                Answer::Uncertain(_) => lost += 1,
            }
        }
        println!("{}: {found} hits, {lost} uncertain", set.name);
    }
}

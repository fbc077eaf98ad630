//! What the parameters of shapes may be.

use super::{Shape, eight};

/// The key that is out of its range, and what is allowed.
type Check = Result<(), (&'static str, String)>;

/// More than this many vertices in one shape is a typing error.
const MAX_VERTICES: f64 = 2e7;

impl Shape {
    /// Checks the parameters: the key that is out of its range, and what is allowed.
    pub(in crate::scene) fn check(&self) -> Check {
        match *self {
            Self::Sheet {
                size,
                cells,
                centres,
            } => {
                lengths(&[("size", size[0]), ("size", size[1])])?;
                grid(&cells)?;
                check_centres(cells, centres)
            }
            Self::Tube {
                radius,
                height,
                cells,
                centres,
            } => {
                lengths(&[("radius", radius), ("height", height)])?;
                around("cells", cells[0])?;
                grid(&cells)?;
                check_centres(cells, centres)
            }
            Self::Disc { radius, rings } => {
                lengths(&[("radius", radius)])?;
                let count = 3.0 * f64::from(rings) * f64::from(rings);
                at_least("rings", rings, 1)?;
                vertices("rings", count)
            }
            Self::Skirt {
                waist,
                hem,
                height,
                cells,
            } => {
                lengths(&[("waist", waist), ("hem", hem), ("height", height)])?;
                if waist > hem {
                    let message = format!("{waist} is above the hem's radius {hem}");
                    return Err(("waist", message));
                }
                around("cells", cells[0])?;
                grid(&cells)
            }
            Self::Sphere {
                radius,
                subdivisions,
            } => {
                lengths(&[("radius", radius)])?;
                if subdivisions > 10 {
                    let message = format!("{subdivisions}: at most 10 (10,485,762 vertices)");
                    return Err(("subdivisions", message));
                }
                Ok(())
            }
            Self::Box { size, cells } => {
                lengths(&size.map(|length| ("size", length)))?;
                grid(&cells)
            }
            Self::Plane { size } => lengths(&size.map(|length| ("size", length))),
            Self::Cylinder {
                radius,
                height,
                segments,
            }
            | Self::Cone {
                radius,
                height,
                segments,
            } => {
                lengths(&[("radius", radius), ("height", height)])?;
                round_body(segments, (radius + height) / radius)
            }
            Self::Needle { radius, height } => {
                lengths(&[("radius", radius), ("height", height)])?;
                round_body(eight(), (radius + height) / radius)
            }
            Self::Prism {
                radius,
                height,
                sides,
            } => {
                lengths(&[("radius", radius), ("height", height)])?;
                around("sides", sides)
            }
            Self::Funnel {
                mouth,
                outlet,
                height,
                chute,
                segments,
            } => {
                lengths(&[("mouth", mouth), ("outlet", outlet), ("height", height)])?;
                if outlet > mouth {
                    return Err((
                        "outlet",
                        format!("{outlet} is above the mouth's radius {mouth}"),
                    ));
                }
                if !(chute >= 0.0 && chute.is_finite()) {
                    return Err((
                        "chute",
                        format!("{chute} must be a length of 0 or more, in metres"),
                    ));
                }
                round_body(segments, (mouth + height + chute) / mouth)
            }
            Self::Trough {
                radius,
                length,
                cells,
            } => {
                lengths(&[("radius", radius), ("length", length)])?;
                grid(&cells)
            }
            Self::Crevice {
                width,
                depth,
                length,
                shoulder,
                rows,
            } => {
                lengths(&[
                    ("width", width),
                    ("depth", depth),
                    ("length", length),
                    ("shoulder", shoulder),
                ])?;
                at_least("rows", rows, 1)?;
                vertices("rows", 6.0 * f64::from(rows))
            }
            Self::Wire {
                radius,
                length,
                segments,
                rows,
            } => {
                lengths(&[("radius", radius), ("length", length)])?;
                around("segments", segments)?;
                at_least("rows", rows, 1)?;
                vertices("rows", f64::from(segments) * f64::from(rows))
            }
            Self::File { scale, .. } => lengths(&[("scale", scale)]),
        }
    }
}

fn lengths(values: &[(&'static str, f64)]) -> Check {
    for &(key, value) in values {
        if !(value > 0.0 && value.is_finite()) {
            return Err((key, format!("{value} must be a positive length, in metres")));
        }
        // areas and volumes of shorter ones are 0 in floats, of longer ones infinite
        if !(1e-12..=1e12).contains(&value) {
            return Err((key, format!("{value:e} must be from 1e-12 to 1e12 m")));
        }
    }
    Ok(())
}

fn at_least(key: &'static str, value: u32, least: u32) -> Check {
    if value >= least {
        return Ok(());
    }
    Err((key, format!("{value} must be at least {least}")))
}

fn around(key: &'static str, value: u32) -> Check {
    if value >= 3 {
        return Ok(());
    }
    Err((key, format!("{value} around must be at least 3")))
}

fn vertices(key: &'static str, count: f64) -> Check {
    if count <= MAX_VERTICES {
        return Ok(());
    }
    Err((
        key,
        format!("about {count:.0} vertices; at most {MAX_VERTICES:.0}"),
    ))
}

fn grid(cells: &[u32]) -> Check {
    for &count in cells {
        at_least("cells", count, 1)?;
    }
    vertices("cells", cells.iter().map(|&n| f64::from(n) + 1.0).product())
}

fn check_centres(cells: [u32; 2], centres: u32) -> Check {
    let count = u64::from(cells[0]) * u64::from(cells[1]);
    if u64::from(centres) <= count {
        return Ok(());
    }
    Err((
        "centres",
        format!("{centres} is more than the {count} cells"),
    ))
}

/// A body of revolution whose profile is `profile` times as long as its radius.
fn round_body(segments: u32, profile: f64) -> Check {
    around("segments", segments)?;
    let n = f64::from(segments);
    vertices("segments", n * n / 6.0 * profile)
}

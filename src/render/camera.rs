//! A perspective camera: placement, automatic framing, projection to pixels and back.

use std::str::FromStr;

use glam::{DVec2, DVec3};

/// Share of the distance to the target below which nothing is drawn: near enough never to be
/// missed, far enough that 1/depth stays within the range of single precision.
const NEAR: f64 = 1e-3;

/// A pinhole camera; y is up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// Where it stands, in metres.
    pub eye: DVec3,
    /// What it looks at; the middle of the picture, and of the lit part of the ground.
    pub target: DVec3,
    /// Vertical angle of view, in degrees, between 0 and 180.
    pub fov: f64,
}

/// How [`Framing::of`] looks at things.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Framing {
    /// Direction from which it looks, in degrees around y: 0 from +z, 90 from +x.
    pub azimuth: f64,
    /// Height above the horizon from which it looks, in degrees.
    pub elevation: f64,
    /// Vertical angle of view, in degrees.
    pub fov: f64,
    /// Share of the picture's half-width and half-height left free at each side.
    pub margin: f64,
}

impl Default for Framing {
    /// Three-quarter view from slightly above, with a long lens.
    fn default() -> Self {
        Self {
            azimuth: 32.0,
            elevation: 24.0,
            fov: 28.0,
            margin: 0.12,
        }
    }
}

impl Framing {
    /// The nearest camera of this direction that has all points inside the margin; `None` without
    /// points.
    ///
    /// Each side plane of the view is pushed against the points, which gives the eye in closed
    /// form:
    ///
    /// ```text
    /// |x − eₓ| ≤ τ (z − e_z) for all points   ⇔   eₓ ∈ [A + τ e_z, −B − τ e_z],
    /// A = max(x − τ z),  B = max(−x − τ z)    ⇒   e_z ≤ −(A + B) / 2τ,  eₓ = (A − B) / 2
    /// ```
    ///
    /// and the same for y; the nearer of the two distances does not fit, so the farther eye is
    /// taken.
    pub fn of(&self, points: impl IntoIterator<Item = DVec3>, aspect: f64) -> Option<Camera> {
        let (azimuth, elevation) = (self.azimuth.to_radians(), self.elevation.to_radians());
        let towards_eye = DVec3::new(
            libm::sin(azimuth) * libm::cos(elevation),
            libm::sin(elevation),
            libm::cos(azimuth) * libm::cos(elevation),
        );
        let [right, up, forward] = axes(-towards_eye);
        let tan_y = libm::tan(0.5 * self.fov.to_radians()) * (1.0 - self.margin);
        let tan = DVec2::new(tan_y * aspect, tan_y);

        let mut above = DVec2::NEG_INFINITY; // A of x and y
        let mut below = DVec2::NEG_INFINITY; // B of x and y
        let (mut first, mut last) = (f64::INFINITY, f64::NEG_INFINITY);
        for p in points.into_iter().filter(|p| p.is_finite()) {
            let (lateral, z) = (DVec2::new(p.dot(right), p.dot(up)), p.dot(forward));
            above = above.max(lateral - tan * z);
            below = below.max(-lateral - tan * z);
            (first, last) = (first.min(z), last.max(z));
        }
        if !above.is_finite() {
            return None;
        }
        let reach = -(above + below) / (2.0 * tan);
        let mut depth = reach.min_element();
        let middle = 0.5 * (first + last);
        if middle - depth <= 0.0 {
            depth = middle - 1.0; // a single point: any distance frames it
        }
        let lateral = 0.5 * (above - below);
        let eye = lateral.x * right + lateral.y * up + depth * forward;
        Some(Camera {
            eye,
            target: eye + (middle - depth) * forward,
            fov: self.fov,
        })
    }
}

impl Camera {
    /// Distance from the eye to the target, in metres.
    pub fn distance(&self) -> f64 {
        self.eye.distance(self.target)
    }

    /// Half the height of what is seen at the target, in metres: the length that lights and ground
    /// are sized by.
    pub fn radius(&self) -> f64 {
        self.distance() * libm::tan(0.5 * self.fov.to_radians())
    }

    /// The camera over a picture of so many pixels.
    pub(super) fn view(&self, width: u32, height: u32) -> View {
        let [right, up, forward] = axes(self.target - self.eye);
        View {
            eye: self.eye,
            right,
            up,
            forward,
            focal: 0.5 * f64::from(height) / libm::tan(0.5 * self.fov.to_radians()),
            centre: 0.5 * DVec2::new(f64::from(width), f64::from(height)),
            near: NEAR * self.distance(),
        }
    }
}

/// Parses `ex,ey,ez,tx,ty,tz,fov`: eye and target in metres, vertical angle of view in degrees.
impl FromStr for Camera {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers = text
            .split(',')
            .map(|number| number.trim().parse::<f64>())
            .collect::<Result<Vec<_>, _>>()
            .ok()
            .filter(|numbers| numbers.iter().all(|n| n.is_finite()));
        let Some(&[ex, ey, ez, tx, ty, tz, fov]) = numbers.as_deref() else {
            return Err(
                "a camera is seven numbers: eye x,y,z, target x,y,z, angle of view in degrees, \
                 for example 2,1.5,3,0,0.3,0,30"
                    .into(),
            );
        };
        let (eye, target) = (DVec3::new(ex, ey, ez), DVec3::new(tx, ty, tz));
        if eye == target {
            return Err("eye and target of the camera are the same point".into());
        }
        if !(1.0..=170.0).contains(&fov) {
            return Err(format!(
                "the angle of view is {fov}; it is in degrees, from 1 to 170"
            ));
        }
        Ok(Self { eye, target, fov })
    }
}

/// A camera over a pixel grid. Pixel coordinates: x to the right, y *down*, pixel (0, 0) covers [0,
/// 1]².
#[derive(Clone, Copy, Debug)]
pub(super) struct View {
    /// The eye.
    pub eye: DVec3,
    /// Unit vector to the right of the picture.
    pub right: DVec3,
    /// Unit vector to its top.
    pub up: DVec3,
    /// Unit vector into it.
    pub forward: DVec3,
    /// Pixels per unit of x/z.
    pub focal: f64,
    /// Middle of the picture, in pixels.
    pub centre: DVec2,
    /// Least depth that is drawn, in metres.
    pub near: f64,
}

impl View {
    /// World to view axes: x right, y up, z depth.
    pub(super) fn to_view(self, p: DVec3) -> DVec3 {
        let q = p - self.eye;
        DVec3::new(q.dot(self.right), q.dot(self.up), q.dot(self.forward))
    }

    /// Pixel coordinates of a point in view axes; its depth must be positive.
    pub(super) fn to_pixel(self, q: DVec3) -> DVec2 {
        self.centre + DVec2::new(q.x, -q.y) * (self.focal / q.z)
    }

    /// Direction in view axes, of depth 1, seen at a place in pixel coordinates.
    pub(super) fn ray(&self, pixel: DVec2) -> DVec3 {
        let q = (pixel - self.centre) / self.focal;
        DVec3::new(q.x, -q.y, 1.0)
    }

    /// A direction in view axes turned to the world.
    pub(super) fn to_world(self, q: DVec3) -> DVec3 {
        q.x * self.right + q.y * self.up + q.z * self.forward
    }
}

/// Right, up and forward for a direction of view; y is up, or −z when looking along y.
fn axes(forward: DVec3) -> [DVec3; 3] {
    let forward = forward.normalize_or(-DVec3::Z);
    let right = forward.cross(DVec3::Y);
    // below a thousandth of a radian from the vertical "up" means nothing to the eye
    let right = if right.length() > 1e-3 {
        right.normalize()
    } else {
        forward.cross(-DVec3::Z).normalize()
    };
    [right, right.cross(forward), forward]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn corners() -> Vec<DVec3> {
        (0..8)
            .map(|k| {
                let bit = |b: u32| f64::from(k >> b & 1u32);
                DVec3::new(3.0 * bit(0) - 1.0, bit(1), 0.5 * bit(2) + 7.0)
            })
            .collect()
    }

    #[test]
    fn a_point_projected_and_seen_again_is_where_it_was() {
        let camera = Camera {
            eye: DVec3::new(2.0, 1.5, 3.0),
            target: DVec3::new(0.1, 0.2, -0.3),
            fov: 40.0,
        };
        let view = camera.view(640, 480);
        for p in corners().into_iter().map(|p| p * 0.1) {
            let q = view.to_view(p);
            let back = view.eye + view.to_world(view.ray(view.to_pixel(q)) * q.z);
            assert!(
                back.distance(p) < 1e-14 * camera.distance(),
                "{p} came back as {back}"
            );
        }
        let middle = view.to_pixel(view.to_view(camera.target));
        assert!(
            middle.distance(DVec2::new(320.0, 240.0)) < 1e-9,
            "the target is in the middle"
        );
    }

    #[test]
    fn framing_has_every_point_inside_the_margin_and_one_on_it() {
        let framing = Framing::default();
        for (width, height) in [(960, 720), (300, 900)] {
            let camera = framing
                .of(corners(), f64::from(width) / f64::from(height))
                .unwrap();
            let view = camera.view(width, height);
            let mut widest = 0.0f64;
            for p in corners() {
                let place = (view.to_pixel(view.to_view(p)) - view.centre) / view.centre;
                widest = widest.max(place.abs().max_element());
            }
            assert!(
                (widest - (1.0 - framing.margin)).abs() < 1e-9,
                "reach {widest}"
            );
        }
        assert_eq!(framing.of([], 1.0), None);
        assert!(framing.of([DVec3::ONE], 1.0).unwrap().distance() > 0.0);
    }

    #[test]
    fn looking_straight_down_keeps_a_picture_with_sides() {
        let [right, up, forward] = axes(-DVec3::Y);
        assert!(right.is_normalized() && up.is_normalized() && right.dot(up).abs() < 1e-15);
        assert_eq!(forward, -DVec3::Y);
    }

    #[test]
    fn a_camera_is_read_from_seven_numbers() {
        let camera: Camera = "2,1.5,3, 0,0.3,0, 30".parse().unwrap();
        assert_eq!(camera.eye, DVec3::new(2.0, 1.5, 3.0));
        assert_eq!((camera.target.y, camera.fov), (0.3, 30.0));
        for bad in [
            "1,2,3",
            "1,2,3,1,2,3,30",
            "0,0,0,1,1,1,500",
            "a,0,0,1,1,1,30",
            "nan,0,0,1,1,1,30",
        ] {
            assert!(bad.parse::<Camera>().is_err(), "{bad}");
        }
    }
}

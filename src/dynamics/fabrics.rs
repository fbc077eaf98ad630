//! Named fabrics, fabrics in scene files, fabrics from measurements.
//!
//! What a fabric looks like is decided by its *bending length* `c = (B / ρ g)^⅓` (Peirce 1930,
//! [`super::bend`]): the overhang at which a strip begins to droop. The presets are round numbers
//! for a typical cloth of the name, not a measured bolt:
//!
//! | name | kg/m² | c, cm | what it stands for |
//! |---|---|---|---|
//! | cotton | 0.20 | 1.7 | plain weave, sheets and shirts; the default |
//! | silk | 0.06 | 1.1 | light satin |
//! | wool | 0.25 | 1.8 | worsted suiting |
//! | linen | 0.16 | 2.7 | crisp |
//! | denim | 0.40 | 2.8 | raw, 11 to 12 oz |
//! | jersey | 0.18 | 1.0 | cotton knit; stretches |
//! | nylon | 0.05 | 1.9 | ripstop; flags, kites |
//! | leather | 0.50 | 3.4 | sheep, 0.8 mm |
//! | paper | 0.08 | 8.2 | copy paper |
//!
//! Sources, as far as they were open to us. Denim: bending rigidity 0.14 to 0.23 gf·cm²/cm (1.4 to
//! 2.3e-5 N·m), shear stiffness 1.5 to 3.4 gf/cm/degree (84 to 191 N/m), 4.7 to 5.7 % extension at
//! 500 gf/cm (about 9 kN/m) for soft washed cloths \[JTX16\]; raw denim is several times stiffer in
//! bending (the 11 oz denim of \[WOR11\]: 2 to 12e-5 N·m), which is what one expects of the name.
//! Leather: garment sheepskin is 0.64 to 0.96 mm thick and keeps a drape coefficient of 47 to 70 %
//! \[MCY21\], which takes a bending length of 3 to 4 cm. Paper: `B = E t³/12` with E = 5e9 Pa and t
//! = 0.1 mm. The others follow from their weight and an estimated bending length, shear in
//! proportion. Unit: 1 gf·cm²/cm = 9.807e-5 N·m, 1 gf/cm/degree = 56.2 N/m.
//!
//! Stretch stiffness is *below* the measured values on purpose, by about ten: a cloth of 1 kN/m
//! stretches by 0.2 % under a metre of its own weight, which nobody sees, while ten times the
//! stiffness asks for three times as many Newmark loops.

use std::path::PathBuf;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::material::Fabric;

/// Names of the built-in fabrics.
pub const FABRICS: [&str; 9] = [
    "cotton", "silk", "wool", "linen", "denim", "jersey", "nylon", "leather", "paper",
];

/// Why a fabric cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FabricError {
    /// No preset has this name.
    #[error("unknown fabric '{name}'; there are {}", FABRICS.join(", "))]
    Unknown {
        /// The name asked for.
        name: String,
    },
    /// Its numbers are in a file that was not read.
    #[error("fabric: `file` is read when a scene is loaded from a file")]
    NotRead,
    /// A value makes no physical sense.
    #[error("fabric: {key} is {value}, but must be {must}")]
    Value {
        /// Which value.
        key: &'static str,
        /// What it is.
        value: f64,
        /// What it should be.
        must: &'static str,
    },
    /// The measurement file is not what it should be.
    #[error(
        "fabric file: {0}; expected density, stretching (6 rows of 4) and bending (3 rows of 5)"
    )]
    File(String),
}

impl Fabric {
    /// A built-in fabric.
    pub fn named(name: &str) -> Result<Self, FabricError> {
        let cotton = Self::default();
        let isotropic = |stretch: f64, poisson: f64| Self {
            stretch: [stretch; 2],
            coupling: poisson * stretch,
            shear: 0.5 * (1.0 - poisson) * stretch,
            ..Self::default()
        };
        Ok(match name {
            "cotton" => cotton,
            "silk" => Self {
                density: 0.06,
                stretch: [800.0, 800.0],
                shear: 15.0,
                bend: [0.9e-6, 0.7e-6, 0.7e-6],
                ..cotton
            },
            "wool" => Self {
                density: 0.25,
                stretch: [1000.0, 800.0],
                shear: 30.0,
                bend: [1.5e-5, 1.2e-5, 1.1e-5],
                ..cotton
            },
            "linen" => Self {
                density: 0.16,
                stretch: [1500.0, 1500.0],
                shear: 60.0,
                bend: [3.2e-5, 2.4e-5, 2.8e-5],
                ..cotton
            },
            "denim" => Self {
                density: 0.4,
                stretch: [3000.0, 2000.0],
                shear: 120.0,
                bend: [9.0e-5, 7.0e-5, 6.0e-5],
                ..cotton
            },
            "jersey" => Self {
                density: 0.18,
                stretch: [100.0, 60.0],
                shear: 20.0,
                bend: [2.0e-6, 1.5e-6, 1.5e-6],
                ..cotton
            },
            "nylon" => Self {
                density: 0.05,
                stretch: [1500.0, 1500.0],
                shear: 100.0,
                bend: [3.5e-6, 3.0e-6, 3.5e-6],
                ..cotton
            },
            "leather" => Self {
                density: 0.5,
                bend: [2.0e-4; 3],
                ..isotropic(2000.0, 0.3)
            },
            "paper" => Self {
                density: 0.08,
                bend: [4.3e-4, 3.5e-4, 2.8e-4],
                ..isotropic(2.0e4, 0.3)
            },
            _ => return Err(FabricError::Unknown { name: name.into() }),
        })
    }

    /// A fabric from a file in the form of the measured materials of `ARCSim` \[WOR11\].
    ///
    /// `density` is in kg/m²; `stretching` holds rows of stiffnesses [c₁₁, c₁₂, c₂₂, c₃₃] in N/m at
    /// several strains; `bending` holds rigidities in N·m for the warp, bias and weft directions at
    /// several curvatures. Lines may end in `//` comments. Our membrane is linear: each stiffness
    /// is the median over the rows (measured tables have outliers, also negative ones), each
    /// rigidity the median over the curvatures. c₃₃ acts on the tensor shear, half the angle, and
    /// is counted in both off-diagonal places: the shear modulus is c₃₃/2. A coupling that would
    /// let the sheet gain energy by stretching is reduced to 0.9 of the bound.
    pub fn from_arcsim(json: &str) -> Result<Self, FabricError> {
        #[derive(Deserialize)]
        struct Measured {
            density: f64,
            stretching: Vec<[f64; 4]>,
            bending: [Vec<f64>; 3],
        }
        let text: Vec<&str> = json
            .lines()
            .map(|line| line.split_once("//").map_or(line, |(text, _)| text))
            .collect();
        let measured: Measured = serde_json::from_str(&text.join("\n"))
            .map_err(|error| FabricError::File(error.to_string()))?;
        if measured.stretching.is_empty() || measured.bending.iter().any(Vec::is_empty) {
            return Err(FabricError::File("an empty table".into()));
        }
        let column = |k: usize| median(measured.stretching.iter().map(|row| row[k]).collect());
        let (c11, c12, c22, c33) = (column(0), column(1), column(2), column(3));
        let bound = 0.9 * (c11.max(0.0) * c22.max(0.0)).sqrt();
        let fabric = Self {
            density: measured.density,
            stretch: [c11, c22],
            coupling: c12.clamp(-bound, bound),
            shear: 0.5 * c33,
            bend: measured.bending.map(median),
            ..Self::default()
        };
        fabric.check()?;
        Ok(fabric)
    }

    /// Checks that the values make physical sense.
    pub fn check(&self) -> Result<(), FabricError> {
        let not_negative = |key: &'static str, value: f64| {
            if value >= 0.0 && value.is_finite() {
                return Ok(());
            }
            let must = "finite and not negative";
            Err(FabricError::Value { key, value, must })
        };
        if !(self.density > 0.0 && self.density.is_finite()) {
            return Err(FabricError::Value {
                key: "density",
                value: self.density,
                must: "finite and above 0",
            });
        }
        // far beyond anything that is woven: a steel sheet of 1 mm has 2e8 N/m, 20 N·m and 8 kg/m²
        let at_most = |key: &'static str, value: f64, limit: f64, must: &'static str| {
            if value <= limit {
                return Ok(());
            }
            Err(FabricError::Value { key, value, must })
        };
        if !(1e-6..=1e6).contains(&self.density) {
            return Err(FabricError::Value {
                key: "density",
                value: self.density,
                must: "from 1e-6 to 1e6 kg/m² (cotton: 0.2)",
            });
        }
        for value in self.stretch.into_iter().filter(|v| v.is_finite()) {
            at_most("stretch", value, 1e10, "at most 1e10 N/m (cotton: 1000)")?;
        }
        for value in self.bend.into_iter().filter(|v| v.is_finite()) {
            at_most("bend", value, 1e5, "at most 1e5 N·m (cotton: 1e-5)")?;
        }
        if self.shear.is_finite() {
            at_most("shear", self.shear, 1e10, "at most 1e10 N/m (cotton: 50)")?;
        }
        for (key, value) in [
            ("stretch_damping", self.stretch_damping),
            ("bend_damping", self.bend_damping),
        ] {
            if value.is_finite() {
                at_most(key, value, 1e3, "at most 1e3 s (cotton: 0.001 and 0.01)")?;
            }
        }
        for value in self.stretch {
            not_negative("stretch", value)?;
        }
        for value in self.bend {
            not_negative("bend", value)?;
        }
        not_negative("shear", self.shear)?;
        not_negative("stretch_damping", self.stretch_damping)?;
        not_negative("bend_damping", self.bend_damping)?;
        let [warp, weft] = self.stretch;
        if self.coupling.is_nan() || self.coupling * self.coupling > warp * weft {
            return Err(FabricError::Value {
                key: "coupling",
                value: self.coupling,
                must: "at most √(warp · weft) in magnitude",
            });
        }
        if self.strain_limit.is_nan() || self.strain_limit <= 0.0 {
            return Err(FabricError::Value {
                key: "strain_limit",
                value: self.strain_limit,
                must: "above 0 (inf for none)",
            });
        }
        Ok(())
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let n = values.len();
    0.5 * (values[(n - 1) / 2] + values[n / 2])
}

/// The table form: a preset, and what differs from it.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Table {
    like: Option<String>,
    /// A measured fabric in the JSON form of `ARCSim`, relative to the scene file, in place of `like`; its numbers are read when the scene is
    /// loaded, so that a result folder holds them.
    file: Option<PathBuf>,
    density: Option<f64>,
    stretch: Option<[f64; 2]>,
    coupling: Option<f64>,
    shear: Option<f64>,
    bend: Option<[f64; 3]>,
    stretch_damping: Option<f64>,
    bend_damping: Option<f64>,
    strain_limit: Option<f64>,
}

impl Table {
    fn fabric(self) -> Result<Fabric, FabricError> {
        if self.file.is_some() {
            return Err(FabricError::NotRead);
        }
        let base = match &self.like {
            Some(name) => Fabric::named(name)?,
            None => Fabric::default(),
        };
        let fabric = Fabric {
            density: self.density.unwrap_or(base.density),
            stretch: self.stretch.unwrap_or(base.stretch),
            coupling: self.coupling.unwrap_or(base.coupling),
            shear: self.shear.unwrap_or(base.shear),
            bend: self.bend.unwrap_or(base.bend),
            stretch_damping: self.stretch_damping.unwrap_or(base.stretch_damping),
            bend_damping: self.bend_damping.unwrap_or(base.bend_damping),
            strain_limit: self.strain_limit.unwrap_or(base.strain_limit),
        };
        fabric.check()?;
        Ok(fabric)
    }
}

/// `fabric = "denim"` or `fabric = { like = "denim", density = 0.35 }`; of `{ file = "measured.json" }` the scene makes numbers first.
impl<'de> Deserialize<'de> for Fabric {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NameOrTable;
        impl<'de> Visitor<'de> for NameOrTable {
            type Value = Fabric;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("the name of a fabric or a table")
            }

            fn visit_str<E: Error>(self, name: &str) -> Result<Fabric, E> {
                Fabric::named(name).map_err(E::custom)
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Fabric, A::Error> {
                let table = Table::deserialize(MapAccessDeserializer::new(map))?;
                table.fabric().map_err(A::Error::custom)
            }
        }
        deserializer.deserialize_any(NameOrTable)
    }
}

/// A name or a table, for editors.
impl JsonSchema for Fabric {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Fabric".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let table = generator.subschema_for::<Table>();
        json_schema!({
            "description": "A named fabric, or a table; `like` or `file` sets the keys that are not given.",
            "anyOf": [{ "type": "string", "enum": FABRICS }, table],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize)]
    struct Scene {
        fabric: Fabric,
    }

    fn read(text: &str) -> Result<Fabric, String> {
        let scene: Result<Scene, _> = toml::from_str(text);
        scene.map(|s| s.fabric).map_err(|error| error.to_string())
    }

    #[test]
    fn every_preset_is_sound_and_has_the_bending_length_of_the_table() {
        let table = [1.7, 1.1, 1.8, 2.7, 2.8, 1.0, 1.9, 3.4, 8.2];
        for (name, expected) in FABRICS.into_iter().zip(table) {
            let fabric = Fabric::named(name).unwrap();
            fabric.check().unwrap();
            let rigidity = fabric.bend[0];
            let length = 100.0 * libm::cbrt(rigidity / (fabric.density * 9.81));
            assert!((length - expected).abs() < 0.06, "{name}: {length} cm");
        }
    }

    #[test]
    fn a_fabric_is_a_name_or_a_table() {
        assert_eq!(
            read("fabric = 'denim'").unwrap(),
            Fabric::named("denim").unwrap()
        );
        let lighter = read("fabric = { like = 'denim', density = 0.3 }").unwrap();
        assert_eq!(lighter.density, 0.3);
        assert_eq!(lighter.bend, Fabric::named("denim").unwrap().bend);
        assert_eq!(read("fabric = {}").unwrap(), Fabric::default());
        let unlimited = read("fabric = { strain_limit = inf }").unwrap();
        assert_eq!(unlimited.strain_limit, f64::INFINITY);
    }

    #[test]
    fn a_written_fabric_reads_back() {
        for name in FABRICS {
            let fabric = Fabric::named(name).unwrap();
            let text = toml::to_string(&fabric).unwrap();
            assert_eq!(toml::from_str::<Fabric>(&text).unwrap(), fabric);
        }
    }

    #[test]
    fn mistakes_are_named() {
        assert!(
            read("fabric = 'tweed'")
                .unwrap_err()
                .contains("unknown fabric 'tweed'")
        );
        assert!(
            read("fabric = { densty = 1.0 }")
                .unwrap_err()
                .contains("densty")
        );
        let heavy = read("fabric = { density = -1.0 }").unwrap_err();
        assert!(heavy.contains("density is -1"), "{heavy}");
        let coupled = read("fabric = { coupling = 2000.0 }").unwrap_err();
        assert!(coupled.contains("coupling is 2000"), "{coupled}");
    }

    /// Made up, in the form of the measured ones.
    const MEASURED: &str = r#"// a comment
    {
        "density": 0.15,   // kg/m2
        "stretching": [
            [100, 10, 200, 40],
            [110, 11, 210, 44],
            [120, 12, 220, -90],
            [130, 13, 230, 48],
            [140, 14, 240, 52],
            [150, 15, 250, 46]
        ],
        "bending": [
            [10e-6, 11e-6, 12e-6, 13e-6, 14e-6],
            [5e-6, 6e-6, 7e-6, 8e-6, 9e-6],
            [20e-6, 21e-6, 22e-6, 23e-6, 24e-6]
        ]
    }"#;

    #[test]
    fn measured_tables_become_their_medians() {
        let fabric = Fabric::from_arcsim(MEASURED).unwrap();
        assert_eq!(fabric.density, 0.15);
        assert_eq!(fabric.stretch, [125.0, 225.0]);
        assert_eq!(fabric.coupling, 12.5);
        assert_eq!(fabric.shear, 22.5);
        assert_eq!(fabric.bend, [12e-6, 7e-6, 22e-6]);
        let coupled = MEASURED
            .replace(", 12, 220", ", 9e3, 220")
            .replace(", 13, 230", ", 9e3, 230");
        let coupled = coupled
            .replace(", 14, 240", ", 9e3, 240")
            .replace(", 15, 250", ", 9e3, 250");
        let bound = 0.9 * (125.0f64 * 225.0).sqrt();
        assert_eq!(Fabric::from_arcsim(&coupled).unwrap().coupling, bound);
        let error = Fabric::from_arcsim("{}").unwrap_err().to_string();
        assert!(error.contains("density"), "{error}");
        assert!(Fabric::from_arcsim(&MEASURED.replace("0.15", "0")).is_err());
    }
}

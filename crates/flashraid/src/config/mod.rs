//! What users write, and how it becomes the plain integers of the model.
//!
//! ```text
//!  file ─▶ tree ┐
//!  inherits ────┼─▶ written ─▶ over its presets ─▶ schema ─▶ Config ─▶ resolve ─▶ Scenario
//!  --set ───────┘   (compose)                    (validate)  (serde)
//! ```
//!
//! Every value knows where it was written, so everything that is wrong is reported at once and with its place: see [`Problems`].
//! After `resolve` nothing a user typed can fail any more, except for files that are read while the simulation runs.

mod array;
mod cache;
mod compose;
mod coordination;
mod device;
mod gc;
mod presets;
mod problems;
mod quantities;
mod read;
mod report;
mod resolve;
mod resolve_cache;
mod resolve_coordination;
mod resolve_failure;
mod resolve_front;
mod resolve_host_port;
mod resolve_superblock;
mod superblock;
mod tree;
mod validate;
mod workload;
mod workload_spec;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use flashraid_driver::Limit;
use flashraid_model::array::{ArrayParams, WarmUp};
use flashraid_model::metrics::MetricsParams;
use flashraid_workload::WorkloadSpec;
use flashraid_workload::files::{is_wrong_path, read_at_most};

pub use array::{ArrayConfig, Level};
pub use cache::{CacheConfig, CacheMemory};
pub use coordination::{Answer, CoordinationConfig, ForceUntil, LatencyConfig, NotifyConfig, ProtocolConfig};
pub use device::{
    Allocation, ChannelConfig, Duplex, GeometryConfig, Link, LinkRate, LinkTable, NamedSummaryPage, PlaneChoice, ScaleBy, SsdConfig, Start,
    SummaryPage, TimingConfig, Transfer, WarmUpConfig, WarmUpPattern, WriteZeroes,
};
pub use flashraid_model::coordination::SchemePolicy;
pub use flashraid_model::ssd::VictimPolicy;
pub use flashraid_workload::units::{StartThreshold, StopThreshold};
pub use gc::{Blocking, GcConfig, Idle, Pool, Preemption, Procedure, Trigger};
pub use presets::{Preset, PresetKind, presets};
pub use problems::{Place, Problem, Problems, SourceText};
pub use read::ReadConfig;
pub use report::{ReportConfig, TimelineConfig};
pub use resolve::address_space;
pub use superblock::{BufferConfig, FirmwareConfig, Isolation, PlacementHandlesConfig, PlaneReads, SlcConfig, SlcMode, SuperblockConfig};
pub use workload::*;
pub(crate) use workload_spec::changed_workload_keys;

/// A configuration, as users write it and, with every preset filled in, as reports show it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(transform = device::filled_in_by_preset)]
#[non_exhaustive]
pub struct Config {
    /// Another configuration to build on, relative to this file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inherits: Option<String>,
    /// Every random choice follows from it.
    #[serde(default = "first_seed")]
    #[schemars(range(min = 0, max = 9_223_372_036_854_775_807_u64))]
    pub seed: u64,
    /// The array.
    #[serde(default)]
    pub array: ArrayConfig,
    /// Its members.
    pub ssd: SsdConfig,
    /// How their garbage collection is coordinated.
    #[serde(default)]
    pub coordination: CoordinationConfig,
    /// How reads go to the members.
    #[serde(default, skip_serializing_if = "ReadConfig::is_default")]
    pub read: ReadConfig,
    /// The write cache.
    #[serde(default)]
    pub cache: CacheConfig,
    /// Where requests come from.
    #[serde(default)]
    pub workload: WorkloadConfig,
    /// What is measured.
    #[serde(default)]
    pub report: ReportConfig,
}

fn first_seed() -> u64 {
    1
}

/// A configuration that has been checked: everything a run needs.
#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    /// The configuration with every preset and default filled in, for reports.
    pub config: Config,
    /// SHA-256 of the configuration without its seed, as 64 hexadecimal digits: equal for equal experiments.
    pub hash: String,
    /// Every random choice follows from it.
    pub seed: u64,
    /// The array and its members.
    pub array: ArrayParams,
    /// How the members are brought to a working state.
    pub warm_up: WarmUp,
    /// Files that keep warm states.
    pub warm_state: WarmState,
    /// Where requests come from.
    pub workload: WorkloadSpec,
    /// When the run ends.
    pub limit: Limit,
    /// What is measured.
    pub metrics: MetricsParams,
    /// Erases that a block endures.
    pub endurance_erases: u32,
    /// What is allowed, but probably not meant.
    pub warnings: Vec<String>,
}

impl Scenario {
    /// The same experiment with other random choices: as if the configuration had this seed.
    #[must_use]
    pub fn with_seed(&self, seed: u64) -> Scenario {
        let mut scenario = self.clone();
        scenario.seed = seed;
        scenario.config.seed = seed;
        scenario
    }
}

/// Files that keep warm states.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WarmState {
    /// Where to write the state after warming up.
    pub save: Option<PathBuf>,
    /// What to read instead of warming up.
    pub load: Option<PathBuf>,
}

/// Reads a configuration file. `sets` are pairs of a key and a value in the order of the command line; `seed` replaces the file's.
///
/// # Errors
/// Everything that is wrong with it.
pub fn load(path: &Path, sets: &[(String, String)], seed: Option<u64>) -> Result<Scenario, Problems> {
    from_str(&path.display().to_string(), &read(path)?, sets, seed)
}

/// The text of a configuration file.
pub(crate) fn read(path: &Path) -> Result<String, Problems> {
    read_text(path).map_err(|error| {
        let name = path.display();
        let message = match error.kind() {
            std::io::ErrorKind::FileTooLarge => format!("{name} is larger than 16 MiB, and no configuration is"),
            std::io::ErrorKind::InvalidData => format!("{name} is not a text file: a configuration is TOML in UTF-8"),
            _ => format!("{name} can't be read: {error}"),
        };
        let is_content = matches!(error.kind(), std::io::ErrorKind::InvalidData | std::io::ErrorKind::FileTooLarge);
        let unreadable = !is_content && !is_wrong_path(&error);
        Problems { sources: Vec::new(), list: vec![Problem { key: String::new(), message, help: None, place: None }], unreadable }
    })
}

/// Reads a text of a bounded length.
fn read_text(path: &Path) -> std::io::Result<String> {
    /// Bytes of a configuration at most.
    const TEXT_MAX: u64 = 16 << 20;
    String::from_utf8(read_at_most(path, TEXT_MAX)?).map_err(|_| std::io::ErrorKind::InvalidData.into())
}

/// Refuses what is not TOML.
pub(crate) fn check_syntax(name: &str, text: &str) -> Result<(), Problems> {
    let mut composer = compose::Composer::read(name, text, &[]);
    match composer.has_syntax_errors {
        false => Ok(()),
        true => {
            composer.problems.sort();
            Err(composer.problems)
        }
    }
}

/// Refuses a key and a value that can't be told apart from others.
pub(crate) fn check_setting(key: &str, value: &str) -> Result<(), Problems> {
    let source = SourceText { name: "--set".to_owned(), text: format!("{key}={value}") };
    let mut problems = Problems { sources: vec![source], ..Problems::default() };
    match tree::Tree::parse_set(0, key, value, &mut problems.list) {
        Some(_) => Ok(()),
        None => {
            problems.sort();
            Err(problems)
        }
    }
}

/// As [`load`], from the text of a file called `name`; relative paths in it are relative to the folder of `name`.
///
/// # Errors
/// Everything that is wrong with it.
pub fn from_str(name: &str, text: &str, sets: &[(String, String)], seed: Option<u64>) -> Result<Scenario, Problems> {
    let mut composer = compose::Composer::read(name, text, sets);
    if composer.has_syntax_errors {
        // The values around a broken line are guesses, so nothing is said about them.
        composer.problems.sort();
        return Err(composer.problems);
    }
    let mut tree = composer.with_presets();
    let wrong = validate::validate(&tree, &mut composer.problems.list);
    if !wrong.is_empty() {
        // What does not fit is taken out, so that the rest can be checked, too.
        wrong.iter().for_each(|path| composer.written.remove_path(path));
        let found = composer.problems.list.len();
        tree = composer.with_presets();
        composer.problems.list.truncate(found);
    }
    let scenario = match serde_json::from_value::<Config>(tree.to_json()) {
        Ok(mut config) => {
            config.seed = seed.unwrap_or(config.seed);
            resolve::resolve(config, &tree, &composer.written, &mut composer.problems.list)
        }
        // Whatever is still wrong has been reported above: the schema is at least as strict as the types.
        Err(error) if composer.problems.list.is_empty() => {
            composer.problems.list.push(Problem { key: String::new(), message: error.to_string(), help: None, place: None });
            None
        }
        Err(_) => None,
    };
    match scenario {
        Some(scenario) if composer.problems.list.is_empty() => Ok(scenario),
        _ => {
            composer.problems.sort();
            Err(composer.problems)
        }
    }
}

/// The JSON Schema of a configuration.
pub fn schema() -> serde_json::Value {
    let generator = SchemaSettings::draft2020_12().into_generator();
    let mut schema = generator.into_root_schema_for::<Config>();
    schema.insert("title".into(), "flashraid configuration".into());
    let mut schema = schema.to_value();
    bound_integers(&mut schema);
    schema
}

/// Says of every whole number how large it can be, which schemars does not.
fn bound_integers(schema: &mut serde_json::Value) {
    match schema {
        serde_json::Value::Object(entries) => {
            let max = match entries.get("format").and_then(serde_json::Value::as_str) {
                Some("uint8") => Some(u64::from(u8::MAX)),
                Some("uint16") => Some(u64::from(u16::MAX)),
                Some("uint32") => Some(u64::from(u32::MAX)),
                // TOML's largest.
                Some("uint64") => Some(i64::MAX as u64),
                _ => None,
            };
            if let Some(max) = max
                && !entries.contains_key("maximum")
            {
                entries.insert("maximum".to_owned(), max.into());
            }
            entries.values_mut().for_each(bound_integers);
        }
        serde_json::Value::Array(items) => items.iter_mut().for_each(bound_integers),
        _ => {}
    }
}

/// The quantities that configurations are written in: the name that the schema uses as `format`, and what is allowed, as the end of the
/// sentence "this must be …".
pub fn quantities() -> impl Iterator<Item = (&'static str, &'static str)> {
    quantities::CHECKERS.iter().map(|checker| (checker.name, checker.allowed))
}

/// SHA-256 of the canonical JSON (keys in order) of a configuration without its seed.
fn hash_of(config: &Config) -> String {
    let mut json = serde_json::to_value(config).expect("a configuration is representable in JSON");
    if let Some(table) = json.as_object_mut() {
        table.shift_remove("seed");
    }
    json.sort_all_objects();
    let digest = Sha256::digest(json.to_string().as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

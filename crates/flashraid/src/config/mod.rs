//! Configurations as users write them, and their way to the plain integers of the model.
//!
//! ```text
//!  file ─▶ tree ┐
//!  inherits ────┼─▶ written ─▶ over its presets ─▶ schema ─▶ Config ─▶ resolve ─▶ Scenario
//!  --set ───────┘   (compose)                    (validate)  (serde)
//! ```
//!
//! Every value knows its place in the text, so that all problems are reported at once, each with its place: see [`Problems`]. After
//! `resolve`, no input of the user can fail, except for files that are read while the simulation runs.

mod array;
mod cache;
mod compose;
mod coordination;
mod device;
mod gc;
mod longer;
mod misfits;
mod policy_table;
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
mod resolve_slow;
mod resolve_superblock;
pub(crate) mod schema;
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

use flashraid_driver::RunLimit;
use flashraid_model::array::{ArrayParams, ParityHandle, WarmUp, WarmUpPattern};
use flashraid_model::coordination::ZeroTimeCollection;
use flashraid_model::metrics::MetricsParams;
use flashraid_workload::files::{is_wrong_path, read_file_with_size_limit};
use flashraid_workload::{SourceSpec, WorkloadSpec};

pub use array::ArrayConfig;
pub use cache::{CacheConfig, CommonCacheKeys};
pub use coordination::CoordinationConfig;
pub use device::{
    ControllerDiePath, FillBeforeWarmUp, GeometryConfig, HalfDuplexLinkBandwidthLimit, HostLinkBandwidth, LinkTable, ScaledDriveDimension,
    SsdConfig, WarmUpConfig, WriteZeroes,
};
pub use flashraid_model::array::{InitialSpareState, RaidLevel};
pub use flashraid_model::cache::{CapacityUnit, RecencyBit};
pub use flashraid_model::coordination::{
    ControllerAnswer, CoordinationParams, CoordinationPolicy, ForcedCollectionAmount, JointCollectionRequestTiming, MessageLatency,
    RequestsDuringCycle,
};
pub use flashraid_model::flash::{DieNumbering, DieToChannelAssignment, Geometry, Timing};
pub use flashraid_model::ssd::{
    BlockPoolScope, BlockSummaryPage, CollectionBlockingScope, ControllerCores, DieChoiceForWrites, Duplex, GcAlgorithm, HandleIsolation,
    HostRequestKindsThatMayStartGc, OperationSuspension, PlacementHandles, PlaneChoice, PlaneReadMode, PoolWrites, SlcTimes,
    SubmissionQueues, SummaryPageTimeSplit, Suspension, VictimPolicy, WriteBuffer,
};
pub use flashraid_workload::units::{GcStartThreshold, GcStopThreshold};
pub use gc::{GcConfig, IdleTimeBeforeCollection, Preemption};
pub use policy_table::{PolicyTable, TablePolicy};
pub use presets::{Preset, PresetKind, all_presets};
pub use problems::{Problem, Problems, SourceText, TextPlace};
pub use read::HostReadConfig;
pub use report::{EventTimelineConfig, ReportConfig};
pub use resolve::workload_address_space;
pub use superblock::{SlcShareBase, SlcSuperblocksConfig, SuperblockConfig, WriteBufferConfig};
pub use workload::*;
pub(crate) use workload_spec::changed_workload_keys;

/// A configuration as users write it. Reports show it with every preset filled in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(transform = flashraid_model::flash::filled_in_by_preset)]
#[non_exhaustive]
pub struct Config {
    /// Another configuration to build on, relative to this file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inherits: Option<String>,
    /// Seed from which every random choice follows.
    #[serde(default = "first_seed")]
    #[schemars(range(min = 0, max = 9_223_372_036_854_775_807_u64))]
    pub seed: u64,
    /// Settings of the array.
    #[serde(default)]
    pub array: ArrayConfig,
    /// Settings of each member SSD.
    pub ssd: SsdConfig,
    /// Coordination of the members' garbage collection.
    #[serde(default)]
    pub coordination: CoordinationConfig,
    /// Settings of the host's reads.
    #[serde(default, skip_serializing_if = "read::is_default")]
    pub read: HostReadConfig,
    /// Settings of the write cache.
    #[serde(default)]
    pub cache: CacheConfig,
    /// Settings of the workload: the requests of the host.
    #[serde(default)]
    pub workload: WorkloadConfig,
    /// Settings of the measurements and the report.
    #[serde(default)]
    pub report: ReportConfig,
}

fn first_seed() -> u64 {
    1
}

/// A checked configuration with everything that a run needs.
#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    /// The configuration with every preset and default filled in, for reports.
    pub config: Config,
    /// SHA-256 of the configuration without its seed, as 64 hexadecimal digits. Two runs of the same experiment have the same hash.
    pub config_hash: String,
    /// Seed from which every random choice follows.
    pub seed: u64,
    /// Parameters of the array and its members.
    pub array: ArrayParams,
    /// Settings of the members' warm-up.
    pub warm_up: WarmUp,
    /// Files from which a warm state is loaded, and to which it is saved.
    pub warm_state: WarmStateFiles,
    /// Source of the requests (a generator, a trace or a mix), and the changes made to them, such as another rate or other sizes.
    pub workload: WorkloadSpec,
    /// Limits at which the run ends.
    pub run_limit: RunLimit,
    /// Settings of the measurements.
    pub metrics: MetricsParams,
    /// Number of erases that a block endures.
    pub endurance_erases: u32,
    /// Warnings about settings that are allowed but probably not intended.
    pub warnings: Vec<String>,
}

impl Scenario {
    /// Returns the same experiment with other random choices, as if the configuration had the given seed.
    #[must_use]
    pub fn with_seed(&self, seed: u64) -> Scenario {
        let mut scenario = self.clone();
        scenario.seed = seed;
        scenario.config.seed = seed;
        scenario
    }

    /// Returns true if the contents of the drives at the start are computed where they are looked at. These are drives with superblocks
    /// of which nothing is overwritten before the run.
    pub(crate) fn is_start_computed(&self) -> bool {
        let WarmUp { overwrites_per_page, pattern } = self.warm_up;
        let is_written = pattern != WarmUpPattern::SteadyStateWithoutWrites && overwrites_per_page > 0.0;
        self.array.ssd.superblock.is_some() && !is_written && self.warm_state.load_from.is_none()
    }

    /// Returns true if units may have a placement handle other than 0 before the run (rules 221 and 280).
    pub(crate) fn have_units_owners(&self) -> bool {
        let has_handles = self.array.ssd.superblock.as_ref().is_some_and(|superblock| superblock.placement_handles.count > 1);
        let by_stream = self.array.cache.is_none() && matches!(self.workload.source, SourceSpec::Mix(_));
        has_handles && (by_stream || self.array.parity_handle != ParityHandle::OfData)
    }

    /// Returns the same experiment with the coordination scheme `ideal`, as if the configuration had it. Its warnings are those of the
    /// scheme that it has now.
    #[must_use]
    pub fn with_ideal_coordination(&self) -> Scenario {
        let mut scenario = self.clone();
        let scheme = CoordinationPolicy::from(ZeroTimeCollection::default());
        scenario.array.ssd.gc.collection_takes_no_time = scheme.collection_takes_no_time();
        scenario.array.coordination = None;
        scenario.config.coordination.policy = scheme;
        scenario.config_hash = hash_of(&scenario.config);
        scenario
    }

    /// Returns the same experiment with a run that is `times` as long, as if the configuration said so. Generated requests go on, and
    /// traces repeat.
    ///
    /// # Errors
    /// Returns the reason if the workload cannot go on.
    pub fn longer(&self, times: u64) -> Result<Scenario, String> {
        let mut scenario = self.clone();
        scenario.config.workload = longer::workload(&self.config.workload, times)?;
        let workload = &scenario.config.workload;
        scenario.run_limit = RunLimit { max_requests: workload.requests, max_duration_ns: workload.duration.map(|time| time.ns) };
        longer::apply(&mut scenario.workload, workload);
        scenario.config_hash = hash_of(&scenario.config);
        Ok(scenario)
    }
}

/// Files from which a warm state is loaded, and to which it is saved.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WarmStateFiles {
    /// File to which the state is written after the warm-up.
    pub save_to: Option<PathBuf>,
    /// File that is loaded instead of computing the warm-up.
    pub load_from: Option<PathBuf>,
}

/// Reads a configuration file. `sets` are pairs of a key and its new value, which replaces the file's, as `--set` does; later pairs replace
/// earlier ones. `seed`, if given, replaces the file's seed.
///
/// # Errors
/// Returns all problems of the configuration.
pub fn load_scenario(path: &Path, sets: &[(String, String)], seed: Option<u64>) -> Result<Scenario, Problems> {
    scenario_from_toml(&path.display().to_string(), &read(path)?, sets, seed)
}

/// Returns the text of a configuration file.
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
        Problems {
            sources: Vec::new(),
            list: vec![Problem { key: String::new(), message, suggested_fix: None, place: None }],
            has_unreadable_file: unreadable,
        }
    })
}

/// Reads a text file that must not exceed [`TEXT_MAX`] bytes.
fn read_text(path: &Path) -> std::io::Result<String> {
    /// Maximum number of bytes in a configuration file.
    const TEXT_MAX: u64 = 16 << 20;
    String::from_utf8(read_file_with_size_limit(path, TEXT_MAX)?).map_err(|_| std::io::ErrorKind::InvalidData.into())
}

/// Returns the problems of a text that is not TOML.
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

/// Returns a problem if a `KEY=VALUE` option has characters with which it could be mistaken for another one.
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

/// Reads a configuration from a text. Relative paths in the text are relative to the folder of the file `file_name`, which need not exist.
/// `sets` are pairs of a key and its new value, which replaces the text's, as `--set` does. `seed`, if given, replaces the text's seed.
///
/// # Errors
/// Returns all problems of the configuration.
pub fn scenario_from_toml(file_name: &str, text: &str, sets: &[(String, String)], seed: Option<u64>) -> Result<Scenario, Problems> {
    let mut composer = compose::Composer::read(file_name, text, sets);
    if composer.has_syntax_errors {
        // The values around a broken line are guesses, so they are not checked.
        composer.problems.sort();
        return Err(composer.problems);
    }
    let mut tree = composer.with_presets();
    let wrong = validate::validate(&tree, &mut composer.problems.list);
    if !wrong.is_empty() {
        // Values that do not fit are removed, so that the others can be checked, too.
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
        // All problems have been reported above, because the schema is at least as strict as the types.
        Err(error) if composer.problems.list.is_empty() => {
            composer.problems.list.push(Problem { key: String::new(), message: error.to_string(), suggested_fix: None, place: None });
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

/// Returns the JSON Schema of a configuration.
pub fn config_schema() -> serde_json::Value {
    let generator = SchemaSettings::draft2020_12().into_generator();
    let mut schema = generator.into_root_schema_for::<Config>();
    schema.insert("title".into(), "flashraid configuration".into());
    let mut schema = schema.to_value();
    bound_integers(&mut schema);
    schema
}

/// Adds the maximum of every integer type to the schema, because schemars leaves it out.
fn bound_integers(schema: &mut serde_json::Value) {
    match schema {
        serde_json::Value::Object(entries) => {
            let max = match entries.get("format").and_then(serde_json::Value::as_str) {
                Some("uint8") => Some(u64::from(u8::MAX)),
                Some("uint16") => Some(u64::from(u16::MAX)),
                Some("uint32") => Some(u64::from(u32::MAX)),
                // This is the greatest whole number of TOML.
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

/// Returns the types of quantities that configuration keys hold, such as sizes and durations, each as a pair of texts. The first text
/// is the name of the type, which the schema uses as `format`. The second one says which texts are allowed for a value; it completes
/// the sentence "this must be …".
pub fn quantity_types_and_allowed_texts() -> impl Iterator<Item = (&'static str, &'static str)> {
    quantities::CHECKERS.iter().map(|checker| (checker.name, checker.allowed))
}

/// Returns the SHA-256 of the canonical JSON (keys in order) of a configuration without its seed.
fn hash_of(config: &Config) -> String {
    let mut json = serde_json::to_value(config).expect("a configuration is representable in JSON");
    if let Some(table) = json.as_object_mut() {
        table.shift_remove("seed");
    }
    json.sort_all_objects();
    let digest = Sha256::digest(json.to_string().as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

//! Converts workloads as users write them to specifications that generators and readers take, and back.

use std::path::PathBuf;
use std::sync::OnceLock;

use schemars::{Schema, schema_for};
use serde_json::Value;

use super::workload::{AddressFit, AssumedTraceDirection, RequestsOrTime, SyntheticKeys, TraceKeys, WorkloadConfig, WorkloadKind};
use flashraid_workload::catalogue::{self, NamedWorkload};
use flashraid_workload::synthetic::{self as model, SyntheticSpec};
use flashraid_workload::trace::TraceSpec;
use flashraid_workload::units::Fraction;
use flashraid_workload::{self as workload, OpKind, RequestTransformSpec, SourceSpec, WorkloadSpec};

/// Names of the kinds as users write them.
pub(super) const KINDS: [&str; 3] = ["synthetic", "trace", "mix"];

/// Returns the kind of workload that a key belongs to, or `None` if it belongs to all.
pub(super) fn kind_of_key(key: &str) -> Option<&'static str> {
    static SCHEMAS: OnceLock<[(&str, Schema); 2]> = OnceLock::new();
    let schemas = SCHEMAS.get_or_init(|| [("synthetic", schema_for!(SyntheticKeys)), ("trace", schema_for!(TraceKeys))]);
    let has_key = |(_, schema): &&(&str, Schema)| schema.pointer("/properties").is_some_and(|keys| keys.get(key).is_some());
    schemas.iter().find(has_key).map(|(kind, _)| *kind).or((key == "streams").then_some("mix"))
}

/// Returns the kind of a preset.
pub(super) fn kind_of(spec: &WorkloadSpec) -> &'static str {
    match spec.source {
        SourceSpec::Synthetic(_) => "synthetic",
        SourceSpec::Mix(_) => "mix",
        SourceSpec::Trace(_) => "trace",
    }
}

/// Returns a workload that needs no preset: uniformly random writes of 4 KiB with a queue depth of 32.
pub(super) fn plain_synthetic() -> WorkloadConfig {
    to_config(&model::SyntheticSpec::random_writes().into())
}

/// Returns a workload of the catalogue as TOML.
pub(super) fn to_toml(named: &NamedWorkload) -> String {
    let config = WorkloadConfig { preset: None, ..to_config(&named.spec) };
    let body = toml::to_string(&config).unwrap_or_default();
    let stand_in = if named.is_stand_in { "# A stand-in with the published statistics, not the trace itself.\n" } else { "" };
    format!("# {} ({})\n{stand_in}# {}\n\n{body}", named.name, named.statistics_source, named.added_assumptions)
}

/// Returns the keys that a user would write to get `spec`.
pub(super) fn to_config(spec: &WorkloadSpec) -> WorkloadConfig {
    let mut config = WorkloadConfig::default();
    match &spec.source {
        SourceSpec::Synthetic(synthetic) => {
            config.kind = Some(WorkloadKind::Synthetic);
            let SyntheticSpec { read_size, write_size, addresses, .. } = synthetic;
            let is_one_size = read_size == write_size;
            config.synthetic = SyntheticKeys {
                arrivals: Some(synthetic.arrivals.clone()),
                read_fraction: Some(Fraction(synthetic.read_fraction)),
                size: is_one_size.then(|| write_size.clone()),
                read_size: (!is_one_size).then(|| read_size.clone()),
                write_size: (!is_one_size).then(|| write_size.clone()),
                sequential_fraction: Some(Fraction(addresses.sequential_fraction)),
                sequential_repeats: addresses.sequential_repeats_size_and_kind.then_some(true),
                sequential_gap: synthetic.sequential_gap,
                address: Some(addresses.clone()),
                flush_every: synthetic.writes_per_flush,
                fua: synthetic.fua.then_some(true),
            };
            config.high_priority_fraction = Some(Fraction(synthetic.high_priority_fraction));
        }
        SourceSpec::Mix(streams) => {
            config.kind = Some(WorkloadKind::Mix);
            config.streams = Some(streams.iter().map(to_config).collect());
        }
        // The catalogue has no traces.
        SourceSpec::Trace(_) => config.kind = Some(WorkloadKind::Trace),
    }
    let RequestTransformSpec { rate_scale, size_scale, .. } = spec.transform;
    config.rate_scale = (rate_scale != 1.0).then_some(rate_scale);
    config.size_scale = (size_scale != 1.0).then_some(size_scale);
    config
}

/// Returns the specification for generators and readers. `kind`, and the keys of that kind that presets set, must be filled in.
pub(super) fn to_spec(config: &WorkloadConfig) -> WorkloadSpec {
    let source = match config.kind {
        Some(WorkloadKind::Trace) => SourceSpec::Trace(trace_spec(&config.trace)),
        Some(WorkloadKind::Mix) => SourceSpec::Mix(config.streams.iter().flatten().map(to_spec).collect()),
        Some(WorkloadKind::Synthetic) | None => SourceSpec::Synthetic(synthetic_spec(config)),
    };
    WorkloadSpec { source, transform: transform_spec(config) }
}

fn synthetic_spec(config: &WorkloadConfig) -> model::SyntheticSpec {
    let keys = &config.synthetic;
    let plain = model::SyntheticSpec::random_writes();
    let size = |own: &Option<model::SizeSpec>| own.as_ref().or(keys.size.as_ref()).cloned();
    let sequential_fraction = keys.sequential_fraction.map_or(0.0, |share| share.0);
    let sequential_repeats = keys.sequential_repeats.unwrap_or(false);
    let address = model::AddressSpec {
        sequential_fraction,
        sequential_repeats_size_and_kind: sequential_repeats,
        ..keys.address.clone().unwrap_or_default()
    };
    model::SyntheticSpec {
        arrivals: keys.arrivals.clone().unwrap_or(plain.arrivals),
        read_fraction: keys.read_fraction.map_or(plain.read_fraction, |share| share.0),
        read_size: size(&keys.read_size).unwrap_or(plain.read_size),
        write_size: size(&keys.write_size).unwrap_or(plain.write_size),
        addresses: address,
        high_priority_fraction: config.high_priority_fraction.map_or(plain.high_priority_fraction, |share| share.0),
        sequential_gap: keys.sequential_gap,
        writes_per_flush: keys.flush_every,
        fua: keys.fua.unwrap_or(plain.fua),
    }
}

fn trace_spec(keys: &TraceKeys) -> TraceSpec {
    let default = TraceSpec::new(PathBuf::from(keys.path.clone().unwrap_or_default()));
    TraceSpec {
        format: keys.format,
        time_unit: keys.time_unit,
        sector_bytes: keys.sector_bytes,
        devices: keys.devices.clone().unwrap_or_default(),
        reorder: keys.reorder.unwrap_or_default(),
        skip_bad_lines: keys.skip_bad_lines.unwrap_or(default.skip_bad_lines),
        discards: keys.discards.unwrap_or(default.discards),
        flushes: keys.flushes.unwrap_or(default.flushes),
        columns: keys.columns.clone(),
        drop_repeats_within_ns: keys.drop_repeats_within.map(|time| time.ns),
        assumed_direction: keys.direction.map(|direction| match direction {
            AssumedTraceDirection::Read => OpKind::Read,
            AssumedTraceDirection::Write => OpKind::Write,
        }),
        passes: keys.repeat.unwrap_or(default.passes),
        ..default
    }
}

fn transform_spec(config: &WorkloadConfig) -> RequestTransformSpec {
    let plain = RequestTransformSpec::default();
    let (start_requests, start_ns) = match config.start {
        None => (0, 0),
        Some(RequestsOrTime::Requests(requests)) => (requests, 0),
        Some(RequestsOrTime::Time(time)) => (0, time.ns),
    };
    let (limit_requests, limit_ns) = match config.limit {
        None => (None, None),
        Some(RequestsOrTime::Requests(requests)) => (Some(requests), None),
        Some(RequestsOrTime::Time(time)) => (None, Some(time.ns)),
    };
    // A generator chooses the priorities itself.
    let chosen_by_source = !matches!(config.kind, Some(WorkloadKind::Trace | WorkloadKind::Mix));
    let high_priority_fraction = config.high_priority_fraction.filter(|_| !chosen_by_source).map_or(0.0, |share| share.0);
    RequestTransformSpec {
        high_priority_fraction,
        start_requests,
        start_ns,
        limit_requests,
        limit_ns,
        rate_scale: config.rate_scale.unwrap_or(plain.rate_scale),
        size_scale: config.size_scale.unwrap_or(plain.size_scale),
        address_fit: match config.address_fit {
            None | Some(AddressFit::Error) => workload::AddressFit::Error,
            Some(AddressFit::Wrap) => workload::AddressFit::Wrap,
            Some(AddressFit::Scale) => {
                workload::AddressFit::Scale { source_extent_bytes: config.address_extent.map(|extent| extent.bytes) }
            }
        },
        // This value depends on the device, and is set later.
        zero_write_trim_granularity_bytes: None,
    }
}

/// Returns the configuration key to which a problem of a specification belongs.
pub(super) fn key_of_spec_problem(section: &str, key: &str) -> String {
    let key = key.strip_prefix("transform.").unwrap_or(key).replace(".transform.", ".");
    let key = key.replace("address.sequential_fraction", "sequential_fraction");
    let key = if let Some(rest) = key.strip_prefix("mix") { format!("streams{rest}") } else { key };
    let parts: Vec<&str> = key.split('.').map(|part| part.trim_end_matches("_ns").trim_end_matches("_bytes")).collect();
    format!("{section}.{}", parts.join("."))
}

/// Returns the workload with this name in the catalogue.
pub(super) fn preset(name: &str) -> Result<WorkloadSpec, catalogue::UnknownWorkload> {
    catalogue::find_workload(name).map(|named| named.spec)
}

/// Returns the keys whose values in `config` differ from its preset, in alphabetical order. Keys for the length of the run do not count.
pub(crate) fn changed_workload_keys(config: &WorkloadConfig, preset: &WorkloadSpec) -> Vec<String> {
    let (own, of_preset) = (base_json(config), base_json(&to_config(preset)));
    let (Value::Object(own), Value::Object(of_preset)) = (own, of_preset) else { return Vec::new() };
    let names = own.keys().chain(of_preset.keys()).collect::<std::collections::BTreeSet<_>>();
    let is_changed = |key: &&String| {
        !["preset", "kind", "requests", "duration", "repeat"].contains(&key.as_str()) && own.get(*key) != of_preset.get(*key)
    };
    names.into_iter().filter(is_changed).cloned().collect()
}

/// Returns a workload as JSON, from which missing keys are filled in.
pub(super) fn base_json(config: &WorkloadConfig) -> Value {
    serde_json::to_value(config).expect("a workload is representable in JSON")
}

//! Built-in presets: devices and arrays as TOML, workloads from the catalogue.

use super::workload_spec;
use flashraid_workload::catalogue;

/// Subject that a preset (a named, built-in part of a configuration) describes: an SSD, an array or a workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PresetKind {
    /// A preset that describes one SSD. The configuration key `ssd.preset` chooses it by its name.
    Device,
    /// A preset that describes an array. The configuration key `array.preset` chooses it by its name.
    Array,
    /// A preset that describes a workload. The configuration key `workload.preset` chooses it by its name.
    Workload,
}

/// A preset, which is a named, built-in part of a configuration, with its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preset {
    /// Subject that the preset describes: an SSD, an array or a workload.
    pub kind: PresetKind,
    /// Name that configurations use.
    pub name: String,
    /// Description in one line.
    pub summary: String,
    /// The whole preset as TOML, as it would be written in a configuration.
    pub toml_text: String,
}

/// Name and TOML text of every device.
const DEVICES: &[(&str, &str)] = &[
    ("ggc2014", include_str!("../../presets/devices/ggc2014.toml")),
    ("pgc2011", include_str!("../../presets/devices/pgc2011.toml")),
    ("lawc2017", include_str!("../../presets/devices/lawc2017.toml")),
    ("ioda-femu", include_str!("../../presets/devices/ioda-femu.toml")),
    ("mlc-sata2", include_str!("../../presets/devices/mlc-sata2.toml")),
    ("slc-sata2", include_str!("../../presets/devices/slc-sata2.toml")),
    ("nvme-simple", include_str!("../../presets/devices/nvme-simple.toml")),
    ("nvme-tlc-read", include_str!("../../presets/devices/nvme-tlc-read.toml")),
    ("nvme-tlc-mixed", include_str!("../../presets/devices/nvme-tlc-mixed.toml")),
    ("nvme-gen5", include_str!("../../presets/devices/nvme-gen5.toml")),
    ("nvme-gen5-6400", include_str!("../../presets/devices/nvme-gen5-6400.toml")),
    ("nvme-gen5-12800", include_str!("../../presets/devices/nvme-gen5-12800.toml")),
    ("nvme-gen5-25600", include_str!("../../presets/devices/nvme-gen5-25600.toml")),
    ("nvme-qlc", include_str!("../../presets/devices/nvme-qlc.toml")),
    ("nvme-qlc-122880", include_str!("../../presets/devices/nvme-qlc-122880.toml")),
    ("nvme-qlc-gen3", include_str!("../../presets/devices/nvme-qlc-gen3.toml")),
    ("nvme-tlc-gen3", include_str!("../../presets/devices/nvme-tlc-gen3.toml")),
    ("nvme-tlc-16k", include_str!("../../presets/devices/nvme-tlc-16k.toml")),
    ("nvme-tlc-30720", include_str!("../../presets/devices/nvme-tlc-30720.toml")),
    ("nvme-mlc-9100", include_str!("../../presets/devices/nvme-mlc-9100.toml")),
    ("nvme-mlc-p3700", include_str!("../../presets/devices/nvme-mlc-p3700.toml")),
    ("nvme-client-xg6", include_str!("../../presets/devices/nvme-client-xg6.toml")),
    ("sata-mlc-s3700", include_str!("../../presets/devices/sata-mlc-s3700.toml")),
    ("sata-tlc-s4500", include_str!("../../presets/devices/sata-tlc-s4500.toml")),
];

/// Name and TOML text of every array.
const ARRAYS: &[(&str, &str)] = &[
    ("ggc-raid0-8", include_str!("../../presets/arrays/ggc-raid0-8.toml")),
    ("lawc-raid0-8", include_str!("../../presets/arrays/lawc-raid0-8.toml")),
    ("lawc-raid5-9", include_str!("../../presets/arrays/lawc-raid5-9.toml")),
    ("pgc-single", include_str!("../../presets/arrays/pgc-single.toml")),
];

/// Returns every preset: devices, then arrays, then workloads.
pub fn all_presets() -> Vec<Preset> {
    let from_toml = |kind, list: &[(&str, &str)]| -> Vec<Preset> {
        let preset = |&(name, text): &(&str, &str)| {
            let summary = text.lines().next().unwrap_or_default().trim_start_matches(['#', ' ']).to_string();
            Preset { kind, name: name.to_string(), summary, toml_text: text.to_string() }
        };
        list.iter().map(preset).collect()
    };
    // A name such as `spider(R,I,W)` stands for many workloads. Its text is that of one of them.
    let workloads = catalogue::WORKLOAD_NAMES.iter().filter_map(|name| {
        let named = catalogue::find_workload(name.split('(').next().unwrap_or(name)).ok()?;
        let summary = format!("{}: {}", named.statistics_source, named.added_assumptions);
        Some(Preset { kind: PresetKind::Workload, name: (*name).to_string(), summary, toml_text: workload_spec::to_toml(&named) })
    });
    from_toml(PresetKind::Device, DEVICES).into_iter().chain(from_toml(PresetKind::Array, ARRAYS)).chain(workloads).collect()
}

pub(super) fn device(name: &str) -> Option<&'static str> {
    DEVICES.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

pub(super) fn array(name: &str) -> Option<&'static str> {
    ARRAYS.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

pub(super) fn device_names() -> Vec<String> {
    DEVICES.iter().map(|(name, _)| (*name).to_string()).collect()
}

pub(super) fn array_names() -> Vec<String> {
    ARRAYS.iter().map(|(name, _)| (*name).to_string()).collect()
}

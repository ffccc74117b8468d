//! Keys of one member SSD: `[ssd]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use flashraid_model::array::WarmUp;
use flashraid_model::flash::{DieToChannelAssignment, Geometry, Timing, filled_in_by_preset};
use flashraid_model::ssd::{ControllerCores, DieDelayMechanisms, Duplex, PlacementHandles, PoolWrites, SubmissionQueues, Suspension};

use super::gc::GcConfig;
use super::superblock::{SlcSuperblocksConfig, SuperblockConfig, WriteBufferConfig};
use flashraid_workload::units::{AllowedUnitlessRange, ByteRate, Fraction, Quantity, Size, UnitError};

/// Name of the preset that is used if the configuration names none.
pub(super) const DEFAULT_PRESET: &str = "ggc2014";

/// One member SSD. Keys that are not written come from the preset.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(transform = filled_in_by_preset)]
#[non_exhaustive]
pub struct SsdConfig {
    /// The device to build on, one of those that `flashraid preset list` names.
    #[serde(default = "default_preset")]
    pub preset: String,
    /// Shape of the flash medium.
    pub geometry: GeometryConfig,
    /// Durations of flash operations.
    pub timing: Timing,
    /// Path of data between the controller and the dies.
    #[serde(default)]
    pub transfer: ControllerDiePath,
    /// Settings of the channels, only with `transfer = "channel"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel: Option<DieToChannelAssignment>,
    /// Bandwidth limit of the host link, over which the SSD exchanges data with the array. It is `"off"`, a rate for a half-duplex
    /// link such as SATA, or a table with `rate` and `duplex`.
    #[serde(default)]
    pub link: HostLinkBandwidth,
    /// Writes to pools of blocks.
    #[serde(flatten)]
    pub writes: PoolWrites,
    /// Superblocks (the same block of all planes and dies) behind a write buffer, as in current drives. Without this table, planes or
    /// dies collect single blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superblock: Option<SuperblockConfig>,
    /// Write buffer of the device. Without this table, a device with superblocks has a buffer with the default settings, and any other
    /// device has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer: Option<WriteBufferConfig>,
    /// Queues in which commands wait until the device fetches them. Without this table, it takes them as they arrive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queues: Option<SubmissionQueues>,
    /// Controller of the device. Without this table, its work takes no time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub firmware: Option<ControllerCores>,
    /// Times and limits with which reads interrupt (suspend) programs and erases in a drive with superblocks. They apply only with
    /// `gc.preemption = "suspend"`. Without this table, suspension has its default times and limits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspension: Option<Suspension>,
    /// Placement handles of a drive with superblocks. A placement handle is a label of a write, as in Flexible Data Placement (FDP) of
    /// NVMe. Writes with different handles go to different superblocks. Without this table, all writes have the same handle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placement_handles: Option<PlacementHandles>,
    /// Superblocks that hold one bit per cell for a time. Without this table there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slc: Option<SlcSuperblocksConfig>,
    /// Optional effects that take time of the dies, each with its own table: background work (`[ssd.background]`) and read retries
    /// (`[ssd.read_retry]`).
    #[serde(flatten)]
    pub mechanisms: DieDelayMechanisms,
    /// Factor by which the simulated drive is smaller than the real one, so that its state fits into memory. Each superblock has fewer
    /// pages on each die. Erases become shorter in proportion, so that they remain the same share of the work. The numbers of
    /// superblocks and dies, the buffer, and the share of spare area stay. Free superblocks hold less, so that they absorb shorter
    /// bursts of writes. With `scale_by = "width"`, the drive has fewer dies instead. Needs `ssd.superblock`.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    #[schemars(range(min = 1, max = 65_536))]
    pub scale: u32,
    /// Dimension of the drive that `scale` divides: the number of pages of a superblock on each die, or the number of dies.
    #[serde(default, skip_serializing_if = "ScaledDriveDimension::is_default")]
    pub scale_by: ScaledDriveDimension,
    /// Treatment of a write of zeroes that the host asks for without sending data (NVMe's Write Zeroes; `WZ` of blkparse).
    #[serde(default, skip_serializing_if = "WriteZeroes::is_default")]
    pub write_zeroes: WriteZeroes,
    /// Settings of garbage collection.
    #[serde(default)]
    pub gc: GcConfig,
    /// Number of erases that a block endures, for the projected lifetime and for wear-aware victims.
    #[serde(default = "default_endurance")]
    #[schemars(range(min = 1, max = 4_294_967_295_u32))]
    pub endurance: u32,
    /// Warm-up, which brings the device to a working state before the run.
    #[serde(default)]
    pub warm_up: WarmUpConfig,
}

/// Dimension of the drive that `ssd.scale` divides: the number of pages of a superblock on each die, or the number of dies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ScaledDriveDimension {
    /// Divides the number of pages of each superblock on each die by `ssd.scale`. Throughput and latencies stay. Free superblocks hold
    /// less, so that they absorb shorter bursts of writes.
    #[default]
    Space,
    /// Divides the numbers of dies, channels and processor cores by `ssd.scale`. The limits on simultaneous program operations of dies
    /// (`superblock.programs_at_once`) and on commands (`queues.commands`) are divided, too. These numbers must be multiples of
    /// `ssd.scale`. Buffer size and link rate are divided as well. Flash operations take the same time, but throughput is lower, and
    /// the workload's load should be lower, too.
    Width,
}

impl ScaledDriveDimension {
    fn is_default(&self) -> bool {
        *self == Self::Space
    }
}

/// Treatment of a write of zeroes, which the host asks for without sending data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WriteZeroes {
    /// Treats a write of zeroes as any other write.
    #[default]
    Write,
    /// Trims the part of the request that covers whole units of the drive's mapping table (in arrays with parity, whole stripes). The
    /// rest of the request, before and after this part, is written.
    Deallocate,
}

impl WriteZeroes {
    fn is_default(&self) -> bool {
        *self == Self::Write
    }
}

fn default_preset() -> String {
    DEFAULT_PRESET.to_string()
}

fn one() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants a reference")]
fn is_one(number: &u32) -> bool {
    *number == 1
}

fn default_endurance() -> u32 {
    100_000
}

/// Shape of the flash of one SSD.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(transform = filled_in_by_preset)]
#[non_exhaustive]
pub struct GeometryConfig {
    /// Numbers of dies, planes, blocks and pages.
    #[serde(flatten)]
    pub shape: Geometry,
    /// User data in a page, a multiple of 512 B.
    pub page_size: Size,
    /// Share of the blocks of each plane that is not exported, rounded down to whole blocks.
    pub reserved: Fraction,
}

/// Path of data between the controller and the dies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ControllerDiePath {
    /// Every die has its own pins, and a transfer is part of the die's busy time.
    #[default]
    Pins,
    /// Dies share channels (`channel.dies_per_channel`).
    Channel,
    /// Transfers take no time.
    None,
}

/// Bandwidth limit of the host link: `"off"`, a rate for a half-duplex link such as SATA, or a table with `rate` and `duplex`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum HostLinkBandwidth {
    /// A rate in bytes per second that both directions share, or `"off"` for a link without limit, on which transfers take no time.
    Rate(HalfDuplexLinkBandwidthLimit),
    /// A table with the rate of the link and its duplex mode.
    Table(LinkTable),
}

impl Default for HostLinkBandwidth {
    fn default() -> Self {
        Self::Rate(HalfDuplexLinkBandwidthLimit::Off)
    }
}

/// Bandwidth limit of a half-duplex link, or no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HalfDuplexLinkBandwidthLimit {
    /// Transfers take no time.
    Off,
    /// Both directions share this rate.
    HalfDuplex(ByteRate),
}

/// A host link with all its settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct LinkTable {
    /// Bytes per second of the link.
    pub rate: ByteRate,
    /// Use of the rate by the two directions: shared, or each at the full rate.
    #[serde(default)]
    pub duplex: Duplex,
}

impl Quantity for HalfDuplexLinkBandwidthLimit {
    const JSON_SCHEMA_FORMAT: &'static str = "link-rate";
    const ALLOWED_VALUES: &'static str =
        "\"off\", a rate such as \"300MB/s\" (half duplex), or a table such as { rate = \"3.2GB/s\", duplex = \"full\" }";
    const JSON_SCHEMA_PATTERN: &'static str = r"^\s*(off|[0-9][0-9_]*(\.[0-9]+)?\s*(B|[kKMGT]B|[KMGT]iB)/s)\s*$";
    const UNITLESS_RANGE: Option<AllowedUnitlessRange> = None;

    fn parse(text: &str) -> Result<Self, UnitError> {
        if text.trim() == "off" { Ok(Self::Off) } else { ByteRate::parse(text).map(Self::HalfDuplex) }
    }

    fn to_json(&self) -> serde_json::Value {
        match self {
            Self::Off => "off".into(),
            Self::HalfDuplex(rate) => rate.to_json(),
        }
    }
}

/// Warm-up, which brings the device to a working state before the run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct WarmUpConfig {
    /// Overwrites after the drive has been filled.
    #[serde(flatten)]
    pub overwriting: WarmUp,
    /// Pages that hold data before the overwrites.
    #[serde(skip_serializing_if = "FillBeforeWarmUp::is_default")]
    pub start: FillBeforeWarmUp,
    /// File to which the warm state is written, so that later runs can load it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub save: Option<String>,
    /// File with a warm state that is loaded instead of a warm-up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load: Option<String>,
}

/// Pages that hold data before the overwrites of the warm-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FillBeforeWarmUp {
    /// Every exported page holds data.
    #[default]
    Filled,
    /// No page holds data, as after formatting.
    Fresh,
}

impl FillBeforeWarmUp {
    fn is_default(&self) -> bool {
        *self == Self::Filled
    }
}

//! Keys of one member SSD: `[ssd]`.

use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};

use flashraid_model::array::WarmUpPattern;
use flashraid_model::flash::DieToChannelAssignment;
use flashraid_model::space::pools::MAX_PAGES_PER_BLOCK;
use flashraid_model::ssd::{
    ControllerCores, DieChoiceForWrites, DieDelayMechanisms, PlacementHandles, PlaneChoice, SubmissionQueues, Suspension,
};

use super::gc::GcConfig;
use super::superblock::{SlcSuperblocksConfig, SuperblockConfig, WriteBufferConfig};
use flashraid_workload::units::{AllowedUnitlessRange, ByteRate, Duration, Fraction, Quantity, Size, TimePerByte, UnitError};

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
    pub timing: TimingConfig,
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
    /// Rule that chooses the die of a write.
    #[serde(default)]
    pub allocation: DieChoiceForWrites,
    /// Number of consecutive logical pages that go to one die before the next die has its turn.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 16_777_216))]
    pub die_stride: u32,
    /// Rule that chooses the plane of a write inside its die.
    #[serde(default)]
    pub plane_choice: PlaneChoice,
    /// Summary page at the end of each block, which describes the block instead of holding data. With `true`, the program that fills a
    /// block is followed by that of the summary page. With `"spread"`, the time of this program is divided among all programs of a block,
    /// so that all last equally long.
    #[serde(default)]
    pub summary_page: BlockSummaryPage,
    /// True if the initial fill closes the block that it writes last, so that collection may choose it. In the DiskSim SSD extension, that
    /// block stays open forever.
    #[serde(default = "yes")]
    pub fill_seals_last_block: bool,
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

fn yes() -> bool {
    true
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

/// Makes all keys of a schema optional, because a preset supplies the keys that a file leaves out.
pub(super) fn filled_in_by_preset(schema: &mut Schema) {
    schema.remove("required");
}

/// Shape of the flash of one SSD.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(transform = filled_in_by_preset)]
#[non_exhaustive]
pub struct GeometryConfig {
    /// Number of dies in each SSD. A die serves one command at a time. (The papers that the simulator follows call it an element or a
    /// package.)
    #[schemars(range(min = 1, max = 65_536))]
    pub dies: u32,
    /// Number of planes in a die.
    #[schemars(range(min = 1, max = 1_024))]
    pub planes: u32,
    /// Number of blocks in a plane.
    #[schemars(range(min = 4, max = 16_777_216))]
    pub blocks: u32,
    /// Number of pages in a block. The last one counts even if it is a summary page, which holds no data (`ssd.summary_page`).
    #[schemars(range(min = 2, max = MAX_PAGES_PER_BLOCK))]
    pub pages: u32,
    /// User data in a page, a multiple of 512 B.
    pub page_size: Size,
    /// Share of the blocks of each plane that is not exported, rounded down to whole blocks.
    pub reserved: Fraction,
}

/// Durations of the flash operations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(transform = filled_in_by_preset)]
#[non_exhaustive]
pub struct TimingConfig {
    /// Time to read a page from the flash array into the register.
    pub page_read: Duration,
    /// Time to program a page from the register into the flash array.
    pub page_program: Duration,
    /// Time to erase one block.
    pub block_erase: Duration,
    /// Time to transfer one byte between the controller and a die.
    pub transfer_per_byte: TimePerByte,
    /// Number of spare bytes that are transferred with every 512 bytes of data.
    #[schemars(range(min = 0, max = 4_096))]
    pub spare_bytes_per_sector: u32,
    /// Time that the controller adds to every host read and program command.
    #[serde(default)]
    pub command_overhead: Duration,
}

/// Choice of a summary page: the last page of each block, which describes the block and holds no data. The time to write it is added
/// to the program operation that fills the block, or spread over all program operations of the block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum BlockSummaryPage {
    /// No summary page (`false`), or one at the end of each block (`true`). A summary page describes the other pages of its block. It
    /// is written right after the last of these has been programmed.
    Plain(bool),
    /// A summary page at the end of each block, which describes the block. The time to write it is divided equally among the programs of
    /// the block's data pages.
    Named(SummaryPageTimeSplit),
}

/// Ways to divide the time for writing a block's summary page (the last page, which describes the block) among the programs of its data
/// pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SummaryPageTimeSplit {
    /// The time to write a block's summary page (the last page, which describes the block) is divided equally among the programs of its
    /// data pages.
    Spread,
}

impl Default for BlockSummaryPage {
    fn default() -> Self {
        Self::Plain(false)
    }
}

impl BlockSummaryPage {
    /// Returns true if the last page of a block holds a summary.
    pub fn last_page_holds_summary(self) -> bool {
        self != Self::Plain(false)
    }

    /// Returns true if every program of a block takes an equal share of the time to write its summary page.
    pub fn spreads_time_over_programs(self) -> bool {
        self == Self::Named(SummaryPageTimeSplit::Spread)
    }
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

/// Use of the rate of a link by the two directions: shared, or each at the full rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Duplex {
    /// The directions share the rate: data go one way at a time, as with SATA.
    #[default]
    Half,
    /// Each direction has the full rate, as with NVMe.
    Full,
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct WarmUpConfig {
    /// Number of overwrites after filling, as a multiple of the exported capacity. 0 leaves the freshly filled state. With
    /// `pattern = "steady"`, it must be 0.
    #[schemars(range(min = 0.0, max = 1_000.0))]
    pub overwrites: f64,
    /// Addresses that the warm-up overwrites: random ones (`"random"`, the default) or those that the workload writes (`"workload"`).
    /// With `"steady"`, nothing is overwritten: the drive is put directly into the steady state of random writes. Drives with
    /// superblocks do so by default. Such a drive has the default `"random"` if `overwrites`, `start`, or `load` (the file with a
    /// saved state) is set.
    pub pattern: WarmUpPattern,
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

impl Default for WarmUpConfig {
    fn default() -> Self {
        Self { overwrites: 2.0, pattern: WarmUpPattern::Random, start: FillBeforeWarmUp::Filled, save: None, load: None }
    }
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

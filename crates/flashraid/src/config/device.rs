//! What users write about one member SSD: `[ssd]`.

use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};

use flashraid_model::ssd::Mechanisms;

use super::gc::GcConfig;
use super::superblock::{
    BufferConfig, FirmwareConfig, PlacementHandlesConfig, QueuesConfig, SlcConfig, SuperblockConfig, SuspensionConfig,
};
use flashraid_workload::units::{Duration, Fraction, Numbers, Quantity, Rate, Size, TimePerByte, UnitError};

/// The preset that a configuration which names none builds on.
pub const DEFAULT_PRESET: &str = "ggc2014";

/// One member SSD; everything not written here comes from the preset.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(transform = filled_in_by_preset)]
#[non_exhaustive]
pub struct SsdConfig {
    /// The device to build on, one of those that `flashraid preset list` names.
    #[serde(default = "default_preset")]
    pub preset: String,
    /// Shape of the flash.
    pub geometry: GeometryConfig,
    /// Durations of flash operations.
    pub timing: TimingConfig,
    /// What carries data between the controller and the dies.
    #[serde(default)]
    pub transfer: Transfer,
    /// The channels; only with `transfer = "channel"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel: Option<ChannelConfig>,
    /// The limit of the host link.
    #[serde(default)]
    pub link: Link,
    /// How a write finds its die.
    #[serde(default)]
    pub allocation: Allocation,
    /// Consecutive logical pages that go to one die before the next die's turn.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 16_777_216))]
    pub die_stride: u32,
    /// How a write finds its plane inside the die.
    #[serde(default)]
    pub plane_choice: PlaneChoice,
    /// The last page of each block holds a summary of the block instead of data. `true`: the program that fills a block is followed by
    /// that of the summary. `"spread"`: every program takes its share of a summary, so that none lasts longer than the others.
    #[serde(default)]
    pub summary_page: SummaryPage,
    /// The block that filling the device reaches last is sealed like the others; the reference simulator leaves it open for ever.
    #[serde(default = "yes")]
    pub fill_seals_last_block: bool,
    /// Superblocks behind a write buffer: a drive of today.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superblock: Option<SuperblockConfig>,
    /// The write buffer; without this table a device without superblocks has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer: Option<BufferConfig>,
    /// Where commands wait until the device fetches them; without this table it takes them as they come.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queues: Option<QueuesConfig>,
    /// The controller of the device; without this table its work takes no time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub firmware: Option<FirmwareConfig>,
    /// How reads interrupt programs and erases of such a drive, with `gc.preemption = "suspend"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspension: Option<SuspensionConfig>,
    /// Placement handles of such a drive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placement_handles: Option<PlacementHandlesConfig>,
    /// Superblocks of such a drive that hold one bit per cell for a while; without this table there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slc: Option<SlcConfig>,
    /// Mechanisms, each in a table of its own.
    #[serde(flatten)]
    pub mechanisms: Mechanisms,
    /// The drive is simulated with so many times fewer rows in each superblock, and erases that much shorter: a drive that does not fit the
    /// memory. Superblocks, dies, buffer and spare area stay as they are; what free space absorbs shrinks. Needs `ssd.superblock`.
    /// With `scale_by = "width"` it is a narrower drive instead.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    #[schemars(range(min = 1, max = 65_536))]
    pub scale: u32,
    /// What `scale` divides.
    #[serde(default, skip_serializing_if = "ScaleBy::is_default")]
    pub scale_by: ScaleBy,
    /// What becomes of a write of zeroes that the host asks for without sending them (NVMe's Write Zeroes; `WZ` of blkparse).
    #[serde(default, skip_serializing_if = "WriteZeroes::is_default")]
    pub write_zeroes: WriteZeroes,
    /// Garbage collection.
    #[serde(default)]
    pub gc: GcConfig,
    /// Erases that a block endures; for the projected lifetime and for wear-aware victims.
    #[serde(default = "default_endurance")]
    #[schemars(range(min = 1, max = 4_294_967_295_u32))]
    pub endurance: u32,
    /// How the device is brought to a working state before the run.
    #[serde(default)]
    pub warm_up: WarmUpConfig,
}

/// What a drive has less of when it is scaled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ScaleBy {
    /// Rows of each superblock: throughput and latencies stay, what free space absorbs shrinks.
    #[default]
    Space,
    /// Dies, channels, cores, programs at a time, link and buffer, which must be multiples of `scale`: times stay, throughput shrinks, and
    /// so should the load.
    Width,
}

impl ScaleBy {
    fn is_default(&self) -> bool {
        *self == Self::Space
    }
}

/// What becomes of a write of zeroes that the host asks for without sending them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WriteZeroes {
    /// It is a write.
    #[default]
    Write,
    /// What it covers as a whole (units of the map, in arrays with parity stripes) is a trim, the rest a write.
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

/// Nothing is required of a file where a preset fills the gaps.
pub(super) fn filled_in_by_preset(schema: &mut Schema) {
    schema.remove("required");
}

/// Shape of the flash of one SSD.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(transform = filled_in_by_preset)]
#[non_exhaustive]
pub struct GeometryConfig {
    /// Dies; each serves one command at a time. (The papers say elements, or packages.)
    #[schemars(range(min = 1, max = 65_536))]
    pub dies: u32,
    /// Planes of a die.
    #[schemars(range(min = 1, max = 1_024))]
    pub planes: u32,
    /// Blocks of a plane.
    #[schemars(range(min = 4, max = 16_777_216))]
    pub blocks: u32,
    /// Pages of a block, the summary page included.
    #[schemars(range(min = 2, max = 8_192))]
    pub pages: u32,
    /// User data in a page, a multiple of 512 B.
    pub page_size: Size,
    /// Share of the blocks of each plane that is not exported; rounded down to whole blocks.
    pub reserved: Fraction,
}

/// Durations of the flash operations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(transform = filled_in_by_preset)]
#[non_exhaustive]
pub struct TimingConfig {
    /// Array to register.
    pub page_read: Duration,
    /// Register to array.
    pub page_program: Duration,
    /// Erase of one block.
    pub block_erase: Duration,
    /// One byte between the controller and a die.
    pub transfer_per_byte: TimePerByte,
    /// Bytes that travel with every 512 bytes of data.
    #[schemars(range(min = 0, max = 4_096))]
    pub spare_bytes_per_sector: u32,
    /// Added to every host read and program command.
    #[serde(default)]
    pub command_overhead: Duration,
}

/// Whether blocks have a summary page, and which programs pay for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum SummaryPage {
    /// None, or one that the program which fills the block pays for.
    Plain(bool),
    /// One that all programs pay for.
    Named(NamedSummaryPage),
}

/// A summary page that is more than there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NamedSummaryPage {
    /// Every program takes its share.
    Spread,
}

impl Default for SummaryPage {
    fn default() -> Self {
        Self::Plain(false)
    }
}

impl SummaryPage {
    /// The last page of a block holds no data.
    pub fn is_there(self) -> bool {
        self != Self::Plain(false)
    }

    /// All programs pay for it.
    pub fn is_spread(self) -> bool {
        self == Self::Named(NamedSummaryPage::Spread)
    }
}

/// What carries data between the controller and the dies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Transfer {
    /// Every die has pins of its own: a transfer is part of the die's busy time.
    #[default]
    Pins,
    /// Dies share channels (`channel.dies_per_channel`).
    Channel,
    /// Transfers take no time.
    None,
}

/// Dies that share a channel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ChannelConfig {
    /// Consecutive dies on one channel.
    #[schemars(range(min = 1, max = 65_536))]
    pub dies_per_channel: u32,
}

/// The limit of the host link: `"off"`, a rate for a half-duplex link such as SATA, or a table with `rate` and `duplex`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Link {
    /// `"off"` or a rate.
    Rate(LinkRate),
    /// A rate and a duplex mode.
    Table(LinkTable),
}

impl Default for Link {
    fn default() -> Self {
        Self::Rate(LinkRate::Off)
    }
}

/// The limit of a half-duplex link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkRate {
    /// Data reach the member at once.
    Off,
    /// Both directions share this rate.
    HalfDuplex(Rate),
}

/// A host link spelt out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct LinkTable {
    /// Bytes per second.
    pub rate: Rate,
    /// Whether the directions share the rate.
    #[serde(default)]
    pub duplex: Duplex,
}

/// Whether the directions of a link share its rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Duplex {
    /// One at a time, as with SATA.
    #[default]
    Half,
    /// Each at the full rate, as with NVMe.
    Full,
}

impl Quantity for LinkRate {
    const NAME: &'static str = "link-rate";
    const ALLOWED: &'static str =
        "\"off\", a rate such as \"300MB/s\" (half duplex), or a table such as { rate = \"3.2GB/s\", duplex = \"full\" }";
    const PATTERN: &'static str = r"^\s*(off|[0-9][0-9_]*(\.[0-9]+)?\s*(B|[kKMGT]B|[KMGT]iB)/s)\s*$";
    const NUMBERS: Option<Numbers> = None;

    fn parse(text: &str) -> Result<Self, UnitError> {
        if text.trim() == "off" { Ok(Self::Off) } else { Rate::parse(text).map(Self::HalfDuplex) }
    }

    fn to_json(&self) -> serde_json::Value {
        match self {
            Self::Off => "off".into(),
            Self::HalfDuplex(rate) => rate.to_json(),
        }
    }
}

/// How a write finds its die.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Allocation {
    /// `(lpn / die_stride) mod dies`.
    #[default]
    Static,
    /// The die that can start earliest and has room.
    Dynamic,
}

/// How a write finds its plane inside the die.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PlaneChoice {
    /// The plane with most free pages, as in the reference simulator.
    #[default]
    MostFree,
    /// Planes in turn.
    Rotate,
}

/// How the device is brought to a working state before the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct WarmUpConfig {
    /// Overwrites after filling, as a multiple of the exported capacity; 0 is exactly the freshly filled state. With `pattern = "steady"`, 0.
    #[schemars(range(min = 0.0, max = 1_000.0))]
    pub overwrites: f64,
    /// Where the overwrites go. Drives with superblocks begin with `"steady"` if `pattern`, `overwrites`, `start` and `load` are all left out.
    pub pattern: WarmUpPattern,
    /// What is mapped before the overwrites.
    #[serde(skip_serializing_if = "Start::is_default")]
    pub start: Start,
    /// File to write the warm state to, so that later runs can load it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub save: Option<String>,
    /// File with a warm state to start from instead of warming up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load: Option<String>,
}

impl Default for WarmUpConfig {
    fn default() -> Self {
        Self { overwrites: 2.0, pattern: WarmUpPattern::Random, start: Start::Filled, save: None, load: None }
    }
}

/// Where the overwrites of the warm-up go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WarmUpPattern {
    /// Uniform over the exported pages.
    #[default]
    Random,
    /// The write addresses of the workload itself.
    Workload,
    /// Nowhere: the drive is put into the steady state of uniform random writes in one pass, which is faster than overwriting it. Needs
    /// `ssd.superblock`, and is the default there.
    Steady,
}

/// What is mapped at the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Start {
    /// Every exported page.
    #[default]
    Filled,
    /// Nothing, as after formatting; needs `ssd.superblock`.
    Fresh,
}

impl Start {
    fn is_default(&self) -> bool {
        *self == Self::Filled
    }
}

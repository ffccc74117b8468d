//! Conversion of a configuration to the two files of MQSim.

use std::fmt::Write as _;

use flashraid_model::flash::DieNumbering;
use flashraid_model::ssd::{BlockPoolScope, DieChoiceForWrites, GcPreemption as Preempted, SsdParams};

use super::tags::{FOURTH_LATENCY, Section, TAGS};
use super::{COLLECTS_BELOW_AT_LEAST, picoseconds_per_byte, workload};
use crate::config::{
    BlockSummaryPage, ControllerDiePath, Duplex, GeometryConfig, HalfDuplexLinkBandwidthLimit, HostLinkBandwidth, LinkTable, Scenario,
    SsdConfig, VictimPolicy,
};
use crate::exchange::{FileForOtherProgram, FilesForOtherProgram};

/// Maximum number of planes in a die for which MQSim has commands.
const PLANES_MAX: u32 = 4;

/// Returns the device and the workload of a scenario as files of MQSim.
pub fn export_mqsim(scenario: &Scenario) -> FilesForOtherProgram {
    let mut notes = Vec::new();
    let config = &scenario.config;
    if scenario.array.members > 1 {
        notes.push(format!("MQSim simulates one SSD: this is one of the {} members, without the array around it", scenario.array.members));
    }
    if config.cache != crate::config::CacheConfig::default() {
        notes.push("The array's write cache is left out.".to_owned());
    }
    let device = device(scenario, &mut notes);
    let layout = Layout::of(scenario);
    let workload = workload::workload(config, &layout, &mut notes);
    let file = |name, text| FileForOtherProgram { file_name: name, text };
    FilesForOtherProgram { files: vec![file("ssdconfig.xml", device), file("workload.xml", workload)], notes }
}

/// Number of channels, chips, dies and planes in MQSim's terms.
pub(super) struct Layout {
    pub(crate) channels: u32,
    pub(crate) chips: u32,
    pub(crate) dies_per_chip: u32,
    pub(crate) planes_per_die: u32,
    /// True if the drive acknowledges writes as soon as they are in its buffer.
    pub(crate) buffered: bool,
}

impl Layout {
    fn of(scenario: &Scenario) -> Self {
        let ssd = &scenario.config.ssd;
        let dies = ssd.geometry.shape.dies;
        let chips = match (ssd.transfer, &ssd.channel) {
            (ControllerDiePath::Channel, Some(channel)) => channel.dies_per_channel,
            // Dies with pins of their own are alone on a channel.
            _ => 1,
        };
        let planes = ssd.geometry.shape.planes;
        let planes_per_die = (1..=PLANES_MAX).rev().find(|per_die| planes.is_multiple_of(*per_die)).unwrap_or(1);
        Self {
            channels: dies.div_ceil(chips),
            chips,
            dies_per_chip: planes / planes_per_die,
            planes_per_die,
            buffered: ssd.superblock.is_some() || ssd.buffer.is_some(),
        }
    }
}

/// Values of all of MQSim's tags, in the order of [`TAGS`].
struct Values(Vec<String>);

impl Values {
    fn set(&mut self, name: &str, value: impl ToString) {
        let number = TAGS.iter().position(|tag| tag.name == name).expect("the tag is in the list");
        debug_assert!(TAGS[number].allowed.fits(&value.to_string()), "{name} {}", value.to_string());
        self.0[number] = value.to_string();
    }

    fn written(&self) -> String {
        let mut text = "<?xml version=\"1.0\" encoding=\"us-ascii\"?>\n<Execution_Parameter_Set>\n".to_owned();
        let section = |text: &mut String, section: Section, tabs: &str| {
            for (tag, value) in TAGS.iter().zip(&self.0).filter(|(tag, _)| tag.section == section && !tag.name.ends_with(FOURTH_LATENCY)) {
                let _ = writeln!(text, "{tabs}\t<{0}>{value}</{0}>", tag.name);
                // MQSim reads this one by another name than it writes.
                for other in tag.also.iter().filter(|other| other.starts_with("Prefered_")) {
                    let _ = writeln!(text, "{tabs}\t<!-- MQSim reads it as {other} -->");
                }
            }
        };
        text += "\t<Host_Parameter_Set>\n";
        section(&mut text, Section::Host, "\t");
        text += "\t</Host_Parameter_Set>\n\t<Device_Parameter_Set>\n";
        section(&mut text, Section::Device, "\t");
        text += "\t\t<Flash_Parameter_Set>\n";
        section(&mut text, Section::Flash, "\t\t");
        text + "\t\t</Flash_Parameter_Set>\n\t</Device_Parameter_Set>\n</Execution_Parameter_Set>\n"
    }
}

fn device(scenario: &Scenario, notes: &mut Vec<String>) -> String {
    let ssd = &scenario.config.ssd;
    let layout = Layout::of(scenario);
    let mut values = Values(TAGS.iter().map(|tag| tag.default_value.to_owned()).collect());
    // What MQSim does by itself and flashraid does not.
    for name in ["Enabled_Preconditioning", "Dynamic_Wearleveling_Enabled", "Static_Wearleveling_Enabled"] {
        values.set(name, false);
    }
    values.set("Ideal_Mapping_Table", true);
    values.set("CMD_Suspension_Support", "NONE");
    values.set("Queue_Fetch_Size", 4096);
    values.set("IO_Queue_Depth", 65_535);
    values.set("Transaction_Scheduling_Policy", "OUT_OF_ORDER");
    values.set("Page_Metadat_Capacity", 0);

    geometry(ssd, &layout, &mut values, notes);
    link(ssd, &mut values, notes);
    channel(ssd, &mut values, notes);
    latencies(ssd, &mut values, notes);
    collection(scenario, &mut values, notes);
    if let Some(size) = ssd.buffer.as_ref().and_then(|buffer| buffer.size) {
        values.set("Data_Cache_Capacity", size.bytes);
    }
    note_unsupported(ssd, notes);
    values.written()
}

fn geometry(ssd: &SsdConfig, layout: &Layout, values: &mut Values, notes: &mut Vec<String>) {
    let GeometryConfig { shape: geometry, page_size, reserved } = &ssd.geometry;
    if !geometry.dies.is_multiple_of(layout.chips) {
        notes.push(format!(
            "MQSim's channels all have the same number of chips: {} dies became {}.",
            geometry.dies,
            layout.channels * layout.chips
        ));
    }
    values.set("Flash_Channel_Count", layout.channels);
    values.set("Chip_No_Per_Channel", layout.chips);
    values.set("Die_No_Per_Chip", layout.dies_per_chip);
    values.set("Plane_No_Per_Die", layout.planes_per_die);
    if layout.dies_per_chip > 1 {
        notes.push(format!(
            "MQSim has commands for {PLANES_MAX} planes of a die at most: planes became {} dies of a chip, of which one works at a time.",
            layout.dies_per_chip
        ));
    }
    let (pages, page_bytes) = match &ssd.superblock {
        // A page of the configuration is what the map knows; MQSim's is what a plane reads.
        Some(superblock) => {
            let per_flash_page = (superblock.flash_page.bytes / page_size.bytes).max(1);
            notes.push("MQSim maps flash pages: a smaller write reads and writes a whole one.".to_owned());
            (u64::from(geometry.pages_per_block) / per_flash_page, superblock.flash_page.bytes)
        }
        None => (u64::from(geometry.pages_per_block), page_size.bytes),
    };
    values.set("Block_No_Per_Plane", geometry.blocks_per_plane);
    values.set("Page_No_Per_Block", pages);
    values.set("Page_Capacity", page_bytes);
    values.set("Overprovisioning_Ratio", reserved.0);
    values.set("Block_PE_Cycles_Limit", ssd.endurance);
    if ssd.writes.summary_page != BlockSummaryPage::Plain(false) {
        notes.push("Summary pages are left out: MQSim's blocks hold that much more.".to_owned());
    }
    let first = match ssd.channel.as_ref().map(|channel| channel.die_numbering) {
        Some(DieNumbering::ConsecutiveWithinChannel) if layout.chips > 1 => "WC",
        _ => "CW",
    };
    let stride = u64::from(ssd.writes.die_stride);
    let (dies, planes) = (u64::from(layout.dies_per_chip), u64::from(layout.planes_per_die));
    let scheme = match stride {
        1 => format!("{first}DP"),
        _ if stride == planes => format!("P{first}D"),
        _ if stride == dies => format!("D{first}P"),
        _ if stride == dies * planes => format!("DP{first}"),
        _ => {
            notes.push(format!("ssd.die_stride = {stride} is left out: MQSim changes the die with every page, or after all planes."));
            format!("{first}DP")
        }
    };
    values.set("Plane_Allocation_Scheme", scheme);
    if ssd.superblock.is_some() || ssd.writes.allocation == DieChoiceForWrites::Dynamic {
        notes.push("In MQSim the address of a page decides on its plane; here a write goes where it can begin first.".to_owned());
    }
}

fn link(ssd: &SsdConfig, values: &mut Values, notes: &mut Vec<String>) {
    let rate = match &ssd.link {
        HostLinkBandwidth::Rate(HalfDuplexLinkBandwidthLimit::Off) => {
            notes.push("MQSim has no drive without a link: this one got 4 lanes of 64 GB/s.".to_owned());
            values.set("PCIe_Lane_Count", 4);
            values.set("PCIe_Lane_Bandwidth", 64);
            return;
        }
        HostLinkBandwidth::Rate(HalfDuplexLinkBandwidthLimit::HalfDuplex(rate))
        | HostLinkBandwidth::Table(LinkTable { rate, duplex: Duplex::Half }) => {
            notes.push("MQSim's link carries both directions at a time; the half-duplex one is left out.".to_owned());
            rate.bytes_per_s
        }
        HostLinkBandwidth::Table(LinkTable { rate, duplex: Duplex::Full }) => rate.bytes_per_s,
    };
    values.set("PCIe_Lane_Count", 4);
    values.set("PCIe_Lane_Bandwidth", rate as f64 / 4e9);
}

/// Returns a rate and a width for MQSim's channel, with which a byte takes about `byte_ps` picoseconds.
fn rate_and_width(byte_ps: u64) -> (u64, u64) {
    let widths = [1, 2, 4, 8];
    let all = widths.into_iter().flat_map(|width| (1..=1000).rev().map(move |rate| (rate, width)));
    all.min_by_key(|&(rate, width)| (picoseconds_per_byte(rate, width).abs_diff(byte_ps), width)).expect("there are some")
}

fn channel(ssd: &SsdConfig, values: &mut Values, notes: &mut Vec<String>) {
    let byte_ps = match ssd.transfer {
        ControllerDiePath::None => 0,
        // MQSim transfers no spare bytes.
        _ => ssd.timing.transfer_per_byte.picoseconds * (512 + u64::from(ssd.timing.spare_bytes_per_sector)) / 512,
    };
    if byte_ps == 0 {
        // Above a thousand transfers take no time.
        values.set("Channel_Transfer_Rate", 2000);
        return;
    }
    let (rate, width) = rate_and_width(byte_ps);
    values.set("Channel_Transfer_Rate", rate);
    values.set("Flash_Channel_Width", width);
    let there = picoseconds_per_byte(rate, width);
    if there != byte_ps {
        notes.push(format!("MQSim's channels know whole nanoseconds only: a byte takes {there} ps there instead of {byte_ps}."));
    }
    if ssd.timing.spare_bytes_per_sector > 0 {
        notes.push("MQSim transfers no spare bytes: its channels are that much slower instead.".to_owned());
    }
    if ssd.timing.command_overhead.ns > 0 {
        notes.push("ssd.timing.command_overhead is left out: MQSim's commands have their own times on the channel.".to_owned());
    }
}

fn latencies(ssd: &SsdConfig, values: &mut Values, notes: &mut Vec<String>) {
    let mut all = |name: &str, of_kind: [u64; 3]| {
        for (kind, ns) in ["LSB", "CSB", "MSB"].into_iter().zip(of_kind) {
            values.set(&format!("{name}_{kind}"), ns);
        }
    };
    let (read, program) = (ssd.timing.page_read.ns, ssd.timing.page_program.ns);
    let Some(superblock) = &ssd.superblock else {
        all("Page_Read_Latency", [read; 3]);
        all("Page_Program_Latency", [program; 3]);
        values.set("Flash_Technology", "SLC");
        values.set("Block_Erase_Latency", ssd.timing.block_erase.ns);
        return;
    };
    let bits = superblock.pages_per_cell;
    let reads = match superblock.page_reads.as_slice() {
        [] => [read; 3],
        reads => {
            if reads.len() as u32 != bits || bits > 3 {
                notes.push(format!("MQSim has three kinds of pages: {} times of array reads became three.", reads.len()));
            }
            [0, 1, 2].map(|kind| reads[(kind * reads.len() / 3).min(reads.len() - 1)].ns)
        }
    };
    all("Page_Read_Latency", reads);
    // One program brings that many flash pages to a plane; MQSim programs one at a time.
    all("Page_Program_Latency", [program / u64::from(bits); 3]);
    if bits > 1 {
        notes.push(format!(
            "MQSim programs flash pages one by one, each in {} ns, a {bits}th of the program of a whole cell.",
            program / u64::from(bits)
        ));
    }
    values.set("Flash_Technology", ["SLC", "MLC", "TLC"][bits.clamp(1, 3) as usize - 1]);
    values.set("Block_Erase_Latency", ssd.timing.block_erase.ns);
}

/// Returns a share of `blocks` blocks that MQSim rounds down to the given number.
fn share(number: u32, blocks: u32) -> f64 {
    let exact = f64::from(number) / f64::from(blocks);
    let up = (exact * 1e9).ceil() / 1e9;
    if (up * f64::from(blocks)) as u32 == number { up } else { exact }
}

fn collection(scenario: &Scenario, values: &mut Values, notes: &mut Vec<String>) {
    let ssd = &scenario.config.ssd;
    let gc = &ssd.gc;
    let params: &SsdParams = &scenario.array.ssd;
    let blocks = ssd.geometry.shape.blocks_per_plane;
    let start = match &ssd.superblock {
        Some(superblock) => {
            notes.push("MQSim collects planes by themselves, a block at a time; superblocks and their pace are left out.".to_owned());
            superblock.collection.target
        }
        None if gc.rules.pool == BlockPoolScope::Die => {
            notes.push("MQSim's planes have pools of their own: the threshold of the die is divided among them.".to_owned());
            params.gc.start_threshold_free_blocks.div_ceil(ssd.geometry.shape.planes)
        }
        None => params.gc.start_threshold_free_blocks,
    };
    if start + 1 < COLLECTS_BELOW_AT_LEAST {
        notes.push(format!("MQSim collects below {COLLECTS_BELOW_AT_LEAST} free blocks at least; here collection starts at {start}."));
    }
    values.set("GC_Exec_Threshold", share((start + 1).min(blocks), blocks));
    if ssd.superblock.is_none() {
        if params.gc.stop_threshold_free_blocks > params.gc.start_threshold_free_blocks + 1 {
            notes.push("ssd.gc.stop is left out: MQSim starts one collection for each block that is taken.".to_owned());
        }
        if !gc.rules.separate_open_block {
            notes.push("MQSim moves pages into a block of their own.".to_owned());
        }
    }
    let policy = match &gc.victim {
        VictimPolicy::Greedy(_) => "GREEDY",
        VictimPolicy::Fifo(_) => "FIFO",
        VictimPolicy::Random(_) => "RANDOM_P",
        VictimPolicy::DChoices(choices) => {
            if choices.d != blocks.ilog2() {
                notes.push(format!(
                    "MQSim's RGA draws {} blocks, the logarithm of the blocks of a plane, instead of {}.",
                    blocks.ilog2(),
                    choices.d
                ));
            }
            "RGA"
        }
        other => {
            notes.push(format!("MQSim has no victim policy like {}: it is GREEDY there.", other.name()));
            "GREEDY"
        }
    };
    values.set("GC_Block_Selection_Policy", policy);
    values.set("Use_Copyback_for_GC", ssd.superblock.is_none() && gc.rules.copy_back);
    values.set("Preemptible_GC_Enabled", params.gc.preemption.is_some());
    if let Some(Preempted { t_hard, pipeline, merge, reorder, suspension, .. }) = params.gc.preemption {
        let hard = ((t_hard.0 * f64::from(start)).round() as u32).clamp(1, blocks);
        values.set("GC_Hard_Threshold", share(hard, blocks));
        let more = merge || reorder || pipeline != flashraid_model::ssd::HostOverlapWithMoves::NoOverlap;
        if more {
            notes.push("Pipelining, merging and reordering are left out.".to_owned());
        }
        if suspension.is_some() {
            notes.push("Suspension is left out: MQSim has keys for it and cannot do it.".to_owned());
        }
    }
    if params.gc.idle_collection_after_ns.is_some() {
        notes.push("Collection in idle time is left out.".to_owned());
    }
}

/// Adds a note for each setting of the drive that has no tag in MQSim.
fn note_unsupported(ssd: &SsdConfig, notes: &mut Vec<String>) {
    let tables = [
        ("superblock", ssd.superblock.is_some()),
        ("buffer (MQSim's DRAM cache stands for it)", ssd.buffer.is_some()),
        ("queues", ssd.queues.is_some()),
        ("firmware", ssd.firmware.is_some()),
        ("suspension", ssd.suspension.is_some()),
        ("placement_handles", ssd.placement_handles.is_some()),
        ("slc", ssd.slc.is_some()),
    ];
    let there: Vec<String> = tables.into_iter().filter(|(_, there)| *there).map(|(name, _)| format!("ssd.{name}")).collect();
    if !there.is_empty() {
        notes.push(format!("MQSim has no tags for {}.", there.join(", ")));
    }
    if ssd.mechanisms != flashraid_model::ssd::DieDelayMechanisms::default() {
        notes.push("MQSim has none of the mechanisms in tables of their own.".to_owned());
    }
    notes.push("The state in which the drive begins is left out: MQSim begins empty.".to_owned());
}

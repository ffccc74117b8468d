//! Converts the sections of drives with superblocks to the parameters of the model (section 24 of the rules).
//!
//! These are `[ssd.superblock]`, `[ssd.buffer]`, `[ssd.queues]`, `[ssd.firmware]`, `[ssd.suspension]`, `[ssd.placement_handles]`,
//! `[ssd.slc]` and `ssd.scale`.

use super::Config;
use super::device::{
    ControllerDiePath, FillBeforeWarmUp, GeometryConfig, HalfDuplexLinkBandwidthLimit, HostLinkBandwidth, ScaledDriveDimension,
};
use super::gc::{GcConfig, IdleTimeBeforeCollection, Preemption};
use super::resolve::{LONGEST_OPERATION_NS, Resolver, SECTOR_BYTES, link};
use super::superblock::{SlcShareBase, SuperblockConfig};
use flashraid_model::array::WarmUpPattern;
use flashraid_model::flash::{Geometry, Timing};
use flashraid_model::space::superblocks::{MAPPING_UNITS_PER_SUPERBLOCK_MAX, SUPERPAGES_PER_DRIVE_MAX};
use flashraid_model::ssd::{
    BufferParams, CollectionRules, ControllerCores, GcAlgorithm, GcParams, GcPreemption, HostOverlapWithMoves,
    MAPPING_UNITS_PER_SUPERPAGE_MAX, OperationSuspension, PlacementHandles, PlaneReadMode, PoolWrites, RefreshAndWearLevellingParams,
    SlcSuperblockCountLimit, SlcSuperblockParams, SsdParams, SuperblockCollectionParams, SuperblockDriveParams, Suspension,
};
use flashraid_workload::units::{Duration, Fraction, Size};

/// Minimum number of rows that scaling must leave.
const ROWS_MIN: u32 = 4;
/// Default times from the interruption of a program and of an erase until reads begin.
const PROGRAM_SUSPEND_NS: u64 = 100_000;
const ERASE_SUSPEND_NS: u64 = 700_000;

/// Returns the keys of `[ssd]` that only apply to pools of blocks, with their defaults. They choose dies and fill blocks.
fn of_pools() -> Vec<(String, serde_json::Value)> {
    let of_device = serde_json::to_value(PoolWrites::default()).unwrap_or_default();
    let of_collection = serde_json::to_value(GcConfig::default()).unwrap_or_default();
    let both = ["preemption", "idle", "victim", "merge", "pipeline"];
    let collection = of_collection.as_object().into_iter().flatten().filter(|(key, _)| !both.contains(&key.as_str()));
    let collection = collection.map(|(key, default)| (format!("gc.{key}"), default.clone()));
    let device = of_device.as_object().into_iter().flatten().map(|(key, default)| (key.clone(), default.clone()));
    device.chain(collection).collect()
}

/// Returns a warning if scaling leaves fewer rows than a superblock should have.
pub(super) fn warning_of_scale(config: &Config) -> Option<String> {
    let (g, superblock) = (&config.ssd.geometry, config.ssd.superblock.as_ref()?);
    let row_pages = u64::from(superblock.pages_per_cell) * superblock.flash_page.bytes.checked_div(g.page_size.bytes)?;
    let rows = u64::from(g.shape.pages_per_block).checked_div(row_pages)?;
    let (scale, most) = (u64::from(config.ssd.scale), (rows / u64::from(ROWS_MIN)).max(1));
    (config.ssd.scale_by == ScaledDriveDimension::Space && scale > most).then(|| {
        format!(
            "ssd.scale is {scale}, but a superblock keeps {} of its {rows} rows at least: the drive is simulated at 1 : {most}, for \
             which its capacity and life are told",
            u64::from(ROWS_MIN).min(rows)
        )
    })
}

/// Returns the duration of an erase in a drive that is simulated with fewer rows.
fn scaled(ns: u64, config: &Config, geometry: &Geometry) -> u64 {
    (u128::from(ns) * u128::from(geometry.pages_per_block) / u128::from(config.ssd.geometry.shape.pages_per_block.max(1))) as u64
}

impl Resolver<'_> {
    /// Adds problems for keys that have an effect only with superblocks, if there are none.
    pub(super) fn needs_superblock(&mut self, config: &Config) {
        let ssd = &config.ssd;
        let keys = [
            ("ssd.suspension", ssd.suspension.is_some()),
            ("ssd.placement_handles", ssd.placement_handles.is_some()),
            ("ssd.slc", ssd.slc.is_some()),
            ("ssd.scale", ssd.scale != 1),
            ("ssd.scale_by", ssd.scale_by != ScaledDriveDimension::Space),
            ("ssd.warm_up.pattern", ssd.warm_up.overwriting.pattern == WarmUpPattern::SteadyStateWithoutWrites),
        ];
        for (key, _) in keys.into_iter().filter(|(_, is_set)| *is_set) {
            let message = format!("`{key}` means something only for a drive with superblocks, and `ssd.superblock` is not there");
            self.problem(key, message, Some("take a preset of such a drive, or write [ssd.superblock]"));
        }
    }

    /// Returns the configuration of a drive that is scaled by its width. It has fewer of all parts that work at the same time.
    fn narrowed(&mut self, config: &Config) -> Config {
        let mut narrow = config.clone();
        let ssd = &mut narrow.ssd;
        let by = std::mem::replace(&mut ssd.scale, 1);
        if ssd.superblock.as_ref().is_some_and(|superblock| superblock.rain) && by > 1 {
            let message = "`ssd.scale_by` is \"width\", but with `ssd.superblock.rain` fewer dies would have a larger share of parity";
            self.problem("ssd.scale_by", message, Some("scale by \"space\""));
        }
        let mut divide = |key: &str, number: u32| {
            if !number.is_multiple_of(by) {
                let message = format!("`{key}` is {number}, but `ssd.scale_by = \"width\"` divides it by `ssd.scale` ({by})");
                self.problem(key, message, Some("take a scale that divides it, or scale by \"space\""));
            }
            (number / by).max(1)
        };
        ssd.geometry.shape.dies = divide("ssd.geometry.dies", ssd.geometry.shape.dies);
        // Without this section commands take no time of a core, so that there are no cores to divide.
        if let Some(firmware) = &mut ssd.firmware {
            firmware.cores = divide("ssd.firmware.cores", firmware.cores);
        }
        if let Some(programs) = ssd.superblock.as_mut().and_then(|superblock| superblock.programs_at_once.as_mut()) {
            *programs = divide("ssd.superblock.programs_at_once", *programs);
        }
        if let Some(queues) = &mut ssd.queues {
            queues.commands = divide("ssd.queues.commands", queues.commands);
        }
        let channel = ssd.channel.as_ref().filter(|_| ssd.transfer == ControllerDiePath::Channel);
        if let Some(per_channel) =
            channel.map(|channel| channel.dies_per_channel).filter(|&dies| !ssd.geometry.shape.dies.is_multiple_of(dies))
        {
            let message = format!(
                "`ssd.scale_by = \"width\"` leaves {} dies, but `ssd.channel.dies_per_channel` is {per_channel}, and channels are divided as a whole",
                ssd.geometry.shape.dies
            );
            self.problem("ssd.scale", message, Some("take a smaller scale, or scale by \"space\""));
        }
        if let Some(size) = ssd.buffer.as_mut().and_then(|buffer| buffer.size.as_mut()) {
            size.bytes /= u64::from(by);
        }
        match &mut ssd.link {
            HostLinkBandwidth::Rate(HalfDuplexLinkBandwidthLimit::Off) => {}
            HostLinkBandwidth::Rate(HalfDuplexLinkBandwidthLimit::HalfDuplex(rate)) => {
                rate.bytes_per_s = (rate.bytes_per_s / u64::from(by)).max(1)
            }
            HostLinkBandwidth::Table(table) => table.rate.bytes_per_s = (table.rate.bytes_per_s / u64::from(by)).max(1),
        }
        narrow
    }

    /// Returns the parameters of a drive with superblocks.
    pub(super) fn superblock_ssd(&mut self, config: &Config) -> Option<SsdParams> {
        let before = self.problems_so_far();
        let narrow = (config.ssd.scale_by == ScaledDriveDimension::Width).then(|| self.narrowed(config));
        let config = narrow.as_ref().unwrap_or(config);
        let set = serde_json::to_value(&config.ssd).unwrap_or_default();
        for (key, default) in of_pools() {
            // A configuration that was filled in has all keys.
            let found = set.pointer(&format!("/{}", key.replace('.', "/"))).unwrap_or(&serde_json::Value::Null);
            let key = format!("ssd.{key}");
            if *found == default || !self.is_written(&key) {
                continue;
            }
            let message = format!("`{key}` says how a device with pools of blocks works, but this one has superblocks (`ssd.superblock`)");
            let of_suspension = ["suspend_ns", "resume_ns", "suspensions_max"].iter().any(|name| key.ends_with(name));
            let help = if of_suspension { "this one has [ssd.suspension.program] and [ssd.suspension.erase]" } else { "remove it" };
            self.problem(&key, message, Some(help));
        }
        if config.ssd.timing.command_overhead.ns > 0 {
            let message = "`ssd.timing.command_overhead` is set, but `ssd.firmware` has the cost of commands in a drive with superblocks";
            self.problem("ssd.timing.command_overhead", message, Some("remove it"));
        }
        if config.ssd.warm_up.start == FillBeforeWarmUp::Fresh
            && config.ssd.warm_up.overwriting.pattern == WarmUpPattern::SteadyStateWithoutWrites
        {
            let message =
                "`ssd.warm_up.start` is \"fresh\", but `ssd.warm_up.pattern` is \"steady\", and a drive in its steady state is full";
            self.problem("ssd.warm_up.start", message, Some("remove one of the two"));
        }
        let written = config.ssd.superblock.clone()?;
        let has_registers = written.reads.cache_read && written.reads.plane_reads == PlaneReadMode::EachPlaneIndependently;
        if config.ssd.gc.options.pipeline != HostOverlapWithMoves::NoOverlap
            && config.ssd.gc.preemption != Preemption::None
            && !has_registers
        {
            let message = format!(
                "`ssd.gc.pipeline` is {}, but reads overlap only in planes that each read for themselves and have a second register",
                self.written("ssd.gc.pipeline")
            );
            let help = "set ssd.superblock.cache_read = true and ssd.superblock.plane_reads = \"independent\", or remove it";
            self.problem("ssd.gc.pipeline", message, Some(help));
        }
        let geometry = self.superblock_geometry(config, &written)?;
        let timing = self.superblock_timing(config, &geometry);
        let channel = self.channel(config);
        let link = link(config, u64::from(geometry.page_bytes));
        if link.is_some_and(|link| link.page_transfer_ns > LONGEST_OPERATION_NS) {
            self.problem("ssd.link", "`ssd.link` is so slow that a page takes more than the 1h that is allowed", Some("raise the rate"));
        }
        let superblock = self.superblock(config, &written, &geometry, &timing);
        let mechanisms = self.mechanisms(config);
        if self.problems_so_far() > before {
            return None;
        }
        let gc = GcParams {
            gc_algorithm: GcAlgorithm::VictimByPolicy,
            rules: CollectionRules { separate_open_block: true, copy_back: false, ..CollectionRules::default() },
            start_threshold_free_blocks: superblock.collection.target,
            stop_threshold_free_blocks: superblock.collection.target + 1,
            victim: self.victim(config),
            collection_takes_no_time: config.coordination.policy.collection_takes_no_time(),
            preemption: (config.ssd.gc.preemption != Preemption::None).then_some(GcPreemption {
                t_hard: Fraction(0.0),
                reorder: false,
                poll: Duration { ns: 0 },
                ..config.ssd.gc.options
            }),
            idle_collection_after_ns: match config.ssd.gc.idle {
                IdleTimeBeforeCollection::Off => None,
                IdleTimeBeforeCollection::After(time) => Some(time.ns),
            },
        };
        Some(SsdParams {
            geometry,
            timing,
            writes: PoolWrites::default(),
            gc,
            pools_start_empty: false,
            channel,
            link,
            front_end: None,
            die_delay_mechanisms: mechanisms,
            superblock: Some(superblock),
        })
    }

    /// Returns the shape of the flash after scaling. Adds problems if its sizes do not fit each other.
    fn superblock_geometry(&mut self, config: &Config, written: &SuperblockConfig) -> Option<Geometry> {
        let before = self.problems_so_far();
        let GeometryConfig { shape: g, page_size, reserved } = &config.ssd.geometry;
        let (page, unit, flash_page) = (page_size.bytes, written.unit.bytes, written.flash_page.bytes);
        if page == 0 || !page.is_multiple_of(SECTOR_BYTES) || page > 1 << 20 {
            let message = format!("`ssd.geometry.page_size` is {}, but must be a multiple of 512 B up to 1 MiB", page_size);
            self.problem("ssd.geometry.page_size", message, None);
            return None;
        }
        self.multiple("ssd.superblock.unit", written.unit, "ssd.geometry.page_size", *page_size);
        if self.problems_so_far() == before {
            self.multiple("ssd.superblock.flash_page", written.flash_page, "ssd.superblock.unit", written.unit);
        }
        if self.problems_so_far() > before {
            return None;
        }
        let superpage = u64::from(g.planes) * u64::from(written.pages_per_cell) * (flash_page / unit);
        if flash_page / unit > 64 || superpage > u64::from(MAPPING_UNITS_PER_SUPERPAGE_MAX) {
            let message = format!(
                "{} planes × {} pages × {} of {} are {superpage} units in a superpage; at most {MAPPING_UNITS_PER_SUPERPAGE_MAX} are allowed, and 64 in a flash page",
                g.planes, written.pages_per_cell, written.flash_page, written.unit
            );
            self.problem("ssd.superblock.unit", message, Some("a larger unit makes them fewer"));
            return None;
        }
        let row_pages = u64::from(written.pages_per_cell) * (flash_page / page);
        if !u64::from(g.pages_per_block).is_multiple_of(row_pages) {
            let below = u64::from(g.pages_per_block) / row_pages * row_pages;
            let message = format!(
                "`ssd.geometry.pages` is {}, but a block must hold whole superpages: multiples of {row_pages} pages of {} ({} flash pages of {})",
                g.pages_per_block, page_size, written.pages_per_cell, written.flash_page
            );
            self.problem("ssd.geometry.pages", message, Some(&format!("nearest: {} or {}", below.max(row_pages), below + row_pages)));
            return None;
        }
        let rows = g.pages_per_block / row_pages as u32;
        let rows_left = (rows / config.ssd.scale).max(ROWS_MIN).min(rows);
        let superpages_of_superblock = u64::from(g.dies) * u64::from(rows_left);
        let superpages = superpages_of_superblock.saturating_mul(u64::from(g.blocks_per_plane));
        let units = superpages_of_superblock.saturating_mul(superpage);
        let too_many = [
            (superpages, SUPERPAGES_PER_DRIVE_MAX, "the drive has", "superpages".to_owned()),
            (units, MAPPING_UNITS_PER_SUPERBLOCK_MAX, "a superblock has", format!("units of {}", written.unit)),
        ];
        if let Some((found, most, has, what)) = too_many.into_iter().find(|(found, most, ..)| found > most) {
            let least = found.div_ceil(most) * u64::from(config.ssd.scale);
            let message = format!("{has} {found} {what}, but the model numbers {most} at most");
            let help = match config.ssd.scale_by {
                ScaledDriveDimension::Space => format!("simulate a part of it: ssd.scale = {}", least.next_power_of_two()),
                ScaledDriveDimension::Width => "simulate a smaller part of it, or ssd.scale_by = \"space\"".to_owned(),
            };
            self.problem("ssd.geometry", message, Some(&help));
            return None;
        }
        let reserved = reserved.floor_of(g.blocks_per_plane);
        if reserved >= g.blocks_per_plane {
            let message = format!("`ssd.geometry.reserved` is {}, which leaves nothing to export", self.written("ssd.geometry.reserved"));
            self.problem("ssd.geometry.reserved", message, None);
            return None;
        }
        Some(Geometry {
            pages_per_block: rows_left * row_pages as u32,
            page_bytes: page as u32,
            overprovisioned_blocks_per_plane: reserved,
            ..*g
        })
    }

    fn multiple(&mut self, key: &str, size: Size, of_key: &str, of: Size) {
        if size.bytes == 0 || !size.bytes.is_multiple_of(of.bytes) {
            let message = format!("`{key}` is {size}, but must be a multiple of `{of_key}` ({of})");
            self.problem(key, message, None);
        }
    }

    pub(super) fn time(&mut self, key: &str, time: Duration, min: u64) -> u64 {
        if !(min..=LONGEST_OPERATION_NS).contains(&time.ns) {
            self.problem(key, format!("`{key}` is {time}, but {min}ns to 1h is allowed"), None);
        }
        time.ns
    }

    /// Returns the durations of flash operations. Erases become shorter when the drive is scaled, so that their share of time stays the
    /// same.
    fn superblock_timing(&mut self, config: &Config, geometry: &Geometry) -> Timing {
        let t = &config.ssd.timing;
        let times = [("page_read", t.page_read), ("page_program", t.page_program), ("block_erase", t.block_erase)];
        for (key, time) in times {
            self.time(&format!("ssd.timing.{key}"), time, 1);
        }
        Timing { block_erase: Duration { ns: scaled(t.block_erase.ns, config, geometry).max(1) }, ..*t }
    }

    fn superblock(&mut self, config: &Config, written: &SuperblockConfig, geometry: &Geometry, timing: &Timing) -> SuperblockDriveParams {
        let pages_per_mapping_unit = (written.unit.bytes / u64::from(geometry.page_bytes)) as u32;
        let sectors = written.unit.bytes.div_ceil(SECTOR_BYTES);
        let bytes = u128::from(sectors) * u128::from(SECTOR_BYTES + u64::from(config.ssd.timing.spare_bytes_per_sector));
        let transfer_ns = (bytes * u128::from(config.ssd.timing.transfer_per_byte.picoseconds) + 500) / 1000;
        let unit_transfer_ns =
            if config.ssd.transfer == ControllerDiePath::None { 0 } else { transfer_ns.min(u128::from(u64::MAX)) as u64 };
        if unit_transfer_ns > LONGEST_OPERATION_NS / u64::from(MAPPING_UNITS_PER_SUPERPAGE_MAX) {
            let key = "ssd.timing.transfer_per_byte";
            let message = format!("`{key}` is {}, with which the transfer of a superpage takes hours", config.ssd.timing.transfer_per_byte);
            self.problem(key, message, Some("raise the rate"));
        }
        let page_read_ns = if written.page_reads.is_empty() {
            vec![timing.page_read.ns]
        } else {
            let times = written.page_reads.iter().enumerate();
            times.map(|(at, &time)| self.time(&format!("ssd.superblock.page_reads[{at}]"), time, 1)).collect()
        };
        let superpage_units = geometry.planes * written.pages_per_cell * (written.flash_page.bytes / written.unit.bytes) as u32;
        let placement = config.ssd.placement_handles.filter(|handles| handles.count > 1).unwrap_or(PlacementHandles::SINGLE_HANDLE);
        let buffer = config.ssd.buffer.unwrap_or_default();
        self.time("ssd.buffer.ack", buffer.settings.ack, 0);
        if let Some(linger) = buffer.settings.linger {
            self.time("ssd.buffer.linger", linger, 1);
        }
        let least = u64::from(placement.count + 1) * u64::from(superpage_units);
        let units = match buffer.size {
            None => (2 * u64::from(geometry.dies) * u64::from(superpage_units)).max(least),
            Some(size) => size.bytes / written.unit.bytes,
        };
        if units < least || units > u64::from(u32::MAX >> 1) {
            let least = Size { bytes: least * written.unit.bytes };
            let superpages = match placement.count {
                1 => "two superpages".to_owned(),
                handles => format!("{} superpages, one for each of `ssd.placement_handles` and one more", handles + 1),
            };
            let message = format!("`ssd.buffer.size` is {}, but must hold {superpages} ({least})", self.written("ssd.buffer.size"));
            self.problem("ssd.buffer.size", message, None);
        }
        let firmware = config.ssd.firmware.unwrap_or_default();
        let superblock = SuperblockDriveParams {
            pages_per_mapping_unit,
            mapping_units_per_flash_page: (written.flash_page.bytes / written.unit.bytes) as u32,
            bits_per_cell: written.pages_per_cell,
            read_ns_by_page_type: page_read_ns,
            mapping_unit_transfer_ns: unit_transfer_ns,
            reads: written.reads,
            dies_programming_max: written.programs_at_once.unwrap_or(geometry.dies),
            has_parity_superpages: written.rain,
            placement_handles: placement,
            slc: self.slc(config, geometry, written),
            buffer: BufferParams { capacity_mapping_units: units.min(u64::from(u32::MAX >> 1)) as u32, settings: buffer.settings },
            submission_queues: config.ssd.queues,
            firmware: self.firmware(&firmware),
            collection: SuperblockCollectionParams {
                move_backlog_max_mapping_units: u64::from(written.debt) * u64::from(geometry.dies) * u64::from(superpage_units),
                ..written.collection
            },
            upkeep: RefreshAndWearLevellingParams {
                // A block with fewer pages is read less often.
                reads_before_refresh: written.refresh_reads.map(|reads| {
                    let all = u64::from(reads) * u64::from(geometry.dies) * u64::from(geometry.planes);
                    scaled(all, config, geometry).max(1)
                }),
                erase_difference_to_level: written.wear_difference,
            },
            suspension: (config.ssd.gc.preemption == Preemption::Suspend).then(|| {
                let Suspension { program, erase } = config.ssd.suspension.unwrap_or_default();
                self.suspension_times("program", &program);
                self.suspension_times("erase", &erase);
                let program = program.or_suspend_in(PROGRAM_SUSPEND_NS);
                Suspension { program, erase: erase.or_suspend_in(ERASE_SUSPEND_NS).scaled(|ns| scaled(ns, config, geometry)) }
            }),
            starts_empty: config.ssd.warm_up.start == FillBeforeWarmUp::Fresh,
        };
        self.superblock_space(config, geometry, &superblock);
        superblock
    }

    fn suspension_times(&mut self, operation: &str, written: &OperationSuspension) {
        for (key, time) in [("suspend", written.suspend), ("resume", Some(written.resume)), ("progress", written.progress)] {
            if let Some(time) = time {
                self.time(&format!("ssd.suspension.{operation}.{key}"), time, 0);
            }
        }
    }

    /// Returns the settings of superblocks with one bit per cell (rule 222).
    fn slc(&mut self, config: &Config, geometry: &Geometry, superblock: &SuperblockConfig) -> Option<SlcSuperblockParams> {
        let written = config.ssd.slc.as_ref()?;
        if superblock.pages_per_cell == 1 {
            let message = "`ssd.slc` is there, but `ssd.superblock.pages_per_cell` is 1: all superblocks hold one bit per cell";
            self.problem("ssd.slc", message, Some("remove it"));
        }
        if config.ssd.placement_handles.as_ref().is_some_and(|placement| placement.count > 1) {
            let message =
                "`ssd.slc` is set, but superblocks with one bit per cell would mix the data that `ssd.placement_handles` keep apart";
            self.problem("ssd.slc", message, Some("remove one of the two"));
        }
        let share = written.share.0;
        if share <= 0.0 {
            let message = format!("`ssd.slc.share` is {}, but must be above 0", written.share);
            self.problem("ssd.slc.share", message, Some("leave out [ssd.slc] to have none"));
        }
        let room = match written.mode {
            SlcShareBase::Static => SlcSuperblockCountLimit::Superblocks((share * f64::from(geometry.blocks_per_plane)).ceil() as u32),
            SlcShareBase::Dynamic => {
                SlcSuperblockCountLimit::ShareOfSlcAndFreeSuperblocks { millionths_of_available: ((share * 1e6).round() as u32).max(1) }
            }
        };
        self.time("ssd.slc.program", written.times.program, 1);
        self.time("ssd.slc.read", written.times.read, 1);
        Some(SlcSuperblockParams { superblock_limit: room, times: written.times })
    }

    pub(super) fn firmware(&mut self, written: &ControllerCores) -> ControllerCores {
        let ControllerCores { cores: _, read, write, move_, trim, trim_unit, latency } = *written;
        let times = [("read", read), ("write", write), ("move", move_), ("trim", trim), ("trim_unit", trim_unit), ("latency", latency)];
        for (key, time) in times {
            self.time(&format!("ssd.firmware.{key}"), time, 0);
        }
        *written
    }

    /// Checks that thresholds and spare area always leave collection a victim (rule 213).
    fn superblock_space(&mut self, config: &Config, geometry: &Geometry, superblock: &SuperblockDriveParams) {
        let SuperblockCollectionParams { target, floor, .. } = superblock.collection;
        if target <= floor {
            let message = format!("`ssd.superblock.target` is {target}, but must be above `ssd.superblock.floor` ({floor})");
            self.problem("ssd.superblock.target", message, None);
            return;
        }
        if superblock.has_parity_superpages && geometry.dies < 2 {
            let message = "`ssd.superblock.rain` puts the parity of a row on another die, but `ssd.geometry.dies` is 1";
            self.problem("ssd.superblock.rain", message, Some("remove it, or give the drive more dies"));
            return;
        }
        let shape = superblock.shape(geometry);
        let (reserved, left) = (geometry.overprovisioned_blocks_per_plane, shape.superblocks_beyond_capacity());
        if floor < shape.lowest_allowed_host_stall_superblocks() {
            let (streams, least) = (shape.placement_handles.collection_streams(), shape.lowest_allowed_host_stall_superblocks());
            let message = format!(
                "`ssd.superblock.floor` is {floor}, but must be at least {least}: with `ssd.placement_handles`, collection opens superblocks for {streams} handles, and one must be left for writes that overtake"
            );
            self.problem("ssd.superblock.floor", message, Some("raise floor and target, lower handles, or take isolation = \"initially\""));
            return;
        }
        let open = shape.open_superblocks_max();
        let (slc, and_slc) = match shape.slc_superblock_limit {
            Some(SlcSuperblockCountLimit::Superblocks(slc)) => (slc, format!(", and {slc} of `ssd.slc`")),
            _ => (0, String::new()),
        };
        if target + open + slc > left {
            let and_parity = if superblock.has_parity_superpages { format!(", of which parity leaves {left}") } else { String::new() };
            let that_are_open = match open {
                4 => "four that are open".to_owned(),
                _ if shape.slc_superblock_limit.is_some() => format!("{open} that are open"),
                _ => format!("{open} that are open for `ssd.placement_handles`"),
            };
            let message = format!(
                "`ssd.geometry.reserved` leaves {reserved} superblocks in reserve{and_parity}, but {} are needed: `ssd.superblock.target` ({target}) and {that_are_open}{and_slc}",
                target + open + slc
            );
            self.problem("ssd.geometry.reserved", message, Some("raise it, or ssd.geometry.blocks, or lower ssd.superblock.target"));
        } else if !shape.always_has_victim_at_free_superblocks(floor) {
            let message = format!(
                "of the {} superblocks of {} superpages so few are in reserve ({left}) that collection may come to find nothing worth moving",
                shape.superblocks,
                shape.superpages_per_superblock()
            );
            let help = if config.ssd.scale > 1 { "lower ssd.scale, or raise ssd.geometry.reserved" } else { "raise ssd.geometry.reserved" };
            self.problem("ssd.geometry.reserved", message, Some(help));
        }
    }
}

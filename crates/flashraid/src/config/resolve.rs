//! From what users wrote to the integers of the model; refuses what cannot be.

use std::path::PathBuf;

use super::array::Level;
use super::coordination::Scheme;
use super::device::{Allocation, Duplex, Link, LinkRate, PlaneChoice, Transfer, WarmUpPattern};
use super::gc::{Blocking, Idle, Pool, Preemption, StopThreshold, Trigger, VictimTable};
use super::problems::{Place, Problem};
use super::tree::Tree;
use super::validate::show;
use super::workload::Kind;
use super::{Config, Limit, Scenario, WarmState, workload_spec};
use flashraid_model::array::{self, ArrayParams, MEMBERS_MAX, WarmUp};
use flashraid_model::flash::{Geometry, Timing};
use flashraid_model::metrics::{MetricsParams, Skip};
use flashraid_model::ssd::{self, ChannelParams, GcParams, LinkParams, SsdParams, VictimPolicy};
use flashraid_workload::AddressSpace;
use flashraid_workload::units::{Duration, Size, counted};

/// The bytes of a sector, the unit that spare bytes are counted by.
const SECTOR_BYTES: u64 = 512;

/// Pages of one member: the ids of the model have 32 bits.
const PAGES_PER_MEMBER_MAX: u64 = u32::MAX as u64;

/// Pools of a die: what the model keeps a bit each for.
const PLANE_POOLS_MAX: u32 = 64;

const LONGEST_OPERATION_NS: u64 = 3_600_000_000_000;

/// Fills in what depends on other keys and checks what the schema cannot; the scenario if nothing is wrong.
pub(super) fn resolve(mut config: Config, tree: &Tree, problems: &mut Vec<Problem>) -> Option<Scenario> {
    let before = problems.len();
    let mut resolver = Resolver { tree, problems };
    config.inherits = None;
    let ssd = resolver.ssd(&config);
    let array = resolver.array(&mut config, ssd);
    resolver.preemption_options(&config);
    let metrics = resolver.metrics(&config);
    let space = array.as_ref().map(address_space);
    resolver.workload(&config, space.as_ref());
    if problems.len() > before {
        return None;
    }
    let array = array?;
    let warm_up = WarmUp {
        overwrites: config.ssd.warm_up.overwrites,
        pattern: match config.ssd.warm_up.pattern {
            WarmUpPattern::Random => array::WarmUpPattern::Random,
            WarmUpPattern::Workload => array::WarmUpPattern::Workload,
        },
    };
    let path = |path: &Option<String>| path.as_ref().map(PathBuf::from);
    Some(Scenario {
        hash: super::hash_of(&config),
        seed: config.seed,
        warm_up,
        warm_state: WarmState { save: path(&config.ssd.warm_up.save), load: path(&config.ssd.warm_up.load) },
        workload: workload_spec::to_spec(&config.workload),
        limit: Limit { requests: config.workload.requests, duration_ns: config.workload.duration.map(|time| time.ns) },
        metrics,
        endurance_erases: config.ssd.endurance,
        warnings: warnings(&config, &array),
        array,
        config,
    })
}

/// What a workload has to know of an array.
pub fn address_space(array: &ArrayParams) -> AddressSpace {
    let page_bytes = u64::from(array.ssd.geometry.page_bytes);
    let layout = array.layout();
    AddressSpace {
        capacity_bytes: layout.exported_pages() * page_bytes,
        page_bytes,
        stripe_unit_bytes: u64::from(array.stripe_unit_pages) * page_bytes,
        shape: layout.shape(),
    }
}

/// Allowed, but probably not meant.
fn warnings(config: &Config, array: &ArrayParams) -> Vec<String> {
    let mut warnings = without_effect(config);
    let geometry = &array.ssd.geometry;
    let gc = &array.ssd.gc;
    let pool_reserved = geometry.reserved_blocks_per_plane * if gc.pool == ssd::Pool::Die { geometry.planes } else { 1 };
    // One reserved block is always open.
    if gc.stop_free_blocks > pool_reserved - 1 {
        let text = format!(
            "ssd.gc.stop comes to {} free blocks, more than the {} that a pool can have when nothing is left to collect: collections only end for want of garbage",
            gc.stop_free_blocks,
            pool_reserved - 1
        );
        warnings.push(text);
    }
    for key in super::resolve_coordination::without_effect(&config.coordination) {
        warnings.push(format!("coordination.{key} is set, but this scheme does not use it"));
    }
    if config.array.rebuild.is_some() && config.array.failure.is_none() {
        warnings.push("array.rebuild has no effect, since no member fails (array.failure)".into());
    }
    for key in super::resolve_cache::without_effect(&config.cache) {
        warnings.push(format!("cache.{key} is set, but policy \"{}\" does not use it", config.cache.policy.name()));
    }
    if config.ssd.warm_up.load.is_some() && config.ssd.warm_up.save.is_some() {
        warnings.push("ssd.warm_up.load and save are both set: the state that is loaded is saved again".into());
    }
    warnings
}

/// Options of collection that are set although the mode of preemption, or the scheme, does not use them. A grid over the mode sets
/// them for all its points.
fn without_effect(config: &Config) -> Vec<String> {
    let (gc, default) = (&config.ssd.gc, super::gc::GcConfig::default());
    let of_preemption = [
        ("pipeline", gc.pipeline),
        ("merge", gc.merge),
        ("reorder", gc.reorder),
        ("t_hard", gc.t_hard != default.t_hard),
        ("poll", gc.poll != default.poll),
    ];
    let of_suspension = [
        ("suspend_ns", gc.suspend_ns != default.suspend_ns),
        ("resume_ns", gc.resume_ns != default.resume_ns),
        ("suspensions_max", gc.suspensions_max != default.suspensions_max),
    ];
    let unused = |needed, keys: &[(&str, bool)]| -> Vec<String> {
        let set = keys.iter().filter(|(_, is_set)| *is_set);
        set.map(|(key, _)| format!("ssd.gc.{key} has no effect without {needed}")).collect()
    };
    let mut warnings = Vec::new();
    if config.coordination.scheme == Scheme::Ideal {
        // Rule 109.
        let of_time = [
            ("blocking", gc.blocking != default.blocking),
            ("preemption", gc.preemption != default.preemption),
            ("idle", gc.idle != default.idle),
        ];
        let set = of_time.iter().filter(|(_, is_set)| *is_set);
        warnings.extend(
            set.map(|(key, _)| format!("ssd.gc.{key} has no effect with coordination.scheme = \"ideal\", where collection takes no time")),
        );
    }
    if gc.preemption == Preemption::None {
        warnings.extend(unused("preemption (ssd.gc.preemption = \"semi\" or \"suspend\")", &of_preemption));
    }
    if gc.preemption != Preemption::Suspend {
        warnings.extend(unused("ssd.gc.preemption = \"suspend\"", &of_suspension));
    }
    warnings
}

pub(super) struct Resolver<'a> {
    tree: &'a Tree,
    problems: &'a mut Vec<Problem>,
}

impl Resolver<'_> {
    fn place(&self, key: &str) -> Place {
        let plain = key.replace('[', ".").replace(']', "");
        self.tree.deepest(plain.split('.')).value_place.clone()
    }

    pub(super) fn problem(&mut self, key: &str, message: impl Into<String>, help: Option<&str>) {
        let place = Some(self.place(key));
        self.problems.push(Problem { key: key.to_string(), message: message.into(), help: help.map(str::to_string), place });
    }

    /// The value of a key as it was written.
    pub(super) fn written(&self, key: &str) -> String {
        show(&self.tree.deepest(key.split('.')).to_json())
    }

    fn ssd(&mut self, config: &Config) -> Option<SsdParams> {
        let before = self.problems.len();
        let geometry = self.geometry(config)?;
        let timing = self.timing(config, &geometry);
        let gc = self.gc(config, &geometry);
        let channel = self.channel(config);
        let link = link(config, u64::from(geometry.page_bytes));
        if self.problems.len() > before {
            return None;
        }
        Some(SsdParams {
            geometry,
            timing,
            die_stride_pages: config.ssd.die_stride,
            allocation: match config.ssd.allocation {
                Allocation::Static => ssd::Allocation::Static,
                Allocation::Dynamic => ssd::Allocation::Dynamic,
            },
            plane_choice: match config.ssd.plane_choice {
                PlaneChoice::MostFree => ssd::PlaneChoice::MostFree,
                PlaneChoice::Rotate => ssd::PlaneChoice::Rotate,
            },
            gc,
            fill_seals_last_block: config.ssd.fill_seals_last_block,
            channel,
            link,
        })
    }

    fn geometry(&mut self, config: &Config) -> Option<Geometry> {
        let before = self.problems.len();
        let written = &config.ssd.geometry;
        let page_bytes = written.page_size.bytes;
        if page_bytes == 0 || !page_bytes.is_multiple_of(SECTOR_BYTES) || page_bytes > 1 << 20 {
            let message = format!("`ssd.geometry.page_size` is {}, but must be a multiple of 512 B up to 1 MiB", written.page_size);
            self.problem("ssd.geometry.page_size", message, None);
        }
        if config.ssd.summary_page && written.pages < 2 {
            self.problem("ssd.geometry.pages", "a block whose last page is a summary needs at least 2 pages", None);
        }
        let blocks_per_member = u64::from(written.dies) * u64::from(written.planes) * u64::from(written.blocks);
        let page_ids = blocks_per_member.saturating_mul(u64::from(written.pages.next_power_of_two()));
        if page_ids > PAGES_PER_MEMBER_MAX {
            let message = format!(
                "{} dies × {} planes × {} blocks × {} pages are {} pages; a member can have at most {PAGES_PER_MEMBER_MAX} (pages of a block rounded up to a power of two)",
                written.dies,
                written.planes,
                written.blocks,
                written.pages,
                blocks_per_member.saturating_mul(u64::from(written.pages))
            );
            self.problem("ssd.geometry", message, Some("larger pages (`ssd.geometry.page_size`) need fewer of them"));
        }
        if config.ssd.gc.pool == Pool::Plane && written.planes > PLANE_POOLS_MAX {
            let message = format!(
                "`ssd.geometry.planes` is {}, but a die can have at most {PLANE_POOLS_MAX} planes with a pool each",
                written.planes
            );
            self.problem("ssd.geometry.planes", message, Some("set ssd.gc.pool = \"die\""));
        }
        let reserved = written.reserved.of(written.blocks);
        let planes_per_pool = if config.ssd.gc.pool == Pool::Die { written.planes } else { 1 };
        let (working, why) = working_blocks(config);
        let needed = (working + 1).div_ceil(planes_per_pool);
        if reserved < needed {
            // Rounded up, so that it is enough.
            let min = libm::ceil(f64::from(needed) / f64::from(written.blocks) * 1e6) / 1e6;
            let message = format!(
                "`ssd.geometry.reserved` is {}, which leaves {reserved} of the {} blocks of a plane in reserve, but garbage collection needs at least {needed} ({why}, and one free for `ssd.gc.start`)",
                self.written("ssd.geometry.reserved"),
                written.blocks
            );
            self.problem("ssd.geometry.reserved", message, Some(&format!("with {} blocks, {min} is the least", written.blocks)));
        } else if reserved >= written.blocks {
            let message = format!("`ssd.geometry.reserved` is {}, which leaves nothing to export", self.written("ssd.geometry.reserved"));
            self.problem("ssd.geometry.reserved", message, None);
        }
        (self.problems.len() == before).then_some(Geometry {
            dies: written.dies,
            planes: written.planes,
            blocks_per_plane: written.blocks,
            pages_per_block: written.pages,
            page_bytes: page_bytes as u32,
            reserved_blocks_per_plane: reserved,
            summary_page: config.ssd.summary_page,
        })
    }

    fn timing(&mut self, config: &Config, geometry: &Geometry) -> Timing {
        let written = &config.ssd.timing;
        for (key, time) in [
            ("page_read", written.page_read),
            ("page_program", written.page_program),
            ("block_erase", written.block_erase),
            ("command_overhead", written.command_overhead),
        ] {
            let min = u64::from(key != "command_overhead");
            if !(min..=LONGEST_OPERATION_NS).contains(&time.ns) {
                let message = format!("`ssd.timing.{key}` is {time}, but {min}ns to 1h is allowed");
                self.problem(&format!("ssd.timing.{key}"), message, None);
            }
        }
        if written.transfer_per_byte.ps > 1_000_000_000_000 {
            self.problem("ssd.timing.transfer_per_byte", "`ssd.timing.transfer_per_byte` must be at most a second", None);
        }
        let is_free = config.ssd.transfer == Transfer::None;
        // To the nearest nanosecond; the presets of the papers come out even.
        let transfer_ns = |sectors: u64| {
            let bytes = sectors * (SECTOR_BYTES + u64::from(written.spare_bytes_per_sector));
            let ps = u128::from(bytes) * u128::from(written.transfer_per_byte.ps);
            if is_free { 0 } else { u64::try_from((ps + 500) / 1000).unwrap_or(u64::MAX) }
        };
        Timing {
            page_read_ns: written.page_read.ns,
            page_program_ns: written.page_program.ns,
            block_erase_ns: written.block_erase.ns,
            page_transfer_ns: transfer_ns(u64::from(geometry.page_bytes) / SECTOR_BYTES),
            summary_transfer_ns: if geometry.summary_page { transfer_ns(1) } else { 0 },
            command_overhead_ns: written.command_overhead.ns,
        }
    }

    fn gc(&mut self, config: &Config, geometry: &Geometry) -> GcParams {
        let written = &config.ssd.gc;
        let planes_per_pool = if written.pool == Pool::Die { geometry.planes } else { 1 };
        let pool_blocks = planes_per_pool * geometry.blocks_per_plane;
        let pool_reserved = planes_per_pool * geometry.reserved_blocks_per_plane;
        let pool = if written.pool == Pool::Die { "a die" } else { "a plane" };
        let start = written.start.blocks_of(pool_blocks);
        let stop = written.stop.blocks_of(pool_blocks, start);
        // Rule 16: with less, a pool could run dry. `geometry` has made sure that 1 is possible.
        let (working, why) = working_blocks(config);
        let start_max = pool_reserved - working;
        if start == 0 || start > start_max {
            let allowed = if start_max == 1 { "1 block".to_string() } else { format!("1 to {start_max} blocks") };
            let message = format!(
                "`ssd.gc.start` is {}, which comes to {start} of the {pool_blocks} blocks of {pool}, but {allowed} are allowed (the reserve of {pool_reserved}, less {why})",
                self.written("ssd.gc.start"),
            );
            let help = if start == 0 { "raise it, or write \"1 block\"" } else { "lower it, or raise ssd.geometry.reserved" };
            self.problem("ssd.gc.start", message, Some(help));
        } else if stop <= start || stop > pool_reserved {
            let message = format!(
                "`ssd.gc.stop` is {}, which comes to {stop} free blocks of {pool}, but {} (one more than the start) to {pool_reserved} (the reserve) are allowed",
                self.written("ssd.gc.stop"),
                start + 1
            );
            let help = matches!(written.stop, StopThreshold::AboveStart(_)).then_some("lower ssd.gc.start, or raise ssd.geometry.reserved");
            self.problem("ssd.gc.stop", message, help);
        }
        if written.blocking == Blocking::Plane && written.pool != Pool::Plane {
            let message = "`ssd.gc.blocking` is \"plane\", but planes can be blocked one by one only if each has a pool of its own";
            self.problem("ssd.gc.blocking", message, Some("set ssd.gc.pool = \"plane\" or ssd.gc.blocking = \"die\""));
        }
        GcParams {
            pool: match written.pool {
                Pool::Plane => ssd::Pool::Plane,
                Pool::Die => ssd::Pool::Die,
            },
            blocking: match written.blocking {
                Blocking::Die => ssd::Blocking::Die,
                Blocking::Plane => ssd::Blocking::Plane,
            },
            start_free_blocks: start,
            stop_free_blocks: stop,
            trigger: match written.trigger {
                Trigger::Request => ssd::Trigger::Request,
                Trigger::Write => ssd::Trigger::Write,
            },
            victim: self.victim(config),
            separate_open_block: written.separate_open_block,
            copy_back: written.copy_back,
            instantaneous: config.coordination.scheme == Scheme::Ideal,
            preemption: (written.preemption != Preemption::None).then(|| ssd::Preemption {
                poll_ns: written.poll.ns,
                t_hard: written.t_hard.0,
                pipeline: written.pipeline,
                merge: written.merge,
                reorder: written.reorder,
                suspension: (written.preemption == Preemption::Suspend).then_some(ssd::Suspension {
                    suspend_ns: written.suspend_ns,
                    resume_ns: written.resume_ns,
                    times_max: written.suspensions_max,
                }),
            }),
            idle_ns: match written.idle {
                Idle::Off => None,
                Idle::After(time) => Some(time.ns),
            },
        }
    }

    fn victim(&mut self, config: &Config) -> VictimPolicy {
        match config.ssd.gc.victim.spelt_out() {
            VictimTable::Greedy {} => VictimPolicy::Greedy,
            VictimTable::GreedyWearAware { threshold } => {
                if threshold.0 <= 0.0 || threshold.0 >= 1.0 {
                    let message = format!("`ssd.gc.victim.threshold` is {}, but must lie between 0 and 1, both excluded", threshold.0);
                    self.problem("ssd.gc.victim.threshold", message, None);
                }
                VictimPolicy::GreedyWearAware { threshold: threshold.0, endurance_erases: config.ssd.endurance }
            }
            VictimTable::CostBenefit {} => VictimPolicy::CostBenefit,
            VictimTable::DChoices { d } => VictimPolicy::DChoices { d },
            VictimTable::Fifo {} => VictimPolicy::Fifo,
            VictimTable::Random {} => VictimPolicy::Random,
        }
    }

    fn channel(&mut self, config: &Config) -> Option<ChannelParams> {
        let dies = config.ssd.geometry.dies;
        match (config.ssd.transfer, &config.ssd.channel) {
            (Transfer::Channel, Some(channel)) => {
                let per_channel = channel.dies_per_channel;
                if per_channel > dies {
                    let message = format!("`ssd.channel.dies_per_channel` is {per_channel}, but there are only {dies} dies");
                    self.problem("ssd.channel.dies_per_channel", message, None);
                }
                if config.ssd.timing.transfer_per_byte.ps == 0 {
                    let message = "`ssd.timing.transfer_per_byte` is 0, but with `ssd.transfer = \"channel\"` a transfer takes time";
                    self.problem("ssd.timing.transfer_per_byte", message, Some("set ssd.transfer = \"none\" for transfers that take none"));
                }
                Some(ChannelParams { dies_per_channel: per_channel })
            }
            (Transfer::Channel, None) => {
                let message = "`ssd.transfer` is \"channel\", but nothing says how many dies share one";
                self.problem("ssd.transfer", message, Some("set ssd.channel.dies_per_channel"));
                None
            }
            // A preset's channels are no mistake of a user who switches them off.
            _ => None,
        }
    }

    fn array(&mut self, config: &mut Config, ssd: Option<SsdParams>) -> Option<ArrayParams> {
        let before = self.problems.len();
        let level = config.array.level;
        let members = config.array.members.unwrap_or_else(|| level.default_members());
        let name = level.name();
        let (min, max, even) = match level {
            Level::Single => (1, 1, false),
            Level::Raid0 => (1, MEMBERS_MAX, false),
            Level::Raid1 => (2, MEMBERS_MAX, false),
            Level::Raid10 => (2, MEMBERS_MAX, true),
            Level::Raid4 | Level::Raid5 => (3, MEMBERS_MAX, false),
            Level::Raid6 => (4, MEMBERS_MAX, false),
        };
        if members < min || members > max || (even && members % 2 == 1) {
            let allowed = match (min == max, even) {
                (true, _) => format!("exactly {min}"),
                (false, true) => format!("an even number from {min} to {max}"),
                (false, false) => format!("{min} to {max}"),
            };
            let help = (level == Level::Single).then_some("did you mean array.level = \"raid0\"?");
            self.problem("array.members", format!("`array.members` is {members}, but \"{name}\" takes {allowed}"), help);
        }
        let page_bytes = config.ssd.geometry.page_size.bytes;
        let stripe_unit = config.array.stripe_unit.unwrap_or(Size { bytes: page_bytes.max(4096) });
        if page_bytes > 0
            && page_bytes.is_multiple_of(SECTOR_BYTES)
            && (stripe_unit.bytes == 0 || !stripe_unit.bytes.is_multiple_of(page_bytes))
        {
            let below = Size { bytes: stripe_unit.bytes / page_bytes * page_bytes };
            let above = Size { bytes: below.bytes.saturating_add(page_bytes) };
            let near = if below.bytes == 0 { above.to_string() } else { format!("{below} or {above}") };
            let message = format!(
                "`array.stripe_unit` is {stripe_unit}, but must be a multiple of the page size ({})",
                config.ssd.geometry.page_size
            );
            self.problem("array.stripe_unit", message, Some(&format!("nearest: {near}")));
        }
        let ssd = ssd?;
        let coordination = if self.problems.len() > before { None } else { self.coordination(config, members, &ssd) };
        let member_bytes = ssd.exported_pages() * page_bytes;
        if stripe_unit.bytes > member_bytes {
            let message = format!("`array.stripe_unit` is {stripe_unit}, more than a member exports ({})", Size { bytes: member_bytes });
            self.problem("array.stripe_unit", message, None);
        }
        let level = match level {
            Level::Single => array::Level::Single,
            Level::Raid0 => array::Level::Raid0,
            Level::Raid1 => array::Level::Raid1,
            Level::Raid10 => array::Level::Raid10,
            Level::Raid4 => array::Level::Raid4,
            Level::Raid5 => array::Level::Raid5,
            Level::Raid6 => array::Level::Raid6,
        };
        let failure = self.failure(config, level, members, stripe_unit);
        let cache = self.cache(config, members, page_bytes);
        if self.problems.len() > before {
            return None;
        }
        config.array.members = Some(members);
        config.array.stripe_unit = Some(stripe_unit);
        Some(ArrayParams {
            level,
            members,
            stripe_unit_pages: u32::try_from(stripe_unit.bytes / page_bytes).expect("a member's pages fit 32 bits"),
            coordination,
            failure,
            cache,
            ssd,
        })
    }

    /// Options of preemption and idle collection that mean something only together with others.
    fn preemption_options(&mut self, config: &Config) {
        let gc = &config.ssd.gc;
        if gc.preemption != Preemption::None && gc.reorder && !gc.merge {
            let message = "`ssd.gc.reorder` is true, but what it moves first is served by merging, and `ssd.gc.merge` is false";
            self.problem("ssd.gc.reorder", message, Some("set ssd.gc.merge = true, or remove it"));
        }
        if gc.idle == (Idle::After(Duration { ns: 0 })) {
            self.problem("ssd.gc.idle", "`ssd.gc.idle` is 0, but must be \"off\" or at least 1ns", None);
        }
    }

    fn metrics(&mut self, config: &Config) -> MetricsParams {
        let report = &config.report;
        for (key, time) in [("bandwidth_interval", report.bandwidth_interval), ("gc_slice", report.gc_slice)] {
            if time.ns == 0 {
                self.problem(&format!("report.{key}"), format!("`report.{key}` is 0, but must be at least 1ns"), None);
            }
        }
        let timeline = report.timeline.as_ref().map(|window| (window.from.ns, window.to.ns));
        if let Some((from, to)) = timeline
            && from >= to
        {
            self.problem("report.timeline", "`report.timeline` ends before it begins: `to` must be later than `from`", None);
        }
        let skip = match (report.skip_requests, report.skip_time) {
            (None, None) => Skip::Nothing,
            (Some(requests), None) => Skip::Requests(requests),
            (None, Some(time)) => Skip::Time(time.ns),
            (Some(_), Some(_)) => {
                self.problem(
                    "report.skip_time",
                    "`report.skip_requests` and `report.skip_time` are both set, but only one of them can hold",
                    None,
                );
                Skip::Nothing
            }
        };
        if let (Skip::Requests(skipped), Some(requests)) = (skip, config.workload.requests)
            && skipped >= requests
        {
            let end = counted(requests, "request");
            let message = format!("`report.skip_requests` is {skipped}, but the run ends after {end}: nothing would be measured");
            self.problem("report.skip_requests", message, None);
        }
        if let (Skip::Time(skipped), Some(duration)) = (skip, config.workload.duration)
            && skipped >= duration.ns
        {
            let message = format!("`report.skip_time` is as long as the run ({duration}): nothing would be measured");
            self.problem("report.skip_time", message, None);
        }
        MetricsParams { bandwidth_interval_ns: report.bandwidth_interval.ns, gc_slice_ns: report.gc_slice.ns, timeline, skip }
    }

    fn workload(&mut self, config: &Config, space: Option<&AddressSpace>) {
        let before = self.problems.len();
        self.workload_keys(&config.workload, "workload", true);
        if let Some(space) = space.filter(|_| self.problems.len() == before) {
            for problem in workload_spec::to_spec(&config.workload).problems(space) {
                let key = workload_spec::key_of_spec_problem("workload", &problem.key);
                let message = format!("`{key}` {}", problem.message);
                self.problem(&key, message, None);
            }
        }
    }

    fn workload_keys(&mut self, workload: &super::workload::WorkloadConfig, section: &str, is_whole: bool) {
        use super::workload::{AddressFit, Pattern};
        if !is_whole {
            for (key, is_set) in [("requests", workload.requests.is_some()), ("duration", workload.duration.is_some())] {
                if is_set {
                    let message = format!("`{section}.{key}` ends the run, but this is one stream of a mix");
                    self.problem(
                        &format!("{section}.{key}"),
                        message,
                        Some(&format!("use `{section}.limit`, or `workload.{key}` for the whole")),
                    );
                }
            }
        }
        if workload.duration.is_some_and(|time| time.ns == 0) {
            self.problem(&format!("{section}.duration"), format!("`{section}.duration` is 0, but must be at least 1ns"), None);
        }
        if workload.kind == Some(Kind::Trace) && workload.path.is_none() {
            self.problem(
                &format!("{section}.kind"),
                format!("`{section}.kind` is \"trace\", but no `{section}.path` names the file"),
                None,
            );
        }
        if workload.kind == Some(Kind::Mix) && workload.streams.is_none() {
            self.problem(
                &format!("{section}.kind"),
                format!("`{section}.kind` is \"mix\", but no `{section}.streams` lists its streams"),
                None,
            );
        }
        if workload.address_extent.is_some() && workload.address_fit != Some(AddressFit::Scale) {
            let message = format!("`{section}.address_extent` is used only with address_fit = \"scale\"");
            self.problem(&format!("{section}.address_extent"), message, None);
        }
        if let Some(address) = &workload.address {
            let zipf = address.pattern == Pattern::Zipf;
            let hot_cold = address.pattern == Pattern::HotCold;
            let keys = [
                ("exponent", address.exponent.is_some() && !zipf, "\"zipf\""),
                ("request_share", address.request_share.is_some() && !hot_cold, "\"hot-cold\""),
                ("space_share", address.space_share.is_some() && !hot_cold, "\"hot-cold\""),
                ("chunk", address.chunk.is_some() && !zipf && !hot_cold, "\"zipf\" or \"hot-cold\""),
                ("scatter", address.scatter.is_some() && !zipf && !hot_cold, "\"zipf\" or \"hot-cold\""),
            ];
            for (key, _, needs) in keys.into_iter().filter(|(_, is_wrong, _)| *is_wrong) {
                let message = format!("`{section}.address.{key}` is used only with the address pattern {needs}");
                self.problem(&format!("{section}.address.{key}"), message, Some(&format!("set {section}.address.pattern, or remove it")));
            }
        }
        for (at, stream) in workload.streams.iter().flatten().enumerate() {
            self.workload_keys(stream, &format!("{section}.streams[{at}]"), false);
        }
    }
}

/// Reserved blocks of a pool beyond `start` without which it could run dry (rules 16 and 8), and what they are for.
fn working_blocks(config: &Config) -> (u32, String) {
    let mut parts = vec!["one open and one for it to be followed by"];
    if config.ssd.gc.separate_open_block {
        parts.push("one open for moved pages");
    }
    if config.ssd.allocation == Allocation::Dynamic {
        parts.push("one for writes on their way");
    }
    if !config.ssd.fill_seals_last_block {
        parts.push("one that the fill leaves unsealed");
    }
    (parts.len() as u32 + 1, parts.join(", "))
}

fn link(config: &Config, page_bytes: u64) -> Option<LinkParams> {
    let (rate, duplex) = match &config.ssd.link {
        Link::Rate(LinkRate::Off) => return None,
        Link::Rate(LinkRate::HalfDuplex(rate)) => (*rate, Duplex::Half),
        Link::Table(table) => (table.rate, table.duplex),
    };
    let page_ns = (u128::from(page_bytes) * 1_000_000_000).div_ceil(u128::from(rate.bytes_per_s));
    Some(LinkParams { page_ns: u64::try_from(page_ns).unwrap_or(u64::MAX), full_duplex: duplex == Duplex::Full })
}

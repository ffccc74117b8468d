//! Converts the user's configuration to the parameters of the model, and refuses impossible settings.

use std::path::PathBuf;

use super::device::{ControllerDiePath, FillBeforeWarmUp, GeometryConfig, HalfDuplexLinkBandwidthLimit, HostLinkBandwidth, WriteZeroes};
use super::gc::{IdleTimeBeforeCollection, Preemption, REFERENCE_NO_COPY_BACK};
use super::problems::{Problem, TextPlace};
use super::tree::Tree;
use super::validate::show;
use super::workload::WorkloadKind;
use super::{Config, RunLimit, Scenario, WarmStateFiles, workload_spec};
use flashraid_model::array::{ArrayParams, MEMBERS_MAX, ParityHandle, RaidLevel, WarmUpPattern};
use flashraid_model::events::TIME_MAX_NS;
use flashraid_model::flash::{DieToChannelAssignment, Geometry, Timing};
use flashraid_model::metrics::{MetricsParams, UnmeasuredStart};
use flashraid_model::policy::ParameterProblem;
use flashraid_model::space::pools::BLOCK_POOLS_PER_DIE_MAX;
use flashraid_model::ssd::{
    BlockPoolScope, CollectionBlockingScope, DieChoiceForWrites, DieDelayMechanisms, Duplex, GcAlgorithm, GcParams, GcPreemption,
    HostLinkParams, HostOverlapWithMoves, SsdParams, VictimPolicy,
};
use flashraid_workload::units::{Duration, GcStopThreshold, Size, count_with_noun};
use flashraid_workload::{ArrayProperties, SourceSpec};

/// Number of bytes in a sector, the unit by which spare bytes are counted.
pub(super) const SECTOR_BYTES: u64 = 512;

/// Maximum number of pages of one member, because the model's numbers have 32 bits.
const PAGES_PER_MEMBER_MAX: u64 = u32::MAX as u64;

pub(super) const LONGEST_OPERATION_NS: u64 = 3_600_000_000_000;

/// Longest time that one die may need to collect all its blocks once: about nine years. Sums of times in the model then cannot overflow
/// before it checks the clock.
const LONGEST_DIE_NS: u128 = 1 << 58;

/// Fills in keys that depend on others, and checks what the schema cannot. Returns the scenario if there is no problem.
pub(super) fn resolve(mut config: Config, tree: &Tree, written: &Tree, problems: &mut Vec<Problem>) -> Option<Scenario> {
    let before = problems.len();
    let mut resolver = Resolver { tree, written, problems };
    config.inherits = None;
    let ssd = resolver.ssd(&config);
    let array = resolver.array(&mut config, ssd);
    resolver.preemption_options(&config);
    resolver.parallel_planes(&config);
    resolver.procedure(&config);
    let metrics = resolver.metrics(&config);
    let space = array.as_ref().map(workload_address_space);
    resolver.workload(&config, space.as_ref());
    if problems.len() > before {
        return None;
    }
    let array = array?;
    let path = |path: &Option<String>| path.as_ref().map(PathBuf::from);
    let mut workload = workload_spec::to_spec(&config.workload);
    if config.ssd.write_zeroes == WriteZeroes::Deallocate {
        workload.transform.zero_write_trim_granularity_bytes = deallocated_bytes(&array);
    }
    Some(Scenario {
        config_hash: super::hash_of(&config),
        seed: config.seed,
        warm_up: config.ssd.warm_up.overwriting.clone(),
        warm_state: WarmStateFiles { save_to: path(&config.ssd.warm_up.save), load_from: path(&config.ssd.warm_up.load) },
        workload,
        run_limit: RunLimit { max_requests: config.workload.requests, max_duration_ns: config.workload.duration.map(|time| time.ns) },
        metrics,
        endurance_erases: config.ssd.endurance,
        warnings: warnings(&config, &array, written),
        array,
        config,
    })
}

/// Returns the number of consecutive bytes of the array that can only be deallocated together (rule 220). These are units of the map, and
/// with parity whole stripes.
///
/// It is `None` if writes of zeroes deallocate nothing.
fn deallocated_bytes(array: &ArrayParams) -> Option<u64> {
    let space = workload_address_space(array);
    let unit_bytes = array.ssd.superblock.as_ref().map_or(1, |superblock| u64::from(superblock.pages_per_mapping_unit)) * space.page_bytes;
    if space.stripe_unit_bytes.is_multiple_of(unit_bytes) {
        return Some(if space.stripe_shape.parity_strips > 0 { space.stripe_data_bytes() } else { unit_bytes });
    }
    // Units that reach over strips need several stripes. With parity, these are trimmed one by one.
    let mut stripes = 1;
    while !(stripes * space.stripe_unit_bytes).is_multiple_of(unit_bytes) {
        stripes += 1;
    }
    (space.stripe_shape.parity_strips == 0).then(|| stripes * space.stripe_data_bytes())
}

/// Returns the address space of an array for its workload: capacity, page size, and the layout of stripes.
pub fn workload_address_space(array: &ArrayParams) -> ArrayProperties {
    let page_bytes = u64::from(array.ssd.geometry.page_bytes);
    let layout = array.layout();
    ArrayProperties {
        capacity_bytes: layout.exported_pages() * page_bytes,
        page_bytes,
        stripe_unit_bytes: u64::from(array.stripe_unit_pages) * page_bytes,
        stripe_shape: layout.stripe_shape(),
    }
}

/// Returns warnings about settings that are allowed but probably not intended.
fn warnings(config: &Config, array: &ArrayParams, written: &Tree) -> Vec<String> {
    let mut warnings = without_effect(config);
    let geometry = &array.ssd.geometry;
    let gc = &array.ssd.gc;
    let pool_reserved = geometry.overprovisioned_blocks_per_plane * if gc.rules.pool == BlockPoolScope::Die { geometry.planes } else { 1 };
    // One reserved block is always open.
    if gc.stop_threshold_free_blocks > pool_reserved - 1 {
        let text = format!(
            "ssd.gc.stop is {} free blocks, but a pool has at most {} when nothing is left to collect, so that collections end only when there is no more garbage",
            gc.stop_threshold_free_blocks,
            pool_reserved - 1
        );
        warnings.push(text);
    }
    for key in super::resolve_coordination::without_effect(&config.coordination) {
        warnings.push(format!("coordination.{key} is set, but this scheme does not use it"));
    }
    warnings.extend(super::resolve_coordination::contradictions(config));
    warnings.extend(super::resolve_superblock::warning_of_scale(config));
    if config.array.rebuild.is_some() && config.array.failure.is_none() {
        warnings.push("array.rebuild has no effect, because no member fails (array.failure)".into());
    }
    if let (Some(rebuild), false) = (array.rebuild, array.failures.is_empty())
        && rebuild.settings.spares as usize > array.failures.len()
    {
        let (spares, failures) = (rebuild.settings.spares, array.failures.len());
        warnings.push(format!("array.rebuild.spares is {spares}, more than the members that fail ({failures})"));
    }
    let failed: Vec<u32> = array.failures.iter().map(|failure| failure.member).collect();
    if !array.layout().survives_failures_of(&failed) {
        let unless = if array.rebuild.is_some() { ", unless the first of them have been rebuilt before the last ones fail" } else { "" };
        warnings.push(format!(
            "array.failure lets members {} fail, which is more than level \"{}\" survives{unless}: data are lost, and the figures are those of an array that does not do its work",
            failed.iter().map(u32::to_string).collect::<Vec<_>>().join(", "),
            config.array.level.name(),
        ));
    }
    for key in super::resolve_cache::without_effect(&config.cache) {
        warnings.push(format!("cache.{key} is set, but policy \"{}\" does not use it", config.cache.policy.name()));
    }
    if config.ssd.warm_up.load.is_some() && config.ssd.warm_up.save.is_some() {
        warnings.push("ssd.warm_up.load and save are both set, so the loaded state is saved again".into());
    }
    let is_written = |key: &str| written.at(key).is_some();
    warnings.extend(super::read::without_effect(config, array, is_written));
    if config.ssd.warm_up.load.is_some() {
        for key in ["ssd.warm_up.overwrites", "ssd.warm_up.pattern"].into_iter().filter(|key| is_written(key)) {
            warnings.push(format!("{key} has no effect beside ssd.warm_up.load, because the loaded state is warm already"));
        }
    }
    if config.ssd.warm_up.overwriting.pattern == WarmUpPattern::SteadyStateWithoutWrites
        && config.ssd.warm_up.overwriting.overwrites_per_page > 0.0
    {
        warnings.push(
            "ssd.warm_up.overwriting.overwrites_per_page has no effect with ssd.warm_up.pattern = \"steady\", which overwrites nothing"
                .into(),
        );
    }
    // A user may think that one or two keys describe the whole workload.
    let names_base = ["preset", "kind", "path", "streams"].iter().any(|key| is_written(&format!("workload.{key}")));
    let of_generator = |key: &&String| workload_spec::kind_of_key(key) == Some("synthetic");
    if let (false, Some(key)) = (names_base, written.get("workload").and_then(|workload| workload.keys().find(of_generator).cloned())) {
        let base = super::workload::DEFAULT_PRESET;
        warnings.push(format!(
            "workload.{key} changes the preset {base}, because neither workload.preset nor workload.kind is given; all other keys are those of {base}"
        ));
    }
    if is_written("ssd.channel") && config.ssd.transfer != ControllerDiePath::Channel {
        warnings.push("ssd.channel has no effect without ssd.transfer = \"channel\"".into());
    }
    if array.members == 1 && config.coordination.policy.has_coordinating_controller() {
        warnings.push("coordination.scheme has nothing to coordinate, because the array has one member".into());
    }
    warnings
}

/// Returns the options of collection that have no effect, because of the mode of preemption or the scheme. They are no problems, because a
/// grid over the mode sets them for all its points.
fn without_effect(config: &Config) -> Vec<String> {
    let (gc, default) = (&config.ssd.gc, super::gc::GcConfig::default());
    let of_preemption = [
        ("pipeline", gc.options.pipeline != HostOverlapWithMoves::NoOverlap),
        ("merge", gc.options.merge),
        ("reorder", gc.options.reorder),
        ("t_hard", gc.options.t_hard != default.options.t_hard),
        ("poll", gc.options.poll != default.options.poll),
    ];
    let of_suspension = [
        ("suspend_ns", gc.suspension.suspend_ns != default.suspension.suspend_ns),
        ("resume_ns", gc.suspension.resume_ns != default.suspension.resume_ns),
        ("suspensions_max", gc.suspension.suspensions_max != default.suspension.suspensions_max),
    ];
    let unused = |needed, keys: &[(&str, bool)]| -> Vec<String> {
        let set = keys.iter().filter(|(_, is_set)| *is_set);
        set.map(|(key, _)| format!("ssd.gc.{key} has no effect without {needed}")).collect()
    };
    let mut warnings = Vec::new();
    if config.coordination.policy.collection_takes_no_time() {
        // Collection that takes no time cannot be preempted (rule 109).
        let of_time = [
            ("blocking", gc.rules.blocking != default.rules.blocking),
            // Programs of the host are suspended in any case, because that depends on the drive only (rule 217).
            (
                "preemption",
                gc.preemption != default.preemption && !(config.ssd.superblock.is_some() && gc.preemption == Preemption::Suspend),
            ),
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
        if config.ssd.suspension.is_some() {
            warnings.push("ssd.suspension has no effect without ssd.gc.preemption = \"suspend\"".into());
        }
    }
    warnings
}

pub(super) struct Resolver<'a> {
    tree: &'a Tree,
    /// Values that the user wrote, without the presets.
    written: &'a Tree,
    problems: &'a mut Vec<Problem>,
}

impl Resolver<'_> {
    fn place(&self, key: &str) -> TextPlace {
        self.tree.deepest(plain(key).split('.')).value_place.clone()
    }

    pub(super) fn problem(&mut self, key: &str, message: impl Into<String>, help: Option<&str>) {
        let place = Some(self.place(key));
        self.problems.push(Problem { key: key.to_string(), message: message.into(), suggested_fix: help.map(str::to_string), place });
    }

    /// Adds a problem that a policy has found. `table` is the table of the policy's parameters.
    pub(super) fn policy_problem(&mut self, table: &str, ParameterProblem { key, message }: &ParameterProblem) {
        let key = format!("{table}.{key}");
        let message = format!("`{key}` is {}, {message}", self.written(&key));
        self.problem(&key, message, None);
    }

    /// Returns true if the user wrote the key, and false if its value comes from a preset.
    pub(super) fn is_written(&self, key: &str) -> bool {
        self.written.at(key).is_some()
    }

    pub(super) fn problems_so_far(&self) -> usize {
        self.problems.len()
    }

    /// Returns the value of a key as it was written.
    pub(super) fn written(&self, key: &str) -> String {
        show(&self.tree.deepest(key.split('.')).to_json())
    }

    fn ssd(&mut self, config: &Config) -> Option<SsdParams> {
        let before = self.problems.len();
        if config.ssd.superblock.is_some() {
            return self.superblock_ssd(config);
        }
        self.needs_superblock(config);
        let geometry = self.geometry(config)?;
        let timing = self.timing(config, &geometry);
        let gc = self.gc(config, &geometry);
        let channel = self.channel(config);
        let link = link(config, u64::from(geometry.page_bytes));
        let front = self.front(config, &geometry);
        if self.problems.len() > before {
            return None;
        }
        let ssd = SsdParams {
            geometry,
            timing,
            writes: config.ssd.writes,
            gc,
            pools_start_empty: config.ssd.warm_up.start == FillBeforeWarmUp::Fresh,
            channel,
            link,
            front_end: front,
            die_delay_mechanisms: self.mechanisms(config),
            superblock: None,
        };
        self.longest_times(config, &ssd);
        (self.problems.len() == before).then_some(ssd)
    }

    fn geometry(&mut self, config: &Config) -> Option<Geometry> {
        let before = self.problems.len();
        let GeometryConfig { shape: written, page_size, reserved } = &config.ssd.geometry;
        let page_bytes = page_size.bytes;
        if page_bytes == 0 || !page_bytes.is_multiple_of(SECTOR_BYTES) || page_bytes > 1 << 20 {
            let message = format!("`ssd.geometry.page_size` is {}, but must be a multiple of 512 B up to 1 MiB", page_size);
            self.problem("ssd.geometry.page_size", message, None);
        }
        if config.ssd.writes.summary_page.last_page_holds_summary() && written.pages_per_block < 2 {
            self.problem("ssd.geometry.pages", "a block whose last page is a summary needs at least 2 pages", None);
        }
        let blocks_per_member = u64::from(written.dies) * u64::from(written.planes) * u64::from(written.blocks_per_plane);
        let page_ids = blocks_per_member.saturating_mul(u64::from(written.pages_per_block.next_power_of_two()));
        if page_ids > PAGES_PER_MEMBER_MAX {
            let message = format!(
                "{} dies × {} planes × {} blocks × {} pages are {} pages; a member can have at most {PAGES_PER_MEMBER_MAX} (pages of a block rounded up to a power of two)",
                written.dies,
                written.planes,
                written.blocks_per_plane,
                written.pages_per_block,
                blocks_per_member.saturating_mul(u64::from(written.pages_per_block))
            );
            self.problem("ssd.geometry", message, Some("larger pages (`ssd.geometry.page_size`) need fewer of them"));
        }
        if config.ssd.gc.rules.pool == BlockPoolScope::Plane && written.planes > BLOCK_POOLS_PER_DIE_MAX {
            let message = format!(
                "`ssd.geometry.planes` is {}, but a die can have at most {BLOCK_POOLS_PER_DIE_MAX} planes with a pool each",
                written.planes
            );
            self.problem("ssd.geometry.planes", message, Some("set ssd.gc.pool = \"die\""));
        }
        let reserved = reserved.floor_of(written.blocks_per_plane);
        let planes_per_pool = if config.ssd.gc.rules.pool == BlockPoolScope::Die { written.planes } else { 1 };
        let (working, why) = working_blocks(config);
        let needed = (working + 1).div_ceil(planes_per_pool);
        if reserved < needed {
            // The value is rounded up, so that it is enough.
            let min = libm::ceil(f64::from(needed) / f64::from(written.blocks_per_plane) * 1e6) / 1e6;
            let message = format!(
                "`ssd.geometry.reserved` is {}, which leaves {reserved} of the {} blocks of a plane in reserve, but garbage collection needs at least {needed} ({why}, and one free for `ssd.gc.start`)",
                self.written("ssd.geometry.reserved"),
                written.blocks_per_plane
            );
            self.problem("ssd.geometry.reserved", message, Some(&format!("with {} blocks, {min} is the least", written.blocks_per_plane)));
        } else if reserved >= written.blocks_per_plane {
            let message = format!("`ssd.geometry.reserved` is {}, which leaves nothing to export", self.written("ssd.geometry.reserved"));
            self.problem("ssd.geometry.reserved", message, None);
        }
        (self.problems.len() == before).then_some(Geometry {
            page_bytes: page_bytes as u32,
            overprovisioned_blocks_per_plane: reserved,
            has_summary_page: config.ssd.writes.summary_page.last_page_holds_summary(),
            ..*written
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
        let is_free = config.ssd.transfer == ControllerDiePath::None;
        // The time is rounded to the nearest nanosecond. The presets of the papers give whole numbers.
        let transfer_ns = |sectors: u64| {
            let bytes = sectors * (SECTOR_BYTES + u64::from(written.spare_bytes_per_sector));
            let ps = u128::from(bytes) * u128::from(written.transfer_per_byte.picoseconds);
            // The product fits 79 bits: 64 for the time of a byte, 15 for the bytes.
            if is_free { 0 } else { (ps + 500) / 1000 }
        };
        let page_transfer_ns = transfer_ns(u64::from(geometry.page_bytes) / SECTOR_BYTES);
        if page_transfer_ns > u128::from(LONGEST_OPERATION_NS) {
            let message = format!(
                "`ssd.timing.transfer_per_byte` is {}, with which the transfer of a page takes more than the 1h that is allowed",
                written.transfer_per_byte
            );
            self.problem("ssd.timing.transfer_per_byte", message, None);
        }
        let allowed_ns = |ns: u128| ns.min(u128::from(LONGEST_OPERATION_NS)) as u64;
        Timing {
            page_transfer_ns: allowed_ns(page_transfer_ns),
            block_summary_page_transfer_ns: if geometry.has_summary_page { allowed_ns(transfer_ns(1)) } else { 0 },
            spreads_summary_page_over_programs: config.ssd.writes.summary_page.spreads_time_over_programs(),
            ..*written
        }
    }

    /// Checks that no operation is so long that sums of a die's times could overflow.
    fn longest_times(&mut self, config: &Config, ssd: &SsdParams) {
        let poll = config.ssd.gc.options.poll;
        if poll.ns > LONGEST_OPERATION_NS {
            self.problem("ssd.gc.poll", format!("`ssd.gc.poll` is {poll}, but at most 1h is allowed"), None);
        }
        if ssd.link.is_some_and(|link| link.page_transfer_ns > LONGEST_OPERATION_NS) {
            self.problem("ssd.link", "`ssd.link` is so slow that a page takes more than the 1h that is allowed", Some("raise the rate"));
        }
        let (g, t) = (&ssd.geometry, &ssd.timing);
        let mut page_ns = u128::from(t.page_read.ns) + 2 * u128::from(t.page_program.ns) + u128::from(t.command_overhead.ns);
        page_ns += 2 * u128::from(t.page_transfer_ns) + u128::from(t.block_summary_page_transfer_ns);
        if let Some(preemption) = ssd.gc.preemption {
            page_ns += 2 * u128::from(preemption.poll.ns);
            if let Some(suspension) = preemption.suspension {
                page_ns += (u128::from(suspension.suspend_ns) + u128::from(suspension.resume_ns)) * u128::from(suspension.suspensions_max);
            }
        }
        let block_ns = page_ns * u128::from(g.pages_per_block) + u128::from(t.block_erase.ns);
        let die_ns = block_ns * u128::from(g.blocks_per_die());
        if die_ns > LONGEST_DIE_NS {
            let years = |ns: u128| ns / 31_557_600_000_000_000;
            let message = format!(
                "with `ssd.timing` and `ssd.gc` as they are, a die is collected from end to end in {} years, but {} are allowed",
                years(die_ns),
                years(LONGEST_DIE_NS)
            );
            self.problem("ssd.timing", message, Some("shorten its times, ssd.gc.poll, or suspend_ns, resume_ns and suspensions_max"));
        }
    }

    fn gc(&mut self, config: &Config, geometry: &Geometry) -> GcParams {
        let written = &config.ssd.gc;
        let planes_per_pool = if written.rules.pool == BlockPoolScope::Die { geometry.planes } else { 1 };
        let pool_blocks = planes_per_pool * geometry.blocks_per_plane;
        let pool_reserved = planes_per_pool * geometry.overprovisioned_blocks_per_plane;
        let pool = if written.rules.pool == BlockPoolScope::Die { "a die" } else { "a plane" };
        let start = written.start.threshold_free_blocks_for_pool(pool_blocks);
        let procedure = written.procedure;
        let stop = written.stop.threshold_free_blocks_for_pool(pool_blocks, start);
        // A pool could run out of free blocks with a smaller value (rule 16). `geometry` has made sure that 1 is possible.
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
            let help =
                matches!(written.stop, GcStopThreshold::AboveStart(_)).then_some("lower ssd.gc.start, or raise ssd.geometry.reserved");
            self.problem("ssd.gc.stop", message, help);
        }
        if written.rules.blocking == CollectionBlockingScope::Plane && written.rules.pool != BlockPoolScope::Plane {
            let message = "`ssd.gc.blocking` is \"plane\", but planes can be blocked one by one only if each has a pool of its own";
            self.problem("ssd.gc.blocking", message, Some("set ssd.gc.pool = \"plane\" or ssd.gc.blocking = \"die\""));
        }
        let start = match procedure {
            GcAlgorithm::VictimByPolicy => start,
            // The count of free blocks is one too high in this procedure (rule 130).
            GcAlgorithm::LikeDiskSimWithoutCopyBack => {
                if start == 1 {
                    let message = format!(
                        "`ssd.gc.start` is {}, which comes to 1 of the {pool_blocks} blocks of {pool}, but with ssd.gc.procedure = \"{REFERENCE_NO_COPY_BACK}\" a collection starts with one free block less, and one is the least",
                        self.written("ssd.gc.start")
                    );
                    self.problem("ssd.gc.start", message, Some("raise it to 2 blocks or more"));
                }
                start.saturating_sub(1)
            }
        };
        GcParams {
            gc_algorithm: procedure,
            rules: written.rules,
            start_threshold_free_blocks: start,
            stop_threshold_free_blocks: stop,
            victim: self.victim(config),
            collection_takes_no_time: config.coordination.policy.collection_takes_no_time(),
            preemption: (written.preemption != Preemption::None).then(|| GcPreemption {
                suspension: (written.preemption == Preemption::Suspend).then_some(written.suspension),
                ..written.options
            }),
            idle_collection_after_ns: match written.idle {
                IdleTimeBeforeCollection::Off => None,
                IdleTimeBeforeCollection::After(time) => Some(time.ns),
            },
        }
    }

    /// Returns the mechanisms of the device, after checking that their values do not contradict each other.
    pub(super) fn mechanisms(&mut self, config: &Config) -> DieDelayMechanisms {
        let mechanisms = &config.ssd.mechanisms;
        for (table, problem) in mechanisms.problems() {
            self.policy_problem(&format!("ssd.{table}"), &problem);
        }
        mechanisms.clone()
    }

    pub(super) fn victim(&mut self, config: &Config) -> VictimPolicy {
        let mut victim = config.ssd.gc.victim;
        victim.set_endurance(config.ssd.endurance);
        for problem in victim.problems() {
            self.policy_problem("ssd.gc.victim", &problem);
        }
        victim
    }

    pub(super) fn channel(&mut self, config: &Config) -> Option<DieToChannelAssignment> {
        let dies = config.ssd.geometry.shape.dies;
        match (config.ssd.transfer, &config.ssd.channel) {
            (ControllerDiePath::Channel, Some(channel)) => {
                let per_channel = channel.dies_per_channel;
                if per_channel > dies {
                    let message = format!("`ssd.channel.dies_per_channel` is {per_channel}, but there are only {dies} dies");
                    self.problem("ssd.channel.dies_per_channel", message, None);
                }
                if config.ssd.timing.transfer_per_byte.picoseconds == 0 {
                    let message = "`ssd.timing.transfer_per_byte` is 0, but with `ssd.transfer = \"channel\"` a transfer takes time";
                    self.problem("ssd.timing.transfer_per_byte", message, Some("set ssd.transfer = \"none\" for transfers that take none"));
                }
                Some(*channel)
            }
            (ControllerDiePath::Channel, None) => {
                let message = "`ssd.transfer` is \"channel\", but nothing says how many dies share one";
                self.problem("ssd.transfer", message, Some("set ssd.channel.dies_per_channel"));
                None
            }
            // A user who switches channels off need not remove those of a preset.
            _ => None,
        }
    }

    fn array(&mut self, config: &mut Config, ssd: Option<SsdParams>) -> Option<ArrayParams> {
        let before = self.problems.len();
        let level = config.array.level;
        let members = config.array.members.unwrap_or_else(|| level.default_members());
        let name = level.name();
        let (min, max, even) = match level {
            RaidLevel::Single => (1, 1, false),
            RaidLevel::Raid0 => (1, MEMBERS_MAX, false),
            RaidLevel::Raid1 => (2, MEMBERS_MAX, false),
            RaidLevel::Raid10 => (2, MEMBERS_MAX, true),
            RaidLevel::Raid4 | RaidLevel::Raid5 => (3, MEMBERS_MAX, false),
            RaidLevel::Raid6 => (4, MEMBERS_MAX, false),
        };
        if members < min || members > max || (even && members % 2 == 1) {
            let allowed = match (min == max, even) {
                (true, _) => format!("exactly {min}"),
                (false, true) => format!("an even number from {min} to {max}"),
                (false, false) => format!("{min} to {max}"),
            };
            let help = (level == RaidLevel::Single).then_some("did you mean array.level = \"raid0\"?");
            self.problem("array.members", format!("`array.members` is {members}, but \"{name}\" takes {allowed}"), help);
        }
        let page_bytes = config.ssd.geometry.page_size.bytes;
        let usual_bytes = if config.ssd.superblock.is_some() { 64 << 10 } else { 4096 };
        let stripe_unit = config.array.stripe_unit.unwrap_or(Size { bytes: page_bytes.max(usual_bytes) });
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
        if member_bytes == 0 && ssd.superblock.is_none() {
            let pages = ssd.geometry.exported_pages_per_die();
            let message = format!("`ssd.die_stride` is {}, but 1 to {pages} (what a die exports) is allowed", ssd.writes.die_stride);
            self.problem("ssd.die_stride", message, None);
        } else if stripe_unit.bytes > member_bytes {
            let message = format!("`array.stripe_unit` is {stripe_unit}, more than a member exports ({})", Size { bytes: member_bytes });
            self.problem("array.stripe_unit", message, None);
        }
        let parity_handle = self.parity_handle(config, &ssd);
        let failures = self.failures(config, level, members);
        let slow = self.slow_members(config, members);
        let rebuild = self.rebuild(config, members, stripe_unit);
        let cache = self.cache(config, members, page_bytes);
        let host_port = self.host_port(config, page_bytes, cache.is_some());
        self.read_plan(config);
        if self.problems.len() > before {
            return None;
        }
        config.array.members = Some(members);
        config.array.stripe_unit = Some(stripe_unit);
        Some(ArrayParams {
            level,
            members,
            stripe_unit_pages: u32::try_from(stripe_unit.bytes / page_bytes).expect("a member's pages fit 32 bits"),
            parity_handle,
            coordination,
            failures,
            slow,
            rebuild,
            read_plan: config.read.policy.clone(),
            cache,
            host_port,
            ssd,
        })
    }

    /// Returns the placement handle of parity (rule 280).
    fn parity_handle(&mut self, config: &Config, ssd: &SsdParams) -> ParityHandle {
        const KEY: &str = "array.parity_handle";
        let Some(written) = config.array.parity_handle else { return ParityHandle::default() };
        let handles = ssd.superblock.as_ref().map_or(1, |superblock| superblock.placement_handles.count);
        let level = config.array.level;
        if !matches!(level, RaidLevel::Raid4 | RaidLevel::Raid5 | RaidLevel::Raid6) {
            let message = format!("`{KEY}` is set, but arrays of level \"{}\" have no parity", level.name());
            self.problem(KEY, message, Some("remove the key, or set array.level = \"raid5\""));
        } else if handles == 1 {
            let message = format!("`{KEY}` is set, but the drives have one placement handle, so that nothing is kept apart");
            self.problem(KEY, message, Some("set ssd.placement_handles.handles = 2 or more (only for drives with superblocks)"));
        }
        if let ParityHandle::Number(handle) = written
            && handles > 1
            && u32::from(handle) >= handles
        {
            let message =
                format!("`{KEY}` is {handle}, but the drives have the placement handles 0 to {} (`ssd.placement_handles`)", handles - 1);
            self.problem(KEY, message, Some("take one of these, \"own\", or \"data\""));
        }
        written
    }

    /// Adds problems for keys that contradict the named procedure of collection.
    fn procedure(&mut self, config: &Config) {
        let gc = &config.ssd.gc;
        if gc.procedure == GcAlgorithm::VictimByPolicy {
            return;
        }
        let contradictions = [
            ("pool", gc.rules.pool != BlockPoolScope::Die, "collects all planes of a die as one pool"),
            ("copy_back", gc.rules.copy_back, "has no copy-back"),
            ("victim", !matches!(gc.victim, VictimPolicy::Greedy(_)), "takes the blocks with fewest valid pages"),
            ("separate_open_block", gc.rules.separate_open_block, "has one open block for host writes and moved pages"),
            (
                "pipeline",
                gc.options.pipeline != HostOverlapWithMoves::NoOverlap && gc.preemption != Preemption::None,
                "does not know before its program whether a moved page has to cross planes",
            ),
        ];
        for (key, _, why) in contradictions.into_iter().filter(|(_, is_wrong, _)| *is_wrong) {
            let message = format!(
                "`ssd.gc.{key}` is {}, but ssd.gc.procedure = \"{REFERENCE_NO_COPY_BACK}\" {why}",
                self.written(&format!("ssd.gc.{key}"))
            );
            self.problem(&format!("ssd.gc.{key}"), message, Some("set ssd.gc.procedure = \"as-set\", or remove this key"));
        }
    }

    /// Adds problems for keys with which planes of a die cannot be cleaned together (rule 15).
    fn parallel_planes(&mut self, config: &Config) {
        let gc = &config.ssd.gc;
        if !gc.rules.parallel_planes {
            return;
        }
        let contradictions = [
            ("ssd.gc.pool", gc.rules.pool != BlockPoolScope::Plane, "each plane must be a pool"),
            (
                "ssd.gc.blocking",
                gc.rules.blocking != CollectionBlockingScope::Die,
                "planes that are blocked alone are cleaned at the same time anyway",
            ),
            ("ssd.gc.copy_back", !gc.rules.copy_back, "moved pages must not need the pins that planes share"),
            ("ssd.gc.preemption", gc.preemption != Preemption::None, "a die has no points between the steps of several cleans"),
            ("ssd.transfer", config.ssd.transfer == ControllerDiePath::Channel, "summaries of several planes would share a channel"),
        ];
        for (key, _, why) in contradictions.into_iter().filter(|(_, is_wrong, _)| *is_wrong) {
            let message = format!("`ssd.gc.parallel_planes` is true, but `{key}` is {}: {why}", self.written(key));
            self.problem("ssd.gc.parallel_planes", message, Some("remove one of the two"));
        }
    }

    /// Checks that options of preemption and idle collection are used only together with the options that they need.
    fn preemption_options(&mut self, config: &Config) {
        let gc = &config.ssd.gc;
        if gc.preemption != Preemption::None && gc.options.reorder && !gc.options.merge {
            let message = "`ssd.gc.reorder` is true, but requests for the pages that it moves first are served by merging, and `ssd.gc.merge` is false";
            self.problem("ssd.gc.reorder", message, Some("set ssd.gc.merge = true, or remove it"));
        }
        if gc.idle == (IdleTimeBeforeCollection::After(Duration { ns: 0 })) {
            self.problem("ssd.gc.idle", "`ssd.gc.idle` is 0, but must be \"off\" or at least 1ns", None);
        }
    }

    fn metrics(&mut self, config: &Config) -> MetricsParams {
        let report = &config.report;
        let MetricsParams { bandwidth_interval, gc_slice, .. } = report.measured;
        for (key, time) in [("bandwidth_interval", bandwidth_interval), ("gc_slice", gc_slice)] {
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
            (None, None) => UnmeasuredStart::Nothing,
            (Some(requests), None) => UnmeasuredStart::Requests(requests),
            (None, Some(time)) => UnmeasuredStart::UntilTime(time.ns),
            (Some(_), Some(_)) => {
                self.problem(
                    "report.skip_time",
                    "`report.skip_requests` and `report.skip_time` are both set, but only one of them can hold",
                    None,
                );
                UnmeasuredStart::Nothing
            }
        };
        if let (UnmeasuredStart::Requests(skipped), Some(requests)) = (skip, config.workload.requests)
            && skipped >= requests
        {
            let end = count_with_noun(requests, "request");
            let message = format!("`report.skip_requests` is {skipped}, but the run ends after {end}: nothing would be measured");
            self.problem("report.skip_requests", message, None);
        }
        if let (UnmeasuredStart::UntilTime(skipped), Some(duration)) = (skip, config.workload.duration)
            && skipped >= duration.ns
        {
            let message = format!("`report.skip_time` is as long as the run ({duration}): nothing would be measured");
            self.problem("report.skip_time", message, None);
        }
        MetricsParams {
            timeline_window: timeline,
            skip,
            streams: config.workload.streams.as_ref().map_or(0, |streams| streams.len() as u32),
            ..report.measured
        }
    }

    fn workload(&mut self, config: &Config, space: Option<&ArrayProperties>) {
        let before = self.problems.len();
        self.workload_keys(&config.workload, "workload", true);
        if let Some(space) = space.filter(|_| self.problems.len() == before) {
            for problem in workload_spec::to_spec(&config.workload).problems(space) {
                let key = self.as_written(workload_spec::key_of_spec_problem("workload", &problem.key));
                let message = format!("`{key}` {}", problem.message);
                self.problem(&key, message, None);
            }
            self.span(&config.workload);
        }
    }

    /// Returns the key as the user wrote it: `size` may stand for `read_size` and `write_size`.
    fn as_written(&self, key: String) -> String {
        let key = key.strip_suffix("_size.bytes").map_or(key.clone(), |key| format!("{key}_size"));
        for direction in ["read_size", "write_size"] {
            if self.tree.at(&plain(&key)).is_none() && key.contains(direction) {
                return key.replace(direction, "size");
            }
        }
        key
    }

    /// Checks that the last request of a generator arrives before the simulated clock ends, unless something else ends the run.
    fn span(&mut self, workload: &super::workload::WorkloadConfig) {
        let spec = workload_spec::to_spec(workload);
        let SourceSpec::Synthetic(synthetic) = &spec.source else { return };
        let ends_before = workload.duration.is_some() || spec.transform.limit_ns.is_some();
        let Some(requests) = [workload.requests, spec.transform.limit_requests].into_iter().flatten().min().filter(|_| !ends_before) else {
            return;
        };
        let span_ns = synthetic.arrivals.mean_span_ns(requests) / spec.transform.rate_scale;
        if span_ns > TIME_MAX_NS as f64 {
            let message = format!(
                "`workload.arrivals` lets {} come in about {:.0} years, but simulated time ends after 146 (2^62 ns)",
                count_with_noun(requests, "request"),
                span_ns / 3.155_76e16
            );
            self.problem("workload.arrivals", message, Some("shorten gaps or pauses, or lower workload.requests"));
        }
    }

    fn workload_keys(&mut self, workload: &super::workload::WorkloadConfig, section: &str, is_whole: bool) {
        use super::workload::AddressFit;
        use flashraid_model::policy::policy_config_serde;
        use flashraid_workload::synthetic::AddressDistribution;
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
        if workload.trace.path.as_deref().is_some_and(|path| path.is_empty() || path.ends_with('/')) {
            self.problem(&format!("{section}.path"), format!("`{section}.path` names no file"), None);
        }
        if workload.kind == Some(WorkloadKind::Trace) && workload.trace.path.is_none() {
            self.problem(
                &format!("{section}.kind"),
                format!("`{section}.kind` is \"trace\", but no `{section}.path` names the file"),
                None,
            );
        }
        if workload.kind == Some(WorkloadKind::Mix) && workload.streams.is_none() {
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
        if let Some(address) = &workload.synthetic.address {
            for key in &address.unused_parameters {
                let users: Vec<String> = policy_config_serde::policies_with_parameter::<AddressDistribution>(key)
                    .iter()
                    .map(|name| format!("\"{name}\""))
                    .collect();
                let message = format!("`{section}.address.{key}` is used only with the address pattern {}", users.join(" or "));
                self.problem(&format!("{section}.address.{key}"), message, Some(&format!("set {section}.address.pattern, or remove it")));
            }
        }
        for (at, stream) in workload.streams.iter().flatten().enumerate() {
            self.workload_keys(stream, &format!("{section}.streams[{at}]"), false);
        }
    }
}

/// Returns a key in which `.0` replaces `[0]`.
fn plain(key: &str) -> String {
    key.replace('[', ".").replace(']', "")
}

/// Returns the number of reserved blocks beyond `start` that a pool needs so that it never runs out (rules 16 and 8). Their purposes are
/// returned in words.
fn working_blocks(config: &Config) -> (u32, String) {
    let mut parts = vec!["one open and one for it to be followed by"];
    if config.ssd.gc.rules.separate_open_block {
        parts.push("one open for moved pages");
    }
    if config.ssd.writes.allocation == DieChoiceForWrites::Dynamic {
        parts.push("one for writes on their way");
    }
    if !config.ssd.writes.fill_seals_last_block {
        parts.push("one that the fill leaves unsealed");
    }
    (parts.len() as u32 + 1, parts.join(", "))
}

pub(super) fn link(config: &Config, page_bytes: u64) -> Option<HostLinkParams> {
    let (rate, duplex) = match &config.ssd.link {
        HostLinkBandwidth::Rate(HalfDuplexLinkBandwidthLimit::Off) => return None,
        HostLinkBandwidth::Rate(HalfDuplexLinkBandwidthLimit::HalfDuplex(rate)) => (*rate, Duplex::Half),
        HostLinkBandwidth::Table(table) => (table.rate, table.duplex),
    };
    let page_ns = (u128::from(page_bytes) * 1_000_000_000).div_ceil(u128::from(rate.bytes_per_s));
    Some(HostLinkParams { page_transfer_ns: u64::try_from(page_ns).unwrap_or(u64::MAX), duplex })
}

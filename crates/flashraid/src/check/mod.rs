//! Explains a scenario without running it: capacities, expected write amplification, the start of collection, load, and memory.
//!
//! Load and write amplification are estimates for uniformly random writes. The comment of each field defines its value.

#[doc(hidden)]
pub mod duration;
pub mod theory;

mod drive;
mod own_state;
mod sample;
mod text;
mod turns;

use serde::Serialize;

pub use drive::{DriveFrontEndCheck, PlacementHandlesCheck, SlcSuperblocksCheck, SubmissionQueuesCheck, SuperblockDriveCheck};
pub use sample::FirstRequestsStatistics;
pub(crate) use sample::REQUESTS as SAMPLED_REQUESTS;
pub use turns::{CollectionPermissionCheck, CollectionTurnsCheck, DeterministicWindowsCheck};

use std::fs::File;
use std::path::{Path, PathBuf};

use crate::config::{Scenario, WorkloadConfig, workload_address_space};
use crate::file_hashes::traces;
use crate::load_rise::LoadRiseUntilGcMatters;
use crate::memory;
use crate::run_error::RunError;
use crate::warm_state;
use duration::EstimatedWallClockSeconds;
use flashraid_model::array::{ArrayParams, WarmUpPattern};
use flashraid_model::ssd::{BlockPoolScope, Duplex, GcAlgorithm, PlaneChoice, SsdParams};
use flashraid_workload::files::is_wrong_path;
use flashraid_workload::{FirstOfTrace, SourceError, Stop};

/// Results of checking a scenario without a run. `Display` writes them as text for people.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CheckReport {
    /// Number of bytes that the array exports.
    pub array_bytes: u64,
    /// Number of members in the array.
    pub members: u32,
    /// Number of consecutive bytes of the array that lie on one member; `None` if the level has no strips.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stripe_unit_bytes: Option<u64>,
    /// Sizes of the write cache of the array (`[cache]`), which stands in front of the SSDs. `None` if there is no such cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache: Option<WriteCacheSizes>,
    /// Capacity of one member.
    pub member: MemberCapacity,
    /// Results that only exist for drives with superblocks. Left out if the members of the array are drives without superblocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drive: Option<SuperblockDriveCheck>,
    /// Settings of the submission queues, processor cores and write buffer of a member. Only for members without superblocks, because
    /// [`CheckReport::drive`] tells these of a drive with superblocks. It is left out if neither queues nor cores nor a buffer is
    /// configured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub front: Option<DriveFrontEndCheck>,
    /// Thresholds and expected cost of garbage collection. They hold for each pool of blocks (of a plane or of a die) or, with
    /// superblocks, for each drive.
    pub gc: PoolGcThresholdsAndCost,
    /// Statistics of the first requests of the workload, at most 20,000. The value is `None` if the workload cannot be read; an entry
    /// of `warnings` then says why. It is also `None` for a run whose requests come from another source than the configuration.
    pub workload: Option<FirstRequestsStatistics>,
    /// Share of the members' time that serving the workload takes; `None` without a workload.
    pub load: Option<ExpectedMemberUtilisation>,
    /// Results about the coordination scheme `stagger`, in which members ask the controller for permission to collect. They tell how
    /// many members may collect together, and if that is enough. They are left out with other schemes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leave: Option<CollectionPermissionCheck>,
    /// Results about the coordination scheme `windows`, in which members take turns to collect, each in its own window of time. They
    /// tell if the turns are long enough, and not too long. They are left out with other schemes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turns: Option<CollectionTurnsCheck>,
    /// Moment of the run at which garbage collection first begins, if it does.
    pub first_collection: FirstCollectionEstimate,
    /// Number of pages that the warm-up overwrites, on all members and warm spares together. It is 0 if the warm-up constructs the
    /// steady state of random writes directly (`ssd.warm_up.pattern = "steady"`), because it then overwrites nothing.
    pub warm_up_pages: u64,
    /// Write amplification that the workload reaches in the long run.
    ///
    /// It is given only if it differs from that at the start. This is the case if the run begins in the steady state of uniform random
    /// writes, and the workload does not write like that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub own_write_amplification: Option<f64>,
    /// Number of bytes that the state of all members needs.
    pub memory_bytes: u64,
    /// Estimated time of the warm-up and of the run on one processor, in seconds.
    pub seconds: Option<EstimatedWallClockSeconds>,
    /// Warnings about settings that are allowed but probably not intended.
    pub warnings: Vec<String>,
}

/// Sizes of the array's write cache (`[cache]`), in bytes. It may have a cache of write groups, caches of the members, or both. A write
/// group is all dirty pages of one stripe, and never larger than a stripe.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct WriteCacheSizes {
    /// Number of bytes in the cache of write groups (the dirty pages of one stripe each); 0 if the cache policy has none. With the
    /// policies `wow` and `stow`, this cache is the whole write cache. With the policy `lawc`, its pages go on to the caches of the
    /// members.
    pub group_bytes: u64,
    /// Number of bytes in the cache that each member has within the array's write cache; 0 if the cache policy has no such caches.
    pub member_bytes: u64,
    /// Number of bytes of data in a stripe, its parity not counted. It is the maximum size of a write group (the dirty pages of one
    /// stripe).
    pub stripe_bytes: u64,
}

/// Capacity of one member.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MemberCapacity {
    /// Number of bytes in all flash pages of the member. Summary pages, which describe a block instead of holding data, are included.
    pub raw_bytes: u64,
    /// Number of bytes that the member exports to the array.
    pub exported_bytes: u64,
    /// Number of blocks in a plane that are not exported (offered to the host).
    pub reserved_blocks_per_plane: u32,
    /// Over-provisioning: number of data pages divided by the number of exported pages (those offered to the host), minus 1.
    pub over_provisioning: f64,
    /// Over-provisioning that is left for invalid pages. It is the number of pages in blocks that hold data, divided by the number of
    /// exported pages (those offered to the host), minus 1. Blocks that collection keeps free or open do not count.
    pub effective_over_provisioning: f64,
}

/// Thresholds and expected cost of collection in one pool of blocks. A pool is the blocks of a plane or of a die or, with superblocks,
/// all superblocks of the drive.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PoolGcThresholdsAndCost {
    /// Number of blocks in a pool (of a plane or of a die) or, with superblocks, number of superblocks in the drive.
    pub pool_blocks: u32,
    /// Number of free blocks in a pool (of a plane or of a die) at or below which garbage collection starts there. Drives with
    /// superblocks have no such threshold. Instead, the value is `ssd.superblock.target`: with this many free superblocks, collection
    /// frees as much space as host writes take.
    pub start_free_blocks: u32,
    /// Number of free blocks in a pool (of a plane or of a die) at which garbage collection stops there. With superblocks, it is the
    /// number of free superblocks at or above which nothing is collected: `ssd.superblock.target` plus `ssd.superblock.span`.
    pub stop_free_blocks: u32,
    /// Write amplification that theory expects of the victim policy under uniformly random writes (see [`theory`]).
    pub write_amplification: f64,
    /// Precision of `write_amplification`: `exact` if theory has a formula for the victim policy, and otherwise `at least`. In the
    /// latter case, the value is that of the greedy policy, taken as the least that the victim policy can reach.
    pub write_amplification_is: &'static str,
    /// Write amplification if the block that was written first is always collected: `alpha / (alpha + W(−alpha·e^−alpha))`. Here, `W`
    /// is Lambert's function. `alpha` is the number of pages, valid or not, in blocks that hold data, divided by the number of pages
    /// that the host can address. In superblocks with parity, the formula's result is multiplied by `dies / (dies − 1)`, because one
    /// of `dies` superpages is parity.
    pub write_amplification_oldest_first: f64,
    /// Mean number of valid pages that a clean (the collection of one victim block) moves, at the expected `write_amplification`.
    pub pages_moved_per_clean: f64,
    /// Duration of a clean (the collection of one victim block) that moves `pages_moved_per_clean` pages, in microseconds; 0 with the
    /// scheme `ideal`. It includes the erase. With superblocks, it is the time that each die works for the collection of one
    /// superblock.
    pub clean_us: f64,
}

/// Share of the members' time that serving the workload takes, at the expected write amplification.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ExpectedMemberUtilisation {
    /// Mean time that a die of the busiest member needs for reads and writes that the workload causes, as a share of simulated time.
    /// The work of collection is not counted. Above 1, the dies fall behind. `None` for a closed loop.
    pub dies_without_gc: Option<f64>,
    /// Mean time that a die of the busiest member needs for its work, as a share of simulated time. The work is the reads and writes
    /// that the workload causes, and collection. Above 1, the dies fall behind. `None` for a closed loop.
    pub dies_with_gc: Option<f64>,
    /// Expected wait of a request behind collection, divided by the time of its own operations. It is `None` for a closed loop, and if
    /// collection takes no time.
    pub collection_wait: Option<f64>,
    /// Share of simulated time for which the host link of the busiest member is busy, if its rate is limited. If the link carries both
    /// directions at the same time, the value is that of the busier direction.
    pub link: Option<f64>,
    /// Share of simulated time for which the channels of the busiest member are busy; `None` if dies do not share channels.
    pub channels: Option<f64>,
    /// Share of the array controller's bandwidth that is used; `None` if it has no limit.
    pub controller: Option<f64>,
    /// Share of the processor of the array that requests use, without the time for stripes; `None` without a processor. It is the
    /// share of what all requests share if that is greater.
    pub processor: Option<f64>,
    /// Requests per second beyond which dies, link, channels, controller or processor fall behind; `None` for a workload without requests.
    /// It is an upper bound: full write buffers and short queues hold an array back before.
    pub requests_per_s_max: Option<f64>,
    /// True if the workload asks for more requests per second than `requests_per_s_max`.
    pub is_saturated: bool,
}

impl ExpectedMemberUtilisation {
    /// Returns by how much the load would have to rise until remedies against collection, such as coordination, matter. It is `None`
    /// unless the array is idle: each part works less than a tenth of the time, and collection hardly adds to response times. It is
    /// also `None` for a closed loop.
    #[must_use]
    pub fn load_rise_until_gc_matters(&self) -> Option<LoadRiseUntilGcMatters> {
        let busy = self.dies_with_gc?;
        let fullest = [self.link, self.channels, self.controller, self.processor].into_iter().flatten().fold(busy, f64::max);
        // The wait is told in times of the request's own operations. Its share of the response time has the wait in its divisor, too.
        let wait = self.collection_wait?;
        LoadRiseUntilGcMatters::from_busy_fractions(busy, fullest, wait / (1.0 + wait))
    }
}

/// Moment of the run at which garbage collection first begins, as estimated.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(tag = "when", rename_all = "kebab-case")]
pub enum FirstCollectionEstimate {
    /// Collection begins as soon as the run does, because so few blocks are free after the fill and the warm-up.
    AtOnce,
    /// Collection begins in the run, when `pages_per_member` pages have been written to each member on average.
    After {
        /// Number of pages that must be written to each member, on average, until collection begins. Pages written for mirrors and
        /// parity count.
        pages_per_member: u64,
        /// Simulated time until collection begins, in seconds; `None` for a closed loop.
        seconds: Option<f64>,
    },
    /// Collection never begins, because the run writes too few pages.
    Never {
        /// Number of pages that would have to be written to each member, on average, until collection begins. Pages written for
        /// mirrors and parity count.
        pages_per_member: u64,
    },
    /// The moment at which collection first begins is unknown, because a warm state is loaded or the workload cannot be read.
    Unknown,
}

/// Returns what can be said of `scenario` without running it: capacities, expected write amplification, load, memory, and the moment at
/// which collection first begins. A workload that cannot be read becomes a warning.
pub fn check_scenario(scenario: &Scenario) -> CheckReport {
    explain(scenario, draw(scenario, sample::REQUESTS, &Stop::default()))
}

/// Returns statistics of the first requests of a scenario, at most `most`. It is `None` if they cannot be read, or if `stop` says so.
pub(crate) fn first_requests(scenario: &Scenario, most: u64, stop: &Stop) -> Option<FirstRequestsStatistics> {
    draw(scenario, most, stop).ok().flatten()
}

/// Returns the statistics of [`first_requests`] from requests of a trace that were read before. It is `None` if the scenario has others.
pub(crate) fn first_requests_read(scenario: &Scenario, first: &FirstOfTrace) -> Option<FirstRequestsStatistics> {
    let space = workload_address_space(&scenario.array);
    let mut source = first.open(&scenario.workload, scenario.seed, &space).ok()??;
    sample::statistics(scenario, sample::REQUESTS, &mut source).ok()
}

/// Returns the number of pages that a warm-up overwrites on all members and warm spares together.
pub(crate) fn warm_up_pages(scenario: &Scenario) -> u64 {
    if scenario.warm_state.load_from.is_some() {
        return 0;
    }
    let ssd = &scenario.array.ssd;
    let per_die = f64::from(ssd.geometry.exported_pages_per_die());
    let members = u64::from(scenario.array.members + scenario.array.warmed_up_spares());
    (scenario.warm_up.overwrites_per_page * per_die) as u64 * u64::from(ssd.geometry.dies) * members
}

/// Returns the report of [`check_scenario`], before a run. It also checks the files of the run, as far as possible. Traces must be
/// readable, and a warm state to be loaded must fit the array. If a warm state is to be saved, it must be possible to write its file.
///
/// # Errors
/// Returns the error with which the run would end.
pub fn check_before_run(scenario: &Scenario, stop: &Stop) -> Result<CheckReport, RunError> {
    trace_files(&scenario.config.workload, "workload")?;
    if let Some(path) = &scenario.warm_state.load_from {
        warm_state::preflight_load(path, &scenario.array)?;
    }
    if let Some(path) = &scenario.warm_state.save_to {
        warm_state::preflight_save(path)?;
    }
    Ok(explain(scenario, Ok(draw(scenario, sample::REQUESTS, stop)?)))
}

/// Checks that the files of traces exist.
fn trace_files(workload: &WorkloadConfig, section: &str) -> Result<(), RunError> {
    if let Some(path) = &workload.trace.path {
        // Opening a pipe would wait for its writer.
        let found = std::fs::metadata(path).and_then(|metadata| if metadata.is_file() { File::open(path).map(drop) } else { Ok(()) });
        found.map_err(|error| {
            let text = format!("`{section}.path`: can't read {path}: {error}; the path is relative to the folder of the configuration");
            if is_wrong_path(&error) { RunError::InvalidInput(text) } else { RunError::Io(text) }
        })?;
    }
    let streams = workload.streams.iter().flatten().enumerate();
    streams.into_iter().try_for_each(|(index, stream)| trace_files(stream, &format!("{section}.streams[{index}]")))
}

/// Returns statistics of the first requests, at most `most`. It is `None` if the source can be read only once.
fn draw(scenario: &Scenario, most: u64, stop: &Stop) -> Result<Option<FirstRequestsStatistics>, SourceError> {
    match is_read_only_once(scenario) {
        Some(_) => Ok(None),
        None => sample::draw(scenario, most, stop).map(Some),
    }
}

/// Returns the first trace that can be read only once, such as a pipe or standard input, if there is one.
pub(crate) fn is_read_only_once(scenario: &Scenario) -> Option<PathBuf> {
    let mut paths = Vec::new();
    traces(&scenario.workload, &mut paths);
    let is_stream = |path: &&&Path| path.metadata().is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir());
    paths.iter().find(is_stream).map(|path| path.to_path_buf())
}

/// Returns the report of [`check_scenario`] for a run with another source of requests. The workload of the configuration is left out.
pub(crate) fn check_without_workload(scenario: &Scenario) -> CheckReport {
    explain_with(scenario, None, scenario.warnings.clone())
}

/// Returns the report of [`check_scenario`], with statistics of the first requests that are known already.
pub(crate) fn explain(scenario: &Scenario, sample: Result<Option<FirstRequestsStatistics>, SourceError>) -> CheckReport {
    let mut warnings = scenario.warnings.clone();
    let workload = match sample {
        Ok(Some(sample)) => Some(sample),
        Ok(None) => {
            warnings.push("the workload was not examined, because a pipe can be read only once".to_owned());
            None
        }
        Err(error) => {
            warnings.push(format!("the workload can't be read: {error}"));
            None
        }
    };
    explain_with(scenario, workload, warnings)
}

fn explain_with(scenario: &Scenario, workload: Option<FirstRequestsStatistics>, mut warnings: Vec<String>) -> CheckReport {
    let array = &scenario.array;
    let gc = gc_check(&array.ssd);
    let load = workload.as_ref().map(|sample| load_check(array, &gc, sample));
    let first_collection = first_collection(scenario, workload.as_ref());
    let own_write_amplification = workload.as_ref().and_then(|sample| own_state::write_amplification(scenario, &gc, sample));
    warn(scenario, workload.as_ref(), load.as_ref(), first_collection, &mut warnings);
    let leave = turns::leave_check(array, load.as_ref(), first_collection);
    let turns = turns::turns_check(array, &gc, workload.as_ref());
    warnings.extend(turns::warnings(leave.as_ref(), turns.as_ref()));
    let drive = drive::drive_check(scenario);
    if let Some(drive) = &drive {
        warnings.extend(drive::warnings(drive, array));
    }
    warnings.extend(own_write_amplification.and_then(|own| own_state::warning(gc.write_amplification, own)));
    let exported_pages = array.ssd.exported_pages();
    let page_bytes = u64::from(array.ssd.geometry.page_bytes);
    let report = CheckReport {
        array_bytes: workload_address_space(array).capacity_bytes,
        cache: array.cache.map(|cache| WriteCacheSizes {
            group_bytes: u64::from(cache.dirty_stripe_cache_capacity_pages) * page_bytes,
            member_bytes: u64::from(cache.member_cache_pages) * page_bytes,
            stripe_bytes: u64::from(array.layout().data_strips_per_stripe()) * u64::from(array.stripe_unit_pages) * page_bytes,
        }),
        members: array.members,
        stripe_unit_bytes: (array.layout().data_strips_per_stripe() > 1).then(|| u64::from(array.stripe_unit_pages) * page_bytes),
        member: MemberCapacity {
            raw_bytes: array.ssd.geometry.physical_pages() * page_bytes,
            exported_bytes: exported_pages * page_bytes,
            reserved_blocks_per_plane: array.ssd.geometry.overprovisioned_blocks_per_plane,
            over_provisioning: over_provisioning(&array.ssd),
            effective_over_provisioning: alpha(&array.ssd) - 1.0,
        },
        drive,
        front: drive::front_check(scenario),
        gc,
        workload,
        load,
        leave,
        turns,
        first_collection,
        warm_up_pages: warm_up_pages(scenario),
        own_write_amplification,
        memory_bytes: memory::memory_needed_bytes(scenario),
        seconds: None,
        warnings,
    };
    CheckReport { seconds: Some(EstimatedWallClockSeconds::estimate(scenario, report.workload.as_ref())), ..report }
}

/// Returns true if the planes of a die may run out of free blocks at different times, which raises write amplification.
///
/// This happens if a plane has little room for invalid pages: at most about ten standard deviations (√pages) of its share of random writes.
///
/// The limit comes from runs of the model. With 4 and 10 deviations, the write amplification of a die rose to three times the estimate
/// every few overwrites of the device. With 11 and with 19, as in `ggc2014`, it did not.
fn planes_may_drift_apart(ssd: &SsdParams) -> bool {
    if ssd.superblock.is_some() {
        return false;
    }
    let g = &ssd.geometry;
    let pages = f64::from((g.blocks_per_plane - g.overprovisioned_blocks_per_plane) * g.data_pages_per_block());
    let is_shared_out = ssd.gc.rules.pool == BlockPoolScope::Plane && g.planes > 1 && ssd.writes.plane_choice == PlaneChoice::MostFreePages;
    is_shared_out && (alpha(ssd) - 1.0) * pages < 10.5 * libm::sqrt(pages)
}

/// Returns the number of planes that share a pool.
fn planes_per_pool(ssd: &SsdParams) -> u32 {
    if ssd.gc.rules.pool == BlockPoolScope::Die { ssd.geometry.planes } else { 1 }
}

fn over_provisioning(ssd: &SsdParams) -> f64 {
    if let Some(superblock) = ssd.superblock.as_ref().filter(|superblock| superblock.has_parity_superpages) {
        return drive::over_provisioning(ssd, superblock);
    }
    let g = &ssd.geometry;
    f64::from(g.blocks_per_plane) / f64::from(g.blocks_per_plane - g.overprovisioned_blocks_per_plane) - 1.0
}

/// Returns alpha for the steady state of a pool: the number of all pages in blocks that hold data, divided by that of user pages.
fn alpha(ssd: &SsdParams) -> f64 {
    if let Some(superblock) = &ssd.superblock {
        return drive::alpha(ssd, superblock);
    }
    let g = &ssd.geometry;
    let planes = f64::from(planes_per_pool(ssd));
    // Free blocks vary between the thresholds. A collection begins when a block has just been opened, which is still empty then. The block
    // for moves is half full on average.
    let free = f64::from(ssd.gc.start_threshold_free_blocks + ssd.gc.stop_threshold_free_blocks - 1) / 2.0;
    let open = if ssd.gc.rules.separate_open_block { 1.5 } else { 1.0 };
    let holding = planes * f64::from(g.blocks_per_plane) - free - open;
    holding / (planes * f64::from(g.blocks_per_plane - g.overprovisioned_blocks_per_plane))
}

fn gc_check(ssd: &SsdParams) -> PoolGcThresholdsAndCost {
    if let Some(superblock) = &ssd.superblock {
        return drive::gc_check(ssd, superblock);
    }
    let data_pages = ssd.geometry.data_pages_per_block();
    // The value is just above 1 if the thresholds leave no room for invalid pages.
    let alpha = alpha(ssd).max(1.000_001);
    let oldest_first = theory::oldest_first_write_amplification(alpha);
    let (write_amplification, write_amplification_is) =
        theory::expected_write_amplification(ssd.gc.victim.write_amplification_theory(), data_pages, alpha);
    let pages_moved_per_clean = f64::from(data_pages) * (1.0 - 1.0 / write_amplification);
    PoolGcThresholdsAndCost {
        pool_blocks: ssd.geometry.blocks_per_plane * planes_per_pool(ssd),
        start_free_blocks: ssd.gc.start_threshold_free_blocks,
        stop_free_blocks: ssd.gc.stop_threshold_free_blocks,
        write_amplification,
        write_amplification_is,
        write_amplification_oldest_first: oldest_first,
        pages_moved_per_clean,
        clean_us: if ssd.gc.collection_takes_no_time { 0.0 } else { clean_ns(ssd, pages_moved_per_clean) / 1000.0 },
    }
}

/// Returns the time of a clean (the collection of one victim block) that moves `pages` pages, in nanoseconds (rule 14).
fn clean_ns(ssd: &SsdParams, pages: f64) -> f64 {
    let t = &ssd.timing;
    let transfers_ns = transfers_per_move(ssd) * t.page_transfer_ns as f64;
    pages * ((t.page_read.ns + t.page_program.ns) as f64 + transfers_ns + summary_ns_per_page(ssd)) + t.block_erase.ns as f64
}

/// Returns the mean number of transfers for each moved page. Without copy-back there are two, out and in. The reference simulator's
/// procedure only transfers pages that go to another plane.
fn transfers_per_move(ssd: &SsdParams) -> f64 {
    match ssd.gc.gc_algorithm {
        _ if ssd.gc.rules.copy_back => 0.0,
        GcAlgorithm::VictimByPolicy => 2.0,
        GcAlgorithm::LikeDiskSimWithoutCopyBack => 2.0 * (1.0 - 1.0 / f64::from(ssd.geometry.planes)),
    }
}

/// Returns the time that the summary page adds to every programmed page (rule 18).
fn summary_ns_per_page(ssd: &SsdParams) -> f64 {
    if !ssd.geometry.has_summary_page {
        return 0.0;
    }
    (ssd.timing.block_summary_page_transfer_ns + ssd.timing.page_program.ns) as f64 / f64::from(ssd.geometry.data_pages_per_block())
}

fn load_check(array: &ArrayParams, gc: &PoolGcThresholdsAndCost, sample: &FirstRequestsStatistics) -> ExpectedMemberUtilisation {
    let ssd = &array.ssd;
    let t = &ssd.timing;
    // These are the pages that a request brings to the busiest member.
    let share = sample.busiest_member_share;
    let (read, written) = (sample.pages_read_per_request * share, sample.pages_written_per_request * share);
    let dies = f64::from(ssd.geometry.dies);
    let read_ns = (t.command_overhead.ns + t.page_read.ns + t.page_transfer_ns) as f64;
    let write_ns = (t.command_overhead.ns + t.page_transfer_ns + t.page_program.ns) as f64 + summary_ns_per_page(ssd);
    let cleans = gc.write_amplification / f64::from(ssd.geometry.data_pages_per_block());
    let (plain_ns, with_gc_ns) = match &ssd.superblock {
        Some(superblock) => {
            let (read_ns, write_ns, with_gc_ns) = drive::die_ns_per_page(ssd, superblock, gc);
            ((read * read_ns + written * write_ns) / dies, (read * read_ns + written * with_gc_ns) / dies)
        }
        None => {
            let plain_ns = (read * read_ns + written * write_ns) / dies;
            (plain_ns, plain_ns + written * cleans * gc.clean_us * 1000.0 / dies)
        }
    };
    let link_ns = ssd.link.map(|link| {
        let pages = if link.duplex == Duplex::Full { read.max(written) } else { read + written };
        pages * link.page_transfer_ns as f64
    });
    let channel_ns = ssd.channel.map(|channel| {
        if let Some(superblock) = &ssd.superblock {
            let channels = (dies / f64::from(channel.dies_per_channel)).max(1.0);
            let page_ns = superblock.mapping_unit_transfer_ns as f64 / f64::from(superblock.pages_per_mapping_unit);
            let transfers = drive::transfers_per_page(ssd, superblock, gc);
            return (read * superblock.mapping_unit_transfer_ns as f64 + written * transfers * page_ns) / channels;
        }
        let moved = if ssd.gc.collection_takes_no_time { 0.0 } else { transfers_per_move(ssd) * cleans * gc.pages_moved_per_clean };
        let channels = (dies / f64::from(channel.dies_per_channel)).max(1.0);
        (read + written * (1.0 + moved)) * t.page_transfer_ns as f64 / channels
    });
    let host_pages = sample.host_pages_per_request;
    let controller_ns = array.host_port.filter(|port| port.bandwidth.is_some()).map(|port| {
        // A thousand pages are measured, because one may take a fraction of a nanosecond more than a whole number.
        port.transfer_ns(1000 * u64::from(ssd.geometry.page_bytes)) as f64 / 1000.0 * host_pages
    });
    // What stripes cost is not known from the sample.
    let processor_ns = array.host_port.and_then(|port| port.processor).map(|processor| {
        let shared_ns = processor.shared.ns as f64;
        shared_ns.max((shared_ns + processor.request.ns as f64) / f64::from(processor.cores))
    });
    // A page operation that meets a collection waits for half of it on average, and a request waits for the last of its pages.
    let cleans_of_collection = f64::from(gc.stop_free_blocks.saturating_sub(gc.start_free_blocks)).max(1.0);
    let touched = (sample.pages_read_per_request + sample.pages_written_per_request).clamp(1.0, dies * f64::from(array.members));
    let own_ns = plain_ns * dies / (read + written).max(f64::MIN_POSITIVE);
    let wait_ns = (with_gc_ns - plain_ns) * touched * gc.clean_us * 1000.0 * cleans_of_collection / 2.0;
    // If no buffer answers before the dies, the write that begins a collection waits for all of it.
    let own_wait_ns = if ssd.superblock.is_none() { (with_gc_ns - plain_ns) * dies } else { 0.0 };
    let slowest_ns = [link_ns, channel_ns, controller_ns, processor_ns].into_iter().flatten().fold(with_gc_ns, f64::max);
    let busy = |ns: f64| sample.requests_per_s.map(|rate| ns * rate / 1e9);
    ExpectedMemberUtilisation {
        dies_without_gc: busy(plain_ns),
        dies_with_gc: busy(with_gc_ns),
        collection_wait: busy(wait_ns)
            .filter(|_| !ssd.gc.collection_takes_no_time)
            .map(|wait_ns| if own_ns > 0.0 { (wait_ns + own_wait_ns) / own_ns } else { 0.0 }),
        link: link_ns.and_then(busy),
        channels: channel_ns.and_then(busy),
        controller: controller_ns.and_then(busy),
        processor: processor_ns.and_then(busy),
        requests_per_s_max: (slowest_ns > 0.0).then(|| 1e9 / slowest_ns),
        is_saturated: busy(slowest_ns).is_some_and(|share| share > 1.0),
    }
}

fn first_collection(scenario: &Scenario, sample: Option<&FirstRequestsStatistics>) -> FirstCollectionEstimate {
    let ssd = &scenario.array.ssd;
    let g = &ssd.geometry;
    let Some(sample) = sample.filter(|_| scenario.warm_state.load_from.is_none()) else { return FirstCollectionEstimate::Unknown };
    if scenario.warm_up.pattern == WarmUpPattern::SteadyStateWithoutWrites {
        return FirstCollectionEstimate::AtOnce;
    }
    if let Some(superblock) = &ssd.superblock {
        let shape = superblock.shape(g);
        let filled = if superblock.starts_empty { 0 } else { shape.exported_mapping_units };
        let blocks = shape.superblocks - superblock.collection.target - superblock.collection.span;
        let to_go = (u64::from(blocks) * u64::from(shape.data_mapping_units_per_superblock())).saturating_sub(filled);
        let warmed = (scenario.warm_up.overwrites_per_page * shape.exported_mapping_units as f64) as u64;
        let pages = to_go.saturating_sub(warmed) * u64::from(superblock.pages_per_mapping_unit);
        return after(scenario, sample, pages);
    }
    // After the fill, all reserved blocks except the open one are free.
    let pool_reserved = g.overprovisioned_blocks_per_plane * planes_per_pool(ssd);
    let to_go = u64::from(pool_reserved - 1 - ssd.gc.start_threshold_free_blocks) * u64::from(g.data_pages_per_block());
    let pools = u64::from(g.dies) * u64::from(g.planes / planes_per_pool(ssd));
    let warmed = scenario.warm_up.overwrites_per_page * f64::from(g.exported_pages_per_die()) * f64::from(g.dies);
    after(scenario, sample, (to_go * pools).saturating_sub(warmed as u64))
}

/// Returns the start of collection if it comes after `pages_per_member` more pages have been written to each member.
fn after(scenario: &Scenario, sample: &FirstRequestsStatistics, pages_per_member: u64) -> FirstCollectionEstimate {
    if pages_per_member == 0 {
        return FirstCollectionEstimate::AtOnce;
    }
    let per_request = sample.pages_written_per_request / f64::from(scenario.array.members);
    let requests_needed = pages_per_member as f64 / per_request;
    let rate = sample.requests_per_s;
    let by_count = scenario.run_limit.max_requests.is_none_or(|limit| limit as f64 >= requests_needed);
    let by_time = match (scenario.run_limit.max_duration_ns, rate) {
        (Some(limit_ns), Some(rate)) => limit_ns as f64 >= requests_needed / rate * 1e9,
        _ => true,
    };
    if per_request > 0.0 && by_count && by_time {
        FirstCollectionEstimate::After { pages_per_member, seconds: rate.map(|rate| requests_needed / rate) }
    } else {
        FirstCollectionEstimate::Never { pages_per_member }
    }
}

fn warn(
    scenario: &Scenario,
    sample: Option<&FirstRequestsStatistics>,
    load: Option<&ExpectedMemberUtilisation>,
    first_collection: FirstCollectionEstimate,
    warnings: &mut Vec<String>,
) {
    if alpha(&scenario.array.ssd) < 1.01 {
        warnings.push("ssd.gc.start leaves almost no room for invalid pages in the reserve, so write amplification will be extreme".into());
    }
    if planes_may_drift_apart(&scenario.array.ssd) {
        let text = "the reserve of a plane is very small: with ssd.plane_choice = \"most-free\", planes drift apart for a while, and write \
                    amplification can be far above the estimate; \"rotate\" or ssd.gc.pool = \"die\" avoids this";
        warnings.push(text.into());
    }
    let (ssd, g) = (&scenario.array.ssd, &scenario.array.ssd.geometry);
    let spare_blocks = g.planes * g.overprovisioned_blocks_per_plane;
    if ssd.superblock.is_none() && !ssd.writes.fill_seals_last_block && !ssd.pools_start_empty && g.planes == 1 {
        warnings.push(format!(
            "ssd.fill_seals_last_block is false: a block of each die is never collected, {:.1} % of its spare area, which raises write \
             amplification; with true, the fill closes it",
            100.0 / f64::from(spare_blocks)
        ));
    }
    if let FirstCollectionEstimate::Never { .. } = first_collection {
        warnings.push(
            "no garbage will be collected, because the run writes too little; raise ssd.warm_up.overwrites or workload.requests".into(),
        );
    }
    let Some(sample) = sample else { return };
    if sample.requests == 0 {
        warnings.push("the workload has no requests".into());
    }
    if sample.partial_page_writes > 0.1 {
        let percent = sample.partial_page_writes * 100.0;
        warnings.push(format!(
            "{percent:.0} % of the written pages are written only in part, and each of them costs the write of a whole page"
        ));
    }
    let capacity = workload_address_space(&scenario.array).capacity_bytes;
    if sample.extent_bytes > capacity {
        let over = sample.extent_bytes;
        warnings.push(format!(
            "the workload uses addresses up to byte {over}, but the array has only {capacity} bytes; see workload.address_fit"
        ));
    }
    let even = 1.0 / f64::from(scenario.array.members);
    if sample.busiest_member_share > 1.5 * even && scenario.array.members > 1 {
        let percent = sample.busiest_member_share * 100.0;
        warnings.push(format!(
            "one member gets {percent:.0} % of the page operations, which is {:.1} times an equal share",
            sample.busiest_member_share / even
        ));
    }
    if load.is_some_and(|load| load.is_saturated) {
        warnings.push(
            "the array is saturated: requests arrive faster than they can be served, so response times grow with the length of the run"
                .into(),
        );
    }
}

#[cfg(test)]
mod tests;

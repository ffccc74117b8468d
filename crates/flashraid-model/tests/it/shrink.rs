//! Makes a failing case smaller while it still fails, so that a person can follow it.

use flashraid_model::array::{
    ArrayProcessor, Avoid, ControllerLimits, Hedge, HedgeDelay, HostKnowledgeOfCollection, HostKnowledgeOfRemainingCollection, Predict,
    ReadPlan, RebuildParams, UnneededReadCancellation, WarmUp, WarmUpPattern,
};
use flashraid_model::cache::WriteCacheParams;
use flashraid_model::coordination::{
    CoordinationParams, ForcedCollectionAmount, JointCollectionRequestTiming, MessageLatency, ReactiveInclusive,
};
use flashraid_model::placement::RaidLevel;
use flashraid_model::request::HostLoop;
use flashraid_model::ssd::{
    BlockPoolScope, CollectionBlockingScope, ControllerCores, DieChoiceForWrites, DieDelayMechanisms, FrontEndParams, GcAlgorithm,
    GcPreemption, HostOverlapWithMoves, HostRequestKindsThatMayStartGc, PlacementHandles, PlaneChoice, RefreshAndWearLevellingParams,
    SsdParams, SuperblockDriveParams, VictimPolicy,
};
use flashraid_model::units::Duration;

use crate::cases::PAGE_BYTES;
use crate::outcome::Case;
use crate::reference;

/// The smallest case found that still `fails`.
pub(crate) fn shrink(mut case: Case, fails: impl Fn(&Case) -> bool) -> Case {
    loop {
        let before = format!("{case:?}");
        drop_requests(&mut case, &fails);
        for simpler in SIMPLER {
            let mut candidate = case.clone();
            simpler(&mut candidate);
            if case.params.ssd.superblock.is_some() {
                // Most of these hang together in a drive.
                candidate.params.ssd.geometry = case.params.ssd.geometry;
            }
            let members = candidate.params.members;
            if let Some(coordination) = &mut candidate.params.coordination {
                coordination.coordinated_members.0 &= (1 << members) - 1;
            }
            if !is_possible(&candidate) {
                continue;
            }
            let array_bytes = reference::array_pages(&candidate.params) * PAGE_BYTES;
            let fits = candidate.requests.iter().all(|request| request.offset_bytes + request.length_bytes <= array_bytes);
            if fits && format!("{candidate:?}") != format!("{case:?}") && fails(&candidate) {
                case = candidate;
            }
        }
        if format!("{case:?}") == before {
            return case;
        }
    }
}

fn preemption(case: &mut Case, simplify: fn(&mut GcPreemption)) {
    if let Some(preemption) = &mut case.params.ssd.gc.preemption {
        simplify(preemption);
    }
}

fn coordination(case: &mut Case, simplify: fn(&mut CoordinationParams)) {
    if let Some(coordination) = &mut case.params.coordination {
        simplify(coordination);
    }
}

fn cache(case: &mut Case, simplify: fn(&mut WriteCacheParams)) {
    if let Some(cache) = &mut case.params.cache {
        simplify(cache);
    }
}

const NO_TIME: Duration = Duration { ns: 0 };

fn host_port(case: &mut Case, simplify: fn(&mut ControllerLimits)) {
    if let Some(limits) = &mut case.params.host_port {
        simplify(limits);
    }
}

fn rebuild(case: &mut Case, simplify: fn(&mut RebuildParams)) {
    if let Some(rebuild) = &mut case.params.rebuild {
        simplify(rebuild);
    }
}

/// Returns true if each pool always has room for a write (rule 16).
fn has_room(ssd: &SsdParams) -> bool {
    let planes_per_pool = if ssd.gc.rules.pool == BlockPoolScope::Plane { 1 } else { ssd.geometry.planes };
    let more = [ssd.gc.rules.separate_open_block, ssd.writes.allocation == DieChoiceForWrites::Dynamic, !ssd.writes.fill_seals_last_block];
    let more = more.into_iter().filter(|&needs_one| needs_one).count() as u32;
    planes_per_pool * ssd.geometry.overprovisioned_blocks_per_plane >= ssd.gc.start_threshold_free_blocks + 2 + more
}

/// Returns true if the level suits the members and survives the failure, and if writes find room.
fn is_possible(case: &Case) -> bool {
    let least = match case.params.level {
        RaidLevel::Single | RaidLevel::Raid0 => 1,
        RaidLevel::Raid1 | RaidLevel::Raid10 => 2,
        RaidLevel::Raid4 | RaidLevel::Raid5 => 3,
        RaidLevel::Raid6 => 4,
    };
    let redundant = !matches!(case.params.level, RaidLevel::Single | RaidLevel::Raid0);
    let survives = case.params.failures.iter().all(|failure| redundant && failure.member < case.params.members);
    if let Some(own) = &case.params.ssd.superblock {
        let shape = own.shape(&case.params.ssd.geometry);
        if !shape.always_has_victim_at_free_superblocks(own.collection.floor)
            || own.buffer.capacity_mapping_units < shape.write_buffer_mapping_units_min()
        {
            return false;
        }
    }
    let fits = case.requests.iter().all(|request| !request.contiguous_on_one_member || reference::fits_one_member(&case.params, request));
    fits && (case.params.ssd.superblock.is_some() || has_room(&case.params.ssd))
        && case.params.members >= least
        && (case.params.level != RaidLevel::Raid10 || case.params.members.is_multiple_of(2))
        && survives
}

/// Tries to do without ever smaller runs of requests.
fn drop_requests(case: &mut Case, fails: &impl Fn(&Case) -> bool) {
    let mut run = case.requests.len().next_power_of_two();
    while run > 0 {
        let mut first = 0;
        while first < case.requests.len() {
            let mut candidate = case.clone();
            candidate.requests.drain(first..(first + run).min(case.requests.len()));
            if fails(&candidate) {
                *case = candidate;
            } else {
                first += run;
            }
        }
        run /= 2;
    }
}

fn front(case: &mut Case, simplify: fn(&mut FrontEndParams)) {
    if let Some(front) = &mut case.params.ssd.front_end {
        simplify(front);
    }
}

fn superblock(case: &mut Case, simplify: fn(&mut SuperblockDriveParams)) {
    if let Some(own) = &mut case.params.ssd.superblock {
        simplify(own);
    }
}

fn avoid(case: &mut Case, simplify: fn(&mut Avoid)) {
    if let ReadPlan::Avoid(avoid) = &mut case.params.read_plan {
        simplify(avoid);
    }
}

fn hedge(case: &mut Case, simplify: fn(&mut Hedge)) {
    match &mut case.params.read_plan {
        ReadPlan::Hedge(hedge) => simplify(hedge),
        ReadPlan::Predict(predict) => simplify(&mut predict.hedge),
        _ => {}
    }
}

fn predict(case: &mut Case, simplify: fn(&mut Predict)) {
    if let ReadPlan::Predict(predict) = &mut case.params.read_plan {
        simplify(predict);
    }
}

const SIMPLER: [fn(&mut Case); 110] = [
    |case| case.params.parity_handle = Default::default(),
    |case| case.owners.clear(),
    |case| case.owners.truncate(1),
    |case| case.params.read_plan = ReadPlan::default(),
    |case| avoid(case, |avoid| avoid.fast_fail.ns = 0),
    |case| hedge(case, |hedge| hedge.after = HedgeDelay::Time(Duration { ns: 1000 })),
    |case| hedge(case, |hedge| hedge.cancel = UnneededReadCancellation::Never),
    |case| predict(case, |predict| predict.then_hedge = false),
    |case| predict(case, |predict| predict.cost.ns = 0),
    |case| predict(case, |predict| predict.slow.ns = 0),
    |case| predict(case, |predict| predict.false_accept.0 = 0.0),
    |case| predict(case, |predict| predict.false_reject.0 = 0.0),
    |case| avoid(case, |avoid| avoid.pre_reads = false),
    |case| avoid(case, |avoid| avoid.remaining = HostKnowledgeOfRemainingCollection::Known),
    |case| avoid(case, |avoid| avoid.knowledge = HostKnowledgeOfCollection::Element),
    |case| superblock(case, |own| own.submission_queues = None),
    |case| superblock(case, |own| own.slc = None),
    |case| {
        superblock(case, |own| own.placement_handles = PlacementHandles::SINGLE_HANDLE);
        case.params.parity_handle = Default::default();
    },
    |case| superblock(case, |own| own.upkeep = RefreshAndWearLevellingParams::default()),
    |case| superblock(case, |own| own.suspension = None),
    |case| superblock(case, |own| own.has_parity_superpages = false),
    |case| superblock(case, |own| own.firmware = ControllerCores::WITHOUT_OVERHEAD),
    |case| superblock(case, |own| own.buffer.settings.linger = None),
    |case| superblock(case, |own| own.buffer.settings.protected = true),
    |case| superblock(case, |own| own.reads.cache_read = false),
    |case| superblock(case, |own| own.dies_programming_max = 64),
    |case| case.params.ssd.die_delay_mechanisms = DieDelayMechanisms::default(),
    |case| case.params.ssd.front_end = None,
    |case| front(case, |front| front.write_buffer = None),
    |case| front(case, |front| front.queues = None),
    |case| front(case, |front| front.firmware = ControllerCores::WITHOUT_OVERHEAD),
    |case| case.requests.iter_mut().for_each(|request| request.fua = false),
    |case| case.warm_up = WarmUp { overwrites_per_page: 0.0, pattern: WarmUpPattern::Random },
    |case| case.host = HostLoop::Open,
    |case| case.params.cache = None,
    |case| case.params.host_port = None,
    |case| host_port(case, |limits| limits.processor = None),
    |case| host_port(case, |limits| limits.processor = limits.processor.map(|processor| ArrayProcessor { shared: NO_TIME, ..processor })),
    |case| host_port(case, |limits| limits.processor = limits.processor.map(|processor| ArrayProcessor { stripe: NO_TIME, ..processor })),
    |case| host_port(case, |limits| limits.outstanding = None),
    |case| host_port(case, |limits| limits.bandwidth = None),
    |case| cache(case, |cache| (cache.destage_start_fill, cache.full_speed_destage_fill_fraction) = (0.0, 0.0)),
    |case| cache(case, |cache| cache.destages_in_flight_max = 1),
    |case| cache(case, |cache| cache.nvm_page_read_ns = 0),
    |case| cache(case, |cache| cache.nvm_page_write_ns = 0),
    |case| cache(case, |cache| cache.dirty_stripe_cache_capacity_pages = cache.dirty_stripe_cache_capacity_pages.min(1)),
    |case| cache(case, |cache| cache.member_cache_pages = cache.member_cache_pages.min(1)),
    |case| cache(case, |cache| cache.member_cache_pages = cache.member_cache_pages.min(4)),
    |case| cache(case, |cache| cache.destage_wait_for_other_members_max_ns = 10_000_000),
    |case| case.params.slow.clear(),
    |case| case.params.slow.truncate(1),
    |case| case.params.slow.iter_mut().for_each(|slow| slow.share.0 = 1.0),
    |case| case.params.slow.iter_mut().for_each(|slow| (slow.stall, slow.every) = (None, None)),
    |case| case.params.slow.iter_mut().for_each(|slow| (slow.factor, slow.add.ns) = (1.0, slow.add.ns.max(1))),
    |case| case.params.failures.clear(),
    |case| case.params.failures.truncate(1),
    |case| case.params.failures.truncate(case.params.failures.len().saturating_sub(1)),
    |case| case.params.rebuild = None,
    |case| rebuild(case, |rebuild| rebuild.settings.in_flight = 1),
    |case| rebuild(case, |rebuild| rebuild.settings.spares = 1),
    |case| rebuild(case, |rebuild| rebuild.settings.finish = false),
    |case| case.params.coordination = None,
    |case| coordination(case, |coordination| coordination.latency = MessageLatency::default()),
    |case| coordination(case, |coordination| coordination.delay.ns = 0),
    |case| coordination(case, |coordination| coordination.notify = Some(JointCollectionRequestTiming::AtStartThreshold)),
    |case| coordination(case, |coordination| coordination.at_idle = false),
    |case| coordination(case, |coordination| coordination.across_dies = true),
    |case| coordination(case, |coordination| coordination.coordinated_members.0 = u128::MAX),
    |case| coordination(case, |coordination| coordination.force_until = ForcedCollectionAmount::OneVictimPerDie),
    |case| coordination(case, |coordination| coordination.scheme = ReactiveInclusive {}.into()),
    |case| case.params.members = 1,
    |case| {
        case.params.level = RaidLevel::Single;
        case.params.members = 1;
    },
    |case| case.params.stripe_unit_pages = 1,
    |case| case.params.ssd.link = None,
    |case| case.params.ssd.channel = None,
    |case| case.params.ssd.writes.allocation = DieChoiceForWrites::Static,
    |case| case.params.ssd.writes.die_stride = 1,
    |case| case.params.ssd.writes.plane_choice = PlaneChoice::Rotate,
    |case| case.params.ssd.writes.fill_seals_last_block = true,
    |case| case.params.ssd.gc.rules.blocking = CollectionBlockingScope::Die,
    |case| case.params.ssd.gc.gc_algorithm = GcAlgorithm::VictimByPolicy,
    |case| case.params.ssd.gc.rules.trigger = HostRequestKindsThatMayStartGc::EveryRequest,
    |case| case.params.ssd.gc.victim = VictimPolicy::default(),
    |case| case.params.ssd.gc.rules.separate_open_block = false,
    |case| case.params.ssd.gc.rules.copy_back = true,
    |case| case.params.ssd.gc.collection_takes_no_time = false,
    |case| case.params.ssd.gc.preemption = None,
    |case| case.params.ssd.gc.idle_collection_after_ns = None,
    |case| case.params.ssd.gc.stop_threshold_free_blocks = case.params.ssd.gc.start_threshold_free_blocks + 1,
    |case| preemption(case, |preemption| preemption.suspension = None),
    |case| preemption(case, |preemption| preemption.pipeline = HostOverlapWithMoves::NoOverlap),
    |case| preemption(case, |preemption| preemption.reorder = false),
    |case| preemption(case, |preemption| preemption.merge = preemption.reorder),
    |case| preemption(case, |preemption| preemption.t_hard.0 = 0.0),
    |case| preemption(case, |preemption| preemption.poll.ns = 0),
    |case| preemption(case, |preemption| preemption.poll.ns = 600),
    |case| case.requests.iter_mut().for_each(|request| request.high_priority = false),
    |case| case.requests.iter_mut().for_each(|request| request.contiguous_on_one_member = false),
    |case| case.requests.iter_mut().for_each(|request| request.stream = 0),
    |case| case.params.ssd.geometry.pages_per_block = case.params.ssd.geometry.pages_per_block.min(40),
    |case| case.params.ssd.geometry.pages_per_block = case.params.ssd.geometry.pages_per_block.min(10),
    |case| case.params.ssd.geometry.pages_per_block = case.params.ssd.geometry.pages_per_block.min(4),
    |case| {
        if case.params.ssd.channel.is_none() {
            case.params.ssd.timing.page_transfer_ns = 0;
        }
    },
    |case| case.params.ssd.timing.spreads_summary_page_over_programs = false,
    |case| case.params.ssd.geometry.has_summary_page = false,
    |case| case.params.ssd.timing.command_overhead.ns = 0,
    |case| case.params.ssd.geometry.dies = 1,
    |case| case.params.ssd.geometry.planes = 1,
    |case| case.requests.iter_mut().for_each(|request| request.length_bytes = request.length_bytes.min(PAGE_BYTES)),
    |case| {
        for request in &mut case.requests {
            request.offset_bytes = request.offset_bytes / PAGE_BYTES * PAGE_BYTES;
            request.length_bytes = request.length_bytes.next_multiple_of(PAGE_BYTES);
        }
    },
];

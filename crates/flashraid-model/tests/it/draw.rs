//! Random small arrays and loads, a function for each kind of case.

use flashraid_model::array::{
    ArrayParams, Avoid, Hedge, HedgeDelay, HostKnowledgeOfCollection, HostKnowledgeOfRemainingCollection, OwnedPages, ParityHandle,
    Predict, RaidLevel, ReadPlan, SlowMemberPeriod, UnneededReadCancellation, WarmUp, WarmUpPattern,
};
use flashraid_model::cache::RecencyBit;
use flashraid_model::coordination::{
    CollectionTimeWindows, CoordinationPolicy, JointCollectionRequestTiming, RequestsDuringCycle, TurnEndMargin, WindowProtocol,
};
use flashraid_model::request::HostLoop;
use flashraid_model::rng;
use flashraid_model::ssd::{BlockPoolScope, CollectionBlockingScope, DieDelayMechanisms, GcAlgorithm, HostOverlapWithMoves, VictimPolicy};
use flashraid_model::units::{Duration, Fraction};

use crate::draw_drives::{SLOWEST, draw_drive};
use crate::draw_parts::Draw;
use crate::outcome::Case;
use crate::reference;

/// Draws a small array and a load for it. Features are switched on and off by the case, so that they meet in every combination.
pub(crate) fn draw_case(seed: u64) -> Case {
    let mut draw = Draw(rng::stream(seed, "agreement", 0));
    let params = loop {
        let params = draw.array();
        let physical_pages = u64::from(params.members) * params.ssd.geometry.physical_pages();
        if physical_pages <= 5000 && reference::array_pages(&params) > 0 {
            break params;
        }
    };
    let overwrites = if draw.chance(25) { 0.0 } else { draw.between(0, 2000) as f64 / 1000.0 };
    let pattern = if draw.chance(15) { WarmUpPattern::Workload } else { WarmUpPattern::Random };
    let host = if draw.chance(25) { HostLoop::Closed { depth: draw.between(1, 32) as u32, think_ns: 0 } } else { HostLoop::Open };
    let requests = draw.requests(&params);
    let warm_up = WarmUp { overwrites_per_page: overwrites, pattern };
    let mut case = Case { params, warm_up, owners: Vec::new(), seed, host, requests };
    draw.aim_at_members(&mut case);
    set_rules_by_seed(&mut case);
    case
}

/// The same with section 10 of the rules.
pub(crate) fn draw_interruptible_case(seed: u64) -> Case {
    let mut case = draw_case(seed);
    Draw(rng::stream(seed, "agreement", 1)).make_interruptible(&mut case);
    set_rules_by_seed(&mut case);
    case
}

/// The same with section 11 of the rules.
pub(crate) fn draw_coordinated_case(seed: u64) -> Case {
    let mut case = draw_interruptible_case(seed);
    Draw(rng::stream(seed, "agreement", 2)).coordinate(&mut case);
    set_rules_by_seed(&mut case);
    case
}

/// A case of any kind with section 12 of the rules.
pub(crate) fn draw_case_of_stripes(seed: u64) -> Case {
    let mut draw = Draw(rng::stream(seed, "agreement", 3));
    let mut case = match draw.between(0, 2) {
        0 => draw_case(seed),
        1 => draw_interruptible_case(seed),
        _ => draw_coordinated_case(seed),
    };
    draw.make_stripes(&mut case);
    if draw.chance(15) {
        draw.limit_host(&mut case);
    }
    set_rules_by_seed(&mut case);
    case
}

/// A case of any kind with section 13 of the rules.
pub(crate) fn draw_cached_case(seed: u64) -> Case {
    let mut draw = Draw(rng::stream(seed, "agreement", 4));
    let mut case = match draw.between(0, 5) {
        0 => draw_case(seed),
        1 => draw_interruptible_case(seed),
        2 => draw_coordinated_case(seed),
        _ => draw_case_of_stripes(seed),
    };
    draw.put_cache(&mut case);
    if draw.chance(20) {
        draw.trim_some(&mut case);
    }
    if draw.chance(15) {
        draw.limit_host(&mut case);
    }
    set_rules_by_seed(&mut case);
    case
}

/// Draws a case in which everything may meet everything (section 14 of the rules). The mapping is one more draw, and the parts before the
/// dies another.
pub(crate) fn draw_mixed_case(seed: u64) -> Case {
    let mut of_mapping = Draw(rng::stream(seed, "agreement", 10));
    if of_mapping.chance(45) {
        return draw_mixed(seed, true);
    }
    let mut case = draw_mixed(seed, false);
    if of_mapping.chance(40) {
        of_mapping.put_front(&mut case);
    }
    case
}

/// The same for members with pools and nothing before their dies.
pub(crate) fn draw_mixed_pools_case(seed: u64) -> Case {
    draw_mixed(seed, false)
}

fn draw_mixed(seed: u64, superblocks: bool) -> Case {
    let mut draw = Draw(rng::stream(seed, "agreement", 5));
    let drive = superblocks.then(|| draw_drive(seed));
    let params = loop {
        let params = draw.mixed_array(drive.as_ref().map(|(ssd, _)| ssd));
        let physical_pages = u64::from(params.members) * params.ssd.geometry.physical_pages();
        if physical_pages <= 8000 && reference::array_pages(&params) > 0 {
            break params;
        }
    };
    let overwrites = if draw.chance(25) { 0.0 } else { draw.between(0, 2000) as f64 / 1000.0 };
    let mut pattern = if draw.chance(15) { WarmUpPattern::Workload } else { WarmUpPattern::Random };
    let host = if draw.chance(25) { HostLoop::Closed { depth: draw.between(1, 32) as u32, think_ns: 0 } } else { HostLoop::Open };
    let mut requests = draw.requests(&params);
    if let Some((ssd, times)) = drive {
        requests.iter_mut().for_each(|request| request.arrival_ns = request.arrival_ns * times / SLOWEST);
        let is_fresh = ssd.superblock.is_some_and(|own| own.starts_empty);
        if !is_fresh && draw.chance(30) {
            pattern = WarmUpPattern::SteadyStateWithoutWrites;
        }
    }
    let owners = draw_owners(seed, &params);
    let mut case = Case { params, warm_up: WarmUp { overwrites_per_page: overwrites, pattern }, owners, seed, host, requests };
    draw.want_few_pages(&mut case);
    draw.aim_at_members(&mut case);
    draw.set_priorities(&mut case);
    draw.set_streams(&mut case);
    if draw.chance(35) {
        draw.make_stripes(&mut case);
    }
    // Fewer cases have superblocks, and each victim policy has to meet each cache there, too.
    if draw.chance(if superblocks { 35 } else { 25 }) {
        draw.put_cache(&mut case);
    }
    if draw.chance(40) {
        draw.trim_some(&mut case);
    }
    if draw.chance(25) {
        draw.limit_host(&mut case);
    }
    if superblocks {
        draw.want_safety(&mut case);
    }
    set_rules_by_seed(&mut case);
    draw_parity_handle(&mut case);
    let mut of_mechanisms = Draw(rng::stream(seed, "agreement", 9));
    if !superblocks && of_mechanisms.chance(25) {
        case.params.ssd.die_delay_mechanisms =
            DieDelayMechanisms::random_for_tests(&mut of_mechanisms.0, case.params.ssd.timing.page_program.ns);
    }
    case
}

/// Gives parity a handle, if there are parity and handles.
fn draw_parity_handle(case: &mut Case) {
    let mut draw = Draw(rng::stream(case.seed, "parity handle", 0));
    let handles = case.params.ssd.superblock.as_ref().map_or(1, |own| own.placement_handles.count);
    if handles == 1 || case.params.level.parity_strips() == 0 {
        return;
    }
    case.params.parity_handle = match draw.between(0, 2) {
        0 => ParityHandle::OfData,
        1 => ParityHandle::Own,
        _ => ParityHandle::Number(draw.between(0, u64::from(handles) - 1) as u8),
    };
}

/// Draws streams that own pages of the array before the run. They are drawn from a stream of their own, so that cases without them stay as
/// they were.
pub(crate) fn draw_owners(seed: u64, params: &ArrayParams) -> Vec<OwnedPages> {
    let mut draw = Draw(rng::stream(seed, "owners", 0));
    if draw.chance(30) {
        return Vec::new();
    }
    let (pages, ranges) = (reference::array_pages(params), draw.between(1, 5));
    let mut ends: Vec<u64> = (0..2 * ranges).map(|_| draw.between(0, pages)).collect();
    if draw.chance(50) {
        (ends[0], ends[1]) = (0, pages);
    }
    ends.sort_unstable();
    let mut of = |ends: &[u64]| OwnedPages { pages: ends[0]..ends[1], stream: draw.between(0, 6) as u8 };
    // In half of the cases ranges touch.
    if seed.is_multiple_of(2) { ends.windows(2).map(&mut of).collect() } else { ends.chunks(2).map(&mut of).collect() }
}

/// The same with section 25 of the rules.
pub(crate) fn draw_fronted_case(seed: u64) -> Case {
    let mut case = draw_mixed(seed, false);
    Draw(rng::stream(seed, "agreement", 8)).put_front(&mut case);
    case
}

/// Returns true if the rules describe a scheme, and the reference implements it.
pub(crate) fn has_rule(scheme: &CoordinationPolicy) -> bool {
    include_str!("../../../../docs/rules.md").contains(&format!("`{}`", scheme.name()))
}

/// Section 27 of the rules: reads are planned, in some arrays that have another way to their data. Caches of single members exclude it.
fn plan_reads(case: &mut Case, draw: &mut Draw) {
    let params = &mut case.params;
    let has_choice = !matches!(params.level, RaidLevel::Single | RaidLevel::Raid0);
    let has_member_caches = params.cache.is_some_and(|cache| cache.stripe_and_member_caches.member_caches.is_some());
    let plans = draw.chance(85) && has_choice && !has_member_caches;
    let time = |ns| Duration { ns };
    let mut avoid = Avoid {
        fast_fail: time([0, draw.between(1, 3_000), draw.between(3_001, 90_000)][draw.between(0, 2) as usize]),
        knowledge: if draw.chance(70) { HostKnowledgeOfCollection::Element } else { HostKnowledgeOfCollection::Member },
        pre_reads: draw.chance(70),
        remaining: if draw.chance(65) { HostKnowledgeOfRemainingCollection::Known } else { HostKnowledgeOfRemainingCollection::Unknown },
        ..Avoid::default()
    };
    let shortest = params.ssd.timing.page_read.ns.max(1_000);
    let mut hedge = Hedge::default();
    match draw.between(0, 3) {
        0 => hedge.after = HedgeDelay::Time(time(draw.between(1, 2 * shortest))),
        1 => hedge.after = HedgeDelay::Time(time(draw.between(1, 20 * shortest))),
        _ => hedge.learn = draw.between(1, 30) as u32,
    }
    let hedges = plans && draw.chance(50);
    let clean_ns = params.ssd.timing.block_erase.ns.max(shortest);
    let mut predict = Predict {
        slow: time([0, draw.between(1, shortest), draw.between(1, 2 * clean_ns)][draw.between(0, 2) as usize]),
        false_accept: Fraction(if draw.chance(50) { 0.0 } else { draw.between(1, 100) as f64 / 100.0 }),
        false_reject: Fraction(if draw.chance(50) { 0.0 } else { draw.between(1, 60) as f64 / 100.0 }),
        cost: time([0, draw.between(1, 8_000)][draw.between(0, 1) as usize]),
        then_hedge: draw.chance(40),
        ..Predict::default()
    };
    if draw.chance(60) {
        hedge.cancel = UnneededReadCancellation::Queued;
    }
    predict.hedge = hedge.clone();
    let predicts = plans && draw.chance(35);
    let has_turns = params
        .coordination
        .as_ref()
        .is_some_and(|coordination| matches!(coordination.scheme, CoordinationPolicy::CollectionTimeWindows(_)));
    let knows_turns = has_turns && draw.chance(60);
    if knows_turns {
        avoid.knowledge = HostKnowledgeOfCollection::Turn;
    }
    params.read_plan = match plans {
        // Few arrays take turns, so that most of these have a host that uses them.
        true if knows_turns => avoid.into(),
        _ if predicts => predict.into(),
        _ if hedges => hedge.into(),
        true => avoid.into(),
        false => ReadPlan::default(),
    };
    // Any plan of the list that the rules describe, new ones included.
    if plans && draw.chance(10) {
        let drawn = ReadPlan::random_for_tests(&mut draw.0);
        let is_ruled = include_str!("../../../../docs/rules.md").contains(&format!("plan = \"{}\"", drawn.name()));
        if is_ruled && drawn.has_choice(params.layout().redundancy()) {
            params.read_plan = drawn;
        }
    }
}

/// Gives some arrays NVMe's windows without limits, and much collection in turns. Then most windows end when a turn begins (rules 284 to
/// 289). They come instead of half of the windows that only follow the clock, and of some schemes that are drawn often.
fn end_windows_by_orders(case: &mut Case) {
    let mut draw = Draw(rng::stream(case.seed, "agreement", 16));
    let (of_clock, of_others) = (draw.chance(50), draw.chance(9));
    let Some(coordination) = case.params.coordination.as_mut().filter(|_| case.params.members > 1) else { return };
    let is_changed = match &coordination.scheme {
        CoordinationPolicy::CollectionTimeWindows(windows) => of_clock && windows.protocol == WindowProtocol::Ioda,
        scheme => of_others && ["reactive-inclusive", "reactive-selective", "proactive-soft-limit", "rotate"].contains(&scheme.name()),
    };
    if is_changed {
        let window_ns = 200_003 << draw.between(0, 3);
        coordination.scheme = CoordinationPolicy::CollectionTimeWindows(CollectionTimeWindows {
            protocol: WindowProtocol::Nvme,
            window: Duration { ns: window_ns },
            buffer: TurnEndMargin::Time(Duration { ns: draw.between(0, 99_999) }),
            clean_at: 3.0 + draw.between(0, 30) as f64 / 10.0,
            ndwin_time_minimum_high: Duration { ns: if draw.chance(50) { draw.between(1, 2 * window_ns) } else { 0 } },
            ..CollectionTimeWindows::default()
        });
    }
}

/// Makes members slow for a time, or one member for several times (rules 250 to 252).
fn slow_down(case: &mut Case, draw: &mut Draw) {
    case.params.slow.clear();
    if !draw.chance(20) {
        return;
    }
    let ends_ns = case.requests.iter().map(|request| request.arrival_ns).max().unwrap_or(0) + 100_000;
    let operation_ns = case.params.ssd.timing.page_program.ns.max(1000);
    let member = draw.between(0, u64::from(case.params.members) - 1) as u32;
    let mut from_ns = draw.between(0, ends_ns);
    for nth in 0..draw.between(1, 3) {
        let until_ns = if draw.chance(40) { u64::MAX } else { from_ns + 1 + draw.between(0, ends_ns) };
        let is_other = nth > 0 && (until_ns == u64::MAX || draw.chance(50));
        let is_stalled = draw.chance(40);
        let length_ns = draw.between(1, 4 * operation_ns);
        let every_ns = length_ns + draw.between(1, 20 * operation_ns);
        case.params.slow.push(SlowMemberPeriod {
            member: if is_other { (member + nth as u32) % case.params.members } else { member },
            from: Duration { ns: from_ns },
            until: (until_ns < u64::MAX).then_some(Duration { ns: until_ns }),
            factor: if draw.chance(70) { draw.between(1000, 20_000) as f64 / 1000.0 } else { 1.0 },
            add: Duration { ns: if is_stalled || draw.chance(60) { 0 } else { draw.between(1, 5 * operation_ns) } },
            share: Fraction(if draw.chance(60) { draw.between(1, 100) as f64 / 100.0 } else { 1.0 }),
            stall: is_stalled.then_some(Duration { ns: length_ns }),
            every: is_stalled.then_some(Duration { ns: every_ns }),
        });
        if until_ns == u64::MAX {
            break;
        }
        from_ns = until_ns + draw.between(0, operation_ns);
    }
}

/// Gives some cases rules that were added later. Summaries are spread (rule 138), or a pool for each die collects by the reference's
/// procedure (rules 130 to 133). Other cases let operations join steps in flight (rule 37), plan reads, or ask softly or force some
/// dies only (rules 119 to 122). The seed decides, so that all other draws stay the same.
fn set_rules_by_seed(case: &mut Case) {
    let mut draw = Draw(rng::stream(case.seed, "agreement", 6));
    let gc = &mut case.params.ssd.gc;
    case.params.ssd.timing.spreads_summary_page_over_programs = draw.chance(30) && case.params.ssd.superblock.is_none();
    if gc.rules.pool == BlockPoolScope::Die && draw.chance(40) {
        gc.gc_algorithm = GcAlgorithm::LikeDiskSimWithoutCopyBack;
        (gc.victim, gc.rules.separate_open_block, gc.rules.copy_back) = (VictimPolicy::default(), false, false);
        if let Some(preemption) = &mut gc.preemption {
            preemption.pipeline = HostOverlapWithMoves::NoOverlap;
        }
    }
    if let Some(preemption) = &mut gc.preemption
        && preemption.pipeline == HostOverlapWithMoves::RequestsWaitingAtStepStart
        && draw.chance(40)
    {
        preemption.pipeline = HostOverlapWithMoves::RequestsWaitingOrArrivingDuringStep;
    }
    if case.params.ssd.superblock.is_none() {
        let mut draw = Draw(rng::stream(case.seed, "agreement", 13));
        let ssd = &mut case.params.ssd;
        ssd.pools_start_empty = draw.chance(15);
        let (by_plane, by_die) = (ssd.gc.rules.pool == BlockPoolScope::Plane, ssd.gc.rules.blocking == CollectionBlockingScope::Die);
        let may_overlap = by_plane && by_die && ssd.gc.rules.copy_back && ssd.gc.preemption.is_none() && ssd.channel.is_none();
        ssd.gc.rules.parallel_planes = draw.chance(50) && may_overlap;
    }
    if let Some(cache) = &mut case.params.cache {
        cache.recency = if Draw(rng::stream(case.seed, "agreement", 14)).chance(40) { RecencyBit::Stores } else { RecencyBit::Hits };
    }
    end_windows_by_orders(case);
    plan_reads(case, &mut Draw(rng::stream(case.seed, "agreement", 11)));
    slow_down(case, &mut Draw(rng::stream(case.seed, "agreement", 12)));
    let mut draw = Draw(rng::stream(case.seed, "agreement", 7));
    if let Some(coordination) = &mut case.params.coordination {
        coordination.notify = Some(if draw.chance(50) {
            JointCollectionRequestTiming::AtSoftThreshold
        } else {
            JointCollectionRequestTiming::AtStartThreshold
        });
        coordination.at_idle = draw.chance(30);
        coordination.across_dies = draw.chance(75);
        if Draw(rng::stream(case.seed, "agreement", 15)).chance(40) {
            coordination.during_cycle = RequestsDuringCycle::Repeat;
        }
        // Without a delay a soft request begins a cycle at once.
        let delay_ns = draw.between(1_013, 5_000_000);
        if coordination.notify() == JointCollectionRequestTiming::AtSoftThreshold && draw.chance(70) {
            coordination.delay.ns = delay_ns;
        }
    }
}

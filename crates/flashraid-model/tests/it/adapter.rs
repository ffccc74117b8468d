//! Runs a case on the model (`flashraid_model::array`) and lays its outcome out for comparison.

use crate::outcome::{Case, Collection, DriveOutcome, MemberOutcome, Outcome, PhysicalPage, RequestOutcome};
use flashraid_model::array::{
    Array, ArrayEvent, ArrayExecutionOptions, InjectedSlownessCounters, RequestInPages, RunMilestone, WarmUpPattern, page_request_of,
};
use flashraid_model::coordination::PredictableLatencyCounters;
use flashraid_model::counts::Maximum;
use flashraid_model::events::{OperationTimeParts, VictimBlockCollection};
use flashraid_model::ids::Lpn;
use flashraid_model::request::{HostLoop, OpKind, Request};
use flashraid_model::ssd::{DieDelayMechanismCounters, ExactFastPaths, MemberCounters, MemberUtilisationInInterval, Ssd};

/// The outcome of a case by the model.
pub(crate) fn fast(case: &Case) -> Outcome {
    fast_with(case, ExactFastPaths::default()).0
}

/// The same with or without the shortcuts, and how the members were used until the last request was done.
pub(crate) fn fast_with(case: &Case, shortcuts: ExactFastPaths) -> (Outcome, Vec<Vec<MemberUtilisationInInterval>>) {
    // Some cases hand requests over many at a time, as many as their seed says, and some of these are served by several threads.
    let threads = case.seed as usize / 7 % 4;
    let setup = ArrayExecutionOptions {
        worker_threads_max: threads,
        operations_per_worker_thread_min: Some(1),
        records_member_utilisation: true,
        reports_destage_events: false,
        shortcuts,
    };
    let mut array = Array::new(&case.params, case.seed, setup);
    // In some cases the first part of the run is left out.
    let mut measured_from = None;
    // The reference counts from the beginning what its cache holds at most.
    let mut held_before = Maximum(0);
    let mut windows_before = None;
    let first_measured = if case.seed.is_multiple_of(2) { 0 } else { case.requests.len() / 3 };
    let page_bytes = u64::from(case.params.ssd.geometry.page_bytes);
    let exported_pages = array.shape().layout.exported_pages();
    let pages = |tag: usize, request: &Request| {
        let pages = page_request_of(request, page_bytes, exported_pages).expect("it fits");
        RequestInPages { tag: tag as u64, ..pages }
    };
    array.untimed_access().fill_by_owner(&case.owners);
    match case.warm_up.pattern {
        WarmUpPattern::Random => {
            for member in array.untimed_access().members_to_warm_up() {
                member.warm_up(case.warm_up.overwrites_per_page, case.seed);
            }
        }
        WarmUpPattern::SteadyStateWithoutWrites => {
            for member in array.untimed_access().members_to_warm_up() {
                let point = case.params.point_of_cycle(member.member().0);
                member.make_steady(case.seed, point);
            }
        }
        WarmUpPattern::Workload => {
            let writes = case.requests.iter().filter(|request| request.kind == OpKind::Write);
            array.untimed_access().overwrite(&writes.map(|request| pages(0, request)).collect::<Vec<_>>());
            array.untimed_access().members().iter_mut().for_each(Ssd::end_warm_up_and_close_superpages);
        }
    }
    let nothing = RequestOutcome { arrival_ns: 0, done_ns: 0, gc_members_met: 0, pages_lost: 0, parts: OperationTimeParts::default() };
    let mut outcomes = vec![nothing; case.requests.len()];
    let mut events: Vec<ArrayEvent> = Vec::new();
    let mut cleans = Vec::new();
    let mut next = 0;
    let ahead = if case.host == HostLoop::Open { case.seed as usize % 7 } else { 0 };
    let mut issue = |array: &mut Array, outcomes: &mut [RequestOutcome], now: u64, next: &mut usize| {
        if measured_from.is_none() && *next >= first_measured {
            measured_from = Some(now);
            held_before = array.counters(now).cache.map_or(Maximum(0), |counters| counters.occupancy_max_pages);
            windows_before = array.counters(now).predictable_latency;
            array.announce_milestone(now, RunMilestone::MeasuringBegins, &mut Vec::new());
        }
        outcomes[*next].arrival_ns = now;
        if ahead == 0 {
            array.submit(now, &pages(*next, &case.requests[*next])).expect("it fits");
            *next += 1;
            return;
        }
        let mut arrival = now;
        let mut together = Vec::new();
        for request in case.requests.iter().skip(*next).take(ahead) {
            arrival = arrival.max(request.arrival_ns);
            outcomes[*next].arrival_ns = arrival;
            together.push((arrival, pages(*next, request)));
            *next += 1;
        }
        array.submit_many(&together).expect("they fit");
    };
    if let HostLoop::Closed { depth, .. } = case.host {
        while next < case.requests.len().min(depth as usize) {
            issue(&mut array, &mut outcomes, 0, &mut next);
        }
    }
    let mut done_count = 0;
    let mut now = 0;
    let mut idle_is_over = false;
    loop {
        if done_count == case.requests.len() && !idle_is_over {
            idle_is_over = true;
            array.announce_milestone(now, RunMilestone::LastRequestDone, &mut events);
        }
        let arrival = match case.host {
            HostLoop::Open => case.requests.get(next).map(|r| r.arrival_ns),
            HostLoop::Closed { .. } => None,
        };
        match (arrival, array.next_time()) {
            (Some(at), event) if event.is_none_or(|event| at <= event) => issue(&mut array, &mut outcomes, at, &mut next),
            (_, Some(event)) => {
                now = event;
                array.advance(event, &mut events);
                assert!(events.is_sorted_by_key(ArrayEvent::order_key), "in order of time");
                for event in events.drain(..) {
                    let done = match event {
                        ArrayEvent::RequestDone(done) => done,
                        ArrayEvent::VictimCollectionEnded(clean) => {
                            cleans.push(clean);
                            continue;
                        }
                        ArrayEvent::HealthChanged { .. } | ArrayEvent::SuperblockUnitsProgrammed(_) => continue,
                        ArrayEvent::DestageEnded(_) => unreachable!("nobody asked for them"),
                    };
                    done_count += 1;
                    let outcome = &mut outcomes[done.tag as usize];
                    (outcome.done_ns, outcome.gc_members_met, outcome.pages_lost) = (done.at, done.gc_members_met, done.pages_lost);
                    outcome.parts = done.time;
                    assert_eq!(done.time.total_ns(), done.at - outcome.arrival_ns, "{:?} of request {}", done.time, done.tag);
                    if case.host != HostLoop::Open && next < case.requests.len() {
                        issue(&mut array, &mut outcomes, done.at, &mut next);
                    }
                }
            }
            _ => break,
        }
    }
    array.verify().expect("the state is consistent at the end");
    // Pages that entered at the end are held for some time, too.
    let cache_counters = array.counters(now + 1).cache.map(|mut counters| {
        let before = array.counters(now).cache.map(|counters| counters.occupancy_integral_page_ns);
        if before != Some(counters.occupancy_integral_page_ns) {
            // It is not empty.
            counters.occupancy_integral_page_ns = 0;
        }
        counters.occupancy_max_pages = counters.occupancy_max_pages.max(held_before);
        counters
    });
    array.announce_milestone(now, RunMilestone::RunEnds, &mut events);
    cleans.extend(events.drain(..).map(|event| match event {
        ArrayEvent::VictimCollectionEnded(clean) => clean,
        other => panic!("{other:?} at the end"),
    }));
    let measured_ns = outcomes.iter().map(|request| request.done_ns).max().unwrap_or(0).saturating_sub(measured_from.unwrap_or(0));
    // Whole intervals, so that what comes behind the last request doesn't matter.
    let longest_ns = array.members().iter().map(Ssd::utilisation_interval_ns).max().unwrap_or(0);
    let interval_ns =
        (0..).map(|doublings| 1000 << doublings).find(|&ns| ns >= longest_ns && ns >= measured_ns / 50).expect("there is one");
    let usage =
        array.members().iter().map(|ssd| ssd.utilisation_by_interval(interval_ns, (measured_ns / interval_ns) as usize, now)).collect();
    let planes = case.params.ssd.geometry.planes;
    let exported = case.params.ssd.geometry.exported_pages_per_die();
    let nowhere = PhysicalPage { die: u32::MAX, plane: u32::MAX, block: u32::MAX, page: u32::MAX };
    let place = |(die, pool, block, page)| {
        let (plane, block) = match case.params.ssd.gc.rules.pool {
            flashraid_model::ssd::BlockPoolScope::Plane => (pool, block),
            flashraid_model::ssd::BlockPoolScope::Die => (block % planes, block / planes),
        };
        PhysicalPage { die, plane, block, page }
    };
    let by_plane = case.params.ssd.gc.rules.blocking == flashraid_model::ssd::CollectionBlockingScope::Plane
        && !case.params.ssd.gc.collection_takes_no_time;
    let counts = array.counters(u64::MAX);
    let members = array.members().iter().enumerate().map(|(member, ssd)| {
        let slow = counts.slow_member_counters.get(member).copied().unwrap_or_default();
        if let Some(drive) = outcome_of_drive(case, ssd, slow) {
            return drive;
        }
        let pools = ssd.mapping().into_pools().expect("these members have pools");
        let counts = ssd.mapping().erase_counts();
        let (dies, blocks) = (case.params.ssd.geometry.dies, case.params.ssd.geometry.blocks_per_plane);
        let mut block_erases = vec![0; counts.len()];
        for (index, &count) in counts.iter().enumerate() {
            let (die, within) = (index as u32 / (planes * blocks), index as u32 % (planes * blocks));
            let (plane, block) = match case.params.ssd.gc.rules.pool {
                flashraid_model::ssd::BlockPoolScope::Plane => (within / blocks, within % blocks),
                flashraid_model::ssd::BlockPoolScope::Die => (within % planes, within / planes),
            };
            block_erases[((die * planes + plane) * blocks + block) as usize] = count;
        }
        MemberOutcome {
            counters: *ssd.counters(),
            front: ssd.front_end_counters().copied(),
            mechanisms: ssd.die_delay_counters(),
            slow,
            drive: None,
            block_erases,
            pages: (0..dies * exported)
                .map(Lpn)
                .map(|lpn| if pools.is_mapped(lpn) { place(pools.die_pool_block_and_page(lpn)) } else { nowhere })
                .collect(),
        }
    });
    let outcome = Outcome {
        members: members.collect(),
        gc_intervals: collections(cleans, by_plane),
        messages: counts.messages_sent_by_kind,
        uncoordinated_cleans: counts.uncoordinated_cleans.map(|cleans| (cleans.during_cycles, cleans.unanswered)),
        rotation: counts.scheme.rotation,
        turns: counts.scheme.turns.map(|turns| (turns.broken_contracts, turns.overruns)),
        windows: counts.predictable_latency.map(|windows| with_longest(windows, windows_before)),
        host_port_counters: counts.controller_throttling_waits.map(|counters| {
            let processor = (counters.processor_waits, counters.processor_wait_ns, counters.processor_busy_ns);
            (counters.waits, counters.wait_ns, counters.busy_ns, processor.0, processor.1, processor.2)
        }),
        cache_counters,
        stripe_counters: counts.parity_and_rebuild,
        read_plan: counts.read_plan,
        requests: outcomes,
    };
    (outcome, usage)
}

/// Returns counts of windows with the longest reads of the whole run. Those from before the measured time are in `before`.
fn with_longest(mut windows: PredictableLatencyCounters, before: Option<PredictableLatencyCounters>) -> PredictableLatencyCounters {
    let before = before.unwrap_or_default();
    for (reads, before) in [(&mut windows.reads_in_dtwin, before.reads_in_dtwin), (&mut windows.reads_in_ndwin, before.reads_in_ndwin)] {
        reads.longest_ns = reads.longest_ns.max(before.longest_ns);
    }
    windows
}

/// Returns the state and the counts of a drive with superblocks that are compared.
fn outcome_of_drive(case: &Case, ssd: &Ssd, slow: InjectedSlownessCounters) -> Option<MemberOutcome> {
    let space = ssd.mapping();
    let (media, of_drive, of_member) = (space.superblocks()?, ssd.superblock_counters()?, ssd.counters());
    let own = case.params.ssd.superblock.as_ref()?;
    let units = case.params.ssd.exported_pages() / u64::from(own.pages_per_mapping_unit);
    let (stalls, retries) = (ssd.die_delay_counters().background, ssd.die_delay_counters().read_retry);
    let counts = [
        ("pages_read", of_member.host_pages_read),
        ("pages_trimmed", of_member.host_pages_trimmed),
        ("pages_received", of_drive.host_pages_received),
        ("units_programmed", of_drive.host_units_programmed),
        ("units_slc", of_drive.host_units_programmed_slc),
        ("units_moved", of_drive.units_moved_by_collection),
        ("units_folded", of_drive.collected_units_from_slc),
        ("units_dropped", of_drive.units_overwritten_during_move),
        ("units_padded", of_drive.padding_units_programmed),
        ("units_parity", of_drive.parity_units_programmed),
        ("rmw_reads", of_drive.units_read_for_partial_writes),
        ("array_reads", of_drive.flash_page_reads_for_host),
        ("joined", of_drive.page_reads_sharing_flash_read),
        ("foreground", of_drive.waits_for_free_superblock),
        ("victims", of_drive.victims_begun),
        ("refreshed", of_drive.victims_for_refresh),
        ("levelled", of_drive.victims_for_wear_levelling),
        ("trimmed_in_part", of_drive.trimmed_pages_ignored),
        ("suspensions", of_member.suspensions),
        ("merges", of_member.operations_served_from_move_register),
        ("pipelined", of_member.pipelined_operations),
        ("stalls", stalls.stalls_waited_for),
        ("stall_waits_ns", stalls.time_waited_for_stalls_ns),
        ("retried_reads", retries.retried_reads),
        ("retries_ns", retries.retry_array_reads_ns),
    ];
    let handles = (0..own.placement_handles.count as usize).map(|at| {
        let of = of_drive.by_placement_handle;
        [of.pages_received[at], of.host_units_programmed[at], of.collection_units_programmed[at]]
    });
    let drive = DriveOutcome {
        places: (0..units).map(|unit| media.physical_slot_of_mapping_unit(unit).map(|place| place as u32)).collect(),
        erases: media.erase_counts().collect(),
        handles: handles.collect(),
        counts: counts.into_iter().filter(|&(_, count)| count > 0).collect(),
    };
    Some(MemberOutcome {
        counters: MemberCounters { host_pages_written: of_member.host_pages_written, ..drive.counters() },
        front: ssd.front_end_counters().copied(),
        mechanisms: DieDelayMechanismCounters::default(),
        slow,
        drive: Some(drive),
        block_erases: Vec::new(),
        pages: Vec::new(),
    })
}

/// Cleans of one die (of one plane, if only that is busy) back to back are one collection.
fn collections(mut cleans: Vec<VictimBlockCollection>, by_plane: bool) -> Vec<Collection> {
    let worker = |c: &VictimBlockCollection| (c.member, c.die, if by_plane { c.pool } else { 0 });
    cleans.sort_by_key(|c| (worker(c), c.start_ns));
    let mut collections: Vec<Collection> = Vec::new();
    let (mut last, mut last_start_ns) = (None, 0);
    for clean in &cleans {
        let VictimBlockCollection { member, die, start_ns, end_ns, pages_moved, is_caused_by_coordination: forced, .. } = *clean;
        match collections.last_mut() {
            // Planes that are cleaned together begin and end together.
            Some(collection) if last == Some(worker(clean)) && (collection.end_ns == start_ns || last_start_ns == start_ns) => {
                collection.end_ns = end_ns;
                collection.victims += 1;
                collection.pages_moved += pages_moved;
            }
            _ => collections.push(Collection { member, die, start_ns, end_ns, victims: 1, pages_moved, forced }),
        }
        (last, last_start_ns) = (Some(worker(clean)), start_ns);
    }
    collections.sort_by_key(|gc| (gc.member, gc.die, gc.start_ns, gc.end_ns, gc.victims, gc.pages_moved));
    collections
}

//! Parity, locks, failure and rebuilding on tiny arrays, to the nanosecond (rules 50 to 67).
//!
//! Each member has one die that never collects, and 12 pages. A read takes 28, a write 208.

mod any;
mod collection;
mod failure;
mod hedged;
mod planned;
mod power;
mod predicted;
mod rebuilding;
mod requests;
mod shortest_queue;
mod slow;
mod stripes;

use super::events::done_requests;
use super::*;
use crate::coordination::{
    ControllerAnswer, CoordinationParams, ForcedCollectionAmount, JointCollectionRequestTiming, MessageLatency, tiny as schemes,
};
use crate::events::OperationTimeParts;
use crate::ids::MemberSet;
use crate::ssd::MemberCounters;
use crate::ssd::tiny::{self, READ_NS, WRITE_NS};
use crate::units::{ByteRate, Duration, Fraction, GcStopThreshold};
use proptest::prelude::*;

/// A write that has to read before.
const READ_WRITE: TimeNs = READ_NS + WRITE_NS;

/// Time, first page, number of pages, and true for a write.
type Asked = (TimeNs, u64, u32, bool);

fn params(level: RaidLevel, members: u32, strip_pages: u32) -> ArrayParams {
    let ssd = tiny::ssd(1, 603, 600);
    ArrayParams {
        level,
        members,
        stripe_unit_pages: strip_pages,
        parity_handle: Default::default(),
        ssd,
        coordination: None,
        failures: Vec::new(),
        rebuild: None,
        read_plan: ReadPlan::default(),
        slow: Vec::new(),
        cache: None,
        host_port: None,
    }
}

fn failing(level: RaidLevel, members: u32, strip_pages: u32, member: u32, at_ns: TimeNs) -> ArrayParams {
    ArrayParams { failures: vec![MemberFailure { member, at: Duration { ns: at_ns } }], ..params(level, members, strip_pages) }
}

fn rebuilt(mut params: ArrayParams, delay_ns: u64, strip_ns: u64, in_flight: u32) -> ArrayParams {
    let spares = params.failures.len() as u32;
    params.rebuild = Some(RebuildParams {
        strip_interval_min_ns: strip_ns,
        settings: Rebuilding { delay: Duration { ns: delay_ns }, in_flight, spares, spare: InitialSpareState::Blank, finish: true },
    });
    params
}

struct Outcome {
    /// Time at which each request was done.
    done: Vec<TimeNs>,
    met: Vec<u32>,
    /// Parts of the time of each request.
    parts: Vec<OperationTimeParts>,
    /// Number of pages that each member has read and written.
    pages: Vec<(u64, u64)>,
    members: Vec<MemberCounters>,
    counters: ParityAndRebuildCounters,
    planned: PlannedReads,
    hedged: HedgedReads,
    predicted: PredictedReads,
    balanced: BalancedReads,
    slow: Vec<InjectedSlownessCounters>,
    progress: Option<MemberFailureAndRebuildState>,
    failures: Vec<MemberFailureAndRebuildState>,
    /// Number of pages of each request that were lost.
    lost: Vec<u32>,
    host_port: Option<ControllerThrottlingCounters>,
    health: ArrayHealth,
}

impl Outcome {
    /// Returns the sub-requests that write, by kind: full stripe, reconstruct, read-modify, no parity.
    fn kinds(&self) -> [u64; 4] {
        let c = &self.counters;
        [c.full_stripe_writes, c.reconstruct_writes, c.read_modify_writes, c.no_parity_writes]
    }

    /// Returns the data pages read for parity, parity pages read, and parity pages written.
    fn traffic(&self) -> [u64; 3] {
        [self.counters.data_pages_read, self.counters.parity_pages_read, self.counters.parity_pages_written]
    }
}

fn run(params: &ArrayParams, asked: &[Asked]) -> Outcome {
    run_on(Array::new(params, 1, ArrayExecutionOptions::default()), asked)
}

fn run_on(mut array: Array, asked: &[Asked]) -> Outcome {
    let mut events: Vec<ArrayEvent> = Vec::new();
    for (tag, &(at, first_page, pages, write)) in asked.iter().enumerate() {
        while let Some(event) = array.next_time().filter(|&event| event < at) {
            array.advance(event, &mut events);
        }
        array
            .submit(
                at,
                &RequestInPages {
                    tag: tag as u64,
                    first_page,
                    pages,
                    kind: OpKind::from_is_write(write),
                    fua: false,
                    must_not_wait_for_gc: false,
                    stream: 0,
                    contiguous_on_one_member: false,
                },
            )
            .unwrap();
    }
    let mut is_over = false;
    while let Some(event) = array.next_time() {
        if done_requests(&events).len() == asked.len() && !is_over {
            is_over = true;
            array.announce_milestone(event, RunMilestone::LastRequestDone, &mut events);
            continue;
        }
        array.advance(event, &mut events);
    }
    array.verify().expect("the state is consistent");
    let mut done = done_requests(&events);
    assert!(array.volume.stripes.as_ref().is_none_or(|stripes| stripes.is_idle()));
    assert!(array.volume.members.completions.is_empty());
    assert!(array.port.as_ref().is_none_or(|port| port.is_empty()));
    assert_eq!(done.len(), asked.len(), "every request is done once");
    done.sort_by_key(|done| done.tag);
    assert!(done.iter().enumerate().all(|(tag, done)| done.tag == tag as u64));
    let members: Vec<_> = array.members().iter().map(|member| *member.counters()).collect();
    let counts = array.counters(TimeNs::MAX);
    Outcome {
        done: done.iter().map(|done| done.at).collect(),
        met: done.iter().map(|done| done.gc_members_met).collect(),
        parts: done.iter().map(|done| done.time).collect(),
        pages: members.iter().map(|member| (member.host_pages_read, member.host_pages_written)).collect(),
        members,
        counters: counts.parity_and_rebuild.unwrap_or_default(),
        planned: counts.read_plan.planned_reads.unwrap_or_default(),
        hedged: counts.read_plan.hedged_reads.unwrap_or_default(),
        predicted: counts.read_plan.predicted_reads.unwrap_or_default(),
        balanced: counts.read_plan.balanced_reads.unwrap_or_default(),
        slow: counts.slow_member_counters,
        progress: counts.failures.first().copied(),
        failures: counts.failures,
        lost: done.iter().map(|done| done.pages_lost).collect(),
        host_port: counts.controller_throttling_waits,
        health: array.health,
    }
}

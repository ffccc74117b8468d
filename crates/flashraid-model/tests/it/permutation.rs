//! Nothing depends on how members are numbered (rule 42): a case and the same case with its members renumbered have the same outcome.

use flashraid_model::coordination::{CoordinationPolicy, MessageLatency, ReactiveInclusive};
use flashraid_model::placement::RaidLevel;
use flashraid_model::request::{HostLoop, OpKind, Request};
use flashraid_model::rng;
use flashraid_model::ssd::VictimPolicy;

use crate::adapter;
use crate::agreement::cases;
use crate::cases::PAGE_BYTES;
use crate::draw::draw_coordinated_case;
use crate::outcome::{Case, Outcome};
use crate::reference;

/// Draws a load whose requests stay on one member each, many of them at the same nanosecond. The state of the array does not depend on the
/// numbers of its members. Times are round, so that members do much at the same nanosecond.
fn draw(seed: u64) -> Case {
    let mut case = draw_coordinated_case(seed);
    let mut stream = rng::stream(seed, "permutation", 0);
    let params = &mut case.params;
    params.level = RaidLevel::Raid0;
    params.members = 2 + rng::below(&mut stream, 5) as u32;
    params.stripe_unit_pages = 1;
    params.ssd.gc.victim = VictimPolicy::default();
    case.warm_up.overwrites_per_page = 0.0;
    let round = |time: &mut u64| *time = time.next_multiple_of(100_000);
    let timing = &mut params.ssd.timing;
    for time in [&mut timing.page_read.ns, &mut timing.page_program.ns, &mut timing.block_erase.ns, &mut timing.page_transfer_ns] {
        round(time);
    }
    timing.block_summary_page_transfer_ns = 0;
    timing.command_overhead.ns = 0;
    if let Some(link) = &mut params.ssd.link {
        round(&mut link.page_transfer_ns);
    }
    if let Some(preemption) = &mut params.ssd.gc.preemption {
        preemption.poll.ns = 0;
    }
    // A draw depends on the number of the member.
    params.slow.retain(|slow| slow.member < params.members);
    params.slow.iter_mut().for_each(|slow| slow.share.0 = 1.0);
    let coordination = params.coordination.as_mut().expect("the case is coordinated");
    coordination.coordinated_members.0 &= (1 << params.members) - 1;
    let MessageLatency { gc_request, participate, force_gc, gc_state, gc_done } = &mut coordination.latency;
    [gc_request, participate, force_gc, gc_state, gc_done].into_iter().for_each(|time| round(&mut time.ns));
    match &mut coordination.scheme {
        CoordinationPolicy::ProactiveIdle(scheme) => {
            round(&mut scheme.check_interval.ns);
            round(&mut scheme.idle_threshold.ns);
        }
        CoordinationPolicy::ProactiveSoftLimit(scheme) => round(&mut scheme.check_interval.ns),
        // Leave is drawn among members that have the same right to it, and turns come in the order of their numbers.
        CoordinationPolicy::StaggeredCollection(_)
        | CoordinationPolicy::CollectionTimeWindows(_)
        | CoordinationPolicy::RotatingCollection(_) => coordination.scheme = ReactiveInclusive {}.into(),
        _ => {}
    }
    round(&mut coordination.delay.ns);
    if case.host != HostLoop::Open {
        case.host = HostLoop::Closed { depth: 2 * params.members, think_ns: 0 };
    }
    // Few enough that all are written again and again.
    let rows = reference::array_pages(params).min(400) / u64::from(params.members);
    let mut now = 0;
    case.requests.clear();
    for _ in 0..200 {
        now += 100_000 * rng::below(&mut stream, 30);
        let row = rng::below(&mut stream, rows);
        let direction = if rng::below(&mut stream, 5) > 0 { OpKind::Write } else { OpKind::Read };
        // The same on several members.
        let from = rng::below(&mut stream, u64::from(params.members));
        let to = from + rng::below(&mut stream, u64::from(params.members) - from);
        for member in from..=to {
            case.requests.push(Request {
                arrival_ns: now,
                offset_bytes: (row * u64::from(params.members) + member) * PAGE_BYTES,
                length_bytes: PAGE_BYTES,
                kind: direction,
                fua: false,
                zeroes: false,
                high_priority: false,
                stream: 0,
                contiguous_on_one_member: false,
            });
        }
    }
    case
}

/// The number that each member gets.
fn draw_numbers(seed: u64, members: u32) -> Vec<u64> {
    let mut stream = rng::stream(seed, "permutation", 1);
    let mut numbers: Vec<u64> = (0..u64::from(members)).collect();
    for last in (1..numbers.len()).rev() {
        numbers.swap(last, rng::below(&mut stream, last as u64 + 1) as usize);
    }
    numbers
}

fn renumbered(case: &Case, numbers: &[u64]) -> Case {
    let mut case = case.clone();
    let members = numbers.len() as u64;
    for request in &mut case.requests {
        let page = request.offset_bytes / PAGE_BYTES;
        request.offset_bytes = (page / members * members + numbers[(page % members) as usize]) * PAGE_BYTES;
    }
    for slow in &mut case.params.slow {
        slow.member = numbers[slow.member as usize] as u32;
    }
    let coordination = case.params.coordination.as_mut().expect("the case is coordinated");
    let ggc_aware = coordination.coordinated_members.0;
    coordination.coordinated_members.0 =
        numbers.iter().enumerate().fold(0, |bits, (member, number)| bits | (ggc_aware >> member & 1) << number);
    case
}

/// The members of an outcome under their old numbers.
fn numbered_back(mut outcome: Outcome, numbers: &[u64]) -> Outcome {
    outcome.members = numbers.iter().map(|&number| outcome.members[number as usize].clone()).collect();
    for gc in &mut outcome.gc_intervals {
        gc.member = numbers.iter().position(|&number| number == u64::from(gc.member)).expect("every member has a number") as u32;
    }
    outcome.gc_intervals.sort_by_key(|gc| (gc.member, gc.die, gc.start_ns, gc.end_ns, gc.victims, gc.pages_moved));
    outcome
}

#[test]
fn nothing_depends_on_the_numbers_of_the_members() {
    let mut forced = 0;
    for seed in 0..cases() {
        let case = draw(seed);
        let numbers = draw_numbers(seed, case.params.members);
        let one = adapter::fast(&case);
        let other = numbered_back(adapter::fast(&renumbered(&case, &numbers)), &numbers);
        let difference = one.first_difference(&other);
        assert!(difference.is_none(), "seed {seed}, members become {numbers:?}: {}\n{case:?}", difference.unwrap_or_default());
        forced += u64::from(one.gc_intervals.iter().any(|gc| gc.forced));
    }
    assert!(forced > cases() / 3, "forced collection in {forced} cases");
}

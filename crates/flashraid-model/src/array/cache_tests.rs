//! Caches in front of whole arrays: exact times on idle members, and random loads over every level, scheme, mode of preemption and failure.

use super::events::done_requests;
use super::*;
use crate::cache::CacheCounters;
use crate::cache::{
    CapacityUnit, IndependentMemberCaches, LayoutAwareWriteCache, MemberCachesDestagingTogether, RecencyBit, StowCache,
    StripeAndMemberCaches, WowCache, WriteCacheParams,
};
use crate::coordination::{CoordinationParams, CoordinationPolicy, JointCollectionRequestTiming, tiny as schemes};
use crate::ids::MemberSet;
use crate::ssd::tiny::{self, READ_NS, WRITE_NS};
use crate::ssd::{GcPreemption, HostOverlapWithMoves};
use crate::units::{Duration, Fraction, GcStopThreshold};
use proptest::prelude::*;

/// Returns members of two dies, each with five used blocks of four pages and `spare_blocks` free ones.
fn params(level: RaidLevel, members: u32, unit: u32, spare_blocks: u32, cache: WriteCacheParams) -> ArrayParams {
    let ssd = tiny::ssd(2, 5 + spare_blocks, spare_blocks);
    ArrayParams {
        level,
        members,
        stripe_unit_pages: unit,
        parity_handle: Default::default(),
        ssd,
        coordination: None,
        failures: Vec::new(),
        rebuild: None,
        read_plan: ReadPlan::default(),
        slow: Vec::new(),
        cache: Some(cache),
        host_port: None,
    }
}

fn cache(levels: StripeAndMemberCaches, group_pages: u32, member_pages: u32) -> WriteCacheParams {
    WriteCacheParams {
        stripe_and_member_caches: levels,
        dirty_stripe_cache_capacity_pages: group_pages,
        member_cache_pages: member_pages,
        capacity_unit: CapacityUnit::Pages,
        recency: RecencyBit::Hits,
        destage_start_fill: 0.0,
        full_speed_destage_fill_fraction: 0.0,
        destages_in_flight_max: 1,
        destage_wait_for_other_members_max_ns: 1500,
        nvm_page_read_ns: 2,
        nvm_page_write_ns: 10,
    }
}

const IWC: StripeAndMemberCaches = IndependentMemberCaches::STRIPE_AND_MEMBER_CACHES;

struct Outcome {
    done: Vec<RequestDone>,
    /// Number of pages that each member has read and written.
    pages: Vec<(u64, u64)>,
    counters: CacheCounters,
    failures: Vec<MemberFailureAndRebuildState>,
    left_pages: u64,
}

fn run(params: &ArrayParams, asked: &[(TimeNs, u64, u32, bool)]) -> Outcome {
    let mut array = Array::new(params, 1, ArrayExecutionOptions::default());
    let mut events: Vec<ArrayEvent> = Vec::new();
    let mut now = 0;
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
        now = at;
    }
    let mut is_over = false;
    while let Some(event) = array.next_time() {
        if done_requests(&events).len() == asked.len() && !is_over {
            is_over = true;
            array.announce_milestone(event, RunMilestone::LastRequestDone, &mut events);
            continue;
        }
        assert!(event >= now, "time goes on");
        now = event;
        array.advance(event, &mut events);
    }
    array.verify().expect("the state is consistent");
    let mut done = done_requests(&events);
    done.sort_by_key(|done| done.tag);
    let tags: Vec<u64> = done.iter().map(|done| done.tag).collect();
    assert_eq!(tags, (0..asked.len() as u64).collect::<Vec<_>>(), "every request is done once");
    let counts = array.counters(now);
    Outcome {
        done,
        pages: array.members().iter().map(|member| (member.counters().host_pages_read, member.counters().host_pages_written)).collect(),
        counters: counts.cache.expect("there is a cache"),
        failures: counts.failures,
        left_pages: array.caching.as_ref().map_or(0, |caching| caching.cache.cached_pages()),
    }
}

fn ends(outcome: &Outcome) -> Vec<TimeNs> {
    outcome.done.iter().map(|done| done.at).collect()
}

#[test]
fn a_cached_write_is_done_when_the_memory_has_it_and_a_read_hits_until_it_is_destaged() {
    let got = run(
        &params(RaidLevel::Raid0, 2, 1, 300, cache(WowCache::STRIPE_AND_MEMBER_CACHES, 8, 0)),
        &[(0, 0, 2, true), (30, 0, 3, false), (1000, 0, 2, false)],
    );
    // The pages are written until 20, read until 24, and on flash at 232. The first read finds two of its three pages until 34.
    assert_eq!(ends(&got), [20, 30 + READ_NS, 1000 + READ_NS]);
    assert_eq!(got.pages, [(2, 1), (1, 1)]);
    assert_eq!(got.counters.occupancy_integral_page_ns, 2 * (24 + u128::from(WRITE_NS)));
}

#[test]
fn destaged_groups_keep_parity_once_and_strips_have_it_in_advance() {
    // A stripe has three data pages and P on the last member. Two writes go to it, behind a first one that keeps the cache busy.
    let asked = [(0, 9, 3, true), (0, 0, 2, true), (0, 1, 2, true)];
    let wow = run(&params(RaidLevel::Raid4, 4, 1, 300, cache(WowCache::STRIPE_AND_MEMBER_CACHES, 16, 0)), &asked);
    assert_eq!(wow.pages, [(0, 2); 4], "two full stripes");
    let iwc = run(&params(RaidLevel::Raid4, 4, 1, 300, cache(IWC, 0, 4)), &asked);
    assert_eq!(iwc.pages, [(0, 2), (0, 2), (1, 2), (0, 2)], "LAWC Fig. 4: one read, and four writes");
    assert_eq!(iwc.counters.pages_read_for_parity, 1);
    // Four pages are written until 40. The second write reads one page until 28 and then writes two and their parity. The third waits for
    // its turn at the stripe.
    assert_eq!(ends(&iwc)[0], 40);
    assert!(ends(&iwc)[1] > 28 && ends(&iwc)[2] == ends(&iwc)[1] + 30, "{:?}", ends(&iwc));
}

#[test]
fn a_trim_drops_dirty_pages_and_trims_the_members() {
    let run = |level, members, parts, group, member, trim: (u64, u32)| {
        let cache = WriteCacheParams { destage_start_fill: 0.9, full_speed_destage_fill_fraction: 1.0, ..cache(parts, group, member) };
        let mut array = Array::new(&params(level, members, 1, 300, cache), 1, ArrayExecutionOptions::default());
        let mut events = Vec::new();
        let op = |tag, kind, first_page, pages| RequestInPages {
            tag,
            first_page,
            pages,
            kind,
            fua: false,
            must_not_wait_for_gc: false,
            stream: 0,
            contiguous_on_one_member: false,
        };
        for (at, request) in [(0, op(0, OpKind::Write, 0, 2)), (1000, op(1, OpKind::Trim, trim.0, trim.1))] {
            array.advance(at, &mut events);
            array.submit(at, &request).unwrap();
        }
        while let Some(at) = array.next_time() {
            array.advance(at, &mut events);
        }
        array.verify().unwrap();
        let trimmed: Vec<u64> = array.members().iter().map(|member| member.counters().host_pages_trimmed).collect();
        let counters = array.counters(2000).cache.unwrap();
        assert_eq!((done_requests(&events).len(), counters.destages.entries), (2, 0));
        (counters.pages_trimmed, trimmed)
    };
    assert_eq!(run(RaidLevel::Raid0, 2, WowCache::STRIPE_AND_MEMBER_CACHES, 16, 0, (1, 2)), (1, vec![1, 1]));
    assert_eq!(run(RaidLevel::Raid1, 2, IWC, 0, 16, (1, 1)), (2, vec![1, 1]));
    // With parity, only whole stripes are trimmed: two columns and P of stripe 0. A group cache also drops half a stripe.
    assert_eq!(run(RaidLevel::Raid5, 3, IWC, 0, 16, (0, 3)), (3, vec![1, 1, 1]));
    assert_eq!(run(RaidLevel::Raid5, 3, IWC, 0, 16, (1, 1)), (0, vec![0, 0, 0]));
    assert_eq!(run(RaidLevel::Raid5, 3, WowCache::STRIPE_AND_MEMBER_CACHES, 16, 0, (1, 1)), (1, vec![0, 0, 0]));
}

#[test]
fn destages_are_recorded_on_the_members_that_get_them() {
    let failures = vec![MemberFailure { member: 1, at: Duration { ns: 500 } }];
    let with_parity = ArrayParams { failures, ..params(RaidLevel::Raid4, 4, 1, 300, cache(WowCache::STRIPE_AND_MEMBER_CACHES, 16, 0)) };
    let members = |params: &ArrayParams| {
        let setup = ArrayExecutionOptions { reports_destage_events: true, ..ArrayExecutionOptions::default() };
        let mut array = Array::new(params, 1, setup);
        let mut events = Vec::new();
        for (tag, at) in [(0, 0), (1, 1000)] {
            let kind = OpKind::Write;
            let request = RequestInPages {
                tag,
                first_page: 0,
                pages: 3,
                kind,
                fua: false,
                must_not_wait_for_gc: false,
                stream: 0,
                contiguous_on_one_member: false,
            };
            array.submit(at, &request).unwrap();
            array.advance(at + 999, &mut events);
        }
        assert!(!array.volume.members.keeps_ends(), "what is told is forgotten");
        assert!(events.is_sorted_by_key(ArrayEvent::order_key));
        events
            .iter()
            .filter_map(|event| if let ArrayEvent::DestageEnded(destage) = event { Some(destage.member) } else { None })
            .collect::<Vec<u32>>()
    };
    assert_eq!(members(&with_parity), [0, 1, 2, 0, 2]);
    // Without parity each operation of a member ends for the destage itself.
    assert_eq!(members(&params(RaidLevel::Raid0, 3, 1, 300, cache(WowCache::STRIPE_AND_MEMBER_CACHES, 16, 0))), [0, 1, 2, 0, 1, 2]);
}

fn policies() -> impl Strategy<Value = WriteCacheParams> {
    let sizes = prop_oneof![
        (1..40_u32).prop_map(|pages| cache(WowCache::STRIPE_AND_MEMBER_CACHES, pages, 0)),
        (1..40_u32).prop_map(|pages| cache(StowCache::STRIPE_AND_MEMBER_CACHES, pages, 0)),
        (1..9_u32).prop_map(|pages| cache(IWC, 0, pages)),
        (1..9_u32).prop_map(|pages| cache(MemberCachesDestagingTogether::STRIPE_AND_MEMBER_CACHES, 0, pages)),
        (1..9_u32, 1..6_u32).prop_map(|(first_level, pages)| cache(LayoutAwareWriteCache::STRIPE_AND_MEMBER_CACHES, first_level, pages)),
    ];
    let thresholds = prop_oneof![3 => Just((0.0, 0.0)), 1 => Just((0.3, 0.8))];
    (sizes, thresholds, 1..3_u32).prop_map(|(cache, (low, high), in_flight)| WriteCacheParams {
        destage_start_fill: low,
        full_speed_destage_fill_fraction: high,
        destages_in_flight_max: in_flight,
        ..cache
    })
}

fn levels() -> impl Strategy<Value = (RaidLevel, u32)> {
    prop_oneof![
        Just((RaidLevel::Single, 1)),
        Just((RaidLevel::Raid0, 3)),
        Just((RaidLevel::Raid1, 2)),
        Just((RaidLevel::Raid10, 4)),
        Just((RaidLevel::Raid4, 3)),
        (3..6_u32).prop_map(|n| (RaidLevel::Raid5, n)),
        (4..6_u32).prop_map(|n| (RaidLevel::Raid6, n)),
    ]
}

fn coordination(scheme: CoordinationPolicy, members: u32) -> CoordinationParams {
    CoordinationParams {
        scheme,
        t_soft: GcStopThreshold::FreeBlocks(2),
        notify: Some(JointCollectionRequestTiming::AtStartThreshold),
        coordinated_members: MemberSet::first_members(members),
        ..CoordinationParams::default()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]
    #[test]
    fn no_configuration_loses_a_request_or_stands_still(
        cache in policies(),
        (level, members) in levels(),
        unit in 1..4_u32,
        spare_blocks in 4..7_u32,
        scheme in prop::option::of(prop_oneof![
            Just(schemes::inclusive()), Just(schemes::selective()), Just(schemes::idle()), Just(schemes::soft_limit(1, 0))
        ]),
        preempts in any::<bool>(),
        fails in prop::collection::vec(0..20_000_u64, 0..3),
        rebuild in prop::option::of((0..3000_u64, 1..3_u32)),
        asked in prop::collection::vec((0..700_u64, any::<u64>(), 1..14_u32, 0..10_u32), 1..150),
    ) {
        let mut params = params(level, members, unit, spare_blocks, cache);
        params.coordination = scheme.map(|scheme| coordination(scheme, members));
        params.ssd.gc.preemption = preempts.then_some(GcPreemption {
            poll: Duration { ns: 3 }, t_hard: Fraction(0.5), pipeline: HostOverlapWithMoves::NoOverlap, merge: true, reorder: false, suspension: None,
        });
        if level.survives_a_failure() {
            params.failures = (0..members).rev().zip(fails).map(|(member, at_ns)| MemberFailure { member, at: Duration { ns: at_ns } }).collect();
            params.rebuild = rebuild.map(|(delay_ns, in_flight)| {
                RebuildParams { strip_interval_min_ns: 300, settings: Rebuilding { delay: Duration { ns: delay_ns }, in_flight, spares: 2, spare: InitialSpareState::Blank, finish: true } }
            });
        }
        let exported = params.layout().exported_pages();
        let mut at = 0;
        let asked: Vec<_> = asked.iter().map(|&(gap, page, pages, write)| {
            at += gap;
            let pages = u64::from(pages).min(exported);
            (at, page % (exported - pages + 1), pages as u32, write < 7)
        }).collect();
        let got = run(&params, &asked);
        if cache.destage_start_fill == 0.0 {
            prop_assert_eq!(got.left_pages, 0, "everything is destaged in the end");
        }
        for progress in got.failures.iter().filter(|progress| progress.failed_at_ns.is_some() && params.rebuild.is_some()) {
            prop_assert_eq!(progress.strips_rebuilt + progress.strips_lost, progress.strips_of_member, "rebuilt after the flush");
            prop_assert!(progress.strips_lost == 0 || got.failures.len() > 1, "one failure loses nothing");
        }
    }
}

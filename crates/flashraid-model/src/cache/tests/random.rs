//! Random writes and reads with a back end of random delays. No page is lost, nothing deadlocks, and no cache holds too much.

use super::*;
use proptest::prelude::*;

fn parts() -> impl Strategy<Value = (StripeAndMemberCaches, u32, u32)> {
    prop_oneof![
        (1..40_u32).prop_map(|pages| (WowCache::STRIPE_AND_MEMBER_CACHES, pages, 0)),
        (1..40_u32).prop_map(|pages| (StowCache::STRIPE_AND_MEMBER_CACHES, pages, 0)),
        (1..9_u32).prop_map(|pages| (IWC, 0, pages)),
        (1..9_u32).prop_map(|pages| (IWC_SYNC, 0, pages)),
        (1..9_u32, 1..6_u32).prop_map(|(first_level, pages)| (LayoutAwareWriteCache::STRIPE_AND_MEMBER_CACHES, first_level, pages)),
    ]
}

fn arrays() -> impl Strategy<Value = (RaidLevel, u32)> {
    prop_oneof![
        Just((RaidLevel::Single, 1)),
        (1..5_u32).prop_map(|n| (RaidLevel::Raid0, n)),
        (2..4_u32).prop_map(|n| (RaidLevel::Raid1, n)),
        (1..4_u32).prop_map(|n| (RaidLevel::Raid10, 2 * n)),
        (3..6_u32).prop_map(|n| (RaidLevel::Raid4, n)),
        (3..6_u32).prop_map(|n| (RaidLevel::Raid5, n)),
        (4..7_u32).prop_map(|n| (RaidLevel::Raid6, n)),
    ]
}

#[derive(Debug, Clone)]
struct Step {
    gap_ns: u64,
    page: u64,
    pages: u32,
    write: bool,
    one_member: bool,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = (prop_oneof![Just(0), 0..40_u64, 0..2000_u64], any::<u64>(), 1..24_u32, 0..10_u32, 0..8_u32)
        .prop_map(|(gap_ns, page, pages, write, one_member)| Step { gap_ns, page, pages, write: write < 7, one_member: one_member == 0 });
    prop::collection::vec(step, 1..120)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]
    #[test]
    fn every_request_is_done_once_whatever_the_sizes(
        (parts, group_pages, member_pages) in parts(),
        (level, members) in arrays(),
        strip_pages in 1..6_u32,
        thresholds in prop_oneof![3 => Just((0.0, 0.0)), 1 => Just((0.5, 0.9)), 1 => Just((1.0, 1.0)), 1 => Just((0.0, 1.0))],
        in_flight in 1..4_u32,
        nvm in prop_oneof![Just((0, 0)), Just((3, 20))],
        steps in steps(),
        fails_after in prop::option::of(0..120_usize),
        seed in any::<u64>(),
    ) {
        let params = WriteCacheParams {
            destage_start_fill: thresholds.0, full_speed_destage_fill_fraction: thresholds.1, destages_in_flight_max: in_flight, nvm_page_read_ns: nvm.0, nvm_page_write_ns: nvm.1,
            capacity_unit: [CapacityUnit::Pages, CapacityUnit::PagesAdmittingWholeWrites, CapacityUnit::DirtyStripesOrStrips][(seed % 3) as usize],
            ..params(parts, group_pages, member_pages)
        };
        let mut bench = Bench::new(params, level, members, strip_pages);
        let mut state = seed;
        bench.duration_ns = Box::new(move |_| {
            state = crate::rng::mix_bits(state);
            if state % 10 == 0 { 3000 } else { 50 + state % 100 }
        });
        let exported = bench.layout.exported_pages();
        let may_fail = level.survives_a_failure();
        for (tag, step) in steps.iter().enumerate() {
            bench.run_until(bench.now + step.gap_ns);
            let pages = step.pages.min(exported as u32);
            let mut request = request(tag as u64, step.page % (exported.min(60) + 1 - u64::from(pages.min(60))).max(1), pages, step.write);
            request.contiguous_on_one_member = step.one_member && pages < 12;
            bench.submit(&request);
            if may_fail && fails_after == Some(tag) {
                bench.cache.member_failed(bench.now, members - 1);
                bench.perform_commands();
            }
        }
        bench.finish();
        let mut tags: Vec<u64> = bench.done.iter().map(|(tag, _)| *tag).collect();
        tags.sort_unstable();
        prop_assert_eq!(tags, (0..steps.len() as u64).collect::<Vec<_>>());
        prop_assert_eq!(bench.cache.requests_under_way(), 0);
        prop_assert!(bench.cache.is_flushed());
        if thresholds == (0.0, 0.0) {
            prop_assert_eq!(bench.cache.common.occupancy.pages(), 0, "everything is destaged in the end");
        }
    }
}

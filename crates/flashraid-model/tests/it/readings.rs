//! Settings that read a paper in two ways, or a device in two states: small cases in which they differ, by both implementations.

use flashraid_model::array::{InitialSpareState, MemberFailure, RebuildParams, Rebuilding};
use flashraid_model::cache::{CachePolicy, CapacityUnit, RecencyBit, WriteCacheParams};
use flashraid_model::coordination::RequestsDuringCycle;
use flashraid_model::placement::RaidLevel;
use flashraid_model::policy::PolicyEnum;
use flashraid_model::ssd::{CollectionBlockingScope, PlaneChoice};
use flashraid_model::units::Duration;

use crate::adapter;
use crate::cases::one_plane;
use crate::draw::draw_coordinated_case;
use crate::outcome::{Case, Outcome, PhysicalPage};
use crate::reference;

/// Returns the outcome, on which both implementations agree.
fn simulate(case: &Case) -> Outcome {
    let outcome = reference::simulate(case);
    assert_eq!(outcome.first_difference(&adapter::fast(case)), None);
    outcome
}

/// Two planes with one free block fewer than after the fill, which a die that rests cleans (rule 38): one page moves in each.
fn two_planes_at_rest() -> Case {
    let mut case = one_plane().writes(0, &[0, 3, 6, 9, 12, 15, 1, 4]).read(9000, 2, 1);
    let ssd = &mut case.params.ssd;
    (ssd.geometry.planes, ssd.geometry.blocks_per_plane, ssd.geometry.overprovisioned_blocks_per_plane) = (2, 7, 4);
    ssd.writes.plane_choice = PlaneChoice::Rotate;
    ssd.gc.rules.blocking = CollectionBlockingScope::Die;
    ssd.gc.idle_collection_after_ns = Some(100);
    case
}

#[test]
fn planes_that_are_cleaned_together_hold_the_die_for_the_longest() {
    let intervals = |together: bool| {
        let mut case = two_planes_at_rest();
        case.params.ssd.gc.rules.parallel_planes = together;
        let outcome = simulate(&case);
        let of_die = |gc: &crate::outcome::Collection| (gc.end_ns - gc.start_ns, gc.victims, gc.pages_moved);
        (outcome.gc_intervals.iter().map(of_die).collect::<Vec<_>>(), outcome.members[0].counters.gc_time_ns)
    };
    // A page is read, programmed, and the block erased.
    assert_eq!(intervals(false), (vec![(2 * 1220, 2, 2)], 2 * 1220));
    assert_eq!(intervals(true), (vec![(1220, 2, 2)], 1220));
}

#[test]
fn a_drive_without_data_has_nothing_to_read_or_move() {
    let mut case = one_plane().read(0, 3, 1).writes(500, &[3, 3, 3, 3, 3, 3, 3]).read(5000, 3, 1).read(5100, 4, 1);
    case.params.ssd.pools_start_empty = true;
    let outcome = simulate(&case);
    // A read of nothing takes the overhead.
    let latency = |index: usize| outcome.requests[index].done_ns - outcome.requests[index].arrival_ns;
    assert_eq!([latency(0), latency(8), latency(9)], [1, 28, 1]);
    assert_eq!((outcome.members[0].counters.erases, outcome.members[0].pages[4]), (0, PhysicalPage::NOWHERE));
    case.params.ssd.pools_start_empty = false;
    assert!(simulate(&case).members[0].counters.erases > 0);
}

#[test]
fn a_blank_spare_holds_what_is_rebuilt_and_no_more() {
    let pages = |spare_state: InitialSpareState| {
        let mut case = one_plane().write(0, 0, 1).read(3000, 0, 1);
        (case.params.level, case.params.members) = (RaidLevel::Raid1, 2);
        case.params.failures = vec![MemberFailure { member: 1, at: Duration { ns: 1000 } }];
        case.params.rebuild = Some(RebuildParams {
            strip_interval_min_ns: 1000,
            settings: Rebuilding { delay: Duration { ns: 100 }, in_flight: 1, spares: 1, spare: spare_state, finish: false },
        });
        let outcome = simulate(&case);
        outcome.members[2].pages.iter().filter(|&&page| page != PhysicalPage::NOWHERE).count()
    };
    assert_eq!(pages(InitialSpareState::WarmedUpByOverwrites), 9);
    let blank = pages(InitialSpareState::Blank);
    assert!((1..9).contains(&blank), "{blank} strips were rebuilt before the last request was done");
}

/// One page at a time is destaged, upwards from the destage pointer. Page 6 is stored while page 3 is destaged, and page 8 has been passed
/// once by then.
#[test]
fn a_bit_that_every_store_sets_lets_older_strips_go_first() {
    let order = |recency: RecencyBit| {
        let mut case = one_plane().write(0, 0, 1).writes(10, &[3, 8]).write(300, 6, 1);
        let parts = CachePolicy::all_with_default_parameters()
            .iter()
            .map(CachePolicy::stripe_and_member_caches)
            .find(|parts| parts.dirty_stripe_cache.is_none() && !parts.has_no_cache())
            .expect("a policy has member caches alone");
        case.params.level = RaidLevel::Raid0;
        case.params.cache = Some(WriteCacheParams {
            stripe_and_member_caches: parts,
            dirty_stripe_cache_capacity_pages: 0,
            member_cache_pages: 8,
            capacity_unit: CapacityUnit::Pages,
            recency,
            destage_start_fill: 0.0,
            full_speed_destage_fill_fraction: 0.0,
            destages_in_flight_max: 1,
            destage_wait_for_other_members_max_ns: 1000,
            nvm_page_read_ns: 0,
            nvm_page_write_ns: 0,
        });
        let pages = simulate(&case).members.swap_remove(0).pages;
        [0, 3, 6, 8].map(|page| pages[page])
    };
    let by_time = |pages: [PhysicalPage; 4]| {
        let mut order = [0, 1, 2, 3];
        order.sort_by_key(|&index| (pages[index].block, pages[index].page));
        order.map(|index| [0, 3, 6, 8][index])
    };
    assert_eq!(by_time(order(RecencyBit::Hits)), [0, 3, 6, 8]);
    assert_eq!(by_time(order(RecencyBit::Stores)), [0, 3, 8, 6]);
}

#[test]
fn requests_during_a_cycle_make_another_one_follow_or_not() {
    let forced = |case: &Case, during_cycle: RequestsDuringCycle| {
        let mut case = case.clone();
        let coordination = case.params.coordination.as_mut().expect("there is a controller");
        coordination.during_cycle = during_cycle;
        simulate(&case).messages.map(|sent| sent[flashraid_model::coordination::MessageKind::ForceGc as usize])
    };
    let with_controller = (0..400).map(draw_coordinated_case).filter(|case| case.params.coordination.is_some());
    let differs = |case: &Case| forced(case, RequestsDuringCycle::Repeat) > forced(case, RequestsDuringCycle::Absorb);
    assert!(with_controller.into_iter().any(|case| differs(&case)), "no case has a request during a cycle");
}

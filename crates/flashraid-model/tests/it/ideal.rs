//! Compares runs with collection that takes no time. If all programs pay for summaries, no request ends later with it (rule 138).

use flashraid_model::array::RaidLevel;
use flashraid_model::request::HostLoop;
use flashraid_model::ssd::DieChoiceForWrites;

use crate::adapter;
use crate::agreement::seeds;
use crate::draw::{draw_case, draw_coordinated_case, draw_interruptible_case, draw_mixed_pools_case};
use crate::outcome::Case;
use crate::reference;

/// A random case in the domain of the rule; its scheme and all else are what they are.
fn draw_in_domain(seed: u64) -> Case {
    let mut case = [draw_case, draw_interruptible_case, draw_coordinated_case, draw_mixed_pools_case][seed as usize % 4](seed);
    let params = &mut case.params;
    params.level = RaidLevel::Raid0;
    params.failures.clear();
    (params.rebuild, params.cache, params.host_port) = (None, None, None);
    (params.ssd.writes.allocation, params.ssd.channel, params.ssd.link) = (DieChoiceForWrites::Static, None, None);
    (params.ssd.gc.preemption, params.ssd.gc.collection_takes_no_time) = (None, false);
    params.ssd.die_delay_mechanisms = Default::default();
    params.ssd.geometry.has_summary_page = true;
    params.ssd.timing.spreads_summary_page_over_programs = true;
    case.host = HostLoop::Open;
    // Summaries and another level leave less room than the case was drawn for.
    let capacity_bytes = case.params.layout().exported_pages() * u64::from(case.params.ssd.geometry.page_bytes);
    case.requests.retain(|request| request.offset_bytes + request.length_bytes <= capacity_bytes);
    for at in 0..case.requests.len() {
        case.requests[at].contiguous_on_one_member &= reference::fits_one_member(&case.params, &case.requests[at]);
    }
    case
}

/// Requests that end later if collection takes no time, earlier, and all.
fn compare(case: &Case) -> [usize; 3] {
    let mut ideal = case.clone();
    ideal.params.coordination = None;
    ideal.params.ssd.gc.collection_takes_no_time = true;
    let (with, without) = (adapter::fast(case).requests, adapter::fast(&ideal).requests);
    let pairs = || with.iter().zip(&without);
    let later = pairs().filter(|(with, without)| without.done_ns > with.done_ns).count();
    let earlier = pairs().filter(|(with, without)| without.done_ns < with.done_ns).count();
    [later, earlier, with.len()]
}

#[test]
fn no_request_ends_earlier_than_under_ideal_where_summaries_are_spread() {
    let (mut gained, mut all) = (0, 0);
    for seed in seeds() {
        let [later, earlier, requests] = compare(&draw_in_domain(seed));
        assert_eq!(later, 0, "case {seed}: {later} of {requests} requests end later under ideal");
        gained += earlier;
        all += requests;
    }
    assert!(gained > all / 20, "collection delays {gained} of {all} requests");
}

/// Shows the need to spread summaries. Without spreading, the contents of open blocks decide which write waits for a summary.
#[test]
fn some_requests_end_earlier_than_under_ideal_where_single_programs_pay() {
    let violations: usize = (0..400)
        .map(|seed| {
            let mut case = draw_in_domain(seed);
            case.params.ssd.timing.spreads_summary_page_over_programs = false;
            compare(&case)[0]
        })
        .sum();
    assert!(violations > 0);
}

//! Little's law: requests per second × (mean response time + think time) = requests that are outstanding or waiting for the think time.

use super::Report;
use flashraid_driver::QueueDepthUse;

/// Number of requests for each slot of the queue depth from which on the law must hold, even if a beginning was left out.
const REQUESTS_PER_PLACE_MIN: u64 = 200;
/// Greatest relative difference that is accepted in a long run. Requests that were outstanding at the start of the measured time count as
/// done in it, but not among the response times.
const DIFFERENCE_MAX: f64 = 0.005;
/// Greatest relative difference that is accepted if no beginning was left out, so that only rounding matters.
const ROUNDING_MAX: f64 = 1e-6;

/// Verifies Little's law for a closed loop: its queue depth must have been in use for as long as the report says. Requests that the
/// statistics do not count are allowed for. `sent` is the number of requests of the run; there cannot be more of them outstanding. `whole`
/// is true if no part of the run was left out.
///
/// # Errors
/// Returns a sentence with both sides of the law.
pub(crate) fn check_closed_loop(report: &Report, slots: &QueueDepthUse, sent: u64, whole: bool) -> Result<(), String> {
    let (Some(iops), Some(mean_us)) = (report.iops.all, report.response_us.all.mean) else { return Ok(()) };
    // This number does not come from the divisor of the report's rates, which is what the law verifies.
    let places = u64::from(slots.depth).min(sent);
    let enough = report.response_us.all.count >= REQUESTS_PER_PLACE_MIN * places;
    let places = places as f64;
    if report.load_ns == 0 || !(whole || enough) {
        return Ok(());
    }
    let found = iops * (mean_us * 1e-6 + slots.think_ns_per_request as f64 * 1e-9);
    let expected = places - slots.slot_ns_of_trims_flushes_and_lost_requests as f64 / report.load_ns as f64;
    // Times are in whole nanoseconds, which causes the whole difference in runs of a few requests.
    let rounding = 1.0 / report.load_ns as f64;
    // Each request that was outstanding at the start moves the product by at most the longest response over the measured time.
    let longest_ns = report.response_us.all.max.unwrap_or(0.0) * 1e3;
    let border = DIFFERENCE_MAX.max(longest_ns / report.load_ns as f64);
    let allowed = places * (rounding + if whole { ROUNDING_MAX } else { border });
    if (found - expected).abs() <= allowed {
        return Ok(());
    }
    Err(format!(
        "Little's law does not hold: {iops} requests/s times (a mean of {mean_us} µs + a think time of {} µs) is {found}, and {expected} places of \
         {places} (the depth is {}, the run has {sent} requests) were in use",
        slots.think_ns_per_request as f64 / 1e3,
        slots.depth
    ))
}

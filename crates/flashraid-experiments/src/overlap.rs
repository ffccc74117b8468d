//! LAWC Fig. 4: two overlapping requests to a stripe of three strips and parity. The simulation counts the strips that the members write
//! and read.

use flashraid::config;
use flashraid_model::array::{Array, ArrayEvent, ArrayExecutionOptions};
use flashraid_model::placement::RequestInPages;
use flashraid_model::request::OpKind;

/// Configuration of four small members with parity on the last one, and strips of a page.
const ARRAY: &str = r#"
[array]
level = "raid4"
members = 4
stripe_unit = "4KiB"
[ssd]
preset = "nvme-simple"
geometry = { dies = 2, planes = 1, blocks = 32, pages = 16, reserved = 0.25 }
gc = { start = "2 blocks" }
channel = { dies_per_channel = 1 }
[workload]
preset = "random-write"
[cache]
size = "1MiB"
low = 0
high = 0
"#;

/// Numbers of strips that members wrote and read. A strip is a page here.
pub struct Strips {
    pub written: u64,
    pub read: u64,
}

/// Returns the strips for two requests: A covers strips 0 and 1, and A' strips 1 and 2. A full stripe keeps the cache from destaging when
/// they arrive. Its strips do not count.
pub fn strips(policy: &str) -> Strips {
    let settings = [("cache.policy".to_owned(), policy.to_owned())];
    let scenario = config::scenario_from_toml("LAWC Fig. 4", ARRAY, &settings, Some(1)).expect("the array of Fig. 4 is a configuration");
    let both = count(&scenario.array, &[(9, 3), (0, 2), (1, 2)]);
    let first = count(&scenario.array, &[(9, 3)]);
    Strips { written: both.written - first.written, read: both.read - first.read }
}

/// Returns the strips for writes that all arrive at time 0. Each is a first page and a number of pages.
fn count(params: &flashraid_model::array::ArrayParams, writes: &[(u64, u32)]) -> Strips {
    let mut array = Array::new(params, 1, ArrayExecutionOptions::default());
    let mut events: Vec<ArrayEvent> = Vec::new();
    for (tag, &(first_page, pages)) in (0..).zip(writes) {
        let request = RequestInPages {
            tag,
            first_page,
            pages,
            kind: OpKind::Write,
            fua: false,
            must_not_wait_for_gc: false,
            stream: 0,
            contiguous_on_one_member: false,
        };
        array.submit(0, &request).expect("the stripe lies in the array");
    }
    while let Some(event) = array.next_time() {
        array.advance(event, &mut events);
    }
    let counters = || array.members().iter().map(|member| member.counters());
    Strips { written: counters().map(|of| of.host_pages_written).sum(), read: counters().map(|of| of.host_pages_read).sum() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A changed device once refused this configuration, and `reproduce all` panicked after an hour.
    #[test]
    fn the_array_of_fig_4_serves_both_requests() {
        for policy in ["wow", "iwc", "iwc-sync", "lawc"] {
            let Strips { written, .. } = strips(policy);
            assert!(written >= 3, "{policy}: {written} strips for three that are written");
        }
    }
}

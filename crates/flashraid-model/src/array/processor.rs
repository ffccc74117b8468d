//! The processor on which the software of an array runs (rule 283): its cores, and what only one request at a time may do.

use crate::TimeNs;
use crate::placement::{ArrayLayout, RequestInPages};
use crate::units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The processor on which the software of an array runs. Each request of a host occupies one core for some time, before its data pass
/// and before members get operations. Waiting for the lock occupies the core, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "ArrayProcessorConfig")]
pub struct ArrayProcessor {
    /// Number of cores that handle requests.
    #[schemars(range(min = 1, max = 1_024))]
    pub cores: u32,
    /// Time of a core for each request.
    pub request: Duration,
    /// Time of a core for each request in which no other request goes on, because it holds what all share. It is before `request`.
    pub shared: Duration,
    /// Time of a core for each stripe that a write covers, wholly or in part, at levels with parity.
    pub stripe: Duration,
    /// Time of a core for each page of parity that a write changes.
    pub parity_page: Duration,
    /// Choice of what a write locks while a core works for its stripes (`stripe` and `parity_page`).
    pub lock: StripeLock,
}

impl Default for ArrayProcessor {
    fn default() -> Self {
        let none = Duration { ns: 0 };
        Self { cores: 1, request: none, shared: none, stripe: none, parity_page: none, lock: StripeLock::default() }
    }
}

/// Choice of what a write locks while a core works for its stripes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StripeLock {
    /// Only the stripes that it covers. Several cores work for different stripes at a time.
    #[default]
    Stripe,
    /// All stripes. Only one core at a time works for stripes, as with one thread for all.
    All,
}

/// Times of the processor that a request needs, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Work {
    shared_ns: u64,
    own_ns: u64,
}

impl ArrayProcessor {
    /// Returns what a request needs.
    fn work(&self, layout: &ArrayLayout, request: &RequestInPages) -> Work {
        let stripes_ns = if request.is_write() { self.stripes_ns(layout, request) } else { 0 };
        let (shared_ns, own_ns) = (self.shared.ns, self.request.ns);
        match self.lock {
            StripeLock::Stripe => Work { shared_ns, own_ns: own_ns + stripes_ns },
            StripeLock::All => Work { shared_ns: shared_ns + stripes_ns, own_ns },
        }
    }

    /// Returns the time for the stripes that a write covers. Of the pages that it covers in a stripe, those at the same place of their
    /// strips have the same pages of parity.
    fn stripes_ns(&self, layout: &ArrayLayout, request: &RequestInPages) -> u64 {
        let shape = layout.stripe_shape();
        if shape.parity_strips == 0 {
            return 0;
        }
        let strip_pages = u64::from(layout.strip_pages());
        // Pages that lie on one member cover one strip of each of their stripes.
        let stripe_pages = if request.contiguous_on_one_member { strip_pages } else { strip_pages * u64::from(shape.data_strips) };
        let (mut at, mut left) = (request.first_page % stripe_pages, u64::from(request.pages));
        let mut ns = 0_u64;
        while left > 0 {
            let covered = left.min(stripe_pages - at);
            let parity_pages = covered.min(strip_pages) * u64::from(shape.parity_strips);
            ns = ns.saturating_add(self.stripe.ns).saturating_add(self.parity_page.ns.saturating_mul(parity_pages));
            (at, left) = (0, left - covered);
        }
        ns
    }
}

/// Times of the handling of a request, which are known when its turn comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Handling {
    /// Time at which a core begins with the request.
    pub(super) begin_ns: TimeNs,
    /// Time for which the core then waits for what all requests share, in nanoseconds.
    pub(super) lock_wait_ns: u64,
    /// Time at which the core ends.
    pub(super) end_ns: TimeNs,
}

impl Handling {
    /// Returns the time for which the request waited for a core that became free, and for the lock.
    pub(super) fn wait_ns(&self, turn_ns: TimeNs) -> u64 {
        self.begin_ns - turn_ns + self.lock_wait_ns
    }

    /// Returns the time for which the core worked.
    pub(super) fn work_ns(&self) -> u64 {
        self.end_ns - self.begin_ns - self.lock_wait_ns
    }
}

/// The state of the processor. Requests come to it in the order of their turns, and those on cores ask for the lock in this order, too.
/// So each can be told its end when it comes.
#[derive(Debug, Clone)]
pub(super) struct Processor {
    params: ArrayProcessor,
    layout: ArrayLayout,
    /// Times at which cores become free, of those that have been in use.
    free_ns: BinaryHeap<Reverse<TimeNs>>,
    lock_free_ns: TimeNs,
}

impl Processor {
    pub(super) fn new(params: ArrayProcessor, layout: ArrayLayout) -> Self {
        Self { params, layout, free_ns: BinaryHeap::new(), lock_free_ns: 0 }
    }

    /// Handles a request whose turn comes now.
    pub(super) fn handle(&mut self, now: TimeNs, request: &RequestInPages) -> Handling {
        let work = self.params.work(&self.layout, request);
        let all_in_use = self.free_ns.len() as u32 == self.params.cores;
        let core_free_ns = if all_in_use { self.free_ns.pop().map_or(0, |Reverse(free)| free) } else { 0 };
        let begin_ns = core_free_ns.max(now);
        let mut locked_ns = begin_ns;
        if work.shared_ns > 0 {
            locked_ns = self.lock_free_ns.max(begin_ns);
            self.lock_free_ns = locked_ns.saturating_add(work.shared_ns);
        }
        let end_ns = locked_ns.saturating_add(work.shared_ns).saturating_add(work.own_ns);
        self.free_ns.push(Reverse(end_ns));
        Handling { begin_ns, lock_wait_ns: locked_ns - begin_ns, end_ns }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::placement::RaidLevel;
    use crate::request::OpKind;

    const PARAMS: ArrayProcessor = ArrayProcessor {
        cores: 2,
        request: Duration { ns: 100 },
        shared: Duration { ns: 10 },
        stripe: Duration { ns: 1_000 },
        parity_page: Duration { ns: 7 },
        lock: StripeLock::Stripe,
    };

    fn write(first_page: u64, pages: u32) -> RequestInPages {
        RequestInPages {
            tag: 0,
            first_page,
            pages,
            kind: OpKind::Write,
            fua: false,
            must_not_wait_for_gc: false,
            stream: 0,
            contiguous_on_one_member: false,
        }
    }

    /// Strips of four pages, three of data in a stripe.
    #[test]
    fn writes_cost_their_stripes_and_pages_of_parity() {
        for (level, parities) in [(RaidLevel::Raid5, 1), (RaidLevel::Raid6, 2)] {
            let layout = ArrayLayout::new(level, 3 + parities, 4, 400);
            let ns = |first, pages| PARAMS.work(&layout, &write(first, pages)).own_ns - 100;
            assert_eq!(ns(0, 1), 1_000 + 7 * u64::from(parities));
            // Two pages in strips side by side at different places have two pages of parity; five pages have four.
            assert_eq!(ns(3, 2), 1_000 + 7 * 2 * u64::from(parities));
            assert_eq!(ns(1, 5), 1_000 + 7 * 4 * u64::from(parities));
            // The last page of a stripe, a whole one, and the first of the next.
            assert_eq!(ns(11, 14), 3_000 + 7 * 6 * u64::from(parities));
        }
        let plain = ArrayLayout::new(RaidLevel::Raid0, 4, 4, 400);
        assert_eq!(PARAMS.work(&plain, &write(0, 9)), Work { shared_ns: 10, own_ns: 100 });
        let layout = ArrayLayout::new(RaidLevel::Raid5, 4, 4, 400);
        let one_lock = ArrayProcessor { lock: StripeLock::All, ..PARAMS };
        assert_eq!(one_lock.work(&layout, &write(0, 1)), Work { shared_ns: 1_017, own_ns: 100 });
        assert_eq!(PARAMS.work(&layout, &RequestInPages { kind: OpKind::Read, ..write(0, 1) }), Work { shared_ns: 10, own_ns: 100 });
    }

    /// The second request waits for the lock on its core, the third for a core.
    #[test]
    fn requests_wait_for_the_lock_and_for_cores() {
        let mut processor = Processor::new(PARAMS, ArrayLayout::new(RaidLevel::Raid0, 4, 4, 400));
        let handled: Vec<Handling> = (0..3).map(|_| processor.handle(5, &write(0, 1))).collect();
        let handling = |begin_ns, lock_wait_ns, end_ns| Handling { begin_ns, lock_wait_ns, end_ns };
        assert_eq!(handled, [handling(5, 0, 115), handling(5, 10, 125), handling(115, 0, 225)]);
        assert_eq!((handled[1].wait_ns(5), handled[1].work_ns()), (10, 110));
        assert_eq!(handled[2].wait_ns(5), 110);
        assert_eq!(processor.handle(1_000, &write(0, 1)), handling(1_000, 0, 1_110));
    }
}

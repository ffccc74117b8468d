//! What an array counts until a moment, and between two.

use flashraid_model::TimeNs;
use flashraid_model::array::{Array, HostCounters, HostPortCounters, StripeCounters};
use flashraid_model::coordination::{self, UncoordinatedCleans};
use flashraid_model::ssd::{DriveCounters, FrontCounters, MemberCounters, Ssd};
use std::collections::BTreeMap;

/// What an array has counted; the write cache counts by itself.
#[derive(Debug, Clone)]
pub struct Counts {
    /// Members, in order.
    pub members: Vec<MemberCounters>,
    /// What only drives with superblocks count, in order; empty if the members are none.
    pub drives: Vec<DriveCounters>,
    /// What stands before the dies of members counts, in order; empty if nothing does.
    pub fronts: Vec<FrontCounters>,
    /// Messages between members and controller; `None` without a controller.
    messages: Option<[u64; coordination::KINDS]>,
    /// Cleans of members that had asked for collection and were not answered, if members ask before they must.
    pub uncoordinated_cleans: Option<UncoordinatedCleans>,
    /// Trims and flushes.
    pub host: HostCounters,
    /// What the limits of the controller have cost, if it has any.
    pub host_port: Option<HostPortCounters>,
    /// Parity, locks and rebuilding, if the array has any of them.
    pub stripes: Option<StripeCounters>,
    /// Pages in the write cache; between two moments, those that have been added.
    pub cached_pages: u64,
}

impl Counts {
    /// Those of members alone, `drives` of which are drives with superblocks that have counted nothing else: for tests.
    #[must_use]
    pub fn of_members(members: impl IntoIterator<Item = MemberCounters>, drives: usize) -> Self {
        Self {
            members: members.into_iter().collect(),
            drives: vec![DriveCounters::default(); drives],
            fronts: vec![FrontCounters::default(); drives],
            messages: None,
            uncoordinated_cleans: None,
            host: HostCounters::default(),
            host_port: None,
            stripes: None,
            cached_pages: 0,
        }
    }

    /// The counts at `now`.
    pub(crate) fn of(array: &Array, now: TimeNs) -> Self {
        let (members, drives): (Vec<_>, Vec<_>) = array.members().iter().map(|ssd| ssd.counters_at(now)).unzip();
        Self {
            members,
            drives: drives.into_iter().flatten().collect(),
            fronts: array.members().iter().filter_map(Ssd::front_counters).copied().collect(),
            messages: array.messages(),
            uncoordinated_cleans: array.uncoordinated_cleans(),
            host: array.host_counters(),
            host_port: array.host_port_counters(now),
            stripes: array.stripe_counters(),
            cached_pages: array.cached_pages(),
        }
    }

    /// The counts since `earlier` was taken of the same array.
    #[must_use]
    pub(crate) fn since(self, earlier: &Self) -> Self {
        Self {
            members: self.members.iter().zip(&earlier.members).map(|(now, then)| now.since(then)).collect(),
            drives: self.drives.iter().zip(&earlier.drives).map(|(now, then)| now.since(then)).collect(),
            fronts: self.fronts.iter().zip(&earlier.fronts).map(|(now, then)| now.since(then)).collect(),
            messages: both(self.messages, earlier.messages, |now, then| std::array::from_fn(|kind| now[kind] - then[kind])),
            uncoordinated_cleans: both(self.uncoordinated_cleans, earlier.uncoordinated_cleans, |now, then| now.since(&then)),
            host: self.host.since(&earlier.host),
            host_port: both(self.host_port, earlier.host_port, |now, then| now.since(&then)),
            stripes: both(self.stripes, earlier.stripes, |now, then| now.since(&then)),
            cached_pages: self.cached_pages.saturating_sub(earlier.cached_pages),
        }
    }

    /// Messages between members and controller, by kind; empty without a controller.
    #[must_use]
    pub fn messages(&self) -> BTreeMap<String, u64> {
        self.messages.map_or_else(BTreeMap::new, |sent| coordination::by_name(sent, Default::default()))
    }
}

fn both<T>(now: Option<T>, then: Option<T>, since: impl FnOnce(T, T) -> T) -> Option<T> {
    Some(since(now?, then?))
}

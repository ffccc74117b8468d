//! All counters of an array: their values at a moment, and the difference between two moments.

use super::{
    Array, ControllerThrottlingCounters, InjectedSlownessCounters, MemberFailureAndRebuildState, ParityAndRebuildCounters,
    ReadPlanCounters, TrimAndFlushCounters,
};
use crate::TimeNs;
use crate::cache::CacheCounters;
use crate::coordination::{self, PredictableLatencyCounters, SchemeCounters, UncoordinatedCleans};
use crate::ssd::{DieDelayMechanismCounters, FrontEndCounters, MemberCounters, Ssd, SuperblockCounters};
use std::collections::BTreeMap;

/// All counters of an array and its members.
#[derive(Debug, Clone)]
pub struct ArrayCounters {
    /// Counters of each member, in order of their numbers, with spares last.
    pub members: Vec<MemberCounters>,
    /// Counters that only drives with superblocks keep, one set for each member in order of its number. The list is empty if the members
    /// collect single blocks instead of superblocks.
    pub superblock_counters_by_member: Vec<SuperblockCounters>,
    /// Counters of the queues, processor cores and buffers before the dies, one set for each member in order of its number. The list is
    /// empty if the members do not model them.
    pub drive_front_end_counters: Vec<FrontEndCounters>,
    /// Counters of the optional mechanisms inside a drive (read retries and background work), one set for each member in order of its
    /// number.
    pub die_delay_counters: Vec<DieDelayMechanismCounters>,
    /// Number of forced cycles, permissions to collect, or turns in which a member collected something. The list has one entry for each
    /// member, in order of its number. The entry is `None` if the member takes no part in the protocol.
    pub collecting_cycles_by_member: Vec<Option<u64>>,
    /// Number of messages between members and controller, by kind; `None` without a controller.
    pub messages_sent_by_kind: Option<[u64; coordination::MESSAGE_KINDS]>,
    /// Number of cleans (a clean is the collection of one victim block) that members had to begin before the controller answered their
    /// request to collect. It is `None` unless members ask before they must collect.
    pub uncoordinated_cleans: Option<UncoordinatedCleans>,
    /// Counters of the coordination scheme; empty without a controller.
    pub scheme: SchemeCounters,
    /// Windows of NVMe's predictable latency mode, over all members; `None` if members have none.
    pub predictable_latency: Option<PredictableLatencyCounters>,
    /// Numbers of trims and of flushes that the host sent, as two separate counts.
    pub trims_and_flushes: TrimAndFlushCounters,
    /// Waits of host requests because of the array controller's limits on requests in progress and on bandwidth; `None` without limits.
    pub controller_throttling_waits: Option<ControllerThrottlingCounters>,
    /// Counters of parity, stripe locks (with which operations on one stripe wait for each other), lost pages and rebuilding. `None` if
    /// the array has no parity, no failing members, and no read plan that chooses where to read.
    pub parity_and_rebuild: Option<ParityAndRebuildCounters>,
    /// Counters of the read plan; empty if it has no choice.
    pub read_plan: ReadPlanCounters,
    /// Counters of answers that came later than normal, because the configuration makes members slow for a time. The list has one entry
    /// for each member, in order of its number, with spares last. It is empty if no member is configured to be slow.
    pub slow_member_counters: Vec<InjectedSlownessCounters>,
    /// Counters of the write cache, if there is one.
    pub cache: Option<CacheCounters>,
    /// Number of pages in the write cache. In a difference of two counts, it is the number of pages added, or 0 if there are fewer.
    pub pages_now_in_cache: u64,
    /// Progress of failures and of rebuilding, in order of time; failures that are still to come are included. In a difference of two
    /// counts, it is the progress at the later moment.
    pub failures: Vec<MemberFailureAndRebuildState>,
}

impl ArrayCounters {
    /// Returns counters of an array for tests: the given counters of its members, and nothing else. The lists
    /// `superblock_counters_by_member` and `drive_front_end_counters` get `drives` entries, all of them 0. Here `drives` is the number of
    /// members, or 0 if members have no such counters.
    #[must_use]
    pub fn with_members_only(members: impl IntoIterator<Item = MemberCounters>, drives: usize) -> Self {
        Self {
            members: members.into_iter().collect(),
            superblock_counters_by_member: vec![SuperblockCounters::default(); drives],
            drive_front_end_counters: vec![FrontEndCounters::default(); drives],
            die_delay_counters: Vec::new(),
            collecting_cycles_by_member: Vec::new(),
            messages_sent_by_kind: None,
            uncoordinated_cleans: None,
            scheme: SchemeCounters::default(),
            predictable_latency: None,
            trims_and_flushes: TrimAndFlushCounters::default(),
            controller_throttling_waits: None,
            parity_and_rebuild: None,
            read_plan: ReadPlanCounters::default(),
            slow_member_counters: Vec::new(),
            cache: None,
            pages_now_in_cache: 0,
            failures: Vec::new(),
        }
    }

    /// Returns the differences from `earlier`, which are earlier counts of the same array.
    #[must_use]
    pub fn since(self, earlier: &Self) -> Self {
        Self {
            members: each(&self.members, &earlier.members, MemberCounters::since),
            superblock_counters_by_member: each(
                &self.superblock_counters_by_member,
                &earlier.superblock_counters_by_member,
                SuperblockCounters::since,
            ),
            drive_front_end_counters: each(&self.drive_front_end_counters, &earlier.drive_front_end_counters, FrontEndCounters::since),
            die_delay_counters: each(&self.die_delay_counters, &earlier.die_delay_counters, DieDelayMechanismCounters::since),
            collecting_cycles_by_member: each(&self.collecting_cycles_by_member, &earlier.collecting_cycles_by_member, |now, then| {
                both(now, *then, |now, then| now - then)
            }),
            messages_sent_by_kind: both(self.messages_sent_by_kind, earlier.messages_sent_by_kind, |now, then| {
                std::array::from_fn(|kind| now[kind] - then[kind])
            }),
            uncoordinated_cleans: both(self.uncoordinated_cleans, earlier.uncoordinated_cleans, |now, then| now.since(&then)),
            scheme: self.scheme.since(&earlier.scheme),
            predictable_latency: both(self.predictable_latency, earlier.predictable_latency, |now, then| now.since(&then)),
            trims_and_flushes: self.trims_and_flushes.since(&earlier.trims_and_flushes),
            controller_throttling_waits: both(self.controller_throttling_waits, earlier.controller_throttling_waits, |now, then| {
                now.since(&then)
            }),
            parity_and_rebuild: both(self.parity_and_rebuild, earlier.parity_and_rebuild, |now, then| now.since(&then)),
            read_plan: self.read_plan.since(&earlier.read_plan),
            slow_member_counters: self
                .slow_member_counters
                .iter()
                .zip(&earlier.slow_member_counters)
                .map(|(now, then)| now.since(then))
                .collect(),
            cache: both(self.cache, earlier.cache, |now, then| now.since(&then)),
            pages_now_in_cache: self.pages_now_in_cache.saturating_sub(earlier.pages_now_in_cache),
            failures: self.failures,
        }
    }

    /// Returns the number of messages between members and controller, by kind; empty without a controller.
    #[must_use]
    pub fn messages_by_name(&self) -> BTreeMap<String, u64> {
        self.messages_sent_by_kind.map_or_else(BTreeMap::new, |sent| coordination::message_counts_by_name(sent, Default::default()))
    }
}

impl Array {
    /// Returns the counts until `now`. Members may put off simulating work on which no request depends, and such work is not counted
    /// yet. To include it, first call [`Array::announce_milestone`] with
    /// [`RunMilestone::BeforeReadingArrayCounters`](super::RunMilestone::BeforeReadingArrayCounters).
    pub fn counters(&self, now: TimeNs) -> ArrayCounters {
        let Self { port, caching, volume, coordination, host, .. } = self;
        let ssds = &volume.members.ssds;
        let (members, drives): (Vec<_>, Vec<_>) = ssds.iter().map(|ssd| ssd.counters_at(now)).unzip();
        let asks_softly = coordination.as_ref().filter(|coordination| coordination.uses_soft_notification);
        ArrayCounters {
            members,
            superblock_counters_by_member: drives.into_iter().flatten().collect(),
            drive_front_end_counters: ssds.iter().filter_map(Ssd::front_end_counters).copied().collect(),
            die_delay_counters: ssds.iter().map(Ssd::die_delay_counters).collect(),
            collecting_cycles_by_member: ssds.iter().map(Ssd::collecting_cycles).collect(),
            messages_sent_by_kind: coordination.as_ref().map(|coordination| coordination.mailbox.sent()),
            uncoordinated_cleans: asks_softly.map(|coordination| coordination.controller.uncoordinated_cleans()),
            scheme: coordination.as_ref().map_or_else(Default::default, |coordination| {
                let mut counters = coordination.controller.scheme_counters();
                ssds.iter().for_each(|ssd| ssd.add_scheme_counters(&mut counters));
                counters
            }),
            predictable_latency: coordination
                .as_ref()
                .and_then(|coordination| coordination.controller.predictable_latency())
                .map(|_| ssds.iter().filter_map(Ssd::predictable_latency_counters).sum()),
            trims_and_flushes: *host,
            controller_throttling_waits: port.as_ref().map(|port| port.counters_at(now)),
            parity_and_rebuild: volume.stripes.as_ref().map(|stripes| stripes.counters),
            read_plan: volume.stripes.as_ref().map_or_else(Default::default, |stripes| stripes.plan_counters()),
            slow_member_counters: volume.members.slow.as_ref().map_or_else(Vec::new, |slow| slow.counters()),
            cache: caching.as_ref().map(|caching| caching.cache.counters(now)),
            pages_now_in_cache: caching.as_ref().map_or(0, |caching| caching.cache.cached_pages()),
            failures: volume.stripes.as_ref().map_or_else(Vec::new, |stripes| stripes.progress()),
        }
    }
}

/// Returns the counts of each set since those at the same place in `earlier`.
fn each<T: Copy>(now: &[T], earlier: &[T], since: impl Fn(T, &T) -> T) -> Vec<T> {
    now.iter().zip(earlier).map(|(&now, then)| since(now, then)).collect()
}

fn both<T>(now: Option<T>, then: Option<T>, since: impl FnOnce(T, T) -> T) -> Option<T> {
    Some(since(now?, then?))
}

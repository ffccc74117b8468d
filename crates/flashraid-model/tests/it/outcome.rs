//! Results that two implementations of the rules must agree on. A comparison reports the first item that differs.

use std::collections::BTreeMap;
use std::fmt::Debug;

use flashraid_model::array::{ArrayParams, InjectedSlownessCounters, OwnedPages, ParityAndRebuildCounters, ReadPlanCounters, WarmUp};
use flashraid_model::cache::CacheCounters;
use flashraid_model::coordination::{MESSAGE_KINDS, PredictableLatencyCounters, RotationCounters};
use flashraid_model::events::OperationTimeParts;
use flashraid_model::request::{HostLoop, Request};
use flashraid_model::ssd::{DieDelayMechanismCounters, FrontEndCounters, MemberCounters};

/// One simulation: everything that decides its outcome.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub params: ArrayParams,
    /// Warm-up of the members. If it is by the workload, all writes of the case are the warm-up, once.
    pub warm_up: WarmUp,
    /// Pages of the array that belong to streams before the run, in order.
    pub owners: Vec<OwnedPages>,
    pub seed: u64,
    pub host: HostLoop,
    pub requests: Vec<Request>,
}

/// Everything that a simulation determines, run until nothing is left to happen.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Outcome {
    /// Requests by index of arrival: arrival, end, and the number of members on which a page met garbage collection.
    pub requests: Vec<RequestOutcome>,
    /// Results of each member, by its number.
    pub members: Vec<MemberOutcome>,
    /// Sorted by member, die, start, end, victims, pages moved.
    pub gc_intervals: Vec<Collection>,
    /// Counters of the write cache. The mean occupancy is compared only if the cache is empty at the end.
    pub cache_counters: Option<CacheCounters>,
    /// Counters of parity, locks, and rebuilding.
    pub stripe_counters: Option<ParityAndRebuildCounters>,
    /// Counters of the read plan.
    pub read_plan: ReadPlanCounters,
    /// Counters of the host port: number of waits for a turn, their total time, and the time in which data passed.
    pub host_port_counters: Option<(u64, u128, u64, u64, u128, u128)>,
    /// Messages of coordination by kind.
    pub messages: Option<[u64; MESSAGE_KINDS]>,
    /// Uncoordinated cleans with soft notification: during cycles of others, and else.
    pub uncoordinated_cleans: Option<(u64, u64)>,
    /// Broken contracts and overruns of members that take turns.
    pub turns: Option<(u64, u64)>,
    /// Counts of the windows of NVMe's predictable latency mode.
    pub windows: Option<PredictableLatencyCounters>,
    /// Counters of members that collect in rotation.
    pub rotation: Option<RotationCounters>,
}

/// Cleans of a die, or of a plane if only that is busy, back to back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Collection {
    pub member: u32,
    pub die: u32,
    pub start_ns: u64,
    pub end_ns: u64,
    pub victims: u32,
    pub pages_moved: u32,
    /// True if the array's controller forced the first clean.
    pub forced: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RequestOutcome {
    pub arrival_ns: u64,
    pub done_ns: u64,
    pub gc_members_met: u32,
    /// Pages of it that too many failures have taken.
    pub pages_lost: u32,
    /// Parts of the request's response time.
    pub parts: OperationTimeParts,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct MemberOutcome {
    pub counters: MemberCounters,
    /// Counters of queues, cores, and buffer before the dies.
    pub front: Option<FrontEndCounters>,
    pub mechanisms: DieDelayMechanismCounters,
    /// Counts of its late answers.
    pub slow: InjectedSlownessCounters,
    /// State of a drive with superblocks. Such a drive has neither blocks nor pages of pools.
    pub drive: Option<DriveOutcome>,
    /// Erases of each block, warm-up included, in order of die, plane, block.
    pub block_erases: Vec<u32>,
    /// Places of the logical pages, in order of their home die (rule 7) and of that die's logical pages.
    pub pages: Vec<PhysicalPage>,
}

/// State and counts of a drive with superblocks that are compared.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DriveOutcome {
    /// Place of each mapping unit.
    pub places: Vec<Option<u32>>,
    /// Number of erases of each superblock.
    pub erases: Vec<u32>,
    /// Pages received, and units that streams of the host and of collection programmed, for each placement handle.
    pub handles: Vec<[u64; 3]>,
    /// Counts by name. A count that stays zero may be missing.
    pub counts: BTreeMap<&'static str, u64>,
}

impl DriveOutcome {
    /// Returns the counts that every kind of member has.
    pub(crate) fn counters(&self) -> MemberCounters {
        let of = |name| self.counts.get(name).copied().unwrap_or(0);
        MemberCounters {
            host_pages_read: of("pages_read"),
            host_pages_written: of("pages_received"),
            host_pages_trimmed: of("pages_trimmed"),
            suspensions: of("suspensions"),
            operations_served_from_move_register: of("merges"),
            pipelined_operations: of("pipelined"),
            ..MemberCounters::default()
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PhysicalPage {
    pub die: u32,
    pub plane: u32,
    /// Number of the block in its plane.
    pub block: u32,
    pub page: u32,
}

impl PhysicalPage {
    /// Place of an unmapped page (rule 107).
    pub(crate) const NOWHERE: PhysicalPage = PhysicalPage { die: u32::MAX, plane: u32::MAX, block: u32::MAX, page: u32::MAX };
}

impl Outcome {
    /// Names the first item in which `self` (the expected) and `other` (the found) differ.
    ///
    /// Requests come in order of the time at which they part, which is nearest to the cause.
    pub(crate) fn first_difference(&self, other: &Outcome) -> Option<String> {
        let parted = (0..self.requests.len().min(other.requests.len()))
            .filter(|&index| self.requests[index] != other.requests[index])
            .min_by_key(|&index| self.requests[index].done_ns.min(other.requests[index].done_ns));
        if let Some(index) = parted {
            return Some(differs(&format!("request {index}"), &self.requests[index], &other.requests[index]));
        }
        if self.requests.len() != other.requests.len() {
            return Some(differs("number of requests", &self.requests.len(), &other.requests.len()));
        }
        if let Some(text) = first_in_list("garbage collection", &self.gc_intervals, &other.gc_intervals) {
            return Some(text);
        }
        for (member, (expected, found)) in self.members.iter().zip(&other.members).enumerate() {
            if expected.counters != found.counters {
                return Some(differs(&format!("counters of member {member}"), &expected.counters, &found.counters));
            }
            if expected.slow != found.slow {
                return Some(differs(&format!("late answers of member {member}"), &expected.slow, &found.slow));
            }
            if expected.front != found.front {
                return Some(differs(&format!("counters before the dies of member {member}"), &expected.front, &found.front));
            }
            if let (Some(expected), Some(found)) = (&expected.drive, &found.drive) {
                if expected.counts != found.counts {
                    return Some(differs(&format!("counts of drive {member}"), &expected.counts, &found.counts));
                }
                if expected != found {
                    return Some(differs(&format!("drive {member}"), expected, found));
                }
            }
            let erases = first_in_list(&format!("member {member}: erases of block"), &expected.block_erases, &found.block_erases);
            let pages = first_in_list(&format!("member {member}: place of page"), &expected.pages, &found.pages);
            if let Some(text) = erases.or(pages) {
                return Some(text);
            }
        }
        if self.cache_counters != other.cache_counters {
            return Some(differs("counters of the cache", &self.cache_counters, &other.cache_counters));
        }
        if self.stripe_counters != other.stripe_counters {
            return Some(differs("counters of stripes", &self.stripe_counters, &other.stripe_counters));
        }
        if self.read_plan != other.read_plan {
            return Some(differs("counters of the read plan", &self.read_plan, &other.read_plan));
        }
        if self.host_port_counters != other.host_port_counters {
            return Some(differs("counters of the host port", &self.host_port_counters, &other.host_port_counters));
        }
        if self.messages != other.messages {
            return Some(differs("messages", &self.messages, &other.messages));
        }
        if self.uncoordinated_cleans != other.uncoordinated_cleans {
            return Some(differs("uncoordinated cleans", &self.uncoordinated_cleans, &other.uncoordinated_cleans));
        }
        if self.rotation != other.rotation {
            return Some(differs("rotation", &self.rotation, &other.rotation));
        }
        if self.turns != other.turns {
            return Some(differs("turns", &self.turns, &other.turns));
        }
        if self.windows != other.windows {
            return Some(differs("windows", &self.windows, &other.windows));
        }
        (self.members.len() != other.members.len()).then(|| differs("number of members", &self.members.len(), &other.members.len()))
    }
}

fn first_in_list<T: Debug + PartialEq>(what: &str, expected: &[T], found: &[T]) -> Option<String> {
    for index in 0..expected.len().max(found.len()) {
        let (expected, found) = (expected.get(index), found.get(index));
        if expected != found {
            return Some(differs(&format!("{what} {index}"), &expected, &found));
        }
    }
    None
}

fn differs(what: &str, expected: &dyn Debug, found: &dyn Debug) -> String {
    format!("{what}:\n  expected {expected:?}\n  found    {found:?}")
}

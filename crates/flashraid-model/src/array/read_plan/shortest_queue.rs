//! `shortest-queue`: a read goes to the copy with the shortest queue (rules 281 and 282).
//!
//! Linux's md balances the reads of mirrors of SSDs in this way (`read_balance` of raid1 and raid10). It counts what it has sent to each
//! member and what has not been answered, and knows nothing of the members.

use super::{Part, Plan, ReadAction, ReadPlanCounters};
use crate::array::members::Members;
use crate::placement::Redundancy;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Reads go to the copy whose member has the fewest operations that it has not answered (md).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShortestQueue {
    /// Counters of the plan in a run.
    #[serde(skip)]
    pub counters: BalancedReads,
}

reported_counts! {
    /// Counters of reads with `read.plan = "shortest-queue"`: a read is made from the copy whose member has the fewest operations that it
    /// has not answered. Reads are counted in *parts*. A read has one part for every strip (consecutive pages on one member).
    pub struct BalancedReads, "Balanced reads" {
        /// Number of parts of reads, one per strip.
        strip_reads as "parts", "parts read";
        /// Number of parts of reads that were made from another copy than the one whose turn it was.
        strip_reads_made_elsewhere as "elsewhere", "parts read from another copy";
        /// Number of parts of reads for which all copies had queues of the same length, so that the copy was read whose turn it was.
        strip_reads_with_equal_queues as "equal", "parts with equal queues";
    }
}

impl Plan for ShortestQueue {
    fn has_choice(&self, redundancy: Redundancy) -> bool {
        redundancy == Redundancy::Copies
    }

    fn begin(&mut self, _seed: u64, members: &mut Members) {
        self.counters = BalancedReads::default();
        members.count_unanswered();
    }

    fn part_begins(&mut self, part: &mut Part<'_>) -> ReadAction {
        let queues: Vec<usize> = part.copies.iter().map(|&member| part.members.unanswered(part.now, member)).collect();
        let (copy, shortest) = queues.iter().enumerate().min_by_key(|(_, queue)| **queue).expect("a copy is left");
        self.counters.strip_reads += 1;
        self.counters.strip_reads_made_elsewhere += u64::from(copy > 0);
        self.counters.strip_reads_with_equal_queues += u64::from(queues.iter().all(|queue| queue == shortest));
        ReadAction::ReadCopy { copy, after_ns: 0 }
    }

    fn add_counters(&self, counters: &mut ReadPlanCounters) {
        counters.balanced_reads = Some(self.counters);
    }
}

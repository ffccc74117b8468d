//! The parts that an SSD has once, for both kinds of dies.

use super::agent::Agent;
use super::counters::{MemberCounters, SuperblockCounters};
use super::outbox::SsdOutbox;
use super::params::SsdParams;
use super::usage::Usage;
use super::work_times::WorkTimes;
use crate::ids::MemberId;

/// Settings, protocol state and counters of one SSD.
#[derive(Debug, Clone)]
pub(crate) struct SsdParts {
    /// Number of the member in the array.
    pub(crate) member: MemberId,
    /// Settings of the member.
    pub(crate) params: SsdParams,
    /// Protocol state of the member; `None` if it does not know the protocol of the array's controller.
    pub(crate) agent: Option<Agent>,
    /// Time that the dies have worked. It is kept only for members that advance step by step.
    pub(crate) work_times: WorkTimes,
    /// Counters since the end of the warm-up.
    pub(crate) counters: MemberCounters,
    /// Counters of superpages and superblocks. They are 0 if the member has pools.
    pub(crate) drive_counters: SuperblockCounters,
    /// Record of the member's use over time; `None` if it is not recorded.
    pub(crate) usage: Option<Box<Usage>>,
}

impl SsdParts {
    /// Returns the parts of a member at the start of a run.
    pub(super) fn new(member: MemberId, params: SsdParams) -> Self {
        Self {
            member,
            params,
            agent: None,
            work_times: WorkTimes::default(),
            counters: MemberCounters::default(),
            drive_counters: SuperblockCounters::default(),
            usage: None,
        }
    }

    /// Returns the protocol state of a member that knows the protocol.
    pub(crate) fn agent_mut(&mut self) -> &mut Agent {
        self.agent.as_mut().expect("only members that know the protocol get and send messages")
    }

    /// Adds operations to the usage record: those whose ends were added to the outbox after the first `reported_before` ends.
    pub(crate) fn record_operations(&mut self, reported_before: usize, out: &SsdOutbox) {
        if let Some(usage) = &mut self.usage {
            out.page_op_end_times[reported_before..]
                .iter()
                .for_each(|end| usage.record_operation(end.at - end.time_parts.total_ns(), end.at));
        }
    }
}

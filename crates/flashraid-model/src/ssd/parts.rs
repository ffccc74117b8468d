//! The parts that an SSD has once, for both kinds of dies.

use super::agent::Agent;
use super::counters::{DriveCounters, MemberCounters};
use super::outbox::Outbox;
use super::params::SsdParams;
use super::usage::Usage;
use super::work_times::WorkTimes;
use crate::ids::MemberId;

/// Settings, protocol state and counters of one SSD.
#[derive(Debug, Clone)]
pub struct Parts {
    /// Number of the member in the array.
    pub member: MemberId,
    /// Settings of the member.
    pub params: SsdParams,
    /// Protocol state of the member, if it knows the protocol of the array's controller.
    pub agent: Option<Agent>,
    /// Time that the dies have worked, if they proceed step by step.
    pub work_times: WorkTimes,
    /// Counts since the end of the warm-up.
    pub counters: MemberCounters,
    /// Counts of superpages and superblocks, which are 0 without superblocks.
    pub drive_counters: DriveCounters,
    /// Record of the member's use over time, if it is recorded.
    pub usage: Option<Box<Usage>>,
}

impl Parts {
    /// Returns the parts of a member that has done nothing.
    pub fn new(member: MemberId, params: SsdParams) -> Self {
        Self {
            member,
            params,
            agent: None,
            work_times: WorkTimes::default(),
            counters: MemberCounters::default(),
            drive_counters: DriveCounters::default(),
            usage: None,
        }
    }

    /// Returns the protocol state of a member that knows the protocol.
    pub fn agent_mut(&mut self) -> &mut Agent {
        self.agent.as_mut().expect("only members that know the protocol get and send messages")
    }

    /// Records the use of the operations whose ends were added to the outbox after the first `told` ends.
    pub fn record_operations(&mut self, told: usize, out: &Outbox) {
        if let Some(usage) = &mut self.usage {
            out.ends[told..].iter().for_each(|end| usage.record_operation(end.at - end.time.total_ns(), end.at));
        }
    }
}

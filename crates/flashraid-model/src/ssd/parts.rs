//! The parts that every SSD has once, whatever its dies take.

use super::agent::Agent;
use super::counters::{DriveCounters, MemberCounters};
use super::outbox::Outbox;
use super::params::SsdParams;
use super::usage::Usage;
use super::worked::Worked;
use crate::ids::MemberId;

/// Settings, agent and counters of one SSD.
#[derive(Debug, Clone)]
pub struct Parts {
    /// Number of the member in the array.
    pub member: MemberId,
    /// The settings of the member.
    pub params: SsdParams,
    /// The side of the SSD in the protocol with the array's controller, if the SSD knows the protocol.
    pub agent: Option<Agent>,
    /// Work of the dies, where they proceed step by step.
    pub worked: Worked,
    /// Counts since the end of the warm-up.
    pub counters: MemberCounters,
    /// Counts of superpages and superblocks; all zero without them.
    pub drive_counters: DriveCounters,
    /// The record of how the SSD is used over time, if anybody asks.
    pub usage: Option<Box<Usage>>,
}

impl Parts {
    /// Parts of a member that has done nothing.
    pub fn new(member: MemberId, params: SsdParams) -> Self {
        Self {
            member,
            params,
            agent: None,
            worked: Worked::default(),
            counters: MemberCounters::default(),
            drive_counters: DriveCounters::default(),
            usage: None,
        }
    }

    /// The agent of a member that knows the protocol.
    pub fn agent_mut(&mut self) -> &mut Agent {
        self.agent.as_mut().expect("only members that know the protocol get and send messages")
    }

    /// Records the operations that have ended since the outbox held `told` ends.
    pub fn record_operations(&mut self, told: usize, out: &Outbox) {
        if let Some(usage) = &mut self.usage {
            out.ends[told..].iter().for_each(|end| usage.operation(end.at - end.time.total_ns(), end.at));
        }
    }
}

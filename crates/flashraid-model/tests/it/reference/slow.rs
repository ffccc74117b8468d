//! Members that are slow for a time (rules 250 to 252).

use flashraid_model::array::{InjectedSlownessCounters, SlowMemberPeriodParams};
use flashraid_model::rng;

use super::{Event, Operation, Simulation};

impl Simulation<'_> {
    /// A member has done an operation. Its answer may come later.
    pub(super) fn operation_done(&mut self, member: usize, mut operation: Operation) {
        let now = self.now;
        let of_member = self.case.params.slow.iter().filter(|slow| slow.member as usize == member);
        let mut times: Vec<SlowMemberPeriodParams> = of_member.copied().collect();
        times.sort_by_key(|time| time.from_ns);
        let issued = operation.issued_ns;
        let mut answered = now;
        for time in times.iter().filter(|time| time.from_ns <= issued && issued < time.until_ns && self.is_drawn(time, issued)) {
            let more = (operation.parts.flash_ns as f64 * (time.flash_time_factor - 1.0)).floor() as u64;
            operation.parts.flash_ns += more;
            operation.parts.other_ns += time.add_ns;
            answered += more + time.add_ns;
        }
        for time in &times {
            let Some(stalls) = time.stalls else { continue };
            let mut begins = time.from_ns;
            while begins < time.until_ns && begins <= answered {
                if answered < begins + stalls.length_ns {
                    operation.parts.other_ns += begins + stalls.length_ns - answered;
                    answered = begins + stalls.length_ns;
                }
                begins += stalls.every_ns;
            }
        }
        self.balancing.answered.push((member, answered));
        if answered == now {
            return self.answered(operation);
        }
        let InjectedSlownessCounters { late_answers, late_ns } = &mut self.members[member].slow;
        *late_answers += 1;
        *late_ns += u128::from(answered - now);
        self.schedule(answered - now, Event::Answered { operation });
    }

    fn is_drawn(&self, time: &SlowMemberPeriodParams, issued: u64) -> bool {
        let seed = rng::derive_seed(self.case.seed, "slow", u64::from(time.member));
        rng::uniform(&mut rng::stream(seed, "operation", issued)) < time.share_of_operations
    }
}

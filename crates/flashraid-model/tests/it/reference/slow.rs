//! Members that are slow for a time (rules 250 to 252).

use flashraid_model::array::{InjectedSlownessCounters, SlowMemberPeriod};
use flashraid_model::request::OpKind;
use flashraid_model::rng;

use super::{Event, Operation, Simulation};

impl Simulation<'_> {
    /// A member has done an operation. Its answer may come later.
    pub(super) fn operation_done(&mut self, member: usize, mut operation: Operation) {
        let now = self.now;
        let of_member = self.case.params.slow.iter().filter(|slow| slow.member as usize == member);
        let mut times: Vec<SlowMemberPeriod> = of_member.copied().collect();
        times.sort_by_key(|time| time.from.ns);
        let issued = operation.issued_ns;
        let mut answered = now;
        for time in times.iter().filter(|time| time.from.ns <= issued && issued < time.until_ns() && self.is_drawn(time, issued)) {
            let more = (operation.parts.flash_ns as f64 * (time.factor - 1.0)).floor() as u64;
            operation.parts.flash_ns += more;
            operation.parts.other_ns += time.add.ns;
            answered += more + time.add.ns;
        }
        for time in &times {
            let (Some(length), Some(every)) = (time.stall, time.every) else { continue };
            let mut begins = time.from.ns;
            while begins < time.until_ns() && begins <= answered {
                if answered < begins + length.ns {
                    operation.parts.other_ns += begins + length.ns - answered;
                    answered = begins + length.ns;
                }
                begins += every.ns;
            }
        }
        self.balancing.answered.push((member, answered));
        if operation.kind == OpKind::Read {
            self.window_sees_answer(member, issued, answered);
        }
        if answered == now {
            return self.answered(operation);
        }
        let InjectedSlownessCounters { late_answers, late_ns } = &mut self.members[member].slow;
        *late_answers += 1;
        *late_ns += u128::from(answered - now);
        self.schedule(answered - now, Event::Answered { operation });
    }

    fn is_drawn(&self, time: &SlowMemberPeriod, issued: u64) -> bool {
        let seed = rng::derive_seed(self.case.seed, "slow", u64::from(time.member));
        rng::uniform(&mut rng::stream(seed, "operation", issued)) < time.share.0
    }
}

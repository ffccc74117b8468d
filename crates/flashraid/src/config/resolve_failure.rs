//! From `[array.failure]` and `[array.rebuild]` to the integers of the model.

use super::Config;
use super::array::Spare;
use super::resolve::Resolver;
use flashraid_model::array::{self, FailureParams, Level, MEMBERS_MAX, RebuildParams};
use flashraid_workload::units::{Duration, Size};

/// Delays beyond this are mistakes, and so are rates at which a strip takes longer.
const LONGEST_NS: u64 = 3_600_000_000_000;

impl Resolver<'_> {
    pub(super) fn failure(&mut self, config: &Config, level: Level, members: u32, strip: Size) -> Option<FailureParams> {
        let failure = config.array.failure.as_ref()?;
        if !level.survives_a_failure() {
            let message = format!("an array of level \"{}\" does not survive that a member fails", config.array.level.name());
            let help = "set array.level to \"raid1\", \"raid10\", \"raid4\", \"raid5\" or \"raid6\", or remove [array.failure]";
            self.problem("array.failure", message, Some(help));
        }
        if failure.member >= members {
            let message = format!("`array.failure.member` is {}, but the members are 0 to {}", failure.member, members.saturating_sub(1));
            self.problem("array.failure.member", message, None);
        }
        Some(FailureParams { member: failure.member, at_ns: failure.at.ns, rebuild: self.rebuild(config, members, strip) })
    }

    fn rebuild(&mut self, config: &Config, members: u32, strip: Size) -> Option<RebuildParams> {
        let rebuild = config.array.rebuild.as_ref()?;
        if members >= MEMBERS_MAX {
            let message = format!("`array.members` is {members}; with a spare to rebuild on, {} are the most", MEMBERS_MAX - 1);
            self.problem("array.members", message, None);
        }
        if rebuild.delay.ns > LONGEST_NS {
            let message = format!("`array.rebuild.delay` is {}, but at most {} is allowed", rebuild.delay, Duration { ns: LONGEST_NS });
            self.problem("array.rebuild.delay", message, None);
        }
        let strip_ns = (u128::from(strip.bytes) * 1_000_000_000).div_ceil(u128::from(rebuild.rate.bytes_per_s));
        if strip_ns > u128::from(LONGEST_NS) {
            let message = format!("`array.rebuild.rate` is {}, at which one strip of {strip} takes more than an hour", rebuild.rate);
            self.problem("array.rebuild.rate", message, None);
        }
        Some(RebuildParams {
            delay_ns: rebuild.delay.ns,
            strip_ns: u64::try_from(strip_ns).unwrap_or(u64::MAX),
            in_flight: rebuild.in_flight,
            spare: match rebuild.spare {
                Spare::Warm => array::Spare::Warm,
                Spare::Fresh => array::Spare::Fresh,
            },
            finish: rebuild.finish,
        })
    }
}

//! Converts the sections `[array.failure]` and `[array.rebuild]` to the parameters of the model.

use super::Config;
use super::resolve::Resolver;
use flashraid_model::array::{MEMBERS_MAX, MemberFailure, RaidLevel, RebuildParams};
use flashraid_workload::units::{Duration, Size};

/// Longest delay, and longest time for a strip, that is accepted.
const LONGEST_NS: u64 = 3_600_000_000_000;

impl Resolver<'_> {
    pub(super) fn failures(&mut self, config: &Config, level: RaidLevel, members: u32) -> Vec<MemberFailure> {
        let Some(failures) = &config.array.failure else { return Vec::new() };
        let failures = failures.with_keys();
        if !level.survives_a_failure() {
            let message = format!("an array of level \"{}\" loses data when a member fails", config.array.level.name());
            let help = "set array.level to \"raid1\", \"raid10\", \"raid4\", \"raid5\" or \"raid6\", or remove [array.failure]";
            self.problem("array.failure", message, Some(help));
        }
        for (at, (key, failure)) in failures.iter().enumerate() {
            let member = failure.member;
            if member >= members {
                let message = format!("`{key}.member` is {member}, but the members are 0 to {}", members.saturating_sub(1));
                self.problem(&format!("{key}.member"), message, None);
            }
            if let Some((other, _)) = failures[..at].iter().find(|(_, other)| other.member == member) {
                let message = format!("`{key}.member` is {member}, which fails by `{other}`, too; a member fails once");
                self.problem(&format!("{key}.member"), message, None);
            }
        }
        failures.into_iter().map(|(_, failure)| *failure).collect()
    }

    pub(super) fn rebuild(&mut self, config: &Config, members: u32, strip: Size) -> Option<RebuildParams> {
        let rebuild = config.array.rebuild.as_ref()?;
        let failures = config.array.failure.as_ref()?.with_keys().len();
        let spares = rebuild.settings.spares.min(u32::try_from(failures).unwrap_or(u32::MAX));
        if members.saturating_add(spares) > MEMBERS_MAX {
            let message = match spares {
                1 => format!("`array.members` is {members}; with a spare to rebuild on, {} are the most", MEMBERS_MAX - 1),
                _ => format!("`array.members` is {members}; with {spares} spares to rebuild on, {} are the most", MEMBERS_MAX - spares),
            };
            self.problem("array.members", message, None);
        }
        if rebuild.settings.delay.ns > LONGEST_NS {
            let message =
                format!("`array.rebuild.delay` is {}, but at most {} is allowed", rebuild.settings.delay, Duration { ns: LONGEST_NS });
            self.problem("array.rebuild.delay", message, None);
        }
        let strip_ns = (u128::from(strip.bytes) * 1_000_000_000).div_ceil(u128::from(rebuild.rate.bytes_per_s));
        if strip_ns > u128::from(LONGEST_NS) {
            let message = format!("`array.rebuild.rate` is {}, at which one strip of {strip} takes more than an hour", rebuild.rate);
            self.problem("array.rebuild.rate", message, None);
        }
        Some(RebuildParams { strip_interval_min_ns: u64::try_from(strip_ns).unwrap_or(u64::MAX), settings: rebuild.settings })
    }
}

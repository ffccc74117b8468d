//! Converts the tables `[[array.slow]]` to the parameters of the model.

use super::Config;
use super::resolve::Resolver;
use flashraid_model::array::SlowMemberPeriod;
use flashraid_workload::units::Duration;

/// Longest time that is accepted for `add`, `stall` and `every`.
const LONGEST: Duration = Duration { ns: 3_600_000_000_000 };
/// Largest factor that is accepted.
const FACTOR_MAX: f64 = 10_000.0;

impl Resolver<'_> {
    pub(super) fn slow_members(&mut self, config: &Config, members: u32) -> Vec<SlowMemberPeriod> {
        let Some(slow) = &config.array.slow else { return Vec::new() };
        let slow = slow.with_keys();
        for (at, (key, own)) in slow.iter().enumerate() {
            self.check_slow_member(key, own, members);
            let overlaps = |(_, other): &&(String, &SlowMemberPeriod)| {
                other.member == own.member && !ends_before(own, other) && !ends_before(other, own)
            };
            if let Some((other, _)) = slow[..at].iter().find(overlaps) {
                let message = format!("`{key}` and `{other}` are times of member {} that overlap", own.member);
                self.problem(key, message, Some("a member is slow in one way at a time: set `until` of the one to `from` of the other"));
            }
        }
        slow.into_iter().map(|(_, own)| *own).collect()
    }

    fn check_slow_member(&mut self, key: &str, own: &SlowMemberPeriod, members: u32) {
        let SlowMemberPeriod { member, from, until, factor, add, share, stall, every } = own;
        let mut problem = |name: &str, message: String, help: Option<&str>| self.problem(&format!("{key}.{name}"), message, help);
        if *member >= members {
            problem("member", format!("`{key}.member` is {member}, but the members are 0 to {}", members.saturating_sub(1)), None);
        }
        if let Some(until) = until.filter(|until| until.ns <= from.ns) {
            problem("until", format!("`{key}.until` is {until}, but must be later than `{key}.from` ({from})"), None);
        }
        if !(1.0..=FACTOR_MAX).contains(factor) {
            problem("factor", format!("`{key}.factor` is {factor}, but 1 to {FACTOR_MAX} is allowed"), None);
        }
        if share.0 == 0.0 {
            problem("share", format!("`{key}.share` is 0, but must be above 0"), Some("leave the table out to have no slow member"));
        }
        for (name, time) in [("add", Some(*add)), ("stall", *stall), ("every", *every)] {
            if let Some(time) = time.filter(|time| time.ns > LONGEST.ns) {
                problem(name, format!("`{key}.{name}` is {time}, but at most {LONGEST} is allowed"), None);
            }
        }
        let slows_operations = *factor != 1.0 || add.ns > 0;
        match (stall, every) {
            (Some(stall), Some(_)) if stall.ns == 0 => {
                problem("stall", format!("`{key}.stall` is 0, but must be at least 1ns"), Some("leave it out to have no stalls"));
            }
            (Some(stall), Some(every)) if every.ns <= stall.ns => {
                let message = format!("`{key}.every` is {every}, but must be longer than `{key}.stall` ({stall})");
                problem("every", message, None);
            }
            (Some(_), None) => problem("every", format!("`{key}.every` is missing, the time from one stall to the next"), None),
            (None, Some(_)) => problem("stall", format!("`{key}.stall` is missing, the length of a stall"), None),
            (None, None) if !slows_operations => {
                let message = format!("`{key}` does not say what is slow");
                self.problem(key, message, Some("set factor, add, or stall and every"));
                return;
            }
            _ => {}
        }
        if share.0 > 0.0 && share.0 < 1.0 && !slows_operations {
            let message = format!("`{key}.share` is {share}, but has no effect without `factor` or `add`");
            self.problem(&format!("{key}.share"), message, None);
        }
    }
}

/// Returns true if one time is over when another begins.
fn ends_before(one: &SlowMemberPeriod, other: &SlowMemberPeriod) -> bool {
    one.until.is_some_and(|until| until.ns <= other.from.ns)
}

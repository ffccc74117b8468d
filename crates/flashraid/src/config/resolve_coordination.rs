//! From `[coordination]` to the integers of the model.

use super::Config;
use super::array::Level;
use super::coordination::{Answer, CoordinationConfig, ForceUntil, Scheme};
use super::gc::StopThreshold;
use super::resolve::Resolver;
use flashraid_model::coordination::{self, CoordinationParams, Kind, Work};
use flashraid_model::ssd::{Pool, SsdParams};
use flashraid_workload::units::Duration;

/// Times of messages and delays beyond this are mistakes.
const LONGEST_NS: u64 = 3_600_000_000_000;
/// Checks more frequent than this would take more time than all the rest.
const SHORTEST_CHECK_NS: u64 = 1_000;

impl Scheme {
    /// What the model calls it, if there is a controller.
    pub(super) fn coordinated(self) -> Option<coordination::Scheme> {
        match self {
            Self::Local | Self::Ideal => None,
            Self::ReactiveInclusive => Some(coordination::Scheme::ReactiveInclusive),
            Self::ReactiveSelective => Some(coordination::Scheme::ReactiveSelective),
            Self::ProactiveIdle => Some(coordination::Scheme::ProactiveIdle),
            Self::ProactiveSoftLimit => Some(coordination::Scheme::ProactiveSoftLimit),
        }
    }

    fn registers(self) -> bool {
        matches!(self, Self::ReactiveSelective | Self::ProactiveIdle)
    }
}

/// Options that are set but mean nothing with this scheme: no mistake, since a comparison of schemes sets them for all.
pub(super) fn without_effect(written: &CoordinationConfig) -> Vec<&'static str> {
    use Scheme::{Ideal, Local, ProactiveIdle, ProactiveSoftLimit};
    let default = CoordinationConfig::default();
    let scheme = written.scheme;
    let coordinated = !matches!(scheme, Local | Ideal);
    let proactive = matches!(scheme, ProactiveIdle | ProactiveSoftLimit);
    [
        ("force_until", coordinated, written.force_until != default.force_until),
        ("t_soft", scheme.registers(), written.t_soft != default.t_soft),
        ("check_interval", proactive, written.check_interval != default.check_interval),
        ("idle_threshold", scheme == ProactiveIdle, written.idle_threshold != default.idle_threshold),
        ("soft_limit", scheme == ProactiveSoftLimit, written.soft_limit != default.soft_limit),
        ("shallow_depth", scheme == ProactiveSoftLimit, written.shallow_depth != default.shallow_depth),
        ("delay", coordinated, written.delay != default.delay),
        ("answer", coordinated, written.answer != default.answer),
        ("ggc_aware", coordinated, written.ggc_aware != default.ggc_aware),
        ("latency", coordinated, written.latency != default.latency),
    ]
    .into_iter()
    .filter_map(|(key, used, set)| (set && !used).then_some(key))
    .collect()
}

impl Resolver<'_> {
    pub(super) fn coordination(&mut self, config: &Config, members: u32, ssd: &SsdParams) -> Option<CoordinationParams> {
        let written = &config.coordination;
        let t_soft = self.limit("coordination.t_soft", written.t_soft, ssd);
        let soft_limit = self.limit("coordination.soft_limit", written.soft_limit, ssd);
        let latency = &written.latency;
        for (key, time, min) in [
            ("check_interval", written.check_interval, SHORTEST_CHECK_NS),
            ("idle_threshold", written.idle_threshold, 0),
            ("delay", written.delay, 0),
            ("latency.gc_request", latency.gc_request, 0),
            ("latency.participate", latency.participate, 0),
            ("latency.force_gc", latency.force_gc, 0),
            ("latency.gc_state", latency.gc_state, 0),
            ("latency.gc_done", latency.gc_done, 0),
        ] {
            if !(min..=LONGEST_NS).contains(&time.ns) {
                let message = format!("`coordination.{key}` is {time}, but {} to 1h is allowed", Duration { ns: min });
                self.problem(&format!("coordination.{key}"), message, None);
            }
        }
        let ggc_aware = self.ggc_aware(written.ggc_aware.as_deref(), members, config.array.level);
        let scheme = written.scheme.coordinated()?;
        Some(CoordinationParams {
            scheme,
            work: match written.force_until {
                ForceUntil::OneVictim => Work::OneVictim,
                ForceUntil::Watermark => Work::Watermark,
            },
            t_soft_free_blocks: written.scheme.registers().then_some(t_soft),
            check_interval_ns: written.check_interval.ns,
            idle_threshold_ns: written.idle_threshold.ns,
            soft_limit_free_blocks: soft_limit,
            shallow_depth: written.shallow_depth,
            delay_ns: written.delay.ns,
            answers: written.answer == Answer::Prompt,
            ggc_aware,
            latency_ns: {
                let mut by_kind = [0; coordination::KINDS];
                by_kind[Kind::GcRequest as usize] = latency.gc_request.ns;
                by_kind[Kind::Participate as usize] = latency.participate.ns;
                by_kind[Kind::ForceGc as usize] = latency.force_gc.ns;
                by_kind[Kind::StopGc as usize] = latency.force_gc.ns;
                by_kind[Kind::GcState as usize] = latency.gc_state.ns;
                by_kind[Kind::GcDone as usize] = latency.gc_done.ns;
                by_kind
            },
        })
    }

    /// Free blocks of a pool, above its start threshold.
    fn limit(&mut self, key: &str, written: StopThreshold, ssd: &SsdParams) -> u32 {
        let (g, start) = (&ssd.geometry, ssd.gc.start_free_blocks);
        let planes = if ssd.gc.pool == Pool::Die { g.planes } else { 1 };
        let limit = written.blocks_of(planes * g.blocks_per_plane, start);
        let reserve = planes * g.reserved_blocks_per_plane;
        // The default is as good as can be where the reserve leaves no room above the start.
        let is_default = written == CoordinationConfig::default().t_soft;
        if !is_default && (limit <= start || limit > reserve) {
            let message = format!(
                "`{key}` is {}, which comes to {limit} free blocks, but {} (one more than ssd.gc.start) to {reserve} (the reserve) are allowed",
                self.written(key),
                start + 1
            );
            self.problem(key, message, None);
        }
        limit
    }

    fn ggc_aware(&mut self, written: Option<&[u32]>, members: u32, level: Level) -> u128 {
        let Some(written) = written else { return u128::MAX >> (u128::BITS - members) };
        let mut ggc_aware = 0;
        for &member in written {
            if member >= members {
                let message = format!(
                    "`coordination.ggc_aware` names member {member}, but the members of this \"{}\" are 0 to {}",
                    level.name(),
                    members - 1
                );
                self.problem("coordination.ggc_aware", message, None);
            } else if ggc_aware >> member & 1 == 1 {
                self.problem("coordination.ggc_aware", format!("`coordination.ggc_aware` names member {member} twice"), None);
            } else {
                ggc_aware |= 1_u128 << member;
            }
        }
        ggc_aware
    }
}

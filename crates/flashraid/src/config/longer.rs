//! Longer runs of the same workload.

use super::workload::{RequestsOrTime, TraceKeys, WorkloadConfig, WorkloadKind};
use flashraid_workload::units::Duration;
use flashraid_workload::{SourceSpec, WorkloadSpec};

/// Returns the keys of a workload that goes on for `times` as long.
///
/// Returns the reason if that is not possible.
pub(super) fn workload(workload: &WorkloadConfig, times: u64) -> Result<WorkloadConfig, String> {
    let is_finite = |stream: &WorkloadConfig| stream.kind == Some(WorkloadKind::Trace) || stream.limit.is_some();
    if let Some(stream) = workload.streams.iter().flatten().position(is_finite) {
        return Err(format!("workload.streams[{stream}] ends by itself; only generated streams without a limit go on"));
    }
    let time = |time: Duration| Duration { ns: time.ns.saturating_mul(times) };
    let limit = |limit: RequestsOrTime| match limit {
        RequestsOrTime::Requests(requests) => RequestsOrTime::Requests(requests.saturating_mul(times)),
        RequestsOrTime::Time(limit) => RequestsOrTime::Time(time(limit)),
    };
    let repeat = workload.trace.repeat.unwrap_or(1).saturating_mul(times);
    Ok(WorkloadConfig {
        requests: workload.requests.map(|requests| requests.saturating_mul(times)),
        duration: workload.duration.map(time),
        limit: workload.limit.map(limit),
        trace: TraceKeys {
            repeat: (workload.kind == Some(WorkloadKind::Trace)).then_some(repeat).filter(|repeat| *repeat > 1).or(workload.trace.repeat),
            ..workload.trace.clone()
        },
        ..workload.clone()
    })
}

/// Gives a specification the length of a configuration.
pub(super) fn apply(spec: &mut WorkloadSpec, workload: &WorkloadConfig) {
    let of_config = super::workload_spec::to_spec(workload);
    spec.transform.limit_requests = of_config.transform.limit_requests;
    spec.transform.limit_ns = of_config.transform.limit_ns;
    if let (SourceSpec::Trace(trace), Some(repeat)) = (&mut spec.source, workload.trace.repeat) {
        trace.passes = repeat;
    }
}

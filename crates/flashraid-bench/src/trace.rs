//! The cost of reading requests from text: the same requests once out of the generator and once out of a trace.

use super::{BenchSize, TraceSpeed, scenario, timed_from, warmed, work};
use flashraid::config::workload_address_space;
use flashraid::run::RunError;
use flashraid_workload::trace::{TraceSpec, open_trace_bytes};
use flashraid_workload::{self as workload, RequestSource, RequestTransformSpec, SourceError, Stop, TransformedSource};
use std::io::Write;

/// Number of turns that generator and trace take each.
const TURNS: usize = 3;

fn median(mut seconds: Vec<f64>) -> f64 {
    seconds.sort_by(f64::total_cmp);
    seconds[seconds.len() / 2]
}

/// Runs both in turns, and compares the medians of their times.
pub(super) fn measure(size: BenchSize, report: &mut dyn FnMut(&str)) -> Result<TraceSpeed, RunError> {
    let scenario = scenario(work::DEVICE, work::AT_TIMES, size)?;
    let (seed, space) = (scenario.seed, workload_address_space(&scenario.array));
    let requests = size.trace_requests;
    let generator = || workload::open_workload(&scenario.workload, seed, &space);

    report("writing the trace");
    let (text, first_ns) = disksim(&mut *generator()?, requests)?;
    let bytes = text.len() as u64;
    let reader = || open_trace_bytes(text.as_slice(), &TraceSpec::new("bench.trace"));
    // They take turns, since a machine that others use is slower at one moment than at the next.
    let (mut generator_s, mut trace_s) = (Vec::new(), Vec::new());
    for _ in 0..TURNS {
        report("the device, requests from the generator");
        let (seconds, generated) = timed_from(warmed(&scenario)?, generator()?, requests)?;
        generator_s.push(seconds);
        report("the device, requests from the trace");
        // Text is read behind a transformation, as in every run from a trace.
        let source = TransformedSource::open(&RequestTransformSpec::default(), seed, &space, &Stop::default(), reader)?;
        let (seconds, read) = timed_from(warmed(&scenario)?, Box::new(source), requests)?;
        trace_s.push(seconds);
        let (from_first, sent) = (generated.run_end_ns - first_ns, generated.requests_sent);
        assert_eq!((read.run_end_ns, read.requests_sent), (from_first, sent), "the trace holds the requests of the generator");
    }
    let (generator_s, trace_s) = (median(generator_s), median(trace_s));
    Ok(TraceSpeed { requests_per_s: requests as f64 / trace_s, time_over_generator: trace_s / generator_s, bytes })
}

/// Writes requests as DiskSim's text, with times to the nanosecond; returns when the first one arrives, too, which a trace counts from.
fn disksim(source: &mut dyn RequestSource, requests: u64) -> Result<(Vec<u8>, u64), SourceError> {
    let mut text = Vec::new();
    let mut first_ns = None;
    for _ in 0..requests {
        let Some(request) = source.next_request()? else { break };
        let ns = request.arrival_ns;
        first_ns.get_or_insert(ns);
        let (sector, sectors) = (request.offset_bytes / 512, request.length_bytes / 512);
        writeln!(text, "{}.{:06} 0 {sector} {sectors} 0", ns / 1_000_000, ns % 1_000_000).expect("memory takes all that is written");
    }
    Ok((text, first_ns.unwrap_or(0)))
}

//! Owners of addresses: the stream of a mix that each page of the array belongs to before the run (rule 221).

use super::{ArrayProperties, OpKind, RequestSource, SourceError, SourceSpec, Stop, WorkloadSpec, open_stoppable_workload};
use flashraid_model::array::OwnedPages;
use std::ops::Range;

/// Number of requests that are read between two calls that ask whether to stop.
const REQUESTS_PER_QUESTION: usize = 1 << 14;

/// Returns the pages of the array that belong to streams of a mix, in order of address. They do not overlap. The list is empty if the
/// workload is no mix.
///
/// The range of a stream reaches from its lowest to its highest address. For a generator it follows from the pattern; a trace is read once
/// in advance. A page in several ranges belongs to the shortest of them, and to the first stream among equals.
///
/// # Errors
/// Returns the errors of traces, and [`SourceError::Stopped`] if the callback in `stop` returns true.
pub fn pages_owned_by_streams(spec: &WorkloadSpec, space: &ArrayProperties, stop: &Stop) -> Result<Vec<OwnedPages>, SourceError> {
    let SourceSpec::Mix(streams) = &spec.source else { return Ok(Vec::new()) };
    let mut ranges: Vec<(Range<u64>, u8)> = Vec::new();
    for (stream, spec) in (0..).zip(streams) {
        if let Some(bytes) = range_of(spec, space, stop)? {
            ranges.push((bytes.start / space.page_bytes..bytes.end.div_ceil(space.page_bytes), stream));
        }
    }
    let mut ends: Vec<u64> = ranges.iter().flat_map(|(pages, _)| [pages.start, pages.end]).collect();
    ends.sort_unstable();
    ends.dedup();
    let mut owned: Vec<OwnedPages> = Vec::new();
    for ends in ends.windows(2) {
        let covering = ranges.iter().filter(|(pages, _)| pages.contains(&ends[0]));
        // The first among equals is returned.
        let Some(&(_, stream)) = covering.min_by_key(|(pages, _)| pages.end - pages.start) else { continue };
        match owned.last_mut() {
            Some(last) if last.pages.end == ends[0] && last.stream == stream => last.pages.end = ends[1],
            _ => owned.push(OwnedPages { pages: ends[0]..ends[1], stream }),
        }
    }
    Ok(owned)
}

/// Returns the range of bytes that the requests of a workload lie in; `None` if it has none.
fn range_of(spec: &WorkloadSpec, space: &ArrayProperties, stop: &Stop) -> Result<Option<Range<u64>>, SourceError> {
    let all = || Some(0..space.capacity_bytes);
    match &spec.source {
        SourceSpec::Synthetic(synthetic) if !spec.transform.scales_addresses() => Ok(Some(synthetic.addresses.range_bytes(space))),
        SourceSpec::Synthetic(_) => Ok(all()),
        // What can be read only once is left to the run.
        SourceSpec::Trace(trace) if !std::fs::metadata(&trace.path).is_ok_and(|file| file.is_file()) => Ok(all()),
        SourceSpec::Trace(trace) => {
            let once = WorkloadSpec { source: SourceSpec::Trace(super::trace::TraceSpec { passes: 1, ..trace.clone() }), ..spec.clone() };
            // Random numbers decide no address of a trace.
            range_of_requests(&mut *open_stoppable_workload(&once, 0, space, stop)?)
        }
        SourceSpec::Mix(streams) => {
            let ranges = streams.iter().map(|stream| range_of(stream, space, stop)).collect::<Result<Vec<_>, _>>()?;
            Ok(ranges.into_iter().flatten().reduce(|a, b| a.start.min(b.start)..a.end.max(b.end)))
        }
    }
}

fn range_of_requests(source: &mut dyn RequestSource) -> Result<Option<Range<u64>>, SourceError> {
    let mut range: Option<Range<u64>> = None;
    let mut requests = Vec::with_capacity(REQUESTS_PER_QUESTION);
    while source.next_requests(&mut requests, REQUESTS_PER_QUESTION)? > 0 {
        for request in requests.drain(..).filter(|request| request.kind != OpKind::Flush) {
            let of_request = request.offset_bytes..request.offset_bytes + request.length_bytes;
            range = Some(range.map_or(of_request.clone(), |all| all.start.min(of_request.start)..all.end.max(of_request.end)));
        }
    }
    Ok(range)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RequestTransformSpec;
    use crate::synthetic::{ArrivalSpec, SyntheticSpec};
    use crate::trace::TraceSpec;
    use flashraid_model::placement::StripeShape;

    const SPACE: ArrayProperties = ArrayProperties {
        capacity_bytes: 1000 * 4096,
        page_bytes: 4096,
        stripe_unit_bytes: 4096,
        stripe_shape: StripeShape::without_parity(4),
    };

    /// Writes to the addresses from the share `from` of the array to the share `until`.
    fn part(from: f64, until: f64) -> WorkloadSpec {
        let addresses = serde_json::json!({
            "pattern": if from > 0.0 { "hot-cold" } else { "uniform" },
            "footprint": until,
        });
        let mut addresses: serde_json::Map<String, serde_json::Value> = serde_json::from_value(addresses).unwrap();
        if from > 0.0 {
            addresses.extend([
                ("request_share".to_owned(), 0.0.into()),
                ("space_share".to_owned(), (from / until).into()),
                ("scatter".to_owned(), false.into()),
            ]);
        }
        let addresses = serde_json::from_value(addresses.into()).unwrap();
        SyntheticSpec { addresses, arrivals: ArrivalSpec::poisson(1000.0), ..SyntheticSpec::random_writes() }.into()
    }

    fn owned(streams: Vec<WorkloadSpec>) -> Vec<(u64, u64, u8)> {
        let mix = WorkloadSpec { source: SourceSpec::Mix(streams), transform: RequestTransformSpec::default() };
        let owned = pages_owned_by_streams(&mix, &SPACE, &Stop::default()).unwrap();
        owned.into_iter().map(|owned| (owned.pages.start, owned.pages.end, owned.stream)).collect()
    }

    #[test]
    fn pages_belong_to_the_stream_with_the_shortest_range() {
        assert_eq!(owned(vec![part(0.0, 0.9), part(0.9, 1.0)]), [(0, 900, 0), (900, 1000, 1)]);
        assert_eq!(
            owned(vec![part(0.0, 1.0), part(0.25, 0.5), part(0.4, 0.8)]),
            [(0, 250, 0), (250, 500, 1), (500, 800, 2), (800, 1000, 0)]
        );
        assert_eq!(owned(vec![part(0.0, 0.5), part(0.0, 0.5)]), [(0, 500, 0)]);
        assert_eq!(owned(vec![part(0.5, 0.75)]), [(500, 750, 0)]);
        assert!(pages_owned_by_streams(&part(0.0, 1.0), &SPACE, &Stop::default()).unwrap().is_empty(), "it is no mix");
    }

    /// Requests lie in the range that the pattern tells, and reach both of its ends.
    #[test]
    fn generators_stay_in_their_ranges() {
        for spec in [part(0.0, 0.3), part(0.3, 0.6), part(0.9, 1.0)] {
            let range = range_of(&spec, &SPACE, &Stop::default()).unwrap().unwrap();
            let mut source = open_stoppable_workload(&spec, 1, &SPACE, &Stop::default()).unwrap();
            let mut requests = Vec::new();
            source.next_requests(&mut requests, 20_000).unwrap();
            let (first, last) = requests.iter().fold((u64::MAX, 0), |(first, last), request| {
                (first.min(request.offset_bytes), last.max(request.offset_bytes + request.length_bytes))
            });
            assert_eq!((first, last), (range.start, range.end));
        }
    }

    #[test]
    fn a_trace_is_read_for_its_range() {
        let mut file = tempfile::NamedTempFile::with_suffix(".spc").unwrap();
        std::io::Write::write_all(&mut file, b"0,160,4096,w,0.000\n0,800,8192,r,0.001\n0,400,4096,w,0.002\n").unwrap();
        let trace = |path: &std::path::Path| WorkloadSpec {
            source: SourceSpec::Trace(TraceSpec::new(path)),
            transform: RequestTransformSpec::default(),
        };
        assert_eq!(owned(vec![part(0.0, 1.0), trace(file.path())]), [(0, 20, 0), (20, 102, 1), (102, 1000, 0)]);
    }
}

//! A workload as plain data, and functions that open it as a stream of requests.

use super::synthetic::{SyntheticSource, SyntheticSpec};
use super::trace::{RepeatedTrace, TraceSpec};
use super::{
    ArrayProperties, MixedSource, RequestSource, RequestTransformSpec, SourceError, SpecProblem, Stop, TransformedSource,
    read_on_separate_thread,
};

/// A workload: a source of requests, and the changes made to them.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkloadSpec {
    /// Source of the requests.
    pub source: SourceSpec,
    /// Changes made to the requests.
    pub transform: RequestTransformSpec,
}

/// Source of a stream of requests.
#[derive(Debug, Clone, PartialEq)]
pub enum SourceSpec {
    /// A generator of synthetic requests.
    Synthetic(SyntheticSpec),
    /// A recorded trace of requests.
    Trace(TraceSpec),
    /// Several streams merged in order of arrival. Their places in the list are the stream numbers of their requests.
    Mix(Vec<WorkloadSpec>),
}

impl From<SyntheticSpec> for WorkloadSpec {
    fn from(spec: SyntheticSpec) -> Self {
        Self { source: SourceSpec::Synthetic(spec), transform: RequestTransformSpec::default() }
    }
}

impl WorkloadSpec {
    /// Returns all problems of the workload in the address space `space`. The list is empty if it can be opened. Problems that only reading
    /// a trace can show are not included.
    pub fn problems(&self, space: &ArrayProperties) -> Vec<SpecProblem> {
        let mut problems = match &self.source {
            SourceSpec::Synthetic(spec) => spec.problems(space),
            SourceSpec::Trace(_) => Vec::new(),
            SourceSpec::Mix(streams) => mix_problems(streams, space),
        };
        problems.extend(self.transform.problems(self.is_closed_loop()).into_iter().map(|p| p.below("transform")));
        problems
    }

    /// Returns true if the workload is a closed loop.
    pub fn is_closed_loop(&self) -> bool {
        matches!(&self.source, SourceSpec::Synthetic(spec) if spec.arrivals.is_closed_loop())
    }

    /// Returns the workload without its settings for times and priorities; it makes the same requests in the same order. Workloads that
    /// differ only in these settings are equal afterwards.
    ///
    /// Times may decide which requests there are: with a window of time, or if several streams are merged by time. The workload then
    /// stays as it is.
    #[must_use]
    pub fn without_times_and_priorities(&self) -> Self {
        let Self { source, transform } = self;
        if transform.start_ns != 0 || transform.limit_ns.is_some() {
            return self.clone();
        }
        let source = match source {
            SourceSpec::Synthetic(spec) => SourceSpec::Synthetic(spec.without_times_and_priorities()),
            SourceSpec::Trace(_) => source.clone(),
            SourceSpec::Mix(_) => return self.clone(),
        };
        Self { source, transform: RequestTransformSpec { rate_scale: 1.0, high_priority_fraction: 0.0, ..transform.clone() } }
    }
}

fn mix_problems(streams: &[WorkloadSpec], space: &ArrayProperties) -> Vec<SpecProblem> {
    let mut problems = Vec::new();
    if streams.is_empty() || streams.len() > MixedSource::STREAMS_MAX {
        problems.push(SpecProblem::new("mix", format!("has {} streams; 1 to {} are allowed", streams.len(), MixedSource::STREAMS_MAX)));
    }
    for (index, stream) in streams.iter().enumerate() {
        let place = format!("mix[{index}]");
        if stream.is_closed_loop() {
            problems.push(SpecProblem::new(&place, "is a closed loop, but streams are merged by time of arrival; give it a rate".into()));
        }
        problems.extend(stream.problems(space).into_iter().map(|p| p.below(&place)));
    }
    problems
}

/// Opens a workload in the address space `space`. Every random choice comes from streams of `seed`.
///
/// # Errors
/// Returns [`SourceError::InvalidInput`] if the specification has problems, and names all of them, or if a trace cannot be read.
pub fn open_workload(spec: &WorkloadSpec, seed: u64, space: &ArrayProperties) -> Result<Box<dyn RequestSource>, SourceError> {
    open_stoppable_workload(spec, seed, space, &Stop::default())
}

/// Opens a workload like [`open_workload`], in such a way that long operations can be stopped, such as a pass over a whole trace. An
/// operation ends with an error soon after the callback in `stop` returns true. This holds while the workload is opened, and later when
/// its requests are read.
///
/// # Errors
/// Returns the errors of [`open_workload`], and [`SourceError::Stopped`] if the callback in `stop` returns true.
pub fn open_stoppable_workload(
    spec: &WorkloadSpec,
    seed: u64,
    space: &ArrayProperties,
    stop: &Stop,
) -> Result<Box<dyn RequestSource>, SourceError> {
    let problems = spec.problems(space);
    if !problems.is_empty() {
        let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
        return Err(SourceError::InvalidInput(format!("workload: {}", lines.join("; "))));
    }
    open_checked(spec, seed, space, stop)
}

/// Opens a workload like [`open_stoppable_workload`], but a separate thread reads traces ahead. The requests are the same.
///
/// # Errors
/// Returns the same errors as [`open_stoppable_workload`].
pub fn open_workload_read_ahead(
    spec: &WorkloadSpec,
    seed: u64,
    space: &ArrayProperties,
    stop: &Stop,
) -> Result<Box<dyn RequestSource>, SourceError> {
    match &spec.source {
        SourceSpec::Trace(trace) if spec.problems(space).is_empty() => {
            Ok(read_on_separate_thread(Box::new(open_trace(trace, spec, seed, space, stop)?)))
        }
        _ => open_stoppable_workload(spec, seed, space, stop),
    }
}

/// Opens a trace with the changes to its requests. The types of both are known to the compiler.
fn open_trace(
    trace: &TraceSpec,
    spec: &WorkloadSpec,
    seed: u64,
    space: &ArrayProperties,
    stop: &Stop,
) -> Result<TransformedSource<RepeatedTrace>, SourceError> {
    TransformedSource::open(&spec.transform, seed, space, stop, || RepeatedTrace::open(trace, stop))
}

/// Opens a specification that has no problems.
fn open_checked(spec: &WorkloadSpec, seed: u64, space: &ArrayProperties, stop: &Stop) -> Result<Box<dyn RequestSource>, SourceError> {
    let open_source = || open_source(&spec.source, seed, space, stop);
    if spec.transform.changes_nothing() && spec.source.stays_inside() {
        return open_source();
    }
    match &spec.source {
        SourceSpec::Trace(trace) => Ok(Box::new(open_trace(trace, spec, seed, space, stop)?)),
        _ => Ok(Box::new(TransformedSource::open(&spec.transform, seed, space, stop, open_source)?)),
    }
}

impl SourceSpec {
    /// Returns true if no request can lie outside the address space.
    fn stays_inside(&self) -> bool {
        !matches!(self, Self::Trace(_))
    }
}

fn open_source(source: &SourceSpec, seed: u64, space: &ArrayProperties, stop: &Stop) -> Result<Box<dyn RequestSource>, SourceError> {
    match source {
        SourceSpec::Synthetic(spec) => Ok(Box::new(SyntheticSource::new(spec, seed, space))),
        SourceSpec::Trace(spec) => Ok(Box::new(RepeatedTrace::open(spec, stop)?)),
        SourceSpec::Mix(streams) => {
            let open_stream =
                |(index, stream)| open_checked(stream, flashraid_model::rng::derive_seed(seed, "workload.mix", index as u64), space, stop);
            Ok(Box::new(MixedSource::new(streams.iter().enumerate().map(open_stream).collect::<Result<_, _>>()?)?))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AddressFit;
    use crate::synthetic::{ArrivalSpec, SizeSpec};
    use flashraid_model::placement::StripeShape;

    const SPACE: ArrayProperties = ArrayProperties {
        capacity_bytes: 1 << 30,
        page_bytes: 4096,
        stripe_unit_bytes: 4096,
        stripe_shape: StripeShape::without_parity(4),
    };

    fn poisson(per_second: f64) -> WorkloadSpec {
        SyntheticSpec { arrivals: ArrivalSpec::poisson(per_second), ..SyntheticSpec::random_writes() }.into()
    }

    fn mix(streams: Vec<WorkloadSpec>) -> WorkloadSpec {
        WorkloadSpec { source: SourceSpec::Mix(streams), transform: RequestTransformSpec::default() }
    }

    #[test]
    fn all_problems_are_named_at_once() {
        let broken = SyntheticSpec { read_fraction: 2.0, write_size: SizeSpec::fixed(0), ..SyntheticSpec::random_writes() };
        let inner =
            WorkloadSpec { transform: RequestTransformSpec { size_scale: 0.0, ..RequestTransformSpec::default() }, ..broken.into() };
        let message = open_workload(&mix(vec![poisson(1.0), inner]), 1, &SPACE).err().unwrap().to_string();
        for key in ["mix[1]: is a closed loop", "mix[1].read_fraction", "mix[1].write_size:", "mix[1].transform.size_scale"] {
            assert!(message.contains(key), "{key} in {message}");
        }
        assert_eq!(mix(vec![]).problems(&SPACE)[0].key, "mix");
    }

    fn trace(file: &tempfile::NamedTempFile, address_fit: AddressFit) -> WorkloadSpec {
        let transform = RequestTransformSpec { address_fit, ..RequestTransformSpec::default() };
        WorkloadSpec { source: SourceSpec::Trace(TraceSpec::new(file.path())), transform }
    }

    /// Addresses beyond the array are refused with their line, or made to fit, in a trace alone and in a mix.
    #[test]
    fn traces_are_fitted_to_the_array() {
        let mut file = tempfile::NamedTempFile::with_suffix(".spc").unwrap();
        std::io::Write::write_all(&mut file, b"0,8,4096,w,0.000\n0,24,4096,r,0.001\n0,4194304,4096,w,0.002\n").unwrap();
        let mut refused = open_workload(&trace(&file, AddressFit::Error), 1, &SPACE).unwrap();
        let message = refused.next_requests(&mut Vec::new(), 9).unwrap_err().to_string();
        assert!(message.contains("line 3: 4096 bytes at byte 2147483648") && message.contains("1073741824 bytes"), "{message}");

        let offsets = |spec: &WorkloadSpec| {
            let mut requests = Vec::new();
            open_workload(spec, 1, &SPACE).unwrap().next_requests(&mut requests, 9).unwrap();
            requests.iter().map(|r| (r.stream, r.offset_bytes)).collect::<Vec<_>>()
        };
        assert_eq!(offsets(&trace(&file, AddressFit::Wrap)), [(0, 4096), (0, 12_288), (0, 0)]);
        // The trace covers 2 GiB and a page, the array 1 GiB, so that page numbers are halved.
        let scaled = trace(&file, AddressFit::Scale { source_extent_bytes: None });
        assert_eq!(offsets(&scaled), [(0, 0), (0, 4096), (0, (1 << 30) - 4096)]);
        assert_eq!(offsets(&mix(vec![trace(&file, AddressFit::Wrap), scaled]))[..3], [(0, 4096), (1, 0), (0, 12_288)]);
    }

    /// The written data do not depend on arrivals and priorities, except in a window of time and in a mix.
    #[test]
    fn without_times_the_requests_are_the_same() {
        let file = tempfile::NamedTempFile::with_suffix(".spc").unwrap();
        std::fs::write(&file, b"0,8,4096,w,0.000\n0,24,4096,r,0.001\n0,64,4096,w,0.002\n").unwrap();
        let bursts = SyntheticSpec {
            read_fraction: 0.3,
            high_priority_fraction: 0.5,
            sequential_gap: Some(crate::quantities::MeanRequestInterval { ns: 5e5 }),
            addresses: crate::synthetic::AddressSpec { sequential_fraction: 0.4, ..crate::synthetic::AddressSpec::default() },
            ..SyntheticSpec { arrivals: ArrivalSpec::poisson(50.0), ..SyntheticSpec::random_writes() }
        };
        let faster =
            RequestTransformSpec { rate_scale: 7.0, size_scale: 2.0, high_priority_fraction: 0.1, ..RequestTransformSpec::default() };
        for timed in [bursts.clone().into(), WorkloadSpec { transform: faster, ..bursts.clone().into() }, trace(&file, AddressFit::Error)] {
            let written = |spec: &WorkloadSpec| {
                let mut requests = Vec::new();
                open_workload(spec, 3, &SPACE).unwrap().next_requests(&mut requests, 1000).unwrap();
                requests.iter().map(|r| (r.kind, r.offset_bytes, r.length_bytes)).collect::<Vec<_>>()
            };
            let untimed = timed.without_times_and_priorities();
            assert_eq!(written(&timed), written(&untimed));
            assert_eq!(untimed.without_times_and_priorities(), untimed);
        }
        let other = SyntheticSpec { arrivals: ArrivalSpec::poisson(99.0), sequential_gap: None, ..bursts.clone() };
        assert_eq!(
            WorkloadSpec::from(other).without_times_and_priorities(),
            WorkloadSpec::from(bursts.clone()).without_times_and_priorities()
        );

        let window =
            WorkloadSpec { transform: RequestTransformSpec { limit_ns: Some(9), ..RequestTransformSpec::default() }, ..bursts.into() };
        let mixed = mix(vec![poisson(1.0), poisson(2.0)]);
        assert_eq!((window.without_times_and_priorities(), mixed.without_times_and_priorities()), (window, mixed));
    }

    /// Streams of a mix, and their changes, are independent of each other. Each has its own seed.
    #[test]
    fn streams_of_a_mix_differ() {
        let doubled = RequestTransformSpec { rate_scale: 2.0, limit_requests: Some(2000), ..RequestTransformSpec::default() };
        let streams = vec![poisson(1000.0), WorkloadSpec { transform: doubled, ..poisson(1000.0) }];
        let mut source = open_workload(&mix(streams), 1, &SPACE).unwrap();
        let mut requests = Vec::new();
        source.next_requests(&mut requests, 4000).unwrap();
        assert!(requests.is_sorted_by_key(|r| r.arrival_ns));
        let second: Vec<_> = requests.iter().filter(|r| r.stream == 1).collect();
        assert_eq!(second.len(), 2000);
        let seconds = second[1999].arrival_ns as f64 / 1e9;
        assert!((seconds - 1.0).abs() < 4.0 / 2000_f64.sqrt(), "{seconds}");
        let first: Vec<_> = requests.iter().filter(|r| r.stream == 0).collect();
        assert!(first.iter().zip(&second).all(|(a, b)| a.offset_bytes != b.offset_bytes));
    }
}

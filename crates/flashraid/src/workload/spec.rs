//! A workload as plain data, and how it becomes a stream of requests.

use serde::{Deserialize, Serialize};

use super::synthetic::{Synthetic, SyntheticSpec};
use super::{AddressSpace, Mix, Source, SourceError, Transform, TransformSpec};

/// Where requests come from and what is done to them on the way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WorkloadSpec {
    /// Where requests come from.
    pub source: SourceSpec,
    /// What is done to them.
    pub transform: TransformSpec,
}

/// Where requests come from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SourceSpec {
    /// A generator.
    Synthetic(SyntheticSpec),
    /// Several streams merged in order of arrival; their place in the list is the stream number of their requests.
    Mix(Vec<WorkloadSpec>),
}

impl From<SyntheticSpec> for WorkloadSpec {
    fn from(spec: SyntheticSpec) -> Self {
        Self { source: SourceSpec::Synthetic(spec), transform: TransformSpec::default() }
    }
}

/// Something in a specification that can't be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpecProblem {
    /// The setting, as a path of field names such as `address.footprint`.
    pub key: String,
    /// What was found, what is allowed.
    pub message: String,
}

impl std::fmt::Display for SpecProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.key, self.message)
    }
}

impl WorkloadSpec {
    /// Everything that keeps it from being opened over `space`; empty if it can be.
    /// What only reading a trace can show is not among it.
    pub fn problems(&self, space: &AddressSpace) -> Vec<SpecProblem> {
        let mut problems = match &self.source {
            SourceSpec::Synthetic(spec) => spec.problems(space),
            SourceSpec::Mix(streams) => mix_problems(streams, space),
        };
        problems.extend(self.transform.problems(self.is_closed()).into_iter().map(|p| p.below("transform")));
        problems
    }

    /// Whether it is a closed loop.
    pub fn is_closed(&self) -> bool {
        matches!(&self.source, SourceSpec::Synthetic(spec) if spec.arrivals.is_closed())
    }
}

fn mix_problems(streams: &[WorkloadSpec], space: &AddressSpace) -> Vec<SpecProblem> {
    let mut problems = Vec::new();
    if streams.is_empty() || streams.len() > Mix::STREAMS_MAX {
        problems.push(SpecProblem::new("mix", format!("has {} streams; 1 to {} are allowed", streams.len(), Mix::STREAMS_MAX)));
    }
    for (index, stream) in streams.iter().enumerate() {
        let place = format!("mix[{index}]");
        if stream.is_closed() {
            problems.push(SpecProblem::new(&place, "is a closed loop, but streams are merged by time of arrival; give it a rate".into()));
        }
        problems.extend(stream.problems(space).into_iter().map(|p| p.below(&place)));
    }
    problems
}

impl SpecProblem {
    pub(super) fn new(key: &str, message: String) -> Self {
        Self { key: key.to_owned(), message }
    }

    /// The same problem, seen from one level up.
    pub(super) fn below(self, parent: &str) -> Self {
        Self { key: format!("{parent}.{}", self.key), message: self.message }
    }
}

/// Opens a workload over `space`; every random choice comes from streams of `seed`.
///
/// # Errors
/// [`SourceError::Input`] if the specification has problems (all of them are named) or a trace can't be read.
pub fn open(spec: &WorkloadSpec, seed: u64, space: &AddressSpace) -> Result<Box<dyn Source>, SourceError> {
    let problems = spec.problems(space);
    if !problems.is_empty() {
        let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
        return Err(SourceError::Input(format!("workload: {}", lines.join("; "))));
    }
    open_checked(spec, seed, space)
}

/// Opens a specification without problems.
fn open_checked(spec: &WorkloadSpec, seed: u64, space: &AddressSpace) -> Result<Box<dyn Source>, SourceError> {
    let open_source = || open_source(&spec.source, seed, space);
    if spec.transform.is_identity() && spec.source.stays_inside() {
        return open_source();
    }
    Ok(Box::new(Transform::open(&spec.transform, space, open_source)?))
}

impl SourceSpec {
    /// Whether its requests are inside the address space by construction.
    fn stays_inside(&self) -> bool {
        matches!(self, Self::Synthetic(_) | Self::Mix(_))
    }
}

fn open_source(source: &SourceSpec, seed: u64, space: &AddressSpace) -> Result<Box<dyn Source>, SourceError> {
    match source {
        SourceSpec::Synthetic(spec) => Ok(Box::new(Synthetic::new(spec, seed, space))),
        SourceSpec::Mix(streams) => {
            let open_stream = |(index, stream)| open_checked(stream, crate::rng::seed_of(seed, "workload.mix", index as u64), space);
            Ok(Box::new(Mix::new(streams.iter().enumerate().map(open_stream).collect::<Result<_, _>>()?)?))
        }
    }
}

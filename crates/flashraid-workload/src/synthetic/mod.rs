//! Generated workloads: arrivals, directions, sizes, addresses and priorities, each drawn from its own random stream.
//!
//! A change of one of them leaves the others as they were. For example, the same requests then come at other times, or have other sizes at
//! the same places. Requests are made in batches, one property after another, so that choices of the specification are made once per batch.

pub mod addresses;
pub mod arrivals;
mod generators;
pub mod sizes;

use std::num::NonZeroU64;

use self::addresses::AddressGenerator;
use self::arrivals::{ArrivalGenerator, NEVER};
use self::sizes::SizeGenerator;
use super::{ArrayProperties, HostLoop, OpKind, Request, RequestSource, SourceError, SpecProblem};
use crate::quantities::MeanRequestInterval;
use flashraid_model::rng::{self, RandomStream};

pub use self::addresses::{AddressDistribution, AddressSpec, Footprint, HotMember};
pub use self::arrivals::ArrivalSpec;
pub use self::sizes::SizeSpec;

/// Settings of a generated workload.
#[derive(Debug, Clone, PartialEq)]
pub struct SyntheticSpec {
    /// Process by which requests arrive.
    pub arrivals: ArrivalSpec,
    /// Share of reads among the requests, 0 to 1.
    pub read_fraction: f64,
    /// Distribution of the sizes of reads.
    pub read_size: SizeSpec,
    /// Distribution of the sizes of writes.
    pub write_size: SizeSpec,
    /// Distribution of the addresses.
    pub addresses: AddressSpec,
    /// Share of writes that must not wait for garbage collection, 0 to 1.
    pub high_priority_fraction: f64,
    /// Number of writes after which the host flushes, when the last of them is done. With `None`, it does not.
    pub writes_per_flush: Option<NonZeroU64>,
    /// True for writes with "force unit access", which are done only when they are safe from a loss of power.
    pub fua: bool,
    /// Longest time between the arrivals of a sequential request and of the request before it. A sequential request starts at the
    /// address where the one before ended. Such times are drawn uniformly from 0, as in DiskSim's generator. With `None`, they are
    /// drawn like the times before other requests.
    pub sequential_gap: Option<MeanRequestInterval>,
}

impl SyntheticSpec {
    /// Returns a workload of uniformly random 4 KiB writes with a queue depth of 32.
    pub fn random_writes() -> Self {
        Self {
            arrivals: arrivals::Closed::with_depth(32).into(),
            read_fraction: 0.0,
            read_size: SizeSpec::fixed(4096),
            write_size: SizeSpec::fixed(4096),
            addresses: AddressSpec::default(),
            high_priority_fraction: 0.0,
            writes_per_flush: None,
            fua: false,
            sequential_gap: None,
        }
    }

    /// Returns the same workload with reads and writes of these sizes.
    #[must_use]
    pub fn with_sizes(self, read_size: SizeSpec, write_size: SizeSpec) -> Self {
        Self { read_size, write_size, ..self }
    }

    /// Returns a workload with the same requests in the same order, but without their arrival times and high priorities. The host
    /// sends each request when the one before is done.
    #[must_use]
    pub fn without_times_and_priorities(&self) -> Self {
        Self {
            arrivals: arrivals::Closed::with_depth(1).into(),
            sequential_gap: None,
            high_priority_fraction: 0.0,
            writes_per_flush: None,
            fua: false,
            ..self.clone()
        }
    }

    /// Returns all problems of these settings for a workload on the address space `space`. The list is empty if the workload can be
    /// generated.
    pub fn problems(&self, space: &ArrayProperties) -> Vec<SpecProblem> {
        let mut problems = Vec::new();
        for (key, share) in [("read_fraction", self.read_fraction), ("high_priority_fraction", self.high_priority_fraction)] {
            check_share(&mut problems, key, share);
        }
        if let Some(MeanRequestInterval { ns }) = self.sequential_gap {
            if self.arrivals.is_closed_loop() {
                problems.push(SpecProblem::new("sequential_gap", "is a gap between arrivals; a closed loop has none".to_owned()));
            } else if !(ns > 0.0 && ns.is_finite()) {
                problems.push(SpecProblem::new("sequential_gap", format!("is {ns}; more than 0 is allowed")));
            }
        }
        let parts = [
            ("arrivals", self.arrivals.problems()),
            ("read_size", self.read_size.problems(space, self.addresses.footprint_bytes(space))),
            ("write_size", self.write_size.problems(space, self.addresses.footprint_bytes(space))),
            ("address", self.addresses.problems(space)),
        ];
        problems.extend(parts.into_iter().flat_map(|(key, part)| part.into_iter().map(move |problem| problem.below(key))));
        problems
    }
}

fn check_share(problems: &mut Vec<SpecProblem>, key: &str, share: f64) {
    if !(0.0..=1.0).contains(&share) {
        problems.push(SpecProblem::new(key, format!("is {share}; 0 to 1 is allowed")));
    }
}

/// Generator of the requests that a [`SyntheticSpec`] describes. It never runs out of requests.
pub struct SyntheticSource {
    arrivals: ArrivalGenerator,
    directions: Chance,
    sizes: SizeGenerator,
    addresses: AddressGenerator,
    priorities: Chance,
    writes_per_flush: Option<NonZeroU64>,
    fua: bool,
    /// Positions of the sequential requests in a batch, which start where the one before ended.
    continues: Vec<usize>,
    /// Requests made in advance for [`RequestSource::next_request`], and the number of those already returned.
    ahead: Vec<Request>,
    given: usize,
}

/// Number of requests made at a time. It is small enough for the first-level cache, and large enough to spread the cost of choices made
/// once.
const BATCH: usize = 256;

impl SyntheticSource {
    /// Returns a generator of the requests that `spec` describes. `spec` must have no problems on the address space `space` (see
    /// [`SyntheticSpec::problems`]).
    pub fn new(spec: &SyntheticSpec, seed: u64, space: &ArrayProperties) -> Self {
        debug_assert!(spec.problems(space).is_empty());
        Self {
            arrivals: ArrivalGenerator::new(&spec.arrivals, spec.sequential_gap, seed),
            directions: Chance::new(spec.read_fraction, seed, "workload.direction"),
            sizes: SizeGenerator::new(&spec.read_size, &spec.write_size, seed, space, spec.addresses.footprint_bytes(space)),
            addresses: AddressGenerator::new(&spec.addresses, seed, space),
            priorities: Chance::new(spec.high_priority_fraction, seed, "workload.priority"),
            writes_per_flush: spec.writes_per_flush,
            fua: spec.fua,
            continues: Vec::new(),
            ahead: Vec::with_capacity(BATCH),
            given: 0,
        }
    }

    fn generate(&mut self, batch: &mut [Request]) {
        self.directions.for_each(batch, |request, is_read| request.kind = if is_read { OpKind::Read } else { OpKind::Write });
        self.sizes.fill(batch);
        self.addresses.fill(batch, &mut self.continues);
        self.arrivals.fill(batch, &self.continues);
        self.priorities.for_each(batch, |request, is_high| request.high_priority = is_high && request.kind == OpKind::Write);
        if self.fua {
            batch.iter_mut().for_each(|request| request.fua = request.kind == OpKind::Write);
        }
    }
}

fn too_late() -> SourceError {
    SourceError::InvalidInput(
        "the next request arrives after the end of simulated time (2^62 ns, 146 years): make the gaps of workload.arrivals shorter, \
         workload.rate_scale greater, or end the run earlier (workload.requests, workload.duration)"
            .to_owned(),
    )
}

/// A request whose properties have not been drawn.
const BLANK: Request = Request {
    arrival_ns: 0,
    offset_bytes: 0,
    length_bytes: 0,
    kind: OpKind::Write,
    fua: false,
    zeroes: false,
    high_priority: false,
    stream: 0,
    contiguous_on_one_member: false,
};

impl RequestSource for SyntheticSource {
    fn next_request(&mut self) -> Result<Option<Request>, SourceError> {
        if self.given == self.ahead.len() {
            let mut ahead = std::mem::take(&mut self.ahead);
            ahead.resize(BATCH, BLANK);
            self.generate(&mut ahead);
            self.ahead = ahead;
            self.given = 0;
        }
        let request = self.ahead[self.given];
        if request.arrival_ns == NEVER {
            return Err(too_late());
        }
        self.given += 1;
        Ok(Some(request))
    }

    fn next_requests(&mut self, out: &mut Vec<Request>, n: usize) -> Result<usize, SourceError> {
        let waiting = &self.ahead[self.given..];
        let from_ahead = waiting.len().min(n);
        out.extend_from_slice(&waiting[..from_ahead]);
        self.given += from_ahead;

        let start = out.len();
        out.resize(start + n - from_ahead, BLANK);
        for batch in out[start..].chunks_mut(BATCH) {
            self.generate(batch);
        }
        // Arrivals are in order, so that one look is enough until simulated time ends.
        if out.last().is_some_and(|last| last.arrival_ns == NEVER) {
            out.truncate(out.partition_point(|request| request.arrival_ns != NEVER));
            return Err(too_late());
        }
        Ok(n)
    }

    fn host_loop(&self) -> HostLoop {
        self.arrivals.host_loop()
    }

    fn writes_per_flush(&self, _stream: u8) -> Option<NonZeroU64> {
        self.writes_per_flush
    }
}

/// Random draws for a property that each request has with a given probability.
struct Chance {
    stream: RandomStream,
    probability: f64,
}

impl Chance {
    fn new(probability: f64, seed: u64, label: &str) -> Self {
        Self { stream: rng::stream(seed, label, 0), probability }
    }

    fn for_each(&mut self, batch: &mut [Request], mut set: impl FnMut(&mut Request, bool)) {
        if self.probability <= 0.0 || self.probability >= 1.0 {
            batch.iter_mut().for_each(|request| set(request, self.probability >= 1.0));
        } else {
            batch.iter_mut().for_each(|request| set(request, rng::chance(&mut self.stream, self.probability)));
        }
    }
}

#[cfg(test)]
mod tests;

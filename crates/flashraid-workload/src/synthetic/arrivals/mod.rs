//! Arrivals of requests. Each process is one file, with the parameters that users write.
//!
//! To add a process, write its file and add a line to the list below. Configuration, schema and reference follow from the list.

use super::generators::generators;
use crate::quantities::MeanRequestInterval;
use crate::{HostLoop, Request, SpecProblem};
use flashraid_model::events::TIME_MAX_NS;
use flashraid_model::rng::{self, RandomStream};

generators! {
    /// The process by which requests arrive.
    pub enum ArrivalSpec: Arrival, tag "process" {
        poisson::Poisson,
        poisson_ticks::PoissonTicks,
        fixed::Fixed,
        bursts::Bursts,
        markov_modulated::MarkovModulated,
        closed::Closed,
    }
}

/// A process of arrivals.
trait Arrival {
    /// Adds the problems of its parameters to `problems`.
    fn problems(&self, problems: &mut Problems);

    /// Returns the mean number of requests per second over a long time, or `None` for a closed loop.
    fn mean_per_second(&self) -> Option<f64>;

    /// Returns the index of dispersion of the number of arrivals (variance / mean) in long windows, or `None` for a closed loop. It is 1
    /// for Poisson arrivals, and greater for burstier ones.
    fn dispersion(&self) -> Option<f64>;

    /// Returns the mean time from the first to the last of `requests` requests, in nanoseconds.
    fn mean_span_ns(&self, requests: u64) -> f64 {
        self.mean_per_second().map_or(0.0, |per_second| requests.saturating_sub(1) as f64 * 1e9 / per_second)
    }

    /// Returns the rule by which the host sends the requests: at given times (open loop), or in reply to answers (closed loop).
    fn host_loop(&self) -> HostLoop {
        HostLoop::Open
    }

    /// Returns a generator of the gaps between requests. Random numbers that do not come from the common stream of gaps come from streams
    /// of its own, made from `seed`.
    fn gaps(&self, seed: u64) -> Box<dyn Gaps>;
}

/// Generator of the gaps between requests.
trait Gaps: Send {
    /// Draws the next gaps, in nanoseconds.
    fn draw(&mut self, stream: &mut RandomStream, gaps_ns: &mut [f64]);
}

/// Collects the problems of a process.
struct Problems(Vec<SpecProblem>);

impl Problems {
    fn gap(&mut self, key: &str, gap: MeanRequestInterval) {
        self.require(key, gap.ns, gap.ns > 0.0, "more than 0");
    }

    fn require(&mut self, key: &str, value: f64, is_allowed: bool, allowed: &str) {
        if !(is_allowed && value.is_finite()) {
            self.0.push(SpecProblem::new(key, format!("is {value}; {allowed} is allowed")));
        }
    }
}

impl ArrivalSpec {
    /// Returns Poisson arrivals at this rate.
    pub fn poisson(per_second: f64) -> Self {
        Poisson::from_rate(per_second).into()
    }

    /// Returns true if each request waits for an earlier one to end, instead of coming at a given time.
    pub fn is_closed_loop(&self) -> bool {
        self.law().host_loop() != HostLoop::Open
    }

    /// Returns the mean number of requests per second over a long time, or `None` for a closed loop.
    pub fn mean_per_second(&self) -> Option<f64> {
        self.law().mean_per_second()
    }

    /// Returns the index of dispersion of the number of arrivals (variance / mean) in long windows, or `None` for a closed loop. It is 1
    /// for Poisson arrivals, and greater for burstier ones.
    pub fn index_of_dispersion(&self) -> Option<f64> {
        self.law().dispersion()
    }

    /// Returns the mean time from the first to the last of `requests` requests, in nanoseconds. For a closed loop, only the pauses of
    /// the host before new requests (think times) count, as if answers took no time.
    pub fn mean_span_ns(&self, requests: u64) -> f64 {
        self.law().mean_span_ns(requests)
    }

    pub(super) fn problems(&self) -> Vec<SpecProblem> {
        let mut problems = Problems(Vec::new());
        self.law().problems(&mut problems);
        problems.0
    }
}

/// Generator of arrival times for a specification.
pub(super) struct ArrivalGenerator {
    host_loop: HostLoop,
    clock: Clock,
    stream: RandomStream,
    gaps: Box<dyn Gaps>,
    /// Greatest gap before a sequential request, and the random stream of such gaps; `None` if they are drawn like other gaps.
    sequential: Option<(f64, RandomStream)>,
    /// Gaps of a batch, before they are added up to times.
    batch_gaps_ns: Vec<f64>,
}

/// Arrival time of requests that would come after the last moment of simulated time.
pub(super) const NEVER: u64 = u64::MAX;

/// Time of the last arrival. Fractions of nanoseconds are kept, so that gaps add up without drift, however long the run is.
#[derive(Default)]
struct Clock {
    now_ns: u64,
    fraction_ns: f64,
}

impl Clock {
    /// Sets the arrival of `request` to `gap_ns` after the one before.
    #[inline]
    fn arrive(&mut self, gap_ns: f64, request: &mut Request) {
        let exact_ns = self.fraction_ns + gap_ns;
        // A gap too long for an integer becomes the greatest one, and no request comes after it.
        let whole_ns = exact_ns as u64;
        self.now_ns = match self.now_ns.checked_add(whole_ns) {
            Some(now_ns) if now_ns <= TIME_MAX_NS => now_ns,
            _ => NEVER,
        };
        self.fraction_ns = exact_ns - whole_ns as f64;
        request.arrival_ns = self.now_ns;
    }
}

impl ArrivalGenerator {
    pub(super) fn new(spec: &ArrivalSpec, sequential_gap: Option<MeanRequestInterval>, seed: u64) -> Self {
        Self {
            host_loop: spec.law().host_loop(),
            clock: Clock::default(),
            stream: rng::stream(seed, "workload.arrival", 0),
            gaps: spec.law().gaps(seed),
            sequential: sequential_gap.map(|most| (most.ns, rng::stream(seed, "workload.arrival.sequential", 0))),
            batch_gaps_ns: Vec::new(),
        }
    }

    pub(super) fn host_loop(&self) -> HostLoop {
        self.host_loop
    }

    /// Sets the arrival times of a batch. `continues` holds the positions of the sequential requests, which start where the one before
    /// ended.
    ///
    /// A gap is drawn for every request, so that special gaps for some requests do not change those of the others.
    pub(super) fn fill(&mut self, batch: &mut [Request], continues: &[usize]) {
        let Self { clock, stream, gaps, sequential, batch_gaps_ns, .. } = self;
        batch_gaps_ns.resize(batch.len(), 0.0);
        gaps.draw(stream, batch_gaps_ns);
        if let Some((most_ns, stream)) = sequential {
            for position in continues {
                batch_gaps_ns[*position] = *most_ns * rng::uniform(stream);
            }
        }
        batch.iter_mut().zip(&*batch_gaps_ns).for_each(|(request, gap_ns)| clock.arrive(*gap_ns, request));
    }
}

//! When requests arrive.

use serde::{Deserialize, Serialize};

use crate::{HostLoop, Request, SpecProblem};
use flashraid_model::events::TIME_MAX_NS;
use flashraid_model::rng::{self, Stream};

/// The arrival process.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "process", rename_all = "kebab-case")]
pub enum ArrivalSpec {
    /// Independent exponential gaps.
    Poisson {
        /// Mean gap in nanoseconds.
        mean_gap_ns: f64,
    },
    /// Independent gaps, each a Poisson-distributed number of whole ticks: what DiskSim's generator draws by its law `poisson`.
    PoissonTicks {
        /// Mean gap in nanoseconds.
        mean_gap_ns: f64,
        /// A tick in nanoseconds; a mean gap has at most [`TICKS_MAX`] of them.
        tick_ns: f64,
    },
    /// Equal gaps.
    Fixed {
        /// The gap in nanoseconds.
        gap_ns: f64,
    },
    /// Bursts of Poisson arrivals with an idle gap after each (GGC Table 9).
    Bursts {
        /// Mean gap in nanoseconds over bursts and idle gaps together.
        mean_gap_ns: f64,
        /// How many times faster requests come inside a burst, at least 1.
        factor: f64,
        /// Requests in a burst.
        burst_requests: u64,
        /// Leaves the idle gaps out, so that the mean rate rises by `factor` (the literal rates of the table).
        mean_rate_scaled: bool,
    },
    /// A two-state Markov-modulated Poisson process: a busy and a quiet state, each with a rate of its own, each lasting an exponential time.
    MarkovModulated {
        /// Mean gap in nanoseconds over both states.
        mean_gap_ns: f64,
        /// Rate in the busy state / rate in the quiet one, at least 1.
        rate_ratio: f64,
        /// Share of time in the busy state, above 0 and below 1.
        busy_share: f64,
        /// Mean duration of a busy state in nanoseconds.
        mean_burst_ns: f64,
    },
    /// A new request as soon as one of `depth` is done.
    Closed {
        /// Outstanding requests, at least 1.
        depth: u32,
        /// Pause between the end of a request and the issue of the one that takes its place, in nanoseconds.
        think_ns: u64,
    },
}

/// The most ticks of a mean gap of [`ArrivalSpec::PoissonTicks`]; with more the gaps are as good as equal, and drawing them takes long.
pub const TICKS_MAX: f64 = 500.0;

impl ArrivalSpec {
    /// Poisson arrivals at this rate.
    pub fn poisson(per_second: f64) -> Self {
        Self::Poisson { mean_gap_ns: 1e9 / per_second }
    }

    /// Whether requests wait for earlier ones rather than for a time.
    pub fn is_closed(&self) -> bool {
        matches!(self, Self::Closed { .. })
    }

    /// Requests per second in the long run; `None` for a closed loop.
    pub fn mean_per_second(&self) -> Option<f64> {
        match *self {
            Self::Bursts { mean_gap_ns, factor, mean_rate_scaled: true, .. } => Some(1e9 * factor / mean_gap_ns),
            Self::Poisson { mean_gap_ns }
            | Self::PoissonTicks { mean_gap_ns, .. }
            | Self::Bursts { mean_gap_ns, .. }
            | Self::MarkovModulated { mean_gap_ns, .. } => Some(1e9 / mean_gap_ns),
            Self::Fixed { gap_ns } => Some(1e9 / gap_ns),
            Self::Closed { .. } => None,
        }
    }

    /// The index of dispersion of the number of arrivals (variance / mean) in long windows: 1 for Poisson arrivals, more the burstier.
    /// `None` for a closed loop.
    pub fn dispersion(&self) -> Option<f64> {
        match *self {
            Self::Poisson { .. } | Self::Bursts { mean_rate_scaled: true, .. } => Some(1.0),
            Self::Fixed { .. } => Some(0.0),
            // That of a renewal process is the squared coefficient of variation of its gaps.
            Self::PoissonTicks { mean_gap_ns, tick_ns } => Some(tick_ns / mean_gap_ns),
            // Per cycle the number is fixed; its length varies by the exponential gaps inside the burst: n·(g/f)² against mean n·g.
            Self::Bursts { factor, .. } => Some(1.0 / (factor * factor)),
            Self::MarkovModulated { mean_gap_ns, busy_share: p, mean_burst_ns, .. } => {
                // 1 + 2·p·(1−p)·(λ_busy − λ_quiet)² / (λ·σ) with σ the sum of both rates of leaving a state.
                let (busy, quiet) = self.state_rates()?;
                let leaving = 1.0 / (mean_burst_ns * (1.0 - p));
                Some(1.0 + 2.0 * p * (1.0 - p) * (busy - quiet) * (busy - quiet) * mean_gap_ns / leaving)
            }
            Self::Closed { .. } => None,
        }
    }

    /// Arrivals per nanosecond in the busy and in the quiet state.
    fn state_rates(&self) -> Option<(f64, f64)> {
        let Self::MarkovModulated { mean_gap_ns, rate_ratio, busy_share, .. } = *self else { return None };
        let quiet = 1.0 / (mean_gap_ns * (busy_share * rate_ratio + 1.0 - busy_share));
        Some((quiet * rate_ratio, quiet))
    }

    /// How long `requests` of them take in the mean, in nanoseconds, from the first to the last; of a closed loop the pauses alone.
    pub fn mean_span_ns(&self, requests: u64) -> f64 {
        let gaps = requests.saturating_sub(1) as f64;
        match (*self, self.mean_per_second()) {
            (Self::Closed { depth, think_ns }, _) => libm::floor(gaps / f64::from(depth)) * think_ns as f64,
            (_, Some(per_second)) => gaps * 1e9 / per_second,
            (_, None) => 0.0,
        }
    }

    pub(super) fn problems(&self) -> Vec<SpecProblem> {
        let mut problems = Vec::new();
        let mut require = |key, value: f64, is_allowed: bool, allowed| {
            if !(is_allowed && value.is_finite()) {
                problems.push(SpecProblem::new(key, format!("is {value}; {allowed} is allowed")));
            }
        };
        match *self {
            Self::Poisson { mean_gap_ns } => require("mean_gap_ns", mean_gap_ns, mean_gap_ns > 0.0, "more than 0"),
            Self::PoissonTicks { mean_gap_ns, tick_ns } => {
                require("mean_gap_ns", mean_gap_ns, mean_gap_ns > 0.0, "more than 0");
                let ticks = mean_gap_ns / tick_ns;
                require("tick_ns", tick_ns, tick_ns > 0.0 && ticks <= TICKS_MAX, "a 500th of the mean gap or more");
            }
            Self::Fixed { gap_ns } => require("gap_ns", gap_ns, gap_ns > 0.0, "more than 0"),
            Self::Bursts { mean_gap_ns, factor, burst_requests, .. } => {
                require("mean_gap_ns", mean_gap_ns, mean_gap_ns > 0.0, "more than 0");
                require("factor", factor, factor >= 1.0, "1 or more");
                require("burst_requests", burst_requests as f64, burst_requests > 0, "1 or more");
            }
            Self::MarkovModulated { mean_gap_ns, rate_ratio, busy_share, mean_burst_ns } => {
                require("mean_gap_ns", mean_gap_ns, mean_gap_ns > 0.0, "more than 0");
                require("rate_ratio", rate_ratio, rate_ratio >= 1.0, "1 or more");
                require("busy_share", busy_share, busy_share > 0.0 && busy_share < 1.0, "more than 0 and less than 1");
                require("mean_burst_ns", mean_burst_ns, mean_burst_ns > 0.0, "more than 0");
            }
            Self::Closed { depth, .. } => require("depth", f64::from(depth), depth > 0, "1 or more"),
        }
        problems
    }
}

/// The times of arrival of a specification.
pub(super) struct ArrivalGenerator {
    spec: ArrivalSpec,
    clock: Clock,
    gaps: Stream,
    process: Process,
    /// The greatest gap before a request that starts where the one before ended, and the stream that draws them.
    sequential: Option<(f64, Stream)>,
    /// The gaps of a batch, before they become times.
    batch_gaps_ns: Vec<f64>,
}

enum Process {
    Poisson {
        mean_gap_ns: f64,
    },
    /// No ticks have this probability.
    PoissonTicks {
        none: f64,
        tick_ns: f64,
    },
    Fixed {
        gap_ns: f64,
    },
    Bursts {
        mean_gap_ns: f64,
        idle_ns: f64,
        burst_requests: u64,
        left: u64,
    },
    MarkovModulated {
        states: Stream,
        rates: [f64; 2],
        mean_durations_ns: [f64; 2],
        state: usize,
        state_left_ns: f64,
    },
    Closed,
}

/// The arrival of a request that would come after the last moment of simulated time, and of all after it.
pub(super) const NEVER: u64 = u64::MAX;

/// The last arrival. Fractions of nanoseconds are kept, so that gaps add up without drift however long the run.
#[derive(Default)]
struct Clock {
    now_ns: u64,
    fraction_ns: f64,
}

impl Clock {
    /// Lets `request` arrive `gap_ns` after the one before.
    #[inline]
    fn arrive(&mut self, gap_ns: f64, request: &mut Request) {
        let exact_ns = self.fraction_ns + gap_ns;
        // A gap too long for an integer becomes the greatest one, after which nothing comes.
        let whole_ns = exact_ns as u64;
        self.now_ns = match self.now_ns.checked_add(whole_ns) {
            Some(now_ns) if now_ns <= TIME_MAX_NS => now_ns,
            _ => NEVER,
        };
        self.fraction_ns = exact_ns - whole_ns as f64;
        request.arrival_ns = self.now_ns;
    }
}

const BUSY: usize = 0;
const QUIET: usize = 1;

impl ArrivalGenerator {
    pub(super) fn new(spec: ArrivalSpec, sequential_gap_ns: Option<f64>, seed: u64) -> Self {
        let process = match spec {
            ArrivalSpec::Poisson { mean_gap_ns } => Process::Poisson { mean_gap_ns },
            ArrivalSpec::PoissonTicks { mean_gap_ns, tick_ns } => {
                Process::PoissonTicks { none: libm::exp(-mean_gap_ns / tick_ns), tick_ns }
            }
            ArrivalSpec::Fixed { gap_ns } => Process::Fixed { gap_ns },
            ArrivalSpec::Bursts { mean_gap_ns, factor, mean_rate_scaled: true, .. } => {
                Process::Poisson { mean_gap_ns: mean_gap_ns / factor }
            }
            ArrivalSpec::Bursts { mean_gap_ns, factor, burst_requests, .. } => Process::Bursts {
                mean_gap_ns: mean_gap_ns / factor,
                idle_ns: burst_requests as f64 * mean_gap_ns * (1.0 - 1.0 / factor),
                burst_requests,
                left: burst_requests,
            },
            ArrivalSpec::MarkovModulated { busy_share, mean_burst_ns, .. } => {
                let mut states = rng::stream(seed, "workload.arrival.state", 0);
                let (busy, quiet) = spec.state_rates().expect("this process has states");
                let mean_durations_ns = [mean_burst_ns, mean_burst_ns * (1.0 - busy_share) / busy_share];
                let state = if rng::happens(&mut states, busy_share) { BUSY } else { QUIET };
                let state_left_ns = mean_durations_ns[state] * rng::exponential(&mut states);
                Process::MarkovModulated { states, rates: [busy, quiet], mean_durations_ns, state, state_left_ns }
            }
            ArrivalSpec::Closed { .. } => Process::Closed,
        };
        let sequential = sequential_gap_ns.map(|most_ns| (most_ns, rng::stream(seed, "workload.arrival.sequential", 0)));
        Self {
            spec,
            clock: Clock::default(),
            gaps: rng::stream(seed, "workload.arrival", 0),
            process,
            sequential,
            batch_gaps_ns: Vec::new(),
        }
    }

    pub(super) fn host_loop(&self) -> HostLoop {
        match self.spec {
            ArrivalSpec::Closed { depth, think_ns } => HostLoop::Closed { depth, think_ns },
            _ => HostLoop::Open,
        }
    }

    /// Lets the requests of a batch arrive; `continues` has the positions of those that start where the one before ended.
    ///
    /// A gap is drawn for every request, so that gaps of their own for some leave those of the others as they were.
    pub(super) fn fill(&mut self, batch: &mut [Request], continues: &[usize]) {
        let Self { clock, gaps, process, sequential, batch_gaps_ns, .. } = self;
        let Some((most_ns, stream)) = sequential else {
            let mut requests = batch.iter_mut();
            return process.draw(gaps, requests.len(), |gap_ns| {
                if let Some(request) = requests.next() {
                    clock.arrive(gap_ns, request);
                }
            });
        };
        batch_gaps_ns.clear();
        process.draw(gaps, batch.len(), |gap_ns| batch_gaps_ns.push(gap_ns));
        for position in continues {
            batch_gaps_ns[*position] = *most_ns * rng::unit(stream);
        }
        batch.iter_mut().zip(&*batch_gaps_ns).for_each(|(request, gap_ns)| clock.arrive(*gap_ns, request));
    }
}

impl Process {
    /// Draws the gaps before the next `n` requests, in nanoseconds.
    #[inline]
    fn draw(&mut self, gaps: &mut Stream, n: usize, mut each: impl FnMut(f64)) {
        match self {
            Process::Poisson { mean_gap_ns } => (0..n).for_each(|_| each(*mean_gap_ns * rng::exponential(gaps))),
            Process::PoissonTicks { none, tick_ns } => (0..n).for_each(|_| {
                // Knuth: as many numbers from 0 to 1 as their product stays above e^−mean.
                let (mut ticks, mut product) = (0_u32, rng::unit(gaps));
                while product > *none {
                    ticks += 1;
                    product *= rng::unit(gaps);
                }
                each(f64::from(ticks) * *tick_ns);
            }),
            Process::Fixed { gap_ns } => (0..n).for_each(|_| each(*gap_ns)),
            Process::Bursts { mean_gap_ns, idle_ns, burst_requests, left } => {
                for _ in 0..n {
                    let mut gap_ns = *mean_gap_ns * rng::exponential(gaps);
                    if *left == 0 {
                        gap_ns += *idle_ns;
                        *left = *burst_requests;
                    }
                    *left -= 1;
                    each(gap_ns);
                }
            }
            Process::MarkovModulated { states, rates, mean_durations_ns, state, state_left_ns } => {
                for _ in 0..n {
                    // The next arrival comes when the integral of the rate since the last one reaches this number.
                    let mut to_go = rng::exponential(gaps);
                    let mut gap_ns = 0.0;
                    while to_go > rates[*state] * *state_left_ns {
                        to_go -= rates[*state] * *state_left_ns;
                        gap_ns += *state_left_ns;
                        *state = BUSY + QUIET - *state;
                        *state_left_ns = mean_durations_ns[*state] * rng::exponential(states);
                    }
                    let in_state_ns = to_go / rates[*state];
                    *state_left_ns -= in_state_ns;
                    each(gap_ns + in_state_ns);
                }
            }
            // Requests of a closed loop arrive when others are done; until then their time is 0.
            Process::Closed => (0..n).for_each(|_| each(0.0)),
        }
    }
}

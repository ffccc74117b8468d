//! The rounds of a test: the source of its requests, and the observer that measures them.
//!
//! A slot is a pattern in a round, or the preconditioning before the first round. It lasts from its first request to the first request of
//! the next slot. That request is the first one after the slot's time. Requests are drawn some hundred before their turn, so a slot is that
//! much longer.

use std::cell::RefCell;
use std::rc::Rc;

use flashraid::config::Scenario;
use flashraid::{CompletedRequest, Observer, OpKind, Request, RequestSource, SourceError};
use flashraid_model::metrics::LatencyHistogram;
use flashraid_model::rng::{self, RandomStream};
use flashraid_workload::HostLoop;

use super::{Band, FILLS_BEFORE_STEADY, Figures, KIB, Outcome, PATTERN_NS, PTS_SCHEMA, Pattern, Round, Setup, Steady, Test, WINDOW};

/// Pattern of the writes that precondition the drive.
const FILL: Pattern = Pattern { read_percent: 0, block_bytes: 128 * KIB };
/// Number of times that preconditioning writes the capacity.
const FILL_PASSES: u64 = 2;
/// Least number of requests beyond a percentile.
const BEYOND: f64 = 10.0;

/// A pattern that is being measured.
#[derive(Debug)]
struct Slot {
    pattern: Pattern,
    /// Index of the slot's first request.
    first: u64,
    /// Arrival of the first request; `None` until then.
    began_ns: Option<u64>,
    /// Number of completed requests.
    done: u64,
    bytes: u64,
    written_bytes: u64,
    written_pages: u64,
    programmed_units: u64,
    latency: LatencyHistogram,
    /// Number of requests by the power of two of their response time in nanoseconds.
    octaves: [u64; 64],
}

impl Slot {
    fn new(pattern: Pattern, first: u64) -> Self {
        Self {
            pattern,
            first,
            began_ns: None,
            done: 0,
            bytes: 0,
            written_bytes: 0,
            written_pages: 0,
            programmed_units: 0,
            latency: LatencyHistogram::default(),
            octaves: [0; 64],
        }
    }
}

/// A completed slot, and its length.
#[derive(Debug)]
struct Measured {
    slot: Slot,
    ns: u64,
}

#[derive(Debug)]
struct State {
    test: Test,
    patterns: Vec<Pattern>,
    pattern_ns: u64,
    rounds_max: u32,
    capacity_bytes: u64,
    page_bytes: u64,
    unit_pages: u64,
    stream: RandomStream,
    /// Number of requests of preconditioning.
    fill: u64,
    drawn: u64,
    /// Latest end of a completed request.
    now_ns: u64,
    /// Slots that are not completed, in order.
    open: Vec<Slot>,
    /// Completed slots of the last rounds, as many as steady state is judged by.
    measured: Vec<Measured>,
    slots_begun: usize,
    written_bytes: u64,
    rounds: Vec<Round>,
    steady: Steady,
    is_over: bool,
}

/// Source of a test's requests, which is a closed loop.
#[derive(Debug)]
pub struct Requests(Rc<RefCell<State>>);

/// Observer of a test. It measures the rounds, and ends the test once the figure is steady.
#[derive(Debug)]
pub struct Watch(Rc<RefCell<State>>);

/// Returns the source and the observer for a simulation of `scenario`.
#[must_use]
pub fn rounds(setup: &Setup, scenario: &Scenario) -> (Requests, Watch) {
    let ssd = &scenario.array.ssd;
    let page_bytes = u64::from(ssd.geometry.page_bytes);
    let capacity_bytes = ssd.exported_pages() * page_bytes;
    let test = setup.test;
    let fill = if test.is_preconditioned() { FILL_PASSES * (capacity_bytes / FILL.block_bytes) } else { 0 };
    let mut state = State {
        test,
        patterns: test.patterns(),
        pattern_ns: PATTERN_NS / u64::from(scenario.config.ssd.scale),
        rounds_max: setup.rounds_max,
        capacity_bytes,
        page_bytes,
        unit_pages: ssd.superblock.as_ref().map_or(1, |superblock| u64::from(superblock.pages_per_mapping_unit)),
        stream: rng::stream(scenario.seed, "pts", 0),
        fill,
        drawn: 0,
        now_ns: 0,
        open: Vec::new(),
        measured: Vec::new(),
        slots_begun: 0,
        written_bytes: 0,
        rounds: Vec::new(),
        steady: Steady::of(&[]),
        is_over: false,
    };
    if fill > 0 {
        state.open.push(Slot::new(FILL, 0));
    } else {
        state.begin_slot();
    }
    let state = Rc::new(RefCell::new(state));
    (Requests(Rc::clone(&state)), Watch(state))
}

impl RequestSource for Requests {
    fn next_request(&mut self) -> Result<Option<Request>, SourceError> {
        Ok(self.0.borrow_mut().draw())
    }

    fn host_loop(&self) -> HostLoop {
        HostLoop::Closed { depth: self.0.borrow().test.depth(), think_ns: 0 }
    }
}

impl Observer for Watch {
    fn progress(&mut self, _: &flashraid::Progress) -> bool {
        !self.0.borrow().is_over
    }

    fn request_completed(&mut self, request: &CompletedRequest) {
        self.0.borrow_mut().done(request);
    }

    fn mapping_units_programmed(&mut self, units: u64) {
        if let Some(slot) = self.0.borrow_mut().open.iter_mut().rev().find(|slot| slot.began_ns.is_some()) {
            slot.programmed_units += units;
        }
    }
}

impl Watch {
    /// Returns the number of completed rounds.
    #[must_use]
    pub fn rounds(&self) -> usize {
        self.0.borrow().rounds.len()
    }

    /// Returns the results of the test so far.
    #[must_use]
    pub fn outcome(&self, setup: &Setup, scenario: &Scenario) -> Outcome {
        let state = self.0.borrow();
        let window = state.measured.len().saturating_sub(WINDOW * state.patterns.len());
        let window = &state.measured[window..];
        let of = |pattern: Pattern| window.iter().filter(move |measured| measured.slot.pattern == pattern);
        let together = |&pattern: &Pattern| {
            let mut latency = LatencyHistogram::default();
            of(pattern).for_each(|measured| latency.add_all(&measured.slot.latency));
            let sum = |what: fn(&Measured) -> u64| of(pattern).map(what).sum::<u64>();
            figures(pattern, sum(|measured| measured.slot.done), sum(|measured| measured.slot.bytes), sum(|measured| measured.ns), &latency)
        };
        let mut octaves = [0; 64];
        of(state.test.tracked()).for_each(|measured| octaves.iter_mut().zip(measured.slot.octaves).for_each(|(sum, count)| *sum += count));
        let all: u64 = octaves.iter().sum();
        let band = |(power, &requests): (usize, &u64)| Band {
            from_us: (1_u64 << power) as f64 / 1000.0,
            requests,
            share: requests as f64 / all as f64,
        };
        Outcome {
            schema: PTS_SCHEMA,
            test: state.test.name(),
            drive: setup.drive.clone(),
            scale: scenario.config.ssd.scale,
            seed: scenario.seed,
            capacity_bytes: state.capacity_bytes,
            depth: state.test.depth(),
            pattern_s: state.pattern_ns as f64 / 1e9,
            rounds: state.rounds.clone(),
            steady: state.steady,
            window: if window.is_empty() { Vec::new() } else { state.patterns.iter().map(together).collect() },
            histogram: octaves.iter().enumerate().filter(|(_, requests)| **requests > 0).map(band).collect(),
            partial: !state.is_over,
        }
    }
}

impl State {
    fn begin_slot(&mut self) {
        let pattern = self.patterns[self.slots_begun % self.patterns.len()];
        self.slots_begun += 1;
        self.open.push(Slot::new(pattern, self.drawn));
    }

    fn draw(&mut self) -> Option<Request> {
        if self.is_over {
            return None;
        }
        if self.drawn < self.fill {
            let at = self.drawn % (self.fill / FILL_PASSES);
            self.drawn += 1;
            return Some(Request::new(OpKind::Write, 0, at * FILL.block_bytes, FILL.block_bytes));
        }
        let last = self.open.last().expect("one is always begun");
        let is_filled = self.fill > 0 && self.drawn == self.fill;
        if is_filled || last.began_ns.is_some_and(|began_ns| self.now_ns >= began_ns + self.pattern_ns) {
            self.begin_slot();
        }
        let Pattern { read_percent, block_bytes } = self.open.last().expect("one is always begun").pattern;
        self.drawn += 1;
        let kind = if rng::below(&mut self.stream, 100) < u64::from(read_percent) { OpKind::Read } else { OpKind::Write };
        let block = rng::below(&mut self.stream, self.capacity_bytes / block_bytes);
        Some(Request::new(kind, 0, block * block_bytes, block_bytes))
    }

    fn done(&mut self, completed: &CompletedRequest) {
        self.now_ns = self.now_ns.max(completed.done_ns);
        let Some(slot) = self.open.iter_mut().rev().find(|slot| slot.first <= completed.arrival_index) else { return };
        // Requests end in another order than they arrive, so the earliest arrival counts.
        slot.began_ns = Some(slot.began_ns.map_or(completed.arrival_ns, |began_ns| began_ns.min(completed.arrival_ns)));
        let Request { offset_bytes, length_bytes, kind, .. } = completed.request;
        slot.done += 1;
        slot.bytes += length_bytes;
        if kind == OpKind::Write {
            slot.written_bytes += length_bytes;
            slot.written_pages += (offset_bytes + length_bytes).div_ceil(self.page_bytes) - offset_bytes / self.page_bytes;
            self.written_bytes += length_bytes;
        }
        let response_ns = completed.done_ns - completed.arrival_ns;
        slot.latency.record(response_ns);
        slot.octaves[response_ns.max(1).ilog2() as usize] += 1;
        while let [first, second, ..] = self.open.as_slice()
            && let (Some(from_ns), Some(to_ns)) = (first.began_ns, second.began_ns)
            && first.done == second.first - first.first
        {
            let slot = self.open.remove(0);
            // Preconditioning is over, and belongs to no round.
            if slot.first < self.fill {
                continue;
            }
            self.measured.push(Measured { slot, ns: to_ns - from_ns });
            if self.measured.len().is_multiple_of(self.patterns.len()) {
                self.round_is_over(to_ns);
            }
        }
    }

    fn round_is_over(&mut self, to_ns: u64) {
        let patterns = self.patterns.len();
        let of_round = &self.measured[self.measured.len() - patterns..];
        let sum = |what: fn(&Slot) -> u64| of_round.iter().map(|measured| what(&measured.slot)).sum::<u64>();
        let (written, programmed) = (sum(|slot| slot.written_pages), sum(|slot| slot.programmed_units));
        let ns: u64 = of_round.iter().map(|measured| measured.ns).sum();
        let of = |Measured { slot, ns }: &Measured| figures(slot.pattern, slot.done, slot.bytes, *ns, &slot.latency);
        let round = Round {
            round: self.rounds.len() as u32 + 1,
            from_s: (to_ns - ns) as f64 / 1e9,
            drive_fills: self.written_bytes as f64 / self.capacity_bytes as f64,
            write_amplification: (written > 0).then(|| (programmed * self.unit_pages) as f64 / written as f64),
            patterns: of_round.iter().map(of).collect(),
        };
        self.rounds.push(round);
        if self.measured.len() > WINDOW * patterns {
            self.measured.drain(..patterns);
        }
        let tracked = |round: &Round| {
            let figures = round.patterns.iter().find(|figures| figures.pattern == self.test.tracked())?;
            if self.test == Test::Latency { figures.mean_us } else { Some(figures.iops) }
        };
        // Without preconditioning, a drive has even figures before it is full.
        let may_be = |round: &&Round| self.test.is_preconditioned() || round.drive_fills >= FILLS_BEFORE_STEADY;
        let values: Vec<f64> = self.rounds.iter().filter_map(tracked).collect();
        let eligible = self.rounds.iter().filter(may_be).count();
        let steady = Steady::of(&values);
        self.steady = Steady { is_steady: steady.is_steady && eligible >= WINDOW, ..steady };
        self.is_over = self.steady.is_steady || self.rounds.len() as u32 >= self.rounds_max;
    }
}

fn figures(pattern: Pattern, requests: u64, bytes: u64, ns: u64, latency: &LatencyHistogram) -> Figures {
    let seconds = (ns as f64 / 1e9).max(1e-9);
    let us = |ns: u64| ns as f64 / 1000.0;
    let percentile = |share: f64| latency.quantile_ns(share).filter(|_| requests as f64 * (1.0 - share) >= BEYOND).map(us);
    let moments = latency.moments();
    Figures {
        pattern,
        requests,
        iops: requests as f64 / seconds,
        mb_s: bytes as f64 / 1e6 / seconds,
        mean_us: moments.mean().map(|ns| ns / 1000.0),
        p50_us: percentile(0.5),
        p99_us: percentile(0.99),
        p99_9_us: percentile(0.999),
        p99_99_us: percentile(0.9999),
        p99_999_us: percentile(0.99999),
        max_us: moments.max().map(us),
    }
}

//! The search: arithmetic, a screen, a race, fresh seeds, and runs of what was chosen.

mod after;
mod answer;

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use super::advice::{ADVICE_SCHEMA, Advice, FigureOf, Other, PointOf, Stage, Verb};
use super::contestant::{Contestant, Maker, RunOf};
use super::goal::{Circumstance, Direction, Figure, Goal, Statistic, contradiction};
use super::sample::Sample;
use super::select::{Batches, Differences, Raced, Rules, Word, confirm, is_beyond, near, race, screen};
use super::space::NAMED_AXES;
use super::{Advisor, Preference, Watch};
use crate::Error;
use crate::config::Scenario;
use crate::study::Axis;
use crate::template::Template;
use answer::Found;
use flashraid_workload::SourceSpec;

/// Smallest relative difference that counts, as in the sentences of comparisons.
const INDIFFERENCE: f64 = 1.05;
/// Number of arrays at which the screen ends.
const RACED_MAX: usize = 12;
/// Most rounds of screens. Each has runs of twice the length.
const SCREENS_MAX: usize = 3;
/// Shares of the requests that the screen may use, the screen with the race, and these with fresh seeds.
const SHARES: [f64; 3] = [0.35, 0.6, 0.75];
/// Requests of a run, if nothing needs more.
const REQUESTS_MIN: u64 = 10_000;
/// Requests beyond a percentile that a run should have.
const BEYOND: f64 = 20.0;
/// Most requests of the first look at the load.
const FIRST_LOOK_MAX: u64 = 200_000;
/// Parts of the requests of a search that the first look may take, as divisors. A trace may take more, because it has a length to find.
const FIRST_LOOK_SHARES: [u64; 2] = [5, 20];
/// Margin of estimated lengths of runs, which come from shorter ones.
const LONGER: f64 = 1.2;
/// Share of the time that parts of an idle array work at most.
const IDLE_MAX: f64 = 0.1;
/// Most rounds of fresh seeds.
const CONFIRMING_ROUNDS_MAX: usize = 10;
/// Finalists beside the best one and the present array.
const RUNNERS_UP: usize = 3;
/// Most arrays of a front that are run again.
const FRONT_MAX: usize = 8;
/// Greatest factor of the load that is tried.
const GROWTH_MAX: f64 = 16.0;
/// Distance of the seeds of one stage from those of the next.
const SEEDS_OF_STAGE: u64 = 1000;

/// State of a search.
pub(super) struct Search<'a> {
    advisor: &'a Advisor,
    watch: &'a dyn Watch,
    /// Contestants, in the order of the points that reached this stage.
    field: Vec<Contestant>,
    /// Index in `points` of each contestant.
    point_of: Vec<usize>,
    points: Vec<PointOf>,
    /// Figure that arrays are compared by.
    figure: Figure,
    /// Figure that the last screen compared: a lower percentile if its runs were too short.
    screened_by: Figure,
    rules: Rules,
    /// Number of requests of a pass of a trace; `None` for generated requests.
    pass_requests: Option<u64>,
    requests_max: u64,
    spent: u64,
    race_requests: u64,
    screen_requests: u64,
    /// Requests that a run needs for the compared figure.
    requests_of_figure: u64,
    /// Latest sample of each contestant.
    samples: Vec<Option<Sample>>,
    /// Scores of each contestant in the rounds of the screen, with the figure. All have the same requests and seed.
    screened: Vec<Vec<(Figure, Vec<f64>)>>,
    /// Simulated time of a pass of the trace, in seconds; `None` for generated requests and for traces whose end is not reached.
    load_s: Option<f64>,
    is_trace: bool,
    /// The array that works most.
    busiest: Option<usize>,
    base_rate: f64,
    is_closed: bool,
    notes: Vec<String>,
}

/// Certainty of a goal for a contestant, with the violation as a logarithm.
#[derive(Debug, Clone, Copy)]
struct Met {
    word: Word,
    violation: f64,
}

/// Samples of an array by circumstance.
type Circumstances = BTreeMap<Circumstance, Vec<Sample>>;

/// End of a race between arrays.
struct Race {
    raced: Raced,
    samples: BTreeMap<usize, Vec<Sample>>,
    /// The arrays in the order of `raced`.
    group: Vec<usize>,
}

/// Scores and samples of the best arrays with fresh seeds.
struct Fresh {
    /// The arrays, the best one of the race first.
    finalists: Vec<usize>,
    scores: Vec<Vec<f64>>,
    samples: BTreeMap<usize, Vec<Sample>>,
    /// Seed of the first round.
    seed: u64,
}

/// Result of one run; without a sample if it was stopped.
type SampleOrError = Result<Option<Sample>, Error>;

/// Scores of arrays in circumstances, by rounds of runs with one seed after another.
struct Rounds<'s, 'a> {
    search: &'s mut Search<'a>,
    contestants: Vec<usize>,
    first_seed: u64,
    round: u64,
    limit: u64,
    stage: &'static str,
    /// Samples of all rounds, by contestant.
    samples: BTreeMap<usize, Vec<Sample>>,
    failure: Option<Error>,
}

impl Batches for Rounds<'_, '_> {
    fn round(&mut self, contestants: &[usize]) -> Option<Vec<Vec<f64>>> {
        let search = &mut *self.search;
        let cost = search.cost_of(search.race_requests) * contestants.len() as u64;
        if search.spent + cost > self.limit || search.watch.stop() {
            return None;
        }
        let run = search.run_of(self.first_seed + self.round, search.race_requests);
        let own: Vec<usize> = contestants.iter().map(|one| self.contestants[*one]).collect();
        let samples = match search.run(&own, run, self.stage) {
            Ok(samples) => samples,
            Err(error) => {
                self.failure = Some(error);
                return None;
            }
        };
        self.round += 1;
        let mut scores = Vec::new();
        for (one, sample) in own.into_iter().zip(samples) {
            let sample = sample?;
            scores.push(sample.scores(search.figure)?);
            self.samples.entry(one).or_default().push(sample);
        }
        Some(scores)
    }
}

impl<'a> Search<'a> {
    /// Runs the whole search.
    pub(super) fn advise(advisor: &'a Advisor, watch: &'a dyn Watch) -> Result<Advice, Error> {
        let refuse = |text: String| Err(Error::UnusableInput(text));
        if let Some(problem) = contradiction(&advisor.goals, advisor.capacity_bytes) {
            return refuse(format!("the goals contradict each other: {problem}"));
        }
        let stop = watch.stop_signal();
        let own = advisor.load.scenario([], None)?;
        if let Some(path) = crate::check::is_read_only_once(&own) {
            return refuse(format!("{} can be read only once, and a search reads its load many times; name a file", path.display()));
        }
        let statistics = crate::check::check_before_run(&own, &stop)?;
        let is_closed = statistics.workload.as_ref().is_some_and(|requests| requests.closed_depth.is_some());
        if is_closed && matches!(own.workload.source, SourceSpec::Trace(_)) {
            return refuse(
                "the trace has no times, so that nothing says how fast its requests come; convert it with a rate (flashraid trace convert \
                 --rate)"
                    .to_owned(),
            );
        }
        if is_closed && advisor.growth != 1.0 {
            return refuse("--growth: the load waits for answers, so that it has no rate that could grow".to_owned());
        }
        // Requests that all come at once have no rate either.
        let comes_at_once = statistics.workload.as_ref().is_some_and(|sample| {
            sample.requests > 1 && sample.requests_per_s.is_some_and(|rate| rate >= (sample.requests - 1) as f64 * 1e9)
        });
        if comes_at_once {
            return refuse("all requests of the load come at the same time, so that they have no rate".to_owned());
        }
        refuse_unknown_keys(advisor)?;
        for goal in advisor.goals.iter().filter(|goal| goal.figure == Figure::Cost) {
            let text = &goal.text;
            match (&goal.currency, advisor.prices.as_ref().map(|prices| &prices.currency)) {
                (Some(_), None) => return refuse(format!("the goal {text:?} is about money; name a file of prices with --prices")),
                (None, Some(known)) => {
                    return refuse(format!("the goal {text:?} is about raw capacity; with prices, write a sum in {known}"));
                }
                (Some(own), Some(known)) if own != known => {
                    return refuse(format!("the goal {text:?} is in {own}, and the prices are in {known}"));
                }
                _ => {}
            }
        }
        for goal in &advisor.goals {
            let Figure::Response(direction, _) = goal.figure else { continue };
            let reads = statistics.workload.as_ref().map_or(0.5, |requests| requests.read_fraction);
            let missing = match direction {
                Direction::Read if reads == 0.0 => "reads",
                Direction::Write if reads == 1.0 => "writes",
                _ => continue,
            };
            let first = crate::check::SAMPLED_REQUESTS;
            return refuse(format!("the goal {:?}: the first {first} requests of the load have no {missing}", goal.text));
        }
        let base_rate = own.config.workload.rate_scale.unwrap_or(1.0) * advisor.growth;
        let grown = |template: &Template| -> Result<Template, Error> {
            let mut template = template.clone();
            if advisor.growth != 1.0 {
                template.set("workload.rate_scale", base_rate.to_string())?;
            }
            Ok(template)
        };
        let load = grown(&advisor.load)?;
        let points = advisor.space.points().map_err(Error::UnusableInput)?;
        watch.progress("arithmetic", 0, points.len(), None);
        let all = points.len();
        let config = serde_json::to_value(&own.config).expect("a configuration is plain data");
        let maker = Maker::new(&load, &advisor.space, &advisor.allow, config, watch)?;
        let made = maker.field(points, advisor.workers)?;
        let is_stopped = made.contestants.len() + made.left_out.len() < all;
        let mut field = made.contestants;
        if let Some(now) = &advisor.now {
            let mut config = now.scenario([], None)?.config;
            config.workload = own.config.workload.clone();
            field.push(maker.present(grown(&Template::new(&config))?)?);
        }
        let reads = statistics.workload.as_ref().map_or(0.5, |requests| requests.read_fraction);
        let figure = advisor.goals.iter().map(|goal| goal.figure).find(|figure| matches!(figure, Figure::Response(..) | Figure::Iops));
        let direction = if reads > 0.0 { Direction::Read } else { Direction::Write };
        let figure = figure.unwrap_or(Figure::Response(direction, Statistic::P99_9));
        let mut search = Search {
            advisor,
            watch,
            point_of: Vec::new(),
            points: Vec::new(),
            figure,
            screened_by: figure,
            rules: Rules { indifference: libm::log(INDIFFERENCE), error: advisor.error / 2.0 },
            pass_requests: None,
            requests_max: 0,
            spent: 0,
            race_requests: 0,
            screen_requests: 0,
            requests_of_figure: 0,
            samples: Vec::new(),
            screened: Vec::new(),
            load_s: None,
            is_trace: false,
            busiest: None,
            base_rate,
            is_closed,
            notes: Vec::new(),
            field: Vec::new(),
        };
        for (point, reason) in made.left_out {
            let settings = point.iter().map(|setting| (setting.key.clone(), setting.value_as_json())).collect();
            let name = point.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            let (figures, now) = (Vec::new(), false);
            let stage = Stage::Space;
            let nothing = PointOf {
                name,
                settings,
                now,
                stage,
                reason,
                capacity_bytes: None,
                cost_bytes: None,
                cost: None,
                score: None,
                score_half_width: None,
                score_of: None,
                figures,
            };
            search.points.push(nothing);
        }
        if is_stopped {
            return Ok(search.stopped(None));
        }
        search.arithmetic(field)?;
        search.decide(reads)
    }

    /// Keeps the contestants that arithmetic does not rule out.
    fn arithmetic(&mut self, field: Vec<Contestant>) -> Result<(), Error> {
        let of_space = || field.iter().filter(|one| !one.is_now);
        let largest = of_space().map(|one| one.capacity_bytes).fold(0.0, f64::max);
        if of_space().next().is_some() && largest < self.advisor.capacity_bytes {
            let best = of_space().find(|one| one.capacity_bytes == largest).map_or("", |one| one.name.as_str());
            return Err(Error::UnusableInput(format!(
                "--capacity {}: no array of the space offers as much; the largest is {} with {}",
                terabytes(self.advisor.capacity_bytes),
                best,
                terabytes(largest)
            )));
        }
        for mut one in field {
            one.cost = self.cost(&one, one.life_years.map(|[least, _]| least))?;
            let reason = self.ruled_out(&one);
            let settings = one.settings.iter().map(|setting| (setting.key.clone(), setting.value_as_json())).collect();
            self.points.push(PointOf {
                name: one.name.clone(),
                settings,
                now: one.is_now,
                stage: Stage::Arithmetic,
                reason: reason.clone().unwrap_or_default(),
                capacity_bytes: Some(one.capacity_bytes),
                cost_bytes: Some(one.cost_bytes),
                cost: self.advisor.prices.as_ref().map(|_| one.cost),
                score: None,
                score_half_width: None,
                score_of: None,
                figures: Vec::new(),
            });
            // The present array runs in any case.
            if reason.is_none() || one.is_now {
                self.point_of.push(self.points.len() - 1);
                self.field.push(one);
            }
        }
        self.samples = vec![None; self.field.len()];
        self.screened = vec![Vec::new(); self.field.len()];
        Ok(())
    }

    /// Returns the cost of an array with a life in years: money or, without prices, raw capacity.
    fn cost(&self, one: &Contestant, life_years: Option<f64>) -> Result<f64, Error> {
        let Some(prices) = &self.advisor.prices else { return Ok(one.cost_bytes) };
        prices.cost(&one.drive, one.members, life_years).ok_or_else(|| {
            let known: Vec<&str> = prices.drives().collect();
            Error::UnusableInput(format!(
                "the prices have no [drives.{}], which the space or the present array has; there are prices of {}",
                one.drive,
                known.join(", ")
            ))
        })
    }

    fn ruled_out(&self, one: &Contestant) -> Option<String> {
        if one.capacity_bytes < self.advisor.capacity_bytes {
            return Some("too small".to_owned());
        }
        if one.busy > 1.0 {
            return Some("too slow: dies or links cannot keep up with the load".to_owned());
        }
        let needs_redundancy = self.advisor.goals.iter().any(|goal| matches!(goal.under, Circumstance::Failed | Circumstance::Rebuild));
        if needs_redundancy && !one.has_redundancy {
            return Some("does not survive the failure of a member, which a goal is about".to_owned());
        }
        self.advisor.goals.iter().find_map(|goal| match goal.figure {
            Figure::Capacity if one.capacity_bytes < goal.limit => Some("too small".to_owned()),
            // With prices, a longer life may lower the cost.
            Figure::Cost if one.cost > goal.limit && self.advisor.prices.is_none() => Some("too expensive".to_owned()),
            Figure::Life if one.life_years.is_some_and(|[_, most]| most < goal.limit) => {
                Some("worn out too soon, even without collection".to_owned())
            }
            _ => None,
        })
    }

    /// Simulates the arrays, and answers.
    fn decide(&mut self, reads: f64) -> Result<Advice, Error> {
        if self.field.iter().all(|one| one.is_now) {
            let sentence = "Not reachable: arithmetic alone rules out every array of the space.".to_owned();
            return Ok(self.answer(Verb::NotReachable, Vec::new(), vec![sentence]));
        }
        let begin = Instant::now();
        let Some(first) = self.first_look()? else { return Ok(self.stopped(None)) };
        let busiest = self.field.iter().map(|one| one.busy_with_collection).fold(0.0, f64::max);
        if !self.is_closed && busiest < IDLE_MAX && first.busiest_interval < IDLE_MAX {
            return Ok(self.idle(&first));
        }
        self.set_budget(begin, &first, reads);
        let Some(alive) = self.screened()? else { return Ok(self.stopped(None)) };
        if self.advisor.goals.is_empty() {
            return self.front(&alive);
        }
        self.select(alive)
    }

    /// Runs the load on the array that works most, to learn its length and the speed of this machine.
    fn first_look(&mut self) -> Result<Option<Sample>, Error> {
        let all: Vec<usize> = (0..self.field.len()).filter(|one| !self.field[*one].is_now).collect();
        let most = |of: &dyn Fn(&Contestant) -> f64| all.iter().copied().max_by(|a, b| of(&self.field[*a]).total_cmp(&of(&self.field[*b])));
        let Some(busiest) = most(&|one| one.busy_with_collection) else { return Ok(None) };
        let is_trace = matches!(self.scenario(busiest, self.run_of(self.advisor.seed, 1))?.workload.source, SourceSpec::Trace(_));
        let share = FIRST_LOOK_SHARES[usize::from(!is_trace)];
        let most = match self.advisor.effort {
            super::Effort::Requests(requests) => FIRST_LOOK_MAX.min((requests / share).max(REQUESTS_MIN / 10)),
            super::Effort::Time(_) => FIRST_LOOK_MAX,
        };
        let run = self.run_of(self.advisor.seed, most);
        let sample = self.run(&[busiest], run, "first look")?.remove(0);
        if let Some(sample) = &sample {
            self.pass_requests =
                (is_trace && sample.requests < most).then_some((sample.requests + self.field[busiest].requests_skipped).max(1));
            self.load_s = (is_trace && sample.requests < most).then_some(sample.simulated_s);
            self.is_trace = is_trace;
            self.busiest = Some(busiest);
            self.samples[busiest] = Some(sample.clone());
        }
        Ok(sample)
    }

    /// Determines how many requests there may be, and how many a run has.
    fn set_budget(&mut self, begin: Instant, first: &Sample, reads: f64) {
        let seconds = begin.elapsed().as_secs_f64().max(1e-3);
        self.requests_max = match self.advisor.effort {
            super::Effort::Requests(requests) => requests,
            super::Effort::Time(time) => {
                let rest = time.saturating_sub(begin.elapsed()).as_secs_f64();
                (self.cost_of(first.requests) as f64 / seconds * rest * self.advisor.workers as f64) as u64
            }
        };
        let share = match self.figure {
            Figure::Response(Direction::Read, _) => reads,
            Figure::Response(Direction::Write, _) => 1.0 - reads,
            _ => 1.0,
        };
        let beyond = match self.figure {
            Figure::Response(_, statistic) => statistic.share_beyond().unwrap_or(0.5),
            _ => 0.5,
        };
        // A margin keeps short runs from having just too few.
        let for_figure = (1.2 * BEYOND / beyond / share.max(1e-3)) as u64;
        let to_judge = (first.requests_to_judge.unwrap_or(0) as f64 * LONGER) as u64;
        self.requests_of_figure = for_figure.max(REQUESTS_MIN / 10);
        let wanted = REQUESTS_MIN.max(for_figure).max(to_judge);
        // If all arrays may race, the screen is the first round of the race.
        let share = if self.field.len() <= RACED_MAX { SHARES[1] } else { SHARES[0] };
        let affordable = (share * self.requests_max as f64 / self.field.len() as f64) as u64;
        self.screen_requests = wanted.min(affordable.saturating_sub(self.skipped())).max(1000);
        // The race sees the whole trace, so that no hour of it is left out.
        let pass = self.pass_requests.unwrap_or(0);
        self.race_requests = wanted.max(pass.min(FIRST_LOOK_MAX)).max(self.screen_requests);
        let affordable = ((self.requests_max as f64 / 60.0) as u64).saturating_sub(self.skipped());
        // A race of runs in which the compared figure cannot be seen would decide nothing.
        self.race_requests = self.race_requests.min(affordable.max(self.screen_requests).max(self.requests_of_figure));
    }

    /// Returns the number of requests that a run simulates besides those that it measures.
    fn skipped(&self) -> u64 {
        self.field.iter().map(|one| one.requests_skipped).max().unwrap_or(0)
    }

    /// Returns the number of requests that a run simulates, of which so many are measured.
    fn cost_of(&self, requests: u64) -> u64 {
        requests + self.skipped()
    }

    fn run_of(&self, seed: u64, requests: u64) -> RunOf {
        let passes = self.pass_requests.map_or(1, |pass| self.cost_of(requests).div_ceil(pass));
        RunOf { seed, requests, passes, rate_scale: None, under: Circumstance::Healthy }
    }

    fn scenario(&self, one: usize, run: RunOf) -> Result<Scenario, Error> {
        Ok(self.field[one].scenario(&run)?)
    }

    /// Runs contestants of the field with the same requests and seed, on all workers.
    fn run(&mut self, contestants: &[usize], run: RunOf, stage: &str) -> Result<Vec<Option<Sample>>, Error> {
        let runs = contestants.iter().map(|one| (self.field[*one].clone(), run)).collect();
        self.run_all(runs, stage)
    }

    /// Does runs on all workers. There is no sample of a run that was stopped.
    fn run_all(&mut self, runs: Vec<(Contestant, RunOf)>, stage: &str) -> Result<Vec<Option<Sample>>, Error> {
        let next = AtomicUsize::new(0);
        let results: Mutex<Vec<(usize, SampleOrError)>> = Mutex::new(Vec::new());
        let lock = || results.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let watch = self.watch;
        let best = self.best_so_far().map(|one| self.field[one].name.clone());
        let work = || {
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some((one, run)) = runs.get(index) else { break };
                if watch.stop() {
                    break;
                }
                let scenario = one.scenario(run).map_err(Error::from);
                let sample = scenario.and_then(|scenario| Ok(Sample::of(&scenario, watch)?));
                let mut results = lock();
                results.push((index, sample));
                watch.progress(stage, results.len(), runs.len(), best.as_deref());
            }
        };
        std::thread::scope(|scope| {
            let others = self.advisor.workers.min(runs.len()).saturating_sub(1);
            for _ in 0..others {
                if std::thread::Builder::new().spawn_scoped(scope, work).is_err() {
                    break;
                }
            }
            work();
        });
        let mut done: Vec<Option<Sample>> = vec![None; runs.len()];
        let mut all = results.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        all.sort_by_key(|(index, _)| *index);
        for (index, sample) in all {
            done[index] = sample?;
        }
        let simulated = runs.iter().zip(&done).map(|((one, _), done)| done.as_ref().map_or(0, |done| done.requests + one.requests_skipped));
        self.spent += simulated.sum::<u64>();
        Ok(done)
    }

    /// Runs short runs of all arrays, longer each time, and lets those leave that are surely not wanted. Returns the rest.
    fn screened(&mut self) -> Result<Option<Vec<usize>>, Error> {
        let mut alive: Vec<usize> = (0..self.field.len()).collect();
        for step in 0..SCREENS_MAX {
            let run = self.run_of(self.advisor.seed, self.screen_requests);
            let samples = self.run(&alive, run, "screen")?;
            let is_stopped = samples.iter().any(Option::is_none);
            let mut done = Vec::new();
            for (one, sample) in alive.iter().zip(samples) {
                if sample.is_some() {
                    self.samples[*one] = sample;
                    self.point(*one).stage = Stage::Screen;
                    done.push(*one);
                }
            }
            self.screened_by = self.supported(&done);
            let before = alive.len();
            alive = self.keep(done);
            if is_stopped {
                return Ok(None);
            }
            // What short runs do not show is looked for in longer ones, which may take what a race of the wrong arrays would have.
            let is_seen = self.screened_by == self.figure;
            let is_over = alive.len() <= RACED_MAX || (is_seen && alive.len() == before);
            let (longer, share) = match is_seen {
                true => (2 * self.screen_requests, SHARES[0]),
                false => (self.requests_of_figure.max(2 * self.screen_requests), SHARES[1]),
            };
            let cost = self.cost_of(longer) * alive.len() as u64;
            if is_over || step + 1 == SCREENS_MAX || self.spent + cost > (share * self.requests_max as f64) as u64 {
                break;
            }
            self.screen_requests = longer;
        }
        if self.screened_by != self.figure {
            let text = format!("the screen compared {}, because its runs are too short for {}", self.screened_by, self.figure);
            self.notes.push(text);
        }
        Ok(Some(alive))
    }

    /// Returns the figure that arrays of a screen can be compared by. In runs too short for the one that was asked for, it is a lower
    /// percentile of the same requests.
    fn supported(&self, screened: &[usize]) -> Figure {
        let Figure::Response(direction, deepest) = self.figure else { return self.figure };
        let samples: Vec<&Sample> = screened.iter().filter_map(|one| self.samples[*one].as_ref()).collect();
        let has = |figure: &Figure| samples.iter().all(|sample| sample.scores(*figure).is_some());
        let shallower = Statistic::ALL.into_iter().rev().filter(|statistic| *statistic <= deepest);
        shallower.map(|statistic| Figure::Response(direction, statistic)).find(has).unwrap_or(self.figure)
    }

    fn point(&mut self, one: usize) -> &mut PointOf {
        &mut self.points[self.point_of[one]]
    }

    /// Notes the score of a contestant in the latest stage.
    fn set_score(&mut self, one: usize, figure: Figure, scores: &[f64]) {
        let Some(by) = Differences::of(scores.to_vec()) else { return };
        let figure = figure.to_string();
        let point = self.point(one);
        (point.score, point.score_half_width, point.score_of) = (Some(by.mean), Some(by.half_width(0.975)), Some(figure));
    }

    fn leave(&mut self, one: usize, reason: String) {
        let point = self.point(one);
        if point.reason.is_empty() {
            point.reason = reason;
        }
    }

    /// Returns the contestants that stay after a screen.
    fn keep(&mut self, alive: Vec<usize>) -> Vec<usize> {
        let scores: Vec<Vec<f64>> = (0..self.field.len())
            .map(|one| {
                self.samples[one]
                    .as_ref()
                    .filter(|_| alive.contains(&one))
                    .and_then(|sample| sample.scores(self.screened_by))
                    .unwrap_or_default()
            })
            .collect();
        let mut stay = Vec::new();
        for one in alive {
            let sample = self.samples[one].clone();
            let Some(sample) = sample else { continue };
            if let (true, Some(life)) = (sample.is_wear_measured(), self.life(one, std::slice::from_ref(&sample)))
                && let Ok(cost) = self.cost(&self.field[one], Some(life[0]))
            {
                self.field[one].cost = cost;
                self.point(one).cost = self.advisor.prices.as_ref().map(|_| cost);
            }
            self.screened[one].push((self.screened_by, scores[one].clone()));
            self.set_score(one, self.screened_by, &scores[one]);
            if self.field[one].is_now {
                stay.push(one);
                continue;
            }
            if sample.falls_behind {
                self.leave(one, "falls behind the load".to_owned());
                continue;
            }
            let missed = self
                .advisor
                .goals
                .iter()
                .filter(|goal| goal.under == Circumstance::Healthy)
                .find(|goal| self.met(one, goal, std::slice::from_ref(&sample)).is_some_and(|met| met.word == Word::Failed));
            match missed {
                Some(goal) => {
                    let reason = format!("misses {:?} surely", goal.text);
                    self.leave(one, reason);
                }
                None => stay.push(one),
            }
        }
        let mut order: Vec<usize> = stay.iter().copied().filter(|one| !self.field[*one].is_now && !scores[*one].is_empty()).collect();
        let mean = |one: &usize| scores[*one].iter().sum::<f64>();
        order.sort_by(|a, b| mean(a).total_cmp(&mean(b)).then(a.cmp(b)));
        let gone = if self.screened_by == self.figure { self.behind(&order, &scores) } else { self.out_of_reach(&order, &scores) };
        for (one, reason) in &gone {
            self.leave(*one, reason.clone());
        }
        stay.retain(|one| gone.iter().all(|(left, _)| left != one));
        stay
    }

    /// Returns the arrays that leave a screen, with the reason. The best of `order` comes first, and two thirds of it may leave. Those
    /// leave that are surely behind one that is no worse in anything else.
    fn behind(&self, order: &[usize], scores: &[Vec<f64>]) -> Vec<(usize, String)> {
        let compared = order.len();
        let leaves = |index: usize| {
            let one = order[index];
            let leader = order[..index].iter().copied().find(|other| self.is_no_worse(*other, one))?;
            if self.samples[leader].as_ref().is_some_and(|sample| sample.shortfall.is_some()) {
                return None;
            }
            let left = screen(scores, leader, &[one], compared, self.rules).into_iter().next()?;
            let percent = (libm::exp(left.by.mean) - 1.0) * 100.0;
            Some((one, format!("{percent:.0} % worse in {} than another that costs no more", self.figure)))
        };
        (compared.div_ceil(3)..compared).filter_map(leaves).collect()
    }

    /// Returns the arrays that leave a screen whose runs are too short for the compared percentile, with the reason.
    ///
    /// One with the better 99th percentile may have the worse 99.9th, so that a lower percentile ranks nothing. But it bounds the compared
    /// one from below, as the slowest request bounds it from above. An array leaves if it is surely behind by these bounds.
    fn out_of_reach(&self, order: &[usize], scores: &[Vec<f64>]) -> Vec<(usize, String)> {
        let (Figure::Response(direction, deepest), Figure::Response(_, lower)) = (self.figure, self.screened_by) else { return Vec::new() };
        if lower == Statistic::Mean {
            return Vec::new();
        }
        let slowest = |one: usize| {
            let sample = self.samples[one].as_ref().filter(|sample| sample.shortfall.is_none())?;
            Some((sample.ceiling(direction, deepest)?, one))
        };
        let mut leaders: Vec<(f64, usize)> = order.iter().filter_map(|one| slowest(*one)).collect();
        leaders.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let leaves = |one: &usize| {
            let (ceiling, _) = *leaders.iter().find(|(_, other)| other != one && self.is_no_worse(*other, *one))?;
            let beyond = scores[*one].iter().map(|score| score - ceiling).collect();
            is_beyond(beyond, order.len(), self.rules)
                .then(|| (*one, format!("{} is worse than every response of another that costs no more", self.screened_by)))
        };
        order.iter().filter_map(leaves).collect()
    }

    /// Returns true if `other` costs no more than `one`, lives as long, and is no less certain to meet any other goal.
    fn is_no_worse(&self, other: usize, one: usize) -> bool {
        let (a, b) = (&self.field[other], &self.field[one]);
        let is_cost_first = self.advisor.prefer.first() == Some(&Preference::Cost) || self.advisor.goals.is_empty();
        if is_cost_first && a.cost > b.cost {
            return false;
        }
        let (Some(sample_a), Some(sample_b)) = (&self.samples[other], &self.samples[one]) else { return false };
        if self.advisor.goals.is_empty() {
            let life = |sample: &Sample| sample.life_years.unwrap_or(f64::INFINITY);
            return life(sample_a) >= 0.95 * life(sample_b);
        }
        self.advisor.goals.iter().filter(|goal| goal.figure != self.figure).all(|goal| {
            if goal.under != Circumstance::Healthy {
                return true;
            }
            let word = |one, sample: &Sample| self.met(one, goal, std::slice::from_ref(sample)).map(|met| met.word);
            word(other, sample_a) >= word(one, sample_b)
        })
    }

    /// Returns the certainty with which a contestant meets a goal, given samples in its circumstance; `None` if they cannot tell.
    fn met(&self, one: usize, goal: &Goal, samples: &[Sample]) -> Option<Met> {
        let contestant = &self.field[one];
        let model_error = self.advisor.residuals.error_of(goal.figure);
        let exact = |value: f64| {
            let violation = libm::log(if goal.is_at_most { value / goal.limit } else { goal.limit / value });
            Met { word: if violation <= 0.0 { Word::Sure } else { Word::Failed }, violation }
        };
        match goal.figure {
            Figure::Capacity => return Some(exact(contestant.capacity_bytes)),
            Figure::Cost => return Some(exact(contestant.cost)),
            Figure::Life => {
                let [least, most] = self.life(one, samples)?;
                let error = libm::exp(1.64 * model_error.unwrap_or(0.0));
                let word = match goal.limit {
                    limit if least / error >= limit => Word::Sure,
                    limit if least >= limit => Word::Likely,
                    limit if most * error >= limit => Word::Open,
                    _ => Word::Failed,
                };
                return Some(Met { word, violation: libm::log(goal.limit / most) });
            }
            Figure::RebuildHours => {
                let (hours, is_unhindered) = self.rebuild_hours(one, samples)?;
                let met = exact(hours);
                // No published figure tells how far a load slows rebuilding.
                return Some(Met { word: if is_unhindered { met.word } else { met.word.min(Word::Open) }, ..met });
            }
            Figure::Response(..) | Figure::WriteAmplification | Figure::Iops => {}
        }
        let by = self.score(goal.figure, samples)?;
        let sign = if goal.figure == Figure::Iops { -1.0 } else { 1.0 };
        let limit = sign * libm::log(goal.limit);
        let word = Word::of(by, model_error.unwrap_or(0.0), limit);
        // What no published figure backs is never called met.
        let word = if model_error.is_none() { word.min(Word::Open) } else { word };
        Some(Met { word, violation: by.mean - limit })
    }

    /// Returns the logarithm of a figure over samples, of which less is better.
    fn score(&self, figure: Figure, samples: &[Sample]) -> Option<Differences> {
        let values: Option<Vec<Vec<f64>>> = samples.iter().map(|sample| sample.estimates(figure)).collect();
        Differences::of(values?.concat())
    }

    /// Returns the least and greatest life of a contestant in years.
    ///
    /// The least comes from the measured write amplification, if enough was written, and otherwise from that of uniform writes. The run
    /// begins in the state that uniform writes leave. The greatest comes from what the load itself reaches in the long run, if that is
    /// less.
    fn life(&self, one: usize, samples: &[Sample]) -> Option<[f64; 2]> {
        let contestant = &self.field[one];
        let measured: Vec<f64> = samples.iter().filter(|sample| sample.is_wear_measured()).filter_map(|sample| sample.life_years).collect();
        let [bound_least, bound_most] = contestant.life_years?;
        if measured.is_empty() || measured.len() < samples.len() {
            return Some([bound_least, bound_most]);
        }
        let measured = measured.iter().sum::<f64>() / measured.len() as f64;
        Some([measured, contestant.own_life_years.map_or(measured, |own| own.max(measured))])
    }

    /// Returns the hours until a member is rebuilt, and true if the load does not slow that.
    fn rebuild_hours(&self, one: usize, samples: &[Sample]) -> Option<(f64, bool)> {
        let rates: Option<Vec<(f64, bool)>> = samples.iter().map(|sample| sample.rebuild).collect();
        let (rate, is_unhindered) = rates?.into_iter().min_by(|a, b| a.0.total_cmp(&b.0))?;
        Some((self.field[one].member_bytes / rate / 3600.0, is_unhindered))
    }

    /// Returns true if an array can be recommended: all goals are met likely or surely, and life may be open.
    fn qualifies(&self, one: usize, samples: &[Sample], under: Circumstance) -> bool {
        self.advisor.goals.iter().filter(|goal| goal.under == under).all(|goal| {
            let word = self.met(one, goal, samples).map(|met| met.word);
            let least = if goal.figure == Figure::Life { Word::Open } else { Word::Likely };
            word.is_some_and(|word| word >= least)
        })
    }

    /// Returns by how much the goals are missed at worst, as a logarithm. `unknown` stands for goals that the samples are too short for.
    fn violation(&self, one: usize, samples: &[Sample], unknown: f64) -> f64 {
        let healthy = self.advisor.goals.iter().filter(|goal| goal.under == Circumstance::Healthy);
        let of = |goal: &Goal| self.met(one, goal, samples).map_or(unknown, |met| met.violation);
        healthy.map(of).fold(f64::NEG_INFINITY, f64::max)
    }

    /// Races arrays, confirms the best, and answers.
    fn select(&mut self, alive: Vec<usize>) -> Result<Advice, Error> {
        let own = |search: &Self, one: usize| search.samples[one].clone().map(|sample| vec![sample]).unwrap_or_default();
        let now = alive.iter().copied().find(|one| self.field[*one].is_now);
        let mut open: Vec<usize> = alive.iter().copied().filter(|one| !self.field[*one].is_now).collect();
        // Arrays that miss a goal in the screen by its figure, but not surely, are tried after the others.
        let cost = |search: &Self, one: usize| search.field[one].cost;
        let is_cost_first = self.advisor.prefer.first() == Some(&Preference::Cost);
        let mut tried: Vec<usize> = Vec::new();
        let seed = self.advisor.seed;
        let mut stage_seed = seed + SEEDS_OF_STAGE;
        let race_limit = (SHARES[1] * self.requests_max as f64) as u64;
        while !open.is_empty() {
            let likely: Vec<usize> = open.iter().copied().filter(|one| self.violation(*one, &own(self, *one), 0.0) <= 0.0).collect();
            let pool = if likely.is_empty() { open.clone() } else { likely };
            let least = pool.iter().map(|one| cost(self, *one)).fold(f64::INFINITY, f64::min);
            let mut group: Vec<usize> = pool.into_iter().filter(|one| !is_cost_first || cost(self, *one) <= least * (1.0 + 1e-9)).collect();
            let mean = |search: &Self, one: usize| search.points[search.point_of[one]].score.unwrap_or(f64::INFINITY);
            group.sort_by(|a, b| mean(self, *a).total_cmp(&mean(self, *b)).then(a.cmp(b)));
            let behind = group.split_off(group.len().min(RACED_MAX));
            let screened: Vec<Sample> = group.iter().filter_map(|one| self.samples[*one].clone()).collect();
            let runs_of_two_rounds = 2 * (group.len() + RUNNERS_UP + 2);
            let first = match self.can_run_longer(&screened, runs_of_two_rounds, self.requests_max) {
                true => None,
                false => self.first_round(&group),
            };
            if first.is_none() {
                self.leave_room_for_fresh_seeds(runs_of_two_rounds);
            }
            let Some(race) = self.race(group.clone(), first, stage_seed, race_limit)? else {
                return Ok(self.stopped(group.first().copied()));
            };
            stage_seed += SEEDS_OF_STAGE;
            for (one, samples) in &race.samples {
                self.samples[*one] = samples.last().cloned();
            }
            let order = race.order();
            let best = order[0];
            let mut finalists = self.finalists(&order, &race, now);
            let latest = finalists.iter().map(|one| (*one, self.samples[*one].iter().cloned().collect())).collect();
            finalists = self.judged_finalists(&finalists, &latest).unwrap_or(finalists);
            let fresh = loop {
                let Some(fresh) = self.confirmed(finalists, stage_seed)? else { return Ok(self.stopped(Some(best))) };
                stage_seed += SEEDS_OF_STAGE;
                if fresh.samples.get(&best).is_none_or(|samples| samples.iter().all(|sample| sample.shortfall.is_none())) {
                    break fresh;
                }
                match self.judged_finalists(&fresh.finalists, &fresh.samples) {
                    Some(longer) => finalists = longer,
                    None => break fresh,
                }
            };
            let best_samples = fresh.samples.get(&best).cloned().unwrap_or_default();
            if best_samples.is_empty() || fresh.scores[0].len() < 2 {
                let cost = fresh.finalists.len() as u64 * self.cost_of(self.race_requests);
                let has_requests = self.spent + cost <= self.limit_of_fresh_seeds();
                let reason = match has_requests {
                    true => format!("runs of {} requests are too short for {}", self.race_requests, self.figure),
                    false => "the search ran out of requests before it could look again with fresh seeds".to_owned(),
                };
                return Ok(self.cant_tell(best, &reason));
            }
            if let Some(shortfall) = best_samples.iter().find_map(|sample| sample.shortfall.clone()) {
                return Ok(self.cant_tell(best, &format!("collection happened too rarely to judge: {shortfall}")));
            }
            let near_ones = self.near(&fresh, best);
            let mut candidates: Vec<usize> =
                std::iter::once(best).chain(near_ones.iter().copied().filter(|one| Some(*one) != now)).collect();
            candidates.sort_by(|a, b| cost(self, *a).total_cmp(&cost(self, *b)));
            candidates.retain(|one| fresh.samples.get(one).is_some_and(|samples| self.qualifies(*one, samples, Circumstance::Healthy)));
            for one in &fresh.finalists {
                if let Some(samples) = fresh.samples.get(one) {
                    self.tell(*one, samples, Circumstance::Healthy);
                    self.point(*one).stage = Stage::Confirmed;
                }
            }
            let has_others = self.advisor.goals.iter().any(|goal| goal.under != Circumstance::Healthy);
            let mut chosen = None;
            for one in candidates.clone() {
                // Those that are as good are only shown, unless a goal is about a circumstance.
                if chosen.is_some() && !has_others {
                    break;
                }
                match self.holds_in_circumstances(one, stage_seed)? {
                    None => return Ok(self.stopped(Some(one))),
                    Some(true) => chosen = chosen.or(Some(one)),
                    Some(false) => {
                        candidates.retain(|other| *other != one);
                        self.leave(one, "misses a goal about a circumstance".to_owned());
                    }
                }
            }
            // Something that is there already is kept, unless another one is better or cheaper.
            let keeps = now.filter(|now| self.points[self.point_of[*now]].reason.is_empty());
            let keeps = keeps.filter(|now| {
                let qualifies = fresh.samples.get(now).is_some_and(|samples| self.qualifies(*now, samples, Circumstance::Healthy));
                let is_near = near_ones.contains(now);
                let by_cost = |chosen: usize| cost(self, *now).total_cmp(&cost(self, chosen));
                qualifies
                    && match chosen {
                        Some(chosen) if is_cost_first => by_cost(chosen).is_lt() || (by_cost(chosen).is_eq() && is_near),
                        Some(_) => is_near,
                        None => true,
                    }
            });
            let keeps = match keeps {
                Some(now) => match self.holds_in_circumstances(now, stage_seed)? {
                    Some(true) => Some(now),
                    Some(false) => None,
                    None => return Ok(self.stopped(Some(now))),
                },
                None => None,
            };
            if let Some(chosen) = chosen {
                candidates.retain(|one| *one != chosen);
                let found = Found { chosen, near: candidates, now, keeps, race, fresh };
                return self.found(found, &behind, stage_seed);
            }
            if let Some(now) = keeps {
                return Ok(self.only_present(now));
            }
            // The whole group misses a goal, or only its best were looked at again. Those that remain are tried next.
            let is_backed = self.advisor.goals.iter().all(|goal| self.advisor.residuals.error_of(goal.figure).is_some());
            let reason = if is_backed {
                "misses a goal in runs with fresh seeds"
            } else {
                "no published figure backs a goal, so that it is never called met"
            };
            let failed: Vec<usize> = fresh.finalists.iter().copied().filter(|one| Some(*one) != now).collect();
            for one in &failed {
                self.leave(*one, reason.to_owned());
            }
            let is_over = |search: &Self| search.spent + 2 * search.cost_of(search.race_requests) > search.requests_max;
            tried.extend(failed);
            open.retain(|one| !tried.contains(one));
            if is_over(self) {
                break;
            }
        }
        Ok(self.not_reachable())
    }

    /// Returns the scores that arrays have from the screen, if they can be the first round of a race. Its runs must show the compared
    /// figure, and a race that has to see a whole trace needs longer ones. Further runs are then as long as those of the screen.
    fn first_round(&mut self, group: &[usize]) -> Option<Vec<Vec<f64>>> {
        if self.pass_requests.is_some() && self.race_requests != self.screen_requests {
            return None;
        }
        let of_screen = |one: &usize| self.screened[*one].last().filter(|(figure, scores)| *figure == self.figure && !scores.is_empty());
        let first = group.iter().map(|one| of_screen(one).map(|(_, scores)| scores.clone())).collect::<Option<_>>()?;
        self.race_requests = self.screen_requests;
        Some(first)
    }

    /// Returns the number of requests that a search may have simulated when fresh seeds have been run. The rest is for runs of what was
    /// chosen.
    fn limit_of_fresh_seeds(&self) -> u64 {
        (SHARES[2] * self.requests_max as f64) as u64
    }

    /// Makes runs so short that so many of them can be paid for, unless they would say nothing of the compared figure.
    fn leave_room_for_fresh_seeds(&mut self, runs: usize) {
        let left = self.limit_of_fresh_seeds().saturating_sub(self.spent);
        let affordable = (left / runs as u64).saturating_sub(self.skipped());
        self.race_requests = self.race_requests.min(affordable.max(self.requests_of_figure));
    }

    /// Makes further runs so long that collection happens often enough to judge arrays. So many runs have to end before the search has
    /// simulated `limit` requests. Returns true if runs become longer.
    fn can_run_longer(&mut self, samples: &[Sample], runs: usize, limit: u64) -> bool {
        let short = samples.iter().filter(|sample| sample.shortfall.is_some());
        let Some(needed) = short.filter_map(|sample| sample.requests_to_judge).max() else { return false };
        let affordable = (limit.saturating_sub(self.spent) / runs as u64).saturating_sub(self.skipped());
        let longer = ((needed as f64 * LONGER) as u64).min(affordable);
        if longer <= self.race_requests || affordable < needed {
            return false;
        }
        self.race_requests = longer;
        true
    }

    /// Returns the finalists that the best one is not surely better than.
    fn near(&self, fresh: &Fresh, best: usize) -> Vec<usize> {
        let index = |one: usize| fresh.finalists.iter().position(|other| *other == one).unwrap_or(0);
        let others: Vec<usize> = fresh.finalists.iter().copied().filter(|one| *one != best).collect();
        let scores: Vec<&[f64]> = others.iter().map(|one| fresh.scores[index(*one)].as_slice()).collect();
        let is_near = near(&fresh.scores[index(best)], &scores, self.rules);
        others.into_iter().zip(is_near).filter(|(_, is_near)| *is_near).map(|(one, _)| one).collect()
    }

    /// Runs an array in the circumstances that it is shown in. Returns true if it meets the goals about them, and `None` if it was stopped.
    fn holds_in_circumstances(&mut self, one: usize, seed: u64) -> Result<Option<bool>, Error> {
        let Some(circumstances) = self.circumstances(one, seed)? else { return Ok(None) };
        for (under, samples) in &circumstances {
            self.tell(one, samples, *under);
        }
        Ok(Some(circumstances.iter().all(|(under, samples)| self.qualifies(one, samples, *under))))
    }

    /// Runs a race, whose first round may have been run. Returns `None` if it was stopped.
    fn race(&mut self, group: Vec<usize>, first: Option<Vec<Vec<f64>>>, seed: u64, limit: u64) -> Result<Option<Race>, Error> {
        let rules = self.rules;
        for one in &group {
            self.point(*one).stage = Stage::Race;
        }
        // Two rounds are the least that decides something, but they must leave enough for fresh seeds, and so much that these are judged.
        let cost = self.cost_of(self.race_requests);
        let short = group.iter().filter_map(|one| self.samples[*one].as_ref()).filter(|sample| sample.shortfall.is_some());
        let longest = short.filter_map(|sample| sample.requests_to_judge).fold(self.race_requests, u64::max);
        let left = self.limit_of_fresh_seeds().saturating_sub(self.cost_of(longest) * (RUNNERS_UP + 2) as u64);
        let limit = limit.max((self.spent + 2 * cost * group.len() as u64).min(left));
        let mut rounds = Rounds {
            search: self,
            contestants: group.clone(),
            first_seed: seed,
            round: 0,
            limit,
            stage: "race",
            samples: BTreeMap::new(),
            failure: None,
        };
        let all: Vec<usize> = (0..group.len()).collect();
        let first = match first {
            Some(first) => first,
            // A single one has nothing to race against.
            None if group.len() == 1 => vec![Vec::new()],
            None => match rounds.round(&all) {
                Some(first) => first,
                None => match rounds.failure {
                    Some(error) => return Err(error),
                    None if rounds.search.watch.stop() => return Ok(None),
                    // Without a round, the order of the screen stands.
                    None => {
                        let raced = Raced { alive: all, left: Vec::new(), scores: vec![Vec::new(); group.len()], batches: 0 };
                        return Ok(Some(Race { raced, samples: BTreeMap::new(), group }));
                    }
                },
            },
        };
        let raced = race(&mut rounds, first, rules);
        let Rounds { samples, failure, .. } = rounds;
        if let Some(error) = failure {
            return Err(error);
        }
        if self.watch.stop() {
            return Ok(None);
        }
        for left in &raced.left {
            let percent = (libm::exp(left.by.mean) - 1.0) * 100.0;
            let reason = format!("{percent:.1} % worse in {} in the race", self.figure);
            self.leave(group[left.contestant], reason);
        }
        for (index, one) in group.iter().enumerate() {
            self.set_score(*one, self.figure, &raced.scores[index]);
        }
        Ok(Some(Race { raced, samples, group }))
    }

    /// Returns the best one, the closest others, and the present array.
    fn finalists(&self, order: &[usize], race: &Race, now: Option<usize>) -> Vec<usize> {
        let best = order[0];
        let mut others: Vec<(Option<Differences>, usize)> = order[1..].iter().map(|one| (race.between(*one, best), *one)).collect();
        let mean = |by: &Option<Differences>| by.map_or(0.0, |by| by.mean);
        others.sort_by(|a, b| mean(&a.0).total_cmp(&mean(&b.0)).then(a.1.cmp(&b.1)));
        // A race may let one of two equals go. Only what is surely behind needs no second look.
        let probability = 1.0 - self.rules.error / race.group.len() as f64;
        let is_open = |by: &Option<Differences>| by.is_none_or(|by| by.lower_bound(probability) <= self.rules.indifference);
        let close = others.into_iter().filter(|(by, _)| is_open(by)).map(|(_, one)| one).take(RUNNERS_UP);
        std::iter::once(best).chain(close).chain(now).collect()
    }

    /// Makes the runs of finalists long enough to be judged. Returns those that can be run for so long: all of them, or the best ones and
    /// the present array. It is `None` if runs become no longer.
    fn judged_finalists(&mut self, finalists: &[usize], samples: &BTreeMap<usize, Vec<Sample>>) -> Option<Vec<usize>> {
        for count in (finalists.len().min(2)..=finalists.len()).rev() {
            let is_best = |(rank, one): &(usize, &usize)| *rank < count || self.field[**one].is_now;
            let best: Vec<usize> = finalists.iter().enumerate().filter(is_best).map(|(_, one)| *one).collect();
            let of_best: Vec<Sample> = best.iter().filter_map(|one| samples.get(one)).flatten().cloned().collect();
            if self.can_run_longer(&of_best, best.len(), self.limit_of_fresh_seeds()) {
                return Some(best);
            }
        }
        None
    }

    /// Runs finalists with fresh seeds. Returns `None` if it was stopped.
    fn confirmed(&mut self, finalists: Vec<usize>, seed: u64) -> Result<Option<Fresh>, Error> {
        let (rules, limit) = (self.rules, self.limit_of_fresh_seeds());
        let rounds_max = if finalists.len() == 1 { 2 } else { CONFIRMING_ROUNDS_MAX };
        let all: Vec<usize> = (0..finalists.len()).collect();
        let mut rounds = Rounds {
            search: self,
            contestants: finalists.clone(),
            first_seed: seed,
            round: 0,
            limit,
            stage: "fresh seeds",
            samples: BTreeMap::new(),
            failure: None,
        };
        let scores = confirm(&mut rounds, &all, rules, rounds_max);
        let Rounds { samples, failure, .. } = rounds;
        match failure {
            Some(error) => Err(error),
            None if self.watch.stop() => Ok(None),
            None => Ok(Some(Fresh { finalists, scores, samples, seed })),
        }
    }
}

impl Race {
    /// Returns the arrays, the best one first.
    fn order(&self) -> Vec<usize> {
        let alive = self.raced.alive.iter().map(|index| self.group[*index]);
        // Those that left last came closest.
        alive.chain(self.raced.left.iter().rev().map(|left| self.group[left.contestant])).collect()
    }

    /// Returns the differences of two arrays in the rounds that both ran.
    fn between(&self, one: usize, other: usize) -> Option<Differences> {
        let scores = |one: usize| self.group.iter().position(|other| *other == one).map(|index| &self.raced.scores[index]);
        let (own, of_other) = (scores(one)?, scores(other)?);
        let shared = own.len().min(of_other.len());
        Differences::between(&own[..shared], &of_other[..shared])
    }
}

impl Fresh {
    /// Returns the differences of two arrays with fresh seeds.
    fn between(&self, one: usize, other: usize) -> Option<Differences> {
        let scores = |one: usize| self.finalists.iter().position(|other| *other == one).map(|index| &self.scores[index]);
        Differences::between(scores(one)?, scores(other)?)
    }
}

/// Refuses axes that are no keys of the configuration, also those whose values are not allowed.
fn refuse_unknown_keys(advisor: &Advisor) -> Result<(), Error> {
    let is_named = |axis: &&Axis| NAMED_AXES.iter().any(|(name, _)| *name == axis.key);
    for axis in advisor.space.axes.iter().filter(|axis| !is_named(axis)) {
        let setting = (axis.key.clone(), axis.values.first().cloned().unwrap_or_default());
        if let Err(mut problems) = advisor.load.scenario([setting], None) {
            // A value may need others that only some points have.
            problems.list.retain(|problem| problem.message.starts_with("there is no key"));
            if !problems.list.is_empty() {
                return Err(problems.into());
            }
        }
    }
    Ok(())
}

/// Formats a capacity in terabytes.
fn terabytes(bytes: f64) -> String {
    format!("{:.3} TB", bytes / 1e12)
}

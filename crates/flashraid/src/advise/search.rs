//! The search: arithmetic, a screen, a race, fresh seeds, circumstances and the growth of the load.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use super::advice::{ADVICE_SCHEMA, Advice, FigureOf, Other, PointOf, Stage, Verb};
use super::contestant::{Contestant, Maker, RunOf};
use super::goal::{Circumstance, Direction, Figure, Goal, Statistic, contradiction};
use super::sample::Sample;
use super::select::{Batches, Differences, Raced, Rules, Word, confirm, near, race, screen};
use super::space::NAMED_AXES;
use super::{Advisor, Preference, Watch};
use crate::Error;
use crate::config::Scenario;
use crate::study::Axis;
use crate::template::Template;
use flashraid_workload::{SourceSpec, Stop};

/// Smallest relative difference that counts, as in the sentences of comparisons.
const INDIFFERENCE: f64 = 1.05;
/// Number of arrays at which the screen ends.
const RACED_MAX: usize = 12;
/// Most rounds of screens. Each has runs of twice the length.
const SCREENS_MAX: usize = 3;
/// Shares of the requests that the screen may use, the screen with the race, and these with fresh seeds.
const SHARES: [f64; 3] = [0.4, 0.7, 0.9];
/// Requests of a run, if nothing needs more.
const REQUESTS_MIN: u64 = 10_000;
/// Requests beyond a percentile that a run should have.
const BEYOND: f64 = 20.0;
/// Most requests of the first look at the load.
const FIRST_LOOK_MAX: u64 = 200_000;
/// Part of the requests of a search that the first look may take, as a divisor.
const FIRST_LOOK_SHARE: u64 = 5;
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
    rules: Rules,
    /// Number of requests of a pass of a trace; `None` for generated requests.
    pass_requests: Option<u64>,
    requests_max: u64,
    spent: u64,
    race_requests: u64,
    screen_requests: u64,
    /// Latest sample of each contestant.
    samples: Vec<Option<Sample>>,
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
        let cost = search.race_requests * contestants.len() as u64;
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
        let stop = Stop::default();
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
        let config = serde_json::to_value(&own.config).expect("a configuration is plain data");
        let maker = Maker::new(&load, &advisor.space, &advisor.allow, config, &stop);
        let made = maker.field(points, advisor.workers)?;
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
            rules: Rules { indifference: libm::log(INDIFFERENCE), error: advisor.error / 2.0 },
            pass_requests: None,
            requests_max: 0,
            spent: 0,
            race_requests: 0,
            screen_requests: 0,
            samples: Vec::new(),
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
                score: None,
                score_half_width: None,
                figures,
            };
            search.points.push(nothing);
        }
        search.arithmetic(field)?;
        search.decide(reads)
    }

    /// Keeps the contestants that arithmetic does not rule out.
    fn arithmetic(&mut self, field: Vec<Contestant>) -> Result<(), Error> {
        let largest = field.iter().map(|one| one.capacity_bytes).fold(0.0, f64::max);
        if !field.is_empty() && largest < self.advisor.capacity_bytes {
            let best = field.iter().find(|one| one.capacity_bytes == largest).map_or("", |one| one.name.as_str());
            return Err(Error::UnusableInput(format!(
                "--capacity {}: no array of the space offers as much; the largest is {} with {}",
                terabytes(self.advisor.capacity_bytes),
                best,
                terabytes(largest)
            )));
        }
        for one in field {
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
                score: None,
                score_half_width: None,
                figures: Vec::new(),
            });
            if reason.is_none() {
                self.point_of.push(self.points.len() - 1);
                self.field.push(one);
            }
        }
        self.samples = vec![None; self.field.len()];
        Ok(())
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
            Figure::Cost if one.cost_bytes > goal.limit => Some("too expensive".to_owned()),
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
            let sentence = format!(
                "Idle: even in the busiest moment, dies of the busiest array work {:.2} % of the time. Take any of these; choose by capacity.",
                first.busiest_interval * 100.0
            );
            return Ok(self.answer(Verb::Idle, Vec::new(), vec![sentence]));
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
        let most = match self.advisor.effort {
            super::Effort::Requests(requests) => FIRST_LOOK_MAX.min((requests / FIRST_LOOK_SHARE).max(REQUESTS_MIN / 10)),
            super::Effort::Time(_) => FIRST_LOOK_MAX,
        };
        let run = self.run_of(self.advisor.seed, most);
        let sample = self.run(&[busiest], run, "first look")?.remove(0);
        let is_trace = matches!(self.scenario(busiest, run)?.workload.source, SourceSpec::Trace(_));
        if let Some(sample) = &sample {
            self.pass_requests = (is_trace && sample.requests < most).then_some(sample.requests.max(1));
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
                (first.requests as f64 / seconds * rest * self.advisor.workers as f64) as u64
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
        let until_judged = first.requests_until_judged.unwrap_or(0);
        let wanted = REQUESTS_MIN.max(for_figure).max(until_judged);
        let affordable = (SHARES[0] * self.requests_max as f64 / self.field.len() as f64) as u64;
        self.screen_requests = wanted.min(affordable).max(1000);
        // The race sees the whole trace, so that no hour of it is left out.
        let pass = self.pass_requests.unwrap_or(0);
        self.race_requests = wanted.max(pass.min(FIRST_LOOK_MAX)).max(self.screen_requests);
        let affordable = (self.requests_max as f64 / 60.0) as u64;
        self.race_requests = self.race_requests.min(affordable.max(self.screen_requests));
    }

    fn run_of(&self, seed: u64, requests: u64) -> RunOf {
        let passes = self.pass_requests.map_or(1, |pass| requests.div_ceil(pass));
        RunOf { seed, requests, passes, rate_scale: None, under: Circumstance::Healthy }
    }

    fn scenario(&self, one: usize, run: RunOf) -> Result<Scenario, Error> {
        Ok(self.field[one].scenario(&run)?)
    }

    /// Runs contestants with the same requests and seed, on all workers.
    fn run(&mut self, contestants: &[usize], run: RunOf, stage: &str) -> Result<Vec<Option<Sample>>, Error> {
        let next = AtomicUsize::new(0);
        let results: Mutex<Vec<(usize, SampleOrError)>> = Mutex::new(Vec::new());
        let lock = || results.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let watch = self.watch;
        let best = self.best_so_far().map(|one| self.field[one].name.clone());
        let this: &Self = self;
        let work = || {
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(one) = contestants.get(index) else { break };
                if watch.stop() {
                    break;
                }
                let sample = this.scenario(*one, run).and_then(|scenario| Ok(Sample::of(&scenario, &|| watch.stop())?));
                let mut results = lock();
                results.push((index, sample));
                watch.progress(stage, results.len(), contestants.len(), best.as_deref());
            }
        };
        std::thread::scope(|scope| {
            let others = this.advisor.workers.min(contestants.len()).saturating_sub(1);
            for _ in 0..others {
                if std::thread::Builder::new().spawn_scoped(scope, work).is_err() {
                    break;
                }
            }
            work();
        });
        let mut done: Vec<Option<Sample>> = vec![None; contestants.len()];
        let mut all = results.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        all.sort_by_key(|(index, _)| *index);
        for (index, sample) in all {
            done[index] = sample?;
        }
        self.spent += done.iter().flatten().map(|sample| sample.requests).sum::<u64>();
        Ok(done)
    }

    /// Runs short runs of all arrays, twice as long each time, and lets those leave that are surely not wanted. Returns the rest.
    fn screened(&mut self) -> Result<Option<Vec<usize>>, Error> {
        let mut alive: Vec<usize> = (0..self.field.len()).collect();
        let limit = (SHARES[0] * self.requests_max as f64) as u64;
        let asked = self.figure;
        for step in 0..SCREENS_MAX {
            let run = self.run_of(self.advisor.seed, self.screen_requests);
            let samples = self.run(&alive, run, "screen")?;
            if samples.iter().any(Option::is_none) {
                return Ok(None);
            }
            for (one, sample) in alive.iter().zip(samples) {
                self.samples[*one] = sample;
                self.point(*one).stage = Stage::Screen;
            }
            self.figure = self.supported(asked);
            let before = alive.len();
            alive = self.keep(alive);
            let next = 2 * self.screen_requests * alive.len() as u64;
            if alive.len() <= RACED_MAX || alive.len() == before || step + 1 == SCREENS_MAX || self.spent + next > limit {
                break;
            }
            self.screen_requests *= 2;
        }
        if self.figure != asked {
            self.notes.push(format!("the screen compared {}, because its runs are too short for {asked}", self.figure));
        }
        self.figure = asked;
        Ok(Some(alive))
    }

    /// Returns the figure that arrays can be compared by: the one that was asked for or, in shorter runs, one of the same requests.
    fn supported(&self, asked: Figure) -> Figure {
        let Figure::Response(direction, deepest) = asked else { return asked };
        let has = |figure: &Figure| self.samples.iter().flatten().all(|sample| sample.scores(*figure).is_some());
        let shallower = Statistic::ALL.into_iter().rev().filter(|statistic| *statistic <= deepest);
        shallower.map(|statistic| Figure::Response(direction, statistic)).find(has).unwrap_or(asked)
    }

    fn point(&mut self, one: usize) -> &mut PointOf {
        &mut self.points[self.point_of[one]]
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
                    .and_then(|sample| sample.scores(self.figure))
                    .unwrap_or_default()
            })
            .collect();
        let mut stay = Vec::new();
        for one in alive {
            let sample = self.samples[one].clone();
            let Some(sample) = sample else { continue };
            if let Some(by) = Differences::of(scores[one].clone()) {
                let point = self.point(one);
                (point.score, point.score_half_width) = (Some(by.mean), Some(by.half_width(0.975)));
            }
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
        // Of the rest, two thirds may leave, and only those that are surely behind one that is no worse in anything else.
        let mut order: Vec<usize> = stay.iter().copied().filter(|one| !self.field[*one].is_now && !scores[*one].is_empty()).collect();
        let mean = |one: &usize| scores[*one].iter().sum::<f64>();
        order.sort_by(|a, b| mean(a).total_cmp(&mean(b)).then(a.cmp(b)));
        let compared = order.len();
        let mut gone = Vec::new();
        for index in compared.div_ceil(3)..compared {
            let one = order[index];
            let leader = order[..index].iter().copied().find(|other| self.is_no_worse(*other, one));
            let Some(leader) = leader else { continue };
            if self.samples[leader].as_ref().is_some_and(|sample| sample.shortfall.is_some()) {
                continue;
            }
            if let Some(left) = screen(&scores, leader, &[one], compared, self.rules).first() {
                let percent = (libm::exp(left.by.mean) - 1.0) * 100.0;
                let reason = format!("{:.0} % worse in {} than another that costs no more", percent, self.figure);
                self.leave(one, reason);
                gone.push(one);
            }
        }
        stay.retain(|one| !gone.contains(one));
        stay
    }

    /// Returns true if `other` costs no more than `one`, lives as long, and is no less certain to meet any other goal.
    fn is_no_worse(&self, other: usize, one: usize) -> bool {
        let (a, b) = (&self.field[other], &self.field[one]);
        let is_cost_first = self.advisor.prefer.first() == Some(&Preference::Cost) || self.advisor.goals.is_empty();
        if is_cost_first && a.cost_bytes > b.cost_bytes {
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
            Figure::Cost => return Some(exact(contestant.cost_bytes)),
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

    /// Returns the mean score of a figure over samples.
    fn score(&self, figure: Figure, samples: &[Sample]) -> Option<Differences> {
        let scores: Option<Vec<Vec<f64>>> = samples.iter().map(|sample| sample.scores(figure)).collect();
        Differences::of(scores?.concat())
    }

    /// Returns the least and greatest life of a contestant in years.
    ///
    /// The least comes from the measured write amplification, if enough was written, and otherwise from that of uniform writes. The run
    /// begins in the state that uniform writes leave. The greatest comes from what the load itself reaches in the long run, if that is
    /// less.
    fn life(&self, one: usize, samples: &[Sample]) -> Option<[f64; 2]> {
        let contestant = &self.field[one];
        let measured: Vec<f64> = samples.iter().filter(|sample| sample.is_wear_measured).filter_map(|sample| sample.life_years).collect();
        let [bound_least, bound_most] = contestant.life_years?;
        if measured.is_empty() || measured.len() < samples.len() {
            return Some([bound_least, bound_most]);
        }
        let measured = measured.iter().sum::<f64>() / measured.len() as f64;
        Some([measured, contestant.own_life_years.map_or(measured, |own| own.max(measured))])
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
        let cost = |search: &Self, one: usize| search.field[one].cost_bytes;
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
            self.can_run_longer(&screened, group.len());
            let Some((raced, samples, contestants)) = self.race(group.clone(), stage_seed, race_limit)? else {
                return Ok(self.stopped(group.first().copied()));
            };
            stage_seed += SEEDS_OF_STAGE;
            for (one, samples) in &samples {
                self.samples[*one] = samples.last().cloned();
            }
            let order = self.order_of(&raced, &contestants);
            let best = order[0];
            let finalists = self.finalists(&order, &raced, &contestants, now);
            let Some((fresh, fresh_samples)) = self.confirmed(&finalists, stage_seed)? else { return Ok(self.stopped(Some(best))) };
            stage_seed += SEEDS_OF_STAGE;
            let best_samples = fresh_samples.get(&best).cloned().unwrap_or_default();
            if best_samples.is_empty() || fresh[0].len() < 2 {
                let has_requests = self.spent + 2 * self.race_requests <= self.requests_max;
                let reason = match has_requests {
                    true => format!("runs of {} requests are too short for {}", self.race_requests, self.figure),
                    false => "the search ran out of requests before it could look again with fresh seeds".to_owned(),
                };
                return Ok(self.cant_tell(best, &reason));
            }
            if self.can_run_longer(&best_samples, group.len()) {
                continue;
            }
            if let Some(shortfall) = best_samples.iter().find_map(|sample| sample.shortfall.clone()) {
                return Ok(self.cant_tell(best, &format!("collection happened too rarely to judge: {shortfall}")));
            }
            let others: Vec<&[f64]> = fresh[1..].iter().map(Vec::as_slice).collect();
            let is_near = near(&fresh[0], &others, self.rules);
            let near_ones: Vec<usize> = finalists[1..].iter().zip(&is_near).filter(|(_, near)| **near).map(|(one, _)| *one).collect();
            let mut candidates: Vec<usize> =
                std::iter::once(best).chain(near_ones.iter().copied().filter(|one| Some(*one) != now)).collect();
            candidates.sort_by(|a, b| cost(self, *a).total_cmp(&cost(self, *b)));
            candidates.retain(|one| fresh_samples.get(one).is_some_and(|samples| self.qualifies(*one, samples, Circumstance::Healthy)));
            let mut circumstances = BTreeMap::new();
            let mut chosen = None;
            for one in &candidates {
                let samples = self.circumstances(*one, stage_seed)?;
                let Some(samples) = samples else { return Ok(self.stopped(Some(*one))) };
                let is_fine = samples.iter().all(|(under, samples)| self.qualifies(*one, samples, *under));
                circumstances.insert(*one, samples);
                if is_fine {
                    chosen = Some(*one);
                    break;
                }
            }
            for one in finalists.iter().copied() {
                if let Some(samples) = fresh_samples.get(&one) {
                    self.tell(one, samples, Circumstance::Healthy);
                    self.point(one).stage = Stage::Confirmed;
                }
                for (under, samples) in circumstances.get(&one).into_iter().flatten() {
                    self.tell(one, samples, *under);
                }
            }
            if let Some(chosen) = chosen {
                candidates.retain(|one| *one != chosen);
                let found = Found { chosen, near: candidates, now, is_now_near: now.is_some_and(|now| near_ones.contains(&now)) };
                return self.found(found, &fresh_samples, &contestants, &order, &behind, stage_seed);
            }
            // The whole group misses a goal, or only its best were looked at again. Those that remain are tried next.
            let is_backed = self.advisor.goals.iter().all(|goal| self.advisor.residuals.error_of(goal.figure).is_some());
            let reason = if is_backed {
                "misses a goal in runs with fresh seeds"
            } else {
                "no published figure backs a goal, so that it is never called met"
            };
            for one in &finalists {
                self.leave(*one, reason.to_owned());
            }
            let is_over = |search: &Self| search.spent + 2 * search.race_requests > search.requests_max;
            tried.extend(finalists.iter().copied().filter(|one| Some(*one) != now));
            open.retain(|one| !tried.contains(one));
            if is_over(self) {
                break;
            }
        }
        Ok(self.not_reachable())
    }

    /// Makes further runs so long that collection happens often enough to judge arrays. There must be enough requests left for a race and
    /// for fresh seeds. Returns true if runs become longer.
    fn can_run_longer(&mut self, samples: &[Sample], contestants: usize) -> bool {
        let short = samples.iter().filter(|sample| sample.shortfall.is_some());
        let Some(needed) = short.filter_map(|sample| sample.requests_until_judged).max() else { return false };
        let rounds = 2 * (contestants + RUNNERS_UP + 2) as u64;
        let affordable = self.requests_max.saturating_sub(self.spent) / rounds;
        let longer = ((needed as f64 * LONGER) as u64).min(affordable);
        if longer <= self.race_requests || affordable < needed {
            return false;
        }
        self.race_requests = longer;
        true
    }

    /// Runs a race. Returns its end, the samples of each contestant, and the contestants in the order of the race.
    #[expect(clippy::type_complexity, reason = "three results of one step")]
    fn race(
        &mut self,
        group: Vec<usize>,
        seed: u64,
        limit: u64,
    ) -> Result<Option<(Raced, BTreeMap<usize, Vec<Sample>>, Vec<usize>)>, Error> {
        let rules = self.rules;
        for one in &group {
            self.point(*one).stage = Stage::Race;
        }
        // A single one has nothing to race against.
        let first_limit = limit.max(self.spent + 2 * self.race_requests * group.len() as u64).min(self.requests_max);
        let mut rounds = Rounds {
            search: self,
            contestants: group.clone(),
            first_seed: seed,
            round: 0,
            limit: first_limit,
            stage: "race",
            samples: BTreeMap::new(),
            failure: None,
        };
        let all: Vec<usize> = (0..group.len()).collect();
        let first = match group.len() {
            1 => vec![Vec::new()],
            _ => match rounds.round(&all) {
                Some(first) => first,
                None => match rounds.failure {
                    Some(error) => return Err(error),
                    None if rounds.search.watch.stop() => return Ok(None),
                    // Without a round, the order of the screen stands.
                    None => {
                        let order = Raced { alive: all, left: Vec::new(), scores: vec![Vec::new(); group.len()], batches: 0 };
                        return Ok(Some((order, BTreeMap::new(), group)));
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
            if let Some(by) = Differences::of(raced.scores[index].clone()) {
                let point = self.point(*one);
                (point.score, point.score_half_width) = (Some(by.mean), Some(by.half_width(0.975)));
            }
        }
        Ok(Some((raced, samples, group)))
    }

    /// Returns contestants of a race, the best first.
    fn order_of(&self, raced: &Raced, group: &[usize]) -> Vec<usize> {
        let alive = raced.alive.iter().map(|index| group[*index]);
        // Those that left last came closest.
        alive.chain(raced.left.iter().rev().map(|left| group[left.contestant])).collect()
    }

    /// Returns the best one, the closest others, and the present array.
    fn finalists(&self, order: &[usize], raced: &Raced, group: &[usize], now: Option<usize>) -> Vec<usize> {
        let best = order[0];
        let scores = |one: usize| group.iter().position(|other| *other == one).map(|index| &raced.scores[index]);
        let behind = |one: usize| {
            let (own, of_best) = (scores(one)?, scores(best)?);
            let shared = own.len().min(of_best.len());
            Differences::between(&own[..shared], &of_best[..shared])
        };
        let mut others: Vec<(Option<Differences>, usize)> = order[1..].iter().map(|one| (behind(*one), *one)).collect();
        let mean = |by: &Option<Differences>| by.map_or(0.0, |by| by.mean);
        others.sort_by(|a, b| mean(&a.0).total_cmp(&mean(&b.0)).then(a.1.cmp(&b.1)));
        // A race may let one of two equals go. Only what is surely behind needs no second look.
        let probability = 1.0 - self.rules.error / group.len() as f64;
        let is_open = |by: &Option<Differences>| by.is_none_or(|by| by.lower_bound(probability) <= self.rules.indifference);
        let close = others.into_iter().filter(|(by, _)| is_open(by)).map(|(_, one)| one).take(RUNNERS_UP);
        std::iter::once(best).chain(close).chain(now).collect()
    }

    /// Runs finalists with fresh seeds.
    #[expect(clippy::type_complexity, reason = "two results of one step")]
    fn confirmed(&mut self, finalists: &[usize], seed: u64) -> Result<Option<(Vec<Vec<f64>>, BTreeMap<usize, Vec<Sample>>)>, Error> {
        // The rest is for circumstances and for the growth of the load.
        let (rules, limit) = (self.rules, (SHARES[2] * self.requests_max as f64) as u64);
        let rounds_max = if finalists.len() == 1 { 2 } else { CONFIRMING_ROUNDS_MAX };
        let all: Vec<usize> = (0..finalists.len()).collect();
        let mut rounds = Rounds {
            search: self,
            contestants: finalists.to_vec(),
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
            None => Ok(Some((scores, samples))),
        }
    }

    /// Runs an array in the circumstances that goals or the user ask for.
    fn circumstances(&mut self, one: usize, seed: u64) -> Result<Option<BTreeMap<Circumstance, Vec<Sample>>>, Error> {
        let mut all = BTreeMap::new();
        for under in Circumstance::ALL {
            let is_asked = self.advisor.under.contains(&under) || self.advisor.goals.iter().any(|goal| goal.under == under);
            let needs_redundancy = matches!(under, Circumstance::Failed | Circumstance::Rebuild);
            if under == Circumstance::Healthy || !is_asked || (needs_redundancy && !self.field[one].has_redundancy) {
                continue;
            }
            let mut samples = Vec::new();
            for round in 0..2 {
                let run = RunOf { under, ..self.run_of(seed + round, self.race_requests) };
                match self.run(&[one], run, under.name())?.remove(0) {
                    Some(sample) => samples.push(sample),
                    None => return Ok(None),
                }
            }
            all.insert(under, samples);
        }
        Ok(Some(all))
    }

    /// Adds the figures of an array to its point, with intervals and words.
    fn tell(&mut self, one: usize, samples: &[Sample], under: Circumstance) {
        let mut figures: Vec<(Figure, Option<Goal>)> =
            self.advisor.goals.iter().filter(|goal| goal.under == under).map(|goal| (goal.figure, Some(goal.clone()))).collect();
        let mut add = |figure: Figure| {
            if figures.iter().all(|(known, _)| *known != figure) {
                figures.push((figure, None));
            }
        };
        add(self.figure);
        if under == Circumstance::Healthy {
            [Figure::Life, Figure::WriteAmplification, Figure::Capacity, Figure::Cost].into_iter().for_each(&mut add);
        }
        let told: Vec<FigureOf> =
            figures.into_iter().filter_map(|(figure, goal)| self.figure_of(one, figure, goal, samples, under)).collect();
        let point = self.point(one);
        point.figures.retain(|figure| figure.under != under.name());
        point.figures.extend(told);
    }

    fn figure_of(&self, one: usize, figure: Figure, goal: Option<Goal>, samples: &[Sample], under: Circumstance) -> Option<FigureOf> {
        let word = goal.as_ref().and_then(|goal| self.met(one, goal, samples)).map(|met| met.word.name());
        let told = FigureOf {
            figure: figure.to_string(),
            under: under.name().to_owned(),
            value: 0.0,
            by_chance: None,
            with_model: None,
            goal: goal.map(|goal| goal.text),
            word,
        };
        let model_error = self.advisor.residuals.error_of(figure);
        Some(match figure {
            Figure::Capacity => FigureOf { value: self.field[one].capacity_bytes, ..told },
            Figure::Cost => FigureOf { value: self.field[one].cost_bytes, ..told },
            Figure::Life => {
                let [least, most] = self.life(one, samples)?;
                let error = libm::exp(1.64 * model_error.unwrap_or(0.0));
                FigureOf { value: least, with_model: Some([least / error, most * error]), ..told }
            }
            Figure::Response(..) | Figure::WriteAmplification | Figure::Iops => {
                let by = self.score(figure, samples)?;
                let sign = if figure == Figure::Iops { -1.0 } else { 1.0 };
                let between = |width: f64| {
                    let mut ends = [libm::exp(sign * (by.mean - width)), libm::exp(sign * (by.mean + width))];
                    ends.sort_by(f64::total_cmp);
                    ends
                };
                let is_measured = matches!(figure, Figure::Response(..));
                FigureOf {
                    value: libm::exp(sign * by.mean),
                    by_chance: is_measured.then(|| between(by.half_width(0.975))),
                    with_model: model_error.map(|error| between(Word::margin(by, error))),
                    ..told
                }
            }
        })
    }

    /// Answers with what was found.
    fn found(
        &mut self,
        found: Found,
        fresh: &BTreeMap<usize, Vec<Sample>>,
        group: &[usize],
        order: &[usize],
        behind: &[usize],
        seed: u64,
    ) -> Result<Advice, Error> {
        let Found { chosen, near, now, is_now_near } = found;
        for one in behind {
            self.leave(*one, "not raced: twelve others were better in the screen".to_owned());
        }
        let mut sentences = Vec::new();
        let name = |search: &Self, one: usize| search.field[one].name.clone();
        let is_cost_first = self.advisor.prefer.first() == Some(&Preference::Cost);
        let now_samples = now.and_then(|now| fresh.get(&now)).cloned().unwrap_or_default();
        let keeps = now.filter(|now| {
            let is_as_cheap = self.field[*now].cost_bytes <= self.field[chosen].cost_bytes * (1.0 + 1e-9);
            is_now_near && self.qualifies(*now, &now_samples, Circumstance::Healthy) && (!is_cost_first || is_as_cheap)
        });
        let (verb, named) = match (keeps, near.as_slice()) {
            (Some(now), _) => {
                sentences.push(format!("Keep {}: the best of the others is better by less than 5 %.", name(self, now)));
                (Verb::Keep, vec![now, chosen])
            }
            (None, []) => {
                sentences.push(format!("Take {}.", name(self, chosen)));
                (Verb::Take, vec![chosen])
            }
            (None, near) => {
                let others: Vec<String> = near.iter().map(|one| name(self, *one)).collect();
                sentences.push(format!(
                    "Either {}, or {}: they differ by less than can be told or matters.",
                    name(self, chosen),
                    others.join(", or ")
                ));
                (Verb::Either, std::iter::once(chosen).chain(near.iter().copied()).collect())
            }
        };
        let others = group.len() - 1;
        let of_price = if is_cost_first { " of this price" } else { "" };
        sentences.push(match others {
            0 => format!("No other array{of_price} was in the race."),
            _ => format!(
                "With {:.0} %, none of {} other {}{of_price} is better in {} by more than 5 %, in the model.",
                (1.0 - self.advisor.error) * 100.0,
                others,
                if others == 1 { "array" } else { "arrays" },
                self.figure
            ),
        });
        for one in 0..self.field.len() {
            let Some(sample) = self.samples[one].clone() else { continue };
            if group.contains(&one) || self.field[one].is_now {
                continue;
            }
            let is_dearer = self.field[one].cost_bytes > self.field[chosen].cost_bytes * (1.0 + 1e-9);
            if self.violation(one, std::slice::from_ref(&sample), 0.0) > 0.0 {
                self.leave(one, "misses a goal, though not surely".to_owned());
            } else if is_cost_first && is_dearer {
                self.leave(one, "costs more than one that meets the goals".to_owned());
            }
        }
        if let Some(sentence) = self.halves(order, fresh) {
            sentences.insert(0, sentence);
        }
        let mut also = self.also(chosen, order, now);
        also.retain(|other| near.iter().all(|one| self.point_of[*one] != other.point));
        if let Some(sentence) = self.nothing_gained(chosen) {
            sentences.push(sentence);
        }
        let growth = self.growth(chosen, seed)?;
        let named: Vec<usize> = named.into_iter().map(|one| self.point_of[one]).collect();
        for point in &named {
            self.points[*point].reason.clear();
        }
        let configuration = self.field[chosen].configuration()?;
        let advice = self.answer(verb, named, sentences);
        Ok(Advice { also, load_may_grow: growth, configuration: Some(configuration), ..advice })
    }

    /// Returns a sentence if the two halves of the load have different winners among the finalists.
    fn halves(&self, order: &[usize], fresh: &BTreeMap<usize, Vec<Sample>>) -> Option<String> {
        let finalists: Vec<usize> = order.iter().copied().filter(|one| fresh.contains_key(one)).collect();
        let mean_of_half = |one: usize, half: usize| {
            let scores: Vec<Vec<f64>> = fresh[&one].iter().filter_map(|sample| sample.scores(self.figure)).collect();
            let parts = scores.iter().flat_map(|scores| scores[half * scores.len() / 2..(half + 1) * scores.len() / 2].iter().copied());
            let parts: Vec<f64> = parts.collect();
            parts.iter().sum::<f64>() / parts.len().max(1) as f64
        };
        let best = |half| finalists.iter().copied().min_by(|a, b| mean_of_half(*a, half).total_cmp(&mean_of_half(*b, half)));
        let (first, second) = (best(0)?, best(1)?);
        let lead = |half, one, other| mean_of_half(other, half) - mean_of_half(one, half);
        let disagree =
            first != second && lead(0, first, second) > self.rules.indifference && lead(1, second, first) > self.rules.indifference;
        disagree.then(|| {
            let (first, second) = (&self.field[first].name, &self.field[second].name);
            format!("The halves of the load disagree: {first} is best in the first, and {second} in the second.")
        })
    }

    /// Returns the best array of each other drive, which cannot be ranked if it is close.
    fn also(&self, chosen: usize, order: &[usize], now: Option<usize>) -> Vec<Other> {
        let score = |one: usize| self.points[self.point_of[one]].score;
        let Some(own) = score(chosen) else { return Vec::new() };
        let mut also: Vec<Other> = Vec::new();
        if let Some(second) = order.iter().copied().find(|one| *one != chosen && self.field[*one].drive == self.field[chosen].drive) {
            let by = score(second).map_or(0.0, |score| (libm::exp(score - own) - 1.0) * 100.0);
            let text = format!("{}: {by:+.1} % in {}", self.field[second].name, self.figure);
            also.push(Other { point: self.point_of[second], text });
        }
        let error = self.advisor.residuals.error_of(self.figure);
        let margin = error.map(|error| 1.64 * std::f64::consts::SQRT_2 * error);
        let mut drives: Vec<&str> = vec![&self.field[chosen].drive];
        let mut all: Vec<usize> = (0..self.field.len()).filter(|one| Some(*one) != now && score(*one).is_some()).collect();
        all.sort_by(|a, b| score(*a).unwrap_or(0.0).total_cmp(&score(*b).unwrap_or(0.0)));
        for one in all {
            let contestant = &self.field[one];
            if drives.contains(&contestant.drive.as_str()) || drives.len() > 3 {
                continue;
            }
            drives.push(&contestant.drive);
            let by = score(one).unwrap_or(own) - own;
            let rank = match margin {
                Some(margin) if by.abs() <= margin => format!("can't be ranked on {} (another drive)", self.figure),
                None => format!("can't be ranked on {} (another drive)", self.figure),
                Some(_) => format!("{:+.0} % in {}", (libm::exp(by) - 1.0) * 100.0, self.figure),
            };
            also.push(Other { point: self.point_of[one], text: format!("{}: {rank}", contestant.name) });
        }
        also
    }

    /// Names the axes whose other values change the compared figure by less than 5 %, everything else being equal.
    fn nothing_gained(&self, chosen: usize) -> Option<String> {
        let own = &self.points[self.point_of[chosen]];
        let score = own.score?;
        let mut without: Vec<String> = Vec::new();
        for axis in &self.advisor.space.axes {
            let differs_only_there = |point: &&PointOf| {
                point.settings.len() == own.settings.len()
                    && point.settings.iter().all(|(key, value)| (own.settings.get(key) == Some(value)) != (*key == axis.key))
            };
            let others: Vec<f64> = self.points.iter().filter(differs_only_there).filter_map(|point| point.score).collect();
            if others.is_empty() || others.len() + 1 < axis.values.len() {
                continue;
            }
            let widest = others.iter().map(|other| (other - score).abs()).fold(0.0, f64::max);
            if widest < self.rules.indifference {
                without.push(format!("{} (within {:.0} %)", axis.key, ((libm::exp(widest) - 1.0) * 100.0).max(1.0)));
            }
        }
        (!without.is_empty()).then(|| format!("Nothing gained: {}.", without.join(", ")))
    }

    /// Returns by how much the load may grow until the first goal about speed is missed.
    fn growth(&mut self, one: usize, seed: u64) -> Result<Option<f64>, Error> {
        let goals: Vec<Goal> = self.advisor.goals.clone();
        let Some(goal) = goals.iter().find(|goal| goal.under == Circumstance::Healthy && matches!(goal.figure, Figure::Response(..)))
        else {
            return Ok(None);
        };
        if self.is_closed {
            return Ok(None);
        }
        let mut holds = |factor: f64| -> Result<Option<bool>, Error> {
            if self.spent + self.race_requests > self.requests_max {
                return Ok(None);
            }
            let run = RunOf { rate_scale: Some(self.base_rate * factor), ..self.run_of(seed + SEEDS_OF_STAGE, self.race_requests) };
            let Some(sample) = self.run(&[one], run, "growth of the load")?.remove(0) else { return Ok(None) };
            let met = self.met(one, goal, std::slice::from_ref(&sample));
            Ok(Some(!sample.falls_behind && met.is_some_and(|met| met.violation <= 0.0)))
        };
        let (mut low, mut high) = (1.0, 2.0);
        loop {
            match holds(high)? {
                Some(true) if high >= GROWTH_MAX => return Ok(Some(high)),
                Some(true) => (low, high) = (high, high * 2.0),
                Some(false) => break,
                None => return Ok(None),
            }
        }
        for _ in 0..3 {
            let middle = libm::sqrt(low * high);
            match holds(middle)? {
                Some(true) => low = middle,
                Some(false) => high = middle,
                None => break,
            }
        }
        Ok(Some(low))
    }

    /// Answers without goals: names the arrays that none beats in cost, response time and life together.
    fn front(&mut self, alive: &[usize]) -> Result<Advice, Error> {
        let score = |search: &Self, one: usize| search.points[search.point_of[one]].score.unwrap_or(f64::INFINITY);
        let life = |search: &Self, one: usize| search.samples[one].as_ref().and_then(|sample| sample.life_years).unwrap_or(f64::INFINITY);
        let is_beaten = |search: &Self, one: usize| {
            alive.iter().copied().any(|other| {
                let (a, b) = (&search.field[other], &search.field[one]);
                let values =
                    [(a.cost_bytes, b.cost_bytes), (score(search, other), score(search, one)), (-life(search, other), -life(search, one))];
                values.iter().all(|(own, other)| own <= other) && values.iter().any(|(own, other)| own < other)
            })
        };
        let mut front: Vec<usize> = alive.iter().copied().filter(|one| !is_beaten(self, *one)).collect();
        front.sort_by(|a, b| {
            self.field[*a].cost_bytes.total_cmp(&self.field[*b].cost_bytes).then(score(self, *a).total_cmp(&score(self, *b)))
        });
        for one in alive {
            if !front.contains(one) {
                self.leave(*one, "another is no worse in cost, response time and life, and better in one".to_owned());
            }
        }
        let all = front.len();
        // Of a long front, the ends and some between are shown.
        if all > FRONT_MAX {
            front = (0..FRONT_MAX).map(|index| front[index * (all - 1) / (FRONT_MAX - 1)]).collect();
        }
        let seed = self.advisor.seed + SEEDS_OF_STAGE;
        let run = self.run_of(seed, self.race_requests);
        let samples = self.run(&front, run, "fresh seeds")?;
        for (one, sample) in front.iter().copied().zip(samples) {
            if let Some(sample) = sample {
                self.tell(one, &[sample], Circumstance::Healthy);
                self.point(one).stage = Stage::Confirmed;
            }
        }
        let shown = if all > front.len() { format!(", of which {} are shown", front.len()) } else { String::new() };
        let sentence = format!(
            "Without goals there is no best. {all} arrays are such that none beats them in cost, {} and life together{shown}.",
            self.figure
        );
        let named = front.into_iter().map(|one| self.point_of[one]).collect();
        Ok(self.answer(Verb::Front, named, vec![sentence]))
    }

    fn not_reachable(&mut self) -> Advice {
        let all: Vec<usize> = (0..self.field.len()).filter(|one| !self.field[*one].is_now && self.samples[*one].is_some()).collect();
        let violation = |search: &Self, one: usize| {
            search.samples[one].as_ref().map_or(f64::INFINITY, |sample| search.violation(one, std::slice::from_ref(sample), f64::INFINITY))
        };
        let nearest = all.into_iter().min_by(|a, b| violation(self, *a).total_cmp(&violation(self, *b)));
        let Some(nearest) = nearest else {
            return self.answer(Verb::NotReachable, Vec::new(), vec!["Not reachable: no array keeps up with the load.".to_owned()]);
        };
        let sample = self.samples[nearest].clone();
        let samples: Vec<Sample> = sample.into_iter().collect();
        self.tell(nearest, &samples, Circumstance::Healthy);
        let unbacked: Vec<String> = self
            .advisor
            .goals
            .iter()
            .filter(|goal| self.advisor.residuals.error_of(goal.figure).is_none())
            .map(|goal| goal.figure.to_string())
            .collect();
        let name = self.field[nearest].name.clone();
        let worst = violation(self, nearest);
        let missing: Vec<String> = self
            .advisor
            .goals
            .iter()
            .filter(|goal| goal.under == Circumstance::Healthy)
            .filter_map(|goal| Some((goal, self.met(nearest, goal, &samples)?)))
            .filter(|(_, met)| met.violation > 0.0)
            .map(|(goal, met)| format!("{:?} is missed by {}", goal.text, distance(met.violation)))
            .collect();
        let point = self.point_of[nearest];
        if worst <= 0.0 && !unbacked.is_empty() {
            let sentence = format!(
                "Can't tell: {name} comes closest, but no published figure of a drive backs {}. Measure a drive: flashraid probe --gentle.",
                unbacked.join(", ")
            );
            return self.answer(Verb::CantTell, vec![point], vec![sentence]);
        }
        let missing = if missing.is_empty() {
            "a goal is missed in another circumstance, or only with fresh seeds".to_owned()
        } else {
            missing.join(", ")
        };
        let sentence = format!("Not reachable: the nearest is {name}; {missing}.");
        self.answer(Verb::NotReachable, vec![point], vec![sentence])
    }

    fn cant_tell(&mut self, one: usize, reason: &str) -> Advice {
        let samples: Vec<Sample> = self.samples[one].clone().into_iter().collect();
        self.tell(one, &samples, Circumstance::Healthy);
        let sentence = format!(
            "Can't tell: {} is best so far, but {reason}. More requests (--requests, --effort) or a longer load would tell.",
            self.field[one].name
        );
        self.answer(Verb::CantTell, vec![self.point_of[one]], vec![sentence])
    }

    /// Returns the array with the least score among those that have not left.
    fn best_so_far(&self) -> Option<usize> {
        let open = (0..self.field.len()).filter(|one| !self.field[*one].is_now && self.points[self.point_of[*one]].reason.is_empty());
        let scored = open.filter_map(|one| Some((self.points[self.point_of[one]].score?, one)));
        scored.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, one)| one)
    }

    fn stopped(&mut self, best: Option<usize>) -> Advice {
        let best = best.or_else(|| self.best_so_far());
        let sentence = match best {
            Some(one) => format!("Can't tell: stopped. {} is best so far; nothing was confirmed with fresh seeds.", self.field[one].name),
            None => "Can't tell: stopped before anything was compared.".to_owned(),
        };
        let named = best.into_iter().map(|one| self.point_of[one]).collect();
        Advice { stopped: true, ..self.answer(Verb::CantTell, named, vec![sentence]) }
    }

    fn answer(&mut self, verb: Verb, named: Vec<usize>, sentences: Vec<String>) -> Advice {
        for one in 0..self.field.len() {
            if !named.contains(&self.point_of[one]) {
                self.leave(one, "another is better, or as good".to_owned());
            }
        }
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for point in self.points.iter().filter(|point| !point.reason.is_empty() && !point.now) {
            // Percentages differ from point to point, so that they do not belong to a counted reason.
            let reason = match point.reason.split_once(" % ") {
                Some((_, rest)) => rest.to_owned(),
                None => point.reason.clone(),
            };
            *counts.entry(reason).or_default() += 1;
        }
        let mut left_by_reason: Vec<(String, usize)> = counts.into_iter().collect();
        left_by_reason.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
        let mut assumptions = self.notes.clone();
        if let Some(pass) = self.pass_requests {
            let repeats = if self.race_requests > pass { ", repeated to be long enough" } else { "" };
            assumptions.push(format!("the trace of {pass} requests is one sample: seeds vary the drives, not the load{repeats}"));
        }
        assumptions.push("not asked: prices, the processor of the host, the file system".to_owned());
        Advice {
            schema: ADVICE_SCHEMA,
            version: env!("CARGO_PKG_VERSION"),
            load: self.advisor.load_name.clone(),
            verb,
            now: self.points.iter().position(|point| point.now),
            named,
            sentences,
            also: Vec::new(),
            left_by_reason,
            load_may_grow: None,
            requests: self.spent,
            requests_max: self.requests_max,
            requests_of_screen: self.screen_requests,
            requests_of_race: self.race_requests,
            assumptions,
            points: std::mem::take(&mut self.points),
            configuration: None,
            residuals: self.advisor.residuals.clone(),
            stopped: false,
        }
    }
}

/// Result of a race and of fresh seeds.
struct Found {
    chosen: usize,
    near: Vec<usize>,
    now: Option<usize>,
    is_now_near: bool,
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

/// Formats the distance from a goal, of which the logarithm is given.
fn distance(violation: f64) -> String {
    match libm::exp(violation) {
        factor if factor >= 2.0 => format!("a factor of {factor:.0}"),
        factor => format!("{:.0} %", (factor - 1.0) * 100.0),
    }
}

/// Formats a capacity in terabytes.
fn terabytes(bytes: f64) -> String {
    format!("{:.3} TB", bytes / 1e12)
}

//! Simulates jobs on drives with given parameters, several at a time.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use flashraid::config::Scenario;
use flashraid::report::{Report, ResponseTime};
use flashraid::run::{RunError, run_with_shared_warm_ups};
use flashraid::warm_up::SharedWarmUps;
use flashraid::{Observer, Progress};

use crate::base::Base;
use crate::error::{FitError, Outcome};
use crate::job::Job;
use crate::measured::{Figures, Times};
use crate::parameter::Parameter;

/// Question whether to stop, asked from time to time.
pub type Stopped<'a> = &'a (dyn Fn() -> bool + Sync);

/// Stops a simulation when the user does.
pub(crate) struct Watch<'a>(pub Stopped<'a>);

impl Observer for Watch<'_> {
    fn progress(&mut self, _: &Progress) -> bool {
        !(self.0)()
    }
}

/// Simulates a list of jobs with one set of values after the other.
pub(crate) struct Simulator<'a> {
    jobs: Vec<(Job, Scenario)>,
    parameters: Vec<Parameter>,
    /// States of filled and worn-in drives, which no parameter changes.
    warm_ups: SharedWarmUps,
    threads: usize,
    stopped: Stopped<'a>,
    /// Results of jobs by the values that influence them.
    known: Mutex<BTreeMap<(usize, Vec<u64>), Figures>>,
    /// Number of simulations so far.
    pub runs: AtomicUsize,
}

impl<'a> Simulator<'a> {
    /// Returns a simulator of these jobs on `base`, with as many requests as a search needs.
    ///
    /// # Errors
    /// The drive can't be simulated.
    pub fn new(
        base: &Base,
        jobs: impl IntoIterator<Item = Job>,
        parameters: &[Parameter],
        (scale, seed): (u32, u64),
        threads: usize,
        stopped: Stopped<'a>,
    ) -> Outcome<Self> {
        Self::with_length(base, jobs, parameters, 1, (scale, seed), threads, stopped)
    }

    /// Returns the same with `times` as many measured requests.
    ///
    /// # Errors
    /// The drive can't be simulated.
    pub fn with_length(
        base: &Base,
        jobs: impl IntoIterator<Item = Job>,
        parameters: &[Parameter],
        times: u32,
        (scale, seed): (u32, u64),
        threads: usize,
        stopped: Stopped<'a>,
    ) -> Outcome<Self> {
        let scenario = |job: Job| base.scenario(&job, times, scale, seed).map(|scenario| (job, scenario));
        let jobs = jobs.into_iter().map(scenario).collect::<Outcome<Vec<_>>>()?;
        let warm_ups = SharedWarmUps::kept_until_dropped(jobs.iter().map(|(_, scenario)| scenario));
        let parameters = parameters.to_vec();
        Ok(Self { jobs, parameters, warm_ups, threads: threads.max(1), stopped, known: Mutex::default(), runs: AtomicUsize::new(0) })
    }

    /// Returns the results of the jobs, in their order, for each set of values.
    ///
    /// # Errors
    /// A simulation failed or was stopped.
    pub fn figures(&self, sets: &[Vec<f64>]) -> Outcome<Vec<Vec<Figures>>> {
        let tasks: Vec<(usize, usize)> = (0..sets.len()).flat_map(|set| (0..self.jobs.len()).map(move |job| (set, job))).collect();
        let next = AtomicUsize::new(0);
        let results: Vec<Mutex<Option<Outcome<Figures>>>> = tasks.iter().map(|_| Mutex::default()).collect();
        let work = || {
            while let Some(&(set, job)) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) {
                let at = set * self.jobs.len() + job;
                let result = self.job(job, &sets[set]);
                let failed = result.is_err();
                *lock(&results[at]) = Some(result);
                if failed {
                    next.store(tasks.len(), Ordering::Relaxed);
                }
            }
        };
        let threads = self.threads.min(tasks.len());
        thread::scope(|scope| {
            for _ in 1..threads {
                // Where the system gives no more threads, this one does the work.
                let _ = thread::Builder::new().spawn_scoped(scope, work);
            }
            work();
        });
        let mut results: Vec<Option<Outcome<Figures>>> =
            results.into_iter().map(|result| result.into_inner().unwrap_or_else(PoisonError::into_inner)).collect();
        if let Some(failed) = results.iter_mut().find(|result| matches!(result, Some(Err(_)))) {
            return Err(failed.take().and_then(Result::err).expect("it was looked for"));
        }
        let figures: Vec<Figures> = results.into_iter().map(|result| result.expect("all were done").expect("none failed")).collect();
        Ok(figures.chunks(self.jobs.len().max(1)).map(<[Figures]>::to_vec).collect())
    }

    fn job(&self, index: usize, values: &[f64]) -> Outcome<Figures> {
        let (job, scenario) = &self.jobs[index];
        let mut ssd = scenario.array.ssd.clone();
        for (parameter, value) in self.parameters.iter().zip(values) {
            parameter.put(&mut ssd, *value);
        }
        let relevant = self.parameters.iter().filter(|parameter| parameter.matters_to(job)).map(|parameter| parameter.of(&ssd).to_bits());
        let key = (index, relevant.collect::<Vec<u64>>());
        if let Some(figures) = lock(&self.known).get(&key) {
            return Ok(*figures);
        }
        let mut scenario = scenario.clone();
        scenario.array.ssd = ssd;
        let report = simulate(&scenario, &self.warm_ups, self.stopped, &mut Watch(self.stopped))?;
        self.runs.fetch_add(1, Ordering::Relaxed);
        let figures = figures_of(job, &report);
        lock(&self.known).insert(key, figures);
        Ok(figures)
    }
}

/// Runs a scenario to its end.
pub(crate) fn simulate(
    scenario: &Scenario,
    warm_ups: &SharedWarmUps,
    stopped: Stopped<'_>,
    observer: &mut dyn Observer,
) -> Outcome<Report> {
    match run_with_shared_warm_ups(scenario, warm_ups, observer) {
        Ok(report) if report.partial || stopped() => Err(FitError::Interrupted),
        Ok(report) => Ok(report),
        Err(RunError::StoppedBeforeFirstRequest) => Err(FitError::Interrupted),
        Err(error) => Err(FitError::Failed(error.to_string())),
    }
}

fn figures_of(job: &Job, report: &Report) -> Figures {
    let times = |wanted: bool, times: &ResponseTime| {
        let mean_us = times.mean.filter(|_| wanted)?;
        Some(Times { mean_us, p99_us: times.p99 })
    };
    Figures {
        iops: report.iops.all.unwrap_or(0.0),
        read: times(job.reads(), &report.response_us.read),
        write: times(job.writes(), &report.response_us.write),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

//! Results that fio would measure on a simulated drive. They show how well a fit finds the drive again.

use flashraid::warm_up::SharedWarmUps;
use flashraid::{CompletedRequest, Observer, Progress};
use flashraid_report::fio::Recorder;
use serde_json::{Map, Value};

use crate::base::Base;
use crate::error::{FitError, Outcome};
use crate::sets::{ProbeJob, Set, Setup, jobs};
use crate::simulator::{Stopped, simulate};

/// Settings of such simulations.
#[derive(Clone, Copy)]
pub struct SimulatedOptions<'a> {
    /// Set of jobs: [`Set::Fit`] or [`Set::Gentle`], which are closed loops.
    pub set: Set,
    /// Factor by which superblocks have fewer rows than in the base, at least 1.
    pub scale: u32,
    /// Number of measured requests of each job, as a multiple of those in a fit; at least 1.
    pub times: u32,
    /// Seed of all simulations.
    pub seed: u64,
    /// Called from time to time, to ask whether to stop.
    pub stopped: Stopped<'a>,
    /// Called when a job begins, with its number from 0, the number of all jobs, and its name.
    pub begins: &'a dyn Fn(usize, usize, &str),
}

/// Returns the measured jobs of a set on a drive: names, and documents as fio writes them. Jobs that only prepare have none.
///
/// # Errors
/// The drive can't be simulated at that scale, or the user stopped it.
pub fn results(base: &Base, options: SimulatedOptions<'_>) -> Outcome<Vec<(String, Value)>> {
    let setup = Setup {
        target_bytes: base.capacity_bytes(),
        seconds: options.set.seconds(),
        overwrites: 2.0,
        engine: "flashraid".to_owned(),
        is_direct: true,
        is_mounted: false,
        reads_only: options.set == Set::Gentle,
    };
    let jobs = jobs(options.set, &setup);
    let with_scenarios = |probe: ProbeJob| {
        let job = probe.simulated()?;
        Some(base.scenario(&job, options.times, options.scale, options.seed).map(|scenario| (probe, scenario)))
    };
    let jobs = jobs.into_iter().filter_map(with_scenarios).collect::<Outcome<Vec<_>>>()?;
    let warm_ups = SharedWarmUps::for_runs(jobs.iter().map(|(_, scenario)| scenario));
    let mut results = Vec::new();
    for (index, (probe, scenario)) in jobs.iter().enumerate() {
        (options.begins)(index, jobs.len(), &probe.name);
        let mut recording = Recording { recorder: Recorder::new(scenario.metrics.skip), stopped: options.stopped };
        let report = simulate(scenario, &warm_ups, options.stopped, &mut recording)?;
        let mut document = recording.recorder.document(&report, &probe.name);
        let of_job: Map<String, Value> = probe.options.iter().map(|(key, value)| ((*key).to_owned(), value.clone().into())).collect();
        match document.pointer_mut("/jobs/0/job options") {
            Some(options) => *options = Value::Object(of_job),
            None => return Err(FitError::Failed("the results have no options of their job".to_owned())),
        }
        results.push((probe.name.clone(), document));
    }
    Ok(results)
}

struct Recording<'a> {
    recorder: Recorder,
    stopped: Stopped<'a>,
}

impl Observer for Recording<'_> {
    fn progress(&mut self, _: &Progress) -> bool {
        !(self.stopped)()
    }

    fn request_completed(&mut self, request: &CompletedRequest) {
        self.recorder.record(request);
    }
}

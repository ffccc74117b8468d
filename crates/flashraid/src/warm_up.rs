//! Brings an array to its working state before the first request, once for all runs that begin in the same state.

use crate::config::{Scenario, address_space};
use crate::observer::{Observer, Phase, Progress};
use crate::run::RunError;
use crate::warm_state;
use flashraid_model::array::{Array, ArrayParams, WarmUp, WarmUpPattern};
use flashraid_model::ftl::Ftl;
use flashraid_model::ssd::{GcParams, SsdParams};
use flashraid_workload::{self as workload, AddressSpace, OpKind, Source, SourceError, WorkloadSpec};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The states after the warm-ups of several runs, each kept from the first run that needs it to the last.
///
/// Runs that differ only in what takes time (coordination, preemption, the write cache, the rate of arrivals after a random warm-up)
/// begin in the same state, and warming up is most of the time of a short run.
#[derive(Debug, Default)]
pub struct SharedWarmUps {
    shared: Mutex<BTreeMap<String, Shared>>,
}

/// A state that more than one run needs.
#[derive(Debug, Default)]
struct Shared {
    runs_left: usize,
    /// A run has been chosen to make it.
    claimed: bool,
    /// Locked while a run makes or copies it.
    state: Arc<Mutex<Option<Vec<Ftl>>>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A state is put in whole, so that a thread that panicked leaves nothing half done.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl SharedWarmUps {
    /// For these runs, each of which is to come once.
    pub fn of<'a>(scenarios: impl IntoIterator<Item = &'a Scenario>) -> Self {
        let mut shared: BTreeMap<String, Shared> = BTreeMap::new();
        for scenario in scenarios {
            shared.entry(warm_up_key(scenario)).or_default().runs_left += 1;
        }
        shared.retain(|_, shared| shared.runs_left > 1);
        Self { shared: Mutex::new(shared) }
    }

    /// Whether a run of this key can begin without waiting for another's warm-up; if so, and its state is still to be made, the caller's run is
    /// to make it.
    pub fn claim(&self, key: &str) -> bool {
        let mut shared = lock(&self.shared);
        let Some(shared) = shared.get_mut(key) else { return true };
        let is_made = shared.state.try_lock().map(|state| state.is_some());
        is_made.is_ok_and(|is_made| is_made || !std::mem::replace(&mut shared.claimed, true))
    }

    /// Warms `array` up by `make`, or copies the state that an earlier run left.
    fn bring(&self, scenario: &Scenario, array: &mut Array, make: impl FnOnce(&mut Array) -> Result<(), RunError>) -> Result<(), RunError> {
        let key = warm_up_key(scenario);
        let Some(state) = lock(&self.shared).get(&key).map(|shared| Arc::clone(&shared.state)) else { return make(array) };
        let mut state = lock(&state);
        match &*state {
            Some(ftls) => {
                for (member, ftl) in array.members_mut().iter_mut().zip(ftls) {
                    member.ftl_mut().clone_from(ftl);
                }
            }
            None => make(array)?,
        }
        let is_last = {
            let mut shared = lock(&self.shared);
            let runs_left = shared.get_mut(&key).map_or(0, |entry| {
                entry.runs_left = entry.runs_left.saturating_sub(1);
                entry.runs_left
            });
            if runs_left == 0 {
                shared.remove(&key);
            }
            runs_left == 0
        };
        if state.is_none() && !is_last {
            *state = Some(array.members().iter().map(|member| member.ftl().clone()).collect());
        }
        Ok(())
    }
}

/// What decides the state after a warm-up, which is everything that does not only take time: scenarios with equal keys begin alike.
pub fn warm_up_key(scenario: &Scenario) -> String {
    let ArrayParams { level, members, stripe_unit_pages, ssd, failure, coordination: _, cache: _ } = &scenario.array;
    let gc = GcParams { instantaneous: false, preemption: None, idle_ns: None, ..ssd.gc.clone() };
    let ssd = SsdParams { gc, ..ssd.clone() };
    let workload = match scenario.warm_up.pattern {
        WarmUpPattern::Random => None,
        WarmUpPattern::Workload => Some(&scenario.workload),
    };
    format!("{:?}", (level, members, stripe_unit_pages, ssd, failure, &scenario.warm_up, workload, scenario.seed))
}

/// The array of a scenario in its working state.
pub(crate) fn warm_array(scenario: &Scenario, shared: &SharedWarmUps, observer: &mut dyn Observer) -> Result<Array, RunError> {
    let mut array = Array::new(&scenario.array, scenario.seed);
    if let Some(path) = &scenario.warm_state.load {
        warm_state::load(path, &scenario.array, &mut array)?;
    } else {
        let mut go_on = |fraction| {
            let progress = Progress { phase: Phase::WarmUp, fraction: Some(fraction), requests: 0, simulated_ns: 0 };
            if observer.progress(&progress) { Ok(()) } else { Err(RunError::Interrupted) }
        };
        go_on(0.0)?;
        shared.bring(scenario, &mut array, |array| {
            warm_up(array, &scenario.array, &scenario.warm_up, &scenario.workload, scenario.seed, &mut go_on)
        })?;
    }
    if let Some(path) = &scenario.warm_state.save {
        warm_state::save(path, &scenario.array, &array)?;
    }
    Ok(array)
}

/// Warms an array up; `go_on` is told the share that is done and may end it with an error.
///
/// # Errors
/// Those of `go_on`, and those of the workload if its addresses are used.
fn warm_up(
    array: &mut Array,
    params: &ArrayParams,
    warm_up: &WarmUp,
    workload: &WorkloadSpec,
    seed: u64,
    go_on: &mut dyn FnMut(f64) -> Result<(), RunError>,
) -> Result<(), RunError> {
    match warm_up.pattern {
        WarmUpPattern::Random => {
            let members = array.members_to_warm_up();
            let count = members.len() as f64;
            for (index, member) in members.iter_mut().enumerate() {
                member.warm_up(warm_up.overwrites, seed);
                go_on((index + 1) as f64 / count)?;
            }
            Ok(())
        }
        WarmUpPattern::Workload => {
            // Another seed than the run's, so that the run does not repeat the warm-up write for write.
            let open = |pass: u64| workload::open(workload, flashraid_model::rng::mix(seed ^ (pass + 1)), &address_space(params));
            overwrite_by_workload(array, &address_space(params), warm_up.overwrites, open, go_on)
        }
    }
}

/// Overwrites by the write addresses of the workload, from its start again and again, until enough pages are written.
fn overwrite_by_workload(
    array: &mut Array,
    space: &AddressSpace,
    overwrites: f64,
    open: impl Fn(u64) -> Result<Box<dyn Source>, SourceError>,
    go_on: &mut dyn FnMut(f64) -> Result<(), RunError>,
) -> Result<(), RunError> {
    /// Requests without a write after which a workload is taken for one that never writes.
    const READS_MAX: u32 = 1_000_000;
    let pages_to_write = (overwrites * (space.capacity_bytes / space.page_bytes) as f64) as u64;
    let nothing_to_write = || {
        RunError::Input("ssd.warm_up.pattern is \"workload\", but the workload writes nothing; use \"random\" or overwrites = 0".to_owned())
    };
    let (mut written, mut pass) = (0, 0);
    while written < pages_to_write {
        let written_before = written;
        let mut source = open(pass)?;
        pass += 1;
        let mut reads_in_a_row = 0;
        while written < pages_to_write
            && let Some(request) = source.next_request()?
        {
            if request.kind == OpKind::Read {
                reads_in_a_row += 1;
                if reads_in_a_row == READS_MAX {
                    return Err(nothing_to_write());
                }
                continue;
            }
            reads_in_a_row = 0;
            let ticked_before = written >> 20;
            written += array.overwrite_untimed(&request);
            if written >> 20 != ticked_before {
                go_on((written as f64 / pages_to_write as f64).min(1.0))?;
            }
        }
        if written == written_before {
            return Err(nothing_to_write());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config;
    use crate::run::{run, run_sharing};

    fn scenario(sets: &[(&str, &str)]) -> Scenario {
        let text = r#"
[array]
level = "raid5"
members = 4
[ssd]
preset = "ggc2014"
geometry = { dies = 4, planes = 2, blocks = 64, pages = 16 }
[ssd.gc]
start = 0.1
[workload]
preset = "cello"
requests = 3000
"#;
        let sets: Vec<_> = sets.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
        config::from_str("test.toml", text, &sets, None).unwrap_or_else(|problems| panic!("{problems}"))
    }

    /// The report without what the wall clock decides.
    fn report(scenario: &Scenario, shared: Option<&SharedWarmUps>) -> serde_json::Value {
        let report = match shared {
            Some(shared) => run_sharing(scenario, shared, &mut ()),
            None => run(scenario, &mut ()),
        };
        let mut report = serde_json::to_value(report.unwrap()).unwrap();
        let fields = report.as_object_mut().unwrap();
        assert!(fields.remove("perf").is_some() && fields.remove("wall_s").is_some());
        report
    }

    #[test]
    fn runs_that_share_a_warm_up_are_as_by_themselves() {
        for pattern in ["random", "workload"] {
            let variants: [&[(&str, &str)]; 6] = [
                &[],
                &[("coordination.scheme", "ideal")],
                &[("coordination.scheme", "proactive-idle")],
                &[("ssd.gc.preemption", "semi")],
                &[("ssd.gc.idle", "1ms")],
                &[("cache.policy", "lawc")],
            ];
            let scenarios = variants.map(|variant| scenario(&[variant, &[("ssd.warm_up.pattern", pattern)]].concat()));
            assert!(scenarios.iter().all(|scenario| warm_up_key(scenario) == warm_up_key(&scenarios[0])));
            let shared = SharedWarmUps::of(&scenarios);
            let key = warm_up_key(&scenarios[0]);
            assert!(shared.claim(&key) && !shared.claim(&key), "one run makes the state, others had better wait");
            for scenario in &scenarios {
                assert_eq!(lock(&shared.shared).len(), 1, "the state is kept until the last run has it");
                assert_eq!(report(scenario, Some(&shared)), report(scenario, None), "{pattern}");
                assert!(shared.claim(&key), "what is made is free");
            }
            assert!(lock(&shared.shared).is_empty());
        }
    }

    #[test]
    fn runs_that_begin_otherwise_share_nothing() {
        let own = warm_up_key(&scenario(&[]));
        let others = [
            ("seed", "2"),
            ("array.members", "5"),
            ("ssd.gc.start", "0.05"),
            ("ssd.gc.victim", "fifo"),
            ("ssd.warm_up.overwrites", "1"),
            ("ssd.warm_up.pattern", "workload"),
        ];
        for other in others {
            assert_ne!(warm_up_key(&scenario(&[other])), own, "{other:?}");
        }
        // The addresses of the workload matter only where the warm-up takes them.
        assert_eq!(warm_up_key(&scenario(&[("workload.preset", "tpc-c")])), own);
        let by_workload = |name| warm_up_key(&scenario(&[("ssd.warm_up.pattern", "workload"), ("workload.preset", name)]));
        assert_ne!(by_workload("cello"), by_workload("tpc-c"));
    }
}

//! Warm-up of arrays: their members are filled and overwritten before the first request. Runs that begin in the same state share the
//! work.

use crate::config::{Scenario, workload_address_space};
use crate::file_hashes::hash_of_file;
use crate::observer::{Observer, Progress, RunPhase};
use crate::run_error::RunError;
use crate::threads;
use crate::warm_claim::{Claim, ClaimOutcome};
use crate::warm_state;
use crate::warm_state_cache::{self, WarmStateCache};
use flashraid_driver::overwrite_untimed;
use flashraid_model::array::{Array, ArrayExecutionOptions, ArrayParams, WarmUp, WarmUpPattern};
use flashraid_model::flash::Geometry;
use flashraid_model::space::Mapping;
use flashraid_model::space::pools::PageMapping;
use flashraid_model::space::superblocks::SuperblockMapping;
use flashraid_model::ssd::Ssd;
use flashraid_workload::{self as workload, ArrayProperties, OpKind, Request, RequestSource, SourceError, SourceSpec, Stop, WorkloadSpec};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Time for which another process is waited for in silence.
const SILENT_WAIT: Duration = Duration::from_secs(1);

/// Callback that receives the share of a warm-up that is done, and may stop it by an error.
type GoOn<'a> = &'a mut dyn FnMut(f64) -> Result<(), RunError>;

/// Store of the states that arrays have after their warm-ups, shared by several runs. Each state is kept from the first run that needs
/// it to the last one.
///
/// States that are computed where they are looked at take no time, and are not stored. These are drives with superblocks that begin in the
/// steady state, filled, or empty.
///
/// Some settings do not change the state after the warm-up, such as coordination, preemption and the write cache. The workload does not
/// change it either, unless `ssd.warm_up.pattern` is `"workload"`. Runs that differ only in such settings begin in the same state. For a
/// short run, warming up is most of the work.
#[derive(Debug, Default)]
pub struct SharedWarmUps {
    shared: Mutex<BTreeMap<String, Shared>>,
    cache: Option<WarmStateCache>,
    /// Number of threads that one run may use; 0 counts as 1.
    threads: usize,
}

/// A state that more than one run needs.
#[derive(Debug, Default)]
struct Shared {
    runs_left: usize,
    /// True if a run has been chosen to compute the state.
    claimed: bool,
    /// The state. It is locked while a run computes or copies it.
    state: Arc<Mutex<Option<Vec<Mapping>>>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A state is stored in one step, so that a thread that panics leaves nothing half done.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl SharedWarmUps {
    /// Returns a store for the states after warm-ups that runs of `scenarios` can share. The first run that needs a state computes it.
    /// Each run must ask for its state exactly once, because a state is dropped after the last run that needs it.
    pub fn for_runs<'a>(scenarios: impl IntoIterator<Item = &'a Scenario>) -> Self {
        let mut shared: BTreeMap<String, Shared> = BTreeMap::new();
        for scenario in scenarios.into_iter().filter(|scenario| !scenario.is_start_computed()) {
            shared.entry(warm_up_key(scenario)).or_default().runs_left += 1;
        }
        shared.retain(|_, shared| shared.runs_left > 1);
        Self { shared: Mutex::new(shared), ..Self::default() }
    }

    /// Returns a store for the states after the warm-ups of `scenarios`, which any number of runs can share. The first run that needs a
    /// state computes it, and later runs with the same warm-up copy it. States are kept until the returned value is dropped.
    pub fn kept_until_dropped<'a>(scenarios: impl IntoIterator<Item = &'a Scenario>) -> Self {
        let simulated = scenarios.into_iter().filter(|scenario| !scenario.is_start_computed());
        let shared = simulated.map(|scenario| (warm_up_key(scenario), Shared { runs_left: usize::MAX, ..Shared::default() }));
        Self { shared: Mutex::new(shared.collect()), ..Self::default() }
    }

    /// Keeps the states in `cache` from one run of the program to the next. Without a cache they are computed again.
    pub fn with_cache(self, cache: Option<WarmStateCache>) -> Self {
        Self { cache, ..self }
    }

    /// Sets the number of threads of each run, which share the warm-up of the array's members. In an open loop whose members do not
    /// affect each other, they also share the work of serving requests. No result depends on the number.
    pub fn with_threads_per_run(self, threads: usize) -> Self {
        Self { threads, ..self }
    }

    /// Returns the number of threads that a run may use.
    pub(crate) fn threads(&self) -> usize {
        self.threads.max(1)
    }

    /// Returns true if a run with this key may begin without waiting: its warm state exists, or no other run is computing it. In the second
    /// case, the caller's run must compute it, and later calls return false until the state exists.
    pub fn try_claim_warm_up(&self, key: &str) -> bool {
        let mut shared = lock(&self.shared);
        let Some(shared) = shared.get_mut(key) else { return true };
        let is_made = shared.state.try_lock().map(|state| state.is_some());
        is_made.is_ok_and(|is_made| is_made || !std::mem::replace(&mut shared.claimed, true))
    }

    /// Returns the array that `make` makes and warms up, or makes of the mappings that an earlier run left.
    fn make_or_copy(
        &self,
        scenario: &Scenario,
        go_on: GoOn<'_>,
        make: impl FnOnce(Option<Vec<Mapping>>, GoOn<'_>) -> Result<Array, RunError>,
    ) -> Result<Array, RunError> {
        let key = warm_up_key(scenario);
        let Some(state) = lock(&self.shared).get(&key).map(|shared| Arc::clone(&shared.state)) else { return make(None, go_on) };
        let mut state = lock(&state);
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
        match &*state {
            _ if is_last => make(state.take(), go_on),
            Some(mappings) => {
                let mappings = copies(mappings.iter().map(Mapping::as_ref), go_on)?;
                make(Some(mappings), go_on)
            }
            None => {
                let array = make(None, go_on)?;
                *state = Some(copies(array.members().iter().map(Ssd::mapping), go_on)?);
                Ok(array)
            }
        }
    }
}

/// Copies mappings. `go_on` is called for each, because copying the half gigabyte of a large array takes noticeable time.
fn copies<'a>(
    mappings: impl Iterator<Item = Mapping<&'a PageMapping, &'a SuperblockMapping>>,
    go_on: GoOn<'_>,
) -> Result<Vec<Mapping>, RunError> {
    mappings.map(|mapping| go_on(1.0).map(|()| mapping.to_owned())).collect()
}

/// Returns a key that contains everything that decides the state after a warm-up. Scenarios with equal keys begin in the same state.
pub fn warm_up_key(scenario: &Scenario) -> String {
    let members = scenario.array.members;
    let spares = scenario.array.spares_and_state();
    let by_addresses = scenario.warm_up.pattern == WarmUpPattern::Workload || scenario.have_units_owners();
    let workload = by_addresses.then(|| scenario.workload.without_times_and_priorities());
    format!("{members} members, spares {spares:?}, {}, {workload:?}", key_of_members(scenario))
}

/// Returns a key that contains everything that decides the states of all members, except for the contents of the workload.
///
/// If each member is overwritten by itself, the number of members is not part of it.
fn key_of_members(scenario: &Scenario) -> String {
    let params = &scenario.array;
    let ArrayParams {
        level,
        members,
        stripe_unit_pages,
        parity_handle,
        ssd,
        failures: _,
        rebuild: _,
        read_plan: _,
        slow: _,
        coordination: _,
        cache: _,
        host_port: _,
    } = params;
    let WarmUp { overwrites_per_page: overwrites, pattern } = scenario.warm_up;
    // Members that collect together begin at the same point of their cycle.
    let cycle = (pattern == WarmUpPattern::SteadyStateWithoutWrites).then(|| params.point_of_cycle(1));
    let array = match pattern {
        WarmUpPattern::Random | WarmUpPattern::SteadyStateWithoutWrites if !scenario.have_units_owners() => None,
        _ => {
            // A warm spare has the contents of the member that it will replace (rule 66).
            let replaced: Vec<u32> =
                params.failures_in_time_order().iter().take(params.warmed_up_spares() as usize).map(|f| f.member).collect();
            Some((level, members, stripe_unit_pages, parity_handle, ssd.writes.die_stride, params.spares_and_state(), replaced))
        }
    };
    // A unit of superblocks has several pages, which decides what a page of the workload overwrites.
    let pages_per_mapping_unit = ssd.superblock.as_ref().map(|superblock| superblock.pages_per_mapping_unit);
    format!(
        "{overwrites} overwrites {pattern:?}, seed {}, {cycle:?} {array:?}, {pages_per_mapping_unit:?}, {:?}",
        scenario.seed,
        ssd.mapping_params()
    )
}

/// Returns the keys under which the members' states are kept.
fn keys_of_kept(scenario: &Scenario, members: usize, go_on: GoOn<'_>) -> Result<Vec<String>, RunError> {
    let content = if scenario.warm_up.pattern == WarmUpPattern::Workload || scenario.have_units_owners() {
        format!(", {}", content_of(&scenario.workload.without_times_and_priorities(), go_on)?)
    } else {
        String::new()
    };
    let common = key_of_members(scenario) + &content;
    let Geometry { dies, planes, blocks_per_plane, pages_per_block, .. } = scenario.array.ssd.geometry;
    let overwrites = scenario.warm_up.overwrites_per_page;
    let device = format!("{dies} dies of {planes} × {blocks_per_plane} blocks of {pages_per_block} pages");
    let words = |member| format!("SSD {member}: {device}, {overwrites} overwrites, seed {}", scenario.seed);
    Ok((0..members).map(|member| format!("{}{}{common}", words(member), warm_state_cache::AFTER_WORDS)).collect())
}

/// Returns a text that identifies the requests of a workload. Traces are identified by their contents instead of their names.
fn content_of(workload: &WorkloadSpec, go_on: GoOn<'_>) -> Result<String, RunError> {
    let mut named = workload.clone();
    let content = match &mut named.source {
        SourceSpec::Synthetic(_) => String::new(),
        SourceSpec::Mix(streams) => streams.drain(..).map(|stream| content_of(&stream, go_on)).collect::<Result<Vec<_>, _>>()?.join(" + "),
        SourceSpec::Trace(trace) => hash_of_file(&std::mem::take(&mut trace.path), &mut || go_on(0.0))?,
    };
    Ok(format!("{named:?} {content}"))
}

/// Returns the array of a scenario as it is when the first request arrives: warmed up, or with a saved state loaded.
pub fn warmed_up_array(scenario: &Scenario, shared: &SharedWarmUps, observer: &mut dyn Observer) -> Result<Array, RunError> {
    let stop = observer.stop_signal();
    let notes = Mutex::new(Vec::<String>::new());
    let mut told = 0;
    let mut go_on = |fraction| {
        let new = lock(&notes)[told..].to_vec();
        told += new.len();
        new.iter().for_each(|note| observer.note(note));
        let progress = Progress { phase: RunPhase::WarmUp, phase_fraction_done: Some(fraction), requests_sent: 0, simulated_time_ns: 0 };
        if observer.progress(&progress) { Ok(()) } else { Err(RunError::StoppedBeforeFirstRequest) }
    };
    let setup = ArrayExecutionOptions {
        worker_threads_max: shared.threads(),
        records_member_utilisation: true,
        reports_destage_events: scenario.metrics.timeline_window.is_some(),
        ..ArrayExecutionOptions::default()
    };
    let filled = |go_on: GoOn<'_>| -> Result<Array, RunError> {
        let filled = setup.new_array_unless_stopped(&scenario.array, scenario.seed, &mut || go_on(0.0).is_ok());
        let mut array = filled.ok_or(RunError::StoppedBeforeFirstRequest)?;
        fill_by_owner(scenario, &mut array, &stop)?;
        Ok(array)
    };
    let array = if let Some(path) = &scenario.warm_state.load_from {
        let mut array = filled(&mut go_on)?;
        warm_state::load_warm_state(path, &scenario.array, &mut array)?;
        array
    } else {
        shared.make_or_copy(scenario, &mut go_on, |mappings, go_on| {
            if let Some(mappings) = mappings {
                return Ok(setup.new_array_of_mappings(&scenario.array, scenario.seed, mappings));
            }
            let mut array = filled(go_on)?;
            match kept(scenario, shared, &mut array, go_on)? {
                Some(kept) => kept.load_or_make(scenario, &mut array, shared.threads(), &notes, &stop, go_on)?,
                None => warm_up(&mut array, scenario, shared.threads(), &stop, go_on)?,
            }
            Ok(array)
        })?
    };
    lock(&notes)[told..].iter().for_each(|note| observer.note(note));
    if let Some(path) = &scenario.warm_state.save_to {
        warm_state::save_warm_state(path, &scenario.array, &array)?;
    }
    Ok(array)
}

/// Fills the members of an array anew if the addresses of the workload's streams have several placement handles (rule 221).
///
/// # Errors
/// Returns the errors of the workload's traces, which are read to find their addresses.
pub(crate) fn fill_by_owner(scenario: &Scenario, array: &mut Array, stop: &Stop) -> Result<(), SourceError> {
    if scenario.have_units_owners() {
        // Writes of a write cache belong to no stream.
        let owners = match scenario.array.cache {
            Some(_) => Vec::new(),
            None => workload::pages_owned_by_streams(&scenario.workload, &workload_address_space(&scenario.array), stop)?,
        };
        array.untimed_access().fill_by_owner(&owners);
    }
    Ok(())
}

/// The cache and the keys under which the states of an array's members are kept.
struct Kept<'a> {
    cache: &'a WarmStateCache,
    keys: Vec<String>,
}

/// Returns the cache and the keys for the states of `array`, if computing them takes so long that keeping them is worthwhile.
fn kept<'a>(scenario: &Scenario, shared: &'a SharedWarmUps, array: &mut Array, go_on: GoOn<'_>) -> Result<Option<Kept<'a>>, RunError> {
    let Some(cache) = &shared.cache else { return Ok(None) };
    let members = array.untimed_access().members_to_warm_up().len();
    let pages = scenario.array.ssd.exported_pages() as f64 * members as f64;
    let is_written = scenario.warm_up.pattern != WarmUpPattern::SteadyStateWithoutWrites;
    if !is_written || scenario.warm_up.overwrites_per_page * pages < warm_state_cache::WRITES_MIN {
        return Ok(None);
    }
    Ok(Some(Kept { cache, keys: keys_of_kept(scenario, members, go_on)? }))
}

impl Kept<'_> {
    /// Loads the states that exist, and computes and keeps the others.
    fn load_or_make(
        &self,
        scenario: &Scenario,
        array: &mut Array,
        threads: usize,
        notes: &Mutex<Vec<String>>,
        stop: &Stop,
        go_on: GoOn<'_>,
    ) -> Result<(), RunError> {
        let loaded = match scenario.warm_up.pattern {
            WarmUpPattern::Random | WarmUpPattern::SteadyStateWithoutWrites => {
                let loaded = AtomicUsize::new(0);
                let members: Vec<_> = array.untimed_access().members_to_warm_up().iter_mut().zip(&self.keys).collect();
                threads::for_each(members, threads, go_on, |(member, key), go_on| {
                    if self.load_or_make_member(scenario, key, member, notes, go_on) {
                        loaded.fetch_add(1, Ordering::Relaxed);
                    }
                })?;
                loaded.into_inner()
            }
            // The members are overwritten together, so all states are needed, or none is used.
            WarmUpPattern::Workload if self.keys.iter().all(|key| self.cache.has(key)) => {
                let loaded = AtomicUsize::new(0);
                let members: Vec<_> = array.untimed_access().members_to_warm_up().iter_mut().zip(&self.keys).collect();
                threads::for_each(members, threads, go_on, |(member, key), _| {
                    loaded.fetch_add(usize::from(self.load(scenario, key, member, notes)), Ordering::Relaxed);
                })?;
                let loaded = loaded.into_inner();
                if loaded < self.keys.len() {
                    array.untimed_access().members_to_warm_up().iter_mut().for_each(|member| fill(scenario, member));
                    self.make_by_workload(scenario, array, threads, notes, stop, go_on)?;
                    0
                } else {
                    loaded
                }
            }
            WarmUpPattern::Workload => {
                let mut stopped = Ok(());
                let mut asked = |share| {
                    stopped = go_on(share);
                    stopped.is_ok()
                };
                let turn = self.turn(&self.keys, notes, &mut asked);
                stopped?;
                match turn {
                    ClaimOutcome::StateAlreadyExists => return self.load_or_make(scenario, array, threads, notes, stop, go_on),
                    ClaimOutcome::Stopped => 0,
                    ClaimOutcome::MakeState(mut claim) => {
                        let mut beating = |share| {
                            claim.iter_mut().for_each(Claim::give_sign_of_life);
                            go_on(share)
                        };
                        self.make_by_workload(scenario, array, threads, notes, stop, &mut beating)?;
                        0
                    }
                }
            }
        };
        let all = self.keys.len();
        if loaded < all
            && let Err(error) = self.cache.trim()
        {
            say(notes, format!("the cache of warm states can't be kept within its limit: {error}"));
        }
        let which = match loaded {
            0 => return Ok(()),
            _ if loaded == all => "warm state".to_owned(),
            _ => format!("warm state of {loaded} of {all} SSDs"),
        };
        say(notes, format!("{which} from the cache ({})", self.cache.folder().display()));
        Ok(())
    }

    /// Waits for the states of these keys, or until the caller must compute them. The user is told of a wait that is felt.
    fn turn(&self, keys: &[String], notes: &Mutex<Vec<String>>, go_on: &mut dyn FnMut(f64) -> bool) -> ClaimOutcome {
        let begin = Instant::now();
        self.cache.turn(keys, &mut |share| {
            if begin.elapsed() > SILENT_WAIT {
                say(notes, format!("waiting for another process that warms up the same SSDs ({})", self.cache.folder().display()));
            }
            go_on(share)
        })
    }

    /// Loads a member's state. If there is none, computes and keeps it, unless another process is doing so. Returns true if the state
    /// was loaded.
    fn load_or_make_member(
        &self,
        scenario: &Scenario,
        key: &str,
        member: &mut Ssd,
        notes: &Mutex<Vec<String>>,
        go_on: &mut dyn FnMut(f64) -> bool,
    ) -> bool {
        if self.cache.has(key) && self.load(scenario, key, member, notes) {
            return true;
        }
        // A state that cannot be read is made again at once. So is one that others claim to have made, if it is not there.
        let mut claim = match self.turn(&[key.to_owned()], notes, go_on) {
            ClaimOutcome::StateAlreadyExists if self.load(scenario, key, member, notes) => return true,
            ClaimOutcome::MakeState(claim) => claim,
            ClaimOutcome::StateAlreadyExists => None,
            ClaimOutcome::Stopped => return false,
        };
        let mut beating = |share| {
            claim.iter_mut().for_each(Claim::give_sign_of_life);
            go_on(share)
        };
        if warm_up_member(scenario, member, &mut beating) {
            self.save(key, member, notes);
        }
        false
    }

    fn make_by_workload(
        &self,
        scenario: &Scenario,
        array: &mut Array,
        threads: usize,
        notes: &Mutex<Vec<String>>,
        stop: &Stop,
        go_on: GoOn<'_>,
    ) -> Result<(), RunError> {
        warm_up(array, scenario, threads, stop, go_on)?;
        let members: Vec<_> = array.untimed_access().members_to_warm_up().iter().zip(&self.keys).collect();
        threads::for_each(members, threads, go_on, |(member, key), _| self.save(key, member, notes))
    }

    /// Loads the kept state into `member` and returns true. If that fails, the member is left as filled, and it returns false.
    fn load(&self, scenario: &Scenario, key: &str, member: &mut Ssd, notes: &Mutex<Vec<String>>) -> bool {
        match self.cache.load(key, member) {
            None => false,
            Some(Ok(())) => true,
            Some(Err(problem)) => {
                say(notes, format!("a kept warm state is not used: {problem}"));
                fill(scenario, member);
                false
            }
        }
    }

    fn save(&self, key: &str, member: &Ssd, notes: &Mutex<Vec<String>>) {
        if let Err(error) = self.cache.save(key, member) {
            say(notes, format!("the warm state can't be kept in {}: {error}", self.cache.folder().display()));
        }
    }
}

/// Adds a note, unless it is there already.
fn say(notes: &Mutex<Vec<String>>, note: String) {
    let mut notes = lock(notes);
    if !notes.contains(&note) {
        notes.push(note);
    }
}

fn fill(scenario: &Scenario, member: &mut Ssd) {
    let number = member.member().0;
    member.mapping_mut().reset_to_filled(&scenario.array.ssd.mapping_params(), scenario.seed, number);
}

/// Warms up one member. Returns false if `go_on` stopped it.
fn warm_up_member(scenario: &Scenario, member: &mut Ssd, go_on: &mut dyn FnMut(f64) -> bool) -> bool {
    match scenario.warm_up.pattern {
        WarmUpPattern::SteadyStateWithoutWrites => {
            member.make_steady(scenario.seed, scenario.array.point_of_cycle(member.member().0));
            go_on(1.0)
        }
        _ => member.warm_up_while(scenario.warm_up.overwrites_per_page, scenario.seed, go_on),
    }
}

/// Warms up an array. `go_on` receives the share that is done, and may stop it by an error.
///
/// # Errors
/// Returns the errors of `go_on`, and those of the workload if its addresses are used.
fn warm_up(array: &mut Array, scenario: &Scenario, threads: usize, stop: &Stop, go_on: GoOn<'_>) -> Result<(), RunError> {
    let (params, seed, overwrites) = (&scenario.array, scenario.seed, scenario.warm_up.overwrites_per_page);
    match scenario.warm_up.pattern {
        WarmUpPattern::Random | WarmUpPattern::SteadyStateWithoutWrites => {
            let members = array.untimed_access().members_to_warm_up().iter_mut().collect();
            threads::for_each(members, threads, go_on, |member: &mut Ssd, go_on| {
                warm_up_member(scenario, member, go_on);
            })
        }
        WarmUpPattern::Workload => {
            let untimed = scenario.workload.without_times_and_priorities();
            // The seed differs from the run's, so that the run does not repeat the writes of the warm-up.
            let open = |pass: u64| {
                workload::open_stoppable_workload(
                    &untimed,
                    flashraid_model::rng::mix_bits(seed ^ (pass + 1)),
                    &workload_address_space(params),
                    stop,
                )
            };
            // A trace has the same requests in each pass, with any seed.
            let is_trace = matches!(untimed.source, SourceSpec::Trace(_));
            overwrite_by_workload(array, &workload_address_space(params), overwrites, is_trace, open, go_on)?;
            array.untimed_access().members_to_warm_up().iter_mut().for_each(Ssd::end_warm_up_and_close_superpages);
            Ok(())
        }
    }
}

/// Maximum number of requests of a trace that is kept in memory for all passes. A short trace needs thousands of passes.
const REPEATED_MAX: usize = 1 << 16;

/// Endless repetition of the writes of a short trace.
struct Repeated {
    writes: Vec<Request>,
    next: usize,
}

impl RequestSource for Repeated {
    fn next_request(&mut self) -> Result<Option<Request>, SourceError> {
        let request = self.writes[self.next];
        self.next = (self.next + 1) % self.writes.len();
        Ok(Some(request))
    }
}

/// Returns the writes of a source, if it has so few requests that they can be kept.
fn few_writes(source: &mut dyn RequestSource) -> Result<Option<Vec<Request>>, SourceError> {
    let mut writes = Vec::new();
    let mut requests = 0_usize;
    while let Some(request) = source.next_request()? {
        requests += 1;
        if requests > REPEATED_MAX {
            return Ok(None);
        }
        if request.kind == OpKind::Write {
            writes.push(request);
        }
    }
    Ok(Some(writes).filter(|writes| !writes.is_empty()))
}

/// Overwrites the addresses that the workload writes until enough pages are written. The workload starts again whenever it ends. A workload
/// that `is_repeated` has the same requests each time.
fn overwrite_by_workload(
    array: &mut Array,
    space: &ArrayProperties,
    overwrites: f64,
    is_repeated: bool,
    open: impl Fn(u64) -> Result<Box<dyn RequestSource>, SourceError>,
    go_on: GoOn<'_>,
) -> Result<(), RunError> {
    let pages_to_write = (overwrites * (space.capacity_bytes / space.page_bytes) as f64) as u64;
    let (mut written, mut pass) = (0, 0);
    while written < pages_to_write {
        let mut told = Ok(());
        let mut tell = |pages: u64| {
            told = go_on(((written + pages) as f64 / pages_to_write as f64).min(1.0));
            told.is_ok()
        };
        // After the first pass, one endless pass does the rest for a short trace.
        let mut source = open(pass)?;
        let few = if is_repeated && pass == 1 { few_writes(&mut *open(pass)?)? } else { None };
        if let Some(writes) = few {
            source = Box::new(Repeated { writes, next: 0 });
        }
        let pages = overwrite_untimed(array, &mut *source, pages_to_write - written, &mut tell)?;
        told?;
        if pages == 0 {
            return Err(RunError::InvalidInput(
                "ssd.warm_up.pattern is \"workload\", but the workload writes nothing; use \"random\" or overwrites = 0".to_owned(),
            ));
        }
        written += pages;
        pass += 1;
    }
    Ok(())
}

#[cfg(test)]
mod tests;

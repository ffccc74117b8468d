//! The progress bar on standard error, which is hidden if that is no terminal, and lines that stand for it there.

use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use flashraid::{Progress, RunPhase};
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};

use flashraid_report::number;

/// Number of steps of the whole bar.
const STEPS: f64 = 10_000.0;
/// Share of the bar for the warm-up. Its share of the time is not known in advance.
const WARM_UP_SHARE: f64 = 0.5;

/// One progress bar over all simulations of a command.
pub struct Board {
    bar: ProgressBar,
    quiet: bool,
    started: Instant,
    simulations: Mutex<Vec<Simulation>>,
    /// Notes that were already shown.
    notes: Mutex<Vec<String>>,
}

#[derive(Clone, Copy, Default)]
struct Simulation {
    /// Completed share of the warm-up. `None` before the warm-up is seen, and for runs without one.
    warmed: Option<f64>,
    /// Completed share of the requests. `None` if their number is unknown.
    fraction: Option<f64>,
    /// Number of requests completed by this process.
    requests: u64,
    /// True if the simulation was completed, by this process or an earlier one.
    done: bool,
}

impl Simulation {
    fn update(&mut self, phase: RunPhase, fraction: Option<f64>, requests: u64) {
        let (warmed, fraction) = match phase {
            RunPhase::WarmUp => (Some(fraction.unwrap_or(0.0)), Some(0.0)),
            RunPhase::Run => (self.warmed.map(|_| 1.0), fraction),
        };
        *self = Simulation { warmed, fraction, requests, done: false };
    }

    /// Returns the completed share of the simulation, including the warm-up.
    fn share(&self) -> f64 {
        let run = self.fraction.unwrap_or(0.0);
        self.warmed.map_or(run, |warmed| WARM_UP_SHARE * warmed + (1.0 - WARM_UP_SHARE) * run)
    }
}

/// Redraws the bar at intervals, so that it moves between updates. Does nothing if the bar is hidden.
pub fn keep_moving(bar: &ProgressBar) {
    // Redrawing needs a thread. If none can be created, indicatif would panic.
    if !bar.is_hidden() && std::thread::Builder::new().spawn(|| {}).is_ok() {
        bar.enable_steady_tick(Duration::from_millis(250));
    }
}

/// Writes a line at intervals, with the latest message. It stands for a bar where there is no terminal.
pub struct Lines {
    message: Arc<Mutex<String>>,
    /// Sender whose end ends the thread.
    running: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Lines {
    /// Starts to pass a line to `write` after each interval: the minutes so far, and the latest message.
    pub fn start(every: Duration, mut write: impl FnMut(&str) + Send + 'static) -> Lines {
        let (running, ended) = mpsc::channel::<()>();
        let message = Arc::new(Mutex::new(String::new()));
        let (started, latest) = (Instant::now(), Arc::clone(&message));
        let work = move || {
            while ended.recv_timeout(every) == Err(RecvTimeoutError::Timeout) {
                let latest = latest.lock().unwrap_or_else(PoisonError::into_inner).clone();
                write(&format!("{} min: {latest}", started.elapsed().as_secs() / 60));
            }
        };
        // Without another thread there are no lines, and the search goes on.
        let thread = std::thread::Builder::new().spawn(work).ok();
        Lines { message, running: Some(running), thread }
    }

    /// Sets the message of the next line.
    pub fn say(&self, message: &str) {
        message.clone_into(&mut self.message.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        self.running = None;
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has nothing more to say.
            let _ = thread.join();
        }
    }
}

impl Board {
    /// Creates a bar over so many simulations. A quiet one shows neither progress nor notes.
    pub fn new(simulations: usize, quiet: bool) -> Board {
        let target = if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr_with_hz(8) };
        let bar = ProgressBar::with_draw_target(Some(STEPS as u64), target);
        bar.set_style(ProgressStyle::with_template("{spinner} {wide_bar} {msg}").expect("the template is constant"));
        keep_moving(&bar);
        Board {
            bar,
            quiet,
            started: Instant::now(),
            simulations: Mutex::new(vec![Simulation::default(); simulations]),
            notes: Mutex::default(),
        }
    }

    /// Shows a note above the bar. A note that several simulations give is shown once.
    pub fn note(&self, text: &str) {
        if self.quiet {
            return;
        }
        let mut notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        if !notes.iter().any(|note| note == text) {
            notes.push(text.to_owned());
            self.bar.suspend(|| crate::complain(&format!("note: {text}")));
        }
    }

    /// Records the progress of one simulation, and redraws the bar.
    pub fn update(&self, simulation: usize, progress: &Progress) {
        let mut simulations = self.lock();
        simulations[simulation].update(progress.phase, progress.phase_fraction_done, progress.requests_sent);
        self.draw(&simulations);
    }

    /// Marks one simulation as completed.
    pub fn end(&self, simulation: usize) {
        let mut simulations = self.lock();
        simulations[simulation] = Simulation { done: true, warmed: Some(1.0), fraction: Some(1.0), ..simulations[simulation] };
        self.draw(&simulations);
    }

    /// Removes the bar from the terminal.
    pub fn clear(&self) {
        self.bar.finish_and_clear();
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Simulation>> {
        self.simulations.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn draw(&self, simulations: &[Simulation]) {
        if self.bar.is_hidden() {
            return;
        }
        let fraction = simulations.iter().map(Simulation::share).sum::<f64>() / simulations.len() as f64;
        let inherited = simulations.iter().filter(|simulation| simulation.done && simulation.requests == 0).count() as f64;
        let requests: u64 = simulations.iter().map(|simulation| simulation.requests).sum();
        let elapsed = self.started.elapsed();

        let mut parts = Vec::new();
        if simulations.len() > 1 {
            let done = simulations.iter().filter(|simulation| simulation.done).count();
            parts.push(format!("{done}/{} points", simulations.len()));
        }
        match requests {
            0 => {
                let warming = simulations.iter().filter_map(|simulation| simulation.warmed).filter(|warmed| *warmed < 1.0);
                parts.push(format!("warming up, {:.0} %", 100.0 * warming.fold(0.0, f64::max)));
            }
            _ => parts.push(format!("{} requests/s", number::rounded(requests as f64 / elapsed.as_secs_f64()))),
        }
        let own = fraction - inherited / simulations.len() as f64;
        if own > 0.0 {
            parts.push(format!("{} left", HumanDuration(elapsed.mul_f64((1.0 - fraction) / own))));
        }
        self.bar.set_position((fraction * STEPS) as u64);
        self.bar.set_message(parts.join(" · "));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_moves_during_the_warm_up_and_never_back() {
        let mut simulation = Simulation::default();
        let mut shares = vec![simulation.share()];
        for (phase, fraction) in
            [(RunPhase::WarmUp, 0.0), (RunPhase::WarmUp, 0.5), (RunPhase::WarmUp, 1.0), (RunPhase::Run, 0.0), (RunPhase::Run, 0.5)]
        {
            simulation.update(phase, Some(fraction), 0);
            shares.push(simulation.share());
        }
        assert_eq!(shares, [0.0, 0.0, 0.25, 0.5, 0.5, 0.75]);
    }

    #[test]
    fn lines_come_at_intervals_with_the_latest_message_and_end_with_the_search() {
        let (sender, written) = mpsc::channel();
        let lines = Lines::start(Duration::from_millis(5), move |line| {
            let _ = sender.send(line.to_owned());
        });
        lines.say("one evaluation");
        let second = Duration::from_secs(60);
        while written.recv_timeout(second).unwrap() != "0 min: one evaluation" {}
        lines.say("two evaluations");
        while written.recv_timeout(second).unwrap() != "0 min: two evaluations" {}
        drop(lines);
        while written.try_recv().is_ok() {}
        assert_eq!(written.try_recv(), Err(mpsc::TryRecvError::Disconnected), "nothing is written after the end");
    }

    #[test]
    fn without_a_warm_up_the_run_is_all() {
        let mut simulation = Simulation::default();
        simulation.update(RunPhase::Run, Some(0.5), 10);
        assert_eq!(simulation.share(), 0.5);
    }
}

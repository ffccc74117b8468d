//! `flashraid advise`: from a load and goals to an array.

use std::fs;
use std::path::Path;
use std::sync::Mutex;

use flashraid::Stop;
use flashraid::advise::goal::Circumstance;
use flashraid::advise::{Advice, Advisor, Effort, Need, Prices, Space, USUAL_BAYS, USUAL_DRIVES, Watch};
use flashraid::study::default_workers;
use flashraid_experiments::card::residuals;
use flashraid_report::page::{self, Page};
use flashraid_report::{advice as report, number};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::args::AdviseArgs;
use crate::failure::{Failure, Outcome};
use crate::out_folder::{OutFolder, all_or_nothing};
use crate::output::json;
use crate::output::narrow::columns;
use crate::progress::keep_moving;
use crate::{files, interrupt, scenario};

/// Time that a search may take without `--effort`.
const EFFORT_S: u64 = 120;
/// Most bytes of the file of a space or of prices.
const SMALL_FILE_BYTES_MAX: u64 = 1 << 20;

/// Runs `flashraid advise` with its arguments.
pub fn run(arguments: &AdviseArgs) -> Outcome {
    let advisor = question(arguments)?;
    let capacity_bytes = arguments.capacity.bytes as f64;
    interrupt::stop_at_next_step()?;
    let out = arguments.out.as_deref().map(|out| OutFolder::claim(out, Some(arguments.force))).transpose()?;
    let bar = Bar::new(arguments.quiet);
    let advice = advisor.advise(&bar);
    bar.bar.finish_and_clear();
    let advice = advice?;
    if let Some(out) = &out {
        write(&advice, capacity_bytes, out.path())?;
    }
    match arguments.json {
        true => json::print(&json::document(&advice)?)?,
        false => {
            let mut text = report::text(&advice, capacity_bytes, columns());
            if let Some(out) = &out {
                let configuration = if advice.configuration.is_some() { ", advice.toml" } else { "" };
                text += &format!("Written: {}/advice.html, advice.json, points.csv{configuration}\n", out.path().display());
            }
            files::print(&text)?;
        }
    }
    match advice.stopped {
        true => Err(Failure::Interrupted("stopped: the answer so far is above".to_owned())),
        false => Ok(()),
    }
}

/// Builds the question that the user asks.
fn question(arguments: &AdviseArgs) -> Outcome<Advisor> {
    let space = match &arguments.space {
        Some(file) => read_space(file)?,
        None => usual_space(arguments)?,
    };
    let capacity_bytes = arguments.capacity.bytes as f64;
    if capacity_bytes == 0.0 {
        return Err(Failure::Input("--capacity: an array of 0 bytes needs no drives; write a capacity such as 60TB".to_owned()));
    }
    let mut advisor = scenario::advisor(&arguments.load, arguments.format, space, capacity_bytes)?;
    for setting in &arguments.set {
        advisor = advisor.set(&setting.key, &setting.value)?;
    }
    if let Some(now) = &arguments.now {
        advisor = advisor.present(now)?;
    }
    advisor.goals = arguments.goal.clone();
    if !arguments.prefer.is_empty() {
        advisor.prefer = arguments.prefer.clone();
    }
    if !arguments.allow.is_empty() {
        // What can be had today is always allowed.
        advisor.allow = std::iter::once(Need::Now).chain(arguments.allow.iter().copied()).collect();
    }
    let all = [Circumstance::Failed, Circumstance::Rebuild, Circumstance::Slow];
    advisor.under = if arguments.under.is_empty() { all.to_vec() } else { arguments.under.clone() };
    advisor.growth = arguments.growth.unwrap_or(1.0);
    advisor.effort = match (arguments.requests, arguments.effort) {
        (Some(requests), _) => Effort::Requests(requests),
        (None, Some(time)) => Effort::Time(std::time::Duration::from_nanos(time.ns)),
        (None, None) => Effort::Time(std::time::Duration::from_secs(EFFORT_S)),
    };
    advisor.error = arguments.sure;
    advisor.seed = arguments.seed;
    advisor.workers = arguments.jobs.map_or_else(default_workers, usize::from);
    advisor.residuals = residuals();
    if let Some(file) = &arguments.prices {
        let prices = Prices::from_toml(&read_small(file, "--prices")?);
        advisor.prices = Some(prices.map_err(|problem| Failure::Input(format!("{}: {problem}", file.display())))?);
    }
    Ok(advisor)
}

fn read_space(file: &Path) -> Outcome<Space> {
    Space::from_toml(&read_small(file, "--space")?).map_err(|problem| Failure::Input(format!("{}: {problem}", file.display())))
}

/// Reads the file of an option, which is small.
fn read_small(file: &Path, option: &str) -> Outcome<String> {
    let name = file.display();
    let cannot = |error: std::io::Error| Failure::Input(format!("{option}: can't read {name}: {error}"));
    if fs::metadata(file).map_err(cannot)?.len() > SMALL_FILE_BYTES_MAX {
        return Err(Failure::Input(format!("{option}: {name} is larger than 1 MiB, which is too much")));
    }
    fs::read_to_string(file).map_err(cannot)
}

fn usual_space(arguments: &AdviseArgs) -> Outcome<Space> {
    let drives = match arguments.drives.as_slice() {
        [] => USUAL_DRIVES.map(str::to_owned).to_vec(),
        drives => drives.to_vec(),
    };
    Space::usual(&drives, arguments.bays.unwrap_or(USUAL_BAYS)).map_err(|problem| Failure::Input(format!("--drives: {problem}")))
}

/// Writes the answer, its page, and a configuration that can be run.
fn write(advice: &Advice, capacity_bytes: f64, out: &Path) -> Outcome {
    let part = report::part(advice, capacity_bytes);
    let page = Page { title: "Which array", parts: std::slice::from_ref(&part) };
    all_or_nothing(out, || {
        files::write(&out.join("advice.json"), json::text(&json::document(advice)?).as_bytes())?;
        files::write(&out.join("advice.html"), page.html().as_bytes())?;
        report::table(advice).write(out, "points")?;
        if let Some(configuration) = &advice.configuration {
            let mut configuration = configuration.clone();
            // The file lies in another folder than the one that a relative path starts from.
            if let Some(path) = configuration.pointer_mut("/workload/path") {
                let absolute = path.as_str().and_then(|path| std::path::absolute(path).ok());
                if let Some(absolute) = absolute.as_deref().and_then(Path::to_str) {
                    *path = absolute.into();
                }
            }
            let text = page::toml_of(&configuration).unwrap_or_default();
            files::write(&out.join("advice.toml"), text.as_bytes())?;
        }
        Ok(())
    })
}

/// The progress of a search on standard error.
struct Bar {
    bar: ProgressBar,
    stage: Mutex<String>,
}

impl Bar {
    fn new(quiet: bool) -> Bar {
        let target = if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr_with_hz(8) };
        let bar = ProgressBar::with_draw_target(Some(1), target);
        bar.set_style(ProgressStyle::with_template("{spinner} {wide_bar} {msg}").expect("the template is constant"));
        keep_moving(&bar);
        Bar { bar, stage: Mutex::default() }
    }
}

impl Watch for Bar {
    fn progress(&self, stage: &str, done: usize, of: usize, best: Option<&str>) {
        let mut last = self.stage.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if *last != stage {
            stage.clone_into(&mut last);
            self.bar.reset();
        }
        self.bar.set_length(of as u64);
        self.bar.set_position(done as u64);
        let best = best.map_or(String::new(), |best| format!(" · best so far: {best}"));
        self.bar.set_message(format!("{stage} {}/{}{best}", number::grouped(done as u64), number::grouped(of as u64)));
    }

    fn stop(&self) -> bool {
        interrupt::requested()
    }

    fn stop_signal(&self) -> Stop {
        Stop::stop_when(interrupt::requested)
    }
}

//! `flashraid advise`: from a load and goals to an array.

use std::fs;
use std::path::Path;
use std::sync::Mutex;

use flashraid::advise::goal::Circumstance;
use flashraid::advise::{Advice, Advisor, Effort, Need, Space, Watch};
use flashraid::study::{Axis, default_workers};
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

/// Drives to choose from without `--drives`.
const DRIVES: [&str; 2] = ["nvme-tlc-read", "nvme-tlc-mixed"];
/// Least and most drives without `--bays`.
const BAYS: (u32, u32) = (4, 12);
/// Levels, strips and shares in use that are searched without `--space`.
const CHOICES: [(&str, &[&str]); 3] =
    [("level", &["raid5", "raid6", "raid10"]), ("chunk", &["16KiB", "64KiB", "256KiB"]), ("use", &["100%", "90%", "78%"])];
/// Time that a search may take without `--effort`.
const EFFORT_S: u64 = 120;
/// Most bytes of a space in a file.
const SPACE_BYTES_MAX: u64 = 1 << 20;

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
                text += &format!("Written: {}/advice.toml, advice.json, advice.html\n", out.path().display());
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
        None => default_space(arguments).map_err(Failure::Input)?,
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
    Ok(advisor)
}

fn read_space(file: &Path) -> Outcome<Space> {
    let name = file.display();
    let cannot = |error: std::io::Error| Failure::Input(format!("--space: can't read {name}: {error}"));
    if fs::metadata(file).map_err(cannot)?.len() > SPACE_BYTES_MAX {
        return Err(Failure::Input(format!("--space: {name} is larger than 1 MiB, and no space is")));
    }
    let text = fs::read_to_string(file).map_err(cannot)?;
    Space::from_toml(&text).map_err(|problem| Failure::Input(format!("{name}: {problem}")))
}

fn default_space(arguments: &AdviseArgs) -> Result<Space, String> {
    let (least, most) = arguments.bays.unwrap_or(BAYS);
    let drives = match arguments.drives.as_slice() {
        [] => DRIVES.map(str::to_owned).to_vec(),
        drives => drives.to_vec(),
    };
    if let Some((_, twice)) = drives.iter().enumerate().find(|(index, drive)| drives[..*index].contains(drive)) {
        return Err(format!("--drives: {twice} is there twice"));
    }
    let axis = |key: &str, values: Vec<String>| Axis { key: key.to_owned(), values };
    let members = (least..=most).map(|members| members.to_string()).collect();
    let mut axes = vec![axis("drive", drives), axis("members", members)];
    axes.extend(CHOICES.map(|(key, values)| axis(key, values.iter().map(|value| (*value).to_owned()).collect())));
    Space::of(axes)
}

/// Writes the answer, its page, and a configuration that can be run.
fn write(advice: &Advice, capacity_bytes: f64, out: &Path) -> Outcome {
    let part = report::part(advice, capacity_bytes);
    let page = Page { title: "Which array", parts: std::slice::from_ref(&part) };
    all_or_nothing(out, || {
        files::write(&out.join("advice.json"), json::text(&json::document(advice)?).as_bytes())?;
        files::write(&out.join("advice.html"), page.html().as_bytes())?;
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
}

//! `flashraid pts`: runs a test of SNIA's specification (PTS) on a simulated drive.

use flashraid::{CompletedRequest, Observer, Progress, Stop};
use flashraid_experiments::pts::{Band, Figures, Outcome as Tested, Round, Setup, Test, WINDOW, Watch, job_file, rounds};
use flashraid_report::number::{bytes, duration_us, grouped};
use flashraid_report::sheet::{Cell, Sheet};
use flashraid_report::text;

use crate::args::PtsArgs;
use crate::failure::{Failure, Outcome};
use crate::machine::resources;
use crate::output::json;
use crate::output::narrow::narrow;
use crate::progress::Board;
use crate::{files, interrupt};

/// Rounds in fio's job file unless the user says otherwise. It is the number of rounds that steady state is judged by.
const FIO_ROUNDS: u32 = 5;
/// Largest number of rounds in a table. The JSON document has all of them.
const ROWS: usize = 24;

/// Runs `flashraid pts` with its arguments.
pub fn run(arguments: &PtsArgs) -> Outcome {
    let test = arguments.test;
    if arguments.fio {
        return files::print(&job_file(test, arguments.rounds.unwrap_or(FIO_ROUNDS)));
    }
    let setup = Setup {
        test,
        drive: arguments.ssd.clone().unwrap_or_default(),
        settings: arguments.set.iter().map(|setting| (setting.key.clone(), setting.value.clone())).collect(),
        rounds_max: arguments.rounds.unwrap_or(test.rounds_max()),
        seed: arguments.seed,
    };
    let simulation = setup.simulation()?;
    let scenario = simulation.scenario()?;
    let resources = resources(arguments.machine, &[&scenario], None)?;
    interrupt::stop_at_next_step()?;
    let board = Board::new(1, arguments.machine.quiet);
    let (requests, watch) = rounds(&setup, &scenario);
    let mut watcher = Watcher { board: &board, watch, rounds_max: setup.rounds_max };
    let result = simulation.threads(resources.threads_per_simulation).source(requests).observe(&mut watcher).run();
    board.clear();
    result?;
    let tested = watcher.watch.outcome(&setup, &scenario);
    if tested.rounds.is_empty() {
        return Err(Failure::Interrupted("stopped before the end of the first round: there is nothing to report".to_owned()));
    }
    match arguments.json {
        true => json::print(&json::document(&tested)?)?,
        false => files::print(&format!("{}{}", text::render(&narrow(sheets(&tested, test))), notes(&tested, test)))?,
    }
    if tested.partial {
        return Err(Failure::Interrupted("stopped: the report is partial".to_owned()));
    }
    Ok(())
}

/// Shows the progress of the test, and stops it after Ctrl-C.
struct Watcher<'a> {
    board: &'a Board,
    watch: Watch,
    rounds_max: u32,
}

impl Observer for Watcher<'_> {
    fn note(&mut self, text: &str) {
        self.board.note(text);
    }

    fn stop_signal(&self) -> Stop {
        Stop::stop_when(interrupt::requested)
    }

    fn progress(&mut self, progress: &Progress) -> bool {
        let mut progress = *progress;
        progress.phase_fraction_done = Some(self.watch.rounds() as f64 / f64::from(self.rounds_max));
        self.board.update(0, &progress);
        self.watch.progress(&progress) && !interrupt::requested()
    }

    fn request_completed(&mut self, request: &CompletedRequest) {
        self.watch.request_completed(request);
    }

    fn mapping_units_programmed(&mut self, units: u64) {
        self.watch.mapping_units_programmed(units);
    }
}

fn sheets(tested: &Tested, test: Test) -> Vec<Sheet> {
    let title = format!("{} of {}, {} at scale {}", tested.test, tested.drive, bytes(tested.capacity_bytes as f64), tested.scale);
    let header = ["round", "drive fills", "IOPS", "mean", "p50", "p99", "p99.9", "p99.99", "p99.999", "longest", "write amplification"];
    let mut by_round = Sheet::new(format!("{title}: {}", named(test.tracked().read_percent, test.tracked().block_bytes)), &header);
    let all = tested.rounds.len();
    let step = all.div_ceil(ROWS).max(1);
    // The table always shows the last rounds, by which steady state is judged.
    let is_shown = |round: &&Round| (round.round as usize - 1).is_multiple_of(step) || round.round as usize + WINDOW > all;
    by_round.rows = tested.rounds.iter().filter(is_shown).map(|round| round_row(round, test)).collect();
    let mut sheets = vec![by_round];
    if test != Test::Wsat {
        let mut window =
            Sheet::new("the last rounds together", &["reads, size", "IOPS", "MB/s", "mean", "p50", "p99", "p99.9", "p99.99", "longest"]);
        window.rows = tested.window.iter().map(window_row).collect();
        sheets.push(window);
    }
    let mut histogram = Sheet::new("response times of the last rounds", &["from", "requests", "share"]);
    let band = |band: &Band| -> Vec<Cell> {
        vec![duration_us(band.from_us).into(), grouped(band.requests).into(), format!("{:.3} %", band.share * 100.0).into()]
    };
    histogram.rows = tested.histogram.iter().map(band).collect();
    sheets.push(histogram);
    sheets
}

fn named(read_percent: u8, block_bytes: u64) -> String {
    format!("{read_percent} % reads, {}", bytes(block_bytes as f64))
}

fn time(us: Option<f64>) -> Cell {
    us.map_or_else(String::new, duration_us).into()
}

fn round_row(round: &Round, test: Test) -> Vec<Cell> {
    let figures = round.patterns.iter().find(|figures| figures.pattern == test.tracked()).expect("every test has its tracked pattern");
    let mut row: Vec<Cell> =
        vec![round.round.to_string().into(), format!("{:.2}", round.drive_fills).into(), grouped(figures.iops.round() as u64).into()];
    let Figures { mean_us, p50_us, p99_us, p99_9_us, p99_99_us, p99_999_us, max_us, .. } = figures;
    row.extend([mean_us, p50_us, p99_us, p99_9_us, p99_99_us, p99_999_us, max_us].map(|us| time(*us)));
    row.push(round.write_amplification.map_or_else(String::new, |figure| format!("{figure:.2}")).into());
    row
}

fn window_row(figures: &Figures) -> Vec<Cell> {
    let pattern = figures.pattern;
    let mut row: Vec<Cell> = vec![
        named(pattern.read_percent, pattern.block_bytes).into(),
        grouped(figures.iops.round() as u64).into(),
        grouped(figures.mb_s.round() as u64).into(),
    ];
    row.extend([figures.mean_us, figures.p50_us, figures.p99_us, figures.p99_9_us, figures.p99_99_us, figures.max_us].map(time));
    row
}

/// Returns the text below the tables: the steady state, and how the test ended.
fn notes(tested: &Tested, test: Test) -> String {
    let steady = &tested.steady;
    let mut text = String::new();
    match (steady.from_round, steady.round, steady.range, steady.slope) {
        (Some(from), Some(round), Some(range), Some(slope)) => {
            let of_window = format!(
                "rounds {from} to {round} range by {:.1} % of their mean and rise by {:.1} % ({})",
                range * 100.0,
                slope * 100.0,
                test.tracks()
            );
            text += &match steady.is_steady {
                true => format!("Steady from round {round} on: {of_window}.\n"),
                false => format!("Not steady: {of_window}.\n"),
            };
        }
        _ => text += "Too few rounds to say whether it is steady.\n",
    }
    text += &format!("A pattern lasts {} in each round.", duration_us(tested.pattern_s * 1e6));
    if tested.rounds.len() > ROWS {
        text += " --json has all rounds.";
    }
    text + "\n"
}

//! `flashraid preset card`: simulates a drive and compares it with its data sheet.

use flashraid::advise::Residual;
use flashraid::file_hashes::InputFileHashes;
use flashraid::study::{StudySimulation, run_all};
use flashraid_experiments::card::{Card, Graded, Job, Kind, MOVES_MAX, Moved, Window, cards, residuals, title};
use flashraid_report::number;
use flashraid_report::sheet::{Cell, Sheet, Tone};
use flashraid_report::text;

use crate::args::CardArgs;
use crate::failure::{Failure, Outcome};
use crate::machine::resources;
use crate::output::narrow::narrow;
use crate::output::{json, reference};
use crate::progress::Board;
use crate::{failure, files, interrupt};

/// Runs `flashraid preset card` with its arguments.
pub fn run(arguments: &CardArgs) -> Outcome {
    if arguments.residuals {
        return show_residuals(arguments.json);
    }
    let card = find(arguments.name.as_deref().unwrap_or_default())?;
    let graded = make(card, if arguments.quick { Window::Quick } else { Window::Usual }, arguments)?;
    let moved = match arguments.double {
        true => Some(graded.moved(&make(card, Window::Double, arguments)?)),
        false => None,
    };
    match (arguments.json, moved) {
        (true, None) => json::print(&json::document(&graded)?),
        (true, Some(moved)) => json::print(&serde_json::json!({ "card": json::document(&graded)?, "doubled": moved })),
        (false, moved) => {
            let sheets = [Some(sheet(&graded)), percentiles(&graded), moved.as_deref().map(moves)].into_iter().flatten().collect();
            files::print(&format!("{}{}", text::render(&narrow(sheets)), notes(&graded, moved.as_deref())))
        }
    }
}

/// Prints the errors of the model by kind of figure.
fn show_residuals(as_json: bool) -> Outcome {
    let residuals = residuals();
    if as_json {
        return json::print(&serde_json::json!({ "schema": "flashraid.residuals/1", "kinds": residuals }));
    }
    let percent = |value: f64| format!("{:.1} %", value * 100.0);
    let row = |residual: &Residual| {
        let Residual { kind, figures, rms, mean } = residual;
        [kind.clone(), figures.to_string(), percent(*rms), percent(*mean)].map(Cell::from).to_vec()
    };
    let header = ["", "published figures", "error (rms)", "mean"];
    let title = "Errors of the simulation, by kind of figure (logarithm of simulated over published)";
    let sheet = Sheet { rows: residuals.kinds.iter().map(row).collect(), ..Sheet::new(title, &header) };
    files::print(&text::render(&narrow(vec![sheet])))
}

/// Simulates the loads of a card, and compares its figures with them.
fn make(card: &Card, window: Window, arguments: &CardArgs) -> Outcome<Graded> {
    let jobs = card.jobs();
    let mut contents = InputFileHashes::default();
    let simulated = |job: &Job| -> Outcome<StudySimulation> {
        let scenario = card.scenario(*job, window).map_err(|problems| failure::refuse(&problems))?;
        Ok(StudySimulation::new(scenario, &mut contents)?)
    };
    let tasks = jobs.iter().map(simulated).collect::<Outcome<Vec<StudySimulation>>>()?;
    let scenarios: Vec<_> = tasks.iter().map(|task| &task.scenario).collect();
    let resources = resources(arguments.machine, &scenarios, arguments.jobs)?;

    interrupt::stop_at_next_step()?;
    let board = Board::new(tasks.len(), arguments.machine.quiet);
    let reports = run_all(&tasks.iter().collect::<Vec<_>>(), &resources, None, &board);
    board.clear();
    let reports = reports?;
    let (done, all) = (reports.iter().flatten().count(), reports.len());
    if done < all {
        return Err(Failure::Interrupted(format!("stopped: {done} of {all} simulations are done, which is no card; nothing was kept")));
    }
    Ok(card.grade(&reports.into_iter().flatten().collect::<Vec<_>>(), window == Window::Quick))
}

fn find(name: &str) -> Outcome<&'static Card> {
    if let Some(card) = cards().iter().find(|card| card.drive == name) {
        return Ok(card);
    }
    let with_cards: Vec<&str> = cards().iter().map(|card| card.drive.as_str()).collect();
    let with_cards = with_cards.join(", ");
    Err(Failure::Input(match flashraid::config::all_presets().iter().any(|preset| preset.name == name) {
        true => format!("the preset {name:?} follows no data sheet, so that it has no card; these have one: {with_cards}"),
        false => format!("there is no preset {name:?}; these have a card: {with_cards}"),
    }))
}

fn sheet(card: &Graded) -> Sheet {
    let title = format!("{}, after {} {}, at scale {}", card.drive, card.after, card.capacity, card.scale);
    let header = ["", "unit", "data sheet", "simulated", "difference", "allowed", "kind", "holds"];
    let row = |figure| {
        let mut row: Vec<Cell> = reference::card_row(figure).into_iter().map(Cell::from).collect();
        if let (Some(holds), Some(last)) = (figure.holds, row.last_mut()) {
            last.tone = if holds { Tone::Better } else { Tone::Worse };
        }
        row
    };
    Sheet { label_columns: 2, rows: card.figures.iter().map(row).collect(), ..Sheet::new(title, &header) }
}

/// Returns the table of published percentiles, if there are any.
fn percentiles(card: &Graded) -> Option<Sheet> {
    let header = ["", "", "unit", "published", "simulated", "allowed", "kind", "holds"];
    let row = |percentile| {
        let mut row: Vec<Cell> = reference::percentile_row(percentile).into_iter().map(Cell::from).collect();
        if let (Some(holds), Some(last)) = (percentile.holds, row.last_mut()) {
            last.tone = if holds { Tone::Better } else { Tone::Worse };
        }
        row
    };
    let rows: Vec<_> = card.percentiles.iter().map(row).collect();
    (!rows.is_empty()).then(|| Sheet { label_columns: 3, rows, ..Sheet::new("Percentiles".to_owned(), &header) })
}

/// Returns the table of figures beside those of doubled windows.
fn moves(moved: &[Moved]) -> Sheet {
    let value = |value: Option<f64>| value.map_or_else(|| "undefined".to_owned(), number::three_digits);
    let row = |moved: &Moved| {
        let share = moved.share_of_tolerance.map_or_else(String::new, |share| format!("{:.0} %", 100.0 * share));
        let settled = if moved.is_settled() { "yes" } else { "no" };
        [title(&moved.name).to_owned(), value(moved.usual), value(moved.doubled), share, settled.to_owned()].map(Cell::from).to_vec()
    };
    let header = ["", "simulated", "over twice the window", "moves by, of its tolerance", "settled"];
    Sheet { rows: moved.iter().map(row).collect(), ..Sheet::new("Windows of twice the length".to_owned(), &header) }
}

/// Returns the text below the tables: how many figures hold, and notes about the card.
fn notes(card: &Graded, moved: Option<&[Moved]>) -> String {
    let (held, judged) = card.tally();
    let predicted = card.tally_of(Kind::Predicted);
    let mut text = format!("{held} of {judged} figures hold; of the predicted ones {} of {}.\n", predicted.0, predicted.1);
    let (of_percentiles, of_held_out) = (card.tally_of_percentiles(), card.tally_of_held_out());
    if of_percentiles.1 > 0 {
        text += &format!(
            "{} of {} percentiles hold; of the held-out ones {} of {}.\n",
            of_percentiles.0, of_percentiles.1, of_held_out.0, of_held_out.1
        );
    }
    let of_figures = card.figures.iter().filter(|figure| !figure.steady).map(|figure| figure.name.as_str());
    let mut not_steady: Vec<&str> = of_figures.collect();
    not_steady.extend(card.percentiles.iter().filter(|percentile| !percentile.steady).map(|percentile| percentile.load.as_str()));
    not_steady.dedup();
    if card.quick {
        text += "A quick look: it shows that a card can be made, and nothing of the drive.\n";
    } else if !not_steady.is_empty() {
        text += &format!("Not steady, so that they show a moment and not the drive: {}.\n", not_steady.join(", "));
    }
    if let Some(moved) = moved {
        let settled = moved.iter().filter(|moved| moved.is_settled()).count();
        let (all, percent) = (moved.len(), 100.0 * MOVES_MAX);
        text += &format!(
            "{settled} of {all} figures keep their verdict, and move by at most {percent:.0} % of their tolerance, over twice the window.\n"
        );
    }
    text + "--json has the source of each figure.\n"
}

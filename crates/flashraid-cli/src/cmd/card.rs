//! `flashraid preset card`: simulates a drive and compares it with its data sheet.

use flashraid::content::Contents;
use flashraid::study::{Simulated, run_all};
use flashraid_experiments::card::{Card, Graded, Job, Kind, cards};
use flashraid_report::sheet::{Cell, Sheet, Tone};
use flashraid_report::text;

use crate::args::CardArgs;
use crate::failure::{Failure, Outcome};
use crate::machine::resources;
use crate::output::narrow::narrow;
use crate::output::{json, reference};
use crate::progress::Board;
use crate::{files, interrupt, scenario};

/// Runs `flashraid preset card` with its arguments.
pub fn run(arguments: &CardArgs) -> Outcome {
    let card = find(&arguments.name)?;
    let jobs = card.jobs();
    let mut contents = Contents::default();
    let simulated = |job: &Job| -> Outcome<Simulated> {
        let scenario = card.scenario(*job, arguments.quick).map_err(|problems| scenario::refuse(&problems))?;
        Ok(Simulated::new(scenario, &mut contents)?)
    };
    let tasks = jobs.iter().map(simulated).collect::<Outcome<Vec<Simulated>>>()?;
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
    let graded = card.grade(&reports.into_iter().flatten().collect::<Vec<_>>(), arguments.quick);
    match arguments.json {
        true => json::print(&json::document(&graded)?),
        false => files::print(&format!("{}{}", text::render(&narrow(vec![sheet(&graded)])), notes(&graded))),
    }
}

fn find(name: &str) -> Outcome<&'static Card> {
    if let Some(card) = cards().iter().find(|card| card.drive == name) {
        return Ok(card);
    }
    let with_cards: Vec<&str> = cards().iter().map(|card| card.drive.as_str()).collect();
    let with_cards = with_cards.join(", ");
    Err(Failure::Input(match flashraid::config::presets().iter().any(|preset| preset.name == name) {
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

/// Returns the text below the table: how many figures hold, and notes about the card.
fn notes(card: &Graded) -> String {
    let (held, judged) = card.tally();
    let predicted = card.tally_of(Kind::Predicted);
    let mut text = format!("{held} of {judged} figures hold; of the predicted ones {} of {}.\n", predicted.0, predicted.1);
    let not_steady: Vec<&str> = card.figures.iter().filter(|figure| !figure.steady).map(|figure| figure.name.as_str()).collect();
    if card.quick {
        text += "A quick look: it shows that a card can be made, and nothing of the drive.\n";
    } else if !not_steady.is_empty() {
        text += &format!("Not steady, so that they show a moment and not the drive: {}.\n", not_steady.join(", "));
    }
    text + "--json has the source of each figure.\n"
}

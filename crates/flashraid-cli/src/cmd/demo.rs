//! `flashraid demo`: compares remedies against garbage collection on a built-in array. The workload is once as in the paper, and once
//! spread over the whole array.

use std::path::Path;

use flashraid::Study;
use flashraid::study::Setting;
use flashraid_report::chart::{self, Chart};
use flashraid_report::grid::Grid;
use flashraid_report::page::{self, Page};
use flashraid_report::{number, picture, text};

use crate::args::{DEFAULT_OUT, DemoArgs};
use crate::failure::Outcome;
use crate::files;
use crate::machine;
use crate::out_folder::{OutFolder, all_or_nothing};
use crate::output::json;
use crate::output::narrow::{columns, narrow};

use super::compare::run_plan;

/// Configuration of 8 SSDs of the GGC paper, at full size, under its write-dominated HPC workload.
const CONFIGURATION: &str = include_str!("demo.toml");

type Settings = &'static [(&'static str, &'static str)];

/// The remedies that are compared, the baseline first, each with its settings.
const REMEDIES: [(&str, Settings); 7] = [
    ("no remedy", &[]),
    ("preemption (semi)", &[("ssd.gc.preemption", "semi")]),
    ("reactive-inclusive", &[("coordination.scheme", "reactive-inclusive")]),
    ("reactive-selective", &[("coordination.scheme", "reactive-selective")]),
    ("proactive-idle", &[("coordination.scheme", "proactive-idle")]),
    ("proactive-soft-limit", &[("coordination.scheme", "proactive-soft-limit")]),
    ("collection in 0 s", &[("coordination.scheme", "ideal")]),
];

/// Explains the remedies' names in the output.
const ABOUT: &str = "Preemption: requests go first between the steps of a collection. Reactive, proactive: the SSDs collect together. WA: \
                     write amplification.";

/// Settings of `--quick`: an eighth of the dies and of the blocks, and a tenth of the requests.
const QUICK: Settings =
    &[("ssd.geometry.dies", "8"), ("ssd.geometry.blocks", "64"), ("workload.requests", "2000"), ("workload.address.footprint", "0.4")];

/// One of the two comparisons of the demo.
struct Case {
    /// Name of the case in JSON documents.
    name: &'static str,
    /// Heading of the case on the page and on standard output.
    about: &'static str,
    /// Settings that are added to the configuration.
    settings: Settings,
    /// Prefix of the names of the case's pictures.
    pictures: &'static str,
}

const CASES: [Case; 2] = [
    Case { name: "as in the paper", about: "As in the GGC paper: all requests go to a small part", settings: &[], pictures: "" },
    Case {
        name: "all of it in use",
        about: "The same array, all of it in use",
        settings: &[("workload.address.footprint", "1.0"), ("ssd.warm_up.pattern", "random"), ("ssd.warm_up.overwrites", "2")],
        pictures: "whole-array-",
    },
];

/// Runs `flashraid demo` with its arguments.
pub fn run(arguments: &DemoArgs) -> Outcome {
    // A machine that is too small is reported before any file is written.
    let plan = study(arguments.quick)?.plan()?;
    let resources = machine::resources(arguments.machine, &plan.scenarios(), None)?;
    machine::announce(&plan.scenarios(), &resources, arguments.machine.quiet)?;
    let out = OutFolder::claim(arguments.out.as_deref().unwrap_or(Path::new(DEFAULT_OUT)), Some(arguments.force))?;
    let whole = Grid::of(run_plan(&plan.with_resources(resources), arguments.machine.quiet, "Nothing was written.")?)?;
    let document = whole.document();
    let points = whole.table();
    let parts = whole.by_workload();
    write(&parts, &document, &points, out.path())?;
    files::print(&shown(&parts, out.path(), arguments))
}

fn study(quick: bool) -> Outcome<Study> {
    let settings = |of: Settings| of.iter().map(|(key, value)| Setting { key: (*key).to_owned(), value: (*value).to_owned() }).collect();
    let quick = if quick { QUICK } else { &[] };
    let study = quick.iter().try_fold(Study::from_toml(CONFIGURATION)?, |study, (key, value)| study.set(key, value))?;
    let study = study.variants("workload.case", CASES.iter().map(|case| (case.name, settings(case.settings))))?;
    Ok(study.variants("remedy", REMEDIES.iter().map(|(name, of)| (*name, settings(of))))?)
}

/// Writes one page and one document of both cases, and the charts of each case.
fn write(parts: &[Grid], document: &serde_json::Value, points: &flashraid_report::data::Table, out: &Path) -> Outcome {
    let title = "What each remedy against garbage collection changes";
    let pages: Vec<page::Part> = parts.iter().zip(&CASES).map(|(grid, case)| page::of_grid(case.about, grid)).collect();
    let named = |(part, case): (&page::Part, &Case)| -> Vec<Chart> {
        part.charts.iter().map(|chart| Chart { id: format!("{}{}", case.pictures, chart.id), ..chart.clone() }).collect()
    };
    let charts: Vec<Chart> = pages.iter().zip(&CASES).flat_map(named).collect();
    let configuration = &parts[0].points[0].reports[0]["config"];
    all_or_nothing(out, || {
        files::write(&out.join("report.json"), json::text(document).as_bytes())?;
        files::write(&out.join("report.html"), Page { title, parts: &pages }.html().as_bytes())?;
        points.clone().of(configuration).write(out, "points")?;
        chart::table(&charts).of(configuration).write(out, "charts")?;
        Ok(picture::write(&charts, out)?)
    })
}

/// Formats both cases for standard output.
fn shown(parts: &[Grid], out: &Path, arguments: &DemoArgs) -> String {
    let width = columns();
    let line = |line: &str, indent: &str| text::wrap(line, width, indent) + "\n";
    let report = &parts[0].points[0].reports[0];
    let figure = |pointer: &str| report.pointer(pointer).and_then(serde_json::Value::as_f64).unwrap_or(0.0);
    let (rate, length) = (number::three_digits(figure("/iops/all")), number::duration_us(figure("/simulated_ns") / 1e3));
    let mut text = line(
        &format!(
            "8 SSDs as RAID-0, write-heavy HPC load, {rate} requests/s: what does each remedy against garbage collection change? One seed, {length} simulated."
        ),
        "",
    );
    text += &line(ABOUT, "");
    if arguments.quick {
        text += &line("A quick look: smaller SSDs, fewer requests, other figures than the full size's.", "");
    }
    for (letter, (grid, case)) in ["A", "B"].iter().zip(parts.iter().zip(&CASES)) {
        let amplification = grid.points[0].figure("/flash/write_amplification");
        let amplification = amplification.and_then(|values| values.first().copied()).map_or("–".to_owned(), number::three_digits);
        text += "\n";
        text += &format!("{letter}  {}; WA {amplification}\n", case.about);
        text += &text::compact(&grid.summary_with_bars(width));
        for sentence in grid.conclusions() {
            text += &line(&format!("⇒ {sentence}"), "  ");
        }
        for sentence in grid.costs_of_collection() {
            text += &line(&format!("  {sentence}"), "  ");
        }
        if arguments.tables {
            text += &format!("\n{}{}\n", text::render(&narrow(grid.sheets())), text::wrap(&grid.legend(), width, ""));
        }
    }
    let is_marked = parts.iter().any(|grid| !grid.doubts().is_empty());
    let marks = if is_marked { "; ! not steady: a longer run gives other figures" } else { "" };
    text += "\n";
    text += &line(&format!("{}{marks}", parts[0].summary_legend()), "");
    let folder = out.display();
    text + &format!(
        "Pictures  {folder}/report.html   All figures  flashraid demo --tables\n\
         Next      flashraid run TRACE --ssd nvme-tlc-read | flashraid init array.toml\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_cases_have_all_remedies_and_their_own_baseline() {
        for quick in [false, true] {
            assert_eq!(study(quick).unwrap().plan().unwrap().simulation_count(), CASES.len() * REMEDIES.len());
        }
    }
}

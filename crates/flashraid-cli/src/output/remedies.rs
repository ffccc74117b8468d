//! The comparison of all remedies, as Markdown, charts and a document.

use std::fmt::Write;

use flashraid_experiments::remedies::{IDEAL, LOCAL, Outcome, QUANTITIES, WRITES, crossover_lines, in_turn_over_together, winner};
use flashraid_experiments::{Figure, Results};
use flashraid_report::chart::{Axis, Chart, Content, Line, Lines};
use serde_json::{Value, json};

/// A drive with the outcome of each remedy.
pub type OfDrive = (Figure, Vec<Outcome>, Results);

/// Returns the table of each drive.
pub fn markdown(drives: &[OfDrive], seeds: &str) -> String {
    let mut text = format!(
        "# Remedies side by side\n\nWritten by `flashraid reproduce remedies`; do not edit. {seeds}.\n\n\
         Everything is relative to `local`, the same array without a remedy, as the mean over the seeds ± half of the 95 % interval. \
         Losses beyond the interval are bold. A remedy wins if its interval does not overlap that of the next one. \
         `ideal` is a yardstick: its collection takes no time. \
         A remedy is not judged if each member collected less than ten times with it, or if the run used up free blocks.\n"
    );
    for (figure, outcomes, results) in drives {
        let _ = write!(text, "\n## {}\n\n{}.\n\n| remedy |", figure.id, figure.title);
        text.extend(QUANTITIES.iter().map(|(name, _)| format!(" {name} |")));
        let _ = writeln!(text, " needs |\n|---|{}---|", "---:|".repeat(QUANTITIES.len()));
        let absolute: Vec<String> = QUANTITIES
            .iter()
            .map(|(_, places)| {
                let of = |place: &&str| results.mean(LOCAL, place);
                format!(" {} |", three_digits(places.iter().map(of).sum()))
            })
            .collect();
        let _ = writeln!(text, "| local: µs, counts |{} |", absolute.concat());
        for outcome in outcomes.iter().filter(|outcome| outcome.remedy.name != LOCAL) {
            let cell = |(name, places): &(&str, &[&str])| {
                if !outcome.is_judged && places.iter().any(|place| place.starts_with("/response_us/")) {
                    return " not judged |".to_owned();
                }
                let value = outcome.over_local[name];
                let half_width = value.half_width.map_or(String::new(), |half_width| format!(" ± {half_width:.2}"));
                let shown = format!("{:.2}{half_width}", value.mean);
                if value.is_loss() { format!(" **{shown}** |") } else { format!(" {shown} |") }
            };
            let cells: String = QUANTITIES.iter().map(cell).collect();
            let _ = writeln!(text, "| {} |{cells} {} |", outcome.remedy.name, outcome.remedy.needs);
        }
        let won = ["mean", "read p99.9"].map(|quantity| match winner(outcomes, quantity) {
            Some(name) => format!("{quantity}: {name}"),
            None => format!("{quantity}: no winner"),
        });
        let _ = writeln!(text, "\nLeast {}.", won.join("; "));
    }
    text
}

fn three_digits(value: f64) -> String {
    flashraid_report::number::three_digits(value)
}

/// Kind of chart: the end of its name, the label of its horizontal axis, and the place of a remedy there.
type Kind = (&'static str, &'static str, fn(&Outcome) -> f64);

/// Returns two charts for each drive: the tail of reads over extra flash work, and over write amplification.
pub fn charts(drives: &[OfDrive]) -> Vec<Chart> {
    let mut charts = Vec::new();
    for (figure, outcomes, _) in drives {
        let kinds: [Kind; 2] = [
            ("work", "flash reads and programs for each page of the host, beyond ideal", |outcome| outcome.extra_work),
            ("programs", "flash programs for each page that the host writes", |outcome| outcome.programs),
        ];
        for (id, label, x) in kinds {
            let judged = outcomes.iter().filter(|outcome| outcome.is_judged);
            let series = judged.map(|outcome| Line::new(outcome.remedy.name, vec![(x(outcome), outcome.tails_over_ideal[1])])).collect();
            let title = format!("{}: 99.9th percentile of reads over ideal", figure.id);
            let mut chart = lines(&format!("remedies-{}-{id}", figure.id), title, Axis::linear(label), "over ideal", series);
            chart.yardsticks = vec![IDEAL.to_owned()];
            charts.push(chart);
        }
    }
    charts
}

fn lines(id: &str, title: String, x: Axis, y: &str, series: Vec<Line>) -> Chart {
    let y = Axis::log(y);
    let lines = Lines { x, y, steps: false, series, bands: Vec::new(), levels: vec![("1".to_owned(), 1.0)], marks: Vec::new() };
    Chart::new(id, title, Content::Lines(lines))
}

/// Places of the quantities of the crossover.
const CROSSOVER: [(&str, &str); 2] = [("mean", "/response_us/all/mean"), ("99th percentile of reads", "/response_us/read/p99")];

/// Returns the charts of the crossover: in turn over together, over the share of writes. Above 1 collecting together is better.
pub fn crossover_charts(results: &Results) -> Vec<Chart> {
    let chart = |(index, (name, place)): (usize, &(&str, &str))| {
        let line = |line: String| {
            let points =
                WRITES.iter().filter_map(|writes| Some((f64::from(*writes), in_turn_over_together(results, &line, *writes, place)?)));
            let points = points.collect();
            Line::new(line, points)
        };
        let title = format!("RAID-5, {name}: in turn with reads that go round, over together (above 1 together is better)");
        let id = format!("crossover-{}", ["mean", "read-p99"][index]);
        lines(&id, title, Axis::linear("writes, %"), "in turn over together", crossover_lines().into_iter().map(line).collect())
    };
    CROSSOVER.iter().enumerate().map(chart).collect()
}

/// Returns the table of the crossover.
pub fn crossover_markdown(results: &Results, seeds: &str) -> String {
    let head: String = WRITES.iter().map(|writes| format!(" {writes} % |")).collect();
    let mut text = format!(
        "# Together or in turn\n\nWritten by `flashraid reproduce crossover`; do not edit. {seeds}.\n\n\
         RAID-5 with strips of 64 KiB under random requests: stagger with `avoid` over reactive-inclusive, by the share of writes. \
         Above 1 collecting together is better.\n"
    );
    for (name, place) in CROSSOVER {
        let _ = write!(text, "\n| {name} |{head}\n|---|{}\n", "---:|".repeat(WRITES.len()));
        for line in crossover_lines() {
            let cell = |writes: &u32| {
                in_turn_over_together(results, &line, *writes, place).map_or(" not judged |".to_owned(), |ratio| format!(" {ratio:.2} |"))
            };
            let _ = writeln!(text, "| {line} |{}", WRITES.iter().map(cell).collect::<String>());
        }
    }
    text
}

/// Returns the comparison as a document.
pub fn document(drives: &[OfDrive], first_seed: u64, seeds: u64) -> Value {
    let of = |outcome: &Outcome| {
        let ratios: serde_json::Map<String, Value> = outcome
            .over_local
            .iter()
            .map(|(name, value)| ((*name).to_owned(), json!({ "over_local": value.mean, "ci95": value.half_width })))
            .collect();
        json!({
            "remedy": outcome.remedy.name,
            "needs": outcome.remedy.needs,
            "is_judged": outcome.is_judged,
            "quantities": ratios,
            "read_p99_over_ideal": outcome.tails_over_ideal[0],
            "read_p999_over_ideal": outcome.tails_over_ideal[1],
            "extra_flash_operations_per_page": outcome.extra_work,
            "programs_per_page_written": outcome.programs,
        })
    };
    let drive = |(figure, outcomes, _): &OfDrive| json!({ "drive": figure.id, "title": figure.title, "remedies": outcomes.iter().map(of).collect::<Vec<_>>() });
    json!({
        "schema": "flashraid.remedies/1",
        "seeds": (first_seed..first_seed + seeds).collect::<Vec<_>>(),
        "drives": drives.iter().map(drive).collect::<Vec<_>>(),
    })
}

/// Returns the document of the crossover.
pub fn crossover_document(results: &Results, first_seed: u64, seeds: u64) -> Value {
    let line = |line: String| {
        let of = |place: &str| WRITES.iter().map(|writes| json!(in_turn_over_together(results, &line, *writes, place))).collect::<Vec<_>>();
        json!({ "line": line, "mean": of(CROSSOVER[0].1), "read_p99": of(CROSSOVER[1].1) })
    };
    json!({
        "schema": "flashraid.crossover/1",
        "seeds": (first_seed..first_seed + seeds).collect::<Vec<_>>(),
        "writes_percent": WRITES,
        "in_turn_over_together": crossover_lines().into_iter().map(line).collect::<Vec<_>>(),
    })
}

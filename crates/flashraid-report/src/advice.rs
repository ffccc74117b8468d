//! The answer of `flashraid advise` for people: at most 40 lines of text, and a page.

use std::collections::BTreeMap;

use serde_json::Value;

use flashraid::advise::{Advice, FigureOf, PlausibleDrives, PointOf, Stage, Step, Verb};

use crate::chart::{Axis, Chart, Content, Line, Lines};
use crate::data::Table;
use crate::number::{self, DAYS_PER_YEAR, capacity, count_with_noun, duration_us, rounded, three_digits, years};
use crate::page::{Part, Text, toml_of};
use crate::sheet::{Cell, Sheet, Tone};
use crate::text::wrap;

/// Most lines of the text.
const LINES_MAX: usize = 40;
/// Most reasons that the text counts.
const REASONS_MAX: usize = 4;

/// Formats an answer for a terminal.
pub fn text(advice: &Advice, capacity_bytes: f64, width: usize) -> String {
    let mut lines = Vec::new();
    let mut say = |text: &str, indent: &str| {
        // Wrapping drops spaces at the beginning of a line.
        let begin = &text[..text.len() - text.trim_start().len()];
        lines.extend(format!("{begin}{}", wrap(text, width - begin.len(), indent)).lines().map(str::to_owned));
    };
    let arrays = count_with_noun(advice.points.len() as u64, "array");
    let requests = rounded(advice.requests as f64);
    if advice.verb == Verb::Idle {
        say(&advice.sentences.join(" "), "  ");
        return lines.join("\n") + "\n";
    }
    say(&format!("{}, {}: {arrays}, {requests} simulated requests", advice.load, capacity(capacity_bytes)), "  ");
    for sentence in decision(advice) {
        say(&sentence, "  ");
    }
    let now = advice.now.map(|index| &advice.points[index]);
    for (index, point) in advice.named.iter().map(|index| &advice.points[*index]).enumerate() {
        if advice.named.len() > 1 {
            say(&format!("{}:", point.name), "  ");
        }
        let others = now.filter(|now| !std::ptr::eq(*now, point) && index == 0);
        // Of several arrays, only the first one is shown in full.
        let is_shown =
            |figure: &&FigureOf| figure.under == "healthy" && (index == 0 || advice.verb == Verb::Front || figure.goal.is_some());
        for figure in point.figures.iter().filter(is_shown) {
            say(&format!("  {}", line_of(advice, figure, others)), "      ");
        }
        let elsewhere: Vec<String> =
            point.figures.iter().filter(|figure| figure.under != "healthy").map(|figure| under(advice, figure)).collect();
        if !elsewhere.is_empty() {
            say(&format!("  {}", elsewhere.join(" · ")), "      ");
        }
    }
    if !advice.why.is_empty() {
        say(&why(advice), "  ");
    }
    if let Some(drives) = advice.plausible.as_ref().filter(|drives| !is_in_doubt(drives)) {
        say(&plausible(drives), "  ");
    }
    if let Some(factor) = advice.load_may_grow {
        say(&growth(factor), "  ");
    }
    if !advice.also.is_empty() {
        let also: Vec<&str> = advice.also.iter().map(|other| other.text.as_str()).collect();
        say(&format!("Also: {}.", also.join(" | ")), "  ");
    }
    let left: Vec<String> = advice.left_by_reason.iter().take(REASONS_MAX).map(|(reason, count)| format!("{reason} ({count})")).collect();
    if !left.is_empty() {
        say(&format!("Left: {}.", left.join("; ")), "  ");
    }
    say(&format!("Rests on: {}.", advice.assumptions.join("; ")), "  ");
    say(&format!("Again: the same command with --requests {}", advice.requests_max), "  ");
    if lines.len() > LINES_MAX {
        lines.truncate(LINES_MAX - 1);
        lines.push("… --json and --out have the rest".to_owned());
    }
    lines.join("\n") + "\n"
}

/// Returns the sentences that a decision begins with. If it hangs on what no data sheet tells, that comes second.
fn decision(advice: &Advice) -> Vec<String> {
    let mut sentences = advice.sentences.clone();
    if let Some(drives) = advice.plausible.as_ref().filter(|drives| is_in_doubt(drives)) {
        sentences.insert(1.min(sentences.len()), plausible(drives));
    }
    sentences
}

/// Returns true if the goals are missed with some plausible drives.
fn is_in_doubt(drives: &PlausibleDrives) -> bool {
    drives.goals_met_in < drives.drives
}

fn growth(factor: f64) -> String {
    match factor {
        1.0 => "Any more load would miss the first goal.".to_owned(),
        factor => format!("The load may grow {} times until the first goal is missed.", three_digits(factor)),
    }
}

/// Formats what each change from the present array is worth.
fn why(advice: &Advice) -> String {
    let compared = advice.points.iter().find_map(|point| point.score_of.as_deref()).unwrap_or("the figure");
    let step = |step: &Step| {
        let half_width = (step.interval[1] - step.interval[0]) / 2.0;
        format!("{} ({})", step.change, number::change(step.ratio, Some(half_width)))
    };
    let steps: Vec<String> = advice.why.iter().map(step).collect();
    format!("Why, in {compared}: {}.", steps.join(", then "))
}

/// Formats the results with plausible drives.
fn plausible(drives: &PlausibleDrives) -> String {
    let PlausibleDrives { drives: all, best_in, goals_met_in, figure, least, most, exceptions } = drives;
    let range = format!("{figure} {} to {}", value_of(figure, *least, None), value_of(figure, *most, None));
    // What no data sheet tells can only be named if it is one thing.
    let without = "no suspension";
    let blamed = exceptions.iter().filter(|drive| drive.contains(without)).count();
    let blame = match exceptions.len() {
        0 => "",
        count if count == blamed => " (not where reads do not suspend programs and erases)",
        _ => "",
    };
    format!(
        "Drives that differ in what no data sheet tells: goals met in {goals_met_in} of {all}, best array in {best_in} of {all}{blame}; {range}."
    )
}

/// Formats a figure with its interval, its goal and the value of the present array.
fn line_of(advice: &Advice, figure: &FigureOf, now: Option<&PointOf>) -> String {
    let value = |value: f64| value_of(&figure.figure, value, advice.currency.as_deref());
    let mut line = match figure.bounds {
        Some([least, most]) => format!("{:<9} {} to {}", figure.figure, value(least), value(most)),
        None => format!("{:<9} {}", figure.figure, value(figure.value)),
    };
    match (figure.with_model, figure.by_chance) {
        _ if figure.bounds.is_some() => {
            let superblocks = figure.superblocks.unwrap_or(0.0);
            line += &format!(" (not measured: the runs erase {} superblocks of a drive)", three_digits(superblocks));
        }
        (Some([least, most]), _) if most > least => line += &format!(" ({} to {} with the model's error)", value(least), value(most)),
        (None, Some([least, most])) => line += &format!(" ({} to {} by chance; the model's error is unknown)", value(least), value(most)),
        _ => {}
    }
    if let (Some(goal), Some(word)) = (&figure.goal, figure.word) {
        line += &format!("   goal {goal}: {word}");
    }
    let of_now = now.and_then(|now| now.figures.iter().find(|other| other.figure == figure.figure && other.under == figure.under));
    if let Some(of_now) = of_now {
        line += &match of_now.bounds {
            Some([least, most]) => format!("   now {} to {}", value(least), value(most)),
            None => format!("   now {}", value(of_now.value)),
        };
    }
    line
}

fn under(advice: &Advice, figure: &FigureOf) -> String {
    let goal = figure.word.map_or(String::new(), |word| format!(" ({word})"));
    let value = value_of(&figure.figure, figure.value, advice.currency.as_deref());
    match (figure.figure.as_str(), figure.under.as_str()) {
        ("rebuild hours", _) => format!("rebuilt in {value}{goal}"),
        (name, under) => format!("{} {name} {value}{goal}", name_of_circumstance(under)),
    }
}

fn name_of_circumstance(name: &str) -> &str {
    match name {
        "failed" => "a failed member:",
        "rebuild" => "rebuilding:",
        "slow" => "one slow member:",
        other => other,
    }
}

fn value_of(figure: &str, value: f64, currency: Option<&str>) -> String {
    match (figure, currency) {
        ("life", _) => years(value * DAYS_PER_YEAR),
        ("capacity", _) => capacity(value),
        ("cost", Some(currency)) => format!("{} {currency}", number::grouped(value.round() as u64)),
        ("cost", None) => format!("{} raw", capacity(value)),
        ("waf", _) => three_digits(value),
        ("rebuild hours", _) => format!("{} hours", three_digits(value)),
        ("iops", _) => format!("{} per second", rounded(value)),
        _ => duration_us(value),
    }
}

/// Returns the page of an answer.
pub fn part(advice: &Advice, capacity_bytes: f64) -> Part {
    let value_of = |figure: &str, value: f64| value_of(figure, value, advice.currency.as_deref());
    let header = ["", "figure", "under", "value", "chance", "with the model's error", "goal", ""];
    let interval = |figure: &str, ends: Option<[f64; 2]>| {
        ends.map_or(String::new(), |[least, most]| format!("{} to {}", value_of(figure, least), value_of(figure, most)))
    };
    let shown = advice.named.iter().copied().chain(advice.now.filter(|now| !advice.named.contains(now)));
    let rows_of = |index: usize| {
        let point = &advice.points[index];
        let row = |figure: &FigureOf| {
            let tone = match figure.word {
                Some("sure" | "likely") => Tone::Better,
                Some("missed") => Tone::Worse,
                _ => Tone::Plain,
            };
            let texts = [
                point.name.clone(),
                figure.figure.clone(),
                figure.under.clone(),
                value_of(&figure.figure, figure.value),
                interval(&figure.figure, figure.by_chance),
                interval(&figure.figure, figure.with_model),
                figure.goal.clone().unwrap_or_default(),
            ];
            let mut row: Vec<Cell> = texts.into_iter().map(Cell::from).collect();
            row.push(Cell { text: figure.word.unwrap_or_default().to_owned(), tone });
            row
        };
        point.figures.iter().map(row).collect::<Vec<_>>()
    };
    let named = Sheet { label_columns: 3, rows: shown.flat_map(rows_of).collect(), ..Sheet::new("Figures, from fresh seeds", &header) };
    let reasons = Sheet {
        rows: advice.left_by_reason.iter().map(|(reason, count)| vec![reason.as_str().into(), count.to_string().into()]).collect(),
        ..Sheet::new("Why arrays left", &["reason", "arrays"])
    };
    let point_row = |point: &PointOf| {
        let of = |value: Option<f64>| value.map_or(String::new(), capacity);
        // A score is the logarithm of microseconds.
        let score = point.score.map_or(String::new(), |score| duration_us(score.exp()));
        let doubt = point.score_half_width.map_or(String::new(), |width| format!("±{:.1} %", (width.exp() - 1.0) * 100.0));
        [
            point.name.clone(),
            stage(point.stage).to_owned(),
            of(point.capacity_bytes),
            of(point.cost_bytes),
            score,
            doubt,
            point.reason.clone(),
        ]
        .map(Cell::from)
        .to_vec()
    };
    let header = ["", "stage", "capacity", "raw", "compared figure", "by chance", "reason"];
    let points = Sheet { rows: advice.points.iter().map(point_row).collect(), ..Sheet::new("All arrays", &header) };
    let mut facts: Vec<String> = decision(advice).into_iter().skip(1).collect();
    facts.extend(advice.plausible.as_ref().filter(|drives| !is_in_doubt(drives)).map(plausible));
    facts.extend(advice.load_may_grow.map(growth));
    facts.extend(advice.also.iter().map(|other| other.text.clone()));
    let why = Sheet {
        rows: advice
            .why
            .iter()
            .map(|step| {
                let [least, most] = step.interval;
                let tone = if most < 1.0 {
                    Tone::Better
                } else if least > 1.0 {
                    Tone::Worse
                } else {
                    Tone::Plain
                };
                vec![
                    step.change.as_str().into(),
                    Cell { text: number::change(step.ratio, None), tone },
                    format!("{} to {}", number::change(least, None), number::change(most, None)).into(),
                ]
            })
            .collect(),
        ..Sheet::new("Why: one change after another, from the present array", &["change", "effect", "interval"])
    };
    let mut summary = vec![named];
    summary.extend((!advice.why.is_empty()).then_some(why));
    let exceptions = advice.plausible.iter().flat_map(|drives| &drives.exceptions);
    facts.extend(exceptions.map(|drive| format!("Another array is better, or a goal is missed, with a drive of {drive}.")));
    let configuration = advice.configuration.as_ref().and_then(toml_of);
    Part {
        title: format!("{}, {}", advice.load, capacity(capacity_bytes)),
        headline: advice.sentences.first().cloned(),
        summary,
        charts: front(advice).into_iter().collect(),
        facts,
        details: vec![reasons, points],
        remarks: advice.assumptions.clone(),
        texts: configuration
            .map(|text| Text { title: "Configuration", about: "The array to take, with its load.".to_owned(), text, file: "advice.toml" })
            .into_iter()
            .collect(),
        ..Part::default()
    }
}

/// Returns a table with a row for each point: its settings, the stage that it reached, reason, cost and score.
pub fn table(advice: &Advice) -> Table {
    let mut table = Table::default();
    let points = || advice.points.iter();
    let mut axes: Vec<&String> = points().flat_map(|point| point.settings.keys()).collect();
    axes.sort_unstable();
    axes.dedup();
    table.text("name", points().map(|point| Some(point.name.clone())));
    for axis in axes {
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        table.text(axis.clone(), points().map(|point| point.settings.get(axis).map(text)));
    }
    let is_named = |(index, _): (usize, &PointOf)| Some(advice.named.contains(&index));
    table.truth("named", points().enumerate().map(is_named));
    table.truth("now", points().map(|point| Some(point.now)));
    table.text("stage", points().map(|point| Some(stage(point.stage).to_owned())));
    table.text("reason", points().map(|point| Some(point.reason.clone())));
    table.number("capacity_bytes", points().map(|point| point.capacity_bytes));
    table.number("cost_bytes", points().map(|point| point.cost_bytes));
    table.number("cost", points().map(|point| point.cost));
    table.text("score_of", points().map(|point| point.score_of.clone()));
    table.number("score", points().map(|point| point.score));
    table.number("score_half_width", points().map(|point| point.score_half_width));
    table
}

/// Draws the least value of the compared figure at each cost: of each drive with chance, and of the named arrays with the model's error.
fn front(advice: &Advice) -> Option<Chart> {
    // Screens and races may compare different figures; the chart has the one that most arrays have.
    let of = |figure: &str| advice.points.iter().filter(|point| point.score_of.as_deref() == Some(figure)).count();
    let figure = advice.points.iter().filter_map(|point| point.score_of.as_deref()).max_by_key(|figure| of(figure))?;
    let unit = if advice.currency.is_some() { 1.0 } else { 1e12 };
    let sign = if figure == "iops" { -1.0 } else { 1.0 };
    let cost = |point: &PointOf| Some(point.cost.or(point.cost_bytes)? / unit);
    let drive = |point: &PointOf| match point.settings.get("drive").and_then(|drive| drive.as_str()) {
        _ if point.now => "present".to_owned(),
        Some(drive) => drive.to_owned(),
        None => "all arrays".to_owned(),
    };
    let mut best: BTreeMap<String, Vec<(f64, f64, f64)>> = BTreeMap::new();
    for point in advice.points.iter().filter(|point| point.score_of.as_deref() == Some(figure)) {
        let (Some(cost), Some(score), Some(half_width)) = (cost(point), point.score, point.score_half_width) else { continue };
        let places = best.entry(drive(point)).or_default();
        match places.iter_mut().find(|place| place.0 == cost) {
            Some(place) if place.1 > score => *place = (cost, score, half_width),
            Some(_) => {}
            None => places.push((cost, score, half_width)),
        }
    }
    let mut series: Vec<Line> = Vec::new();
    for (name, mut places) in best {
        places.sort_by(|a, b| a.0.total_cmp(&b.0));
        let value = |score: f64| f64::exp(sign * score);
        series.push(Line {
            half_widths: places.iter().map(|(_, score, half_width)| value(*score) * (half_width.exp() - 1.0)).collect(),
            ..Line::new(name, places.iter().map(|(cost, score, _)| (*cost, value(*score))).collect())
        });
    }
    let named = advice.named.iter().filter_map(|index| {
        let point = &advice.points[*index];
        let told = point.figures.iter().find(|told| told.figure == figure && told.under == "healthy")?;
        let [least, most] = told.with_model.or(told.by_chance)?;
        Some((cost(point)?, told.value, (most - least) / 2.0))
    });
    let mut named: Vec<(f64, f64, f64)> = named.collect();
    named.sort_by(|a, b| a.0.total_cmp(&b.0));
    if !named.is_empty() {
        series.push(Line {
            half_widths: named.iter().map(|(.., half_width)| *half_width).collect(),
            ..Line::new("named, with the model's error", named.iter().map(|(cost, value, _)| (*cost, *value)).collect())
        });
    }
    let x = match &advice.currency {
        Some(currency) => format!("cost, {currency}"),
        None => "raw capacity, TB".to_owned(),
    };
    let y = match figure {
        "waf" => "write amplification".to_owned(),
        "iops" => "requests per second".to_owned(),
        figure => format!("{figure}, µs"),
    };
    let (x, y, steps) = (Axis::linear(x), Axis::linear(y), false);
    let lines = Lines { x, y, steps, series, bands: Vec::new(), levels: Vec::new(), marks: Vec::new() };
    Some(Chart::new("front", format!("Least {figure} at each cost"), Content::Lines(lines)))
}

fn stage(stage: Stage) -> &'static str {
    match stage {
        Stage::Space => "space",
        Stage::Arithmetic => "arithmetic",
        Stage::Screen => "screen",
        Stage::Race => "race",
        Stage::Confirmed => "fresh seeds",
    }
}

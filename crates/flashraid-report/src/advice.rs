//! The answer of `flashraid advise` for people: at most 40 lines of text, and a page.

use flashraid::advise::{Advice, FigureOf, PointOf, Stage, Verb};

use crate::number::{DAYS_PER_YEAR, capacity, count_with_noun, duration_us, rounded, three_digits, years};
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
    for sentence in &advice.sentences {
        say(sentence, "  ");
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
            say(&format!("  {}", line_of(figure, others)), "      ");
        }
        let elsewhere: Vec<String> = point.figures.iter().filter(|figure| figure.under != "healthy").map(under).collect();
        if !elsewhere.is_empty() {
            say(&format!("  {}", elsewhere.join(" · ")), "      ");
        }
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

fn growth(factor: f64) -> String {
    match factor {
        1.0 => "Any more load would miss the first goal.".to_owned(),
        factor => format!("The load may grow {} times until the first goal is missed.", three_digits(factor)),
    }
}

/// Formats a figure with its interval, its goal and the value of the present array.
fn line_of(figure: &FigureOf, now: Option<&PointOf>) -> String {
    let value = |value: f64| value_of(&figure.figure, value);
    let mut line = format!("{:<9} {}", figure.figure, value(figure.value));
    match (figure.with_model, figure.by_chance) {
        (Some([least, most]), _) if most > least => line += &format!(" ({} to {} with the model's error)", value(least), value(most)),
        (None, Some([least, most])) => line += &format!(" ({} to {} by chance; the model's error is unknown)", value(least), value(most)),
        _ => {}
    }
    if let (Some(goal), Some(word)) = (&figure.goal, figure.word) {
        line += &format!("   goal {goal}: {word}");
    }
    let of_now = now.and_then(|now| now.figures.iter().find(|other| other.figure == figure.figure && other.under == figure.under));
    if let Some(of_now) = of_now {
        line += &format!("   now {}", value(of_now.value));
    }
    line
}

fn under(figure: &FigureOf) -> String {
    let goal = figure.word.map_or(String::new(), |word| format!(" ({word})"));
    format!("{} {} {}{goal}", name_of_circumstance(&figure.under), figure.figure, value_of(&figure.figure, figure.value))
}

fn name_of_circumstance(name: &str) -> &str {
    match name {
        "failed" => "a failed member:",
        "rebuild" => "rebuilding:",
        "slow" => "one slow member:",
        other => other,
    }
}

fn value_of(figure: &str, value: f64) -> String {
    match figure {
        "life" => years(value * DAYS_PER_YEAR),
        "capacity" => capacity(value),
        "cost" => format!("{} raw", capacity(value)),
        "waf" => three_digits(value),
        "iops" => format!("{} per second", rounded(value)),
        _ => duration_us(value),
    }
}

/// Returns the page of an answer.
pub fn part(advice: &Advice, capacity_bytes: f64) -> Part {
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
    let mut facts: Vec<String> = advice.sentences.iter().skip(1).cloned().collect();
    facts.extend(advice.load_may_grow.map(growth));
    facts.extend(advice.also.iter().map(|other| other.text.clone()));
    let configuration = advice.configuration.as_ref().and_then(toml_of);
    Part {
        title: format!("{}, {}", advice.load, capacity(capacity_bytes)),
        headline: advice.sentences.first().cloned(),
        summary: vec![named],
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

fn stage(stage: Stage) -> &'static str {
    match stage {
        Stage::Space => "space",
        Stage::Arithmetic => "arithmetic",
        Stage::Screen => "screen",
        Stage::Race => "race",
        Stage::Confirmed => "fresh seeds",
    }
}

//! The part of a page for one result: a run or a comparison.

use flashraid::Report;
use flashraid::report::{LoadVerdict, WarningMark};
use serde_json::Value;

use super::{Explorer, Text, capacity, sketch};
use crate::chart::{self, Chart};
use crate::grid::{Grid, RESULT_KEY};
use crate::headline::{deepest, headline};
use crate::number;
use crate::run as tables;
use crate::sheet::{Sheet, Tone};

/// One result of a page.
#[derive(Default)]
pub struct Part {
    /// Heading of the part.
    pub title: String,
    /// Sentence about the simulation and its outcome.
    pub headline: Option<String>,
    /// The figures that are looked at first.
    pub tiles: Vec<Tile>,
    /// A drawing of the array, as SVG.
    pub sketch: Option<String>,
    /// The points of a study, one at a time.
    pub explorer: Option<Explorer>,
    /// The tables above the charts.
    pub summary: Vec<Sheet>,
    /// Facts that a reader needs for these tables: marks and warnings.
    pub facts: Vec<String>,
    /// The tables below them.
    pub details: Vec<Sheet>,
    /// Charts of the result.
    pub charts: Vec<Chart>,
    /// Remarks that can be read later, such as the origin of workloads.
    pub remarks: Vec<String>,
    /// Texts at the end, such as the configuration.
    pub texts: Vec<Text>,
}

/// A figure that is shown large.
pub struct Tile {
    /// Name of the figure.
    pub name: String,
    /// Value with its unit.
    pub value: String,
    /// Note that belongs to the value.
    pub note: Option<String>,
    /// Tone of the value: good, bad or neutral.
    pub tone: Tone,
    /// The key of the figure ([`flashraid::documented_names`]); empty if it is none.
    pub figure: &'static str,
}

impl Tile {
    /// A figure that is neither good nor bad in itself.
    pub fn plain(name: &str, value: String, note: Option<String>) -> Tile {
        Tile { name: name.to_owned(), value, note, tone: Tone::Plain, figure: "" }
    }

    /// The same with the key of its figure.
    pub(super) fn of(self, figure: &'static str) -> Tile {
        Tile { figure, ..self }
    }
}

/// The part of a run.
pub fn of_run(title: &str, report: &Report, document: &Value) -> Part {
    let sheets = tables::sheets(report);
    // What was run, its response times, where requests waited, and what causes it.
    let split = sheets.len().min(if report.time_us.all.is_some() { 3 } else { 2 } + tables::because(report).len());
    let remarks: Vec<String> = report.workload_note.iter().chain(&report.trace_notes).cloned().collect();
    Part {
        title: title.to_owned(),
        headline: Some(headline(report)),
        tiles: tiles(report),
        facts: tables::notes(report, true).into_iter().filter(|note| !remarks.contains(note)).collect(),
        sketch: Some(sketch::of(&[&report.config])),
        explorer: None,
        summary: sheets[..split].to_vec(),
        details: sheets[split..].to_vec(),
        charts: chart::of_run(document),
        remarks,
        texts: again(&report.config, report.seed).into_iter().collect(),
    }
}

/// The part of a comparison.
pub fn of_grid(title: &str, grid: &Grid) -> Part {
    /// Characters that the summary may take on a page.
    const SUMMARY_WIDTH: usize = 120;
    /// Sentences that can be read at a glance.
    const CONCLUSIONS_MAX: usize = 3;
    let firsts: Vec<&Value> = grid.points.iter().filter_map(|point| point.reports.first()).collect();
    let configs: Vec<&Value> = firsts.iter().map(|report| &report["config"]).collect();
    let config = configs.first().copied().unwrap_or(&Value::Null);
    let seeds = grid.points.iter().map(|point| point.reports.len()).max().unwrap_or(0);
    let varied = grid.axes.iter().map(|axis| axis.key.as_str()).collect::<Vec<_>>().join(", ");
    let count = grid.points.len().to_string();
    let mut tiles = vec![match varied.as_str() {
        "" => Tile::plain("points", count, Some("nothing varied".to_owned())),
        // Runs side by side have names instead of a key.
        RESULT_KEY => Tile::plain("runs", count, None),
        varied => Tile::plain("points", count, Some(varied.to_owned())),
    }];
    let requests = firsts.iter().filter_map(|report| report["requests"]["all"].as_u64()).max();
    let requests = requests.map(|requests| format!("up to {} each", number::count_with_noun(requests, "request")));
    match seeds {
        0 | 1 => tiles.push(Tile::plain("seeds of each", seeds.to_string(), requests)),
        _ => tiles.push(Tile::plain("seeds of each", seeds.to_string(), Some("± is a 95 % confidence interval".to_owned()))),
    }
    tiles.extend(capacity::tile(&configs));
    let notes = |report: &&Value| -> Vec<String> {
        let lists = report["trace_notes"].as_array().into_iter().flatten();
        lists.chain([&report["workload_note"]]).filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let origins: Vec<String> = firsts.iter().flat_map(notes).collect();
    let (remarks, warnings): (Vec<String>, Vec<String>) = grid.notes().into_iter().partition(|note| origins.contains(note));
    let seed = firsts.first().and_then(|report| report["seed"].as_u64()).unwrap_or(1);
    let (explorer, conclusions) = (Explorer::of(grid), grid.conclusions());
    let (headline, of_conclusions) = match conclusions.len() {
        0..=CONCLUSIONS_MAX => (conclusions.join(" "), None),
        loads => {
            let whose = if explorer.is_some() { ": that of the chosen point stands below" } else { "; they stand at the end of the page" };
            let text = Text {
                title: "Conclusions, load by load",
                about: "What each remedy changes under each load that was varied.".to_owned(),
                text: conclusions.join("\n\n"),
                file: "conclusions.txt",
            };
            (format!("{loads} loads, each with a conclusion of its own{whose}."), Some(text))
        }
    };
    Part {
        title: title.to_owned(),
        headline: Some(headline).filter(|text| !text.is_empty()),
        tiles,
        explorer,
        sketch: config.is_object().then(|| sketch::of(&configs)),
        summary: vec![grid.summary(SUMMARY_WIDTH)],
        facts: [grid.summary_legend(), grid.legend()]
            .into_iter()
            .filter(|text| !text.is_empty())
            .chain(grid.costs_of_collection())
            .chain(grid.doubts())
            .chain(warnings)
            .collect(),
        details: grid.sheets(),
        charts: chart::of_grid(grid),
        remarks: chart::equal_figures(grid).into_iter().chain(remarks).collect(),
        texts: of_conclusions.into_iter().chain(again(config, seed)).collect(),
    }
}

/// The configuration as the file that runs it again.
fn again(config: &Value, seed: u64) -> Option<Text> {
    let mut config = config.clone();
    config.as_object_mut()?.insert("seed".to_owned(), seed.into());
    let text = toml_of(&config)?;
    Some(Text {
        title: "Run it again",
        about: "Every key of the configuration as it was resolved; of a comparison that of its first point. Save it and run: flashraid run again.toml. \
                Paths are relative to the folder of the configuration that was run."
            .to_owned(),
        text,
        file: "again.toml",
    })
}

/// Returns a configuration as TOML; `None` if it is none.
pub fn toml_of(config: &Value) -> Option<String> {
    toml::to_string(&without_nulls(config)).ok()
}

/// Keys without a value are left out: TOML has none.
fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            map.iter().filter(|(_, value)| !value.is_null()).map(|(key, value)| (key.clone(), without_nulls(value))).collect()
        }
        Value::Array(list) => list.iter().map(without_nulls).collect(),
        value => value.clone(),
    }
}

fn tiles(report: &Report) -> Vec<Tile> {
    let tile = Tile::plain;
    let times = &report.response_us;
    let mut tiles = Vec::new();
    if let Some(mean) = times.all.mean {
        let by_kind = [("reads", times.read.mean), ("writes", times.write.mean)];
        let note: Vec<String> =
            by_kind.iter().filter_map(|(name, mean)| Some(format!("{name} {}", number::duration_us((*mean)?)))).collect();
        tiles.push(tile("mean response", number::duration_us(mean), Some(note.join(", "))).of("response_us.all.mean"));
    }
    if let Some((name, value)) = deepest(report) {
        tiles.push(tile(&name, number::duration_us(value), times.all.max.map(|max| format!("longest {}", number::duration_us(max)))));
    }
    if let Some(iops) = report.iops.all {
        let bandwidth = report.bandwidth_mb_s.overall.map(|mb_s| format!("{} MB/s", number::three_digits(mb_s)));
        tiles.push(tile("requests per second", number::rounded(iops), bandwidth).of("iops.all"));
    }
    if let Some(amplification) = report.flash.write_amplification {
        let share = report.gc.busy_fraction.map(|share| format!("{} % of die time collecting", number::three_digits(share * 100.0)));
        tiles.push(tile("write amplification", number::three_digits(amplification), share).of("flash.write_amplification"));
    }
    let written = |tbw: f64| format!("{} TB written to an SSD", number::rounded(tbw));
    match (report.flash.lifetime, report.flash.implied_life) {
        (Some(life), _) => {
            let of = if life.levels_wear { "mean" } else { "most worn" };
            let note = life.tbw.map(|tbw| format!("{}; of the {of} block", written(tbw)));
            tiles.push(tile("life at this load", number::years(life.days()), note).of("flash.lifetime"));
        }
        (None, Some(life)) => {
            if let Some(days) = life.days {
                let mark = WarningMark::LittleWear;
                let note = format!("{}; {}", written(life.tbw), mark.explanation());
                tiles.push(
                    tile("even wear would give", format!("{} {}", number::years(days), mark.symbol()), Some(note)).of("flash.implied_life"),
                );
            }
        }
        (None, None) => {}
    }
    tiles.extend(capacity::tile(&[&report.config]));
    let load = report.verdict.load.name();
    let (verdict, note, tone) = match (report.verdict.load, report.verdict.steady_from_ns) {
        (LoadVerdict::DataLost, _) => (load, WarningMark::DataLost.explanation().to_owned(), Tone::Worse),
        (LoadVerdict::Unstable, _) => (load, "requests pile up".to_owned(), Tone::Worse),
        (LoadVerdict::Saturated, _) => (load, "less is served than asked for".to_owned(), Tone::Worse),
        (_, Some(from_ns)) if report.verdict.has_mark(WarningMark::NotSteady) => {
            ("steady late", format!("from {} on only; load: {load}", number::duration_us(from_ns as f64 / 1e3)), Tone::Worse)
        }
        (_, Some(from_ns)) => ("steady", format!("from {} on; load: {load}", number::duration_us(from_ns as f64 / 1e3)), Tone::Better),
        (_, None) => ("not steady", format!("or too short to tell; load: {load}"), Tone::Worse),
    };
    tiles.push(Tile { name: "verdict".to_owned(), value: verdict.to_owned(), note: Some(note), tone, figure: "verdict" });
    tiles
}

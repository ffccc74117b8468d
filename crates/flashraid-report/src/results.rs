//! Results that were written before, read again: reports of runs, comparisons, reproductions, and the parts of a page that they make.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use flashraid::Report;
use flashraid::report::REPORT_SCHEMA_NAME;
use serde_json::{Map, Value};

use crate::chart::{Axis as ChartAxis, BarSeries, Bars, Chart, Content};
use crate::claims;
use crate::grid::{Axis, Grid, Point, RESULT_KEY, Setting};
use crate::number::count_with_noun;
use crate::page::{Part, Tile, of_grid, of_run};
use crate::sheet::{Cell, Sheet, Tone};

/// The file of a result in its folder, by what wrote it.
const FILES: [&str; 2] = ["report.json", "reproduction.json"];
/// Most settings by which results are told apart in a table.
const DIFFERENCES_MAX: usize = 40;

/// Error for a result that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{}: {reason}", path.display())]
pub struct ReadError {
    /// The file or folder.
    pub path: PathBuf,
    /// Explanation of what is wrong, and what is expected.
    pub reason: String,
}

/// A result of the program.
pub enum Found {
    /// The result of `flashraid run`.
    Run {
        /// Report of the run.
        report: Box<Report>,
        /// The same as a document.
        document: Value,
    },
    /// The result of `flashraid compare`.
    Grid(Grid),
    /// The result of `flashraid reproduce`.
    Reproduction(Value),
}

/// A result and where it comes from.
pub struct Named {
    /// Name on the page, which is that of its folder or file.
    pub name: String,
    /// Result that was found.
    pub found: Found,
}

/// Reads results from folders and files.
///
/// # Errors
/// One of them is not there, or is not a result.
pub fn read(paths: &[PathBuf]) -> Result<Vec<Named>, ReadError> {
    let found = paths.iter().map(|path| read_one(path)).collect::<Result<Vec<Found>, ReadError>>()?;
    let names = names(paths);
    Ok(names.into_iter().zip(found).map(|(name, found)| Named { name, found }).collect())
}

/// Last parts of paths or, where these are not alone, whole paths; what is given twice is numbered.
fn names(paths: &[PathBuf]) -> Vec<String> {
    let short = |path: &Path| {
        // A file of the usual name is known by its folder.
        let folder = path.file_name().is_some_and(|name| FILES.iter().any(|file| name == *file)).then(|| path.parent()).flatten();
        let known = folder.filter(|folder| folder.file_name().is_some()).unwrap_or(path);
        known.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
    };
    let shorts: Vec<String> = paths.iter().map(|path| short(path)).collect();
    let alone = |name: &String| shorts.iter().filter(|other| *other == name).count() == 1;
    let mut names: Vec<String> = Vec::new();
    for (path, short) in paths.iter().zip(&shorts) {
        let name = if alone(short) { short.clone() } else { path.display().to_string() };
        let before = names.iter().filter(|known| **known == name || known.starts_with(&format!("{name} ("))).count();
        names.push(if before == 0 { name } else { format!("{name} ({})", before + 1) });
    }
    names
}

fn read_one(path: &Path) -> Result<Found, ReadError> {
    let failed = |path: &Path, reason: String| ReadError { path: path.to_owned(), reason };
    let file = match path.is_dir() {
        true => FILES.iter().map(|file| path.join(file)).find(|file| file.is_file()).ok_or_else(|| {
            let help = format!("there is neither {} nor {} in this folder", FILES[0], FILES[1]);
            failed(path, format!("{help}; give a folder that run, compare, reproduce or demo has written with --out"))
        })?,
        false => path.to_owned(),
    };
    let bytes = File::open(&file).map_err(|error| failed(&file, format!("can't be read: {error}")))?;
    // Not read to its end first, which it may not have.
    let document: Value = serde_json::from_reader(BufReader::new(bytes)).map_err(|error| match error.is_io() {
        true => failed(&file, format!("can't be read: {error}")),
        false => failed(&file, format!("is not JSON: {error}")),
    })?;
    recognised(document).map_err(|reason| failed(&file, reason))
}

fn recognised(document: Value) -> Result<Found, String> {
    if document["points"].is_array() {
        return grid(&document).map(Found::Grid);
    }
    if document["figures"].is_array() {
        return Ok(Found::Reproduction(document));
    }
    if document["response_us"].is_object() {
        of_this_version(&document)?;
        return match serde_json::from_value(document.clone()) {
            Ok(report) => Ok(Found::Run { report: Box::new(report), document }),
            Err(error) => Err(format!("is a report that this version can't read: {error}")),
        };
    }
    let schema =
        document["schema"].as_str().map_or_else(|| "it has no \"schema\"".to_owned(), |schema| format!("its schema is \"{schema}\""));
    Err(format!("is no result: {schema}; a run has \"response_us\", a comparison \"points\", a reproduction \"figures\""))
}

/// A report whose figures mean what they mean here.
fn of_this_version(report: &Value) -> Result<(), String> {
    match report["schema"].as_str() {
        Some(REPORT_SCHEMA_NAME) => Ok(()),
        Some(schema) if schema.starts_with("flashraid.report/") => {
            Err(format!("was made by another version of flashraid ({schema}, where this one has {REPORT_SCHEMA_NAME}): run it again"))
        }
        Some(schema) => Err(format!("has a report of schema \"{schema}\", where \"{REPORT_SCHEMA_NAME}\" is expected")),
        None => Err(format!("has a report without \"schema\", which must be \"{REPORT_SCHEMA_NAME}\"")),
    }
}

/// A comparison from the document of `compare --json`.
fn grid(document: &Value) -> Result<Grid, String> {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let no_settings = Map::new();
    let settings_of = |point: &Value| -> Vec<Setting> {
        let settings = point["settings"].as_object().unwrap_or(&no_settings);
        settings.iter().map(|(key, value)| Setting { key: key.clone(), value: text(value) }).collect()
    };
    let mut points: Vec<Point> = Vec::new();
    for point in document["points"].as_array().into_iter().flatten() {
        let (settings, report) = (settings_of(point), point["report"].clone());
        if !report["response_us"].is_object() {
            return Err(format!("is a comparison whose point {} has no report", points.len() + 1));
        }
        of_this_version(&report).map_err(|reason| format!("is a comparison whose point {}: it {reason}", points.len() + 1))?;
        match points.iter_mut().find(|known| known.settings == settings) {
            Some(known) => known.reports.push(report),
            None => points.push(Point { settings, reports: vec![report] }),
        }
    }
    let Some(first) = points.first() else { return Err("is a comparison without points".to_owned()) };
    let axes: Vec<Axis> = first
        .settings
        .iter()
        .enumerate()
        .map(|(index, setting)| {
            let mut values: Vec<String> = Vec::new();
            for value in points.iter().filter_map(|point| point.settings.get(index)).map(|setting| &setting.value) {
                if !values.contains(value) {
                    values.push(value.clone());
                }
            }
            Axis { key: setting.key.clone(), values }
        })
        .collect();
    if points.len() != axes.iter().map(|axis| axis.values.len()).product::<usize>() {
        return Err(format!(
            "is a comparison of which only {} are there; run the same command again to finish it",
            count_with_noun(points.len() as u64, "point")
        ));
    }
    let baseline_of = |index: usize| {
        let baseline = &document["summary"][index]["baseline"];
        let wanted: Vec<Setting> =
            baseline.as_object()?.iter().map(|(key, value)| Setting { key: key.clone(), value: text(value) }).collect();
        points.iter().position(|point| point.settings == wanted)
    };
    let baselines = (0..points.len()).map(|index| baseline_of(index).unwrap_or(0)).collect();
    Ok(Grid { axes, points, baselines, sorted_by: None })
}

/// Returns the parts of the page of these results. If there are several runs, a comparison of them comes first.
pub fn parts(results: &[Named]) -> Vec<Part> {
    let beside = side_by_side(results).map(|(grid, differences)| {
        let mut part = of_grid(BESIDE, &grid);
        part.summary.extend(differences);
        // Each run has its own below.
        part.sketch = None;
        part.texts.clear();
        part
    });
    let each = results.iter().map(|Named { name, found }| match found {
        Found::Run { report, document } => of_run(name, report, document),
        Found::Grid(grid) => of_grid(name, grid),
        Found::Reproduction(document) => of_reproduction(name, document),
    });
    beside.into_iter().chain(each).collect()
}

/// The heading of runs beside each other.
pub const BESIDE: &str = "All runs";

/// Several runs beside each other, the first as the baseline, and the settings in which they differ; nothing if there is one run or none.
pub fn side_by_side(results: &[Named]) -> Option<(Grid, Option<Sheet>)> {
    let run = |result: &Named| match &result.found {
        Found::Run { document, .. } => Some((result.name.clone(), document.clone())),
        _ => None,
    };
    let runs: Vec<(String, Value)> = results.iter().filter_map(run).collect();
    if runs.len() < 2 {
        return None;
    }
    let settings = |name: &str| vec![Setting { key: RESULT_KEY.to_owned(), value: name.to_owned() }];
    let grid = Grid {
        axes: vec![Axis { key: RESULT_KEY.to_owned(), values: runs.iter().map(|(name, _)| name.clone()).collect() }],
        points: runs.iter().map(|(name, report)| Point { settings: settings(name), reports: vec![report.clone()] }).collect(),
        baselines: vec![0; runs.len()],
        sorted_by: None,
    };
    let named: Vec<(&str, &Value)> = runs.iter().map(|(name, report)| (name.as_str(), report)).collect();
    Some((grid, differences(&named)))
}

/// The settings in which runs differ.
fn differences(runs: &[(&str, &Value)]) -> Option<Sheet> {
    let configs: Vec<Map<String, Value>> = runs.iter().map(|(_, report)| flattened(&report["config"])).collect();
    let mut keys: Vec<&String> = Vec::new();
    for key in configs.iter().flat_map(Map::keys) {
        if !keys.contains(&key) && configs.iter().any(|config| config.get(key) != configs[0].get(key)) {
            keys.push(key);
        }
    }
    let header: Vec<&str> = std::iter::once("setting").chain(runs.iter().map(|(name, _)| *name)).collect();
    let mut sheet = Sheet::new("What differs", &header);
    let shown = |value: Option<&Value>| {
        value
            .filter(|value| !value.is_null())
            .map_or("–".to_owned(), |value| value.as_str().map_or_else(|| value.to_string(), str::to_owned))
    };
    let row = |key: &&String| {
        std::iter::once(Cell::from(key.as_str())).chain(configs.iter().map(|config| shown(config.get(*key)).into())).collect()
    };
    sheet.rows = keys.iter().take(DIFFERENCES_MAX).map(row).collect();
    if keys.len() > DIFFERENCES_MAX {
        let rest = std::iter::once(Cell::from(format!("and {} more", keys.len() - DIFFERENCES_MAX)));
        sheet.rows.push(rest.chain(runs.iter().map(|_| "".into())).collect());
    }
    (!sheet.rows.is_empty()).then_some(sheet)
}

/// Every key of a configuration with the keys above it.
fn flattened(config: &Value) -> Map<String, Value> {
    fn walk(prefix: &str, value: &Value, into: &mut Map<String, Value>) {
        match value {
            Value::Object(map) => {
                for (key, value) in map {
                    walk(&if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") }, value, into);
                }
            }
            value => {
                into.insert(prefix.to_owned(), value.clone());
            }
        }
    }
    let mut flat = Map::new();
    walk("", config, &mut flat);
    flat
}

/// The part of a reproduction: its claims, and the measured values beside those of the papers.
pub fn of_reproduction(title: &str, document: &Value) -> Part {
    let figures = || document["figures"].as_array().into_iter().flatten();
    let verdicts = || figures().flat_map(|figure| figure["claims"].as_array().into_iter().flatten()).map(|claim| &claim["verdict"]);
    let tile = |(name, tone): (&str, Tone)| {
        let count = verdicts().filter(|verdict| **verdict == name).count();
        Tile { tone: if count > 0 { tone } else { Tone::Plain }, ..Tile::plain(name, count.to_string(), None) }
    };
    Part {
        title: title.to_owned(),
        headline: Some(claims::conclusion(document)),
        tiles: [("agrees", Tone::Better), ("direction", Tone::Plain), ("differs", Tone::Worse), ("unstable", Tone::Worse)].map(tile).into(),
        summary: vec![claims::summary(document)],
        details: std::iter::once(claims::values(document)).chain(claims::rows(document)).collect(),
        charts: figures().filter_map(figure_chart).collect(),
        ..Part::default()
    }
}

/// The rows of a figure as bars: of response times, or of bandwidth where its title says that it is of bandwidth.
fn figure_chart(figure: &Value) -> Option<Chart> {
    let (id, rows) = (figure["id"].as_str()?, figure["rows"].as_array()?);
    let mut columns = [("mean_ms", "mean response, ms"), ("bandwidth_mb_s", "bandwidth, MB/s")];
    if figure["title"].as_str().is_some_and(|title| title.to_lowercase().contains("bandwidth")) {
        columns.reverse();
    }
    let (column, label) = columns.into_iter().find(|(column, _)| rows.iter().any(|row| row[*column].is_number()))?;
    let column_of = |name: &str| rows.iter().map(|row| row[name].as_f64()).collect();
    let series = BarSeries::new(label, column_of(column), column_of(&format!("{column}_ci95")));
    let groups = rows.iter().map(|row| row["point"].as_str().unwrap_or("").to_owned()).collect();
    let title = figure["title"].as_str().map_or_else(|| id.to_owned(), |title| format!("{id}: {title}"));
    let y = ChartAxis::of(label, series.values.iter().flatten().copied());
    Some(Chart::new(id.replace('.', "-"), title, Content::Bars(Bars::side_by_side(groups, y, vec![series]))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_figure_of_bandwidth_shows_bandwidth_and_axes_follow_decades() {
        let rows = |mean_ms: f64| json!([{"point": "a", "mean_ms": 1.0, "bandwidth_mb_s": 2.0}, {"point": "b", "mean_ms": mean_ms, "bandwidth_mb_s": 3.0}]);
        let shown = |title: &str, mean_ms: f64| {
            let Some(Chart { content: Content::Bars(bars), .. }) =
                figure_chart(&json!({"id": "x.fig1", "title": title, "rows": rows(mean_ms)}))
            else {
                panic!("a figure with rows has bars")
            };
            (bars.series[0].values[1], bars.y.label, bars.y.log)
        };
        assert_eq!(shown("Density of bandwidth", 4.0), (Some(3.0), "bandwidth, MB/s".to_owned(), false));
        assert_eq!(shown("Response times", 4.0), (Some(4.0), "mean response, ms".to_owned(), false));
        assert_eq!(shown("Response times", 400.0), (Some(400.0), "mean response, ms".to_owned(), true));
    }

    #[test]
    fn names_are_short_where_they_can_be() {
        let of = |paths: &[&str]| names(&paths.iter().map(PathBuf::from).collect::<Vec<_>>());
        assert_eq!(of(&["out/a", "out/b/report.json", "other.json"]), ["a", "b", "other.json"]);
        assert_eq!(of(&["x/a", "y/a", "b"]), ["x/a", "y/a", "b"]);
        assert_eq!(of(&["a", "a"]), ["a", "a (2)"]);
    }

    #[test]
    fn a_comparison_is_read_as_it_was_written() {
        let report = |mean: f64, seed: u64| json!({ "schema": REPORT_SCHEMA_NAME, "seed": seed, "response_us": { "all": { "mean": mean, "count": 1 } } });
        let axes = vec!["array.members=2,4".parse::<Axis>().unwrap(), "coordination.scheme=local,ideal".parse::<Axis>().unwrap()];
        let points = flashraid::study::all_combinations(&axes);
        let points = points
            .into_iter()
            .enumerate()
            .map(|(index, settings)| Point { settings, reports: vec![report(index as f64 + 1.0, 1), report(index as f64 + 2.0, 2)] });
        let grid_ = Grid { axes, points: points.collect(), baselines: vec![0, 0, 2, 2], sorted_by: None };
        let document = grid_.document();
        let read = grid(&document).unwrap();
        assert_eq!(read.document(), document);
        assert_eq!(read.baselines, grid_.baselines);
        // Half of it is refused.
        let mut half = document;
        half["points"].as_array_mut().unwrap().truncate(5);
        assert!(grid(&half).err().unwrap().contains("only 3 points"));
    }

    #[test]
    fn what_is_no_result_is_refused_with_what_is_expected() {
        let reason = |document: Value| recognised(document).err().unwrap();
        assert!(reason(json!({ "schema": "x/1" })).contains("its schema is \"x/1\""));
        assert!(reason(json!([])).contains("a run has \"response_us\""));
        assert!(reason(json!({ "points": [] })).contains("without points"));
        assert!(reason(json!({ "response_us": {}, "schema": REPORT_SCHEMA_NAME })).contains("can't read"));
        let older = json!({ "response_us": {}, "schema": "flashraid.report/1" });
        let text = reason(older.clone());
        assert!(text.contains("another version") && text.contains("flashraid.report/1") && text.contains("run it again"), "{text}");
        let text = reason(json!({ "points": [{ "settings": {}, "report": older }] }));
        assert!(text.contains("point 1: it was made by another version"), "{text}");
        assert!(reason(json!({ "response_us": {} })).contains("without \"schema\""));
        let folder = tempfile::tempdir().unwrap();
        let text = read(&[folder.path().to_owned()]).err().unwrap().to_string();
        assert!(text.contains("neither report.json nor reproduction.json"), "{text}");
    }

    #[test]
    fn only_what_differs_is_listed() {
        let (a, b) = (
            json!({ "config": { "array": { "members": 2, "level": "raid0" } } }),
            json!({ "config": { "array": { "members": 4, "level": "raid0" } } }),
        );
        let sheet = differences(&[("a", &a), ("b", &b)]).unwrap();
        assert_eq!(sheet.rows, [["array.members", "2", "4"].map(Cell::from).to_vec()]);
        assert!(differences(&[("a", &a), ("b", &a)]).is_none());
    }
}

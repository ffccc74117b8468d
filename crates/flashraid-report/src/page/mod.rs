//! Results as one self-contained page, which opens without a network and asks nobody for anything.

mod capacity;
mod explorer;
mod part;
mod sketch;

use flashraid::documented_names;
use flashraid::report::WarningMark;
use serde::Serialize;

use super::chart::{Chart, Colours, Content};
use super::picture;
use super::sheet::{Sheet, Tone};

pub use explorer::Explorer;
pub use part::{Part, Tile, of_grid, of_run, toml_of};

const STYLE: &str = include_str!("page.css");
/// Script that draws the charts, as one function.
const SCRIPT: &str = concat!(
    "\"use strict\";\n(() => {\n",
    include_str!("script/look.js"),
    include_str!("script/ticks.js"),
    include_str!("script/frame.js"),
    include_str!("script/lines.js"),
    include_str!("script/bars.js"),
    include_str!("script/timeline.js"),
    include_str!("script/explorer.js"),
    include_str!("script/start.js"),
    "})();\n"
);
/// Script for everything that works without charts: contents, exports of tables, copies of texts.
const ACTIONS: &str = include_str!("actions.js");
/// The charting library, as published (npm package uplot 1.6.32).
const UPLOT_STYLE: &str = include_str!("uplot/uPlot-1.6.32.min.css");
const UPLOT_SCRIPT: &str = include_str!("uplot/uPlot-1.6.32.iife.min.js");
const UPLOT_LICENCE: &str = include_str!("uplot/LICENSE");

/// The browser enforces that the page loads nothing; pictures that it makes itself come from the page.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";

/// Contents of a page.
pub struct Page<'a> {
    /// Heading of the page if its parts have separate headings. Otherwise the heading of the first part is used.
    pub title: &'a str,
    /// One result after another.
    pub parts: &'a [Part],
}

impl Page<'_> {
    /// The page as HTML.
    pub fn html(&self) -> String {
        let title = escape(self.title);
        let heading = if self.parts.len() == 1 { String::new() } else { format!("<h1 class=\"whole\">{title}</h1>\n{}", self.answers()) };
        let level = if self.parts.len() == 1 { 1 } else { 2 };
        let parts: String = self.parts.iter().enumerate().map(|(index, part)| self.part(index, part, level)).collect();
        let contents: String = self.parts.iter().enumerate().map(|(index, part)| self.contents(index, part)).collect();
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n<style>\n{UPLOT_STYLE}\n{STYLE}</style>\n</head>\n\
             <body>\n<a class=\"skip\" href=\"#top\">To the results</a>\n\
             <nav aria-label=\"Contents\"><details open><summary>Contents</summary>\n{contents}</details></nav>\n\
             <main id=\"top\">\n{heading}{parts}{footer}</main>\n{scripts}</body>\n</html>\n",
            footer = footer(),
            scripts = self.scripts(),
        )
    }

    /// Returns the answer of each part, with a link to the part.
    fn answers(&self) -> String {
        let answer = |(index, part): (usize, &Part)| {
            let headline = part.headline.as_ref().map_or(String::new(), |text| format!("<span>{}</span>", escape(text)));
            format!("<li><a href=\"#{}result\">{}</a>{headline}</li>\n", self.prefix(index), escape(&part.title))
        };
        format!("<ol class=\"answers\">\n{}</ol>\n", self.parts.iter().enumerate().map(answer).collect::<String>())
    }

    /// Returns the prefix for the names of a part's elements.
    fn prefix(&self, index: usize) -> String {
        if self.parts.len() == 1 { String::new() } else { format!("part{}-", index + 1) }
    }

    fn part(&self, index: usize, part: &Part, level: u8) -> String {
        let prefix = self.prefix(index);
        // Of several parts the answers above have it.
        let headline = part.headline.as_ref().filter(|_| self.parts.len() == 1);
        let headline = headline.map_or(String::new(), |text| format!("<p class=\"headline\">{}</p>\n", escape(text)));
        let tile = |tile: &Tile| {
            let note = tile.note.as_ref().map_or(String::new(), |note| format!("<span class=\"note\">{}</span>", escape(note)));
            let tone = tone_class(tile.tone).map_or(String::new(), |class| format!(" class=\"{class}\""));
            format!("<div{tone}><dt{}>{}</dt><dd>{}{note}</dd></div>\n", hint(tile.figure, ""), escape(&tile.name), escape(&tile.value))
        };
        let tiles: String = part.tiles.iter().map(tile).collect();
        let tiles = if tiles.is_empty() { tiles } else { format!("<dl class=\"tiles\">\n{tiles}</dl>\n") };
        let list = |class: &str, texts: &[String]| match texts {
            [] => String::new(),
            texts => format!(
                "<ul class=\"{class}\">\n{}</ul>\n",
                texts.iter().map(|text| format!("<li>{}</li>\n", escape(text))).collect::<String>()
            ),
        };
        let sketch = part.sketch.as_deref().map_or(String::new(), |sketch| format!("<figure class=\"sketch\">\n{sketch}</figure>\n"));
        let tables = |sheets: &[Sheet], from: usize| -> String {
            sheets.iter().enumerate().map(|(index, sheet)| table(sheet, &format!("{prefix}table-{}", from + index))).collect()
        };
        // Said once rather than below each chart.
        let hint = "<p class=\"hint\">Drag across a chart to zoom, double-click to see everything; with a chart in focus the arrow keys read values.</p>";
        let charts = if part.charts.is_empty() { String::new() } else { format!("{hint}\n<div class=\"charts\"></div>\n") };
        let explorer = part.explorer.as_ref().map_or(String::new(), |explorer| explorer.html(&prefix));
        let texts: String = part.texts.iter().enumerate().map(|(index, text)| text_block(text, &format!("{prefix}text-{index}"))).collect();
        format!(
            "<article id=\"{prefix}result\">\n<header class=\"first\">\n<div>\n<h{level}>{title}</h{level}>\n{headline}{tiles}</div>\n{sketch}</header>\n{explorer}\
             <div class=\"tables\">\n{summary}</div>\n{facts}{charts}<div class=\"tables\">\n{details}</div>\n{remarks}{texts}</article>\n",
            title = escape(&part.title),
            facts = list("facts", &part.facts),
            remarks = list("facts remarks", &part.remarks),
            summary = tables(&part.summary, 0),
            details = tables(&part.details, part.summary.len()),
        )
    }

    fn contents(&self, index: usize, part: &Part) -> String {
        let prefix = self.prefix(index);
        let entry = |id: String, text: &str| format!("<li><a href=\"#{}\">{}</a></li>\n", escape(&id), escape(text));
        let sheets = part.summary.iter().chain(&part.details).enumerate();
        let (before, after): (Vec<_>, Vec<_>) = sheets.partition(|(index, _)| *index < part.summary.len());
        let of_sheets = |sheets: Vec<(usize, &Sheet)>| -> String {
            sheets.into_iter().map(|(index, sheet)| entry(format!("{prefix}table-{index}"), &sheet.title)).collect()
        };
        // A table and a chart may show the same.
        let is_table = |title: &str| part.summary.iter().chain(&part.details).any(|sheet| sheet.title == title);
        let name = |chart: &Chart| if is_table(&chart.title) { format!("{} (chart)", chart.title) } else { chart.title.clone() };
        let charts: String = part.charts.iter().map(|chart| entry(format!("{prefix}{}", chart.id), &name(chart))).collect();
        let texts: String = part.texts.iter().enumerate().map(|(index, text)| entry(format!("{prefix}text-{index}"), text.title)).collect();
        let (before, after) = (of_sheets(before), of_sheets(after));
        let explorer = part.explorer.as_ref().map_or(String::new(), |_| entry(format!("{prefix}explorer"), "Explore the points"));
        let list = format!("<ul>\n{explorer}{before}{charts}{after}{texts}</ul>\n");
        match self.parts.len() {
            1 => list,
            _ => format!("<p><a href=\"#{prefix}result\">{}</a></p>\n{list}", escape(&part.title)),
        }
    }

    fn scripts(&self) -> String {
        let prefixed = |(index, part): (usize, &Part)| -> Vec<Chart> {
            part.charts.iter().map(|chart| Chart { id: format!("{}{}", self.prefix(index), chart.id), ..chart.clone() }).collect()
        };
        let charts: Vec<Vec<Chart>> = self.parts.iter().enumerate().map(prefixed).filter(|charts| !charts.is_empty()).collect();
        let explorers: Vec<(usize, &Explorer)> =
            self.parts.iter().enumerate().filter_map(|(index, part)| Some((index, part.explorer.as_ref()?))).collect();
        if charts.is_empty() && explorers.is_empty() {
            return format!("<script>\n{ACTIONS}</script>\n");
        }
        let colours = Colours::of(charts.iter().flatten());
        let drawn: Vec<Vec<Drawn>> = charts.iter().map(|part| part.iter().map(|chart| Drawn::of(chart, &colours)).collect()).collect();
        // Inside a script element only this character could end it.
        let escaped = |data: String| data.replace('<', "\\u003c");
        let data = escaped(serde_json::to_string(&drawn).expect("charts are plain data"));
        // Where no other chart has these names they have colours of their own.
        let explorers = explorers.into_iter().map(|(index, explorer)| {
            explorer.json(
                &self.prefix(index),
                &Colours::of(charts.iter().flatten().chain(explorer.charts().iter().filter(|chart| is_stacked(chart)))),
            )
        });
        let explorers: Vec<serde_json::Value> = explorers.collect();
        let explored = match explorers.is_empty() {
            true => String::new(),
            false => format!(
                "<script type=\"application/json\" id=\"explorers-data\">{}</script>\n",
                escaped(serde_json::Value::from(explorers).to_string())
            ),
        };
        let pictures: String = charts.iter().flatten().filter_map(|chart| embedded(chart, &colours)).collect();
        format!(
            "<noscript><p>The charts need JavaScript; the tables do not.</p></noscript>\n{pictures}\
             <script type=\"application/json\" id=\"charts-data\">{data}</script>\n{explored}<script>{UPLOT_SCRIPT}</script>\n\
             <script>\n{ACTIONS}</script>\n<script>\n{SCRIPT}</script>\n"
        )
    }
}

fn is_stacked(chart: &Chart) -> bool {
    matches!(&chart.content, Content::Bars(bars) if bars.stacked)
}

/// A chart with its look, as the script gets it.
#[derive(Serialize)]
struct Drawn<'a> {
    #[serde(flatten)]
    chart: &'a Chart,
    look: Look,
}

/// Facts that a chart shares with its picture. These are the places of its names in the palette, its yardsticks, symbols of doubt with
/// their meaning, and ends of its axes.
#[derive(Serialize)]
struct Look {
    colours: Vec<usize>,
    /// Names as legends show them.
    names: Vec<String>,
    /// Names of yardsticks, whose surfaces are outlines.
    hollow: Vec<bool>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    explanations: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    across: Option<(f64, f64)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    upwards: Option<(f64, f64)>,
    marked: bool,
    /// Numbers across are whole: half a member is none.
    whole: bool,
}

impl<'a> Drawn<'a> {
    fn of(chart: &'a Chart, colours: &Colours) -> Drawn<'a> {
        let (across, upwards, marked, whole) = match &chart.content {
            Content::Lines(lines) => (Some(lines.across()), Some(lines.upwards()), lines.is_marked(), lines.is_whole()),
            Content::Bars(bars) => (None, Some(bars.range()), false, false),
            Content::Timeline(_) => (None, None, false, false),
        };
        let names = chart.names();
        let hollow = names.iter().map(|name| chart.is_yardstick(name)).collect();
        let (colours, names) = (colours.of_chart(chart), names.into_iter().map(|name| chart.shown_name(name)).collect());
        Drawn { chart, look: Look { colours, names, hollow, explanations: chart.explanations(), across, upwards, marked, whole } }
    }
}

/// The picture of a chart as the page keeps it, to be saved from there.
fn embedded(chart: &Chart, colours: &Colours) -> Option<String> {
    let svg = picture::draw(chart, colours).ok()?;
    // Texts that would end the element or change its meaning must not occur in it. Names in pictures are escaped, so that they never do.
    let harmful = ["</script", "<!--", "<script"].iter().any(|text| svg.contains(text));
    (!harmful).then(|| format!("<script type=\"image/svg+xml\" id=\"picture-{}\">{svg}</script>\n", escape(&chart.id)))
}

/// A text that is shown as it is, to be copied.
pub struct Text {
    /// Heading of the text.
    pub title: &'static str,
    /// Purpose of the text.
    pub about: String,
    /// Content of the text.
    pub text: String,
    /// The name of the file that it makes.
    pub file: &'static str,
}

fn text_block(text: &Text, id: &str) -> String {
    format!(
        "<details class=\"text\" id=\"{id}\" data-file=\"{}\">\n<summary>{}</summary>\n<p>{}</p>\n<div class=\"export\"></div>\n<pre>{}</pre>\n</details>\n",
        escape(text.file),
        escape(text.title),
        escape(&text.about),
        escape(&text.text)
    )
}

fn footer() -> String {
    format!(
        "<footer><p>flashraid {}. Charts are drawn by uPlot 1.6.32, MIT licence.</p>\n\
         <details><summary>Licence of uPlot</summary><pre>{}</pre></details></footer>\n",
        env!("CARGO_PKG_VERSION"),
        escape(UPLOT_LICENCE)
    )
}

fn tone_class(tone: Tone) -> Option<&'static str> {
    match tone {
        Tone::Plain => None,
        Tone::Better => Some("better"),
        Tone::Worse => Some("worse"),
    }
}

/// Characters from which on a cell is broken into lines rather than pushing its neighbours out of sight.
const LONG_CELL: usize = 32;
/// Characters of a row that do not fit into half of the page.
const WIDE_ROW: usize = 54;

/// Rows from which on a table is scrolled through rather than pushing what follows out of sight.
const LONG_TABLE: usize = 30;

/// Returns true if a table gets the whole width.
fn is_wide(sheet: &Sheet) -> bool {
    let columns = sheet.rows.iter().map(Vec::len).max().unwrap_or(0).max(sheet.header.len());
    let of_header =
        |column: usize| sheet.header.get(column).map_or(0, |text| text.lines().map(|line| line.chars().count()).max().unwrap_or(0));
    let of_cells =
        |column: usize| sheet.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.text.chars().count()).max().unwrap_or(0);
    (0..columns).map(|column| of_header(column).max(of_cells(column)).min(LONG_CELL) + 2).sum::<usize>() > WIDE_ROW
}

fn table(sheet: &Sheet, id: &str) -> String {
    let class = |column: usize| if sheet.is_figure(column) { " class=\"number\"" } else { "" };
    let wide = if is_wide(sheet) { " wide" } else { "" };
    let long = if sheet.rows.len() > LONG_TABLE { " long-table" } else { "" };
    let mut html = format!(
        "<section class=\"table{wide}{long}\" id=\"{id}\">\n<header><h2>{}</h2><div class=\"export\"></div></header>\n<div class=\"scroll\" tabindex=\"0\">\n<table>\n",
        escape(&sheet.title)
    );
    if sheet.header.iter().any(|text| !text.is_empty()) {
        html += "<thead><tr>";
        for (column, text) in sheet.header.iter().enumerate() {
            let of = sheet.columns_of.get(column).map_or("", String::as_str);
            let class = if sheet.is_figure(column) { "number" } else { "" };
            html += &format!("<th scope=\"col\"{}>{}</th>", hint(of, class), escape(text).replace('\n', "<br>"));
        }
        html += "</tr></thead>\n";
    }
    html += "<tbody>\n";
    for (index, row) in sheet.rows.iter().enumerate() {
        let of = sheet.rows_of.get(index).map_or("", String::as_str);
        html += "<tr>";
        for (column, cell) in row.iter().enumerate() {
            let text = with_marks(&cell.text);
            let text = tone_class(cell.tone).map_or(text.clone(), |class| format!("<b class=\"{class}\">{text}</b>"));
            let is_long = cell.text.chars().count() > LONG_CELL;
            html += &match column < sheet.label_columns {
                true => {
                    format!("<th scope=\"row\"{}>{text}</th>", hint(if column == 0 { of } else { "" }, if is_long { "long" } else { "" }))
                }
                false => format!("<td{}>{text}</td>", if is_long { " class=\"long\"" } else { class(column) }),
            };
        }
        html += "</tr>\n";
    }
    html + "</tbody>\n</table>\n</div>\n</section>\n"
}

/// Returns the attributes of an element with these classes that shows this figure or key. The text of `flashraid explain` then stands
/// beside the cursor.
fn hint(of: &str, classes: &str) -> String {
    let title = Some(of).filter(|of| !of.is_empty()).and_then(documented_names::explanation_of);
    let classes = [classes, if title.is_some() { "explained" } else { "" }].into_iter().filter(|class| !class.is_empty());
    let class = classes.collect::<Vec<_>>().join(" ");
    let class = if class.is_empty() { class } else { format!(" class=\"{class}\"") };
    class + &title.map_or(String::new(), |title| format!(" title=\"{}\"", escape(&title).replace('\n', "&#10;")))
}

/// The text of a cell, with the marks at its end explained where they stand.
fn with_marks(text: &str) -> String {
    let mark_of = |symbol: char| WarningMark::ALL.into_iter().find(|mark| mark.symbol().starts_with(symbol));
    let marks_of = |word: &&str| word.chars().map(mark_of).collect::<Option<Vec<WarningMark>>>().filter(|marks| !marks.is_empty());
    let abbreviation = |mark: WarningMark| format!("<abbr title=\"{}\">{}</abbr>", escape(mark.explanation()), mark.symbol());
    let mut words: Vec<&str> = text.split(' ').collect();
    let mut marks = String::new();
    while let Some(found) = words.last().filter(|_| words.len() > 1).and_then(marks_of) {
        marks = format!(" {}{marks}", found.into_iter().map(abbreviation).collect::<String>());
        words.pop();
    }
    escape(&words.join(" ")) + &marks
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::{Axis, Line, Lines};

    #[test]
    fn long_cells_break_and_wide_tables_get_the_page() {
        let of = |value: &str| {
            let mut sheet = Sheet::new("What differs", &["setting", "a", "b"]);
            sheet.rows.push(vec!["workload.size.sizes".into(), value.into(), "4KiB".into()]);
            table(&sheet, "t")
        };
        let (short, long) = (of("8KiB"), of(&"x".repeat(LONG_CELL + 1)));
        assert!(short.contains("class=\"table\"") && !short.contains("class=\"long\""), "{short}");
        assert!(long.contains("class=\"table wide\"") && long.contains("<td class=\"long\">xxx"), "{long}");
    }

    #[test]
    fn marks_are_explained_where_they_stand() {
        let html = with_marks("1 < 2 ! ?");
        assert!(html.starts_with("1 &lt; 2 <abbr title=\"The run was not steady") && html.ends_with(">?</abbr>"), "{html}");
        assert_eq!(html.matches("<abbr").count(), 2);
        assert_eq!(with_marks("local ✗!").matches("<abbr").count(), 2);
        // What stands alone, or within a text, is no mark.
        assert_eq!(["!", "a ? b", "12.3", ""].map(with_marks), ["!", "a ? b", "12.3", ""]);
    }

    fn part(text: &str) -> Part {
        let mut sheet = Sheet::new(text, &["a&b"]);
        sheet.rows.push(vec![text.into()]);
        let series = vec![Line::new(text, vec![(0.0, 1.0)])];
        let lines = Lines {
            x: Axis::linear(text),
            y: Axis::linear(text),
            steps: false,
            series,
            bands: Vec::new(),
            levels: Vec::new(),
            marks: vec![(text.to_owned(), 0.5)],
        };
        let chart = Chart::new("c", text, Content::Lines(lines));
        Part {
            title: text.to_owned(),
            headline: Some(text.to_owned()),
            tiles: vec![Tile { tone: Tone::Worse, ..Tile::plain(text, text.to_owned(), Some(text.to_owned())) }],
            sketch: None,
            explorer: None,
            summary: vec![sheet],
            facts: vec![text.to_owned()],
            details: Vec::new(),
            charts: vec![chart],
            remarks: vec![text.to_owned()],
            texts: vec![Text { title: "Configuration", about: text.to_owned(), text: text.to_owned(), file: "a.toml" }],
        }
    }

    fn page(text: &str, parts: usize) -> String {
        Page { title: text, parts: &(0..parts).map(|_| part(text)).collect::<Vec<_>>() }.html()
    }

    #[test]
    fn what_users_wrote_is_escaped() {
        for parts in [1, 2] {
            let (harmless, page) = (page("x", parts), page("</script><i>&\"x\"", parts));
            assert!(!page.contains("<i>") && page.contains("&lt;i&gt;&amp;&quot;x&quot;"));
            assert_eq!(page.matches("</script>").count(), harmless.matches("</script>").count());
        }
    }

    #[test]
    fn the_page_asks_nobody_for_anything() {
        let page = page("x", 1);
        assert!(!page.contains("<link") && !page.contains(" src=") && !page.contains("@import") && !page.contains("url("));
        assert!(page.contains("default-src 'none'"));
    }

    #[test]
    fn names_are_unique_on_a_page_of_several_parts() {
        let page = page("x", 3);
        let mut ids: Vec<&str> = page.split(" id=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
        let all = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), all);
        // Each entry of the contents leads somewhere: tables, texts and results stand in the page, charts are put there by the script.
        for target in page.split("href=\"#").skip(1).map(|rest| rest.split('"').next().unwrap()) {
            assert!(ids.contains(&target) || ids.contains(&format!("picture-{target}").as_str()), "{target}");
        }
    }

    #[test]
    fn names_in_the_contents_differ() {
        // The table and the chart have the same title.
        let page = page("Mean response time", 1);
        let contents = page.split("<nav").nth(1).unwrap().split("</nav>").next().unwrap();
        let mut names: Vec<&str> = contents.split("</a>").filter_map(|entry| entry.rsplit_once('>')).map(|(_, name)| name).collect();
        names.retain(|name| !name.trim().is_empty());
        assert_eq!(names, ["Mean response time", "Mean response time (chart)", "Configuration"]);
    }

    #[test]
    fn a_headline_is_said_once() {
        let of = |answer: &str| Part { headline: Some(answer.to_owned()), ..part("x") };
        for answers in [&["the first answer"][..], &["the first answer", "the second answer"]] {
            let parts: Vec<Part> = answers.iter().map(|answer| of(answer)).collect();
            let page = Page { title: "t", parts: &parts }.html();
            assert!(answers.iter().all(|answer| page.matches(answer).count() == 1), "{}", answers.len());
        }
    }

    #[test]
    fn a_page_carries_the_licence_of_its_charting_library() {
        let page = Page { title: "t", parts: &[part("x")] }.html();
        assert!(page.contains(UPLOT_SCRIPT) && page.contains(&escape(UPLOT_LICENCE)));
        // The script has no notice of its own.
        assert!(UPLOT_LICENCE.contains("Leon Sorokin") && page.contains("uPlot 1.6.32, MIT licence"));
    }

    #[test]
    fn without_charts_there_is_no_charting_library() {
        let part = Part { charts: Vec::new(), ..part("x") };
        let page = Page { title: "t", parts: &[part] }.html();
        assert!(!page.contains(UPLOT_SCRIPT) && page.contains("To the results"));
    }
}

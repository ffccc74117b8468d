//! A report as one self-contained page, which opens without a network and asks nobody for anything.

use serde_json::Value;

use super::chart::Chart;
use super::sheet::{Sheet, Tone};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("charts.js");
/// The charting library, as published (npm package uplot 1.6.32).
const UPLOT_STYLE: &str = include_str!("uplot/uPlot-1.6.32.min.css");
const UPLOT_SCRIPT: &str = include_str!("uplot/uPlot-1.6.32.iife.min.js");
const UPLOT_LICENCE: &str = include_str!("uplot/LICENSE");

/// The browser enforces that the page loads nothing.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'";

/// What a page shows.
pub struct Page<'a> {
    /// Its heading.
    pub title: &'a str,
    /// Lines below the heading.
    pub facts: &'a [String],
    /// The tables above the charts.
    pub summary: &'a [Sheet],
    /// The tables below them.
    pub details: &'a [Sheet],
    /// Charts.
    pub charts: &'a [Chart],
    /// As a report has it, shown folded at the end.
    pub configuration: &'a Value,
}

impl Page<'_> {
    /// The page as HTML.
    pub fn html(&self) -> String {
        let facts: String = self.facts.iter().map(|fact| format!("<p>{}</p>\n", escape(fact))).collect();
        let tables = |sheets: &[Sheet]| sheets.iter().map(table).collect::<String>();
        let title = escape(self.title);
        let configuration = escape(&format!("{:#}", self.configuration));
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n<style>\n{UPLOT_STYLE}\n{STYLE}</style>\n</head>\n\
             <body>\n<main>\n<h1>{title}</h1>\n{facts}{summary}{charts}{details}\
             <details>\n<summary>Configuration</summary>\n<pre>{configuration}</pre>\n</details>\n{footer}</main>\n{scripts}</body>\n</html>\n",
            charts = if self.charts.is_empty() { "" } else { "<div id=\"charts\"></div>\n" },
            summary = tables(self.summary),
            details = tables(self.details),
            footer = footer(),
            scripts = scripts(self.charts),
        )
    }
}

fn footer() -> String {
    format!(
        "<footer><p>flashraid {}. Charts are drawn by uPlot 1.6.32, MIT licence.</p>\n\
         <details><summary>Licence of uPlot</summary><pre>{}</pre></details></footer>\n",
        env!("CARGO_PKG_VERSION"),
        escape(UPLOT_LICENCE)
    )
}

fn scripts(charts: &[Chart]) -> String {
    if charts.is_empty() {
        return String::new();
    }
    // Inside a script element only this character could end it.
    let data = serde_json::to_string(charts).expect("charts are plain data").replace('<', "\\u003c");
    format!(
        "<noscript><p>The charts need JavaScript; the tables do not.</p></noscript>\n\
         <script type=\"application/json\" id=\"charts-data\">{data}</script>\n<script>{UPLOT_SCRIPT}</script>\n<script>\n{SCRIPT}</script>\n"
    )
}

fn table(sheet: &Sheet) -> String {
    let class = |column: usize| if sheet.is_figure(column) { " class=\"number\"" } else { "" };
    let mut html = format!("<section>\n<h2>{}</h2>\n<div class=\"scroll\">\n<table>\n", escape(&sheet.title));
    if sheet.header.iter().any(|text| !text.is_empty()) {
        html += "<thead><tr>";
        for (column, text) in sheet.header.iter().enumerate() {
            html += &format!("<th scope=\"col\"{}>{}</th>", class(column), escape(text).replace('\n', "<br>"));
        }
        html += "</tr></thead>\n";
    }
    html += "<tbody>\n";
    for row in &sheet.rows {
        html += "<tr>";
        for (column, cell) in row.iter().enumerate() {
            let text = escape(&cell.text);
            let text = match cell.tone {
                Tone::Plain => text,
                Tone::Better => format!("<b class=\"better\">{text}</b>"),
                Tone::Worse => format!("<b class=\"worse\">{text}</b>"),
            };
            html += &match column < sheet.label_columns {
                true => format!("<th scope=\"row\">{text}</th>"),
                false => format!("<td{}>{text}</td>", class(column)),
            };
        }
        html += "</tr>\n";
    }
    html + "</tbody>\n</table>\n</div>\n</section>\n"
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::{Axis, Content, Line, Lines};
    use serde_json::json;

    fn page(text: &str) -> String {
        let mut sheet = Sheet::new(text, &["a&b"]);
        sheet.rows.push(vec![text.into()]);
        let series = vec![Line::new(text, vec![(0.0, 1.0)])];
        let lines = Lines { x: Axis::linear(text), y: Axis::linear(text), steps: false, series, bands: Vec::new(), levels: Vec::new() };
        let chart = Chart { id: "c".to_owned(), title: text.to_owned(), content: Content::Lines(lines) };
        Page {
            title: text,
            facts: &[text.to_owned()],
            summary: &[sheet],
            details: &[],
            charts: &[chart],
            configuration: &json!({ "key": text }),
        }
        .html()
    }

    #[test]
    fn what_users_wrote_is_escaped() {
        let (harmless, page) = (page("x"), page("</script><i>&\"x\""));
        assert!(!page.contains("<i>") && page.contains("&lt;i&gt;&amp;&quot;x&quot;"));
        assert_eq!(page.matches("</script>").count(), harmless.matches("</script>").count());
    }

    #[test]
    fn the_page_asks_nobody_for_anything() {
        let page = page("x");
        assert!(!page.contains("<link") && !page.contains(" src=") && !page.contains("@import") && !page.contains("url("));
        assert!(page.contains("default-src 'none'"));
    }

    #[test]
    fn without_charts_there_is_no_script() {
        let page = Page { title: "t", facts: &[], summary: &[], details: &[], charts: &[], configuration: &Value::Null }.html();
        assert!(!page.contains("<script"));
    }
}

//! A report as one self-contained page: no script, no font, no request to anywhere.

use serde_json::Value;

use super::sheet::{Sheet, Tone};

const STYLE: &str = include_str!("report.css");

/// A page of tables.
///
/// `facts` are the lines below the heading. `configuration`, as a report has it, is shown folded at the end.
pub fn page(title: &str, facts: &[String], sheets: &[Sheet], configuration: &Value) -> String {
    let facts: String = facts.iter().map(|fact| format!("<p>{}</p>\n", escape(fact))).collect();
    let tables: String = sheets.iter().map(table).collect();
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n\
         <body>\n<main>\n<h1>{title}</h1>\n{facts}{tables}\
         <details>\n<summary>Configuration</summary>\n<pre>{configuration}</pre>\n</details>\n</main>\n</body>\n</html>\n",
        title = escape(title),
        configuration = escape(&format!("{configuration:#}")),
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
    use serde_json::json;

    #[test]
    fn what_users_wrote_is_escaped() {
        let mut sheet = Sheet::new("<script>", &["a&b"]);
        sheet.rows.push(vec!["\"x\" < y".into()]);
        let page = page("t", &["path <b>".to_owned()], &[sheet], &json!({"key": "<i>"}));
        assert!(!page.contains("<script>") && !page.contains("<i>") && !page.contains("path <b>"));
        assert!(page.contains("&lt;script&gt;") && page.contains("a&amp;b") && page.contains("&quot;x&quot; &lt; y"));
    }

    #[test]
    fn the_page_asks_nobody_for_anything() {
        let page = page("t", &[], &[], &Value::Null);
        assert!(!page.contains("http") && !page.contains("<link") && !page.contains("<script"));
    }
}

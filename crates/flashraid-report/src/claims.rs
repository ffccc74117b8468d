//! Tables and a sentence about a reproduction, from the document of `reproduce --json`. They show the papers' claims beside the measured
//! values.

use serde_json::Value;

use crate::grid::list;
use crate::number::{count_with_noun, three_digits};
use crate::sheet::{Cell, Sheet, Tone};

/// Verdicts in documents, the best first. Each has its verb for one claim and for several, and the colour of a cell.
const VERDICTS: [(&str, [&str; 2], Tone); 5] = [
    ("agrees", ["agrees", "agree"], Tone::Better),
    ("direction", ["holds in direction", "hold in direction"], Tone::Plain),
    ("differs", ["differs", "differ"], Tone::Worse),
    ("undecided", ["is undecided", "are undecided"], Tone::Plain),
    ("unstable", ["is unstable", "are unstable"], Tone::Worse),
];

/// Verdict on a claim whose trace was not given.
const NO_TRACE: &str = "no trace";

/// Columns of the rows of figures: the key in the document, and the heading.
const COLUMNS: [(&str, &str); 8] = [
    ("mean_ms", "mean\nms"),
    ("stddev_ms", "deviation\nms"),
    ("p99_ms", "p99\nms"),
    ("max_ms", "max\nms"),
    ("bandwidth_mb_s", "bandwidth\nMB/s"),
    ("bandwidth_stddev_mb_s", "its deviation\nMB/s"),
    ("erases", "erases"),
    ("write_amplification", "write\namplification"),
];

fn figures(document: &Value) -> impl Iterator<Item = &Value> {
    document["figures"].as_array().into_iter().flatten()
}

fn claims(document: &Value) -> impl Iterator<Item = &Value> {
    figures(document).flat_map(|figure| figure["claims"].as_array().into_iter().flatten())
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or("")
}

fn parts(claim: &Value) -> &[Value] {
    claim["parts"].as_array().map_or(&[], Vec::as_slice)
}

fn number(part: &Value, key: &str) -> String {
    part[key].as_f64().map_or("–".to_owned(), three_digits)
}

fn measured(part: &Value) -> String {
    let half_width = part["ci95"].as_f64().map_or(String::new(), |half_width| format!(" ±{}", three_digits(half_width)));
    number(part, "measured") + &half_width
}

fn verdict(claim: &Value) -> Cell {
    let verdict = text(claim, "verdict");
    let tone = VERDICTS.iter().find(|(name, ..)| *name == verdict).map_or(Tone::Plain, |(_, _, tone)| *tone);
    Cell { text: verdict.to_owned(), tone }
}

/// Returns the number of claims with each verdict, as in `Of 95 claims 40 agree, …`. Unstable claims count, too.
pub fn tally(document: &Value) -> String {
    let counts = VERDICTS.map(|(name, forms, _)| {
        let count = claims(document).filter(|claim| text(claim, "verdict") == name).count();
        format!("{count} {}", forms[usize::from(count != 1)])
    });
    let lacking = claims(document).filter(|claim| text(claim, "verdict") == NO_TRACE).count();
    let lacking = (lacking > 0).then(|| format!("{lacking} {} no trace", if lacking == 1 { "has" } else { "have" }));
    let counts = counts.into_iter().chain(lacking).collect::<Vec<_>>();
    format!("Of {} {}", count_with_noun(claims(document).count() as u64, "claim"), counts.join(", "))
}

/// Returns the conclusion of a reproduction: how many claims have each verdict, and which of them differ or are unstable.
pub fn conclusion(document: &Value) -> String {
    let named = |verdict: &str| {
        let ids: Vec<String> =
            claims(document).filter(|claim| text(claim, "verdict") == verdict).map(|claim| text(claim, "id").to_owned()).collect();
        (!ids.is_empty()).then(|| format!("; {verdict}: {}", list(ids.into_iter())))
    };
    let named: String = ["differs", "unstable"].into_iter().filter_map(named).collect();
    format!("{}{named}.", tally(document))
}

/// Returns a table of all claims, a row each. If a claim has several values, the row tells how many are close to the paper's. For a
/// statement it tells how much of it holds.
pub fn summary(document: &Value) -> Sheet {
    let mut sheet = Sheet { label_columns: 2, ..Sheet::new("Claims", &["claim", "", "paper", "measured", "verdict"]) };
    sheet.unit_column = true;
    for claim in claims(document) {
        let parts = parts(claim);
        let holding = || parts.iter().filter(|part| part["holds"] == true).count();
        let (paper, measured) = match parts {
            _ if text(claim, "verdict") == NO_TRACE => ("–".to_owned(), "not measured".to_owned()),
            [] => ("–".to_owned(), "not measured".to_owned()),
            [only] if text(only, "name").is_empty() => (number(only, "paper"), measured(only)),
            several if several.iter().any(|part| part["paper"].is_number()) => {
                (count_with_noun(several.len() as u64, "value"), format!("{} close", holding()))
            }
            statements => (count_with_noun(statements.len() as u64, "statement"), format!("{} true", holding())),
        };
        sheet.rows.push(vec![text(claim, "id").into(), text(claim, "unit").into(), paper.into(), measured.into(), verdict(claim)]);
    }
    sheet
}

/// Returns a table of the claims with each of their values.
pub fn values(document: &Value) -> Sheet {
    let mut sheet = Sheet { label_columns: 2, ..Sheet::new("Values of claims", &["claim", "", "paper", "measured", "verdict"]) };
    for claim in claims(document) {
        let unit = text(claim, "unit");
        for (index, part) in parts(claim).iter().enumerate() {
            let name = [text(part, "name"), unit].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(", ");
            let (id, verdict) = if index == 0 { (text(claim, "id"), verdict(claim)) } else { ("", "".into()) };
            sheet.rows.push(vec![id.into(), name.into(), number(part, "paper").into(), measured(part).into(), verdict]);
        }
    }
    sheet
}

/// Returns a table of measured values for each figure that has some.
pub fn rows(document: &Value) -> Vec<Sheet> {
    let header: Vec<&str> = std::iter::once("point").chain(COLUMNS.map(|(_, heading)| heading)).collect();
    let sheet = |figure: &Value| {
        let row =
            |row: &Value| std::iter::once(Cell::from(text(row, "point"))).chain(COLUMNS.map(|(key, _)| number(row, key).into())).collect();
        let rows: Vec<Vec<Cell>> = figure["rows"].as_array().into_iter().flatten().map(row).collect();
        Sheet { rows, ..Sheet::new(format!("{}: {}", text(figure, "id"), text(figure, "title")), &header) }
    };
    figures(document).map(sheet).filter(|sheet| !sheet.rows.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn document() -> Value {
        let part = |name: &str, paper: Option<f64>, measured: f64, holds: bool| json!({ "name": name, "paper": paper, "measured": measured, "ci95": null, "holds": holds });
        let claim =
            |id: &str, unit: &str, verdict: &str, parts: Vec<Value>| json!({ "id": id, "unit": unit, "verdict": verdict, "parts": parts });
        let one = json!({ "name": "", "paper": 0.71, "measured": 0.7, "ci95": 0.02, "holds": true });
        let claims = vec![
            claim("f.one", "fraction", "agrees", vec![one]),
            claim("f.many", "ms", "direction", vec![part("a", Some(1.0), 1.1, true), part("b", Some(2.0), 9.0, false)]),
            claim(
                "f.said",
                "",
                "differs",
                vec![part("core", None, 1.0, false), part("rest", None, 1.0, true), part("more", None, 1.0, true)],
            ),
        ];
        json!({ "figures": [{ "id": "f", "title": "Figure", "claims": claims, "rows": [{ "point": "p", "mean_ms": 1234.6 }] }] })
    }

    #[test]
    fn a_claim_has_a_row_and_the_sentence_counts_the_rows() {
        let document = document();
        let sheet = summary(&document);
        let texts: Vec<Vec<&str>> = sheet.rows.iter().map(|row| row.iter().map(|cell| cell.text.as_str()).collect()).collect();
        assert_eq!(
            texts,
            [
                ["f.one", "fraction", "0.710", "0.700 ±0.0200", "agrees"],
                ["f.many", "ms", "2 values", "1 close", "direction"],
                ["f.said", "", "3 statements", "2 true", "differs"],
            ]
        );
        assert_eq!(
            conclusion(&document),
            "Of 3 claims 1 agrees, 1 holds in direction, 1 differs, 0 are undecided, 0 are unstable; differs: f.said."
        );
        for (name, ..) in VERDICTS {
            let count = texts.iter().filter(|row| row[4] == name).count();
            let said = tally(&document).replace("holds in direction", "direction").replace("hold in direction", "direction");
            let stem = name.trim_end_matches('s');
            assert!(said.contains(&format!("{count} {stem}")) || said.contains(&format!("{count} are {stem}")), "{name}: {said}");
        }
    }

    #[test]
    fn every_value_and_every_row_is_in_the_tables() {
        let document = document();
        let sheet = values(&document);
        assert_eq!(sheet.rows.len(), 6);
        let row: Vec<&str> = sheet.rows[2].iter().map(|cell| cell.text.as_str()).collect();
        assert_eq!(row, ["", "b, ms", "2.00", "9.00", ""]);
        let rows = rows(&document);
        assert_eq!((rows[0].title.as_str(), rows[0].rows[0][1].text.as_str()), ("f: Figure", "1,235"));
    }
}

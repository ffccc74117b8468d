//! Splits tables that are too wide for the terminal.

use flashraid_report::sheet::Sheet;
use flashraid_report::text;

/// Assumed width of the terminal in columns, also if standard output is no terminal.
const WIDTH: usize = 80;

/// Returns the number of columns of standard output.
pub fn columns() -> usize {
    terminal_size::terminal_size_of(std::io::stdout()).map_or(WIDTH, |(width, _)| usize::from(width.0).max(WIDTH / 2))
}

/// Splits each table that is too wide. Its further columns continue below, and each part repeats the names of the rows.
pub fn narrow(sheets: Vec<Sheet>) -> Vec<Sheet> {
    let columns = columns();
    sheets.into_iter().flat_map(|sheet| split(sheet, columns)).collect()
}

fn split(sheet: Sheet, most: usize) -> Vec<Sheet> {
    let labels = sheet.label_columns.min(sheet.header.len());
    // The last column has the units of the rows, which each part needs.
    let units = usize::from(sheet.unit_column);
    if width(&sheet) <= most || sheet.header.len() - labels - units < 2 {
        return vec![sheet];
    }
    let mut parts = Vec::new();
    let mut figures: Vec<Vec<usize>> = Vec::new();
    for column in labels..sheet.header.len() - units {
        // A ratio stays with the figure before it.
        match figures.last_mut() {
            Some(group) if sheet.header[column].trim() == "×" => group.push(column),
            _ => figures.push(vec![column]),
        }
    }
    let mut chosen: Vec<usize> = Vec::new();
    for group in figures {
        let longer: Vec<usize> = chosen.iter().chain(&group).copied().collect();
        if !chosen.is_empty() && width(&part(&sheet, &longer, labels)) > most {
            parts.push(std::mem::replace(&mut chosen, group));
        } else {
            chosen = longer;
        }
    }
    parts.push(chosen);
    let mut parts: Vec<Sheet> = parts.iter().map(|columns| part(&sheet, columns, labels)).collect();
    for continued in &mut parts[1..] {
        continued.title = format!("{} (continued)", sheet.title);
    }
    parts
}

/// Returns a table of the labels, some columns, and the units.
fn part(sheet: &Sheet, columns: &[usize], labels: usize) -> Sheet {
    let units = sheet.unit_column.then(|| sheet.header.len() - 1);
    let columns: Vec<usize> = (0..labels).chain(columns.iter().copied()).chain(units).collect();
    Sheet {
        title: sheet.title.clone(),
        header: columns.iter().map(|column| sheet.header[*column].clone()).collect(),
        label_columns: sheet.label_columns,
        unit_column: sheet.unit_column,
        rows: sheet.rows.iter().map(|row| columns.iter().map(|column| row[*column].clone()).collect()).collect(),
        columns_of: columns.iter().map(|column| sheet.columns_of.get(*column).cloned().unwrap_or_default()).collect(),
        rows_of: sheet.rows_of.clone(),
    }
}

/// Returns the length of the longest line of a table, without escape codes for colours.
fn width(sheet: &Sheet) -> usize {
    let mut plain = sheet.clone();
    plain.rows.iter_mut().flatten().for_each(|cell| cell.tone = flashraid_report::sheet::Tone::Plain);
    // The title does not count, because it is wrapped like any text.
    text::render(&[plain]).lines().skip(1).map(|line| line.chars().count()).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_tables_are_continued_below_and_keep_their_cells() {
        let mut sheet = Sheet::new("Mean response time", &["scheme", "all ms", "×", "reads ms", "×", "writes ms", "×"]);
        for scheme in ["local", "reactive-inclusive"] {
            let cells = ["4.81 ±0.039400", "1.00 ±0.000000", "4.68 ±0.134000", "1.00 ±0.000000", "4.87 ±0.065400", "1.00 ±0.000000"];
            sheet.rows.push(std::iter::once(scheme).chain(cells).map(Into::into).collect());
        }
        assert!(width(&sheet) > WIDTH);
        let parts = narrow(vec![sheet.clone()]);
        assert_eq!(parts.len(), 3);
        assert_eq!(parts[1].title, "Mean response time (continued)");
        assert_eq!(parts[1].header, ["scheme", "reads ms", "×"]);
        for part in &parts {
            assert!(width(part) <= WIDTH);
            assert_eq!(part.rows[1][0].text, "reactive-inclusive");
        }
        let cells: Vec<_> = parts.iter().flat_map(|part| part.rows[0][1..].to_vec()).collect();
        assert_eq!(cells, sheet.rows[0][1..]);
    }

    #[test]
    fn narrow_tables_and_those_of_one_wide_column_stay() {
        let mut facts = Sheet::facts("", vec![("about", "x".repeat(200))]);
        assert_eq!(narrow(vec![facts.clone()]).len(), 1);
        facts.rows[0][1] = "short".into();
        assert_eq!(narrow(vec![facts]).len(), 1);
    }
}

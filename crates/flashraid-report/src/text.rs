//! Tables as text for a terminal or a file, and sentences that the program and the Python package have in common.

use std::io::IsTerminal;

use comfy_table::{Cell as TextCell, CellAlignment, Color, ContentArrangement, Table, presets};

use flashraid::memory::TooLittleMemory;

use super::number::bytes;
use super::sheet::{Sheet, Tone};

/// Why simulations are refused that memory has no room for; `option` is what bounds how many run at a time.
pub fn too_little_memory(lack: &TooLittleMemory, option: &str) -> String {
    let TooLittleMemory { needed_bytes, available_bytes, bound, workers } = lack;
    let (needed, available) = (bytes(*needed_bytes as f64), bytes(*available_bytes as f64));
    let fewer = if *workers > 1 { format!("{option}, ") } else { String::new() };
    format!(
        "this needs about {needed} of memory, and there is {available} ({bound}); \
         reduce {fewer}array.members or ssd.geometry (dies, planes, blocks, pages)"
    )
}

/// The tables one below the other, coloured if standard output is a terminal.
pub fn render(sheets: &[Sheet]) -> String {
    let coloured = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    sheets.iter().map(|sheet| render_one(sheet, coloured)).collect::<Vec<_>>().join("\n")
}

fn render_one(sheet: &Sheet, coloured: bool) -> String {
    let mut table = Table::new();
    table.load_style(presets::UTF8_HORIZONTAL_ONLY.row_separator(comfy_table::LineStyle::none()));
    // A terminal that is too narrow wraps lines; wrapping inside columns would tear numbers apart.
    table.set_content_arrangement(ContentArrangement::Disabled);
    match coloured {
        true => table.enforce_styling(),
        false => table.force_no_tty(),
    };
    if sheet.header.iter().any(|text| !text.is_empty()) {
        table.set_header(sheet.header.iter().enumerate().map(|(column, text)| align(TextCell::new(text), column, sheet)));
    }
    for row in &sheet.rows {
        table.add_row(row.iter().enumerate().map(|(column, cell)| {
            let text = align(TextCell::new(&cell.text), column, sheet);
            match cell.tone {
                Tone::Plain => text,
                Tone::Better => text.fg(Color::Green),
                Tone::Worse => text.fg(Color::Red),
            }
        }));
    }
    format!("{}\n{}\n", sheet.title, table.trim_fmt())
}

fn align(cell: TextCell, column: usize, sheet: &Sheet) -> TextCell {
    cell.set_alignment(if sheet.is_figure(column) { CellAlignment::Right } else { CellAlignment::Left })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sheet::Cell;

    #[test]
    fn text_without_a_terminal_is_plain() {
        let mut sheet = Sheet::new("Response time", &["scheme", "mean ms", "×"]);
        sheet.rows.push(vec!["local".into(), "7.91".into(), "1.00".into()]);
        sheet.rows.push(vec!["ideal".into(), "0.17".into(), Cell { text: "0.02".into(), tone: Tone::Better }]);
        insta::assert_snapshot!(render_one(&sheet, false), @r"
        Response time
        ─────────────────────────
         scheme   mean ms      ×
        ═════════════════════════
         local       7.91   1.00
         ideal       0.17   0.02
        ─────────────────────────
        ");
    }
}

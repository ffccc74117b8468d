//! Formats tables as text for a terminal or a file. Also has the sentences that the program and the Python package share.

use std::io::IsTerminal;

use comfy_table::{Cell as TextCell, CellAlignment, Color, ContentArrangement, Table, presets};

use flashraid::memory::TooLittleMemory;

use super::number::bytes;
use super::sheet::{Sheet, Tone};

/// Returns the message for simulations that need more memory than there is. `option` names the limit on how many run at a time.
pub fn too_little_memory(lack: &TooLittleMemory, option: &str) -> String {
    let TooLittleMemory { needed_bytes, available_bytes, limit_name, parallel_simulations: workers } = lack;
    let (needed, available) = (bytes(*needed_bytes as f64), bytes(*available_bytes as f64));
    let fewer = if *workers > 1 { format!("{option}, ") } else { String::new() };
    format!(
        "this needs about {needed} of memory, and there is {available} ({limit_name}); \
         reduce {fewer}array.members or ssd.geometry (dies, planes, blocks, pages), or raise ssd.scale (drives with superblocks)"
    )
}

/// Formats tables one below the other, in colours if standard output is a terminal.
pub fn render(sheets: &[Sheet]) -> String {
    let coloured = is_coloured();
    sheets.iter().map(|sheet| render_one(sheet, coloured)).collect::<Vec<_>>().join("\n")
}

/// Formats a table without its title and without lines between its parts. It is coloured if standard output is a terminal.
pub fn compact(sheet: &Sheet) -> String {
    format!("{}\n", table(sheet, presets::NOTHING, (0, 2), is_coloured()).trim_fmt())
}

/// Returns the length of the longest line of a compact table, in characters.
pub fn width(sheet: &Sheet) -> usize {
    table(sheet, presets::NOTHING, (0, 2), false).trim_fmt().lines().map(|line| line.chars().count()).max().unwrap_or(0)
}

/// Wraps a text to lines of at most `most` characters, unless a word is longer. Further lines begin with `indent`.
pub fn wrap(text: &str, most: usize, indent: &str) -> String {
    let (mut lines, mut column) = (String::new(), 0);
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let length = word.chars().count();
        if column > 0 && column + 1 + length > most {
            lines += "\n";
            lines += indent;
            column = indent.chars().count();
        } else if column > 0 {
            lines.push(' ');
            column += 1;
        }
        lines.push_str(word);
        column += length;
    }
    lines
}

fn is_coloured() -> bool {
    std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

fn render_one(sheet: &Sheet, coloured: bool) -> String {
    let lines = presets::UTF8_HORIZONTAL_ONLY.row_separator(comfy_table::LineStyle::none());
    format!("{}\n{}\n", sheet.title, table(sheet, lines, (1, 1), coloured).trim_fmt())
}

fn table(sheet: &Sheet, lines: comfy_table::TableStyle, padding: (u16, u16), coloured: bool) -> Table {
    let mut table = Table::new();
    table.load_style(lines);
    // A narrow terminal wraps whole lines. Wrapping inside columns would split numbers.
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
    for column in table.column_iter_mut() {
        column.set_padding(padding);
    }
    table
}

fn align(cell: TextCell, column: usize, sheet: &Sheet) -> TextCell {
    cell.set_alignment(if sheet.is_figure(column) { CellAlignment::Right } else { CellAlignment::Left })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sheet::Cell;

    #[test]
    fn words_are_wrapped_and_never_cut() {
        assert_eq!(wrap("one two three", 8, "  "), "one two\n  three");
        assert_eq!(wrap("unbreakable words", 5, ""), "unbreakable\nwords");
    }

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

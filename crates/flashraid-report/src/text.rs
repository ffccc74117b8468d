//! Formats tables as text for a terminal or a file. Also has the sentences that the program and the Python package share.

use std::io::IsTerminal;

use flashraid::memory::TooLittleMemory;
use unicode_width::UnicodeWidthStr;

use super::number::bytes;
use super::sheet::{Cell, Sheet, Tone};

/// Lines between the parts of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lines {
    Drawn,
    None,
}

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
    table(sheet, Lines::None, is_coloured()) + "\n"
}

/// Returns the length of the longest line of a compact table, in characters.
pub fn width(sheet: &Sheet) -> usize {
    table(sheet, Lines::None, false).lines().map(|line| line.chars().count()).max().unwrap_or(0)
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
    format!("{}\n{}\n", sheet.title, table(sheet, Lines::Drawn, coloured))
}

/// A narrow terminal wraps whole lines. Wrapping inside columns would split numbers.
fn table(sheet: &Sheet, lines: Lines, coloured: bool) -> String {
    let header: Vec<Cell> = sheet.header.iter().map(|text| text.as_str().into()).collect();
    let has_header = sheet.header.iter().any(|text| !text.is_empty());
    let rows: Vec<&[Cell]> = has_header.then_some(&*header).into_iter().chain(sheet.rows.iter().map(Vec::as_slice)).collect();
    let columns = rows.iter().map(|row| row.len()).max().unwrap_or(0);
    let cells = |column: usize| rows.iter().filter_map(move |row| row.get(column));
    let width = |column| cells(column).flat_map(|cell| cell.text.split('\n')).map(UnicodeWidthStr::width).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let padding = if lines == Lines::Drawn { " " } else { "" };
    let field = |column: usize, tone: Tone, part: &str| {
        let room = " ".repeat(widths[column] - part.width());
        let text = if coloured { in_colour(part, tone) } else { part.to_owned() };
        let (before, after) = if sheet.is_figure(column) { (&*room, "") } else { ("", &*room) };
        format!("{padding}{before}{text}{after}  ")
    };
    let rule = |stroke: &str| {
        (lines == Lines::Drawn).then(|| stroke.repeat(widths.iter().map(|width| width + 3).sum::<usize>().saturating_sub(1)))
    };
    let mut text = Vec::from_iter(rule("─"));
    for (index, row) in rows.iter().enumerate() {
        // A cell may have several lines.
        for at in 0..row.iter().map(|cell| cell.text.split('\n').count()).max().unwrap_or(1) {
            let part = |(column, cell): (usize, &Cell)| field(column, cell.tone, cell.text.split('\n').nth(at).unwrap_or_default());
            text.push(row.iter().enumerate().map(part).collect::<String>().trim_end().to_owned());
        }
        text.extend(rule("═").filter(|_| has_header && index == 0));
    }
    text.extend(rule("─"));
    text.join("\n")
}

fn in_colour(text: &str, tone: Tone) -> String {
    let colour = match tone {
        Tone::Plain => return text.to_owned(),
        Tone::Better => "32",
        Tone::Worse => "31",
    };
    format!("\x1b[{colour}m{text}\x1b[39m")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_wrapped_and_never_cut() {
        assert_eq!(wrap("one two three", 8, "  "), "one two\n  three");
        assert_eq!(wrap("unbreakable words", 5, ""), "unbreakable\nwords");
    }

    #[test]
    fn a_cell_may_have_several_lines() {
        let mut sheet = Sheet::new("", &["name", "value"]);
        sheet.rows.push(vec!["long\n  name".into(), "1".into()]);
        sheet.rows.push(vec!["b".into(), "23".into()]);
        assert_eq!(table(&sheet, Lines::None, false), "name    value\nlong        1\n  name\nb          23");
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
        assert!(table(&sheet, Lines::None, true).ends_with("ideal      0.17  \x1b[32m0.02\x1b[39m"), "a better figure is green");
    }
}

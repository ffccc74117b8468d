//! Checks the plain English of comments in all crates, of ARCHITECTURE.md and of CONTRIBUTING.md, as far as a machine can read it.
//!
//! The test knows nothing of meaning. It finds the habits that made older comments hard to read:
//!
//! - clauses in place of sentences,
//! - sentences of more than 25 words,
//! - fragments of fewer than four words,
//! - numbers of rules in place of reasons.

use std::fs;
use std::path::{Path, PathBuf};

/// Most characters of a line with a comment, and of a line of Markdown outside tables.
const WIDTH: usize = 140;

/// Most characters of a row of a table in Markdown, which cannot be wrapped.
const ROW_WIDTH: usize = 240;

/// Most words of a sentence.
const SENTENCE_WORDS: usize = 25;

/// Fewest words of a comment.
const COMMENT_WORDS: usize = 4;

/// Words that open a clause without a subject, or point at something that the reader has not seen.
const BAD_OPENINGS: &[&str] = &[
    "also", "and", "are", "as", "at", "but", "by", "can", "for", "from", "had", "has", "have", "he", "how", "if", "in", "is", "it", "its",
    "may", "must", "nor", "not", "of", "on", "or", "she", "since", "so", "such", "that", "their", "them", "these", "they", "those", "to",
    "was", "were", "what", "whatever", "when", "where", "whether", "which", "who", "whom", "whose", "why", "with",
];

/// Abbreviations whose full stop ends no sentence.
const ABBREVIATIONS: &[&str] = &["e.g.", "i.e.", "al.", "vs.", "etc.", "cf.", "Sec.", "Fig.", "No."];

#[test]
fn comments_are_plain_english() {
    let root = root();
    let mut found = Vec::new();
    for file in rust_files(&root.join("crates")) {
        let name = name_of(&root, &file);
        let text = fs::read_to_string(&file).expect("a source is readable");
        found.extend(of_source(&text).into_iter().map(|(line, finding)| format!("{name}:{line}: {finding}")));
    }
    assert!(found.is_empty(), "{} findings:\n{}", found.len(), found.join("\n"));
}

#[test]
fn pages_for_contributors_are_plain_english() {
    let root = root();
    let mut found = Vec::new();
    for name in ["ARCHITECTURE.md", "CONTRIBUTING.md"] {
        let text = fs::read_to_string(root.join(name)).expect("a page is readable");
        found.extend(of_page(&text).into_iter().map(|(line, finding)| format!("{name}:{line}: {finding}")));
    }
    assert!(found.is_empty(), "{} findings:\n{}", found.len(), found.join("\n"));
}

#[test]
fn each_habit_is_found() {
    let long = "/// Returns one two three four five six seven eight nine ten one two three four five six seven eight nine ten one two three four five.";
    for (source, part) in [
        ("/// What it holds, and where it lies.\n", "begins with \"What\""),
        ("//! Whether a page is there now.\n", "begins with \"Whether\""),
        ("/// The member.\n", "fewer than 4 words"),
        ("    // Rare.\n", "fewer than 4 words"),
        ("/// Returns the die of a page by rule 12.\n", "in brackets"),
        ("/// Rule 12 says which die it is.\n", "in brackets"),
        ("/// Returns the die of a page.\n/// (Rule 12.)\n", "begins a sentence"),
        (long, "26 words"),
        (&format!("// Returns {}.\n", "x".repeat(WIDTH)), "characters"),
    ] {
        let found = of_source(source);
        assert!(found.iter().any(|(_, finding)| finding.contains(part)), "{source}: {part} is not among {found:?}");
    }
    for source in [
        "/// Returns the die of a page (rule 12). It never fails (rules 13 and 14).\n",
        "/// Numbers of the dies, e.g. 3, in order.\n///\n/// ```\n/// what(is, this);\n/// ```\n",
        "let url = \"//\"; // Any.\n",
    ] {
        assert_eq!(of_source(source), [], "{source}");
    }
    assert_eq!(of_page(&format!("{}\n", "word ".repeat(40))).len(), 2, "too wide, and too long a sentence");
    assert_eq!(of_page(&format!("| {} |\n", "word ".repeat(40))), []);
}

/// Paragraph of a comment or page: the number of its first line, and its text in one line.
type Paragraph = (usize, String);

/// Returns what is wrong with the comments of a source, each with the number of its line.
fn of_source(source: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let lines: Vec<(&str, &str)> = source.lines().map(comment).collect();
    let mut first = 0;
    for block in lines.chunk_by(|(a, _), (b, _)| a == b) {
        let start = first;
        first += block.len();
        let kind = block[0].0;
        if kind.is_empty() {
            continue;
        }
        for (offset, line) in source.lines().skip(start).take(block.len()).enumerate() {
            let width = line.chars().count();
            if width > WIDTH && !line.contains("://") {
                found.push((start + offset + 1, format!("{width} characters: wrap the comment at {WIDTH}")));
            }
        }
        let texts: Vec<&str> = block.iter().map(|(_, text)| *text).collect();
        let paragraphs = paragraphs(&texts, start + 1);
        let Some((line, opening)) = paragraphs.first() else { continue };
        if kind != "//"
            && let Some(word) = opening.split(|c: char| !c.is_alphanumeric()).find(|word| !word.is_empty())
            && !opening.starts_with('`')
            && BAD_OPENINGS.contains(&word.to_lowercase().as_str())
        {
            found.push((*line, format!("begins with \"{word}\": begin with a verb (\"Returns\") or with a noun (\"The\", \"Number of\")")));
        }
        let words: usize = paragraphs.iter().map(|(_, text)| words(text)).sum();
        if words < COMMENT_WORDS && texts.iter().all(|text| !text.trim_start().starts_with("```")) {
            found.push((*line, format!("fewer than {COMMENT_WORDS} words: delete it if the name says it, or explain it")));
        }
        found.extend(paragraphs.iter().flat_map(of_paragraph));
    }
    found
}

/// Returns what is wrong with a page of Markdown, each with the number of its line.
fn of_page(page: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut is_code = false;
    for (index, line) in page.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        }
        let width = line.chars().count();
        let most = if line.starts_with('|') { ROW_WIDTH } else { WIDTH };
        if width > most && !is_code && !line.contains("://") {
            found.push((index + 1, format!("{width} characters: keep it to {most}, with one sentence a line")));
        }
    }
    found.extend(paragraphs(&page.lines().collect::<Vec<_>>(), 1).iter().flat_map(of_paragraph));
    found
}

/// Returns what is wrong with the sentences of a paragraph.
fn of_paragraph((line, text): &Paragraph) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for sentence in sentences(text) {
        let count = words(&sentence);
        if count > SENTENCE_WORDS {
            found.push((*line, format!("{count} words in a sentence: make two of it, or a list: {sentence}")));
        }
        let lower = sentence.to_lowercase();
        for (at, _) in lower.match_indices("rule") {
            let is_word = !lower[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
            let rest = lower[at + 4..].trim_start_matches('s');
            if !is_word || !rest.starts_with(' ') || !rest[1..].starts_with(|c: char| c.is_ascii_digit()) {
                continue;
            }
            let before = &lower[..at];
            if before.matches(['(', '[']).count() <= before.matches([')', ']']).count() {
                found.push((*line, format!("say the reason, and put the number of the rule in brackets after it: {sentence}")));
            } else if before.trim() == "(" {
                found.push((*line, format!("the number of a rule begins a sentence: put it behind what it backs: {sentence}")));
            }
        }
    }
    found
}

/// Splits a line of source into the marker of its comment and the text behind it; both are empty without a comment of its own.
fn comment(line: &str) -> (&str, &str) {
    let line = line.trim_start();
    ["///", "//!", "//"].iter().find_map(|marker| line.starts_with(marker).then(|| line.split_at(marker.len()))).unwrap_or_default()
}

/// Joins lines to paragraphs. Code, headings and tables are left out, and each item of a list is a paragraph.
fn paragraphs(lines: &[&str], first: usize) -> Vec<Paragraph> {
    let mut paragraphs: Vec<Paragraph> = Vec::new();
    let mut is_code = false;
    let mut is_new = true;
    for (index, line) in lines.iter().enumerate() {
        let text = line.trim();
        if text.starts_with("```") {
            is_code = !is_code;
            is_new = true;
        } else if is_code || text.is_empty() || text.starts_with(['#', '|', '<']) {
            is_new = true;
        } else if let Some(item) = text.strip_prefix("- ").or_else(|| text.strip_prefix("* ")) {
            paragraphs.push((first + index, item.to_owned()));
            is_new = false;
        } else if is_new {
            paragraphs.push((first + index, text.to_owned()));
            is_new = false;
        } else if let Some((_, paragraph)) = paragraphs.last_mut() {
            paragraph.push(' ');
            paragraph.push_str(text);
        }
    }
    paragraphs
}

/// Splits a paragraph into sentences. A full stop ends one if a blank, or nothing, follows it.
fn sentences(text: &str) -> Vec<String> {
    let mut sentences = vec![String::new()];
    for word in text.split_whitespace() {
        let last = sentences.last_mut().expect("it is never empty");
        last.push_str(word);
        last.push(' ');
        let bare = word.trim_end_matches(['"', ')', '*', '_', '”']);
        if bare.ends_with(['.', '!', '?']) && !ABBREVIATIONS.contains(&bare) {
            sentences.push(String::new());
        }
    }
    sentences.retain(|sentence| !sentence.is_empty());
    sentences
}

/// Counts words. A piece of code in backticks is one.
fn words(text: &str) -> usize {
    text.split('`')
        .enumerate()
        .map(
            |(index, part)| {
                if index % 2 == 1 { 1 } else { part.split_whitespace().filter(|word| word.contains(char::is_alphanumeric)).count() }
            },
        )
        .sum()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the crate lies two folders below").to_owned()
}

fn name_of(root: &Path, file: &Path) -> String {
    file.strip_prefix(root).expect("it was found there").to_string_lossy().replace('\\', "/")
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder of sources is readable") {
        let path = entry.expect("an entry").path();
        if path.is_dir() && path.file_name().is_some_and(|name| name != "target") {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files.sort();
    files
}

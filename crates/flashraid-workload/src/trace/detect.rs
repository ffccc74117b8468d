//! Detection of the format of a trace from its content.
//!
//! Some formats have unmistakable marks. Otherwise every parser tries the first lines, and the one that understands most of them wins.
//! Formats that differ only in the meaning of their numbers are told apart in `five_columns`. File names do not matter.

use super::columns::{Columns, TraceColumns};
use super::fields::{Fields, integer};
use super::five_columns;
use super::formats::{Detection, Format, Parser, Units, WITHOUT_OFFSETS, lacks_offsets};

/// Maximum number of lines that are examined.
const SAMPLE_LINES: usize = 4096;

/// The beginning of a trace.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sample<'a> {
    /// The first bytes, decompressed.
    pub(crate) bytes: &'a [u8],
    /// True if the sample is the whole trace.
    pub(crate) complete: bool,
    /// Columns of the trace, if the user has named them.
    pub(crate) columns: Option<&'a TraceColumns>,
}

impl<'a> Sample<'a> {
    /// Returns a sample that is the whole trace.
    #[cfg(test)]
    pub(crate) fn whole(bytes: &'a [u8]) -> Self {
        Self { bytes, complete: true, columns: None }
    }

    /// Returns the whole lines at the beginning that are neither blank nor comments (`#`), without their line ends.
    pub(super) fn lines(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let mut lines = self.bytes.split(|byte| *byte == b'\n').peekable();
        let complete = self.complete;
        std::iter::from_fn(move || {
            let line = lines.next()?;
            // The last piece may be cut in the middle.
            (complete || lines.peek().is_some()).then(|| line.strip_suffix(b"\r").unwrap_or(line))
        })
        .filter(|line| is_content(line))
        .take(SAMPLE_LINES)
    }
}

/// Returns true if a line of text is neither blank nor a comment.
pub(crate) fn is_content(line: &[u8]) -> bool {
    match line.first() {
        None | Some(b'#') => false,
        Some(b' ' | b'\t') => !line.trim_ascii().is_empty(),
        Some(_) => true,
    }
}

/// Returns the format of a trace, with notes on uncertain guesses. If no format fits, it returns an explanation.
pub(crate) fn detect(sample: &Sample<'_>) -> Result<(Format, Vec<String>), String> {
    let detected = |is: &dyn Fn(Detection) -> bool| Format::ALL.into_iter().find(|format| is(format.full_description().detection));
    let marked = detected(&|by| matches!(by, Detection::MagicBytes(mark) if sample.bytes.starts_with(mark)));
    if let Some(format) = marked {
        return Ok((format, Vec::new()));
    }
    if sample.bytes.contains(&0) {
        return match detected(&|by| matches!(by, Detection::Binary(is) if is(sample.bytes))) {
            Some(format) => Ok((format, Vec::new())),
            None => Err(format!("it is binary{}; expected vSCSI or SRT records, or text", known_binary(sample.bytes))),
        };
    }
    if let Some(what) = popularity_table(sample) {
        return Err(what);
    }
    if !sample.complete && !sample.bytes.contains(&b'\n') {
        return Err(format!(
            "its first line is longer than {} MiB, which is no line of a trace; expected a request to a line",
            sample.bytes.len() >> 20
        ));
    }
    if sample.lines().next().is_none() {
        return Err("it holds no line with content; expected a request to a line".to_owned());
    }
    let by_a_line = detected(&|by| matches!(by, Detection::Line(is, _) if sample.lines().any(is)));
    if let Some(format) = by_a_line {
        return Ok((format, Vec::new()));
    }
    let mut best = None;
    let mut best_share = (0, 0);
    let rank = |format: &Format| match format.full_description().detection {
        Detection::Line(_, rank) | Detection::TrialParse(rank) => Some(rank),
        _ => None,
    };
    let mut tried: Vec<Format> = Format::ALL.into_iter().filter(|format| rank(format).is_some()).collect();
    tried.sort_by_key(rank);
    for format in tried {
        let share = understood(format, sample);
        // Of formats that find equally many requests, the one that understands the header as well is better.
        if share.0 > best_share.0 || (share.0 == best_share.0 && share.0 > 0 && share.1 < best_share.1) {
            best = Some(format);
            best_share = share;
        }
    }
    let five = five_columns::understood(sample);
    if five.0 > best_share.0 {
        if 2 * five.0 < five.1 {
            return Err(unknown(sample));
        }
        let (format, note) = five_columns::format(sample);
        return Ok((format, vec![note]));
    }
    match best {
        Some(format) if 2 * best_share.0 >= best_share.1 => Ok((format, Vec::new())),
        _ => Err(unknown(sample)),
    }
}

/// Returns the number of requests that the parser of `format` finds in the sample, and the number of lines that it should understand.
fn understood(format: Format, sample: &Sample<'_>) -> (usize, usize) {
    let Ok(mut parser) = Parser::new(format, sample) else { return (0, 0) };
    let units = Units { time_ns: 1, sector_bytes: 1 };
    let (mut requests, mut tried) = (0, 0);
    for line in sample.lines() {
        match parser.parse(line, units) {
            Ok(Some(_)) => {
                requests += 1;
                tried += 1;
            }
            Ok(None) => {}
            Err(_) => tried += 1,
        }
    }
    (requests, tried)
}

/// Returns an error text if the sample is a table of addresses with their counts, which is no trace.
fn popularity_table(sample: &Sample<'_>) -> Option<String> {
    let mut lines = sample.lines().take(100).peekable();
    let header = lines.next_if(|line| line.iter().any(u8::is_ascii_alphabetic));
    let named = header.is_some_and(|line| {
        let name = line.to_ascii_lowercase();
        name.windows(4).any(|part| part == b"freq") || name.windows(5).any(|part| part == b"count")
    });
    let rows_are_pairs = lines.peek().is_some()
        && lines.all(|line| {
            let mut fields = Fields::separated_by(b',', line);
            let pair = [fields.next(), fields.next()];
            pair.iter().all(|field| field.and_then(integer).is_some()) && fields.next().is_none()
        });
    (rows_are_pairs && (named || header.is_none())).then(|| {
        "it is a popularity table, not a trace: each row is an address and how often it is requested, without times, lengths or order. \
         It can serve to fit the address skew of a synthetic workload"
            .to_owned()
    })
}

fn unknown(sample: &Sample<'_>) -> String {
    let line = sample.lines().next().unwrap_or_default();
    if let Err(problem) = Columns::of_header(sample)
        && !problem.starts_with("line 1")
    {
        return format!("its header names known columns, but {problem}");
    }
    if line.windows(3).any(|part| part == b"r/s")
        || sample.lines().take(8).any(|line| line.starts_with(b"Device") && line.windows(5).any(|part| part == b"%util"))
    {
        return "it is a summary of iostat, with rates and mean sizes but without requests; `flashraid import` makes a load of it"
            .to_owned();
    }
    if lacks_offsets(sample) {
        return WITHOUT_OFFSETS.to_owned();
    }
    // Sections of job files begin with a bracket, their comments with a semicolon, and tags of XML with an angle.
    let hint = if matches!(line.trim_ascii_start(), [b'[' | b';' | b'<', ..]) {
        "if it is a fio job file, or a device or workload of MQSim, `flashraid import` makes a configuration of it".to_owned()
    } else {
        format!("give the format if you know it, one of {}", Format::names())
    };
    format!("no known format fits its first lines, which begin {}; {hint}", super::fields::quote(line))
}

/// Returns the name of a kind of file that is often given by mistake, if the bytes are of such a kind.
fn known_binary(bytes: &[u8]) -> &'static str {
    if bytes.starts_with(&[0xfd, b'7', b'z', b'X', b'Z']) {
        " (xz; decompress it first, or use gzip, zstd or bzip2)"
    } else if bytes.starts_with(&[0x04, 0x22, 0x4d, 0x18]) {
        " (lz4; decompress it first, or use gzip, zstd or bzip2)"
    } else if bytes.starts_with(b"PK\x03\x04") {
        " (a zip archive; unpack it first)"
    } else if bytes.starts_with(&[b'7', b'z', 0xbc, 0xaf]) {
        " (a 7z archive; unpack it first)"
    } else if bytes.get(257..262) == Some(b"ustar") {
        " (a tar archive; unpack it first)"
    } else if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        " (perhaps UTF-16 text; save it as UTF-8)"
    } else if bytes.starts_with(b"eat\x07") {
        " (blktrace records of a big-endian machine; run blkparse on them there, and use its text)"
    } else {
        ""
    }
}

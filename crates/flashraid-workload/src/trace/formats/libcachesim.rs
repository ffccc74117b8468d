//! libCacheSim CSV: `time,obj_id,size[,op]` without a header, or columns in any order named by a header.
//!
//! Source: libCacheSim (Yang et al.). Its CSV reader must be told the columns; these are the ones of its own files. The id of the object is
//! read as a sector of 512 bytes (`sector_bytes` overrides it), and the size is in bytes. Files that were made from its binary format
//! oracleGeneral have the number of the next access as their fourth column, which does not matter.
//!
//! Times are seconds unless the numbers are too large for that (10^11 and more: ms, 10^14: µs, 10^17: ns since 1970).
//!
//! Without an op column, everything is a read unless the user says otherwise.

use super::super::columns::{Columns, Meaning, meaning_of_name, separator_of};
use super::super::detect::Sample;
use super::super::fields::{Fields, decimal_times};
use super::super::operations::Operation;
use super::super::time_unit::TimeUnit;
use super::by_columns::{ByColumns, ColumnSettings};
use super::{Detection, FormatDescription, Writing};
use crate::OpKind;

/// Parser of the format.
pub(crate) type Libcachesim = ByColumns<Settings>;

/// Settings of the reader of columns.
#[derive(Debug, Clone)]
pub(crate) struct Settings;

impl ColumnSettings for Settings {
    const DESCRIPTION: FormatDescription = FormatDescription {
        doc: "libCacheSim CSV: `time,obj_id,size[,op]`, or columns named by a header.",
        description: "libCacheSim CSV: time,obj_id,size[,op]",
        columns: "time,obj_id,size[,op], or columns named by a header",
        times: "s, guessed",
        time_unit: Some(TimeUnit::Seconds),
        sector_bytes: Some(512),
        has_devices: false,
        detection: Detection::TrialParse(9),
        sample: b"version,time,op,size,lbn\n1,5,2a,4096,100\n1,6,28,512,108\n",
        writing: Some(Writing {
            length_in_bytes: true,
            knows_discards: true,
            knows_flushes: true,
            head: |_, to| to.write_all(b"time,obj_id,size,op\n"),
            ..Writing::by(|line, to| {
                let word = if line.kind == OpKind::Flush { "flush".to_owned() } else { line.word().to_ascii_lowercase() };
                writeln!(to, "{},{},{},{word}", line.seconds(), line.sector, line.length_bytes)
            })
        }),
        ..FormatDescription::TEXT
    };
    const GUESSES_UNIT: bool = true;

    fn columns(sample: &Sample<'_>) -> Result<Columns, String> {
        let refuse =
            || "line 1: expected time,obj_id,size[,op], or a header that names the columns time, obj_id, size and perhaps op".to_owned();
        let first = sample.lines().next().unwrap_or_default();
        if separator_of(first) != Some(b',') {
            return Err(refuse());
        }
        let fields = |line| {
            let mut fields = Fields::separated_by(b',', line);
            std::iter::from_fn(move || fields.next()).collect::<Vec<&[u8]>>()
        };
        let first = fields(first);
        if decimal_times(first.first().unwrap_or(&&b""[..]), 0).is_ok() {
            if ![3, 4].contains(&first.len()) {
                return Err(refuse());
            }
            let is_op = |line| fields(line).get(3).is_some_and(|op| Operation::of_word(op).is_some());
            let all = match first.len() {
                4 if sample.lines().take(100).all(is_op) => "time,address:sectors,length,op",
                _ => "time,address:sectors,length",
            };
            return Ok(Columns::at_places(&all.parse()?, Some(b',')));
        }
        let names: Vec<String> = first.iter().map(|name| String::from_utf8_lossy(name).to_ascii_lowercase()).collect();
        let is_own = |name: &String| OWN_NAMES.contains(&name.as_str());
        // Units and devices are beyond this format.
        let is_beyond = |name: &String| meaning_of_name(name).is_some_and(|(meaning, unit)| unit.is_some() || meaning == Meaning::Device);
        if !names.iter().any(is_own) || names.iter().any(is_beyond) {
            return Err(refuse());
        }
        Columns::of_header(sample)
    }
}

/// Names of the column with the id of the object.
const OWN_NAMES: [&str; 7] = ["obj_id", "obj", "object", "object_id", "id", "key", "lbn"];

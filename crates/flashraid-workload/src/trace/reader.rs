//! Reads the requests of a trace in the order of the file: opens it, detects its format, and parses line after line.

use super::compression::{Compression, Origin};
use super::detect::{Sample, detect, is_content};
use super::fields::FieldError;
use super::five_columns::Times;
use super::formats::{Format, Parser, TraceFormat, Units};
use super::input::Input;
use super::measured::MeasuredHistograms;
use super::record::{NumberedRecord, TraceRecord};
use super::spec::{DiscardPolicy, FlushPolicy, TraceSpec};
use super::time_question;
use super::time_unit::TimeUnit;
use crate::units::count_with_noun;
use crate::{OpKind, SourceError};

/// Facts about a trace that were found when it was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceProperties {
    /// Name of the trace for messages.
    pub name: String,
    /// Compression of the file.
    pub compression: Compression,
    /// Format of the trace, given by the user or detected.
    pub format: Format,
    /// Unit of the time stamps, given or detected. It is `None` if the format leaves no choice or the trace has no times.
    pub time_unit: Option<TimeUnit>,
    /// False if the trace has an order but no times.
    pub(crate) has_times: bool,
    /// Notes for the user: every guess, and the setting that overrides it.
    pub notes: Vec<String>,
}

/// Counts of everything that was left out while reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub struct SkippedRecords {
    /// Number of lines or records that could not be understood. It is 0 without `skip_bad_lines`.
    pub bad_lines: u64,
    /// Number of requests of length 0, which move no data.
    pub zero_length: u64,
    /// Number of requests of devices that the user did not choose.
    pub other_devices: u64,
    /// Number of discards that were ignored because the settings say so.
    pub discards: u64,
    /// Number of requests that repeat another one. It is 0 without `drop_repeats_within_ns`.
    pub repeats: u64,
    /// Number of flushes that were ignored because the settings say so.
    pub flushes: u64,
    /// Number of commands that move no data and are no flushes.
    pub without_data: u64,
}

/// Longest time between two requests that follow each other: a year. Traces of two clocks, one of which began at the start of a machine and
/// the other in 1970, jump by decades.
const JUMP_MAX_NS: u64 = 365 * 86_400 * 1_000_000_000;

/// The requests of a trace in the order of the file.
pub(crate) struct Records {
    parser: Parser,
    pub(super) lines: Lines,
}

/// The lines or binary records of a trace, with all counts and notes that are made while they are read.
pub(crate) struct Lines {
    input: Input,
    units: Units,
    skip_bad_lines: bool,
    discards: DiscardPolicy,
    flushes: FlushPolicy,
    /// Number of requests returned so far.
    requests: u64,
    /// Number of lines or binary records read so far.
    last_number: u64,
    /// True until the first line with content has been read, because only that line may be a header.
    at_head: bool,
    /// Time of the request that was read last.
    last_time_ns: Option<u64>,
    pub(crate) facts: TraceProperties,
    pub(crate) skipped: SkippedRecords,
}

impl Records {
    /// Opens a trace and detects its format.
    pub(super) fn open(spec: &TraceSpec, origin: &Origin) -> Result<Self, SourceError> {
        let name = spec.path.display().to_string();
        let mut input = Input::open(&name, origin)?;
        let refuse = |what: String| SourceError::InvalidInput(format!("{name}: {what}"));
        let (bytes, complete) = input.sample();
        let sample = Sample { bytes, complete, columns: spec.columns.as_ref() };
        let (format, mut notes) = match (&spec.columns, spec.format) {
            (Some(_), None | Some(Format::Columns)) => (Format::Columns, Vec::new()),
            (Some(columns), Some(format)) => {
                return Err(refuse(format!(
                    "columns = \"{columns}\" describes a trace of the format columns, not {format}; leave one out"
                )));
            }
            (None, Some(format)) => (format, Vec::new()),
            (None, None) => detect(&sample).map_err(refuse)?,
        };
        let mut parser = Parser::new(format, &sample).map_err(refuse)?;
        check_options(spec, format, &parser).map_err(refuse)?;
        let times = match spec.time_unit {
            Some(unit) => Times::In(unit),
            None => parser.time_stamp_unit(&sample, &mut notes),
        };
        if let (None, Times::In(unit)) = (spec.time_unit, times)
            && !parser.is_unit_certain()
        {
            time_question::question(format, unit, &sample).map_or(Ok(()), Err).map_err(refuse)?;
        }
        if !parser.tells_direction() {
            match spec.assumed_direction {
                Some(direction) => parser.treat_all_as_kind(direction),
                None => notes.push("directions: there is no op column, so all requests are reads; direction overrules it".to_owned()),
            }
        }
        notes.extend(parser.interpretation_note());
        let time_ns = match times {
            Times::In(unit) => unit.ns(),
            Times::None => 0,
        };
        let sector_bytes = spec.sector_bytes.or(format.sector_bytes()).unwrap_or(1).into();
        let mut facts = TraceProperties {
            name: name.clone(),
            compression: input.compression(),
            format,
            time_unit: match times {
                Times::In(unit) if format.time_unit().is_some() => Some(unit),
                _ => None,
            },
            has_times: times != Times::None,
            notes,
        };
        format.skip_head(&mut input)?;
        let units = Units { time_ns, sector_bytes };
        if parser.is_by_end() {
            facts.notes.push("order: requests are listed as they end; they are sorted by their beginnings".to_owned());
        }
        let lines = Lines {
            input,
            units,
            skip_bad_lines: spec.skip_bad_lines,
            discards: spec.discards,
            flushes: spec.flushes,
            requests: 0,
            last_number: 0,
            at_head: format.full_description().may_have_header,
            last_time_ns: None,
            facts,
            skipped: SkippedRecords::default(),
        };
        Ok(Self { parser, lines })
    }

    /// Appends the next `count` requests to `records`, or fewer at the end, and returns their number.
    pub(super) fn append_next(&mut self, records: &mut Vec<NumberedRecord>, count: usize) -> Result<usize, SourceError> {
        self.parser.append_next(&mut self.lines, records, count)
    }

    /// Returns the number of requests that the format skipped because they move no data.
    pub(super) fn without_data(&self) -> u64 {
        self.parser.requests_without_data()
    }

    /// Begins to measure response times, as far as the format has lines at the ends of requests.
    pub(super) fn measure(&mut self) {
        self.parser.measure();
    }

    /// Returns the response times that were measured from the beginnings and ends of requests.
    pub(super) fn measured(&self) -> Option<&MeasuredHistograms> {
        self.parser.measured()
    }

    /// Returns true if requests are listed in the order of their ends.
    pub(super) fn is_by_end(&self) -> bool {
        self.parser.is_by_end()
    }

    /// Returns a note for the user, to be shown when the trace has been read.
    pub(crate) fn note_at_end(&self) -> Option<String> {
        self.parser.note_at_end()
    }

    /// Returns the name of a device in the trace.
    pub(crate) fn device_label(&self, device: u32) -> String {
        self.parser.device_label(device)
    }
}

impl Lines {
    /// Appends the next `count` requests to `records`, or fewer at the end, and returns their number. If a line is bad, the requests before
    /// it have been appended.
    ///
    /// The compiler makes one such loop for each format, so that lines are parsed without a choice of the format for each.
    pub(super) fn append_next<F: TraceFormat>(
        &mut self,
        format: &mut F,
        records: &mut Vec<NumberedRecord>,
        count: usize,
    ) -> Result<usize, SourceError> {
        let begin = records.len();
        while records.len() - begin < count {
            if let Some(record) = format.take_second() {
                records.push(NumberedRecord { number: self.last_number, record });
                continue;
            }
            let Some(bytes) = format.next(&mut self.input)? else {
                self.requests += (records.len() - begin) as u64;
                self.refuse_lost_events(format.events_lost())?;
                return Ok(records.len() - begin);
            };
            self.last_number += 1;
            if F::DESCRIPTION.is_text && !is_content(bytes) {
                continue;
            }
            let may_be_header = std::mem::take(&mut self.at_head) && matches!(bytes.first(), Some(b'A'..=b'Z' | b'a'..=b'z' | b'"'));
            let parsed = format.parse(bytes, self.units);
            if let Ok(Some(TraceRecord { time_ns, .. })) = parsed {
                if let Some(last_ns) = self.last_time_ns.filter(|last_ns| last_ns.abs_diff(time_ns) > JUMP_MAX_NS) {
                    if !self.skip_bad_lines {
                        return Err(self.complain_of_clocks(last_ns, time_ns));
                    }
                    format.take_second();
                    self.skipped.bad_lines += 1;
                    continue;
                }
                self.last_time_ns = Some(time_ns);
            }
            match parsed {
                Ok(Some(record)) if record.kind == OpKind::Trim && self.discards == DiscardPolicy::Ignore => self.skipped.discards += 1,
                Ok(Some(record)) if record.length_bytes == 0 => {
                    if record.kind != OpKind::Flush {
                        self.skipped.zero_length += 1;
                    } else if self.flushes == FlushPolicy::Ignore {
                        self.skipped.flushes += 1;
                    } else {
                        records.push(NumberedRecord { number: self.last_number, record });
                    }
                }
                Ok(Some(record)) => records.push(NumberedRecord { number: self.last_number, record }),
                Ok(None) => {}
                Err(_) if may_be_header => self.facts.notes.push(format!("line {}: passed over as a header", self.last_number)),
                Err(_) if self.skip_bad_lines => self.skipped.bad_lines += 1,
                Err(bad) => return Err(self.complain(&bad)),
            }
        }
        self.requests += (records.len() - begin) as u64;
        Ok(records.len() - begin)
    }

    /// Refuses a trace of which too much was lost while it was recorded. Fewer lost events make a note.
    fn refuse_lost_events(&mut self, lost: u64) -> Result<(), SourceError> {
        if lost == 0 {
            return Ok(());
        }
        let lost_events = count_with_noun(lost, "event");
        if lost * 100 > self.requests {
            return Err(SourceError::InvalidInput(format!(
                "{}: the recorder lost {lost_events} beside {} that were kept, which is more than 1 %; record again with larger buffers",
                self.facts.name,
                count_with_noun(self.requests, "request")
            )));
        }
        let note = format!("lost: the recorder lost {lost_events}, which are missing here");
        if !self.facts.notes.contains(&note) {
            self.facts.notes.push(note);
        }
        Ok(())
    }

    /// Returns a place for messages, such as `line 12`, from the number of a line or binary record.
    pub(super) fn place(&self, number: u64) -> String {
        let kind = if self.facts.format.is_text() { "line" } else { "record" };
        format!("{kind} {number}")
    }

    /// Returns the share of the file that was read so far, from 0 to 1. It is `None` if the length of the file is unknown.
    pub(super) fn progress(&self) -> Option<f64> {
        self.input.progress()
    }

    #[cold]
    fn complain_of_clocks(&self, last_ns: u64, time_ns: u64) -> SourceError {
        let seconds = |ns: u64| ns as f64 / 1e9;
        let (direction, years) = (if time_ns > last_ns { "on" } else { "back" }, last_ns.abs_diff(time_ns) as f64 / JUMP_MAX_NS as f64);
        SourceError::InvalidInput(format!(
            "{}: {}: the time goes {direction} by {years:.1} years, from {:.3} s to {:.3} s, as with two clocks; \
             read the requests of each clock as a trace of its own, or set skip_bad_lines to leave those of the second one out",
            self.facts.name,
            self.place(self.last_number),
            seconds(last_ns),
            seconds(time_ns),
        ))
    }

    #[cold]
    fn complain(&self, bad: &FieldError) -> SourceError {
        let column = if self.facts.format.is_text() { "column" } else { "byte" };
        SourceError::InvalidInput(format!(
            "{}: {}, {column} {}: found {}, expected {} (format {}); correct the line, or set skip_bad_lines to leave such lines out",
            self.facts.name,
            self.place(self.last_number),
            bad.column,
            bad.found,
            bad.expected,
            self.facts.format,
        ))
    }
}

/// Returns an error for options that would have no effect.
fn check_options(spec: &TraceSpec, format: Format, parser: &Parser) -> Result<(), String> {
    if spec.time_unit.is_some() && format.time_unit().is_none() {
        return Err(format!("time_unit can't be chosen: the format {format} has seconds and microseconds in fields of their own"));
    }
    match spec.sector_bytes {
        Some(_) if !parser.counts_sectors() => {
            return Err(format!("sector_bytes has no meaning: this trace of the format {format} counts bytes"));
        }
        Some(bytes) if bytes == 0 || bytes > 1 << 30 => {
            return Err(format!("sector_bytes is {bytes}; allowed are 1 to 1073741824"));
        }
        _ => {}
    }
    if spec.assumed_direction.is_some() && parser.tells_direction() {
        return Err("direction can't be chosen: the trace tells reads from writes itself".to_owned());
    }
    Ok(())
}

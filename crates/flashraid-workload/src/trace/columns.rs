//! Reads lines whose columns have names: those of a header line, those that the user gives, or those of a known format.
//!
//! A list of columns is a text such as `time:us,op,address:512,length:512,device,-,response`. Each item is a meaning, perhaps with a unit.
//! Alternatively, each item names a column of the header: `time=Timestamp:s,address=lbn:512`.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::detect::Sample;
use super::fields::{FieldResult, Fields, decimal_times};
use super::formats::Units;
use super::names::Names;
use super::operations::Operation;
use super::record::{MAX_OFFSET_BYTES, MAX_REQUEST_BYTES, TIME_STAMP_END_NS, TraceRecord};
use super::time_unit::TimeUnit;
use crate::OpKind;

/// Meaning of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// Time at which the request begins.
    Time,
    /// Time at which the request ends, with its unit if that differs from the one of the beginning.
    End(Option<TimeUnit>),
    /// Kind of the request.
    Op,
    /// Kind of the request as a number, where this number stands for reads and the other one of 0 and 1 for writes.
    OpNumber(u8),
    /// Address of the first byte, counted in units of so many bytes.
    Address(CountedIn),
    /// Length, counted in units of so many bytes.
    Length(CountedIn),
    /// Number or name of the device.
    Device,
    /// Time that the request took.
    Response(Option<TimeUnit>),
    /// A column that is not empty, `0`, `false` or `no` for a flush.
    Flush,
    /// A column that does not matter.
    Nothing,
}

/// Unit of an address or a length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CountedIn {
    /// Sectors, whose size the user may choose.
    Sectors,
    /// Pieces of this number of bytes.
    Bytes(u64),
}

impl CountedIn {
    fn bytes(self, units: Units) -> u64 {
        match self {
            Self::Sectors => units.sector_bytes,
            Self::Bytes(bytes) => bytes,
        }
    }
}

/// An item of a list of columns.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Item {
    meaning: Meaning,
    /// Unit of the times of the trace, if the item gives it.
    time_unit: Option<TimeUnit>,
    /// Name in the header, in lower case.
    header_name: Option<String>,
}

/// Units of the beginnings and of the ends of requests, as far as the columns say them.
struct TimeUnits {
    begin: Option<TimeUnit>,
    end: Option<TimeUnit>,
}

impl TimeUnits {
    fn of(items: &[Item]) -> Self {
        let of = |is: fn(Meaning) -> bool| items.iter().filter(|item| is(item.meaning)).find_map(|item| item.time_unit);
        Self { begin: of(|meaning| meaning == Meaning::Time), end: of(|meaning| matches!(meaning, Meaning::End(_))) }
    }

    /// Gives the ends a unit of their own if it differs from the one of the beginnings. Returns the unit of all other times.
    fn enter(self, plan: &mut [Meaning]) -> Option<TimeUnit> {
        let own = self.end.filter(|end| self.begin.is_some_and(|begin| begin != *end));
        plan.iter_mut().filter(|meaning| matches!(meaning, Meaning::End(_))).for_each(|meaning| *meaning = Meaning::End(own));
        self.begin.or(self.end)
    }
}

/// A list of the columns of a trace, as users write it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceColumns {
    text: String,
    items: Vec<Item>,
}

/// Form of an item, for messages.
const ITEMS: &str = "time, end, op, address, length, device, response, flush, or - for a column that does not matter; units follow a \
                     colon, such as time:us, address:512, length:1, response:ms, op:0=read";

impl FromStr for TraceColumns {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let items = text.split(',').map(|item| item_of(item.trim())).collect::<Result<Vec<_>, _>>()?;
        let named = items.iter().filter(|item| item.header_name.is_some()).count();
        if named > 0 && named < items.len() {
            return Err(format!("columns \"{text}\": either all items name a column of the header (time=Timestamp), or none does"));
        }
        let count = |is: fn(Meaning) -> bool| items.iter().filter(|item| is(item.meaning)).count();
        type IsOfKind = fn(Meaning) -> bool;
        let of_one_kind: [(&str, IsOfKind); 7] = [
            ("time", |meaning| meaning == Meaning::Time),
            ("end", |meaning| matches!(meaning, Meaning::End(_))),
            ("op", |meaning| matches!(meaning, Meaning::Op | Meaning::OpNumber(_))),
            ("address", |meaning| matches!(meaning, Meaning::Address(_))),
            ("length", |meaning| matches!(meaning, Meaning::Length(_))),
            ("device", |meaning| meaning == Meaning::Device),
            ("response", |meaning| matches!(meaning, Meaning::Response(_))),
        ];
        for (name, is) in of_one_kind {
            match count(is) {
                0 if ["address", "length"].contains(&name) => return Err(format!("columns \"{text}\": {name} is missing")),
                0 | 1 => {}
                _ => return Err(format!("columns \"{text}\": {name} is named twice")),
            }
        }
        Ok(Self { text: text.to_owned(), items })
    }
}

/// Reads one item of a list.
fn item_of(text: &str) -> Result<Item, String> {
    let refuse = || format!("column \"{text}\" is not known; allowed are {ITEMS}");
    let (meaning, unit) = text.split_once(':').map_or((text, None), |(meaning, unit)| (meaning.trim(), Some(unit.trim())));
    let (meaning, header_name) = match meaning.split_once('=') {
        Some((meaning, name)) => (meaning.trim(), Some(name.trim().to_ascii_lowercase())),
        None => (meaning, None),
    };
    let time_unit = || match unit {
        None => Ok(None),
        Some(unit) => unit.parse::<TimeUnit>().map(Some).map_err(|error| format!("column \"{text}\": {error}")),
    };
    let bytes = |default: CountedIn| match unit {
        None => Ok(default),
        Some("sectors") => Ok(CountedIn::Sectors),
        Some("bytes") => Ok(CountedIn::Bytes(1)),
        Some(unit) => unit
            .parse()
            .ok()
            .filter(|bytes| (1..=1 << 30).contains(bytes))
            .map(CountedIn::Bytes)
            .ok_or_else(|| format!("column \"{text}\": its unit is a number of bytes from 1 to 1073741824, or sectors")),
    };
    let without_unit = |meaning: Meaning| if unit.is_some() { Err(refuse()) } else { Ok(meaning) };
    let mut of_times = None;
    let meaning = match meaning {
        "time" => {
            of_times = time_unit()?;
            Meaning::Time
        }
        "end" => {
            of_times = time_unit()?;
            Meaning::End(None)
        }
        "op" => match unit {
            None => Meaning::Op,
            Some("0=read" | "1=write") => Meaning::OpNumber(0),
            Some("0=write" | "1=read") => Meaning::OpNumber(1),
            Some(_) => return Err(format!("column \"{text}\": op has no unit; numbers are explained by op:0=read or op:0=write")),
        },
        "address" => Meaning::Address(bytes(CountedIn::Bytes(1))?),
        "length" => Meaning::Length(bytes(CountedIn::Bytes(1))?),
        "device" => without_unit(Meaning::Device)?,
        "response" => Meaning::Response(time_unit()?),
        "flush" => without_unit(Meaning::Flush)?,
        "-" | "" => without_unit(Meaning::Nothing)?,
        _ => return Err(refuse()),
    };
    Ok(Item { meaning, time_unit: of_times, header_name })
}

impl fmt::Display for TraceColumns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Serialize for TraceColumns {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for TraceColumns {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for TraceColumns {
    fn schema_name() -> Cow<'static, str> {
        "TraceColumns".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "description": "A list of the columns of a trace, such as \"time:us,op,address:512,length:512\"." })
    }
}

/// Parser of lines with named columns.
#[derive(Debug, Clone)]
pub(crate) struct Columns {
    /// Meanings from the first column to the last that matters.
    plan: Vec<Meaning>,
    separator: Option<u8>,
    /// True if the line must end after the last column.
    ends_there: bool,
    /// True until the header line has been passed over.
    header_ahead: bool,
    /// Unit of the times, if it is certain.
    time_unit: Option<TimeUnit>,
    /// Kind of all requests if no column tells it.
    kind: OpKind,
    devices: Devices,
    /// Write that the flush of the same line precedes.
    second: Option<TraceRecord>,
    without_data: u64,
}

/// Meaning of the devices in a column.
#[derive(Debug, Clone)]
enum Devices {
    /// No device has been seen.
    Unknown,
    /// Devices are numbers, as the column has them.
    Numbers,
    /// Devices have names, numbered in order of appearance.
    Named(Names),
}

impl Columns {
    /// Returns the parser for columns at fixed places.
    pub(crate) fn at_places(columns: &TraceColumns, separator: Option<u8>) -> Self {
        let mut plan: Vec<Meaning> = columns.items.iter().map(|item| item.meaning).collect();
        let time_unit = TimeUnits::of(&columns.items).enter(&mut plan);
        Self::of_plan(plan, separator, time_unit)
    }

    /// Returns the parser for the columns of a known format.
    pub(crate) fn of_known(columns: &str, separator: Option<u8>) -> Self {
        Self { ends_there: true, ..Self::at_places(&columns.parse().expect("columns of a known format"), separator) }
    }

    /// Returns the parser for a trace with these columns, which the user has named. Items with names of the header are looked up in the
    /// first line.
    pub(crate) fn of_user(columns: &TraceColumns, sample: &Sample<'_>) -> Result<Self, String> {
        let line = sample.lines().next().unwrap_or_default();
        let separator = separator_of(line);
        if columns.items.iter().all(|item| item.header_name.is_none()) {
            return Ok(Self::at_places(columns, separator));
        }
        let names = header_names(line, separator);
        let mut plan = vec![Meaning::Nothing; names.len()];
        for item in &columns.items {
            let wanted = item.header_name.as_deref().unwrap_or_default();
            let place = names
                .iter()
                .position(|name| name == wanted)
                .ok_or_else(|| format!("line 1: there is no column \"{wanted}\" in the header; it has {}", names.join(", ")))?;
            plan[place] = item.meaning;
        }
        let time_unit = TimeUnits::of(&columns.items).enter(&mut plan);
        Ok(Self { header_ahead: true, ..Self::of_plan(plan, separator, time_unit) })
    }

    /// Returns the parser for the columns that the header line names. An error explains what is missing.
    pub(crate) fn of_header(sample: &Sample<'_>) -> Result<Self, String> {
        let mut lines = sample.lines();
        let header = lines.next().unwrap_or_default();
        let separator = separator_of(header);
        let mut items: Vec<Item> = Vec::new();
        let mut plan: Vec<Meaning> = Vec::new();
        for name in header_names(header, separator) {
            let mut meaning = Meaning::Nothing;
            if let Some(known) = known_name(&name) {
                // The first column with a meaning has it.
                if !plan.iter().any(|other| std::mem::discriminant(other) == std::mem::discriminant(&known.meaning)) {
                    meaning = known.meaning;
                    items.push(known);
                }
            }
            plan.push(meaning);
        }
        // MSR's traces name disks by host and number together.
        if header_names(header, separator).iter().any(|name| name == "hostname") {
            return Err("line 1: expected no column hostname, which traces of MSR have".to_owned());
        }
        let is_known = plan.iter().filter(|meaning| **meaning != Meaning::Nothing).count() >= 3;
        let lacks = |is: fn(&Meaning) -> bool| !plan.iter().any(is);
        if !is_known || lacks(|meaning| matches!(meaning, Meaning::Address(_))) || lacks(|meaning| matches!(meaning, Meaning::Length(_))) {
            return Err("line 1: expected a header with the names of the columns, such as time,op,address,length,device,response; \
                        columns says their meaning otherwise"
                .to_owned());
        }
        if let Some(place) = plan.iter().position(|meaning| *meaning == Meaning::Op) {
            let is_number = |line: &[u8]| matches!(field(line, separator, place), Some(b"0" | b"1"));
            if lines.take(100).all(is_number) {
                return Err(format!(
                    "column {} holds 0 and 1, and its name does not say which of them is a read; name the columns, with op:0=read or \
                     op:0=write (columns)",
                    place + 1
                ));
            }
        }
        let time_unit = TimeUnits::of(&items).enter(&mut plan);
        Ok(Self { header_ahead: true, ..Self::of_plan(plan, separator, time_unit) })
    }

    /// Returns the parser for events that all have these columns, separated by commas, and this kind.
    pub(crate) fn of_events(plan: Vec<Meaning>, kind: OpKind) -> Self {
        Self::of_plan(plan, Some(b','), None).of_kind(kind)
    }

    fn of_plan(mut plan: Vec<Meaning>, separator: Option<u8>, time_unit: Option<TimeUnit>) -> Self {
        while plan.last() == Some(&Meaning::Nothing) {
            plan.pop();
        }
        Self {
            plan,
            separator,
            ends_there: false,
            header_ahead: false,
            time_unit,
            kind: OpKind::Read,
            devices: Devices::Unknown,
            second: None,
            without_data: 0,
        }
    }

    /// Returns the parser with a header line before the first request.
    pub(crate) fn after_header(self) -> Self {
        Self { header_ahead: true, ..self }
    }

    /// Returns the parser for requests that are all of this kind.
    pub(crate) fn of_kind(self, kind: OpKind) -> Self {
        Self { kind, ..self }
    }

    /// Returns true if a column tells the kind of a request.
    pub(crate) fn has_kinds(&self) -> bool {
        self.plan.iter().any(|meaning| matches!(meaning, Meaning::Op | Meaning::OpNumber(_)))
    }

    /// Returns true if a column has times.
    pub(crate) fn has_times(&self) -> bool {
        self.plan.iter().any(|meaning| matches!(meaning, Meaning::Time | Meaning::End(_)))
    }

    /// Returns true if the requests are listed in the order of their ends.
    pub(crate) fn is_by_end(&self) -> bool {
        self.plan.iter().any(|meaning| matches!(meaning, Meaning::End(_)))
    }

    /// Returns true if addresses or lengths count sectors of a size that the user may choose.
    pub(crate) fn counts_sectors(&self) -> bool {
        self.plan.iter().any(|meaning| matches!(meaning, Meaning::Address(CountedIn::Sectors) | Meaning::Length(CountedIn::Sectors)))
    }

    /// Returns the unit of the times if the columns say it.
    pub(crate) fn certain_time_unit(&self) -> Option<TimeUnit> {
        self.time_unit
    }

    /// Returns the unit in which the first time stamp of the sample makes sense. It counts from 1970, or in ticks of Windows from 1601.
    pub(crate) fn guessed_time_unit(&self, sample: &Sample<'_>) -> TimeUnit {
        let place = self.plan.iter().position(|meaning| matches!(meaning, Meaning::Time | Meaning::End(_))).unwrap_or(0);
        let first = sample.lines().find_map(|line| decimal_times(field(line, self.separator, place)?, 1).ok());
        match first.unwrap_or(0) {
            0..100_000_000_000 => TimeUnit::Seconds,
            100_000_000_000..100_000_000_000_000 => TimeUnit::Milliseconds,
            100_000_000_000_000..100_000_000_000_000_000 => TimeUnit::Microseconds,
            100_000_000_000_000_000..500_000_000_000_000_000 => TimeUnit::Ticks,
            500_000_000_000_000_000.. => TimeUnit::Nanoseconds,
        }
    }

    /// Returns a description of the columns, for a note.
    pub(crate) fn description(&self) -> String {
        let unit = |counted: CountedIn| match counted {
            CountedIn::Sectors => "sectors".to_owned(),
            CountedIn::Bytes(1) => "bytes".to_owned(),
            CountedIn::Bytes(bytes) => format!("{bytes} B"),
        };
        let described = |(place, meaning): (usize, &Meaning)| {
            let what = match meaning {
                Meaning::Time => "time".to_owned(),
                Meaning::End(_) => "end".to_owned(),
                Meaning::Op => "op".to_owned(),
                Meaning::OpNumber(read) => format!("op ({read} = read)"),
                Meaning::Address(counted) => format!("address ({})", unit(*counted)),
                Meaning::Length(counted) => format!("length ({})", unit(*counted)),
                Meaning::Device => "device".to_owned(),
                Meaning::Response(_) => "response".to_owned(),
                Meaning::Flush => "flush".to_owned(),
                Meaning::Nothing => return None,
            };
            Some(format!("{} {what}", place + 1))
        };
        let all: Vec<String> = self.plan.iter().enumerate().filter_map(described).collect();
        format!("columns: {}; columns overrules it", all.join(", "))
    }

    /// Returns the name of a device.
    pub(crate) fn device_label(&self, device: u32) -> String {
        match &self.devices {
            Devices::Named(names) => names.name(device).unwrap_or_else(|| device.to_string()),
            _ => device.to_string(),
        }
    }

    /// Returns the number of lines so far that were no requests.
    pub(crate) fn without_data(&self) -> u64 {
        self.without_data
    }

    /// Returns the write that belongs to the flush which the last line gave, if there is one.
    #[inline]
    pub(crate) fn take_second(&mut self) -> Option<TraceRecord> {
        self.second.take()
    }

    /// Parses a line. Returns `None` for one that is correct but no request.
    #[inline]
    pub(crate) fn parse(&mut self, line: &[u8], units: Units) -> FieldResult<Option<TraceRecord>> {
        if std::mem::take(&mut self.header_ahead) {
            return Ok(None);
        }
        let mut fields = match self.separator {
            None => Fields::blank(line),
            Some(separator) => Fields::separated_by(separator, line),
        };
        let mut record = TraceRecord::new(0, 0, 0, 0, self.kind);
        let (mut begin_ns, mut end_ns, mut response_ns) = (None, None, 0);
        let mut flush_before = false;
        for meaning in &self.plan {
            match *meaning {
                Meaning::Time => begin_ns = Some(fields.time_ns(units.time_ns, "the time (a number)")?),
                Meaning::End(unit) => {
                    let unit_ns = unit.map_or(units.time_ns, TimeUnit::ns);
                    end_ns = Some(fields.time_ns(unit_ns, "the time of the end (a number)")?);
                }
                Meaning::Address(counted) => {
                    let number = fields.integer_or_hexadecimal("the address (a whole number)")?;
                    let bytes = number.checked_mul(counted.bytes(units)).filter(|bytes| *bytes <= MAX_OFFSET_BYTES);
                    record.offset_bytes = bytes.ok_or_else(|| fields.error("an address below 2^60 bytes (1 EiB)"))?;
                }
                Meaning::Length(counted) => {
                    let number = fields.integer_or_hexadecimal("the length (a whole number)")?;
                    let bytes = number.checked_mul(counted.bytes(units)).filter(|bytes| *bytes <= MAX_OFFSET_BYTES);
                    record.length_bytes = bytes.ok_or_else(|| fields.error("a length of at most 1 GiB"))?;
                }
                Meaning::Op => {
                    let expected = "the operation: R, W, read, write, trim, flush, a SCSI opcode such as 2a, …";
                    let operation = match fields.text(expected)? {
                        b"R" | b"r" => Operation { kind: Some(OpKind::Read), ..Operation::default() },
                        b"W" | b"w" => Operation { kind: Some(OpKind::Write), ..Operation::default() },
                        text => Operation::of_word(text).ok_or_else(|| fields.error(expected))?,
                    };
                    let Some(kind) = operation.kind else {
                        self.without_data += 1;
                        return Ok(None);
                    };
                    (record.kind, record.fua, record.zeroes) = (kind, operation.fua, operation.zeroes);
                    flush_before = operation.flush_before;
                }
                Meaning::OpNumber(read) => {
                    let expected = "the operation: 0 or 1";
                    record.kind = match fields.text(expected)? {
                        [digit @ (b'0' | b'1')] if digit - b'0' == read => OpKind::Read,
                        b"0" | b"1" => OpKind::Write,
                        _ => return Err(fields.error(expected)),
                    };
                }
                Meaning::Device => record.device = self.devices.number(&mut fields)?,
                Meaning::Response(unit) => {
                    let expected = "the response time (a number, or nothing)";
                    let text = fields.text(expected)?;
                    // Recorders that have not seen the end of a request leave its column empty.
                    if !text.trim_ascii().is_empty() {
                        let times = decimal_times(text.trim_ascii(), unit.map_or(units.time_ns, TimeUnit::ns));
                        response_ns = times.ok().filter(|ns| *ns < TIME_STAMP_END_NS).ok_or_else(|| fields.error(expected))?;
                    }
                }
                Meaning::Flush => {
                    let text = fields.text("a mark for flushes")?;
                    let is_flush = !["", "0", "false", "no", "-"].iter().any(|no| text.eq_ignore_ascii_case(no.as_bytes()));
                    if is_flush {
                        record.kind = OpKind::Flush;
                    }
                }
                Meaning::Nothing => fields.skip("as many columns as the first line has")?,
            }
        }
        if self.ends_there {
            fields.end("the end of the line after its columns")?;
        }
        if record.length_bytes > MAX_REQUEST_BYTES && record.kind != OpKind::Trim && !record.zeroes {
            return Err(fields.error("a length of at most 1 GiB"));
        }
        record.time_ns = match (begin_ns, end_ns) {
            (Some(begin_ns), Some(end_ns)) => {
                response_ns = end_ns.saturating_sub(begin_ns);
                begin_ns
            }
            (Some(begin_ns), None) => begin_ns,
            (None, Some(end_ns)) => end_ns.saturating_sub(response_ns),
            (None, None) => 0,
        };
        record = record.with_response_ns(response_ns);
        if record.kind == OpKind::Flush {
            return Ok(Some(TraceRecord::flush(record.time_ns, record.device).with_response_ns(response_ns)));
        }
        if flush_before {
            self.second = Some(record);
            return Ok(Some(TraceRecord::flush(record.time_ns, record.device)));
        }
        Ok(Some(record))
    }
}

impl Devices {
    /// Reads the device of a line.
    #[inline]
    fn number(&mut self, fields: &mut Fields<'_>) -> FieldResult<u32> {
        if let Self::Numbers = self {
            return fields.device("the number of the device");
        }
        let text = fields.text("the device")?;
        if let Self::Named(names) = self {
            return Ok(names.number(text));
        }
        match std::str::from_utf8(text).ok().and_then(|text| text.parse::<u32>().ok()) {
            Some(number) => {
                *self = Self::Numbers;
                Ok(number)
            }
            None => {
                *self = Self::Named(Names::default());
                self.number_of_first(text)
            }
        }
    }

    #[cold]
    fn number_of_first(&mut self, text: &[u8]) -> FieldResult<u32> {
        match self {
            Self::Named(names) => Ok(names.number(text)),
            _ => Ok(0),
        }
    }
}

/// Returns the byte that separates the columns of a line, or `None` for blanks.
pub(crate) fn separator_of(line: &[u8]) -> Option<u8> {
    [b',', b';', b'\t'].into_iter().find(|separator| line.iter().filter(|byte| *byte == separator).count() >= 2)
}

/// Returns the field of a line at this place.
fn field(line: &[u8], separator: Option<u8>, place: usize) -> Option<&[u8]> {
    let mut fields = match separator {
        None => Fields::blank(line),
        Some(separator) => Fields::separated_by(separator, line),
    };
    (0..=place).map_while(|_| fields.next()).nth(place)
}

/// Returns the names in a header line, in lower case and without quotes.
fn header_names(line: &[u8], separator: Option<u8>) -> Vec<String> {
    let mut fields = match separator {
        None => Fields::blank(line),
        Some(separator) => Fields::separated_by(separator, line),
    };
    std::iter::from_fn(|| fields.next())
        .map(|name| String::from_utf8_lossy(name).trim_matches(|c: char| c == '"' || c.is_whitespace()).to_ascii_lowercase())
        .collect()
}

/// Returns the meaning of a column with this name in the header.
pub(crate) fn meaning_of_name(name: &str) -> Option<(Meaning, Option<TimeUnit>)> {
    known_name(name).map(|item| (item.meaning, item.time_unit))
}

/// Returns the meaning of a column with this name, which is in lower case.
fn known_name(name: &str) -> Option<Item> {
    let (name, unit) = match name.strip_suffix([')', ']']).and_then(|rest| rest.split_once(['(', '['])) {
        Some((name, unit)) => (name.trim(), Some(unit.trim())),
        None => (name, None),
    };
    let endings = ["_ns", "_us", "_ms", "_s", "_sec", "_usec", "_msec", "_bytes", "_sectors"];
    let (name, unit) = match endings.into_iter().find_map(|ending| name.strip_suffix(ending).map(|rest| (rest, &ending[1..]))) {
        Some((rest, ending)) if unit.is_none() => (rest, Some(ending)),
        _ => (name, unit),
    };
    let plain: String = name.chars().filter(|c| !matches!(c, '_' | '-' | ' ' | '.')).collect();
    let time_unit = match unit {
        Some("s" | "sec" | "seconds") => Some(TimeUnit::Seconds),
        Some("ms" | "msec") => Some(TimeUnit::Milliseconds),
        Some("us" | "µs" | "usec") => Some(TimeUnit::Microseconds),
        Some("ns" | "nsec") => Some(TimeUnit::Nanoseconds),
        _ => None,
    };
    let counted = |usual: CountedIn| match unit {
        Some("bytes" | "b") => CountedIn::Bytes(1),
        Some("sectors") => CountedIn::Sectors,
        Some("kb" | "kib") => CountedIn::Bytes(1024),
        _ => usual,
    };
    let is_in = |names: &[&str]| names.contains(&plain.as_str());
    let meaning = if is_in(&[
        "timestamp",
        "time",
        "ts",
        "clocktime",
        "realtime",
        "start",
        "starttime",
        "begin",
        "issue",
        "issuetime",
        "arrival",
        "arrivaltime",
        "requesttime",
        "iotime",
        "submittime",
    ]) {
        Meaning::Time
    } else if is_in(&["end", "endtime", "completion", "completiontime", "complete", "completetime", "finish", "finishtime"]) {
        Meaning::End(None)
    } else if is_in(&[
        "op",
        "operation",
        "iotype",
        "type",
        "rw",
        "r/w",
        "opcode",
        "cmd",
        "command",
        "optype",
        "requesttype",
        "reqtype",
        "direction",
        "dir",
        "rwbs",
        "t",
        "access",
        "kind",
        "rwflag",
    ]) {
        Meaning::Op
    } else if is_in(&["offset", "byteoffset", "fileoffset", "address", "addr", "startbyte", "byte"]) {
        Meaning::Address(counted(CountedIn::Bytes(1)))
    } else if is_in(&[
        "sector",
        "lba",
        "lbn",
        "lsn",
        "block",
        "blk",
        "blockid",
        "blockaddress",
        "startsector",
        "startlba",
        "startinglba",
        "slba",
        "sectornumber",
        "objid",
        "obj",
        "object",
        "objectid",
        "id",
        "key",
    ]) {
        Meaning::Address(counted(CountedIn::Sectors))
    } else if is_in(&[
        "size",
        "length",
        "len",
        "bytes",
        "iosize",
        "requestsize",
        "reqsize",
        "requestiosize",
        "objsize",
        "objectsize",
        "transfersize",
        "nbytes",
    ]) {
        Meaning::Length(counted(CountedIn::Bytes(1)))
    } else if is_in(&["sectors", "nsectors", "nrsectors", "numsectors", "sectorcount", "blocks", "nblocks", "nlb", "count"]) {
        Meaning::Length(counted(CountedIn::Sectors))
    } else if is_in(&[
        "lun",
        "disk",
        "device",
        "dev",
        "volume",
        "volumeid",
        "vol",
        "diskid",
        "disknum",
        "disknumber",
        "diskno",
        "deviceid",
        "devid",
        "asu",
        "filename",
        "file",
    ]) {
        Meaning::Device
    } else if is_in(&[
        "response",
        "responsetime",
        "latency",
        "lat",
        "elapsed",
        "elapsedtime",
        "duration",
        "servicetime",
        "simulatedlatency",
    ]) {
        return Some(Item { meaning: Meaning::Response(time_unit), time_unit: None, header_name: None });
    } else if is_in(&["flush", "isflush"]) {
        Meaning::Flush
    } else {
        return None;
    };
    let of_times = matches!(meaning, Meaning::Time | Meaning::End(_)).then_some(time_unit).flatten();
    Some(Item { meaning, time_unit: of_times, header_name: None })
}

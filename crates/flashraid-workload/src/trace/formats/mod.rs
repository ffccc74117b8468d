//! The formats of traces. One file holds a complete format, and one line of the list below registers it.
//!
//! Names, detection, parsing, writing and messages are made from the list. So are the configuration's schema, the table of docs/traces.md,
//! the fuzz target and the tests of all formats.

mod block_events;
mod by_columns;
mod fio;

use std::borrow::Cow;
use std::fmt;
use std::io::{self, Write};
use std::str::FromStr;

pub(crate) use blktrace::{RECORD_BYTES as BLKTRACE_RECORD_BYTES, record_bytes as blktrace_record_bytes, record_time_ns};
pub(crate) use fio_lat::{WITHOUT_OFFSETS, lacks_offsets};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::detect::Sample;
use super::fields::FieldResult;
use super::five_columns::Times;
use super::input::Input;
use super::measured::MeasuredHistograms;
use super::reader::Lines;
use super::record::{NumberedRecord, TraceRecord};
use super::time_unit::TimeUnit;
use crate::{OpKind, SourceError};
use block_events::BlockEvents;

/// A format: its description, and its parser with the state between lines.
pub(crate) trait TraceFormat: Sized {
    /// Description of the format.
    const DESCRIPTION: FormatDescription;

    /// Returns the parser for a trace with this beginning.
    ///
    /// An error explains what is wrong with the beginning.
    fn of_sample(sample: &Sample<'_>) -> Result<Self, String>;

    /// Parses a line of text, or one binary record. Returns `None` for one that is correct but no request.
    fn parse(&mut self, line: &[u8], units: Units) -> FieldResult<Option<TraceRecord>>;

    /// Returns the unit of the time stamps, or [`Times::None`] if the trace has no times. It is called only if the user gives no unit.
    /// If the unit is a guess, a note for the user is added to `_notes`.
    fn time_stamp_unit(&self, _sample: &Sample<'_>, _notes: &mut Vec<String>) -> Times {
        Times::In(Self::DESCRIPTION.time_unit.unwrap_or(TimeUnit::Nanoseconds))
    }

    /// Returns true if the trace distinguishes reads from writes.
    fn tells_direction(&self) -> bool {
        true
    }

    /// Treats all requests as this kind. It is called only if the trace does not distinguish kinds.
    fn assume_kind(&mut self, _kind: OpKind) {}

    /// Returns a note for the user about how the parser reads the trace, such as which lines count as requests. The note is asked for
    /// once, when the trace is opened.
    fn interpretation_note(&self) -> Option<String> {
        None
    }

    /// Returns a note for the user about what the parser has found, such as several traces in one file. The note is asked for when the
    /// whole trace has been read.
    fn note_at_end(&self) -> Option<String> {
        None
    }

    /// Returns the number of requests that were skipped because they move no data: flushes, and commands other than reads, writes and
    /// discards.
    fn requests_without_data(&self) -> u64 {
        self.block_events().map_or(0, |events| events.without_data)
    }

    /// Returns the name that the trace itself gives to a device.
    fn device_label(&self, device: u32) -> String {
        device.to_string()
    }

    /// Returns another request of the line that was parsed last: the write that a flush of the same line precedes.
    #[inline]
    fn take_second(&mut self) -> Option<TraceRecord> {
        self.block_events_mut()?.second.take()
    }

    /// Returns the events of the Linux block layer that the parser keeps, for a format that records them.
    #[inline]
    fn block_events(&self) -> Option<&BlockEvents> {
        None
    }

    /// Returns the same events to change them.
    #[inline]
    fn block_events_mut(&mut self) -> Option<&mut BlockEvents> {
        None
    }

    /// Returns true if numbers of the trace count sectors of a size that the user may choose.
    fn counts_sectors(&self) -> bool {
        Self::DESCRIPTION.sector_bytes.is_some()
    }

    /// Returns true if the trace, or the user, says the unit of its times.
    fn is_unit_certain(&self) -> bool {
        false
    }

    /// Returns true if the requests are listed in the order of their ends, although their times are those of their beginnings.
    fn is_by_end(&self) -> bool {
        false
    }

    /// Begins to measure response times, for a format that has a line at the end of a request.
    fn measure(&mut self) {
        self.block_events_mut().into_iter().for_each(BlockEvents::measure);
    }

    /// Returns the response times measured since [`TraceFormat::measure`] was called. It is `None` for a format that has no lines at the
    /// ends of requests.
    fn measured(&self) -> Option<&MeasuredHistograms> {
        self.block_events()?.measured()
    }

    /// Returns the number of events that the recorder lost, as far as the trace tells.
    fn events_lost(&self) -> u64 {
        self.block_events().map_or(0, |events| events.lost)
    }

    /// Skips the part before the first line or record.
    fn skip_head(_input: &mut Input) -> Result<(), SourceError> {
        Ok(())
    }

    /// Returns the next line or record, or `None` at the end.
    #[inline]
    fn next<'a>(&self, input: &'a mut Input) -> Result<Option<&'a [u8]>, SourceError> {
        input.line()
    }
}

/// Units of the numbers in a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Units {
    /// Number of nanoseconds in a unit of time; 0 makes every time 0.
    pub(crate) time_ns: u64,
    /// Number of bytes in a sector.
    pub(crate) sector_bytes: u64,
}

/// Description of a format.
pub(crate) struct FormatDescription {
    /// Sentence for the schema and the reference of keys.
    pub(crate) doc: &'static str,
    /// Single line for lists and messages.
    pub(crate) description: &'static str,
    /// Description of the columns, for the table of docs/traces.md.
    pub(crate) columns: &'static str,
    /// Unit of the time stamps as text, for the same table.
    pub(crate) times: &'static str,
    /// Unit of the time stamps. It is `None` if the format has separate fields for seconds and a fraction.
    pub(crate) time_unit: Option<TimeUnit>,
    /// Number of bytes in the sector or page by which addresses are counted, or `None` if they count bytes.
    pub(crate) sector_bytes: Option<u32>,
    /// True if the format distinguishes devices.
    pub(crate) has_devices: bool,
    /// True if the format is text with one request per line.
    pub(crate) is_text: bool,
    /// True if every line begins with a number. A first line that begins with a letter can then only be a header.
    pub(crate) may_have_header: bool,
    /// Method by which the format is recognised.
    pub(crate) detection: Detection,
    /// Small trace in this format, which fuzzing starts from.
    pub(crate) sample: &'static [u8],
    /// Method of writing the format; `None` if it cannot be written.
    pub(crate) writing: Option<Writing>,
}

impl FormatDescription {
    /// Description that most formats of text share.
    pub(crate) const TEXT: Self = Self {
        doc: "",
        description: "",
        columns: "",
        times: "",
        time_unit: None,
        sector_bytes: None,
        has_devices: true,
        is_text: true,
        may_have_header: true,
        detection: Detection::FiveColumns,
        sample: b"",
        writing: None,
    };
}

/// Method by which a format is recognised by content.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Detection {
    /// The first bytes have this value.
    MagicBytes(&'static [u8]),
    /// A function recognises a sample of binary data.
    Binary(fn(&[u8]) -> bool),
    /// The format has a line that no other format has. The function returns true for such a line. If the trace has no such line, the
    /// parser of the format tries its first lines, and the format whose parser understands most lines wins. If several parsers
    /// understand equally many lines, the format with the lowest number (the second field) wins.
    Line(fn(&[u8]) -> bool, u8),
    /// The parser of the format tries the first lines of the trace. The format whose parser understands most of them wins. If several
    /// parsers understand equally many lines, the format with the lowest number wins; stricter formats have lower numbers.
    TrialParse(u8),
    /// The format is one of several formats whose lines are five numbers separated by blanks. For a trace with such lines, the module
    /// `five_columns` decides which of these formats it is.
    FiveColumns,
}

/// Method of writing a format.
pub(crate) struct Writing {
    /// Writes the part before the first request. It receives the devices that will occur, if `names_devices`.
    pub(crate) head: fn(&[u32], &mut dyn Write) -> io::Result<()>,
    /// Writes one request to the output.
    pub(crate) line: fn(&Line, &mut dyn Write) -> io::Result<()>,
    /// Resolution of the times, in nanoseconds.
    pub(crate) resolution_ns: u64,
    /// True if lengths are counted in bytes although start addresses are counted in sectors.
    pub(crate) length_in_bytes: bool,
    /// True if the format can represent discards.
    pub(crate) knows_discards: bool,
    /// True if the format can represent flushes.
    pub(crate) knows_flushes: bool,
    /// True if the part before the first request names the devices.
    pub(crate) names_devices: bool,
    /// True if the format can represent requests without times.
    pub(crate) can_do_without_times: bool,
    /// Limit below which device numbers must lie; `None` for no limit.
    pub(crate) devices_max: Option<u32>,
}

impl Writing {
    /// Returns a method that writes each request with the function `line`, and times to the nanosecond.
    pub(crate) const fn by(line: fn(&Line, &mut dyn Write) -> io::Result<()>) -> Self {
        Self {
            head: |_, _| Ok(()),
            line,
            resolution_ns: 1,
            length_in_bytes: false,
            knows_discards: false,
            knows_flushes: false,
            names_devices: false,
            can_do_without_times: false,
            devices_max: None,
        }
    }
}

/// A request to be written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Line {
    /// Number of requests written before it.
    pub(crate) number: u64,
    /// Time from the first request, in nanoseconds.
    pub(crate) ns: u64,
    /// Time of the latest request written before, or 0 if there is none.
    pub(crate) last_ns: u64,
    pub(crate) device: u32,
    pub(crate) offset_bytes: u64,
    pub(crate) length_bytes: u64,
    /// Number of its first sector of 512 bytes.
    pub(crate) sector: u64,
    /// Number of sectors that hold all its bytes.
    pub(crate) sectors: u64,
    pub(crate) kind: OpKind,
    /// Time that the request took when it was recorded, or 0 if it is not known.
    pub(crate) response_ns: u64,
}

impl Line {
    /// Returns the letter `R` or `W`.
    pub(crate) fn letter(&self) -> char {
        if self.kind == OpKind::Read { 'R' } else { 'W' }
    }

    /// Returns the word `Read`, `Write` or `Trim`.
    pub(crate) fn word(&self) -> &'static str {
        match self.kind {
            OpKind::Read => "Read",
            OpKind::Trim => "Trim",
            OpKind::Write | OpKind::Flush => "Write",
        }
    }

    /// Returns 1 for a read, 0 for a write.
    pub(crate) fn read_1(&self) -> u8 {
        u8::from(self.kind == OpKind::Read)
    }

    /// Returns the time in seconds, with nine decimals.
    pub(crate) fn seconds(&self) -> Decimal {
        Decimal { whole: self.ns / 1_000_000_000, rest: self.ns % 1_000_000_000, digits: 9 }
    }

    /// Returns the response time in seconds, with nine decimals.
    pub(crate) fn response_seconds(&self) -> Decimal {
        Decimal { whole: self.response_ns / 1_000_000_000, rest: self.response_ns % 1_000_000_000, digits: 9 }
    }

    /// Returns the time in milliseconds, with six decimals.
    pub(crate) fn milliseconds(&self) -> Decimal {
        Decimal { whole: self.ns / 1_000_000, rest: self.ns % 1_000_000, digits: 6 }
    }
}

/// Number that is written with a fixed number of decimals.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Decimal {
    whole: u64,
    rest: u64,
    digits: usize,
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:0digits$}", self.whole, self.rest, digits = self.digits)
    }
}

/// Defines the enumerations for a list of formats. Each line has a file, a type in it, and the name that users write.
macro_rules! formats {
    ($($file:ident::$Type:ident = $name:literal),+ $(,)?) => {
        $(mod $file;)+

        /// A format of traces.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Format {
            $(
                #[doc = concat!("`", $name, "`")]
                $Type,
            )+
        }

        impl Format {
            /// All formats, in the order in which they are documented.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$Type),+];

            /// Returns the name of this trace format, as users write it in configurations and commands.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$Type => $name,)+
                }
            }

            pub(crate) const fn full_description(self) -> &'static FormatDescription {
                match self {
                    $(Self::$Type => const { &<$file::$Type as TraceFormat>::DESCRIPTION },)+
                }
            }

            /// Skips the part before the first line or record.
            pub(crate) fn skip_head(self, input: &mut Input) -> Result<(), SourceError> {
                match self {
                    $(Self::$Type => <$file::$Type as TraceFormat>::skip_head(input),)+
                }
            }
        }

        /// A parser with its state between lines. The variant is chosen once for each file.
        #[derive(Debug, Clone)]
        pub(crate) enum Parser {
            $($Type($file::$Type),)+
        }

        impl Parser {
            /// Returns the parser of `format` for a trace with this beginning. An error explains what is wrong with the beginning.
            pub fn new(format: Format, sample: &Sample<'_>) -> Result<Self, String> {
                match format {
                    $(Format::$Type => <$file::$Type as TraceFormat>::of_sample(sample).map(Self::$Type),)+
                }
            }

            /// Parses a line or record; see [`TraceFormat::parse`].
            #[inline]
            pub fn parse(&mut self, line: &[u8], units: Units) -> FieldResult<Option<TraceRecord>> {
                match self {
                    $(Self::$Type(format) => TraceFormat::parse(format, line, units),)+
                }
            }

            /// Appends the next requests to `records`; see [`Lines::append_next`].
            pub fn append_next(
                &mut self,
                lines: &mut Lines,
                records: &mut Vec<NumberedRecord>,
                count: usize,
            ) -> Result<usize, SourceError> {
                match self {
                    $(Self::$Type(format) => lines.append_next(format, records, count),)+
                }
            }

            /// Returns the unit of the time stamps, if the trace has times; see [`TraceFormat::time_stamp_unit`].
            pub fn time_stamp_unit(&self, sample: &Sample<'_>, notes: &mut Vec<String>) -> Times {
                match self {
                    $(Self::$Type(format) => TraceFormat::time_stamp_unit(format, sample, notes),)+
                }
            }

            /// Returns true if the trace distinguishes reads from writes; see [`TraceFormat::tells_direction`].
            pub fn tells_direction(&self) -> bool {
                match self {
                    $(Self::$Type(format) => TraceFormat::tells_direction(format),)+
                }
            }

            /// Treats all requests as this kind; see [`TraceFormat::assume_kind`].
            pub fn treat_all_as_kind(&mut self, kind: OpKind) {
                match self {
                    $(Self::$Type(format) => TraceFormat::assume_kind(format, kind),)+
                }
            }

            /// Returns a note for the user about how the parser reads the trace, such as which lines count as requests. The note is
            /// asked for once, when the trace is opened; see [`TraceFormat::interpretation_note`].
            pub fn interpretation_note(&self) -> Option<String> {
                match self {
                    $(Self::$Type(format) => TraceFormat::interpretation_note(format),)+
                }
            }

            /// Returns a note for the user about what the parser has found, such as several traces in one file. The note is asked for
            /// when the whole trace has been read; see [`TraceFormat::note_at_end`].
            pub fn note_at_end(&self) -> Option<String> {
                match self {
                    $(Self::$Type(format) => TraceFormat::note_at_end(format),)+
                }
            }

            /// Returns the number of requests that were skipped because they move no data, such as flushes; see
            /// [`TraceFormat::requests_without_data`].
            pub fn requests_without_data(&self) -> u64 {
                match self {
                    $(Self::$Type(format) => TraceFormat::requests_without_data(format),)+
                }
            }

            /// Returns the name that the trace itself gives to a device; see [`TraceFormat::device_label`].
            pub fn device_label(&self, device: u32) -> String {
                match self {
                    $(Self::$Type(format) => TraceFormat::device_label(format, device),)+
                }
            }

            /// Returns true if numbers of the trace count sectors; see [`TraceFormat::counts_sectors`].
            pub fn counts_sectors(&self) -> bool {
                match self {
                    $(Self::$Type(format) => TraceFormat::counts_sectors(format),)+
                }
            }

            /// Returns true if the unit of the times is no guess; see [`TraceFormat::is_unit_certain`].
            pub fn is_unit_certain(&self) -> bool {
                match self {
                    $(Self::$Type(format) => TraceFormat::is_unit_certain(format),)+
                }
            }

            /// Returns true if requests are listed in the order of their ends; see [`TraceFormat::is_by_end`].
            pub fn is_by_end(&self) -> bool {
                match self {
                    $(Self::$Type(format) => TraceFormat::is_by_end(format),)+
                }
            }

            /// Begins to measure response times; see [`TraceFormat::measure`].
            pub fn measure(&mut self) {
                match self {
                    $(Self::$Type(format) => TraceFormat::measure(format),)+
                }
            }

            /// Returns the measured response times; see [`TraceFormat::measured`].
            pub fn measured(&self) -> Option<&MeasuredHistograms> {
                match self {
                    $(Self::$Type(format) => TraceFormat::measured(format),)+
                }
            }
        }
    };
}

formats! {
    spc::Spc = "spc",
    msr::Msr = "msr",
    msr_window::MsrWindow = "msr-window",
    fiu::Fiu = "fiu",
    disksim::Disksim = "disksim",
    mqsim::Mqsim = "mqsim",
    flashsim::Flashsim = "flashsim",
    blkparse::Blkparse = "blkparse",
    blktrace::Blktrace = "blktrace",
    ftrace::Ftrace = "ftrace",
    biosnoop::Biosnoop = "biosnoop",
    etw::Etw = "etw",
    fio2::Fio2 = "fio2",
    fio3::Fio3 = "fio3",
    fio_lat::FioLat = "fio-lat",
    vscsi::Vscsi = "vscsi",
    libcachesim::Libcachesim = "libcachesim",
    oracle_general::OracleGeneral = "oracle-general",
    srt::Srt = "srt",
    diskmon::Diskmon = "diskmon",
    blkreplay::Blkreplay = "blkreplay",
    alibaba::Alibaba = "alibaba",
    tencent::Tencent = "tencent",
    systor::Systor = "systor",
    thesios::Thesios = "thesios",
    columns::Columns = "columns",
}

impl Format {
    /// Returns a description of this trace format in a single line, for lists and messages.
    #[must_use]
    pub const fn description(self) -> &'static str {
        self.full_description().description
    }

    /// Returns the unit of the time stamps. It is `None` if the format has separate fields for seconds and a fraction, so that there is no
    /// choice.
    #[must_use]
    pub const fn time_unit(self) -> Option<TimeUnit> {
        self.full_description().time_unit
    }

    /// Returns the number of bytes in the sector (for FlashSim, the page) by which addresses are counted. It is `None` if they count bytes.
    #[must_use]
    pub const fn sector_bytes(self) -> Option<u32> {
        self.full_description().sector_bytes
    }

    /// Returns true if the format distinguishes devices.
    #[must_use]
    pub(crate) const fn has_devices(self) -> bool {
        self.full_description().has_devices
    }

    /// Returns true if the format is text with one request per line.
    #[must_use]
    pub(crate) const fn is_text(self) -> bool {
        self.full_description().is_text
    }

    /// Returns the limit below which device numbers must lie when a trace is written in this format. It is `None` if there is no limit,
    /// or if the format cannot be written.
    #[must_use]
    pub fn devices_max(self) -> Option<u32> {
        self.full_description().writing.as_ref().and_then(|writing| writing.devices_max)
    }

    /// Returns a small trace in this format, which fuzzing starts from.
    #[must_use]
    pub const fn sample(self) -> &'static [u8] {
        self.full_description().sample
    }

    /// Returns the row for the table of formats in docs/traces.md: name, columns, units of times and addresses, and "yes" or "no" for
    /// writing the format.
    #[must_use]
    pub fn docs_table_row(self) -> String {
        let FormatDescription { columns, times, sector_bytes, writing, .. } = self.full_description();
        let addresses = match sector_bytes {
            None => "bytes".to_owned(),
            Some(bytes) if *bytes >= 1024 => format!("{} KiB", bytes / 1024),
            Some(bytes) => format!("{bytes} B"),
        };
        let written = if writing.is_some() { "yes" } else { "no" };
        format!("| `{self}` | {columns} | {times} | {addresses} | {written} |")
    }

    /// Returns the names of all formats as one text, for messages.
    #[must_use]
    pub fn names() -> String {
        Self::ALL.map(Self::name).join(", ")
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|format| format.name() == text)
            .ok_or_else(|| format!("unknown trace format \"{text}\"; allowed are {}", Self::names()))
    }
}

impl Serialize for Format {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Format {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for Format {
    fn schema_name() -> Cow<'static, str> {
        "Format".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let one = |format: Format| json_schema!({ "description": format.full_description().doc, "type": "string", "const": format.name() });
        json_schema!({ "description": "A format of traces.", "oneOf": Self::ALL.map(one) })
    }
}

#[cfg(test)]
mod tests {
    use super::super::detect::detect;
    use super::*;

    #[test]
    fn names_are_read_back_and_are_those_of_serde() {
        for format in Format::ALL {
            assert_eq!(format.name().parse::<Format>(), Ok(format));
            assert_eq!(serde_json::to_value(format).unwrap(), format.name());
            assert_eq!(serde_json::from_value::<Format>(format.name().into()).unwrap(), format);
        }
        assert!("SPC1".parse::<Format>().unwrap_err().contains("spc, msr"));
    }

    #[test]
    fn the_sample_of_each_format_is_recognised() {
        for format in Format::ALL {
            let sample = Sample::whole(format.sample());
            assert_eq!(detect(&sample).map(|(found, _)| found), Ok(format));
        }
    }

    /// The table of docs/traces.md has a row for each format.
    #[test]
    fn the_book_has_every_format() {
        let book = include_str!("../../../../../docs/traces.md");
        for format in Format::ALL {
            let row = format.docs_table_row() + "\n";
            assert!(book.contains(&row), "docs/traces.md lacks the row\n{row}");
        }
    }
}

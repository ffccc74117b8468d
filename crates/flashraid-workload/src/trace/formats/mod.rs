//! The formats of traces: one file holds a format whole, one line of the list below registers it.
//!
//! Names, detection, parsing, writing, messages, the configuration's schema, the table of docs/traces.md, the fuzz target and the tests that
//! concern all formats are made of the list.

mod fio;

use std::borrow::Cow;
use std::fmt;
use std::io::{self, Write};
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::detect::Sample;
use super::fields::FieldResult;
use super::five_columns::Times;
use super::input::Input;
use super::record::TraceRecord;
use super::time_unit::TimeUnit;
use crate::{OpKind, SourceError};

/// A format: what it says of itself, and its parser with what that remembers between lines.
pub(crate) trait TraceFormat: Sized {
    /// What it says of itself.
    const ABOUT: About;

    /// The parser, set up by how the trace begins; an error tells what is wrong with the beginning.
    fn of_sample(sample: &Sample<'_>) -> Result<Self, String>;

    /// Parses a line of text, or one binary record. `None` for what is neither bad nor a request.
    fn parse(&mut self, line: &[u8], units: Units) -> FieldResult<Option<TraceRecord>>;

    /// What the times count where the user says nothing; a guess adds a note.
    fn times(&self, _sample: &Sample<'_>, _notes: &mut Vec<String>) -> Times {
        Times::In(Self::ABOUT.time_unit.unwrap_or(TimeUnit::Nanoseconds))
    }

    /// True if the trace tells reads from writes.
    fn tells_direction(&self) -> bool {
        true
    }

    /// Takes all requests for this kind; only where the trace does not tell.
    fn assume(&mut self, _kind: OpKind) {}

    /// A remark to make when the trace is opened.
    fn opening_remark(&self) -> Option<String> {
        None
    }

    /// A remark to make when the trace has been read.
    fn closing_remark(&self) -> Option<String> {
        None
    }

    /// The trace's own name of a device.
    fn device_label(&self, device: u32) -> String {
        device.to_string()
    }

    /// Passes over what stands before the first line or record.
    fn skip_head(_input: &mut Input) -> Result<(), SourceError> {
        Ok(())
    }

    /// The next line or record, `None` at the end.
    #[inline]
    fn next<'a>(&self, input: &'a mut Input) -> Result<Option<&'a [u8]>, SourceError> {
        input.line()
    }
}

/// What numbers of a trace count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Units {
    /// Nanoseconds in a unit of time; 0 makes every time 0.
    pub time_ns: u64,
    /// Bytes of a sector.
    pub sector_bytes: u64,
}

/// What a format says of itself.
pub(crate) struct About {
    /// A sentence for the schema and the reference of keys.
    pub doc: &'static str,
    /// One line for lists and messages.
    pub description: &'static str,
    /// Its columns, for the table of docs/traces.md.
    pub columns: &'static str,
    /// What its times count, for the same table.
    pub times: &'static str,
    /// The unit of its time stamps; `None` where the format carries seconds and a fraction in fields of their own.
    pub time_unit: Option<TimeUnit>,
    /// Bytes of the sector or page in which it counts addresses; `None` where it counts bytes.
    pub sector_bytes: Option<u32>,
    /// True if it tells devices apart.
    pub has_devices: bool,
    /// True if it is text, a request to a line.
    pub is_text: bool,
    /// True if a first line that begins with a letter can only be a header of somebody's making: where every line begins with a number.
    pub may_have_header: bool,
    /// How it is recognised.
    pub detection: Detection,
    /// A small trace, from which fuzzing begins.
    pub sample: &'static [u8],
    /// How it is written, if it is.
    pub writing: Option<Writing>,
}

impl About {
    /// What most formats of text have in common.
    pub const TEXT: Self = Self {
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

/// How a format is recognised by content.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Detection {
    /// By the first bytes.
    Mark(&'static [u8]),
    /// By a sample of binary data.
    Binary(fn(&[u8]) -> bool),
    /// By a line that no other format has; else as `Tried`.
    Line(fn(&[u8]) -> bool, u8),
    /// Its parser tries the first lines, and who understands most of them wins; on a tie the lesser number, which the stricter format has.
    Tried(u8),
    /// Among those of five blank-separated numbers, which `five_columns` tells apart.
    FiveColumns,
}

/// How a format is written.
pub(crate) struct Writing {
    /// Writes what stands before the first request; given are the devices that will occur, if `names_devices`.
    pub head: fn(&[u32], &mut dyn Write) -> io::Result<()>,
    /// Writes a request.
    pub line: fn(&Line, &mut dyn Write) -> io::Result<()>,
    /// The step of its times, in nanoseconds.
    pub resolution_ns: u64,
    /// True if lengths count bytes although starts count sectors.
    pub length_in_bytes: bool,
    /// True if it can hold discards.
    pub knows_discards: bool,
    /// True if its head names the devices.
    pub names_devices: bool,
    /// True if it can do without times.
    pub can_do_without_times: bool,
    /// Device numbers must be below this.
    pub devices_end: Option<u32>,
}

impl Writing {
    /// Written line by line, with times to the nanosecond.
    pub const fn by(line: fn(&Line, &mut dyn Write) -> io::Result<()>) -> Self {
        Self {
            head: |_, _| Ok(()),
            line,
            resolution_ns: 1,
            length_in_bytes: false,
            knows_discards: false,
            names_devices: false,
            can_do_without_times: false,
            devices_end: None,
        }
    }
}

/// A request to be written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Line {
    /// Requests written before it.
    pub number: u64,
    /// Time from the first request, in nanoseconds.
    pub ns: u64,
    /// The same of the latest request written before, 0 if there is none.
    pub last_ns: u64,
    pub device: u32,
    pub offset_bytes: u64,
    pub length_bytes: u64,
    /// First sector of 512 bytes.
    pub sector: u64,
    /// Sectors that hold all its bytes.
    pub sectors: u64,
    pub kind: OpKind,
}

impl Line {
    /// `R` or `W`.
    pub fn letter(&self) -> char {
        if self.kind == OpKind::Read { 'R' } else { 'W' }
    }

    /// `Read`, `Write` or `Trim`.
    pub fn word(&self) -> &'static str {
        match self.kind {
            OpKind::Read => "Read",
            OpKind::Trim => "Trim",
            OpKind::Write | OpKind::Flush => "Write",
        }
    }

    /// 1 for a read, 0 for a write.
    pub fn read_1(&self) -> u8 {
        u8::from(self.kind == OpKind::Read)
    }

    /// The time in seconds, with nine decimals.
    pub fn seconds(&self) -> Decimal {
        Decimal { whole: self.ns / 1_000_000_000, rest: self.ns % 1_000_000_000, digits: 9 }
    }

    /// The time in milliseconds, with six decimals.
    pub fn milliseconds(&self) -> Decimal {
        Decimal { whole: self.ns / 1_000_000, rest: self.ns % 1_000_000, digits: 6 }
    }
}

/// A number with so many digits behind the point.
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

/// Makes the enumerations of a list of formats: each line names a file, a type in it, and how users write it.
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
            /// Every format, in the order in which they are documented.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$Type),+];

            /// How a user writes it.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$Type => $name,)+
                }
            }

            pub(crate) const fn about(self) -> &'static About {
                match self {
                    $(Self::$Type => const { &<$file::$Type as TraceFormat>::ABOUT },)+
                }
            }

            /// Passes over what stands before the first line or record.
            pub(crate) fn skip_head(self, input: &mut Input) -> Result<(), SourceError> {
                match self {
                    $(Self::$Type => <$file::$Type as TraceFormat>::skip_head(input),)+
                }
            }
        }

        /// A parser with what it remembers between lines, chosen once for a file.
        #[derive(Debug, Clone)]
        pub(crate) enum Parser {
            $($Type($file::$Type),)+
        }

        impl Parser {
            /// The parser of `format`, set up by how the trace begins; an error tells what is wrong with the beginning.
            pub fn new(format: Format, sample: &Sample<'_>) -> Result<Self, String> {
                match format {
                    $(Format::$Type => <$file::$Type as TraceFormat>::of_sample(sample).map(Self::$Type),)+
                }
            }

            /// As [`TraceFormat::parse`].
            #[inline]
            pub fn parse(&mut self, line: &[u8], units: Units) -> FieldResult<Option<TraceRecord>> {
                match self {
                    $(Self::$Type(format) => TraceFormat::parse(format, line, units),)+
                }
            }

            /// As [`TraceFormat::next`].
            #[inline]
            pub fn next<'a>(&self, input: &'a mut Input) -> Result<Option<&'a [u8]>, SourceError> {
                match self {
                    $(Self::$Type(format) => TraceFormat::next(format, input),)+
                }
            }

            /// As [`TraceFormat::times`].
            pub fn times(&self, sample: &Sample<'_>, notes: &mut Vec<String>) -> Times {
                match self {
                    $(Self::$Type(format) => TraceFormat::times(format, sample, notes),)+
                }
            }

            /// As [`TraceFormat::tells_direction`].
            pub fn tells_direction(&self) -> bool {
                match self {
                    $(Self::$Type(format) => TraceFormat::tells_direction(format),)+
                }
            }

            /// As [`TraceFormat::assume`].
            pub fn assume(&mut self, kind: OpKind) {
                match self {
                    $(Self::$Type(format) => TraceFormat::assume(format, kind),)+
                }
            }

            /// As [`TraceFormat::opening_remark`].
            pub fn opening_remark(&self) -> Option<String> {
                match self {
                    $(Self::$Type(format) => TraceFormat::opening_remark(format),)+
                }
            }

            /// As [`TraceFormat::closing_remark`].
            pub fn closing_remark(&self) -> Option<String> {
                match self {
                    $(Self::$Type(format) => TraceFormat::closing_remark(format),)+
                }
            }

            /// As [`TraceFormat::device_label`].
            pub fn device_label(&self, device: u32) -> String {
                match self {
                    $(Self::$Type(format) => TraceFormat::device_label(format, device),)+
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
    fio2::Fio2 = "fio2",
    fio3::Fio3 = "fio3",
    vscsi::Vscsi = "vscsi",
    libcachesim::Libcachesim = "libcachesim",
    srt::Srt = "srt",
    diskmon::Diskmon = "diskmon",
    blkreplay::Blkreplay = "blkreplay",
    alibaba::Alibaba = "alibaba",
    tencent::Tencent = "tencent",
}

impl Format {
    /// One line for lists and messages.
    #[must_use]
    pub const fn description(self) -> &'static str {
        self.about().description
    }

    /// The unit of its time stamps; `None` where the format carries seconds and a fraction in fields of their own, so that
    /// there is nothing to choose.
    #[must_use]
    pub const fn time_unit(self) -> Option<TimeUnit> {
        self.about().time_unit
    }

    /// Bytes of the sector (for FlashSim, of the page) in which it counts addresses; `None` where it counts bytes.
    #[must_use]
    pub const fn sector_bytes(self) -> Option<u32> {
        self.about().sector_bytes
    }

    /// True if it tells devices apart.
    #[must_use]
    pub const fn has_devices(self) -> bool {
        self.about().has_devices
    }

    /// True if it is text, a request to a line.
    #[must_use]
    pub const fn is_text(self) -> bool {
        self.about().is_text
    }

    /// Numbers of devices that it can write are below this, if there is a limit.
    #[must_use]
    pub fn devices_end(self) -> Option<u32> {
        self.about().writing.as_ref().and_then(|writing| writing.devices_end)
    }

    /// A small trace in it, from which fuzzing begins.
    #[must_use]
    pub const fn sample(self) -> &'static [u8] {
        self.about().sample
    }

    /// Its row in the book's table of formats: name, columns, what times and addresses count, and if it can be written.
    #[must_use]
    pub fn table_row(self) -> String {
        let About { columns, times, sector_bytes, writing, .. } = self.about();
        let addresses = match sector_bytes {
            None => "bytes".to_owned(),
            Some(bytes) if *bytes >= 1024 => format!("{} KiB", bytes / 1024),
            Some(bytes) => format!("{bytes} B"),
        };
        let written = if writing.is_some() { "yes" } else { "no" };
        format!("| `{self}` | {columns} | {times} | {addresses} | {written} |")
    }

    /// Every name, for messages.
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
        let one = |format: Format| json_schema!({ "description": format.about().doc, "type": "string", "const": format.name() });
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
            let sample = Sample { bytes: format.sample(), complete: true };
            assert_eq!(detect(&sample).map(|(found, _)| found), Ok(format));
        }
    }

    /// The table of docs/traces.md has a row for each format.
    #[test]
    fn the_book_has_every_format() {
        let book = include_str!("../../../../../docs/traces.md");
        for format in Format::ALL {
            let row = format.table_row() + "\n";
            assert!(book.contains(&row), "docs/traces.md lacks the row\n{row}");
        }
    }
}

//! Disk events of Windows (ETW), as xperf dumps them: a header that names the columns of each event, then one event to a line.
//!
//! Source: the Microsoft production server traces (Kavalanekar et al., IISWC '08), as distributed by SNIA IOTTA. Times are µs, addresses
//! and sizes hexadecimal. `DiskRead`, `DiskWrite` and `DiskFlush` come at the end of a request, which began `ElapsedTime` before.
//!
//! Other events, such as `DiskReadInit`, are passed over.

use super::super::columns::{Columns, Meaning};
use super::super::detect::Sample;
use super::super::fields::{FieldError, FieldResult, Fields, quote};
use super::super::record::TraceRecord;
use super::super::time_unit::TimeUnit;
use super::{Detection, FormatDescription, TraceFormat, Units};
use crate::OpKind;

/// Parser of the format: the columns of each event, and whether the header has ended.
#[derive(Debug, Clone)]
pub(crate) struct Etw {
    events: Vec<(OpKind, Columns)>,
    in_header: bool,
}

/// Names of the events that are requests.
const EVENTS: [(&[u8], OpKind); 3] = [(b"DiskRead", OpKind::Read), (b"DiskWrite", OpKind::Write), (b"DiskFlush", OpKind::Flush)];

impl TraceFormat for Etw {
    const DESCRIPTION: FormatDescription = FormatDescription {
        doc: "Disk events of Windows (ETW) as CSV: `DiskRead`, `DiskWrite` and `DiskFlush`, with their columns named in a header.",
        description: "ETW CSV: DiskRead, DiskWrite, DiskFlush after a header",
        columns: "DiskRead, DiskWrite and DiskFlush, with the columns that the header names for each",
        times: "µs",
        time_unit: Some(TimeUnit::Microseconds),
        sector_bytes: None,
        may_have_header: false,
        detection: Detection::Line(|line| line.trim_ascii() == b"BeginHeader", 0),
        sample: b"BeginHeader\n DiskRead, TimeStamp, ByteOffset, IOSize, ElapsedTime, DiskNum\n DiskFlush, TimeStamp, ElapsedTime, DiskNum\nEndHeader\n DiskRead, 5000, 0x1000, 0x0200, 206, 1\n DiskReadInit, 5001\n DiskFlush, 7000, 300, 1\n DiskRead, 9000, 0x2000, 0x0200, 206, 1\n",
        ..FormatDescription::TEXT
    };

    fn of_sample(sample: &Sample<'_>) -> Result<Self, String> {
        let mut events = Vec::new();
        for (name, kind) in EVENTS {
            let is_of_event = |line: &&[u8]| first_field(line) == name;
            let header = sample.lines().take_while(|line| line.trim_ascii() != b"EndHeader").find(is_of_event);
            let Some(header) = header else { continue };
            let mut fields = Fields::separated_by(b',', header);
            let names: Vec<&[u8]> = std::iter::from_fn(|| fields.next()).collect();
            let missing = |wanted: &str| !names.contains(&wanted.as_bytes());
            let needed = if kind == OpKind::Flush { &["TimeStamp"][..] } else { &["TimeStamp", "ByteOffset", "IOSize"] };
            if let Some(missing) = needed.iter().find(|wanted| missing(wanted)) {
                return Err(format!("the header names no column {missing} for {}; expected it", String::from_utf8_lossy(name)));
            }
            let plan = names.iter().map(|name| meaning(name)).collect();
            events.push((kind, Columns::of_events(plan, kind)));
        }
        match events.is_empty() {
            true => {
                Err("its header has no columns for DiskRead or DiskWrite; expected an ETW dump with BeginHeader and EndHeader".to_owned())
            }
            false => Ok(Self { events, in_header: false }),
        }
    }

    fn interpretation_note(&self) -> Option<String> {
        Some("requests: each begins ElapsedTime before its TimeStamp".to_owned())
    }

    fn is_by_end(&self) -> bool {
        true
    }

    fn parse(&mut self, line: &[u8], units: Units) -> FieldResult<Option<TraceRecord>> {
        match line.trim_ascii() {
            b"BeginHeader" => self.in_header = true,
            b"EndHeader" => self.in_header = false,
            _ if self.in_header => {}
            _ => return self.event(line, units),
        }
        Ok(None)
    }
}

impl Etw {
    fn event(&mut self, line: &[u8], units: Units) -> FieldResult<Option<TraceRecord>> {
        let name = first_field(line);
        let Some((_, kind)) = EVENTS.into_iter().find(|(known, _)| *known == name) else { return Ok(None) };
        match self.events.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, columns)) => columns.parse(line, units),
            None => Err(FieldError { column: 1, found: quote(name), expected: "an event whose columns the header names" }),
        }
    }
}

fn first_field(line: &[u8]) -> &[u8] {
    Fields::separated_by(b',', line).next().unwrap_or_default()
}

/// Returns the meaning of a column of an event.
fn meaning(name: &[u8]) -> Meaning {
    use super::super::columns::CountedIn::Bytes;
    match name {
        b"TimeStamp" => Meaning::End(None),
        b"ByteOffset" => Meaning::Address(Bytes(1)),
        b"IOSize" => Meaning::Length(Bytes(1)),
        b"ElapsedTime" => Meaning::Response(None),
        b"DiskNum" => Meaning::Device,
        _ => Meaning::Nothing,
    }
}

//! fio iolog, version 3: `µs file action offset bytes`.
//!
//! Source: fio's HOWTO, "Trace file format".

use super::super::detect::Sample;
use super::super::fields::{FieldResult, Fields};
use super::super::record::TraceRecord;
use super::super::time_unit::TimeUnit;
use super::fio::{self, Action, Files, action};
use super::{Detection, FormatDescription, TraceFormat, Units, Writing};

/// First line of a log.
const VERSION: &[u8] = b"fio version 3 iolog";

/// Parser of the format, with the files seen so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fio3 {
    files: Files,
}

impl TraceFormat for Fio3 {
    const DESCRIPTION: FormatDescription = FormatDescription {
        doc: "fio iolog version 3: `µs file action offset bytes`.",
        description: "fio iolog version 3",
        columns: "fio iolog version 3",
        times: "µs",
        time_unit: Some(TimeUnit::Microseconds),
        sector_bytes: None,
        may_have_header: false,
        detection: Detection::MagicBytes(VERSION),
        sample: b"fio version 3 iolog\n0 d add\n10 d write 0 4096\n25 d read 4096 512\n",
        writing: Some(Writing {
            resolution_ns: 1_000,
            knows_discards: true,
            knows_flushes: true,
            names_devices: true,
            head: |devices, to| fio::write_head(VERSION, "0 ", devices, to),
            ..Writing::by(|line, to| {
                let word = fio::word(line);
                writeln!(to, "{} device{} {word} {} {}", line.ns / 1_000, line.device, line.offset_bytes, line.length_bytes)
            })
        }),
        ..FormatDescription::TEXT
    };

    fn of_sample(_: &Sample<'_>) -> Result<Self, String> {
        Ok(Self::default())
    }

    fn parse(&mut self, line: &[u8], units: Units) -> FieldResult<Option<TraceRecord>> {
        if line == VERSION {
            return Ok(None);
        }
        let mut fields = Fields::blank(line);
        let time_ns = fields.time_ns(units.time_ns, "the time in microseconds")?;
        let file = fields.text("the name of the file")?;
        match action(&mut fields)? {
            Action::Transfer(direction) => self.files.transfer(file, &mut fields, direction, time_ns).map(Some),
            Action::Flush => Ok(Some(self.files.flush(file, time_ns))),
            Action::Wait => Err(fields.error("an action of version 3, which has time stamps instead of wait")),
            Action::Other => Ok(None),
        }
    }

    /// Returns the name of the file.
    fn device_label(&self, device: u32) -> String {
        self.files.label(device)
    }
}

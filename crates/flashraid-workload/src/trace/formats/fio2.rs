//! fio iolog, version 2: `file action offset bytes`, with times by `wait`.
//!
//! Source: fio's HOWTO, "Trace file format". A `wait` delays the following requests by a number of µs, counted from the wait before. The
//! time of a request is therefore the sum of the waits above it. A log without any wait has no times.

use super::super::detect::Sample;
use super::super::fields::{FieldResult, Fields};
use super::super::five_columns::Times;
use super::super::record::TraceRecord;
use super::super::time_unit::TimeUnit;
use super::fio::{self, Action, Files, action};
use super::{Detection, FormatDescription, TraceFormat, Units, Writing};

/// First line of a log.
const VERSION: &[u8] = b"fio version 2 iolog";

/// Parser of the format: the files, and the sum of the waits so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fio2 {
    files: Files,
    waited_ns: u64,
}

impl TraceFormat for Fio2 {
    const DESCRIPTION: FormatDescription = FormatDescription {
        doc: "fio iolog version 2: `file action offset bytes`, times by `wait` (µs).",
        description: "fio iolog version 2",
        columns: "fio iolog version 2; times by `wait`",
        times: "µs",
        time_unit: Some(TimeUnit::Microseconds),
        sector_bytes: None,
        may_have_header: false,
        detection: Detection::MagicBytes(VERSION),
        sample: b"fio version 2 iolog\n/dev/a open\n/dev/a read 0 4096\n/dev/a wait 150 0\n/dev/b write 4096 512\n",
        writing: Some(Writing {
            resolution_ns: 1_000,
            knows_discards: true,
            knows_flushes: true,
            names_devices: true,
            can_do_without_times: true,
            head: |devices, to| fio::write_head(VERSION, "", devices, to),
            ..Writing::by(|line, to| {
                let us = line.ns / 1_000;
                if us > line.last_ns / 1_000 {
                    writeln!(to, "device{} wait {} 0", line.device, us - line.last_ns / 1_000)?;
                }
                writeln!(to, "device{} {} {} {}", line.device, fio::word(line), line.offset_bytes, line.length_bytes)
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
        let file = fields.text("the name of the file")?;
        match action(&mut fields)? {
            Action::Transfer(direction) => self.files.transfer(file, &mut fields, direction, self.waited_ns).map(Some),
            Action::Flush => Ok(Some(self.files.flush(file, self.waited_ns))),
            Action::Wait => {
                let wait_ns = fields.time_ns(units.time_ns, "the time to wait in microseconds")?;
                self.waited_ns = self.waited_ns.checked_add(wait_ns).ok_or_else(|| fields.error("waits of less than 2^64 ns in all"))?;
                Ok(None)
            }
            Action::Other => Ok(None),
        }
    }

    /// Returns the name of the file.
    fn device_label(&self, device: u32) -> String {
        self.files.label(device)
    }

    fn time_stamp_unit(&self, sample: &Sample<'_>, notes: &mut Vec<String>) -> Times {
        if sample.lines().any(|line| line.windows(6).any(|part| part == b" wait ")) {
            return Times::In(TimeUnit::Microseconds);
        }
        notes.push("times: none; the first MiB has no wait, so requests only have an order".to_owned());
        Times::None
    }
}

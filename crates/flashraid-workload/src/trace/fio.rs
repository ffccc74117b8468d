//! fio iolog, versions 2 (`file action offset bytes`, times by `wait`) and 3 (`µs file action offset bytes`).
//!
//! Source: fio's HOWTO, "Trace file format". In version 2 a `wait` of so many µs delays what follows, counted from the wait before it, so
//! a request's time is the sum of the waits above it; without any wait the log has no times. Only `read`, `write` and `trim` are requests;
//! `add`, `open`, `close`, `sync`, `datasync` and `sync_file_range` are passed over. Files are numbered in order of appearance.

use std::collections::HashMap;

use super::fields::{Bad, FieldResult, Fields};
use super::parser::Units;
use super::record::TraceRecord;
use crate::OpKind;

/// First line of version 2.
pub(crate) const VERSION_2: &[u8] = b"fio version 2 iolog";
/// First line of version 3.
pub(crate) const VERSION_3: &[u8] = b"fio version 3 iolog";

/// Files seen, in order of appearance, and the clock of version 2.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fio {
    files: Vec<Box<[u8]>>,
    numbers: HashMap<Box<[u8]>, u32>,
    waited_ns: u64,
}

enum Action {
    Transfer(OpKind),
    Wait,
    Other,
}

impl Fio {
    pub fn parse_2(&mut self, line: &[u8], units: Units) -> FieldResult<Option<TraceRecord>> {
        if line == VERSION_2 {
            return Ok(None);
        }
        let mut fields = Fields::blank(line);
        let file = fields.text("the name of the file")?;
        match action(&mut fields)? {
            Action::Transfer(direction) => self.transfer(file, &mut fields, direction, self.waited_ns).map(Some),
            Action::Wait => {
                let wait_ns = fields.time_ns(units.time_ns, "the time to wait in microseconds")?;
                self.waited_ns = self.waited_ns.checked_add(wait_ns).ok_or_else(|| fields.bad("waits of less than 2^64 ns in all"))?;
                Ok(None)
            }
            Action::Other => Ok(None),
        }
    }

    pub fn parse_3(&mut self, line: &[u8], units: Units) -> FieldResult<Option<TraceRecord>> {
        if line == VERSION_3 {
            return Ok(None);
        }
        let mut fields = Fields::blank(line);
        let time_ns = fields.time_ns(units.time_ns, "the time in microseconds")?;
        let file = fields.text("the name of the file")?;
        match action(&mut fields)? {
            Action::Transfer(direction) => self.transfer(file, &mut fields, direction, time_ns).map(Some),
            Action::Wait => Err(fields.bad("an action of version 3, which has time stamps instead of wait")),
            Action::Other => Ok(None),
        }
    }

    fn transfer(&mut self, file: &[u8], fields: &mut Fields<'_>, direction: OpKind, time_ns: u64) -> FieldResult<TraceRecord> {
        let offset_bytes = fields.offset_bytes(1, "the offset in bytes (a whole number)")?;
        let length_bytes = fields.length_bytes_of(direction, 1, "the length in bytes (a whole number)")?;
        let device = match self.numbers.get(file) {
            Some(number) => *number,
            None => {
                let number = self.files.len() as u32;
                self.files.push(file.into());
                self.numbers.insert(file.into(), number);
                number
            }
        };
        Ok(TraceRecord { time_ns, device, offset_bytes, length_bytes, kind: direction, fua: false, zeroes: false })
    }

    /// The name of the file.
    pub fn label(&self, device: u32) -> String {
        self.files.get(device as usize).map_or_else(|| device.to_string(), |file| String::from_utf8_lossy(file).into_owned())
    }
}

fn action(fields: &mut Fields<'_>) -> Result<Action, Bad> {
    let expected = "an action: read, write, wait, add, open, close, sync, datasync, sync_file_range or trim";
    match fields.text(expected)? {
        b"read" => Ok(Action::Transfer(OpKind::Read)),
        b"write" => Ok(Action::Transfer(OpKind::Write)),
        b"trim" => Ok(Action::Transfer(OpKind::Trim)),
        b"wait" => Ok(Action::Wait),
        b"add" | b"open" | b"close" | b"sync" | b"datasync" | b"sync_file_range" => Ok(Action::Other),
        _ => Err(fields.bad(expected)),
    }
}

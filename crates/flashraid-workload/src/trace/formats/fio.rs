//! Parts that versions 2 and 3 of fio's iolog share: files, actions, and the lines before the requests.
//!
//! Source: fio's HOWTO, "Trace file format". Only `read`, `write` and `trim` are requests. `add`, `open`, `close`, `sync`, `datasync` and
//! `sync_file_range` are skipped. Files are numbered in order of appearance.

use std::collections::HashMap;
use std::io::{self, Write};

use super::super::fields::{FieldError, FieldResult, Fields};
use super::super::record::TraceRecord;
use crate::OpKind;

/// The files seen so far, in order of appearance.
#[derive(Debug, Clone, Default)]
pub(crate) struct Files {
    files: Vec<Box<[u8]>>,
    numbers: HashMap<Box<[u8]>, u32>,
}

/// The action of a line.
pub(crate) enum Action {
    Transfer(OpKind),
    Wait,
    Other,
}

impl Files {
    /// Returns the request of a line. Its file and action have been read already.
    pub(super) fn transfer(&mut self, file: &[u8], fields: &mut Fields<'_>, direction: OpKind, time_ns: u64) -> FieldResult<TraceRecord> {
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

    /// Returns the name of the file.
    pub(super) fn label(&self, device: u32) -> String {
        self.files.get(device as usize).map_or_else(|| device.to_string(), |file| String::from_utf8_lossy(file).into_owned())
    }
}

/// Reads the action of a line.
pub(crate) fn action(fields: &mut Fields<'_>) -> Result<Action, FieldError> {
    let expected = "an action: read, write, wait, add, open, close, sync, datasync, sync_file_range or trim";
    match fields.text(expected)? {
        b"read" => Ok(Action::Transfer(OpKind::Read)),
        b"write" => Ok(Action::Transfer(OpKind::Write)),
        b"trim" => Ok(Action::Transfer(OpKind::Trim)),
        b"wait" => Ok(Action::Wait),
        b"add" | b"open" | b"close" | b"sync" | b"datasync" | b"sync_file_range" => Ok(Action::Other),
        _ => Err(fields.error(expected)),
    }
}

/// Writes the lines before the first request: the version, and a line for each file. `before` is the text before a file's name.
pub(crate) fn write_head(version: &[u8], before: &str, devices: &[u32], to: &mut dyn Write) -> io::Result<()> {
    to.write_all(version)?;
    to.write_all(b"\n")?;
    devices.iter().try_for_each(|device| write!(to, "{before}device{device} add\n{before}device{device} open\n"))
}

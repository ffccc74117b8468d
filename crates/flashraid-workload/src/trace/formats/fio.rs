//! Parts that versions 2 and 3 of fio's iolog share: files, actions, and the lines before the requests.
//!
//! Source: fio's HOWTO, "Trace file format". `read`, `write` and `trim` are requests, `sync` and `datasync` are flushes. `add`, `open`,
//! `close` and `sync_file_range` are skipped. Files are numbered in order of appearance.

use std::io::{self, Write};

use super::super::fields::{FieldError, FieldResult, Fields};
use super::super::names::Names;
use super::super::record::TraceRecord;
use super::Line;
use crate::OpKind;

/// The files seen so far, in order of appearance.
#[derive(Debug, Clone, Default)]
pub(crate) struct Files {
    names: Names,
}

/// The action of a line.
pub(crate) enum Action {
    Transfer(OpKind),
    Flush,
    Wait,
    Other,
}

impl Files {
    /// Returns the request of a line. Its file and action have been read already.
    pub(super) fn transfer(&mut self, file: &[u8], fields: &mut Fields<'_>, direction: OpKind, time_ns: u64) -> FieldResult<TraceRecord> {
        let offset_bytes = fields.offset_bytes(1, "the offset in bytes (a whole number)")?;
        let length_bytes = fields.length_bytes_of(direction, 1, "the length in bytes (a whole number)")?;
        Ok(TraceRecord::new(time_ns, self.names.number(file), offset_bytes, length_bytes, direction))
    }

    /// Returns a flush of a file.
    pub(super) fn flush(&mut self, file: &[u8], time_ns: u64) -> TraceRecord {
        TraceRecord::flush(time_ns, self.names.number(file))
    }

    /// Returns the name of the file.
    pub(super) fn label(&self, device: u32) -> String {
        self.names.name(device).unwrap_or_else(|| device.to_string())
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
        b"sync" | b"datasync" => Ok(Action::Flush),
        b"add" | b"open" | b"close" | b"sync_file_range" => Ok(Action::Other),
        _ => Err(fields.error(expected)),
    }
}

/// Returns the action for a request.
pub(crate) fn word(line: &Line) -> &'static str {
    match line.kind {
        OpKind::Read => "read",
        OpKind::Write => "write",
        OpKind::Trim => "trim",
        OpKind::Flush => "sync",
    }
}

/// Writes the lines before the first request: the version, and a line for each file. `before` is the text before a file's name.
pub(crate) fn write_head(version: &[u8], before: &str, devices: &[u32], to: &mut dyn Write) -> io::Result<()> {
    to.write_all(version)?;
    to.write_all(b"\n")?;
    devices.iter().try_for_each(|device| write!(to, "{before}device{device} add\n{before}device{device} open\n"))
}

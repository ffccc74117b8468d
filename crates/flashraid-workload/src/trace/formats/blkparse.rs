//! blkparse text as printed by default: `maj,min cpu seq seconds pid action RWBS sector + sectors [process]`.
//!
//! Source: blkparse(1) of blktrace. Each request has several actions, so only one kind is taken: Q (queued), or D (issued) in a trace
//! without Q. `WF` is a write with "force unit access", `WZ` one of zeroes.
//!
//! Flushes without data and commands are skipped, and so is everything from the first line of the summary on. The device is
//! `major × 2^20 + minor`, as in the kernel.

use super::super::detect::Sample;
use super::super::fields::{FieldResult, Fields, integer};
use super::super::record::TraceRecord;
use super::super::time_unit::TimeUnit;
use super::fiu::{device, device_part, label};
use super::{Detection, FormatDescription, TraceFormat, Units};
use crate::OpKind;

/// Parser of the format. It knows the action that stands for a request, and whether the summary has begun.
#[derive(Debug, Clone)]
pub(crate) struct Blkparse {
    action: &'static [u8],
    in_summary: bool,
    /// Number of flushes and commands so far.
    without_data: u64,
}

impl TraceFormat for Blkparse {
    const DESCRIPTION: FormatDescription = FormatDescription {
        doc: "Text that `blkparse` prints by default: actions Q, or D if there is no Q.",
        description: "blkparse text (Q, else D)",
        columns: "blkparse's default output; the lines with action Q, or D if there is no Q",
        times: "s",
        time_unit: Some(TimeUnit::Seconds),
        sector_bytes: Some(512),
        detection: Detection::TrialParse(1),
        sample: b"  8,16   1        1     0.000000000   697  Q   W 2048 + 8 [writer]\n  8,16   0        6     0.500000001   698  Q  RA 16 + 16 [reader]\nCPU0 (8,16):\n",
        ..FormatDescription::TEXT
    };

    /// Chooses the action that stands for a request from the lines of the sample: Q if there is any, otherwise D.
    fn of_sample(sample: &Sample<'_>) -> Result<Self, String> {
        let queued = sample.lines().any(|line| action_of(line) == Some(b"Q"));
        Ok(Self { action: if queued { b"Q" } else { b"D" }, in_summary: false, without_data: 0 })
    }

    fn interpretation_note(&self) -> Option<String> {
        let action = if self.action == b"Q" { "Q" } else { "D" };
        Some(format!("requests: the lines with action {action}"))
    }

    fn device_label(&self, device: u32) -> String {
        label(device)
    }

    fn requests_without_data(&self) -> u64 {
        self.without_data
    }

    fn parse(&mut self, line: &[u8], units: Units) -> FieldResult<Option<TraceRecord>> {
        if self.in_summary || line.starts_with(b"CPU") || line.starts_with(b"Total") {
            self.in_summary = true;
            return Ok(None);
        }
        let mut fields = Fields::blank(line);
        let number = fields.text("the device as major,minor")?;
        let comma = number.iter().position(|byte| *byte == b',').ok_or_else(|| fields.error("the device as major,minor"))?;
        let part = |text| integer(text).ok_or_else(|| fields.error("the device as major,minor"));
        let major = device_part(&fields, part(&number[..comma])?, 1 << 12)?;
        let minor = device_part(&fields, part(&number[comma + 1..])?, 1 << 20)?;
        fields.integer("the number of the CPU")?;
        fields.integer("the sequence number")?;
        let time_ns = fields.time_ns(units.time_ns, "the time in seconds")?;
        fields.integer("the process id (a whole number)")?;
        let action = fields.text("the action (Q, D, C, …)")?;
        if action != self.action {
            if action == b"Q" {
                return Err(fields.error("no action Q so late: the first MiB has none, so D was taken for the requests"));
            }
            return Ok(None);
        }
        let kind = fields.text("the kind of request (R, W, WS, …)")?;
        let Some(direction) = direction(kind) else {
            self.without_data += 1;
            return Ok(None);
        };
        let Some(first) = fields.next() else {
            self.without_data += 1;
            return Ok(None);
        };
        if integer(first).is_none() {
            // In this field, a flush has a process name, and a command has its bytes.
            if !first.starts_with(b"[") {
                return Err(fields.error("the start sector (a whole number)"));
            }
            self.without_data += 1;
            return Ok(None);
        }
        let sector = integer(first).unwrap_or(0);
        let offset_bytes = super::super::fields::offset_bytes(sector, units.sector_bytes)
            .ok_or_else(|| fields.error("an address below 2^60 bytes (1 EiB)"))?;
        match fields.next() {
            Some(b"+") => {}
            Some(word) if word.starts_with(b"[") || word.starts_with(b"(") => {
                self.without_data += 1;
                return Ok(None);
            }
            _ => return Err(fields.error("\"+\" between start and length")),
        }
        let zeroes = writes_zeroes(kind);
        // Writes of zeroes may be as long as discards.
        let length_like = if zeroes { OpKind::Trim } else { direction };
        let length_bytes = fields.length_bytes_of(length_like, units.sector_bytes, "the length in sectors (a whole number)")?;
        Ok(Some(TraceRecord {
            time_ns,
            device: device(major, minor),
            offset_bytes,
            length_bytes,
            kind: direction,
            fua: direction == OpKind::Write && is_fua(kind),
            zeroes,
        }))
    }
}

/// Returns the action of a line if the line has the expected columns.
fn action_of(line: &[u8]) -> Option<&[u8]> {
    let mut fields = Fields::blank(line);
    for _ in 0..5 {
        fields.next()?;
    }
    fields.next()
}

/// Returns true for "force unit access", which is an F after the W. An F before it asks for a flush.
fn is_fua(kind: &[u8]) -> bool {
    kind.iter().skip_while(|letter| **letter != b'W').any(|letter| *letter == b'F')
}

/// Returns true for a write of zeroes. Only newer Linux kernels mark them. Older kernels record them as writes, or as `N` in traces of
/// ftrace.
fn writes_zeroes(kind: &[u8]) -> bool {
    kind.windows(2).any(|letters| letters == b"WZ")
}

/// Returns the kind of operation. It is `None` for flushes without data and operations on zones (`ZR` and so on).
fn direction(kind: &[u8]) -> Option<OpKind> {
    if kind.contains(&b'Z') && !writes_zeroes(kind) {
        None
    } else if kind.contains(&b'D') {
        Some(OpKind::Trim)
    } else if kind.contains(&b'R') {
        Some(OpKind::Read)
    } else if kind.contains(&b'W') {
        Some(OpKind::Write)
    } else {
        None
    }
}

//! blkparse text as printed by default: `maj,min cpu seq seconds pid action RWBS sector + sectors [process]`.
//!
//! Source: blkparse(1) of blktrace. Each request has several actions, so only one kind is taken. That is Q (queued), or D (issued) in a
//! trace without Q, or C (completed) in a trace that has only ends. `WF` is a write with "force unit access", `WZ` one of zeroes. `FWS` is
//! a flush, before the write of the same line if it has data.
//!
//! Commands are skipped, and so is everything from the first line of the summary on, except for the number of events that were lost. The
//! device is `major × 2^20 + minor`, as in the kernel.

use super::super::detect::Sample;
use super::super::fields::{FieldResult, Fields, integer};
use super::super::operations::Operation;
use super::super::record::TraceRecord;
use super::super::time_unit::TimeUnit;
use super::block_events::{BlockEvents, Event, Extent};
use super::fiu::{device, device_part, label};
use super::{Detection, FormatDescription, TraceFormat, Units};
use crate::OpKind;

/// Parser of the format. It knows the action that stands for a request, and whether the summary has begun.
#[derive(Debug, Clone)]
pub(crate) struct Blkparse {
    events: BlockEvents,
    in_summary: bool,
}

/// Letters of the actions.
const ACTIONS: [&str; 3] = ["Q", "D", "C"];

impl TraceFormat for Blkparse {
    const DESCRIPTION: FormatDescription = FormatDescription {
        doc: "Text that `blkparse` prints by default: actions Q, or D if there is no Q, or C if there are only ends.",
        description: "blkparse text (Q, else D, else C)",
        columns: "blkparse's default output; the lines with action Q, or D if there is no Q, or C if there are only ends",
        times: "s",
        time_unit: Some(TimeUnit::Seconds),
        sector_bytes: Some(512),
        detection: Detection::TrialParse(1),
        sample: b"  8,16   1        1     0.000000000   697  Q   W 2048 + 8 [writer]\n  8,16   0        6     0.500000001   698  Q  RA 16 + 16 [reader]\nCPU0 (8,16):\n",
        ..FormatDescription::TEXT
    };

    /// Chooses the action that stands for a request from the lines of the sample: Q if there is any, otherwise D, otherwise C.
    fn of_sample(sample: &Sample<'_>) -> Result<Self, String> {
        let first = sample.lines().filter_map(|line| event_of(action_of(line)?)).min();
        Ok(Self { events: BlockEvents::new(first.unwrap_or(Event::Issued)), in_summary: false })
    }

    fn interpretation_note(&self) -> Option<String> {
        Some(self.events.note(ACTIONS, "lines with action"))
    }

    fn device_label(&self, device: u32) -> String {
        label(device)
    }

    fn block_events(&self) -> Option<&BlockEvents> {
        Some(&self.events)
    }

    fn block_events_mut(&mut self) -> Option<&mut BlockEvents> {
        Some(&mut self.events)
    }

    fn parse(&mut self, line: &[u8], units: Units) -> FieldResult<Option<TraceRecord>> {
        if self.in_summary || line.starts_with(b"CPU") || line.starts_with(b"Total") {
            self.in_summary = true;
            self.events.lost += skipped_events(line);
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
        let Some(event) = event_of(action) else { return Ok(None) };
        if event < self.events.requests {
            return Err(fields.error("no action Q or D so late: the first MiB has none, so that another one was taken for the requests"));
        }
        if !self.events.needs(event) {
            return Ok(None);
        }
        let operation = Operation::of_letters(fields.text("the kind of request (R, W, WS, …)")?);
        let extent = extent(&mut fields, units, operation)?;
        Ok(self.events.take(event, time_ns, device(major, minor), operation, extent))
    }
}

/// Reads the place of a request. A flush has a process name there, and a command has its bytes.
fn extent(fields: &mut Fields<'_>, units: Units, operation: Operation) -> FieldResult<Option<Extent>> {
    let Some(first) = fields.next() else { return Ok(None) };
    let Some(sector) = integer(first) else {
        return if first.starts_with(b"[") { Ok(None) } else { Err(fields.error("the start sector (a whole number)")) };
    };
    let offset_bytes = super::super::fields::offset_bytes(sector, units.sector_bytes);
    let offset_bytes = offset_bytes.ok_or_else(|| fields.error("an address below 2^60 bytes (1 EiB)"))?;
    match fields.next() {
        Some(b"+") => {}
        Some(word) if word.starts_with(b"[") || word.starts_with(b"(") => return Ok(None),
        _ => return Err(fields.error("\"+\" between start and length")),
    }
    // Writes of zeroes may be as long as discards.
    let length_like = if operation.zeroes { OpKind::Trim } else { operation.kind.unwrap_or(OpKind::Write) };
    let length_bytes = fields.length_bytes_of(length_like, units.sector_bytes, "the length in sectors (a whole number)")?;
    Ok(Some(Extent { offset_bytes, length_bytes }))
}

/// Returns the number of events that a line of the summary (`Skips: 2 forward (17 - 0.1%)`) reports as lost.
fn skipped_events(line: &[u8]) -> u64 {
    let Some(rest) = line.trim_ascii_start().strip_prefix(b"Skips:") else { return 0 };
    let Some(open) = rest.iter().position(|byte| *byte == b'(') else { return 0 };
    Fields::blank(&rest[open + 1..]).next().and_then(integer).unwrap_or(0)
}

/// Returns the event that an action stands for, if it is one of those that matter.
fn event_of(action: &[u8]) -> Option<Event> {
    match action {
        b"Q" => Some(Event::Queued),
        b"D" => Some(Event::Issued),
        b"C" => Some(Event::Completed),
        _ => None,
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

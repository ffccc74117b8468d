//! Block events of ftrace: `trace_pipe`, `trace-cmd report`, or `perf script`, with one event to a line.
//!
//! Source: `include/trace/events/block.h` of Linux. A line is `TASK-PID [CPU] flags seconds: block_rq_issue: maj,min RWBS bytes (command)
//! sector + sectors …`. `block_rq_issue` stands for a request; in a trace without it, `block_bio_queue`, or else `block_rq_complete`.
//!
//! Other events are passed over. Lines such as `CPU:3 [LOST 245 EVENTS]` and `CPU:3 [245 EVENTS DROPPED]` count what was lost. The device
//! is `major × 2^20 + minor`.

use memchr::memmem;

use super::super::detect::Sample;
use super::super::fields::{FieldError, FieldResult, Fields, integer, length_bytes, offset_bytes, quote};
use super::super::operations::Operation;
use super::super::record::{MAX_OFFSET_BYTES, TraceRecord};
use super::super::time_unit::TimeUnit;
use super::block_events::{BlockEvents, Event, Extent};
use super::fiu::{device, device_part, label};
use super::{Detection, FormatDescription, TraceFormat, Units};
use crate::OpKind;

/// Names of the events.
const EVENTS: [&str; 3] = ["block_bio_queue", "block_rq_issue", "block_rq_complete"];

/// Parser of the format. It knows the event that stands for a request.
#[derive(Debug, Clone)]
pub(crate) struct Ftrace {
    events: BlockEvents,
}

impl TraceFormat for Ftrace {
    const DESCRIPTION: FormatDescription = FormatDescription {
        doc: "Block events of ftrace, as `trace_pipe`, `trace-cmd report` and `perf script` print them.",
        description: "ftrace's block events (block_rq_issue)",
        columns: "block events of `trace_pipe`, `trace-cmd report` or `perf script`; block_rq_issue, or others if there is none",
        times: "s",
        time_unit: Some(TimeUnit::Seconds),
        sector_bytes: Some(512),
        may_have_header: false,
        detection: Detection::Line(|line| event_in(line).is_some(), 0),
        sample: b" fio-18 [003] .....  9203.000282: block_rq_issue: 259,0 W 16384 () 1367424 + 32 none,0,0 [fio]\n <idle>-0 [003] d.h1.  9203.000594: block_rq_complete: 259,0 W () 1367424 + 32 none,0,0 [0]\n fio-18 [003] .....  9203.001: block_rq_issue: 259,0 RS 4096 () 8 + 8 [fio]\n",
        ..FormatDescription::TEXT
    };

    /// Chooses the event that stands for a request: what is issued to the drive, else what is queued, else what is complete.
    fn of_sample(sample: &Sample<'_>) -> Result<Self, String> {
        let has = |wanted: Event| sample.lines().any(|line| event_in(line).is_some_and(|(event, _)| event == wanted));
        let requests = [Event::Issued, Event::Queued].into_iter().find(|event| has(*event)).unwrap_or(Event::Completed);
        Ok(Self { events: BlockEvents::new(requests) })
    }

    fn interpretation_note(&self) -> Option<String> {
        Some(self.events.note(EVENTS, "events"))
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
        self.events.lost += lost_events(line);
        let Some((event, place)) = event_in(line) else { return Ok(None) };
        if event == Event::Issued && self.events.requests != Event::Issued {
            let found = quote(&line[place..]);
            let expected = "no block_rq_issue so late: the first MiB has none, so that another event was taken for the requests";
            return Err(FieldError { column: place + 1, found, expected });
        }
        if !self.events.needs(event) {
            return Ok(None);
        }
        let time_at = time_before(line, place);
        let mut fields = Fields::blank(&line[..place]).starting_at(time_at);
        let time_error =
            |found: &[u8]| FieldError { column: time_at + 1, found: quote(found), expected: "the time in seconds before the event" };
        let time = fields.next().unwrap_or_default();
        let time = time.strip_suffix(b":").ok_or_else(|| time_error(time))?;
        let time_ns = Fields::blank(time).time_ns(units.time_ns, "the time in seconds").map_err(|_| time_error(time))?;

        // The name of the event ends with a colon.
        let mut fields = Fields::blank(line).starting_at(place);
        fields.skip("the event")?;
        let number = fields.text("the device as major,minor")?;
        let comma = number.iter().position(|byte| *byte == b',').ok_or_else(|| fields.error("the device as major,minor"))?;
        let part = |text| integer(text).ok_or_else(|| fields.error("the device as major,minor"));
        let major = device_part(&fields, part(&number[..comma])?, 1 << 12)?;
        let minor = device_part(&fields, part(&number[comma + 1..])?, 1 << 20)?;
        let operation = Operation::of_letters(fields.text("the kind of request (R, W, WS, …)")?);
        let extent = extent(&mut fields, line, units, operation)?;
        Ok(self.events.take(event, time_ns, device(major, minor), operation, Some(extent)))
    }
}

/// Reads `[bytes] [(command)] sector + sectors`. The command may hold blanks.
fn extent(fields: &mut Fields<'_>, line: &[u8], units: Units, operation: Operation) -> FieldResult<Extent> {
    let from = fields.column();
    let Some(plus) = memmem::find(&line[from..], b" + ").map(|at| from + at) else {
        fields.text("sector + sectors")?;
        return Err(fields.error("sector + sectors"));
    };
    let start = line[..plus].iter().rposition(|byte| *byte == b' ').map_or(0, |at| at + 1);
    let mut numbers = Fields::blank(line).starting_at(start);
    let sector = numbers.integer("the start sector (a whole number)")?;
    // Requests without a place, such as flushes, have the sector -1 as an unsigned number.
    let sector = if sector == u64::MAX { 0 } else { sector };
    let offset_bytes = offset_bytes(sector, units.sector_bytes).ok_or_else(|| numbers.error("an address below 2^60 bytes (1 EiB)"))?;
    numbers.skip("\"+\" between start and length")?;
    let sectors = numbers.integer("the length in sectors (a whole number)")?;
    let may_be_long = operation.zeroes || operation.kind == Some(OpKind::Trim);
    let length_bytes = match may_be_long {
        true => sectors.checked_mul(units.sector_bytes).filter(|bytes| *bytes <= MAX_OFFSET_BYTES),
        false => length_bytes(sectors, units.sector_bytes),
    };
    let length_bytes = length_bytes.ok_or_else(|| numbers.error("a length of at most 1 GiB"))?;
    Ok(Extent { offset_bytes, length_bytes })
}

/// Returns the event of a line and the place of its name, if it is one of those that matter.
fn event_in(line: &[u8]) -> Option<(Event, usize)> {
    let mut from = 0;
    while let Some(at) = memmem::find(&line[from..], b"block_").map(|at| from + at) {
        let known = [Event::Queued, Event::Issued, Event::Completed]
            .into_iter()
            .find(|event| line[at..].strip_prefix(EVENTS[*event as usize].as_bytes()).is_some_and(|rest| rest.starts_with(b":")));
        if let Some(event) = known {
            return Some((event, at));
        }
        from = at + 1;
    }
    None
}

/// Returns the place of the time, which is the last word before the event. `perf script` writes `block:` before the name of the event.
fn time_before(line: &[u8], event_at: usize) -> usize {
    let before = line[..event_at].strip_suffix(b"block:").unwrap_or(&line[..event_at]);
    let end = before.iter().rposition(|byte| !byte.is_ascii_whitespace()).map_or(0, |at| at + 1);
    before[..end].iter().rposition(u8::is_ascii_whitespace).map_or(0, |at| at + 1)
}

/// Returns the number of events that a line reports as lost: `[LOST 5 EVENTS]` of the kernel, `[5 EVENTS DROPPED]` of trace-cmd. Without a
/// number, as in `[LOST EVENTS]`, it is one.
fn lost_events(line: &[u8]) -> u64 {
    let Some(inside) = line.trim_ascii_end().strip_suffix(b"]") else { return 0 };
    let Some(open) = inside.iter().rposition(|byte| *byte == b'[') else { return 0 };
    let mut words = Fields::blank(&inside[open + 1..]);
    match [words.next(), words.next(), words.next(), words.next()] {
        [Some(b"LOST"), Some(number), Some(b"EVENTS"), None] | [Some(number), Some(b"EVENTS"), Some(b"DROPPED"), None] => {
            integer(number).unwrap_or(1)
        }
        [Some(b"LOST"), Some(b"EVENTS"), None, None] | [Some(b"EVENTS"), Some(b"DROPPED"), None, None] => 1,
        _ => 0,
    }
}

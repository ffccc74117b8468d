//! blkreplay load: a preamble, a line that begins `start ;`, then `seconds ; sector ; sectors ; R/W ; delay ; duration`.
//!
//! Source: blkreplay (Schöbel-Theuer), "load" files; sectors of 512 bytes. Everything before the `start` line is passed over; a file
//! without such a line has no preamble. Being made from blktrace, it may have further letters after R or W: RA reads ahead, WS writes
//! synchronously; like blkreplay we go by the first.

use super::fields::{FieldResult, Fields};
use super::parser::Units;
use super::record::TraceRecord;
use crate::OpKind;
use crate::units::counted;

/// Whether the preamble is over, and how many requests read ahead.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Blkreplay {
    in_preamble: bool,
    read_aheads: u64,
}

impl Blkreplay {
    /// Looks for the `start` line in a sample.
    pub fn from_sample<'a>(mut lines: impl Iterator<Item = &'a [u8]>) -> Self {
        Self { in_preamble: lines.any(is_start), read_aheads: 0 }
    }

    /// What to tell when the trace has been read.
    pub fn remark(&self) -> Option<String> {
        (self.read_aheads > 0)
            .then(|| format!("directions: {} marked RA (read ahead), counted as reads", counted(self.read_aheads, "request")))
    }

    pub fn parse(&mut self, line: &[u8], units: Units) -> FieldResult<Option<TraceRecord>> {
        if self.in_preamble {
            self.in_preamble = !is_start(line);
            return Ok(None);
        }
        let mut fields = Fields::separated_by(b';', line);
        let time_ns = fields.time_ns(units.time_ns, "the time in seconds")?;
        let offset_bytes = fields.offset_bytes(units.sector_bytes, "the start sector (a whole number)")?;
        let length_bytes = fields.length_bytes(units.sector_bytes, "the length in sectors (a whole number)")?;
        let expected = "the operation: R or W, perhaps with further letters of blktrace";
        let direction = match fields.text(expected)? {
            [b'R', rest @ ..] if rest.iter().all(u8::is_ascii_uppercase) => {
                self.read_aheads += u64::from(rest.contains(&b'A'));
                OpKind::Read
            }
            [b'W', rest @ ..] if rest.iter().all(u8::is_ascii_uppercase) => OpKind::Write,
            _ => return Err(fields.bad(expected)),
        };
        Ok(Some(TraceRecord { time_ns, device: 0, offset_bytes, length_bytes, kind: direction }))
    }
}

/// Whether this line ends the preamble.
pub(crate) fn is_start(line: &[u8]) -> bool {
    line.strip_prefix(b"start").is_some_and(|rest| rest.trim_ascii_start().starts_with(b";"))
}

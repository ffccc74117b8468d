//! libCacheSim CSV: `time,obj_id,size[,op]` without a header, or columns in any order named by a header.
//!
//! Source: libCacheSim (Yang et al.). Its CSV reader must be told the columns; these are the ones of its own files. The id of the object is
//! read as a sector of 512 bytes (`sector_bytes` overrides it), and the size is in bytes.
//!
//! Times are seconds unless the numbers are too large for that (10^11 and more: ms, 10^14: µs, 10^17: ns since 1970).
//!
//! Without an op column, everything is a read unless the user says otherwise. Ops are names of libCacheSim (`get`, `set`, …), names of
//! block I/O (`read`, `w`, `trim`, …), or SCSI opcodes in hexadecimal (`2a`).

use super::super::detect::Sample;
use super::super::fields::{FieldResult, Fields, decimal_times};
use super::super::five_columns::Times;
use super::super::record::TraceRecord;
use super::super::time_unit::TimeUnit;
use super::{Detection, FormatDescription, TraceFormat, Units, Writing};
use crate::OpKind;

/// Parser of the format, with the meaning of the columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Libcachesim {
    time: usize,
    id: usize,
    size: usize,
    op: Option<usize>,
    columns: usize,
    /// True until the header line, which names the columns, has been skipped.
    header_ahead: bool,
    /// Kind of all requests if there is no op column.
    kind: OpKind,
}

impl TraceFormat for Libcachesim {
    const DESCRIPTION: FormatDescription = FormatDescription {
        doc: "libCacheSim CSV: `time,obj_id,size[,op]`, or columns named by a header.",
        description: "libCacheSim CSV: time,obj_id,size[,op]",
        columns: "time,obj_id,size[,op], or columns named by a header",
        times: "s, guessed",
        time_unit: Some(TimeUnit::Seconds),
        sector_bytes: Some(512),
        has_devices: false,
        detection: Detection::TrialParse(9),
        sample: b"version,time,op,size,lbn\n1,5,2a,4096,100\n1,6,28,512,108\n",
        writing: Some(Writing {
            length_in_bytes: true,
            knows_discards: true,
            head: |_, to| to.write_all(b"time,obj_id,size,op\n"),
            ..Writing::by(|line, to| {
                writeln!(to, "{},{},{},{}", line.seconds(), line.sector, line.length_bytes, line.word().to_ascii_lowercase())
            })
        }),
        ..FormatDescription::TEXT
    };

    fn of_sample(sample: &Sample<'_>) -> Result<Self, String> {
        sample.lines().next().and_then(Self::from_first_line).ok_or_else(|| {
            "line 1: expected time,obj_id,size[,op], or a header that names the columns time, obj_id, size and perhaps op".to_owned()
        })
    }

    fn time_stamp_unit(&self, sample: &Sample<'_>, notes: &mut Vec<String>) -> Times {
        let unit = self.guess_unit(sample.lines());
        notes.push(format!("times: taken for {unit} by their size; time_unit overrules it"));
        Times::In(unit)
    }

    fn tells_direction(&self) -> bool {
        self.op.is_some()
    }

    fn assume_kind(&mut self, kind: OpKind) {
        self.kind = kind;
    }

    fn parse(&mut self, line: &[u8], units: Units) -> FieldResult<Option<TraceRecord>> {
        if std::mem::take(&mut self.header_ahead) {
            return Ok(None);
        }
        let mut record =
            TraceRecord { time_ns: 0, device: 0, offset_bytes: 0, length_bytes: 0, kind: self.kind, fua: false, zeroes: false };
        let mut fields = Fields::separated_by(b',', line);
        for column in 0..self.columns {
            if column == self.time {
                record.time_ns = fields.time_ns(units.time_ns, "the time (a number)")?;
            } else if column == self.id {
                record.offset_bytes = fields.offset_bytes(units.sector_bytes, "the object's id (a whole number)")?;
            } else if column == self.size {
                record.length_bytes = fields.length_bytes(1, "the size in bytes (a whole number)")?;
            } else if Some(column) == self.op {
                let expected = "the operation: read, write, get, set, r, w, a SCSI opcode such as 2a, …";
                let text = fields.text(expected)?;
                record.zeroes = ZEROES.iter().any(|name| text.eq_ignore_ascii_case(name));
                match operation(text) {
                    Some(Some(direction)) => record.kind = direction,
                    Some(None) => return Ok(None),
                    None => return Err(fields.error(expected)),
                }
            } else {
                fields.skip("as many columns as the first line has")?;
            }
        }
        Ok(Some(record))
    }
}

impl Libcachesim {
    /// Finds the columns from the first line that is not blank. The line either names them, or has the standard three or four columns.
    fn from_first_line(line: &[u8]) -> Option<Self> {
        let (mut time, mut id, mut size, mut op) = (None, None, None, None);
        let mut columns = 0;
        let mut fields = Fields::separated_by(b',', line);
        while let Some(field) = fields.next() {
            let name = field.to_ascii_lowercase();
            let place = match name.as_slice() {
                b"time" | b"timestamp" | b"ts" | b"clock_time" | b"real_time" => &mut time,
                b"obj_id" | b"obj" | b"object" | b"object_id" | b"id" | b"key" | b"lbn" | b"lba" | b"block" => &mut id,
                b"size" | b"obj_size" | b"object_size" | b"len" | b"length" => &mut size,
                b"op" | b"operation" | b"cmd" => &mut op,
                _ => &mut None,
            };
            *place = place.or(Some(columns));
            columns += 1;
        }
        if let (Some(time), Some(id), Some(size)) = (time, id, size) {
            return Some(Self { time, id, size, op, columns, header_ahead: true, kind: OpKind::Read });
        }
        let numbers = Fields::separated_by(b',', line).next().is_some_and(|field| decimal_times(field, 0).is_ok());
        (numbers && (columns == 3 || columns == 4)).then(|| Self {
            time: 0,
            id: 1,
            size: 2,
            op: (columns == 4).then_some(3),
            columns,
            header_ahead: false,
            kind: OpKind::Read,
        })
    }

    /// Returns the unit in which the first time stamp makes sense.
    fn guess_unit<'a>(&self, mut lines: impl Iterator<Item = &'a [u8]>) -> TimeUnit {
        let first = lines.find_map(|line| {
            let mut fields = Fields::separated_by(b',', line);
            let field = (0..=self.time).map_while(|_| fields.next()).last()?;
            decimal_times(field, 1).ok()
        });
        match first.unwrap_or(0) {
            0..100_000_000_000 => TimeUnit::Seconds,
            100_000_000_000..100_000_000_000_000 => TimeUnit::Milliseconds,
            100_000_000_000_000..100_000_000_000_000_000 => TimeUnit::Microseconds,
            100_000_000_000_000_000.. => TimeUnit::Nanoseconds,
        }
    }
}

/// Names and SCSI opcodes of operations that read.
const READS: [&[u8]; 8] = [b"read", b"r", b"get", b"gets", b"28", b"88", b"08", b"a8"];
/// Names and SCSI opcodes of operations that write.
const WRITES: [&[u8]; 14] =
    [b"write", b"w", b"set", b"put", b"add", b"replace", b"append", b"prepend", b"cas", b"update", b"2a", b"8a", b"0a", b"aa"];
/// Names of operations that discard.
const DISCARDS: [&[u8]; 3] = [b"trim", b"discard", b"unmap"];
/// Names of operations that write zeroes without sending them.
const ZEROES: [&[u8]; 2] = [b"write_zeroes", b"write-zeroes"];
/// Names of operations that move no data. All other opcodes move none, either.
const OTHERS: [&[u8]; 4] = [b"nop", b"delete", b"incr", b"decr"];

/// Returns the kind of an operation. It returns `Some(None)` for operations that move no data, and `None` for a text that is no operation.
fn operation(text: &[u8]) -> Option<Option<OpKind>> {
    let is_in = |names: &[&[u8]]| names.iter().any(|name| text.eq_ignore_ascii_case(name));
    if is_in(&READS) {
        Some(Some(OpKind::Read))
    } else if is_in(&WRITES) || is_in(&ZEROES) {
        Some(Some(OpKind::Write))
    } else if is_in(&DISCARDS) {
        Some(Some(OpKind::Trim))
    } else if is_in(&OTHERS) || (text.len() == 2 && text.iter().all(u8::is_ascii_hexdigit)) {
        Some(None)
    } else {
        None
    }
}

//! blkreplay load: a preamble, a line that begins `start ;`, then `seconds ; sector ; sectors ; R/W ; delay ; duration`.
//!
//! Source: blkreplay (Schöbel-Theuer), "load" files, with sectors of 512 bytes. Everything before the `start` line is skipped. A file
//! without such a line has no preamble.
//!
//! Several files may be joined. Another preamble (it begins "Copyright") or `start` line after requests is skipped, too. Times that begin
//! anew continue from the last one. A preamble that comes again may have lost its first lines: it begins at any line of the first preamble.
//!
//! These files are made from blktrace and may have more letters after R or W: RA reads ahead, WS writes synchronously. Like blkreplay, the
//! parser uses the first letter.

use std::collections::BTreeSet;

use super::super::detect::Sample;
use super::super::fields::{FieldResult, Fields, decimal_times};
use super::super::record::TraceRecord;
use super::super::time_unit::TimeUnit;
use super::{Detection, FormatDescription, TraceFormat, Units, Writing};
use crate::OpKind;
use crate::units::count_with_noun;

/// Parser of the format: state of the preamble, number of requests that read ahead, and times of joined files.
#[derive(Debug, Clone)]
pub(crate) struct Blkreplay {
    in_preamble: bool,
    /// Lines of the first preamble, by which a repeated preamble is recognised.
    preamble: BTreeSet<Vec<u8>>,
    read_aheads: u64,
    /// Number of files that were joined to the first.
    joined: u64,
    /// True until the first request of the current file has been read.
    at_begin: bool,
    /// Time that is added to the times of the current file.
    base_ns: u64,
    last_ns: u64,
}

impl TraceFormat for Blkreplay {
    const DESCRIPTION: FormatDescription = FormatDescription {
        doc: "blkreplay load: `seconds ; sector ; sectors ; R/W ; delay ; duration`.",
        description: "blkreplay load: seconds ; sector ; sectors ; R/W ; delay ; duration",
        columns: "time ; sector ; sectors ; R/W ; delay ; duration",
        times: "s",
        time_unit: Some(TimeUnit::Seconds),
        sector_bytes: Some(512),
        has_devices: false,
        detection: Detection::Line(is_start, 7),
        sample: b"preamble\nstart ; sector; length ; op\n 0.000000000 ;  16 ;  8 ; W ; 0.0 ; 0.0\n 1.5 ;  24 ;  8 ;RA ; 0.0 ; 0.0\n",
        writing: Some(Writing {
            head: |_, to| to.write_all(b"start ; sector; length ; op ;  replay_delay=0 ; replay_duration=0\n"),
            ..Writing::by(|line, to| {
                let (sector, sectors, letter) = (line.sector, line.sectors, line.letter());
                writeln!(to, "{} ; {sector} ; {sectors} ; {letter} ; 0.0 ; {}", line.seconds(), line.response_seconds())
            })
        }),
        ..FormatDescription::TEXT
    };

    /// Returns the parser, after looking for the `start` line.
    fn of_sample(sample: &Sample<'_>) -> Result<Self, String> {
        let in_preamble = sample.lines().any(is_start);
        let preamble = sample.lines().take_while(|line| !is_start(line)).filter(|_| in_preamble).take(PREAMBLE_MAX).map(<[u8]>::to_vec);
        Ok(Self { in_preamble, preamble: preamble.collect(), read_aheads: 0, joined: 0, at_begin: true, base_ns: 0, last_ns: 0 })
    }

    fn note_at_end(&self) -> Option<String> {
        let mut remarks = Vec::new();
        if self.read_aheads > 0 {
            remarks.push(format!("directions: {} marked RA (read ahead), counted as reads", count_with_noun(self.read_aheads, "request")));
        }
        if self.joined > 0 {
            remarks.push(format!(
                "joined: the file has {} in a row; where times begin anew they are counted on from the last one",
                count_with_noun(self.joined + 1, "trace")
            ));
        }
        if self.in_preamble {
            remarks.push("cut off: the last preamble is not followed by a line that begins \"start ;\"".to_owned());
        }
        (!remarks.is_empty()).then(|| remarks.join("; "))
    }

    fn parse(&mut self, line: &[u8], units: Units) -> FieldResult<Option<TraceRecord>> {
        if self.in_preamble {
            self.in_preamble = !is_start(line);
            return Ok(None);
        }
        if is_start(line) || line.starts_with(PREAMBLE) || self.preamble.contains(line) {
            self.in_preamble = !is_start(line);
            self.joined += u64::from(!self.at_begin);
            self.at_begin = true;
            return Ok(None);
        }
        let mut fields = Fields::separated_by(b';', line);
        let own_ns = fields.time_ns(units.time_ns, "the time in seconds")?;
        let offset_bytes = fields.offset_bytes(units.sector_bytes, "the start sector (a whole number)")?;
        let length_bytes = fields.length_bytes(units.sector_bytes, "the length in sectors (a whole number)")?;
        let expected = "the operation: R or W, perhaps with further letters of blktrace";
        let direction = match fields.text(expected)? {
            [b'R', rest @ ..] if rest.iter().all(u8::is_ascii_uppercase) => {
                self.read_aheads += u64::from(rest.contains(&b'A'));
                OpKind::Read
            }
            [b'W', rest @ ..] if rest.iter().all(u8::is_ascii_uppercase) => OpKind::Write,
            _ => return Err(fields.error(expected)),
        };
        if std::mem::take(&mut self.at_begin) && own_ns < self.last_ns {
            self.base_ns = self.last_ns;
        }
        // The delay of the replay does not matter, the duration does.
        let response_ns = fields.next().and_then(|_| fields.next()).and_then(|text| decimal_times(text, units.time_ns).ok()).unwrap_or(0);
        let time_ns = self.base_ns.checked_add(own_ns).ok_or_else(|| fields.error("times of less than 2^64 ns in all"))?;
        self.last_ns = time_ns;
        Ok(Some(TraceRecord::new(time_ns, 0, offset_bytes, length_bytes, direction).with_response_ns(response_ns)))
    }
}

/// Maximum number of lines of the first preamble that are remembered.
const PREAMBLE_MAX: usize = 1000;
/// First bytes of the preamble of a file.
const PREAMBLE: &[u8] = b"Copyright";

/// Returns true if this line ends the preamble.
fn is_start(line: &[u8]) -> bool {
    line.strip_prefix(b"start").is_some_and(|rest| rest.trim_ascii_start().starts_with(b";"))
}

#[cfg(test)]
mod tests {
    use super::super::super::{TraceSpec, info, open_trace_bytes};

    const PART: &str =
        "Copyright somebody\n\nmore of it\nstart ; sector; length ; op\n0.0 ; 8 ; 8 ; W ; 0.0 ; 0.0\n2.5 ; 16 ; 8 ; R ; 0.0 ; 0.0\n";

    fn times(text: &str) -> Result<Vec<u64>, String> {
        let mut reader = open_trace_bytes(text.as_bytes().to_vec(), &TraceSpec::new("x")).map_err(|error| error.to_string())?;
        let mut times = Vec::new();
        while let Some(record) = reader.next_record().map_err(|error| error.to_string())? {
            times.push(record.time_ns / 1_000_000);
        }
        Ok(times)
    }

    #[test]
    fn joined_files_are_read_one_after_the_other() {
        assert_eq!(times(&[PART, PART, PART].concat()).unwrap(), [0, 2500, 2500, 5000, 5000, 7500]);
        let goes_on = PART.replace("0.0 ; 8 ;", "3.0 ; 8 ;").replace("2.5 ; 16", "4.0 ; 16");
        assert_eq!(times(&[PART, &goes_on].concat()).unwrap(), [0, 2500, 3000, 4000], "times that go on stay");
        let notes = info::trace_info_of_bytes([PART, PART].concat().into_bytes(), &TraceSpec::new("x")).unwrap().notes;
        assert!(notes.iter().any(|note| note.contains("2 traces in a row")), "{notes:?}");
        let notes = info::trace_info_of_bytes(PART.as_bytes().to_vec(), &TraceSpec::new("x")).unwrap().notes;
        assert!(!notes.iter().any(|note| note.contains("joined")), "{notes:?}");
    }

    /// Once: an error at the first of these lines.
    #[test]
    fn a_preamble_that_comes_again_without_its_first_lines_is_passed_over() {
        let again = "\nmore of it\n####\nstart ; sector; length ; op\n0.0 ; 8 ; 8 ; W ; 0.0 ; 0.0\n";
        assert_eq!(times(&[PART, again].concat()).unwrap(), [0, 2500, 2500]);
        let after_header = "start ; sector; length ; op\nmore of it\n####\nstart ; sector; length ; op\n0.0 ; 8 ; 8 ; W ; 0.0 ; 0.0\n";
        assert_eq!(times(&[PART, after_header].concat()).unwrap(), [0, 2500, 2500]);
    }

    #[test]
    fn other_text_among_requests_is_an_error() {
        let error = times(&[PART, "nonsense\n"].concat()).unwrap_err();
        assert!(error.contains("line 7"), "{error}");
    }
}

//! MSR Cambridge CSV: `ticks,host,disk,Read/Write,offset,bytes,response`, with ticks of 100 ns and addresses in bytes.
//!
//! Source: Narayanan et al., "Write Off-Loading" (FAST '08), as distributed by SNIA IOTTA. Some copies have a record number and a blank in
//! front, which are skipped. The device is the number of the disk. The disks of a second host begin at 65536, those of a third at 131072,
//! ….

use std::collections::HashMap;

use super::super::detect::Sample;
use super::super::fields::{FieldError, FieldResult, Fields, decimal_times, quote};
use super::super::record::TraceRecord;
use super::super::time_unit::TimeUnit;
use super::{Detection, FormatDescription, TraceFormat, Units, Writing};

/// Maximum number of disks of one host.
const DISKS_PER_HOST: u32 = 1 << 16;

/// The hosts seen so far, in order of appearance.
#[derive(Debug, Clone, Default)]
pub(crate) struct Msr {
    hosts: Vec<Box<[u8]>>,
    numbers: HashMap<Box<[u8]>, u32>,
    /// Host of the line before. The current line nearly always has the same host.
    last: u32,
}

impl TraceFormat for Msr {
    const DESCRIPTION: FormatDescription = FormatDescription {
        doc: "MSR Cambridge CSV: `ticks,host,disk,Read/Write,offset,bytes,response`, ticks of 100 ns.",
        description: "MSR Cambridge CSV: ticks,host,disk,Read/Write,offset,bytes,response",
        columns: "[number] time,host,disk,Read/Write,offset,bytes,response",
        times: "100 ns",
        time_unit: Some(TimeUnit::Ticks),
        sector_bytes: None,
        detection: Detection::TrialParse(3),
        sample: b"10000000000,alpha,2,Read,8192,4096,77\r\n10000000007,beta,0,Write,0,512,5\r\n",
        writing: Some(Writing {
            resolution_ns: 100,
            devices_max: Some(DISKS_PER_HOST),
            ..Writing::by(|line, to| {
                let ticks = line.ns / 100;
                let (word, response) = (line.word(), line.response_ns / 100);
                writeln!(to, "{ticks},flashraid,{},{word},{},{},{response}", line.device, line.offset_bytes, line.length_bytes)
            })
        }),
        ..FormatDescription::TEXT
    };

    fn of_sample(_: &Sample<'_>) -> Result<Self, String> {
        Ok(Self::default())
    }

    #[inline]
    fn parse(&mut self, line: &[u8], units: Units) -> FieldResult<Option<TraceRecord>> {
        self.request(line, units).map(Some)
    }

    /// Returns the device as `host/disk`.
    fn device_label(&self, device: u32) -> String {
        let host = self.hosts.get((device / DISKS_PER_HOST) as usize);
        let host = host.map_or_else(|| "?".into(), |host| String::from_utf8_lossy(host));
        format!("{host}/{}", device % DISKS_PER_HOST)
    }
}

impl Msr {
    fn request(&mut self, line: &[u8], units: Units) -> FieldResult<TraceRecord> {
        let mut fields = Fields::separated_by(b',', line).starting_at(record_number_bytes(line));
        let time_ns = fields.time_ns(units.time_ns, "the time in Windows ticks of 100 ns")?;
        let host = fields.text("the name of the host")?;
        let host_column = fields.column();
        let disk = fields.device("the number of the disk")?;
        if disk >= DISKS_PER_HOST {
            return Err(fields.error("a disk number below 65536"));
        }
        let direction = fields.read_or_write("the operation: Read or Write")?;
        let offset_bytes = fields.offset_bytes(1, "the offset in bytes (a whole number)")?;
        let length_bytes = fields.length_bytes(1, "the length in bytes (a whole number)")?;
        let response_ns = fields.next().and_then(|text| decimal_times(text, units.time_ns).ok()).unwrap_or(0);
        // Only a correct line may add a host.
        let host =
            self.host(host).ok_or_else(|| FieldError { column: host_column, found: quote(host), expected: "fewer than 65536 hosts" })?;
        let device = host * DISKS_PER_HOST + disk;
        Ok(TraceRecord::new(time_ns, device, offset_bytes, length_bytes, direction).with_response_ns(response_ns))
    }

    fn host(&mut self, name: &[u8]) -> Option<u32> {
        if self.hosts.get(self.last as usize).is_some_and(|last| **last == *name) {
            return Some(self.last);
        }
        self.last = match self.numbers.get(name) {
            Some(number) => *number,
            None => {
                let number = u32::try_from(self.hosts.len()).ok().filter(|number| *number < DISKS_PER_HOST)?;
                self.hosts.push(name.into());
                self.numbers.insert(name.into(), number);
                number
            }
        };
        Some(self.last)
    }
}

/// Returns the number of bytes of a record number and of the blank after it; 0 if the line does not begin with them.
fn record_number_bytes(line: &[u8]) -> usize {
    let digits = line.iter().take_while(|byte| byte.is_ascii_digit()).count();
    match line.get(digits) {
        Some(b' ' | b'\t') if digits > 0 => digits + 1,
        _ => 0,
    }
}

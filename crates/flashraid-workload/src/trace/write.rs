//! Writes traces in the formats that other programs read. The file appears only when it is complete.

use std::io::{self, BufWriter, Write};
use std::num::NonZeroU64;
use std::path::Path;

use serde::Serialize;

use super::compression::{CompressingWriter, Compression};
use super::formats::{Format, Line, Writing};
use super::open_trace;
use super::record::TraceRecord;
use super::spec::TraceSpec;
use crate::files::ReplacementFile;
use crate::{OpKind, SourceError};

/// Number of formats that can be written.
const WRITABLE_COUNT: usize = {
    let (mut count, mut at) = (0, 0);
    while at < Format::ALL.len() {
        count += Format::ALL[at].full_description().writing.is_some() as usize;
        at += 1;
    }
    count
};

/// All formats that can be written.
pub const WRITABLE_FORMATS: [Format; WRITABLE_COUNT] = {
    let mut writable = [Format::ALL[0]; WRITABLE_COUNT];
    let (mut count, mut at) = (0, 0);
    while at < Format::ALL.len() {
        if Format::ALL[at].full_description().writing.is_some() {
            writable[count] = Format::ALL[at];
            count += 1;
        }
        at += 1;
    }
    writable
};

/// Number of bytes in the sectors that are written.
const SECTOR_BYTES: u64 = 512;

/// Counts of a conversion: the requests written, and the information that was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct TraceWriteSummary {
    /// Number of requests written.
    pub requests: u64,
    /// Number of requests that were widened to whole sectors or pages, because the format cannot hold their exact range.
    pub widened: u64,
    /// Number of time stamps that were cut to the coarser unit of the format.
    pub times_cut: u64,
    /// Number of discards that were left out, because the format cannot hold them.
    pub discards_lost: u64,
    /// Number of flushes that were left out, because the format cannot hold them.
    pub flushes_lost: u64,
    /// Number of requests that were written without times, because the trace had none. Only version 2 of the format of fio allows that.
    pub without_times: u64,
    /// Number of requests that lost the number of their device, which was not 0, because the format has no devices. They share the
    /// addresses of device 0.
    pub devices_lost: u64,
}

/// Writes requests in one format. Times count from the first request.
pub struct TraceWriter<W: Write> {
    output: W,
    format: Format,
    writing: &'static Writing,
    first_ns: Option<u64>,
    /// Time of the latest request, counted from the first one.
    last_ns: u64,
    written: TraceWriteSummary,
}

impl<W: Write> TraceWriter<W> {
    /// Begins a trace of `format` in `output`, which should be buffered. `devices` are the numbers of all devices that will occur. A
    /// trace in a format of fio begins with a list of its devices.
    ///
    /// # Errors
    /// Returns `InvalidInput` for a format that is not in [`WRITABLE_FORMATS`], otherwise the error of `output`.
    pub fn new(mut output: W, format: Format, devices: &[u32]) -> io::Result<Self> {
        let Some(writing) = &format.full_description().writing else {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, not_writable(format)));
        };
        (writing.head)(devices, &mut output)?;
        Ok(Self { output, format, writing, first_ns: None, last_ns: 0, written: TraceWriteSummary::default() })
    }

    /// Appends a request. Requests must come in order of time.
    ///
    /// # Errors
    /// Returns the error of the output.
    pub fn write(&mut self, record: &TraceRecord) -> io::Result<()> {
        if record.kind == OpKind::Trim && !self.writing.knows_discards {
            self.written.discards_lost += 1;
            return Ok(());
        }
        if record.kind == OpKind::Flush && !self.writing.knows_flushes {
            self.written.flushes_lost += 1;
            return Ok(());
        }
        let first_ns = *self.first_ns.get_or_insert(record.time_ns);
        let ns = record.time_ns.saturating_sub(first_ns);
        // A request in sectors is widened to hold all its bytes.
        let sector = record.offset_bytes / SECTOR_BYTES;
        let line = Line {
            number: self.written.requests,
            ns,
            last_ns: self.last_ns,
            device: record.device,
            offset_bytes: record.offset_bytes,
            length_bytes: record.length_bytes,
            sector,
            sectors: (record.offset_bytes + record.length_bytes).div_ceil(SECTOR_BYTES) - sector,
            kind: record.kind,
            response_ns: record.response_ns.map_or(0, NonZeroU64::get),
        };
        (self.writing.line)(&line, &mut self.output)?;
        self.last_ns = self.last_ns.max(ns);
        self.count(record, ns);
        Ok(())
    }

    /// Ends the trace, flushes the output and returns it.
    ///
    /// # Errors
    /// Returns the error of the output.
    pub fn finish(mut self) -> io::Result<(W, TraceWriteSummary)> {
        self.output.flush()?;
        Ok((self.output, self.written))
    }

    /// Counts the information of a request that the format cannot hold.
    fn count(&mut self, record: &TraceRecord, ns: u64) {
        let start_unit = self.format.sector_bytes().map_or(1, u64::from);
        let length_unit = if self.writing.length_in_bytes { 1 } else { start_unit };
        let widened = !record.offset_bytes.is_multiple_of(start_unit) || !record.length_bytes.is_multiple_of(length_unit);
        self.written.requests += 1;
        self.written.widened += u64::from(widened);
        self.written.times_cut += u64::from(!ns.is_multiple_of(self.writing.resolution_ns));
        self.written.devices_lost += u64::from(record.device != 0 && !self.format.has_devices());
    }
}

/// Converts the trace of `spec` to `format` in the file `path`. The file is compressed if its name ends in `.gz`, `.zst` or `.bz2`, and
/// appears only when it is complete.
///
/// Devices keep their numbers and addresses ([`super::DevicePlacement::List`] chooses among them). `rate_per_s`, in requests per
/// second, gives times to a trace without times. Without a rate, such a trace stays without times, which only some formats allow.
///
/// # Errors
/// Returns an error in these cases:
/// - The trace cannot be read, or the file or the format cannot be written.
/// - The format cannot hold the number of a device.
/// - There is no rate for a trace without times, although the format requires times.
/// - There is a rate for a trace that has times.
pub fn convert_trace(spec: &TraceSpec, path: &Path, format: Format, rate_per_s: Option<f64>) -> Result<TraceWriteSummary, SourceError> {
    let Some(writing) = &format.full_description().writing else {
        return Err(SourceError::InvalidInput(format!("{}: {}", path.display(), not_writable(format))));
    };
    let devices = match writing.names_devices {
        true => super::survey_trace(spec)?.devices.iter().map(|device| device.device).collect(),
        false => Vec::new(),
    };
    let mut reader = open_trace(&TraceSpec { devices: without_layout(spec), ..spec.clone() })?;
    let (name, has_times) = (reader.format_properties().name.clone(), reader.format_properties().has_times);
    match rate_per_s {
        None if !has_times && !writing.can_do_without_times => {
            return Err(SourceError::InvalidInput(format!(
                "{name} has no times, and the format {format} has to say when each request comes: give a rate, as in --rate 500 (requests per \
                 second), or choose the format fio2, which can do without times"
            )));
        }
        Some(_) if has_times => {
            return Err(SourceError::InvalidInput(format!(
                "{name} has times of its own; leave out --rate (rate_scale of a workload makes them faster)"
            )));
        }
        _ => {}
    }
    let mut requests = 0_u64;
    let mut written = write_trace_records(path, format, &devices, || match reader.next_record()? {
        Some(record) if writing.devices_max.is_some_and(|end| record.device >= end) => {
            let end = writing.devices_max.unwrap_or(0);
            Err(SourceError::InvalidInput(format!(
                "{name}: device {} is too large for the format {format}, which is written with devices below {end}; choose another format",
                record.device
            )))
        }
        Some(mut record) => {
            if let Some(rate) = rate_per_s {
                record.time_ns = (requests as f64 * 1e9 / rate) as u64;
            }
            requests += 1;
            Ok(Some(record))
        }
        None => Ok(None),
    })?;
    written.without_times = if has_times || rate_per_s.is_some() { 0 } else { written.requests };
    Ok(written)
}

/// Writes the requests that `next` returns as a trace. The file is compressed if its name ends in `.gz`, `.zst` or `.bz2`, and appears only
/// when it is complete.
///
/// The formats of fio name all `devices` before the first request.
///
/// # Errors
/// Returns the errors of `next`, or an error if the file cannot be written.
pub fn write_trace_records(
    path: &Path,
    format: Format,
    devices: &[u32],
    mut next: impl FnMut() -> Result<Option<TraceRecord>, SourceError>,
) -> Result<TraceWriteSummary, SourceError> {
    let failed = |source| SourceError::Io { input_name: format!("can't write {}", path.display()), source };
    let file = ReplacementFile::create_temporary(path).map_err(failed)?;
    let mut handle = file.temporary_file_handle().map_err(failed)?;
    let compressor = CompressingWriter::new(Compression::detect_from_name(path), &mut handle).map_err(failed)?;
    let mut writer = TraceWriter::new(BufWriter::with_capacity(1 << 16, compressor), format, devices).map_err(failed)?;
    while let Some(record) = next()? {
        writer.write(&record).map_err(failed)?;
    }
    let (buffer, written) = writer.finish().map_err(failed)?;
    let compressor = buffer.into_inner().map_err(|error| failed(error.into_error()))?;
    compressor.finish().map_err(failed)?;
    file.replace_target().map_err(failed)?;
    Ok(written)
}

/// Returns the devices that `spec` chooses. A conversion needs no common address space.
fn without_layout(spec: &TraceSpec) -> super::DevicePlacement {
    match &spec.devices {
        super::DevicePlacement::List(list) => super::DevicePlacement::List(list.clone()),
        super::DevicePlacement::Concat | super::DevicePlacement::Fold => super::DevicePlacement::Fold,
    }
}

fn not_writable(format: Format) -> String {
    format!("the format {format} can be read but not written; writable are {}", WRITABLE_FORMATS.map(Format::name).join(", "))
}

#[cfg(test)]
mod tests {
    use super::super::{DevicePlacement, TimeUnit, open_trace_bytes};
    use super::*;
    use proptest::prelude::*;

    /// Draws requests in order of time that every format can hold exactly: whole seconds, whole pages.
    fn coarse_records() -> impl Strategy<Value = Vec<TraceRecord>> {
        records(1_000_000_000, 4096)
    }

    /// Draws requests with any nanosecond and any byte.
    fn fine_records() -> impl Strategy<Value = Vec<TraceRecord>> {
        records(1, 1)
    }

    fn records(time_step_ns: u64, size_step: u64) -> impl Strategy<Value = Vec<TraceRecord>> {
        let record = (0_u64..5_000, 0_u32..4, 0_u64..1 << 30, 1_u64..300, 0_u8..6);
        prop::collection::vec(record, 1..40).prop_map(move |all| {
            let mut time_ns = 0;
            all.into_iter()
                .map(|(gap, device, offset, length, kind)| {
                    time_ns += gap * time_step_ns;
                    let kinds = [OpKind::Read, OpKind::Read, OpKind::Write, OpKind::Write, OpKind::Trim, OpKind::Flush];
                    let direction = kinds[usize::from(kind)];
                    if direction == OpKind::Flush {
                        return TraceRecord::flush(time_ns, device);
                    }
                    TraceRecord {
                        time_ns,
                        device,
                        offset_bytes: offset * size_step,
                        length_bytes: length * size_step,
                        kind: direction,
                        fua: false,
                        zeroes: false,
                        response_ns: None,
                    }
                })
                .collect()
        })
    }

    fn written(records: &[TraceRecord], format: Format) -> (Vec<u8>, TraceWriteSummary) {
        let mut writer = TraceWriter::new(Vec::new(), format, &[0, 1, 2, 3]).unwrap();
        for record in records {
            writer.write(record).unwrap();
        }
        writer.finish().unwrap()
    }

    fn read_back(text: Vec<u8>, format: Format) -> Vec<TraceRecord> {
        let mut spec = TraceSpec::new("written");
        spec.format = Some(format);
        spec.time_unit = format.time_unit();
        spec.devices = DevicePlacement::Fold;
        let mut reader = open_trace_bytes(text, &spec).unwrap();
        let mut records = Vec::new();
        while let Some(record) = reader.next_record().unwrap() {
            records.push(record);
        }
        records
    }

    /// Returns `records` as `format` can hold them: times from the first request, and device numbers as its reader returns them.
    fn expected(records: &[TraceRecord], format: Format) -> Vec<TraceRecord> {
        let mut seen: Vec<u32> = Vec::new();
        let holds = |record: &&TraceRecord| {
            format.full_description().writing.as_ref().is_some_and(|writing| match record.kind {
                OpKind::Trim => writing.knows_discards,
                OpKind::Flush => writing.knows_flushes,
                OpKind::Read | OpKind::Write => true,
            })
        };
        let first_ns = records.iter().find(holds).map_or(0, |record| record.time_ns);
        records
            .iter()
            .filter(holds)
            .map(|record| {
                if !seen.contains(&record.device) {
                    seen.push(record.device);
                }
                let device = match format {
                    Format::Fio2 | Format::Fio3 => seen.iter().position(|device| *device == record.device).unwrap() as u32,
                    _ if format.has_devices() => record.device,
                    _ => 0,
                };
                TraceRecord { time_ns: record.time_ns - first_ns, device, ..*record }
            })
            .collect()
    }

    proptest! {
        #[test]
        fn every_format_gives_back_what_it_can_hold(records in coarse_records()) {
            for format in WRITABLE_FORMATS {
                let (text, summary) = written(&records, format);
                prop_assume!(summary.requests > 0);
                prop_assert_eq!(read_back(text, format), expected(&records, format), "{}", format);
                let requests = summary.requests + summary.discards_lost + summary.flushes_lost;
                prop_assert_eq!((requests, summary.widened, summary.times_cut), (records.len() as u64, 0, 0), "{}", format);
            }
        }

        #[test]
        fn what_does_not_fit_is_widened_and_cut_and_told(records in fine_records()) {
            for format in WRITABLE_FORMATS {
                let (text, summary) = written(&records, format);
                prop_assume!(summary.requests > 0);
                let back = read_back(text, format);
                let TraceWriteSummary { devices_lost, discards_lost, flushes_lost, .. } = summary;
                let requests = records.len() as u64 - discards_lost - flushes_lost;
                let mut changed = TraceWriteSummary { requests, devices_lost, discards_lost, flushes_lost, ..TraceWriteSummary::default() };
                for (was, is) in expected(&records, format).iter().zip(&back) {
                    prop_assert!(is.time_ns <= was.time_ns && was.time_ns - is.time_ns < 1_000_000_000);
                    prop_assert!(is.offset_bytes <= was.offset_bytes, "{}", format);
                    let (end_is, end_was) = (is.offset_bytes + is.length_bytes, was.offset_bytes + was.length_bytes);
                    // SPC and libCacheSim count only the start in sectors, so a request that begins within a sector is moved down as a
                    // whole.
                    prop_assert!(end_is >= end_was || matches!(format, Format::Spc | Format::Libcachesim), "{}", format);
                    changed.times_cut += u64::from(is.time_ns != was.time_ns);
                    changed.widened += u64::from((is.offset_bytes, is.length_bytes) != (was.offset_bytes, was.length_bytes));
                }
                prop_assert_eq!(summary, changed, "{}", format);
            }
        }
    }

    #[test]
    fn files_are_converted_compressed_and_only_appear_complete() {
        let directory = tempfile::tempdir().unwrap();
        let input = directory.path().join("in.txt");
        std::fs::write(&input, "0,8,4096,w,5.0\n1,16,512,r,6.0\n").unwrap();
        let spec = TraceSpec::new(&input);
        for name in ["out", "out.gz", "out.zst", "out.bz2"] {
            let output = directory.path().join(name);
            let written = convert_trace(&spec, &output, Format::Mqsim, None).unwrap();
            assert_eq!(written, TraceWriteSummary { requests: 2, ..TraceWriteSummary::default() });
            let back = TraceSpec { time_unit: Some(TimeUnit::Nanoseconds), ..TraceSpec::new(&output) };
            let mut reader = open_trace(&back).unwrap();
            assert_eq!(reader.format_properties().compression, Compression::detect_from_name(&output));
            let second = std::iter::from_fn(|| reader.next_record().unwrap()).nth(1).unwrap();
            assert_eq!(second, TraceRecord::new(1_000_000_000, 1, 8192, 512, OpKind::Read));
        }
        std::fs::write(&input, "0,8,4096,w,5.0\n1,16,512,r,broken\n").unwrap();
        let kept = std::fs::read(directory.path().join("out")).unwrap();
        let error = convert_trace(&spec, &directory.path().join("out"), Format::Mqsim, None).unwrap_err();
        assert!(error.to_string().contains("line 2"), "{error}");
        assert_eq!(std::fs::read(directory.path().join("out")).unwrap(), kept, "a failure leaves the old file alone");
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 5, "and nothing half-written");
        let error = convert_trace(&spec, &directory.path().join("x"), Format::Srt, None).unwrap_err();
        assert!(matches!(&error, SourceError::InvalidInput(message) if message.contains("not written; writable are spc")), "{error}");
        let error = convert_trace(&spec, &directory.path().join("no/dir/x"), Format::Spc, None).unwrap_err();
        assert!(matches!(error, SourceError::Io { .. }));
    }

    #[test]
    fn a_trace_without_times_stays_one_or_gets_a_rate() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        std::fs::write(at("in"), "fio version 2 iolog\nf add\nf open\nf write 0 4096\nf write 8192 4096\nf read 0 4096\nf close\n")
            .unwrap();
        let spec = TraceSpec::new(at("in"));
        let error = convert_trace(&spec, &at("out"), Format::Spc, None).unwrap_err().to_string();
        assert!(error.contains("no times") && error.contains("--rate") && !at("out").exists(), "{error}");

        assert_eq!(convert_trace(&spec, &at("out"), Format::Fio2, None).unwrap().without_times, 3);
        assert!(!open_trace(&TraceSpec::new(at("out"))).unwrap().format_properties().has_times);

        let written = convert_trace(&spec, &at("out"), Format::Spc, Some(4.0)).unwrap();
        assert_eq!((written.requests, written.without_times), (3, 0));
        let spc = TraceSpec { format: Some(Format::Spc), ..TraceSpec::new(at("out")) };
        let mut reader = open_trace(&spc).unwrap();
        let times: Vec<u64> = std::iter::from_fn(|| reader.next_record().unwrap()).map(|record| record.time_ns).collect();
        assert_eq!(times, [0, 250_000_000, 500_000_000]);
        let error = convert_trace(&spc, &at("again"), Format::Msr, Some(4.0)).unwrap_err().to_string();
        assert!(error.contains("has times of its own") && !at("again").exists(), "{error}");
    }
}

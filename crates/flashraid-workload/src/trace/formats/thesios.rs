//! Thesios: CSV with a header. The requests of a storage server, with the hashed name of a file as device and an offset in it.
//!
//! Source: Phothilimthana et al., "Thesios" (ASPLOS '24), and the repository google-research-datasets/thesios. Of the three sizes, the one
//! that the client asked for counts.

use super::super::columns::Columns;
use super::super::detect::Sample;
use super::super::time_unit::TimeUnit;
use super::by_columns::{ByColumns, ColumnSettings};
use super::{Detection, FormatDescription};

/// Parser of the format.
pub(crate) type Thesios = ByColumns<Settings>;

/// Settings of the reader of columns.
#[derive(Debug, Clone)]
pub(crate) struct Settings;

impl ColumnSettings for Settings {
    const DESCRIPTION: FormatDescription = FormatDescription {
        doc: "Thesios CSV: `filename`, `file_offset`, `op_type`, `request_io_size_bytes`, `start_time` and others, named by a header.",
        description: "Thesios CSV with its header",
        columns: "columns named by the header: filename, file_offset, op_type, request_io_size_bytes, start_time, …",
        times: "s",
        time_unit: Some(TimeUnit::Seconds),
        sector_bytes: None,
        detection: Detection::TrialParse(3),
        sample:
            b"filename,file_offset,op_type,request_io_size_bytes,start_time,simulated_latency\nab12,4096,READ,8192,1705276800.25,0.002\n",
        ..FormatDescription::TEXT
    };

    fn columns(sample: &Sample<'_>) -> Result<Columns, String> {
        let expected = "line 1: expected the header of Thesios, with filename, file_offset, op_type, request_io_size_bytes and start_time";
        let header = sample.lines().next().unwrap_or_default();
        let names: Vec<&[u8]> = header.split(|byte| *byte == b',').collect();
        let has = |name: &[u8]| names.contains(&name);
        let latency = [&b"simulated_latency"[..], b"latency"].into_iter().find(|name| has(name));
        if ![&b"filename"[..], b"file_offset", b"op_type", b"request_io_size_bytes", b"start_time"].into_iter().all(has) {
            return Err(expected.to_owned());
        }
        let response = match latency {
            Some(name) => format!(",response={}:s", String::from_utf8_lossy(name)),
            None => String::new(),
        };
        let columns = format!("device=filename,address=file_offset,op=op_type,length=request_io_size_bytes,time=start_time:s{response}");
        Columns::of_user(&columns.parse()?, sample)
    }
}

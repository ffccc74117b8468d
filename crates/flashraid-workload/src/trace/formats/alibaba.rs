//! Alibaba block traces: `device,R/W,offset,bytes,µs`, addresses in bytes.
//!
//! Source: Li et al., "An In-Depth Analysis of Cloud Block Storage Workloads in Large-Scale Production" (IISWC '20).

use super::super::columns::Columns;
use super::super::detect::Sample;
use super::super::time_unit::TimeUnit;
use super::by_columns::{ByColumns, ColumnSettings};
use super::{Detection, FormatDescription, Writing};

/// Parser of the format.
pub(crate) type Alibaba = ByColumns<Settings>;

/// Settings of the reader of columns.
#[derive(Debug, Clone)]
pub(crate) struct Settings;

impl ColumnSettings for Settings {
    const DESCRIPTION: FormatDescription = FormatDescription {
        doc: "Alibaba block traces: `device,R/W,offset,bytes,µs`.",
        description: "Alibaba CSV: device,R/W,offset,bytes,microseconds",
        columns: "device,R/W,offset,bytes,time",
        times: "µs",
        time_unit: Some(TimeUnit::Microseconds),
        sector_bytes: None,
        detection: Detection::TrialParse(5),
        sample: b"7,W,8192,4096,1577808000000123\n9,R,0,512,1577808000000456\n",
        writing: Some(Writing {
            resolution_ns: 1_000,
            ..Writing::by(|line, to| {
                writeln!(to, "{},{},{},{},{}", line.device, line.letter(), line.offset_bytes, line.length_bytes, line.ns / 1_000)
            })
        }),
        ..FormatDescription::TEXT
    };

    fn columns(_: &Sample<'_>) -> Result<Columns, String> {
        Ok(Columns::of_known("device,op,address,length,time", Some(b',')))
    }
}

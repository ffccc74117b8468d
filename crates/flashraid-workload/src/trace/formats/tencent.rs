//! Tencent block storage: `seconds,sector,sectors,op,volume`, with sectors of 512 bytes; op 0 is a read and 1 a write.
//!
//! Source: Zhang et al., "OSCA" (USENIX ATC '20), as distributed by SNIA IOTTA. Times are whole seconds, so many requests have the same
//! time.

use super::super::columns::Columns;
use super::super::detect::Sample;
use super::super::time_unit::TimeUnit;
use super::by_columns::{ByColumns, ColumnSettings};
use super::{Detection, FormatDescription, Writing};

/// Parser of the format.
pub(crate) type Tencent = ByColumns<Settings>;

/// Settings of the reader of columns.
#[derive(Debug, Clone)]
pub(crate) struct Settings;

impl ColumnSettings for Settings {
    const DESCRIPTION: FormatDescription = FormatDescription {
        doc: "Tencent block storage: `seconds,sector,sectors,op,volume`, op 0 = read.",
        description: "Tencent CSV: seconds,sector,sectors,op (0 = read),volume",
        columns: "time,sector,sectors,op (0 = read),volume",
        times: "s",
        time_unit: Some(TimeUnit::Seconds),
        sector_bytes: Some(512),
        detection: Detection::TrialParse(6),
        sample: b"1538323200,16,8,0,1063\n1538323201,24,1,1,1064\n",
        writing: Some(Writing {
            resolution_ns: 1_000_000_000,
            ..Writing::by(|line, to| {
                writeln!(to, "{},{},{},{},{}", line.ns / 1_000_000_000, line.sector, line.sectors, 1 - line.read_1(), line.device)
            })
        }),
        ..FormatDescription::TEXT
    };

    fn columns(_: &Sample<'_>) -> Result<Columns, String> {
        Ok(Columns::of_known("time,address:sectors,length:sectors,op:0=read,device", Some(b',')))
    }
}

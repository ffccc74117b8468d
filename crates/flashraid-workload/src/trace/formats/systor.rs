//! SYSTOR '17: `time,response,R/W,LUN,offset,bytes`, with times in seconds and addresses in bytes.
//!
//! Source: Lee et al., "Understanding Storage Traffic Characteristics on Enterprise Virtual Desktop Infrastructure" (SYSTOR '17), as
//! distributed by SNIA IOTTA. Files may begin with a header.

use super::super::columns::{Columns, separator_of};
use super::super::detect::Sample;
use super::super::time_unit::TimeUnit;
use super::by_columns::{ByColumns, ColumnSettings};
use super::{Detection, FormatDescription};

/// Parser of the format.
pub(crate) type Systor = ByColumns<Settings>;

/// Settings of the reader of columns.
#[derive(Debug, Clone)]
pub(crate) struct Settings;

impl ColumnSettings for Settings {
    const DESCRIPTION: FormatDescription = FormatDescription {
        doc: "SYSTOR '17 CSV: `Timestamp,Response,IOType,LUN,Offset,Size`, times in seconds.",
        description: "SYSTOR '17 CSV: Timestamp,Response,IOType,LUN,Offset,Size",
        columns: "time,response,R/W,LUN,offset,bytes",
        times: "s",
        time_unit: Some(TimeUnit::Seconds),
        sector_bytes: None,
        detection: Detection::TrialParse(4),
        sample: b"Timestamp,Response,IOType,LUN,Offset,Size\n1456095145.0015,0.0005,W,4,4096,8192\n1456095145.0063,0.0007,R,4,8192,512\n",
        ..FormatDescription::TEXT
    };

    fn columns(sample: &Sample<'_>) -> Result<Columns, String> {
        let first = sample.lines().next().unwrap_or_default();
        let columns = Columns::of_known("time,response,op,device,address,length", Some(b','));
        let is_header = first.first().is_some_and(|byte| byte.is_ascii_alphabetic());
        if is_header && (separator_of(first) != Some(b',') || !first.eq_ignore_ascii_case(b"Timestamp,Response,IOType,LUN,Offset,Size")) {
            return Err("line 1: expected the header Timestamp,Response,IOType,LUN,Offset,Size, or none".to_owned());
        }
        Ok(if is_header { columns.after_header() } else { columns })
    }
}

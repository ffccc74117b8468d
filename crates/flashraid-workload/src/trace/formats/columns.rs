//! Text with named columns: those of a header, or those that the user names.

use super::super::columns;
use super::super::detect::Sample;
use super::super::time_unit::TimeUnit;
use super::by_columns::{ByColumns, ColumnSettings};
use super::{Detection, FormatDescription};

/// Parser of the format.
pub(crate) type Columns = ByColumns<Settings>;

/// Settings of the reader of columns.
#[derive(Debug, Clone)]
pub(crate) struct Settings;

impl ColumnSettings for Settings {
    const DESCRIPTION: FormatDescription = FormatDescription {
        doc: "Text whose columns are named by a header or by the key `columns`.",
        description: "columns named by a header or by the user",
        columns: "time, end, op, address, length, device, response and flush in any order, named by a header or by `columns`",
        times: "named, or guessed",
        time_unit: Some(TimeUnit::Seconds),
        sector_bytes: Some(512),
        detection: Detection::TrialParse(10),
        sample: b"start_us;end_us;rw;lba;bytes;disk\n5;9;R;100;4096;sda\n6;8;FWS;108;512;sdb\n",
        ..FormatDescription::TEXT
    };
    const GUESSES_UNIT: bool = true;

    fn columns(sample: &Sample<'_>) -> Result<columns::Columns, String> {
        match sample.columns {
            Some(columns) => columns::Columns::of_user(columns, sample),
            None => columns::Columns::of_header(sample),
        }
    }

    fn note(columns: &columns::Columns) -> Option<String> {
        Some(columns.description())
    }
}

//! Formats that are lines of named columns. Each is a name for settings of one reader.

use std::marker::PhantomData;

use super::super::columns::Columns;
use super::super::detect::Sample;
use super::super::fields::FieldResult;
use super::super::five_columns::Times;
use super::super::record::TraceRecord;
use super::{FormatDescription, TraceFormat, Units};
use crate::OpKind;

/// Settings of the reader for one format.
pub(crate) trait ColumnSettings {
    /// Description of the format.
    const DESCRIPTION: FormatDescription;
    /// True if the unit of the times differs between traces, and is guessed by their size.
    const GUESSES_UNIT: bool = false;

    /// Returns the columns of a trace with this beginning.
    fn columns(sample: &Sample<'_>) -> Result<Columns, String>;

    /// Returns a note about the columns, if they are a guess.
    fn note(_columns: &Columns) -> Option<String> {
        None
    }
}

/// Parser of a format with these settings.
#[derive(Debug, Clone)]
pub(crate) struct ByColumns<S> {
    columns: Columns,
    settings: PhantomData<S>,
}

impl<S: ColumnSettings> TraceFormat for ByColumns<S> {
    const DESCRIPTION: FormatDescription = S::DESCRIPTION;

    fn of_sample(sample: &Sample<'_>) -> Result<Self, String> {
        Ok(Self { columns: S::columns(sample)?, settings: PhantomData })
    }

    fn time_stamp_unit(&self, sample: &Sample<'_>, notes: &mut Vec<String>) -> Times {
        if !self.columns.has_times() {
            notes.push("times: none; no column has them, so requests only have an order".to_owned());
            return Times::None;
        }
        if let Some(unit) = self.columns.certain_time_unit() {
            return Times::In(unit);
        }
        if !S::GUESSES_UNIT {
            return Times::In(S::DESCRIPTION.time_unit.unwrap_or(super::TimeUnit::Nanoseconds));
        }
        let unit = self.columns.guessed_time_unit(sample);
        notes.push(format!("times: taken for {unit} by their size; time_unit overrules it"));
        Times::In(unit)
    }

    fn is_unit_certain(&self) -> bool {
        S::GUESSES_UNIT && self.columns.certain_time_unit().is_some()
    }

    fn tells_direction(&self) -> bool {
        self.columns.has_kinds()
    }

    fn assume_kind(&mut self, kind: OpKind) {
        self.columns = self.columns.clone().of_kind(kind);
    }

    fn interpretation_note(&self) -> Option<String> {
        S::note(&self.columns)
    }

    fn device_label(&self, device: u32) -> String {
        self.columns.device_label(device)
    }

    fn requests_without_data(&self) -> u64 {
        self.columns.without_data()
    }

    fn counts_sectors(&self) -> bool {
        self.columns.counts_sectors()
    }

    fn is_by_end(&self) -> bool {
        self.columns.is_by_end()
    }

    #[inline]
    fn take_second(&mut self) -> Option<TraceRecord> {
        self.columns.take_second()
    }

    #[inline]
    fn parse(&mut self, line: &[u8], units: Units) -> FieldResult<Option<TraceRecord>> {
        self.columns.parse(line, units)
    }
}

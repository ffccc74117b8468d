//! Tables for other programs: each as a CSV and as a Parquet file with the same rows.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;

use serde_json::Value;

use super::parquet::{Metadata, failure, properties};
use crate::error::{Outcome, WriteError};
use crate::files::{self, ReplacementFile};

/// A table with typed columns of equal length; any value may be missing. Dots in names of columns become underscores, so that SQL and
/// pandas need no quotes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Table {
    columns: Vec<(String, Column)>,
    metadata: Metadata,
}

/// The values of a column.
#[derive(Debug, Clone, PartialEq)]
pub enum Column {
    /// A column of texts.
    Text(Vec<Option<String>>),
    /// A column of numbers, all finite.
    Number(Vec<Option<f64>>),
    /// Whole numbers from 0 on: counts, and seeds, of which a floating-point number would lose digits.
    Whole(Vec<Option<u64>>),
    /// Truth values, which are missing where nothing is known.
    Truth(Vec<Option<bool>>),
}

/// Returns the name of the column of a key: `response_us_all_p99` of `response_us.all.p99`.
pub fn column_name(key: impl Into<String>) -> String {
    key.into().replace('.', "_")
}

impl Table {
    /// Adds a column of texts.
    pub fn text(&mut self, name: impl Into<String>, values: impl IntoIterator<Item = Option<String>>) {
        self.columns.push((column_name(name), Column::Text(values.into_iter().collect())));
    }

    /// Adds a column of numbers. What is not finite is missing.
    pub fn number(&mut self, name: impl Into<String>, values: impl IntoIterator<Item = Option<f64>>) {
        let finite = |value: Option<f64>| value.filter(|number| number.is_finite());
        self.columns.push((column_name(name), Column::Number(values.into_iter().map(finite).collect())));
    }

    /// Adds a column of whole numbers.
    pub fn whole(&mut self, name: impl Into<String>, values: impl IntoIterator<Item = Option<u64>>) {
        self.columns.push((column_name(name), Column::Whole(values.into_iter().collect())));
    }

    /// Adds a column of truth values.
    pub fn truth(&mut self, name: impl Into<String>, values: impl IntoIterator<Item = Option<bool>>) {
        self.columns.push((column_name(name), Column::Truth(values.into_iter().collect())));
    }

    /// The table with what the Parquet file is to say of where it comes from.
    #[must_use]
    pub fn of(self, config: &Value) -> Table {
        Table { metadata: Metadata::of(config), ..self }
    }

    /// The columns in order, each with its name.
    pub fn columns(&self) -> &[(String, Column)] {
        &self.columns
    }

    /// Writes `NAME.csv` and `NAME.parquet` into the folder.
    pub fn write(&self, out: &Path, name: &str) -> Outcome {
        files::write(&out.join(format!("{name}.csv")), self.csv().as_bytes())?;
        self.write_parquet(&out.join(format!("{name}.parquet")))
    }

    fn rows(&self) -> usize {
        self.columns.first().map_or(0, |(_, column)| match column {
            Column::Text(values) => values.len(),
            Column::Number(values) => values.len(),
            Column::Whole(values) => values.len(),
            Column::Truth(values) => values.len(),
        })
    }

    /// The table as CSV (RFC 4180, lines end with a line feed); numbers in the shortest form that reads back exactly.
    fn csv(&self) -> String {
        let names: Vec<String> = self.columns.iter().map(|(name, _)| quoted(name)).collect();
        let mut text = names.join(",") + "\n";
        for row in 0..self.rows() {
            let field = |(_, column): &(String, Column)| match column {
                Column::Text(values) => values[row].as_deref().map_or(String::new(), quoted),
                Column::Number(values) => values[row].map_or(String::new(), |number| number.to_string()),
                Column::Whole(values) => values[row].map_or(String::new(), |number| number.to_string()),
                Column::Truth(values) => values[row].map_or(String::new(), |truth| truth.to_string()),
            };
            let fields: Vec<String> = self.columns.iter().map(field).collect();
            text += &(fields.join(",") + "\n");
        }
        text
    }

    fn write_parquet(&self, path: &Path) -> Outcome {
        let file = ReplacementFile::begin(path)?;
        let handle = file.handle().map_err(|error| WriteError::writing(path, &error))?;
        let written = || -> Result<(), ParquetError> {
            let mut writer = SerializedFileWriter::new(handle, Arc::new(self.schema()?), Arc::new(properties(&self.metadata).build()))?;
            let mut group = writer.next_row_group()?;
            for (_, column) in &self.columns {
                match column {
                    Column::Text(values) => {
                        write_column::<ByteArrayType>(&mut group, values.iter().map(|text| text.as_deref().map(ByteArray::from)))?;
                    }
                    Column::Number(values) => write_column::<DoubleType>(&mut group, values.iter().copied())?,
                    Column::Truth(values) => write_column::<BoolType>(&mut group, values.iter().copied())?,
                    // Parquet keeps an unsigned number in the bits of a signed one.
                    Column::Whole(values) => {
                        write_column::<Int64Type>(&mut group, values.iter().map(|value| value.map(|number| number as i64)))?;
                    }
                }
            }
            group.close()?;
            writer.close().map(drop)
        };
        written().map_err(|error| failure(path, &error))?;
        file.finish()
    }

    fn schema(&self) -> Result<Type, ParquetError> {
        let field = |(name, column): &(String, Column)| {
            let builder = match column {
                Column::Text(_) => Type::primitive_type_builder(name, Physical::BYTE_ARRAY).with_logical_type(Some(LogicalType::String)),
                Column::Number(_) => Type::primitive_type_builder(name, Physical::DOUBLE),
                Column::Truth(_) => Type::primitive_type_builder(name, Physical::BOOLEAN),
                Column::Whole(_) => {
                    Type::primitive_type_builder(name, Physical::INT64).with_logical_type(Some(LogicalType::integer(64, false)))
                }
            };
            builder.with_repetition(Repetition::OPTIONAL).build().map(Arc::new)
        };
        let fields = self.columns.iter().map(field).collect::<Result<Vec<_>, _>>()?;
        Type::group_type_builder("rows").with_fields(fields).build()
    }
}

fn write_column<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, File>,
    values: impl Iterator<Item = Option<T::T>>,
) -> Result<(), ParquetError> {
    let values: Vec<Option<T::T>> = values.collect();
    // 1 where a value is there.
    let levels: Vec<i16> = values.iter().map(|value| i16::from(value.is_some())).collect();
    let present: Vec<T::T> = values.into_iter().flatten().collect();
    let mut column = group.next_column()?.expect("the schema has this column");
    column.typed::<T>().write_batch(&present, Some(&levels), None)?;
    column.close()
}

fn quoted(text: &str) -> String {
    match text.contains(['"', ',', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field;

    fn table() -> Table {
        let mut table = Table::default();
        table.text("a.b", [Some("plain".to_owned()), Some("with \"quotes\", and more".to_owned()), None]);
        table.number("value", [Some(0.1 + 0.2), None, Some(f64::NAN)]);
        table.whole("seed", [Some(u64::MAX), Some(2), None]);
        table.truth("steady", [Some(true), Some(false), None]);
        table
    }

    #[test]
    fn csv_quotes_what_needs_it_and_leaves_out_what_is_missing() {
        assert_eq!(
            table().csv(),
            "a_b,value,seed,steady\nplain,0.30000000000000004,18446744073709551615,true\n\"with \"\"quotes\"\", and more\",,2,false\n,,,\n"
        );
    }

    #[test]
    fn parquet_has_the_same_rows() {
        let folder = tempfile::tempdir().unwrap();
        table().write(folder.path(), "rows").unwrap();
        let reader = SerializedFileReader::new(File::open(folder.path().join("rows.parquet")).unwrap()).unwrap();
        let rows: Vec<Vec<(String, Field)>> = reader.get_row_iter(None).unwrap().map(|row| row.unwrap().into_columns()).collect();
        let text = |text: &str| ("a_b".to_owned(), Field::Str(text.to_owned()));
        let number = |field| ("value".to_owned(), field);
        let seed = |field| ("seed".to_owned(), field);
        let steady = |field| ("steady".to_owned(), field);
        assert_eq!(
            rows,
            [
                vec![text("plain"), number(Field::Double(0.1 + 0.2)), seed(Field::ULong(u64::MAX)), steady(Field::Bool(true))],
                vec![text("with \"quotes\", and more"), number(Field::Null), seed(Field::ULong(2)), steady(Field::Bool(false))],
                vec![("a_b".to_owned(), Field::Null), number(Field::Null), seed(Field::Null), steady(Field::Null)],
            ]
        );
    }

    #[test]
    fn a_table_without_rows_can_be_written() {
        let folder = tempfile::tempdir().unwrap();
        let mut empty = Table::default();
        empty.number("x", []);
        empty.write(folder.path(), "empty").unwrap();
        assert_eq!(std::fs::read_to_string(folder.path().join("empty.csv")).unwrap(), "x\n");
    }
}

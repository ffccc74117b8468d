//! Reads the tables that the program writes, and compares CSV with Parquet.

use std::fs::{self, File};
use std::path::Path;

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;

use crate::program::Place;

/// The rows of a CSV file, the header first.
pub fn csv(path: &Path) -> Vec<Vec<String>> {
    let text = fs::read_to_string(path).unwrap();
    let (mut rows, mut row, mut field, mut quoted) = (Vec::new(), Vec::new(), String::new(), false);
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' if quoted && characters.peek() == Some(&'"') => field.extend(characters.next()),
            '"' => quoted = !quoted,
            ',' if !quoted => row.push(std::mem::take(&mut field)),
            '\n' if !quoted => {
                row.push(std::mem::take(&mut field));
                rows.push(std::mem::take(&mut row));
            }
            other => field.push(other),
        }
    }
    assert!(row.is_empty() && field.is_empty(), "the last line has an end");
    rows
}

/// The rows of a Parquet file as texts, the names of its columns first.
pub fn parquet(path: &Path) -> Vec<Vec<String>> {
    let reader = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
    let fields = reader.metadata().file_metadata().schema().get_fields();
    let header = fields.iter().map(|field| field.name().to_owned()).collect();
    let text = |field: &Field| match field {
        Field::Null => String::new(),
        Field::Str(text) => text.clone(),
        Field::Double(number) => number.to_string(),
        Field::ULong(number) => number.to_string(),
        Field::UInt(number) => number.to_string(),
        Field::UByte(number) => number.to_string(),
        Field::Bool(value) => value.to_string(),
        other => panic!("a column of another type: {other:?}"),
    };
    let rows = reader.get_row_iter(None).unwrap().map(|row| row.unwrap().get_column_iter().map(|(_, field)| text(field)).collect());
    std::iter::once(header).chain(rows).collect()
}

/// The rows of `NAME.csv`, which `NAME.parquet` has, too.
pub fn both(place: &Place, name: &str) -> Vec<Vec<String>> {
    let rows = csv(&place.path(&format!("{name}.csv")));
    assert!(rows.iter().all(|row| row.len() == rows[0].len()), "{name}.csv has rows of different length");
    assert_eq!(parquet(&place.path(&format!("{name}.parquet"))), rows, "{name}");
    rows
}

//! Writes every request as a row of a Parquet file, in row groups, while the simulation runs.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use flashraid_model::metrics::CompletedRequest;
use flashraid_model::metrics::breakdown::{RESPONSE_TIME_CAUSE_NAMES, times_ns_by_cause};
use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::ColumnPath;
use serde_json::Value;

use crate::error::{Outcome, WriteError};
use crate::files::ReplacementFile;

/// Columns of the file. Times are in nanoseconds of simulated time. Rows are in the order in which requests were completed.
const SCHEMA: &str = "message requests {
    REQUIRED INT64 index (INTEGER(64, false));
    REQUIRED INT64 arrival_ns (INTEGER(64, false));
    REQUIRED INT64 done_ns (INTEGER(64, false));
    REQUIRED INT64 response_ns (INTEGER(64, false));
    REQUIRED INT64 offset_bytes (INTEGER(64, false));
    REQUIRED INT64 length_bytes (INTEGER(64, false));
    REQUIRED BYTE_ARRAY direction (STRING);
    REQUIRED INT32 stream (INTEGER(8, false));
    REQUIRED BOOLEAN high_priority;
    REQUIRED INT32 gc_members_met (INTEGER(32, false));
    REQUIRED INT64 queue_ns (INTEGER(64, false));
    REQUIRED INT64 collection_ns (INTEGER(64, false));
    REQUIRED INT64 parity_ns (INTEGER(64, false));
    REQUIRED INT64 cache_ns (INTEGER(64, false));
    REQUIRED INT64 transfer_ns (INTEGER(64, false));
    REQUIRED INT64 flash_ns (INTEGER(64, false));
    REQUIRED INT64 other_ns (INTEGER(64, false));
}";

/// Rows of a row group, about 18 MB before compression. They bound the memory for runs of any length.
const ROWS_PER_GROUP: usize = 1 << 17;

/// A file of requests that grows while the simulation runs. If it is dropped without [`RequestFile::finish`], nothing of it stays.
pub struct RequestFile {
    path: PathBuf,
    file: ReplacementFile,
    writer: SerializedFileWriter<File>,
    rows: Vec<CompletedRequest>,
}

impl RequestFile {
    /// Begins a file with the given metadata.
    pub fn begin(path: &Path, metadata: &Metadata) -> Outcome<RequestFile> {
        let file = ReplacementFile::begin(path)?;
        let handle = file.handle().map_err(|error| WriteError::writing(path, &error))?;
        let schema = Arc::new(parse_message_type(SCHEMA).expect("the schema is constant"));
        let writer =
            SerializedFileWriter::new(handle, schema, Arc::new(properties_of_requests(metadata))).map_err(|error| failure(path, &error))?;
        Ok(RequestFile { path: path.to_owned(), file, writer, rows: Vec::with_capacity(ROWS_PER_GROUP) })
    }

    /// Adds a row for a completed request.
    pub fn add(&mut self, request: &CompletedRequest) -> Outcome {
        self.rows.push(*request);
        if self.rows.len() == ROWS_PER_GROUP { self.write_group() } else { Ok(()) }
    }

    /// Writes the last row group, and gives the file its name.
    pub fn finish(mut self) -> Outcome {
        self.write_group()?;
        self.writer.close().map_err(|error| failure(&self.path, &error))?;
        self.file.finish()
    }

    fn write_group(&mut self) -> Outcome {
        if self.rows.is_empty() {
            return Ok(());
        }
        let written = self.writer.next_row_group().and_then(|group| write_columns(group, &self.rows));
        self.rows.clear();
        written.map_err(|error| failure(&self.path, &error))
    }
}

fn write_columns(mut group: SerializedRowGroupWriter<'_, File>, rows: &[CompletedRequest]) -> Result<(), ParquetError> {
    let columns_u64: [fn(&CompletedRequest) -> u64; 6] = [
        |row| row.arrival_index,
        |row| row.arrival_ns,
        |row| row.done_ns,
        |row| row.done_ns - row.arrival_ns,
        |row| row.request.offset_bytes,
        |row| row.request.length_bytes,
    ];
    for value in columns_u64 {
        // Parquet stores an unsigned number in the bits of a signed one.
        let values: Vec<i64> = rows.iter().map(|row| value(row) as i64).collect();
        let mut column = group.next_column()?.expect("the schema has this column");
        column.typed::<Int64Type>().write_batch(&values, None, None)?;
        column.close()?;
    }

    let direction = |row: &CompletedRequest| ByteArray::from(row.request.kind.name());
    let values: Vec<ByteArray> = rows.iter().map(direction).collect();
    let mut column = group.next_column()?.expect("the schema has this column");
    column.typed::<ByteArrayType>().write_batch(&values, None, None)?;
    column.close()?;

    let values: Vec<i32> = rows.iter().map(|row| i32::from(row.request.stream)).collect();
    let mut column = group.next_column()?.expect("the schema has this column");
    column.typed::<Int32Type>().write_batch(&values, None, None)?;
    column.close()?;

    let values: Vec<bool> = rows.iter().map(|row| row.request.high_priority).collect();
    let mut column = group.next_column()?.expect("the schema has this column");
    column.typed::<BoolType>().write_batch(&values, None, None)?;
    column.close()?;

    let values: Vec<i32> = rows.iter().map(|row| row.gc_members_met as i32).collect();
    let mut column = group.next_column()?.expect("the schema has this column");
    column.typed::<Int32Type>().write_batch(&values, None, None)?;
    column.close()?;

    for part in 0..RESPONSE_TIME_CAUSE_NAMES.len() {
        let values: Vec<i64> = rows.iter().map(|row| times_ns_by_cause(&row.time)[part] as i64).collect();
        let mut column = group.next_column()?.expect("the schema has this column");
        column.typed::<Int64Type>().write_batch(&values, None, None)?;
        column.close()?;
    }

    group.close().map(drop)
}

/// Origin of a file: `flashraid.version` and `flashraid.config` (as JSON).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Metadata(Vec<(&'static str, String)>);

impl Metadata {
    /// Creates metadata of a resolved configuration, as reports contain it.
    pub fn of(config: &Value) -> Metadata {
        Metadata(vec![("flashraid.version", env!("CARGO_PKG_VERSION").to_owned()), ("flashraid.config", config.to_string())])
    }
}

/// Returns the properties of a file of requests. Only directions repeat so often that a dictionary saves space. For times, the writer would
/// search it for each row in vain. Numbers are plain, because fastparquet 2026.9 reads large ones wrongly that are written as differences.
fn properties_of_requests(metadata: &Metadata) -> WriterProperties {
    let direction = ColumnPath::from("direction");
    properties(metadata).set_dictionary_enabled(false).set_column_dictionary_enabled(direction, true).build()
}

/// Begins the properties that all Parquet files are written with.
pub fn properties(metadata: &Metadata) -> WriterPropertiesBuilder {
    let entry = |(key, value): &(&'static str, String)| KeyValue::new((*key).to_owned(), value.clone());
    WriterProperties::builder()
        .set_key_value_metadata(Some(metadata.0.iter().map(entry).collect()))
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_created_by(concat!("flashraid ", env!("CARGO_PKG_VERSION")).to_owned())
}

/// Makes an error that has the file system's text, without the name of the library around it.
pub fn failure(path: &Path, error: &ParquetError) -> WriteError {
    let text = error.to_string();
    let text = text.trim_start_matches("Parquet error: ").trim_start_matches("External: ");
    WriteError::File { path: path.to_owned(), reason: text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashraid_model::events::OperationTimeParts;
    use flashraid_model::request::{OpKind, Request};
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::RowAccessor;

    fn request(index: u64) -> CompletedRequest {
        let direction = if index.is_multiple_of(3) { OpKind::Read } else { OpKind::Write };
        let request = Request {
            arrival_ns: index * 10,
            offset_bytes: index * 4096,
            length_bytes: 4096,
            kind: direction,
            fua: false,
            zeroes: false,
            high_priority: index == 7,
            stream: (index % 2) as u8,
            contiguous_on_one_member: false,
        };
        let time =
            OperationTimeParts { flash_ns: 200_000, queue_ns: 50_000 - index % 9, other_ns: index % 9, ..OperationTimeParts::default() };
        CompletedRequest {
            arrival_index: index,
            request,
            arrival_ns: index * 10,
            done_ns: index * 10 + 250_000,
            gc_members_met: (index % 9) as u32,
            time,
        }
    }

    #[test]
    fn rows_come_back_over_several_row_groups() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("requests.parquet");
        let count = ROWS_PER_GROUP as u64 + 5;
        let mut file = RequestFile::begin(&path, &Metadata::of(&serde_json::json!({ "seed": 7 }))).unwrap();
        (0..count).for_each(|index| file.add(&request(index)).unwrap());
        assert!(!path.exists(), "the name appears only with the whole file");
        file.finish().unwrap();

        let reader = SerializedFileReader::new(File::open(&path).unwrap()).unwrap();
        assert_eq!(reader.metadata().num_row_groups(), 2);
        let said = reader.metadata().file_metadata().key_value_metadata().unwrap();
        let said = |key: &str| said.iter().find(|entry| entry.key == key).and_then(|entry| entry.value.as_deref());
        assert_eq!((said("flashraid.version"), said("flashraid.config")), (Some(env!("CARGO_PKG_VERSION")), Some("{\"seed\":7}")));
        let columns = reader.metadata().row_group(0).columns();
        let with_dictionary: Vec<String> =
            columns.iter().filter(|column| column.dictionary_page_offset().is_some()).map(|column| column.column_path().string()).collect();
        assert_eq!(with_dictionary, ["direction"]);
        let mut rows = 0;
        for (index, row) in reader.get_row_iter(None).unwrap().enumerate() {
            let (row, expected) = (row.unwrap(), request(index as u64));
            assert_eq!(row.get_ulong(0).unwrap(), expected.arrival_index);
            assert_eq!(row.get_ulong(1).unwrap(), expected.arrival_ns);
            assert_eq!(row.get_ulong(2).unwrap(), expected.done_ns);
            assert_eq!(row.get_ulong(3).unwrap(), 250_000);
            assert_eq!(row.get_ulong(4).unwrap(), expected.request.offset_bytes);
            assert_eq!(row.get_ulong(5).unwrap(), 4096);
            assert_eq!(row.get_string(6).unwrap(), if index % 3 == 0 { "read" } else { "write" });
            assert_eq!(row.get_ubyte(7).unwrap(), expected.request.stream);
            assert_eq!(row.get_bool(8).unwrap(), index == 7);
            assert_eq!(row.get_uint(9).unwrap(), expected.gc_members_met);
            assert_eq!(
                [10, 11, 15, 16].map(|column| row.get_ulong(column).unwrap()),
                [expected.time.queue_ns, 0, 200_000, expected.time.other_ns]
            );
            rows += 1;
        }
        assert_eq!(rows, count);
    }

    #[test]
    fn a_file_that_is_given_up_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let mut file = RequestFile::begin(&folder.path().join("requests.parquet"), &Metadata::default()).unwrap();
        file.add(&request(0)).unwrap();
        drop(file);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}

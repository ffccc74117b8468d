//! Every request as a row of a Parquet and of a CSV file, written while the simulation runs.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use flashraid_model::metrics::CompletedRequest;
use flashraid_model::metrics::breakdown::in_order;

use super::parquet::{Metadata, RequestFile};
use crate::error::{Outcome, WriteError};
use crate::files::NewFile;

/// The columns of the CSV file, as in the Parquet file.
const HEADER: &str = "index,arrival_ns,done_ns,response_ns,offset_bytes,length_bytes,direction,stream,high_priority,gc_members_met,queue_ns,collection_ns,parity_ns,cache_ns,transfer_ns,flash_ns,other_ns";

/// `requests.parquet` and `requests.csv`, which grow while the simulation runs; without [`RequestFiles::finish`] nothing is left of them.
pub struct RequestFiles {
    parquet: RequestFile,
    csv_path: PathBuf,
    csv_file: NewFile,
    csv: BufWriter<File>,
}

impl RequestFiles {
    /// Begins both files in this folder.
    pub fn begin(out: &Path, metadata: &Metadata) -> Outcome<RequestFiles> {
        let parquet = RequestFile::begin(&out.join("requests.parquet"), metadata)?;
        let csv_path = out.join("requests.csv");
        let csv_file = NewFile::begin(&csv_path)?;
        let handle = csv_file.handle().map_err(|error| WriteError::writing(&csv_path, &error))?;
        let mut csv = BufWriter::with_capacity(1 << 20, handle);
        writeln!(csv, "{HEADER}").map_err(|error| WriteError::writing(&csv_path, &error))?;
        Ok(RequestFiles { parquet, csv_path, csv_file, csv })
    }

    /// Adds a row.
    pub fn add(&mut self, row: &CompletedRequest) -> Outcome {
        self.parquet.add(row)?;
        let CompletedRequest { index, request, arrival_ns, done_ns, gc_members_met, time } = row;
        let [queue, collection, parity, cache, transfer, flash, other] = in_order(time);
        let direction = request.kind.name();
        writeln!(
            self.csv,
            "{index},{arrival_ns},{done_ns},{},{},{},{direction},{},{},{gc_members_met},{queue},{collection},{parity},{cache},{transfer},{flash},{other}",
            done_ns - arrival_ns,
            request.offset_bytes,
            request.length_bytes,
            request.stream,
            request.high_priority,
        )
        .map_err(|error| WriteError::writing(&self.csv_path, &error))
    }

    /// Writes the rest and gives the files their names.
    pub fn finish(mut self) -> Outcome {
        self.csv.flush().map_err(|error| WriteError::writing(&self.csv_path, &error))?;
        self.parquet.finish()?;
        self.csv_file.finish()
    }
}

//! Writes every request as a row of a Parquet file, and of a CSV file if it is wanted, while the simulation runs.

use std::io::Write;
use std::path::Path;

use flashraid_model::metrics::breakdown::times_ns_by_cause;
use flashraid_model::metrics::{CompletedRequest, UnmeasuredStart};
use flashraid_model::request::OpKind;

use super::parquet::{Metadata, RequestFile};
use crate::error::Outcome;
use crate::files::GrowingFile;

/// Columns of the CSV file, as in the Parquet file.
const HEADER: &str = "index,arrival_ns,done_ns,response_ns,offset_bytes,length_bytes,direction,stream,high_priority,gc_members_met,queue_ns,collection_ns,parity_ns,cache_ns,transfer_ns,flash_ns,other_ns";

/// `requests.parquet`, and perhaps `requests.csv`, which grow while the simulation runs. If they are dropped without
/// [`RequestFiles::finish`], nothing of them stays.
pub struct RequestFiles {
    parquet: RequestFile,
    csv: Option<GrowingFile>,
}

impl RequestFiles {
    /// Begins the files in this folder, the CSV file only if it is wanted.
    pub fn begin(out: &Path, metadata: &Metadata, with_csv: bool) -> Outcome<RequestFiles> {
        let parquet = RequestFile::begin(&out.join("requests.parquet"), metadata)?;
        let mut csv = with_csv.then(|| GrowingFile::begin(&out.join("requests.csv"))).transpose()?;
        if let Some(csv) = &mut csv {
            csv.add(|out| writeln!(out, "{HEADER}"))?;
        }
        Ok(RequestFiles { parquet, csv })
    }

    /// Adds a row for a completed request.
    pub fn add(&mut self, row: &CompletedRequest) -> Outcome {
        self.parquet.add(row)?;
        let Some(csv) = &mut self.csv else { return Ok(()) };
        let CompletedRequest { arrival_index: index, request, arrival_ns, done_ns, gc_members_met, time } = row;
        let [queue, collection, parity, cache, transfer, flash, other] = times_ns_by_cause(time);
        let direction = request.kind.name();
        csv.add(|out| {
            writeln!(
                out,
                "{index},{arrival_ns},{done_ns},{},{},{},{direction},{},{},{gc_members_met},{queue},{collection},{parity},{cache},{transfer},{flash},{other}",
                done_ns - arrival_ns,
                request.offset_bytes,
                request.length_bytes,
                request.stream,
                request.high_priority,
            )
        })
    }

    /// Writes the rest, and gives the files their names.
    pub fn finish(self) -> Outcome {
        self.parquet.finish()?;
        self.csv.map_or(Ok(()), GrowingFile::finish)
    }
}

/// Returns 0 for a read and 1 for a write that the statistics of the run count. Returns `None` for other requests.
pub(crate) fn counted_direction(done: &CompletedRequest, skip: UnmeasuredStart) -> Option<usize> {
    let direction = match done.request.kind {
        OpKind::Read => 0,
        OpKind::Write => 1,
        OpKind::Trim | OpKind::Flush => return None,
    };
    // Requests end in another order than they arrive, and the statistics begin by arrival.
    skip.is_over_at(done.arrival_index, done.arrival_ns).then_some(direction)
}

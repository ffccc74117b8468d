//! Writes without simulated time, for warm-ups with the addresses of a workload.

use flashraid_model::array::{Array, page_request_of};
use flashraid_workload::{OpKind, RequestSource, SourceError};

/// Number of requests without a write after which a source is assumed never to write.
const OTHERS_MAX: u64 = 1_000_000;
/// Number of pages that are written at a time. A batch has many pages for each die, and takes some tens of milliseconds.
const BATCH_PAGES: u64 = 1 << 20;
/// Maximum number of requests between two calls that ask whether to continue.
const REQUESTS_PER_QUESTION: u64 = 1 << 14;

/// Overwrites the pages that `source` writes, without simulated time, until at least `pages_max` pages are written. Returns the number
/// of written pages.
///
/// A request that does not fit into the array writes nothing. Fewer pages are written if the source ends, or if `go_on` returns false.
/// `go_on` is called with the number of pages written so far. Nothing is written if the first million requests of the source include no
/// write that fits into the array.
///
/// # Errors
/// Returns the errors of the source.
pub fn overwrite_untimed(
    array: &mut Array,
    source: &mut dyn RequestSource,
    pages_max: u64,
    go_on: &mut dyn FnMut(u64) -> bool,
) -> Result<u64, SourceError> {
    let (page_bytes, exported_pages) = (u64::from(array.shape().page_bytes), array.shape().layout.exported_pages());
    let (mut written, mut requests) = (0, 0_u64);
    let (mut batch, mut batch_pages, mut ended) = (Vec::new(), 0, false);
    while !ended && written < pages_max {
        match source.next_request()? {
            Some(request) if request.kind == OpKind::Write => {
                if let Some(pages) = page_request_of(&request, page_bytes, exported_pages) {
                    batch_pages += u64::from(pages.pages);
                    batch.push(pages);
                }
            }
            Some(_) => {}
            None => ended = true,
        }
        requests += 1;
        let is_full = batch_pages >= BATCH_PAGES.min(pages_max - written);
        if is_full || ended {
            array.untimed_access().overwrite(&batch);
            written += std::mem::take(&mut batch_pages);
            batch.clear();
        }
        ended |= written + batch_pages == 0 && requests == OTHERS_MAX;
        ended |= (is_full || requests.is_multiple_of(REQUESTS_PER_QUESTION)) && !go_on(written);
    }
    Ok(written)
}

//! Requests of a host as pages of the array, and errors for requests that the array refuses.

use super::RequestInPages;
use crate::request::{OpKind, Request};

/// Converts a byte range into pages. Reads and writes touch every page that they overlap, and trims only the pages that they cover wholly.
///
/// Returns `None` if the request is empty or reaches beyond `exported_pages`.
#[inline]
pub fn page_request_of(request: &Request, page_bytes: u64, exported_pages: u64) -> Option<RequestInPages> {
    let end_bytes = request.offset_bytes.checked_add(request.length_bytes)?;
    // Pages are powers of two nearly always, and divisions take as long as dozens of other instructions.
    let page_at = |bytes: u64| match page_bytes.is_power_of_two() {
        true => bytes >> page_bytes.trailing_zeros(),
        false => bytes / page_bytes,
    };
    let page_after = |bytes: u64| if bytes == 0 { 0 } else { page_at(bytes - 1) + 1 };
    let (first_page, end_page) = match request.kind {
        OpKind::Flush => (0, 0),
        OpKind::Trim => {
            let first_page = page_after(request.offset_bytes);
            (first_page, page_at(end_bytes).max(first_page))
        }
        OpKind::Read | OpKind::Write => (page_at(request.offset_bytes), page_after(end_bytes)),
    };
    let is_empty = request.length_bytes == 0 && request.kind != OpKind::Flush;
    if is_empty || page_after(end_bytes) > exported_pages {
        return None;
    }
    Some(RequestInPages {
        tag: 0,
        first_page,
        pages: u32::try_from(end_page - first_page).ok()?,
        kind: request.kind,
        fua: request.fua && request.kind == OpKind::Write,
        must_not_wait_for_gc: request.high_priority,
        stream: request.stream,
        contiguous_on_one_member: request.contiguous_on_one_member,
    })
}

/// Error for an operation that the array refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SubmitError {
    /// A read or write of no pages.
    EmptyRequest,
    /// The operation reaches beyond the pages that the array exports.
    BeyondTheArray {
        /// Number of the first page of the refused operation.
        first_page: u64,
        /// Number of pages of the refused operation.
        pages: u32,
        /// Number of pages that the array exports.
        exported_pages: u64,
    },
}

impl std::fmt::Display for SubmitError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::EmptyRequest => write!(f, "a read or write needs at least one page"),
            Self::BeyondTheArray { first_page, pages, exported_pages } => {
                write!(f, "{pages} pages from page {first_page} on do not fit the {exported_pages} pages of the array")
            }
        }
    }
}

impl std::error::Error for SubmitError {}

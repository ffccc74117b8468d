//! Requests of a host as pages of the array, and why the array may not take them.

use super::PageRequest;
use crate::request::{OpKind, Request};

/// The pages that `request` touches, those of a trim that it covers wholly; `None` if it is empty or reaches beyond `exported_pages`.
#[inline]
pub fn pages_of(request: &Request, page_bytes: u64, exported_pages: u64) -> Option<PageRequest> {
    let end_bytes = request.offset_bytes.checked_add(request.length_bytes)?;
    let (first_page, end_page) = match request.kind {
        OpKind::Flush => (0, 0),
        OpKind::Trim => {
            let first_page = request.offset_bytes.div_ceil(page_bytes);
            (first_page, (end_bytes / page_bytes).max(first_page))
        }
        OpKind::Read | OpKind::Write => (request.offset_bytes / page_bytes, end_bytes.div_ceil(page_bytes)),
    };
    let is_empty = request.length_bytes == 0 && request.kind != OpKind::Flush;
    if is_empty || end_bytes.div_ceil(page_bytes) > exported_pages {
        return None;
    }
    Some(PageRequest {
        tag: 0,
        first_page,
        pages: u32::try_from(end_page - first_page).ok()?,
        kind: request.kind,
        fua: request.fua && request.kind == OpKind::Write,
        high_priority: request.high_priority,
        stream: request.stream,
        one_member: request.one_member,
    })
}

/// Why an operation is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SubmitError {
    /// A read or write of no pages.
    Empty,
    /// It reaches beyond the pages that the array exports.
    BeyondTheArray {
        /// Its first page.
        first_page: u64,
        /// Its pages.
        pages: u32,
        /// Pages of the array.
        exported_pages: u64,
    },
}

impl std::fmt::Display for SubmitError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Empty => write!(f, "a read or write needs at least one page"),
            Self::BeyondTheArray { first_page, pages, exported_pages } => {
                write!(f, "{pages} pages from page {first_page} on do not fit the {exported_pages} pages of the array")
            }
        }
    }
}

impl std::error::Error for SubmitError {}

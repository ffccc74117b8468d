//! Where requests come from: synthetic generators, the catalogue of named workloads, mixes of streams, and traces.
//!
//! A [`WorkloadSpec`] is plain data; [`open`] turns it into a [`Source`].

pub mod catalogue;
pub mod files;
mod mix;
mod space;
mod spec;
pub mod synthetic;
pub mod trace;
mod transform;
pub mod units;

pub use flashraid_model::request::{OpKind, Request};
pub use mix::Mix;
pub use space::{AddressSpace, Grain};
pub use spec::{SourceSpec, SpecProblem, WorkloadSpec, open};
pub use transform::{AddressFit, Transform, TransformSpec};

/// When requests arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostLoop {
    /// At the times that the requests carry.
    Open,
    /// A new one as soon as one of `depth` outstanding requests is done.
    Closed {
        /// Outstanding requests, at least 1.
        depth: u32,
        /// Pause between the end of a request and the issue of the one that takes its place, in nanoseconds.
        think_ns: u64,
    },
}

/// A stream of requests in order of arrival.
pub trait Source {
    /// The next request, `None` at the end.
    ///
    /// # Errors
    /// A trace that can't be read on; the text names file, line and column, what was found and what was expected.
    fn next_request(&mut self) -> Result<Option<Request>, SourceError>;

    /// Appends the next `n` requests to `out`, fewer only at the end, and says how many.
    ///
    /// # Errors
    /// As [`Source::next_request`]; the requests before the bad one have been appended.
    fn fill(&mut self, out: &mut Vec<Request>, n: usize) -> Result<usize, SourceError> {
        for filled in 0..n {
            match self.next_request()? {
                Some(request) => out.push(request),
                None => return Ok(filled),
            }
        }
        Ok(n)
    }

    /// When requests arrive.
    fn host_loop(&self) -> HostLoop {
        HostLoop::Open
    }

    /// Share of the source that has been read, from 0 to 1, if known.
    fn progress(&self) -> Option<f64> {
        None
    }

    /// What was assumed or left out so far in reading it, a sentence each, for the report.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// Where the last request came from, such as `trace.csv:17`, for messages; `None` if it has no place but its number.
    fn place(&self) -> Option<String> {
        None
    }
}

impl<S: Source + ?Sized> Source for Box<S> {
    fn next_request(&mut self) -> Result<Option<Request>, SourceError> {
        (**self).next_request()
    }

    fn fill(&mut self, out: &mut Vec<Request>, n: usize) -> Result<usize, SourceError> {
        (**self).fill(out, n)
    }

    fn host_loop(&self) -> HostLoop {
        (**self).host_loop()
    }

    fn progress(&self) -> Option<f64> {
        (**self).progress()
    }

    fn notes(&self) -> Vec<String> {
        (**self).notes()
    }

    fn place(&self) -> Option<String> {
        (**self).place()
    }
}

/// A source that can't go on.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// The input is not what it should be: exit status 2.
    #[error("{0}")]
    Input(String),
    /// Reading failed: exit status 1.
    #[error("{context}: {source}")]
    Io {
        /// What was being read.
        context: String,
        /// Why it failed.
        source: std::io::Error,
    },
}

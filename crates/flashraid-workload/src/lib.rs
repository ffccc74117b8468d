//! Where requests come from: synthetic generators, the catalogue of named workloads, mixes of streams, and traces.
//!
//! A [`WorkloadSpec`] is plain data; [`open`] turns it into a [`Source`].

pub mod catalogue;
pub mod files;
pub mod import;
mod mix;
pub mod quantities;
mod space;
mod spec;
pub mod synthetic;
pub mod trace;
mod transform;

use std::fmt;
use std::io;
use std::sync::Arc;

pub use flashraid_model::quantity_impls;
pub use flashraid_model::request::{HostLoop, OpKind, Request};
pub use flashraid_model::units;
pub use mix::Mix;
pub use space::{AddressSpace, Grain};
pub use spec::{SourceSpec, SpecProblem, WorkloadSpec, open, open_until};
pub use transform::{AddressFit, Transform, TransformSpec};

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

/// Asked now and then by whatever reads or skips for long: whether it is to stop. By default it never is.
#[derive(Clone, Default)]
pub struct Stop(Option<Arc<dyn Fn() -> bool + Send + Sync>>);

impl Stop {
    /// Stops as soon as `asked` says so.
    pub fn when(asked: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(asked)))
    }

    /// Whether to stop.
    pub fn is_asked(&self) -> bool {
        self.0.as_ref().is_some_and(|asked| asked())
    }

    /// Goes on, or not.
    ///
    /// # Errors
    /// [`SourceError::Stopped`].
    pub fn check(&self) -> Result<(), SourceError> {
        if self.is_asked() { Err(SourceError::Stopped) } else { Ok(()) }
    }
}

impl fmt::Debug for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Stop").field(&self.0.is_some()).finish()
    }
}

/// A source that can't go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
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
    /// It was stopped by its [`Stop`].
    #[error("stopped")]
    Stopped,
}

impl SourceError {
    /// `what` can't be read: a mistake of whoever named it, or of the disk.
    pub fn reading(what: &str, error: io::Error) -> Self {
        match files::is_wrong_path(&error) {
            true => Self::Input(format!("can't read {what}: {error}")),
            false => Self::Io { context: format!("can't read {what}"), source: error },
        }
    }
}

//! Simulates garbage collection in arrays of SSDs, and the remedies against it.
//!
//! ```
//! # fn main() -> Result<(), flashraid::Error> {
//! let report = flashraid::Simulation::from_toml(
//!     r#"
//!     array = { level = "raid0", members = 4, stripe_unit = "16KiB" }
//!     ssd.geometry = { dies = 2, blocks = 64, pages = 16 }
//!     workload = { preset = "hpc-w", requests = 500 }
//!     "#,
//! )?
//! .set("coordination.scheme", "reactive-inclusive")?
//! .run()?;
//! let mean_us = report.response_us.all.mean.expect("requests were served");
//! println!("mean response {mean_us:.0} µs, {} collections", report.gc.runs);
//! # assert!(mean_us > 0.0 && report.requests.all == 500);
//! # Ok(())
//! # }
//! ```
//!
//! - [`Simulation`] runs one configuration to a [`Report`], which is the document of `flashraid run --json` as a type.
//! - [`Study`] runs every combination of varied keys with every seed, on several threads or machines. It continues where it was stopped.
//! - [`config`] has the keys of a configuration and all their possible errors. [`config::config_schema`] describes the keys.
//!   [`config::all_presets`]
//!   lists the devices, arrays and workloads that are built in.
//!
//! The same configuration and seed give the same results on every machine.
//!
//! # Your own requests
//!
//! A [`RequestSource`] returns one request after the other, in order of time. It may be a program's own model of a load, or a recording.
//!
//! ```
//! use flashraid::{OpKind, Request, RequestSource, Simulation, SourceError};
//!
//! /// Writes the array from end to end, a page every 100 µs.
//! struct Sequential {
//!     next: u64,
//!     pages: u64,
//! }
//!
//! impl RequestSource for Sequential {
//!     fn next_request(&mut self) -> Result<Option<Request>, SourceError> {
//!         let number = self.next;
//!         self.next += 1;
//!         Ok(Some(Request::new(OpKind::Write, number * 100_000, number % self.pages * 4096, 4096)))
//!     }
//! }
//!
//! # fn main() -> Result<(), flashraid::Error> {
//! let simulation = Simulation::from_toml("ssd.geometry = { dies = 1, blocks = 64 }\nworkload.requests = 1000")?;
//! let pages = simulation.capacity_bytes()? / 4096;
//! let report = simulation.source(Sequential { next: 0, pages }).run()?;
//! assert_eq!(report.requests.write, 1000);
//! # Ok(())
//! # }
//! ```
//!
//! # Your own measurements
//!
//! An [`Observer`] sees every request when it is done, and every cleaned victim. It may stop the run.
//!
//! ```
//! use flashraid::{CompletedRequest, Observer, Simulation};
//!
//! /// Number of requests that met a collection.
//! #[derive(Default)]
//! struct Met(u64);
//!
//! impl Observer for Met {
//!     fn request_completed(&mut self, done: &CompletedRequest) {
//!         self.0 += u64::from(done.gc_members_met > 0);
//!     }
//! }
//!
//! # fn main() -> Result<(), flashraid::Error> {
//! let mut met = Met::default();
//! let report = Simulation::from_toml("ssd.geometry = { dies = 1, blocks = 64 }\nworkload.requests = 1000")?.observe(&mut met).run()?;
//! assert_eq!(met.0, report.gc.requests_by_members_met[1..].iter().sum::<u64>());
//! # Ok(())
//! # }
//! ```
//!
//! # An array in a program of one's own
//!
//! A [`Device`] takes requests at moments that the caller chooses, and gives answers back. It is the array of a discrete-event program, an
//! emulator or a driver. C and Python have the same four verbs (docs/library.md, docs/python.md).
//!
//! ```
//! use flashraid::{OpKind, Request, Simulation};
//!
//! # fn main() -> Result<(), flashraid::Error> {
//! let mut device = Simulation::from_toml("ssd.geometry = { dies = 1, blocks = 64 }")?.open()?;
//! // A host that thinks for 50 µs about each answer.
//! let mut now_ns = 0;
//! for page in 0..100 {
//!     device.submit(&Request::new(OpKind::Write, now_ns, page * 4096, 4096), page)?;
//!     device.advance(u64::MAX, 1, |answer| now_ns = answer.done_ns + 50_000)?;
//! }
//! assert_eq!(device.report()?.requests.write, 100);
//! # Ok(())
//! # }
//! ```
//!
//! # Features
//!
//! Features `gzip`, `zstd` and `bzip2` read compressed traces. All are on by default. Without them, nothing needs a C compiler. Tables,
//! charts, pages, CSV and Parquet of the same reports are in the crate `flashraid-report`.
//!
//! The model itself is [`model`], and the generators and traces are [`workload`]. These parts change more often than the items on this
//! page.

mod device;
mod embed;
mod error;
#[doc(hidden)]
pub mod file_hashes;
mod observer;
mod template;

pub mod advise;
pub mod check;
pub mod config;
pub mod counterfactual;
pub mod documented_names;
#[doc(hidden)]
pub use check::duration;
pub mod exchange;
pub mod load_rise;
pub mod memory;
pub mod report;
mod resources;
#[doc(hidden)]
pub mod run;
mod run_error;
pub mod study;
mod study_problem;
mod threads;
mod warm_claim;
#[doc(hidden)]
pub mod warm_state;
pub mod warm_state_cache;
#[doc(hidden)]
pub mod warm_up;

pub use config::Config;
pub use device::{Device, DeviceError};
pub use embed::Simulation;
pub use error::Error;
pub use observer::{Observer, Progress, RunPhase};
pub use report::Report;
pub use study::{Study, StudyObserver, StudyResult};

#[doc(hidden)]
pub use flashraid_driver as driver;
pub use flashraid_driver::Answer;
pub use flashraid_model as model;
pub use flashraid_model::events::VictimBlockCollection;
pub use flashraid_model::metrics::CompletedRequest;
pub use flashraid_workload as workload;
pub use flashraid_workload::Stop;
pub use flashraid_workload::files;
pub use flashraid_workload::{HostLoop, OpKind, Request, RequestSource, SourceError};

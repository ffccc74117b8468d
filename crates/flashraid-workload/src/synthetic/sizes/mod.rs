//! Sizes of requests: one size, or a distribution. Each distribution is one file, with the parameters that users write.
//!
//! To add a distribution, write its file and add a line to the list below. Configuration, schema and reference follow from the list.

use super::check_share;
use super::generators::generators;
use crate::quantities::MeanRequestSize;
use crate::units::Size;
use crate::{ArrayProperties, OpKind, Request, SizeOrAddressGranularity, SpecProblem};
use flashraid_model::rng::{self, RandomStream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use exponential::MeanBeforeOrAfterRounding;

/// Size of requests: one size, or a distribution. It is never 0 and never more than the footprint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum SizeSpec {
    /// All requests have this size.
    Fixed(Size),
    /// Sizes are drawn from this distribution.
    Drawn(Distribution),
}

generators! {
    /// A distribution from which the sizes of requests are drawn.
    pub enum Distribution: SizeLaw, tag "distribution" {
        neighbours::Neighbours,
        exponential::Exponential,
        uniform::Uniform,
        bimodal::Bimodal,
        weighted::Weighted,
        log_normal::LogNormal,
    }
}

/// A distribution of request sizes. Each size is a multiple of a grain, and uses exactly one random number. A change of the sizes of
/// reads therefore does not change those of writes.
trait SizeLaw {
    /// Adds the problems of its parameters to `problems`.
    fn problems(&self, space: &ArrayProperties, problems: &mut Problems);

    /// Returns a generator of these sizes.
    fn draw(&self, space: &ArrayProperties) -> Drawn;
}

/// A generator of sizes, and the number of bytes in a grain.
struct Drawn {
    grain_bytes: u64,
    draw: Box<dyn Draw>,
}

/// Generator of sizes, counted in grains.
trait Draw: Send {
    /// Draws the next sizes, in grains.
    fn grains(&self, stream: &mut RandomStream, grains: &mut [u64]);
}

/// Returns the default grain.
fn page() -> SizeOrAddressGranularity {
    SizeOrAddressGranularity::LogicalPage
}

impl<T: Into<Distribution>> From<T> for SizeSpec {
    fn from(law: T) -> Self {
        Self::Drawn(law.into())
    }
}

impl SizeSpec {
    /// Returns the setting that all requests have this size.
    pub const fn fixed(bytes: u64) -> Self {
        Self::Fixed(Size { bytes })
    }

    pub(super) fn problems(&self, space: &ArrayProperties, footprint_bytes: u64) -> Vec<SpecProblem> {
        let mut problems = Problems { list: Vec::new(), footprint_bytes };
        match self {
            Self::Fixed(size) => problems.size("", size.bytes),
            Self::Drawn(distribution) => distribution.law().problems(space, &mut problems),
        }
        problems.list
    }
}

/// Collects the problems of a distribution.
struct Problems {
    list: Vec<SpecProblem>,
    footprint_bytes: u64,
}

impl Problems {
    fn refuse(&mut self, key: &str, message: String) {
        self.list.push(SpecProblem::new(key, message));
    }

    fn share(&mut self, key: &str, share: f64) {
        check_share(&mut self.list, key, share);
    }

    fn size(&mut self, key: &str, bytes: u64) {
        let max = self.footprint_bytes;
        // No size fits an empty footprint, which is refused by itself.
        if max > 0 && (bytes == 0 || bytes > max) {
            self.refuse(key, format!("is {bytes} bytes; 1 to {max} (the footprint of the workload) is allowed"));
        }
    }

    fn mean(&mut self, MeanRequestSize { bytes }: MeanRequestSize, min: f64) {
        let max = self.footprint_bytes;
        if max > 0 && !(bytes >= min && bytes <= max as f64) {
            let min = if min < 1.0 { "more than 0".to_owned() } else { format!("{min} (the grain)") };
            self.refuse("mean", format!("is {bytes} bytes; {min} to {max} (the footprint of the workload) is allowed"));
        }
    }

    /// Checks the mean of sizes that are multiples of a grain. It cannot be smaller than the grain.
    fn mean_of_multiples(&mut self, mean: MeanRequestSize, grain_bytes: u64) {
        self.size("grain", grain_bytes);
        self.mean(mean, grain_bytes as f64);
    }
}

/// Generator of the sizes of reads and writes of a specification.
pub(super) struct SizeGenerator {
    stream: RandomStream,
    read: Sizes,
    write: Sizes,
    /// True if reads and writes have the same distribution, which is the common case.
    is_one: bool,
    /// Sizes of a batch in grains, before they are converted to bytes.
    batch_grains: Vec<u64>,
}

impl SizeGenerator {
    pub(super) fn new(read: &SizeSpec, write: &SizeSpec, seed: u64, space: &ArrayProperties, footprint_bytes: u64) -> Self {
        Self {
            stream: rng::stream(seed, "workload.size", 0),
            read: Sizes::new(read, space, footprint_bytes),
            write: Sizes::new(write, space, footprint_bytes),
            is_one: read == write,
            batch_grains: Vec::new(),
        }
    }

    pub(super) fn fill(&mut self, batch: &mut [Request]) {
        let Self { stream, read, write, is_one, batch_grains } = self;
        if *is_one {
            write.fill(stream, batch, batch_grains);
        } else {
            for request in batch {
                let sizes = if request.kind == OpKind::Read { &*read } else { &*write };
                sizes.fill(stream, std::slice::from_mut(request), batch_grains);
            }
        }
    }
}

/// Generator of the sizes of one direction.
enum Sizes {
    Fixed { bytes: u64 },
    Drawn { law: Drawn, grains_max: u64 },
}

impl Sizes {
    fn new(spec: &SizeSpec, space: &ArrayProperties, footprint_bytes: u64) -> Self {
        match spec {
            SizeSpec::Fixed(size) => Self::Fixed { bytes: size.bytes },
            SizeSpec::Drawn(distribution) => {
                let law = distribution.law().draw(space);
                let grains_max = footprint_bytes / law.grain_bytes;
                Self::Drawn { law, grains_max }
            }
        }
    }

    fn fill(&self, stream: &mut RandomStream, batch: &mut [Request], grains: &mut Vec<u64>) {
        match self {
            Self::Fixed { bytes } => batch.iter_mut().for_each(|request| request.length_bytes = *bytes),
            Self::Drawn { law: Drawn { grain_bytes, draw }, grains_max } => {
                grains.resize(batch.len(), 0);
                draw.grains(stream, grains);
                for (request, grains) in batch.iter_mut().zip(grains.iter()) {
                    request.length_bytes = (*grains).clamp(1, *grains_max) * grain_bytes;
                }
            }
        }
    }
}

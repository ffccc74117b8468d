//! How large requests are.

use serde::{Deserialize, Serialize};

use super::check_share;
use crate::{AddressSpace, Grain, OpKind, Request, SpecProblem};
use flashraid_model::rng::{self, Stream};

/// A distribution of sizes. What it gives is never 0 and never more than the footprint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "distribution", rename_all = "kebab-case")]
pub enum SizeSpec {
    /// One size.
    Fixed {
        /// The size in bytes.
        bytes: u64,
    },
    /// The two multiples of `grain` next to the mean, mixed so that the mean is exact.
    Neighbours {
        /// The mean in bytes.
        mean_bytes: f64,
        /// Sizes are multiples of it.
        grain: Grain,
    },
    /// Exponential, rounded up to multiples of `grain` (PGC Table III).
    Exponential {
        /// The mean in bytes.
        mean_bytes: f64,
        /// Sizes are multiples of it.
        grain: Grain,
        /// Which mean is meant.
        mean_is: ExponentialMean,
    },
    /// Every multiple of `grain` from `min_bytes` to `max_bytes` is equally likely.
    Uniform {
        /// The smallest in bytes, rounded up to a multiple of `grain`.
        min_bytes: u64,
        /// The largest in bytes, rounded down to a multiple of `grain`.
        max_bytes: u64,
        /// Sizes are multiples of it.
        grain: Grain,
    },
    /// Two sizes (LAWC Table 4).
    Bimodal {
        /// The small size in bytes.
        small_bytes: u64,
        /// The large size in bytes.
        large_bytes: u64,
        /// Share of small requests, 0 to 1.
        small_share: f64,
    },
    /// Given sizes with weights; the weights need not add up to 1.
    Weighted {
        /// Pairs of a size in bytes and its weight.
        sizes: Vec<(u64, f64)>,
    },
    /// Log-normal, rounded up to multiples of `grain`.
    LogNormal {
        /// The mean in bytes before rounding.
        mean_bytes: f64,
        /// Standard deviation of the natural logarithm, 0 or more.
        sigma: f64,
        /// Sizes are multiples of it.
        grain: Grain,
    },
}

/// Which mean of a rounded exponential distribution is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExponentialMean {
    /// That of the exponential; rounding up adds about half a grain (the reference trace generator, and PGC as far as can be told).
    #[default]
    BeforeRounding,
    /// That of the sizes that come out.
    AfterRounding,
}

impl SizeSpec {
    /// One size.
    pub const fn fixed(bytes: u64) -> Self {
        Self::Fixed { bytes }
    }

    pub(super) fn problems(&self, space: &AddressSpace, footprint_bytes: u64) -> Vec<SpecProblem> {
        let mut check = Check { problems: Vec::new(), footprint_bytes };
        match self {
            Self::Fixed { bytes } => check.size("bytes", *bytes),
            Self::Neighbours { mean_bytes, grain } => check.mean_of_multiples(*mean_bytes, grain.bytes(space)),
            Self::Exponential { mean_bytes, grain, mean_is: ExponentialMean::AfterRounding } => {
                check.mean_of_multiples(*mean_bytes, grain.bytes(space));
            }
            Self::Exponential { mean_bytes, grain, mean_is: ExponentialMean::BeforeRounding } => {
                check.size("grain", grain.bytes(space));
                check.mean(*mean_bytes, f64::MIN_POSITIVE);
            }
            Self::Uniform { min_bytes, max_bytes, grain } => {
                check.size("min_bytes", *min_bytes);
                check.size("max_bytes", *max_bytes);
                let grain_bytes = grain.bytes(space);
                check.size("grain", grain_bytes);
                if grain_bytes > 0 && min_bytes.div_ceil(grain_bytes) > max_bytes / grain_bytes {
                    check.refuse(
                        "max_bytes",
                        format!("is {max_bytes}; no multiple of {grain_bytes} lies between min_bytes = {min_bytes} and it"),
                    );
                }
            }
            Self::Bimodal { small_bytes, large_bytes, small_share } => {
                check.size("small_bytes", *small_bytes);
                check.size("large_bytes", *large_bytes);
                check_share(&mut check.problems, "small_share", *small_share);
            }
            Self::Weighted { sizes } => {
                sizes.iter().filter(|&&(_, weight)| weight != 0.0).for_each(|&(bytes, _)| check.size("sizes", bytes));
                let total: f64 = sizes.iter().map(|&(_, weight)| weight).sum();
                if !(total > 0.0 && total.is_finite() && sizes.iter().all(|&(_, weight)| weight >= 0.0)) {
                    check.refuse("sizes", "weights must be 0 or more, and one of them above 0".into());
                }
            }
            Self::LogNormal { mean_bytes, sigma, grain } => {
                check.size("grain", grain.bytes(space));
                check.mean(*mean_bytes, f64::MIN_POSITIVE);
                if !(0.0..=10.0).contains(sigma) {
                    check.refuse("sigma", format!("is {sigma}; 0 to 10 is allowed"));
                }
            }
        }
        check.problems
    }
}

/// Collects what is wrong with a distribution.
struct Check {
    problems: Vec<SpecProblem>,
    footprint_bytes: u64,
}

impl Check {
    fn refuse(&mut self, key: &str, message: String) {
        self.problems.push(SpecProblem::new(key, message));
    }

    fn size(&mut self, key: &str, bytes: u64) {
        let max = self.footprint_bytes;
        if bytes == 0 || bytes > max {
            self.refuse(key, format!("is {bytes} bytes; 1 to {max} (the footprint of the workload) is allowed"));
        }
    }

    fn mean(&mut self, bytes: f64, min: f64) {
        let max = self.footprint_bytes;
        if !(bytes >= min && bytes <= max as f64) {
            let min = if min < 1.0 { "more than 0".to_owned() } else { format!("{min} (the grain)") };
            self.refuse("mean_bytes", format!("is {bytes}; {min} to {max} (the footprint of the workload) is allowed"));
        }
    }

    /// No mean of multiples of a grain is smaller than the grain.
    fn mean_of_multiples(&mut self, mean_bytes: f64, grain_bytes: u64) {
        self.size("grain", grain_bytes);
        self.mean(mean_bytes, grain_bytes as f64);
    }
}

/// The sizes of reads and writes of a specification.
pub(super) struct SizeGenerator {
    stream: Stream,
    read: Sizes,
    write: Sizes,
    /// Whether both directions have one distribution, the common case.
    is_one: bool,
}

impl SizeGenerator {
    pub(super) fn new(read: &SizeSpec, write: &SizeSpec, seed: u64, space: &AddressSpace, footprint_bytes: u64) -> Self {
        Self {
            stream: rng::stream(seed, "workload.size", 0),
            read: Sizes::new(read, space, footprint_bytes),
            write: Sizes::new(write, space, footprint_bytes),
            is_one: read == write,
        }
    }

    pub(super) fn fill(&mut self, batch: &mut [Request]) {
        if self.is_one {
            self.write.fill(&mut self.stream, batch);
        } else {
            for request in batch {
                let sizes = if request.kind == OpKind::Read { &self.read } else { &self.write };
                sizes.fill(&mut self.stream, std::slice::from_mut(request));
            }
        }
    }
}

/// A distribution made ready: multiples of a grain, drawn from one number of the stream each, so that directions do not shift each other.
struct Sizes {
    draw: Draw,
    grain_bytes: u64,
    grains_max: u64,
}

enum Draw {
    Fixed,
    /// `few` grains or one more, this with probability `more`.
    Neighbours {
        few: u64,
        more: f64,
    },
    Exponential {
        mean_grains: f64,
    },
    Uniform {
        min_grains: u64,
        choices: u64,
    },
    /// Running sums of the shares, with the size up to each.
    Table(Vec<(f64, u64)>),
    LogNormal {
        mu: f64,
        sigma: f64,
    },
}

impl Sizes {
    fn new(spec: &SizeSpec, space: &AddressSpace, footprint_bytes: u64) -> Self {
        let (grain_bytes, draw) = match *spec {
            SizeSpec::Fixed { bytes } => (bytes, Draw::Fixed),
            SizeSpec::Neighbours { mean_bytes, grain } => {
                let grain_bytes = grain.bytes(space);
                let mean_grains = mean_bytes / grain_bytes as f64;
                (grain_bytes, Draw::Neighbours { few: mean_grains as u64, more: mean_grains - (mean_grains as u64) as f64 })
            }
            SizeSpec::Exponential { mean_bytes, grain, mean_is } => {
                let grain_bytes = grain.bytes(space);
                let mean_grains = mean_bytes / grain_bytes as f64;
                let mean_grains = match mean_is {
                    ExponentialMean::BeforeRounding => mean_grains,
                    // Rounded up it is geometric with mean 1 / (1 − e^(−1/m)); solved for m.
                    ExponentialMean::AfterRounding => -1.0 / libm::log(1.0 - 1.0 / mean_grains),
                };
                (grain_bytes, Draw::Exponential { mean_grains })
            }
            SizeSpec::Uniform { min_bytes, max_bytes, grain } => {
                let grain_bytes = grain.bytes(space);
                let min_grains = min_bytes.div_ceil(grain_bytes);
                (grain_bytes, Draw::Uniform { min_grains, choices: max_bytes / grain_bytes - min_grains + 1 })
            }
            SizeSpec::Bimodal { small_bytes, large_bytes, small_share } => {
                (1, Draw::Table(vec![(small_share, small_bytes), (1.0, large_bytes)]))
            }
            SizeSpec::Weighted { ref sizes } => (1, Draw::Table(running_sums(sizes))),
            SizeSpec::LogNormal { mean_bytes, sigma, grain } => {
                let grain_bytes = grain.bytes(space);
                // The mean of a log-normal is e^(μ + σ²/2).
                (grain_bytes, Draw::LogNormal { mu: libm::log(mean_bytes / grain_bytes as f64) - sigma * sigma / 2.0, sigma })
            }
        };
        Self { draw, grain_bytes, grains_max: footprint_bytes / grain_bytes }
    }

    fn fill(&self, stream: &mut Stream, batch: &mut [Request]) {
        match self.draw {
            Draw::Fixed => batch.iter_mut().for_each(|r| r.length_bytes = self.grain_bytes),
            Draw::Neighbours { few, more } => self.fill_with(batch, || few + u64::from(rng::happens(stream, more))),
            Draw::Exponential { mean_grains } => self.fill_with(batch, || (mean_grains * rng::exponential(stream)).ceil() as u64),
            Draw::Uniform { min_grains, choices } => self.fill_with(batch, || min_grains + rng::below(stream, choices)),
            Draw::Table(ref sums) => self.fill_with(batch, || {
                let number = rng::unit(stream);
                sums[sums.partition_point(|&(sum, _)| sum <= number).min(sums.len() - 1)].1
            }),
            Draw::LogNormal { mu, sigma } => {
                self.fill_with(batch, || libm::exp(mu + sigma * rng::normal(stream)).ceil() as u64);
            }
        }
    }

    fn fill_with(&self, batch: &mut [Request], mut grains: impl FnMut() -> u64) {
        for request in batch {
            request.length_bytes = grains().clamp(1, self.grains_max) * self.grain_bytes;
        }
    }
}

fn running_sums(sizes: &[(u64, f64)]) -> Vec<(f64, u64)> {
    let total: f64 = sizes.iter().map(|&(_, weight)| weight).sum();
    let mut sum = 0.0;
    let weighted = sizes.iter().filter(|&&(_, weight)| weight > 0.0);
    weighted
        .map(|&(bytes, weight)| {
            sum += weight / total;
            (sum, bytes)
        })
        .collect()
}

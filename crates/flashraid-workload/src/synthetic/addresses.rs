//! Where requests go.

use serde::{Deserialize, Serialize};

use super::check_share;
use super::scatter::Scatter;
use super::zipf::Zipf;
use crate::{AddressSpace, Grain, OpKind, Request, SpecProblem};
use flashraid_model::rng::{self, Stream};

/// Where requests go: drawn from a pattern over the footprint, unless they continue the request before or are aimed at one member.
///
/// A drawn address whose request would reach beyond the footprint is folded back: its number modulo the number of places where the request fits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AddressSpec {
    /// How addresses are drawn.
    pub pattern: Pattern,
    /// Share of requests that start where the one before ended, 0 to 1 (PGC Table III); one that would not fit there is drawn.
    pub sequential_fraction: f64,
    /// A request that starts where the one before ended has that request's size and direction, too, as in DiskSim's generator; it is drawn if it
    /// would not fit there.
    pub sequential_repeats: bool,
    /// Aims some of the drawn requests at one member.
    pub member_skew: Option<MemberSkew>,
    /// The part of the array that is used, from its start; `None` is all of it.
    pub footprint: Option<Footprint>,
    /// Drawn addresses are multiples of it.
    pub align: Grain,
}

impl Default for AddressSpec {
    fn default() -> Self {
        Self {
            pattern: Pattern::Uniform,
            sequential_fraction: 0.0,
            sequential_repeats: false,
            member_skew: None,
            footprint: None,
            align: Grain::Page,
        }
    }
}

/// How addresses are drawn. Chunks are runs of equally likely addresses; a rest of the footprint smaller than a chunk is left out.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "pattern", rename_all = "kebab-case")]
pub enum Pattern {
    /// All are equally likely.
    Uniform,
    /// The k-th most popular chunk has a weight of k^−exponent.
    Zipf {
        /// 0 is uniform; traces lie between 0.3 and 1.2.
        exponent: f64,
        /// Bytes of a chunk.
        chunk_bytes: u64,
        /// Spreads the chunks by popularity over the footprint at random; else the most popular come first.
        scatter: bool,
    },
    /// A share of the requests goes to a share of the space.
    HotCold {
        /// Share of requests that go to the hot part, 0 to 1.
        request_share: f64,
        /// Share of chunks in the hot part, 0 to 1.
        space_share: f64,
        /// Bytes of a chunk.
        chunk_bytes: u64,
        /// Spreads the hot chunks over the footprint at random; else they come first.
        scatter: bool,
    },
}

/// A share of the requests is aimed at one member, each as a whole ([`Request::one_member`]); the others go wherever the pattern says.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemberSkew {
    /// The member, or the pair of mirrors.
    pub member: u32,
    /// Share of requests aimed at it, 0 to 1.
    pub request_share: f64,
}

/// The part of the array that is used.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Footprint {
    /// That many bytes.
    Bytes(u64),
    /// That many bytes, or all of an array that has no more.
    AtMost(u64),
    /// That share of the capacity, above 0 to 1.
    Fraction(f64),
}

impl AddressSpec {
    /// Bytes of the footprint, whole multiples of `align`.
    pub fn footprint_bytes(&self, space: &AddressSpace) -> u64 {
        let bytes = match self.footprint {
            None => space.capacity_bytes,
            Some(Footprint::Bytes(bytes)) => bytes,
            Some(Footprint::AtMost(bytes)) => bytes.min(space.capacity_bytes),
            Some(Footprint::Fraction(fraction)) => (space.capacity_bytes as f64 * fraction) as u64,
        };
        let align_bytes = self.align.bytes(space).max(1);
        bytes / align_bytes * align_bytes
    }

    pub(super) fn problems(&self, space: &AddressSpace) -> Vec<SpecProblem> {
        let mut problems = Vec::new();
        let capacity = space.capacity_bytes;
        let footprint_bytes = self.footprint_bytes(space);
        let align_bytes = self.align.bytes(space);
        if align_bytes == 0 || align_bytes > capacity {
            problems.push(SpecProblem::new("align", format!("is {align_bytes} bytes; 1 to {capacity} (the capacity) is allowed")));
        } else if footprint_bytes == 0
            || footprint_bytes > capacity
            || matches!(self.footprint, Some(Footprint::Fraction(f)) if !(0.0..=1.0).contains(&f))
        {
            let text = format!("comes to {footprint_bytes} bytes; {align_bytes} (`align`) to {capacity} (the capacity) is allowed");
            problems.push(SpecProblem::new("footprint", text));
        }
        check_share(&mut problems, "sequential_fraction", self.sequential_fraction);
        self.check_pattern(&mut problems, footprint_bytes, align_bytes);
        if let Some(skew) = self.member_skew {
            check_share(&mut problems, "member_skew.request_share", skew.request_share);
            if skew.member >= space.shape.members_with_data() {
                let text = format!("is {}; 0 to {} is allowed", skew.member, space.shape.members_with_data().saturating_sub(1));
                problems.push(SpecProblem::new("member_skew.member", text));
            } else if space.shape.data_strips(skew.member, footprint_bytes / space.stripe_bytes()) == 0 {
                let text = format!(
                    "needs a footprint in which the member holds data, of several stripes of {} bytes; it is {footprint_bytes}",
                    space.stripe_bytes()
                );
                problems.push(SpecProblem::new("member_skew", text));
            }
        }
        problems
    }

    fn check_pattern(&self, problems: &mut Vec<SpecProblem>, footprint_bytes: u64, align_bytes: u64) {
        let (chunk_bytes, chunks_min) = match self.pattern {
            Pattern::Uniform => return,
            Pattern::Zipf { exponent, chunk_bytes, .. } => {
                if !(0.0..=10.0).contains(&exponent) {
                    problems.push(SpecProblem::new("pattern.exponent", format!("is {exponent}; 0 to 10 is allowed")));
                }
                (chunk_bytes, 1)
            }
            Pattern::HotCold { request_share, space_share, chunk_bytes, .. } => {
                check_share(problems, "pattern.request_share", request_share);
                check_share(problems, "pattern.space_share", space_share);
                (chunk_bytes, 2)
            }
        };
        let chunk_max = footprint_bytes / chunks_min;
        if chunk_bytes == 0 || chunk_bytes < align_bytes || chunk_bytes > chunk_max {
            let text = format!("is {chunk_bytes}; {align_bytes} (`align`) to {chunk_max} is allowed");
            problems.push(SpecProblem::new("pattern.chunk_bytes", text));
        }
    }
}

/// The addresses of a specification.
pub(super) struct AddressGenerator {
    stream: Stream,
    draw: Draw,
    align_bytes: u64,
    footprint_bytes: u64,
    /// `None` if every request is drawn from the pattern.
    special: Option<Special>,
}

/// How the number of an aligned address is drawn.
enum Draw {
    Uniform { places: u64 },
    Zipf { zipf: Zipf, chunks: Chunks },
    HotCold { request_share: f64, hot: u64, cold: u64, chunks: Chunks },
}

/// Chunks by popularity.
struct Chunks {
    /// Aligned addresses in a chunk.
    places: u64,
    scatter: Option<Scatter>,
}

/// What requests do apart from following the pattern.
struct Special {
    sequential: Stream,
    sequential_fraction: f64,
    sequential_repeats: bool,
    aim: Stream,
    skew: MemberSkew,
    space: AddressSpace,
    /// End of the request before, in the address space of the array or, if that request was on one member, of the member.
    end_bytes: u64,
    one_member: bool,
    /// Size and direction of the request before.
    last: (u64, OpKind),
}

impl AddressGenerator {
    pub(super) fn new(spec: &AddressSpec, seed: u64, space: &AddressSpace) -> Self {
        let align_bytes = spec.align.bytes(space);
        let footprint_bytes = spec.footprint_bytes(space);
        let places = footprint_bytes / align_bytes;
        let chunked = |chunk_bytes: u64, scatter: bool| {
            let in_chunk = chunk_bytes / align_bytes;
            let count = places / in_chunk;
            (count, Chunks { places: in_chunk, scatter: scatter.then(|| Scatter::new(count, seed)) })
        };
        let draw = match spec.pattern {
            Pattern::Uniform => Draw::Uniform { places },
            Pattern::Zipf { exponent, chunk_bytes, scatter } => {
                let (count, chunks) = chunked(chunk_bytes, scatter);
                Draw::Zipf { zipf: Zipf::new(count, exponent), chunks }
            }
            Pattern::HotCold { request_share, space_share, chunk_bytes, scatter } => {
                let (count, chunks) = chunked(chunk_bytes, scatter);
                let hot = ((count as f64 * space_share).round() as u64).clamp(1, count - 1);
                Draw::HotCold { request_share, hot, cold: count - hot, chunks }
            }
        };
        let is_special = spec.sequential_fraction > 0.0 || spec.member_skew.is_some();
        let special = is_special.then(|| Special {
            sequential: rng::stream(seed, "workload.sequential", 0),
            sequential_fraction: spec.sequential_fraction,
            sequential_repeats: spec.sequential_repeats,
            aim: rng::stream(seed, "workload.member", 0),
            skew: spec.member_skew.unwrap_or(MemberSkew { member: 0, request_share: 0.0 }),
            space: *space,
            // Nothing fits after the end of everything, so the first request is drawn.
            end_bytes: u64::MAX,
            one_member: false,
            last: (0, OpKind::Write),
        });
        Self { stream: rng::stream(seed, "workload.address", 0), draw, align_bytes, footprint_bytes, special }
    }

    /// Places the requests of a batch; `continues` gets the positions of those that start where the one before ended.
    pub(super) fn fill(&mut self, batch: &mut [Request], continues: &mut Vec<usize>) {
        continues.clear();
        let Self { stream, draw, .. } = self;
        match draw {
            Draw::Uniform { places } => batch.iter_mut().for_each(|r| r.offset_bytes = rng::below(stream, *places)),
            Draw::Zipf { zipf, chunks } => batch.iter_mut().for_each(|r| r.offset_bytes = chunks.place(zipf.draw(stream), stream)),
            Draw::HotCold { request_share, hot, cold, chunks } => {
                for request in batch.iter_mut() {
                    let is_hot = rng::happens(stream, *request_share);
                    let rank = if is_hot { rng::below(stream, *hot) } else { *hot + rng::below(stream, *cold) };
                    request.offset_bytes = chunks.place(rank, stream);
                }
            }
        }
        // So far these are numbers of aligned addresses.
        match &mut self.special {
            None => {
                for request in batch {
                    request.one_member = false;
                    request.offset_bytes = fold(request.offset_bytes, request.length_bytes, self.align_bytes, self.footprint_bytes);
                }
            }
            Some(special) => {
                for (position, request) in batch.iter_mut().enumerate() {
                    if special.place(request, self.align_bytes, self.footprint_bytes) {
                        continues.push(position);
                    }
                }
            }
        }
    }
}

/// The address of an aligned place, folded back if the request would reach beyond the footprint.
#[inline]
fn fold(place: u64, length_bytes: u64, align_bytes: u64, footprint_bytes: u64) -> u64 {
    let offset_bytes = place * align_bytes;
    let last_bytes = footprint_bytes - length_bytes;
    if offset_bytes <= last_bytes { offset_bytes } else { place % (last_bytes / align_bytes + 1) * align_bytes }
}

impl Chunks {
    fn place(&self, rank: u64, stream: &mut Stream) -> u64 {
        let chunk = self.scatter.as_ref().map_or(rank, |scatter| scatter.apply(rank));
        chunk * self.places + if self.places > 1 { rng::below(stream, self.places) } else { 0 }
    }
}

impl Special {
    /// Turns the number of the drawn place in `request` into its address; whether it starts where the one before ended.
    fn place(&mut self, request: &mut Request, align_bytes: u64, footprint_bytes: u64) -> bool {
        let (unit_bytes, stripe_bytes) = (self.space.stripe_unit_bytes, self.space.stripe_bytes());
        let shape = self.space.shape;
        let member_bytes = shape.data_strips(self.skew.member, footprint_bytes / stripe_bytes) * unit_bytes;
        // Both are drawn for every request, so that one choice does not shift the other's stream.
        let continues = rng::happens(&mut self.sequential, self.sequential_fraction);
        let aimed = rng::happens(&mut self.aim, self.skew.request_share);

        let (repeated_bytes, repeated_kind) = if self.sequential_repeats { self.last } else { (request.length_bytes, request.kind) };
        let room_bytes = if self.one_member { member_bytes } else { footprint_bytes };
        let continues = continues && self.end_bytes.checked_add(repeated_bytes).is_some_and(|end| end <= room_bytes);
        if continues {
            (request.length_bytes, request.kind) = (repeated_bytes, repeated_kind);
        }
        let length_bytes = request.length_bytes;
        let start_bytes = if continues {
            self.end_bytes
        } else if aimed && length_bytes <= member_bytes {
            self.one_member = true;
            let drawn_bytes = request.offset_bytes * align_bytes;
            // So many strips of the array are one of the member's.
            let strips_bytes = unit_bytes * u64::from(shape.members_with_data());
            let on_member_bytes = drawn_bytes / strips_bytes * unit_bytes + drawn_bytes % unit_bytes;
            if on_member_bytes <= member_bytes - length_bytes {
                on_member_bytes
            } else {
                fold(on_member_bytes / align_bytes, length_bytes, align_bytes, member_bytes)
            }
        } else {
            self.one_member = false;
            fold(request.offset_bytes, length_bytes, align_bytes, footprint_bytes)
        };
        self.end_bytes = start_bytes + length_bytes;
        self.last = (length_bytes, request.kind);
        request.one_member = self.one_member;
        request.offset_bytes = if self.one_member {
            let (stripe, column) = shape.data_strip(self.skew.member, start_bytes / unit_bytes);
            stripe * stripe_bytes + u64::from(column) * unit_bytes + start_bytes % unit_bytes
        } else {
            start_bytes
        };
        continues
    }
}

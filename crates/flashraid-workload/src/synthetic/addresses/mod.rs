//! Addresses of requests: a pattern over a part of the array. Each pattern is one file, with the parameters that users write.
//!
//! To add a pattern, write its file and add a line to the list below. Configuration, schema and reference follow from the list.

mod chunks;
mod footprint;
mod ranks;
mod scatter;

use super::check_share;
use crate::units::Fraction;
use crate::{ArrayProperties, OpKind, Request, SizeOrAddressGranularity, SpecProblem};
use flashraid_model::policy::{policies, policy_config_serde};
use flashraid_model::rng::{self, RandomStream};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Map;
use std::borrow::Cow;
use std::ops::Range;

pub use footprint::Footprint;

policies! {
    /// The pattern by which addresses are drawn.
    #[derive(Clone, PartialEq)]
    pub enum AddressDistribution: AddressPattern, tag "pattern" {
        uniform::Uniform = "uniform",
        zipf::Zipf = "zipf",
        hot_cold::HotCold = "hot-cold",
    }

    /// Adds the problems of its parameters to `problems`.
    fn problems(&self, room: &Room<'_>, problems: &mut Problems);
    /// Returns the range of places that it draws.
    fn range(&self, room: &Room<'_>) -> Range<u64>;
    /// Returns a generator of places in `room`.
    fn draw(&self, room: &Room<'_>, seed: u64) -> Box<dyn DrawPlaces>;
}

/// A pattern of addresses. The fields of its type are the parameters that users write, each with a default.
trait AddressPattern: Default {
    /// Adds the problems of its parameters to `problems`.
    fn problems(&self, room: &Room<'_>, problems: &mut Problems);

    /// Returns the range of places that it draws. Most patterns draw all of them.
    fn range(&self, room: &Room<'_>) -> Range<u64> {
        0..room.places()
    }

    /// Returns a generator of places in `room`. Random numbers that do not come from the common stream of addresses come from streams of
    /// its own, made from `seed`.
    fn draw(&self, room: &Room<'_>, seed: u64) -> Box<dyn DrawPlaces>;

    /// Returns a pattern with random parameters, for random cases in tests.
    fn random_for_tests(stream: &mut RandomStream) -> Self;
}

/// Generator of places, which are numbers of aligned addresses.
trait DrawPlaces: Send {
    /// Sets the offset of each request in a batch to the number of an aligned address. The caller converts it to bytes.
    fn draw(&self, stream: &mut RandomStream, batch: &mut [Request]);
}

/// The part of the array that a pattern covers.
struct Room<'a> {
    space: &'a ArrayProperties,
    footprint_bytes: u64,
    align_bytes: u64,
}

impl Room<'_> {
    /// Returns the number of aligned addresses.
    fn places(&self) -> u64 {
        self.footprint_bytes / self.align_bytes
    }
}

/// Collects the problems of a pattern.
struct Problems(Vec<SpecProblem>);

impl Problems {
    fn refuse(&mut self, key: &str, message: String) {
        self.0.push(SpecProblem::new(key, message));
    }

    fn share(&mut self, key: &str, Fraction(share): Fraction) {
        check_share(&mut self.0, key, share);
    }

    /// Adds a problem unless the footprint has at least `chunks_min` chunks.
    fn chunk(&mut self, chunk: SizeOrAddressGranularity, room: &Room<'_>, chunks_min: u64) {
        let chunk_bytes = chunks::chunk_bytes(chunk, room.space);
        let max_bytes = room.footprint_bytes / chunks_min;
        if chunk_bytes == 0 || chunk_bytes < room.align_bytes || chunk_bytes > max_bytes {
            self.refuse("chunk", format!("is {chunk_bytes} bytes; {} (`align`) to {max_bytes} is allowed", room.align_bytes));
        }
    }
}

/// Settings for the addresses of requests.
///
/// Addresses are drawn from a pattern over the footprint, unless a request continues the one before or is aimed at one member. The
/// pattern draws a number `p` between 0 and the number of aligned addresses less 1. The request starts at `p` times `alignment`. If it
/// would reach beyond the footprint from there, it starts at (`p` modulo `n`) times `alignment` instead. Here, `n` is the number of
/// aligned addresses from which the request fits.
///
/// Users write the settings as a table, in which the parameters of the pattern stand beside the others.
#[derive(Debug, Clone, PartialEq)]
pub struct AddressSpec {
    /// Pattern by which addresses are drawn.
    pub pattern: AddressDistribution,
    /// Share of requests that start where the one before ended, 0 to 1, as in the paper PGC on preemptive collection (Table III). If a
    /// request does not fit there, its address is drawn. Users write it as `sequential_fraction` in `[workload]`, beside the table
    /// `address`.
    pub sequential_fraction: f64,
    /// True if a sequential request also has the size and direction of the request before, as in DiskSim's generator. Users write it as
    /// `sequential_repeats` in `[workload]`, beside the table `address`.
    pub sequential_repeats_size_and_kind: bool,
    /// Aims some of the drawn requests at one member; `None` aims no request.
    pub member_skew: Option<HotMember>,
    /// Part of the array that is used, from its start; `None` for all of it.
    pub footprint: Option<Footprint>,
    /// Unit of which drawn addresses are multiples.
    pub alignment: SizeOrAddressGranularity,
    /// Names of parameters that the user wrote although the chosen pattern does not have them, but another pattern does. They have no
    /// effect on addresses, and the check of a configuration refuses them.
    pub unused_parameters: Vec<String>,
}

impl Default for AddressSpec {
    fn default() -> Self {
        Self {
            pattern: AddressDistribution::default(),
            sequential_fraction: 0.0,
            sequential_repeats_size_and_kind: false,
            member_skew: None,
            footprint: None,
            alignment: SizeOrAddressGranularity::LogicalPage,
            unused_parameters: Vec::new(),
        }
    }
}

/// Keys in the table of addresses that do not belong to the pattern.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct BesidePattern {
    /// Aims some of the requests at one member.
    #[serde(skip_serializing_if = "Option::is_none")]
    member_skew: Option<HotMember>,
    /// The part of the array that is used, from its start.
    #[serde(skip_serializing_if = "Option::is_none")]
    footprint: Option<Footprint>,
    /// Unit of which addresses are multiples.
    #[serde(default = "chunks::a_page")]
    align: SizeOrAddressGranularity,
}

/// Key in the table under which users name the pattern.
const PATTERN: &str = "pattern";

impl Serialize for AddressSpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { pattern, member_skew, footprint, alignment: align, .. } = self;
        let beside = BesidePattern { member_skew: *member_skew, footprint: *footprint, align: *align };
        policy_config_serde::serialize_merged_tables(
            policy_config_serde::named_table_with_own_parameters(PATTERN, pattern),
            &beside,
            serializer,
        )
    }
}

impl<'de> Deserialize<'de> for AddressSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut table = Map::deserialize(deserializer)?;
        let written: Vec<String> = table.keys().cloned().collect();
        let (pattern, _) =
            policy_config_serde::take_chosen_and_other_policies::<AddressDistribution>(PATTERN, &mut table).map_err(D::Error::custom)?;
        let own = policy_config_serde::named_table_with_own_parameters(PATTERN, &pattern);
        let unused = written.into_iter().filter(|key| !own.contains_key(key) && !table.contains_key(key)).collect();
        let BesidePattern { member_skew, footprint, align } = serde_json::from_value(table.into()).map_err(D::Error::custom)?;
        Ok(Self { pattern, member_skew, footprint, alignment: align, unused_parameters: unused, ..Self::default() })
    }
}

impl JsonSchema for AddressSpec {
    fn schema_name() -> Cow<'static, str> {
        "Address".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        policy_config_serde::policy_table_json_schema::<AddressDistribution, BesidePattern>(
            PATTERN,
            "How addresses are drawn.",
            "Where requests go.",
            generator,
        )
    }
}

/// A share of the requests is aimed at one member. All pages of such a request lie on this member, even if the request is longer than a
/// strip. Other requests get addresses from the distribution that `pattern` names, or continue the request before
/// (`sequential_fraction`).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HotMember {
    /// Number of the member in the array, from 0. With mirrors, it is the number of the set of members that hold the same data.
    #[schemars(range(min = 0, max = 127))]
    pub member: u32,
    /// Share of the requests that are aimed at this member. Requests that continue the one before are not counted.
    pub request_share: Fraction,
}

impl AddressSpec {
    /// Returns the number of bytes in the footprint, rounded down to a multiple of `align`. The footprint is the part of the array that
    /// is used, from its start.
    pub fn footprint_bytes(&self, space: &ArrayProperties) -> u64 {
        let bytes = match self.footprint {
            None => space.capacity_bytes,
            Some(Footprint::Bytes(size)) => size.bytes,
            Some(Footprint::AtMostBytes(size)) => size.bytes.min(space.capacity_bytes),
            Some(Footprint::ShareOfCapacity(share)) => (space.capacity_bytes as f64 * share.0) as u64,
        };
        let align_bytes = self.alignment.bytes_in(space).max(1);
        bytes / align_bytes * align_bytes
    }

    /// Returns the range of bytes that requests lie in.
    pub(crate) fn range_bytes(&self, space: &ArrayProperties) -> Range<u64> {
        let room = self.room(space);
        let drawn = self.pattern.range(&room);
        // Requests that continue others go on to the end of the footprint, and those for one member have its addresses.
        let start = if self.member_skew.is_some() { 0 } else { drawn.start };
        let end = if self.member_skew.is_some() || self.sequential_fraction > 0.0 { room.places() } else { drawn.end };
        start * room.align_bytes..end * room.align_bytes
    }

    /// Returns the part of the array that the pattern covers.
    fn room<'a>(&self, space: &'a ArrayProperties) -> Room<'a> {
        Room { space, footprint_bytes: self.footprint_bytes(space), align_bytes: self.alignment.bytes_in(space) }
    }

    pub(super) fn problems(&self, space: &ArrayProperties) -> Vec<SpecProblem> {
        let mut problems = Vec::new();
        let capacity = space.capacity_bytes;
        let room = self.room(space);
        let Room { footprint_bytes, align_bytes, .. } = room;
        if align_bytes == 0 || align_bytes > capacity {
            problems.push(SpecProblem::new("align", format!("is {align_bytes} bytes; 1 to {capacity} (the capacity) is allowed")));
        } else if footprint_bytes == 0
            || footprint_bytes > capacity
            || matches!(self.footprint, Some(Footprint::ShareOfCapacity(share)) if !(0.0..=1.0).contains(&share.0))
        {
            let text = format!("comes to {footprint_bytes} bytes; {align_bytes} (`align`) to {capacity} (the capacity) is allowed");
            problems.push(SpecProblem::new("footprint", text));
        }
        check_share(&mut problems, "sequential_fraction", self.sequential_fraction);
        let mut of_pattern = Problems(Vec::new());
        self.pattern.problems(&room, &mut of_pattern);
        problems.extend(of_pattern.0);
        if let Some(skew) = self.member_skew {
            check_share(&mut problems, "member_skew.request_share", skew.request_share.0);
            if skew.member >= space.stripe_shape.members_with_data_in_some_stripe() {
                let text = format!(
                    "is {}; 0 to {} is allowed",
                    skew.member,
                    space.stripe_shape.members_with_data_in_some_stripe().saturating_sub(1)
                );
                problems.push(SpecProblem::new("member_skew.member", text));
            } else if space.stripe_shape.count_data_strips_of_member(skew.member, footprint_bytes / space.stripe_data_bytes()) == 0 {
                let text = format!(
                    "needs a footprint in which the member holds data, of several stripes of {} bytes; it is {footprint_bytes}",
                    space.stripe_data_bytes()
                );
                problems.push(SpecProblem::new("member_skew", text));
            }
        }
        problems
    }
}

/// Generator of addresses for a specification.
pub(super) struct AddressGenerator {
    stream: RandomStream,
    draw: Box<dyn DrawPlaces>,
    align_bytes: u64,
    footprint_bytes: u64,
    /// State for requests that do not follow the pattern; `None` if all do.
    special: Option<Special>,
}

/// State for requests that continue the one before or are aimed at a member.
struct Special {
    sequential: RandomStream,
    sequential_fraction: f64,
    sequential_repeats: bool,
    aim: RandomStream,
    skew: HotMember,
    space: ArrayProperties,
    /// End of the request before. It is an address within a member if that request was aimed at one, and otherwise an address in the array.
    end_bytes: u64,
    one_member: bool,
    /// Size and direction of the request before.
    last: (u64, OpKind),
}

impl AddressGenerator {
    pub(super) fn new(spec: &AddressSpec, seed: u64, space: &ArrayProperties) -> Self {
        let room = spec.room(space);
        let draw = spec.pattern.draw(&room, seed);
        let Room { footprint_bytes, align_bytes, .. } = room;
        let is_special = spec.sequential_fraction > 0.0 || spec.member_skew.is_some();
        let special = is_special.then(|| Special {
            sequential: rng::stream(seed, "workload.sequential", 0),
            sequential_fraction: spec.sequential_fraction,
            sequential_repeats: spec.sequential_repeats_size_and_kind,
            aim: rng::stream(seed, "workload.member", 0),
            skew: spec.member_skew.unwrap_or(HotMember { member: 0, request_share: Fraction(0.0) }),
            space: *space,
            // No request fits behind this address, so the first request is drawn.
            end_bytes: u64::MAX,
            one_member: false,
            last: (0, OpKind::Write),
        });
        Self { stream: rng::stream(seed, "workload.address", 0), draw, align_bytes, footprint_bytes, special }
    }

    /// Sets the addresses of a batch. `continues` receives the positions of the requests that start where the one before ended.
    pub(super) fn fill(&mut self, batch: &mut [Request], continues: &mut Vec<usize>) {
        continues.clear();
        self.draw.draw(&mut self.stream, batch);
        // The offsets are numbers of aligned addresses until here.
        match &mut self.special {
            None => {
                for request in batch {
                    request.contiguous_on_one_member = false;
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

/// Converts an aligned place to an address. The address is moved if the request would reach beyond the footprint.
#[inline]
fn fold(place: u64, length_bytes: u64, align_bytes: u64, footprint_bytes: u64) -> u64 {
    let offset_bytes = place * align_bytes;
    let last_bytes = footprint_bytes - length_bytes;
    if offset_bytes <= last_bytes { offset_bytes } else { place % (last_bytes / align_bytes + 1) * align_bytes }
}

impl Special {
    /// Converts the place that was drawn for `request` to its address. Returns true if the request starts where the one before ended.
    fn place(&mut self, request: &mut Request, align_bytes: u64, footprint_bytes: u64) -> bool {
        let (unit_bytes, stripe_bytes) = (self.space.stripe_unit_bytes, self.space.stripe_data_bytes());
        let shape = self.space.stripe_shape;
        let member_bytes = shape.count_data_strips_of_member(self.skew.member, footprint_bytes / stripe_bytes) * unit_bytes;
        // Both numbers are drawn for every request, so that one choice does not change the other's stream.
        let continues = rng::chance(&mut self.sequential, self.sequential_fraction);
        let aimed = rng::chance(&mut self.aim, self.skew.request_share.0);

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
            // This number of strips of the array corresponds to one strip of the member.
            let strips_bytes = unit_bytes * u64::from(shape.members_with_data_in_some_stripe());
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
        request.contiguous_on_one_member = self.one_member;
        request.offset_bytes = if self.one_member {
            let (stripe, column) = shape.locate_data_strip_of_member(self.skew.member, start_bytes / unit_bytes);
            stripe * stripe_bytes + u64::from(column) * unit_bytes + start_bytes % unit_bytes
        } else {
            start_bytes
        };
        continues
    }
}

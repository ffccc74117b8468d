//! Placement handles of writes to members (rules 221 and 280). A handle is a label of a write; drives put data with different handles into
//! different superblocks.

use super::{ArrayLayout, ArrayParams};
use crate::ids::MemberId;
use crate::quantity_impls;
use crate::space::superblocks::ParityUnits;
use crate::units::{AllowedUnitlessRange, Quantity, UnitError};

/// Choice of the placement handle of parity. A handle is a label of a write; drives put data with different handles into different
/// superblocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ParityHandle {
    /// Parity has the handle of the request that it is written for.
    #[default]
    OfData,
    /// Parity has the last handle of the drives, which no stream of a mix gets.
    Own,
    /// Parity has the handle with this number, which streams may have, too.
    Number(u8),
}

impl Quantity for ParityHandle {
    const JSON_SCHEMA_FORMAT: &'static str = "parity-handle";
    const ALLOWED_VALUES: &'static str = "\"data\", \"own\", or the number of a placement handle, such as 1";
    const JSON_SCHEMA_PATTERN: &'static str = r"^\s*(data|own)\s*$";
    const UNITLESS_RANGE: Option<AllowedUnitlessRange> = Some(AllowedUnitlessRange { min: 0.0, max: 15.0, only_whole_numbers: true });

    fn parse(text: &str) -> Result<Self, UnitError> {
        match text.trim() {
            "data" => Ok(Self::OfData),
            "own" => Ok(Self::Own),
            _ => Err(UnitError::new("the words are \"data\" and \"own\"")),
        }
    }

    fn from_unitless_number(number: f64) -> Result<Self, UnitError> {
        Ok(Self::Number(number as u8))
    }

    fn to_json(&self) -> serde_json::Value {
        match self {
            Self::OfData => "data".into(),
            Self::Own => "own".into(),
            Self::Number(handle) => (*handle).into(),
        }
    }
}

quantity_impls!(ParityHandle);

/// Handles that streams and parity have on the members.
#[derive(Debug, Clone)]
pub(super) struct Handles {
    /// Number of handles that streams share.
    of_streams: u32,
    /// Handle of parity; `None` if it has that of the data.
    of_parity: Option<u8>,
    layout: ArrayLayout,
    /// Members that the spares replace, in order of the spares.
    replaced: Vec<u32>,
}

impl Handles {
    pub(super) fn from_params(params: &ArrayParams) -> Self {
        let handles = params.ssd.superblock.as_ref().map_or(1, |superblock| superblock.placement_handles.count);
        let of_parity = match params.parity_handle {
            _ if params.level.parity_strips() == 0 => None,
            ParityHandle::OfData => None,
            ParityHandle::Own => Some((handles - 1) as u8),
            ParityHandle::Number(handle) => Some(handle),
        };
        let is_own = of_parity.is_some() && params.parity_handle == ParityHandle::Own;
        Self {
            of_streams: handles - u32::from(is_own),
            of_parity,
            layout: params.layout(),
            replaced: params.failures_in_time_order().iter().map(|failure| failure.member).collect(),
        }
    }

    /// Returns the handle of a stream of a mix.
    pub(super) fn of_stream(&self, stream: u8) -> u8 {
        (u32::from(stream) % self.of_streams) as u8
    }

    /// Returns the handle of a write of a stream to a page of a member or spare.
    #[inline]
    pub(super) fn of_write(&self, stream: u8, member: u32, page: u64) -> u8 {
        match self.of_parity {
            Some(parity) if self.is_parity(member, page) => parity,
            _ => self.of_stream(stream),
        }
    }

    fn is_parity(&self, member: u32, page: u64) -> bool {
        let spare = member.checked_sub(self.layout.members());
        let member = spare.map_or(member, |spare| self.replaced[spare as usize]);
        let stripe = self.layout.stripe_of_member_page(page);
        stripe < self.layout.stripes() && self.layout.strip_index_of_member(stripe, member) >= self.layout.data_strips_per_stripe()
    }

    /// Returns the units of a member that hold parity with a handle of its own; `None` if parity has that of the data. A unit holds parity
    /// if its first page does.
    pub(super) fn parity_units(&self, MemberId(member): MemberId, pages_per_unit: u32) -> Option<ParityUnits> {
        let handle = self.of_parity?;
        let shape = self.layout.stripe_shape();
        let stripes = if shape.rotates_over_members { shape.strips_per_stripe() } else { 1 };
        let pages = stripes * self.layout.strip_pages();
        let until = (self.layout.stripes() * u64::from(self.layout.strip_pages())).div_ceil(u64::from(pages_per_unit));
        // Stripes after which both the members of parity and the first pages of units repeat.
        let turns = (1..=pages_per_unit).find(|turns| (turns * pages).is_multiple_of(pages_per_unit)).expect("the last one is a multiple");
        let mut runs: Vec<std::ops::Range<u64>> = Vec::new();
        for stripe in 0..turns * stripes {
            let page = stripe * self.layout.strip_pages();
            let [first, end] = [page, page + self.layout.strip_pages()].map(|page| u64::from(page.div_ceil(pages_per_unit)));
            let units = first..end;
            if self.layout.strip_index_of_member(u64::from(stripe), member) < self.layout.data_strips_per_stripe() || units.is_empty() {
                continue;
            }
            match runs.last_mut() {
                Some(last) if last.end == units.start => last.end = units.end,
                _ => runs.push(units),
            }
        }
        let period = u64::from(turns * pages / pages_per_unit);
        (!runs.is_empty()).then_some(ParityUnits { handle, period, runs, until })
    }
}

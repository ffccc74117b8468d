//! The conversion of a request to pages of members (rules 1 to 5 and 7).

use flashraid_model::array::{ArrayParams, ParityHandle, RaidLevel};
use flashraid_model::request::{OpKind, Request};
use flashraid_model::ssd::SsdParams;

use super::parity::{data_columns, member_of, parities};
use crate::outcome::Case;

/// Pages that the array exports (rule 3).
pub(crate) fn array_pages(params: &ArrayParams) -> u64 {
    let member = member_pages(params);
    let members = u64::from(params.members);
    match params.level {
        RaidLevel::Single | RaidLevel::Raid1 => member,
        RaidLevel::Raid0 => members * member,
        RaidLevel::Raid10 => members / 2 * member,
        RaidLevel::Raid4 | RaidLevel::Raid5 => (members - 1) * member,
        RaidLevel::Raid6 => (members - 2) * member,
    }
}

/// Pages that the array uses of a member.
pub(super) fn member_pages(params: &ArrayParams) -> u64 {
    let unit = u64::from(params.stripe_unit_pages);
    let (dies, of_die) = (u64::from(params.ssd.geometry.dies), u64::from(params.ssd.geometry.exported_pages_per_die()));
    if let Some(own) = &params.ssd.superblock {
        // Whole units of all dies together (rule 200).
        let unit_pages = u64::from(own.pages_per_mapping_unit);
        return dies * of_die / unit_pages * unit_pages / unit * unit;
    }
    let stride = u64::from(params.ssd.writes.die_stride);
    let die = of_die / stride * stride;
    dies * die / unit * unit
}
/// The pages of the array that a request touches (rule 1), or those that it takes of one member (rule 50).
pub(super) fn pages_of(params: &ArrayParams, request: &Request) -> Vec<u64> {
    let page_bytes = u64::from(params.ssd.geometry.page_bytes);
    let mut first = request.offset_bytes / page_bytes;
    let mut pages = pages_touched(params, request);
    if request.kind == OpKind::Trim {
        // Only pages that it covers wholly (rule 110).
        first = request.offset_bytes.div_ceil(page_bytes);
        pages = ((request.offset_bytes + request.length_bytes) / page_bytes).saturating_sub(first);
    }
    if request.kind == OpKind::Flush {
        return Vec::new();
    }
    if !request.contiguous_on_one_member {
        return (first..first + pages).collect();
    }
    let unit = u64::from(params.stripe_unit_pages);
    let columns = data_columns(params);
    let (mut stripe, mut column, mut place) = (first / unit / columns as u64, (first / unit % columns as u64) as usize, first % unit);
    let mut taken = Vec::new();
    while (taken.len() as u64) < pages {
        taken.push((stripe * columns as u64 + column as u64) * unit + place);
        place += 1;
        if place == unit {
            place = 0;
            (stripe, column) = next_data_strip(params, stripe, column);
        }
    }
    taken
}

fn pages_touched(params: &ArrayParams, request: &Request) -> u64 {
    let page_bytes = u64::from(params.ssd.geometry.page_bytes);
    (request.offset_bytes + request.length_bytes - 1) / page_bytes - request.offset_bytes / page_bytes + 1
}

/// The next data strip of the member that holds this one, as stripe and column.
fn next_data_strip(params: &ArrayParams, stripe: u64, column: usize) -> (u64, usize) {
    let columns = data_columns(params);
    let mut next = stripe;
    loop {
        next = (next + 1) % stripes(params);
        if parities(params) == 0 {
            return (next, column);
        }
        let member = member_of(params, stripe, column);
        if let Some(column) = (0..columns).find(|&column| member_of(params, next, column) == member) {
            return (next, column);
        }
    }
}

/// Stripes of the array.
pub(crate) fn stripes(params: &ArrayParams) -> u64 {
    member_pages(params) / u64::from(params.stripe_unit_pages)
}

/// Returns true if a member has room for a whole request that is aimed at it.
pub(crate) fn fits_one_member(params: &ArrayParams, request: &Request) -> bool {
    let data_strips = stripes(params) / u64::from(params.members) * (params.members as usize).saturating_sub(parities(params)) as u64;
    pages_touched(params, request) < data_strips.saturating_sub(1) * u64::from(params.stripe_unit_pages)
}

/// Placement handles of what a member or a spare is given (rules 221 and 280).
pub(super) struct Labels {
    /// Number of handles that streams share.
    streams: usize,
    /// Handle of parity, if it is not that of the data, and whether each page holds parity.
    parity: Option<(usize, Vec<bool>)>,
    /// Handle that each unit has before the run.
    pub owners: Vec<usize>,
}

impl Labels {
    pub(super) fn of(case: &Case, member: usize, replaced: usize) -> Self {
        let params = &case.params;
        let own = params.ssd.superblock.as_ref().expect("a drive with superblocks");
        let handles = own.placement_handles.count as usize;
        let of_parity = match params.parity_handle {
            _ if parities(params) == 0 => None,
            ParityHandle::OfData => None,
            ParityHandle::Own => Some(handles - 1),
            ParityHandle::Number(handle) => Some(usize::from(handle)),
        };
        let strip = u64::from(params.stripe_unit_pages);
        let columns = data_columns(params);
        let is_parity = |page: u64| (columns..columns + parities(params)).any(|role| member_of(params, page / strip, role) == replaced);
        let parity = of_parity.map(|handle| (handle, (0..stripes(params) * strip).map(is_parity).collect()));
        let streams = if of_parity.is_some() && params.parity_handle == ParityHandle::Own { handles - 1 } else { handles };
        let mut labels = Self { streams, parity, owners: Vec::new() };
        if member < params.members as usize {
            let unit_pages = u64::from(own.pages_per_mapping_unit);
            let owners = owners_of_units(case, member);
            labels.owners = (0..).zip(owners).map(|(unit, stream)| labels.of_write(unit * unit_pages, stream)).collect();
        }
        labels
    }

    /// The handle of a write of a stream.
    pub(super) fn of_write(&self, page: u64, stream: usize) -> usize {
        match &self.parity {
            Some((handle, is_parity)) if is_parity.get(page as usize) == Some(&true) => *handle,
            _ => stream % self.streams,
        }
    }
}

/// The stream that each unit of a member belongs to before the run: that of its first page (rule 221).
fn owners_of_units(case: &Case, member: usize) -> Vec<usize> {
    let params = &case.params;
    let (strip, columns) = (u64::from(params.stripe_unit_pages), data_columns(params));
    let unit_pages = params.ssd.superblock.as_ref().map_or(1, |own| u64::from(own.pages_per_mapping_unit));
    let owner = |page: u64| {
        let (stripe, offset) = (page / strip, page % strip);
        let role = match params.level {
            RaidLevel::Single | RaidLevel::Raid1 => 0,
            RaidLevel::Raid0 => member,
            RaidLevel::Raid10 => member / 2,
            _ => (0..columns + parities(params)).find(|&role| member_of(params, stripe, role) == member).expect("it has a strip"),
        };
        // Parity belongs to the first strip that it protects.
        let column = if role < columns { role } else { 0 };
        let of_array = (stripe * columns as u64 + column as u64) * strip + offset;
        case.owners.iter().find(|owned| owned.pages.contains(&of_array)).map_or(0, |owned| usize::from(owned.stream))
    };
    let pages = stripes(params) * strip;
    (0..pages.div_ceil(unit_pages)).map(|unit| owner(unit * unit_pages)).collect()
}

/// A logical page by its home die and that die's logical page (rule 7), `die × exported pages per die + page`.
pub(super) fn home(ssd: &SsdParams, logical_page: u64) -> u64 {
    let stride = u64::from(ssd.writes.die_stride);
    let dies = u64::from(ssd.geometry.dies);
    let die = logical_page / stride % dies;
    let page = logical_page / (stride * dies) * stride + logical_page % stride;
    die * u64::from(ssd.geometry.exported_pages_per_die()) + page
}

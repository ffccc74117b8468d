//! Rules 1 to 5 and 7: from a request to pages of members.

use flashraid::array::{ArrayParams, Level};
use flashraid::ssd::SsdParams;
use flashraid::workload::{Direction, Request};

/// Pages that the array exports (rule 3).
pub fn array_pages(params: &ArrayParams) -> u64 {
    let member = member_pages(params);
    let members = u64::from(params.members);
    match params.level {
        Level::Single | Level::Raid1 => member,
        Level::Raid0 => members * member,
        Level::Raid10 => members / 2 * member,
        Level::Raid4 | Level::Raid5 => (members - 1) * member,
        Level::Raid6 => (members - 2) * member,
    }
}

/// Pages that the array uses of a member.
pub fn member_pages(params: &ArrayParams) -> u64 {
    let stride = u64::from(params.ssd.element_stride_pages);
    let element = u64::from(params.ssd.geometry.exported_pages_per_element()) / stride * stride;
    let unit = u64::from(params.stripe_unit_pages);
    u64::from(params.ssd.geometry.elements) * element / unit * unit
}

/// The page operations of a request as pairs of member and logical page, in order of issue.
pub fn page_operations(params: &ArrayParams, request: &Request) -> Vec<(usize, u64)> {
    let page_bytes = u64::from(params.ssd.geometry.page_bytes);
    let first = request.offset_bytes / page_bytes;
    let last = (request.offset_bytes + request.length_bytes - 1) / page_bytes;
    let mut operations = Vec::new();
    for page in first..=last {
        operations.extend(copies(params, page, request.direction));
    }
    operations
}

fn copies(params: &ArrayParams, page: u64, direction: Direction) -> Vec<(usize, u64)> {
    let unit = u64::from(params.stripe_unit_pages);
    let members = u64::from(params.members);
    let strip = page / unit;
    let write = direction == Direction::Write;
    match params.level {
        Level::Raid4 | Level::Raid5 | Level::Raid6 => unreachable!("parity has parts of its own"),
        Level::Single => vec![(0, page)],
        Level::Raid0 => vec![((strip % members) as usize, strip / members * unit + page % unit)],
        Level::Raid1 if write => (0..members).map(|member| (member as usize, page)).collect(),
        Level::Raid1 => vec![((strip % members) as usize, page)],
        Level::Raid10 => {
            let pairs = members / 2;
            let first = 2 * (strip % pairs);
            let logical = strip / pairs * unit + page % unit;
            if write {
                vec![(first as usize, logical), (first as usize + 1, logical)]
            } else {
                vec![((first + strip / pairs % 2) as usize, logical)]
            }
        }
    }
}

/// A logical page by its home element and that element's logical page (rule 7), `element × exported pages per element + page`.
pub fn home(ssd: &SsdParams, logical_page: u64) -> u64 {
    let stride = u64::from(ssd.element_stride_pages);
    let elements = u64::from(ssd.geometry.elements);
    let element = logical_page / stride % elements;
    let page = logical_page / (stride * elements) * stride + logical_page % stride;
    element * u64::from(ssd.geometry.exported_pages_per_element()) + page
}

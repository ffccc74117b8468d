//! Reads that must come before the parity of a sub-request can be computed (rules 78, 86 and 159).

use super::commands::Token;
use super::common::Common;
use super::independent::{MemberCaches, rows_of};
use crate::request::OpKind;

impl MemberCaches {
    /// Issues the reads that a sub-request needs before its parity can be computed. Returns true if there are any.
    pub(super) fn read_missing(&self, common: &mut Common, number: u32, rows: &mut Vec<u32>) -> bool {
        let layout = common.layout;
        let strip_pages = layout.strip_pages();
        let sub_request = &self.sub_requests[number];
        let stripe = sub_request.stripe;
        let lost = self.lost_of(common, stripe);
        if lost.exceeds_parity(layout.stripe_shape()) || lost.parity_left(layout.stripe_shape()).next().is_none() {
            return false;
        }
        rows_of(&sub_request.offsets, strip_pages, rows);
        let columns = layout.data_strips_per_stripe();
        let first_page = layout.stripe_first_page_on_member(stripe);
        let is_own = |role: u32, row: u32| role < columns && sub_request.offsets.binary_search(&(role * strip_pages + row)).is_ok();
        let is_known =
            |common: &Common, role: u32, row: u32| self.holds_or_expects(common, layout.member_of_strip(stripe, role), stripe, row);
        // If a missing page cannot be read, the old parity is updated instead, which needs the old pages of the sub-request. Some of these
        // may be lost, too; then all other pages are needed.
        let lost_columns = || lost.iter().filter(|&role| role < columns);
        let needs_old = |row: u32| lost_columns().any(|column| !is_own(column, row));
        let needs_all = |row: u32| needs_old(row) && lost_columns().any(|column| is_own(column, row));
        let from = common.commands.member_extents.len();
        for role in 0..layout.stripe_shape().strips_per_stripe() {
            let member = layout.member_of_strip(stripe, role);
            if lost.has(role) {
                continue;
            }
            for &row in rows.iter() {
                let is_needed = match needs_old(row) {
                    true => role >= columns || is_own(role, row) || needs_all(row),
                    false => role < columns && !is_own(role, row),
                };
                if is_needed && !is_known(common, role, row) {
                    common.counters.pages_read_for_parity += 1;
                    common.commands.add_member_page(from, member, first_page + u64::from(row));
                }
            }
        }
        if common.commands.member_extents.len() == from {
            return false;
        }
        common.commands.push_member_operation(from, OpKind::Read, Token::ReadForParity(number));
        true
    }
}

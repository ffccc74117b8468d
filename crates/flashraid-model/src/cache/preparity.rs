//! What has to be read before the parity of a part can be computed (rules 78 and 86).

use super::common::Common;
use super::independent::{MemberCaches, rows_of};
use super::orders::Token;

impl MemberCaches {
    /// Orders the reads of what is missing for the parity of a part; says whether there are any.
    pub(super) fn order_missing(&self, common: &mut Common, number: u32, rows: &mut Vec<u32>) -> bool {
        let layout = common.layout;
        let unit = layout.unit_pages();
        let part = &self.parts[number];
        let stripe = part.stripe;
        if layout.parity_members(stripe).all(|member| self.is_lost(member, stripe)) {
            return false;
        }
        rows_of(&part.offsets, unit, rows);
        let columns = layout.columns();
        let first_page = layout.first_page(stripe);
        let is_own = |position: u32, row: u32| position < columns && part.offsets.binary_search(&(position * unit + row)).is_ok();
        let is_known = |common: &Common, position: u32, row: u32| self.knows(common, layout.strip_member(stripe, position), stripe, row);
        // What is missing and can't be read leaves the old parity, from which the part's own old pages are taken out.
        let lost_column = (0..columns).find(|&column| self.is_lost(layout.strip_member(stripe, column), stripe));
        let needs_old = |row: u32| lost_column.is_some_and(|column| !is_own(column, row));
        let from = common.orders.member_runs.len();
        for position in 0..layout.shape().width() {
            let member = layout.strip_member(stripe, position);
            if self.is_lost(member, stripe) {
                continue;
            }
            for &row in rows.iter() {
                let is_needed = if needs_old(row) {
                    position >= columns || is_own(position, row)
                } else {
                    position < columns && !is_own(position, row)
                };
                if is_needed && !is_known(common, position, row) {
                    common.counters.parity_reads += 1;
                    common.orders.add_member_page(from, member, first_page + row);
                }
            }
        }
        if common.orders.member_runs.len() == from {
            return false;
        }
        common.orders.members(from, false, Token::Missing(number));
        true
    }
}

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
        let is_missing = |common: &Common, position: u32, row: u32| {
            (position >= columns || part.offsets.binary_search(&(position * unit + row)).is_err())
                && !self.knows(common, layout.strip_member(stripe, position), stripe, row)
        };
        // A missing page that can't be read is computed from all others of its row.
        let lost_column = (0..columns).find(|&column| self.is_lost(layout.strip_member(stripe, column), stripe));
        let is_reconstructed = |common: &Common, row| lost_column.is_some_and(|column| is_missing(common, column, row));
        let from = common.orders.member_runs.len();
        for position in 0..layout.shape().width() {
            let member = layout.strip_member(stripe, position);
            if self.is_lost(member, stripe) {
                continue;
            }
            for &row in rows.iter() {
                if is_missing(common, position, row) && (position < columns || is_reconstructed(common, row)) {
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

//! Sets of pages of one stripe, and the pages that writes, reads and rebuilding need (rules 53, 59, 60 and 62). The functions depend only
//! on their arguments.

use crate::placement::{StripRoles, StripeShape};

/// A set of pages of one stripe, stored as one bit for every page. The strips of data come first, then P and Q.
#[derive(Debug, Clone)]
pub(super) struct StripePages {
    words_per_strip: usize,
    bits: Vec<u64>,
    /// Roles of the strips that may have pages in the set; those of others are not looked at.
    touched: StripRoles,
}

impl PartialEq for StripePages {
    fn eq(&self, other: &Self) -> bool {
        self.bits == other.bits
    }
}

impl Eq for StripePages {}

impl StripePages {
    /// Returns the empty set for a stripe of `strips` strips of `strip_pages` pages.
    pub(super) fn empty(strips: u32, strip_pages: u32) -> Self {
        let words_per_strip = strip_pages.div_ceil(u64::BITS) as usize;
        Self { words_per_strip, bits: vec![0; words_per_strip * strips as usize], touched: StripRoles::default() }
    }

    pub(super) fn clear(&mut self) {
        for role in std::mem::take(&mut self.touched).iter() {
            self.clear_strip(role);
        }
    }

    /// Adds `pages` pages of a strip, from offset `first` on. `role` is the strip's number in the stripe: data strips first, then P and Q.
    pub(super) fn insert(&mut self, role: u32, first: u32, pages: u32) {
        self.touched.0 |= 1 << role;
        for offset in first..first + pages {
            self.bits[role as usize * self.words_per_strip + (offset / u64::BITS) as usize] |= 1 << (offset % u64::BITS);
        }
    }

    /// Removes the pages of a strip and returns their number. `role` is the strip's number in the stripe: data strips first, then P and Q.
    pub(super) fn remove(&mut self, role: u32) -> u32 {
        let pages = self.page_count_of_strip(role);
        self.clear_strip(role);
        pages
    }

    /// Returns true if the page at `offset` in a strip is in the set. `role` is the strip's number in the stripe: data strips first, then P
    /// and Q.
    pub fn contains(&self, role: u32, offset: u32) -> bool {
        self.word(role, (offset / u64::BITS) as usize) >> (offset % u64::BITS) & 1 == 1
    }

    /// Returns the number of pages in the set.
    pub(super) fn page_count(&self) -> u32 {
        self.touched.iter().map(|role| self.page_count_of_strip(role)).sum()
    }

    /// Returns the number of pages of a strip in the set. `role` is the strip's number in the stripe: data strips first, then P and Q.
    pub(crate) fn page_count_of_strip(&self, role: u32) -> u32 {
        self.words(role).iter().map(|word| word.count_ones()).sum()
    }

    /// Returns the role of the strip and the offset of each page, in the order of operations (rule 54). A role is a number in the stripe.
    pub(super) fn roles_and_offsets(&self) -> impl Iterator<Item = (u32, u32)> {
        self.touched.iter().flat_map(|role| self.offsets_in_strip(role).map(move |offset| (role, offset)))
    }

    /// Returns the roles of the strips that have at least one page in this set of pages. A role numbers a strip in its stripe: data
    /// first, then P and Q.
    pub(crate) fn roles(&self) -> StripRoles {
        StripRoles(self.touched.iter().filter(|&role| self.page_count_of_strip(role) > 0).fold(0, |roles, role| roles | 1 << role))
    }

    /// Returns the roles of the strips whose page at `offset` in the strip belongs to this set of pages. A role numbers a strip in its
    /// stripe: data first, then P and Q.
    pub fn roles_with_page_at(&self, offset: u32) -> StripRoles {
        StripRoles(self.touched.iter().filter(|&role| self.contains(role, offset)).fold(0, |roles, role| roles | 1 << role))
    }

    /// Returns the offsets of the pages in the set that belong to the strip with this role (its number in the stripe).
    pub(crate) fn offsets_in_strip(&self, role: u32) -> impl Iterator<Item = u32> {
        (0..self.words_per_strip).flat_map(move |word| BitsOf(self.word(role, word)).map(move |bit| word as u32 * u64::BITS + bit))
    }

    /// Returns the offsets at which any strip has a page, in ascending order.
    pub(super) fn offsets(&self) -> impl Iterator<Item = u32> {
        let union = move |word| self.touched.iter().fold(0, |union, role| union | self.word(role, word));
        (0..self.words_per_strip).flat_map(move |word| BitsOf(union(word)).map(move |bit| word as u32 * u64::BITS + bit))
    }

    /// Removes the pages that are not in `others`, and returns them.
    pub(crate) fn remove_all_but(&mut self, others: &Self) -> Vec<(u32, u32)> {
        let mut apart = self.clone();
        for ((own, apart), other) in self.bits.iter_mut().zip(&mut apart.bits).zip(&others.bits) {
            (*own, *apart) = (*own & other, *apart & !other);
        }
        apart.roles_and_offsets().collect()
    }

    /// Makes the set equal to another one of the same shape.
    pub(super) fn copy_from(&mut self, other: &Self) {
        self.clear();
        for role in other.touched.iter() {
            self.words_mut(role).copy_from_slice(other.words(role));
        }
        self.touched = other.touched;
    }

    #[inline]
    fn clear_strip(&mut self, role: u32) {
        match self.words_mut(role) {
            // Most strips have one word, for which a call would cost more than the store.
            [word] => *word = 0,
            words => words.fill(0),
        }
    }

    #[inline]
    fn words(&self, role: u32) -> &[u64] {
        &self.bits[role as usize * self.words_per_strip..][..self.words_per_strip]
    }

    #[inline]
    fn words_mut(&mut self, role: u32) -> &mut [u64] {
        &mut self.bits[role as usize * self.words_per_strip..][..self.words_per_strip]
    }

    /// Returns the roles of a set that contains all roles with pages in the set.
    pub(super) fn touched_roles(&self) -> StripRoles {
        self.touched
    }

    #[inline]
    fn word(&self, role: u32, word: usize) -> u64 {
        self.bits[role as usize * self.words_per_strip + word]
    }

    #[inline]
    fn word_mut(&mut self, role: u32, word: usize) -> &mut u64 {
        self.touched.0 |= 1 << role;
        &mut self.bits[role as usize * self.words_per_strip + word]
    }
}

/// Iterator over the positions of the bits that are set.
struct BitsOf(u64);

impl Iterator for BitsOf {
    type Item = u32;
    #[inline]
    fn next(&mut self) -> Option<u32> {
        if self.0 == 0 {
            return None;
        }
        let bit = self.0.trailing_zeros();
        self.0 &= self.0 - 1;
        Some(bit)
    }
}

/// Method by which a write to a stripe updates its parity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ParityMethod {
    /// Parity is computed from the new data alone, and nothing is read. At every page offset (within a strip) at which the request
    /// writes, it writes that page of all data strips of the stripe.
    FullStripe,
    /// Parity is computed from all data of the stripe; the data that are not written are read.
    Reconstruct,
    /// Parity is computed from the difference between old and new data; old data and old parity are read.
    ReadModify,
    /// The write keeps no parity, because members have failed. Either all parity strips of the stripe are lost, or more strips than
    /// parity can replace.
    NoParity,
}

/// Plans how to write the data pages in `written`. Adds the parity pages to `written`, and sets `reads` to the pages that must be read
/// first.
///
/// `lost` are the roles of the lost strips. If the stripe has lost more strips than parity can replace, no parity is written.
pub(super) fn plan_write(shape: StripeShape, lost: StripRoles, written: &mut StripePages, reads: &mut StripePages) -> ParityMethod {
    add_parity(shape, lost, written);
    if lost.exceeds_parity(shape) || lost.parity_left(shape).next().is_none() {
        reads.clear();
        return ParityMethod::NoParity;
    }
    let [read_modify, reconstruct] = [ParityMethod::ReadModify, ParityMethod::Reconstruct].map(|kind| {
        if lost.is_empty() {
            return pages_read(shape, written, kind);
        }
        fill_write(shape, lost, written, kind, reads);
        reads.page_count()
    });
    let kind = match reconstruct {
        0 => ParityMethod::FullStripe,
        reconstruct if reconstruct <= read_modify => ParityMethod::Reconstruct,
        _ => ParityMethod::ReadModify,
    };
    match kind {
        ParityMethod::FullStripe => reads.clear(),
        _ => fill_write(shape, lost, written, kind, reads),
    }
    kind
}

/// Returns the number of pages that a write in this way reads before, if no strip is lost. `written` has the parity pages.
fn pages_read(shape: StripeShape, written: &StripePages, kind: ParityMethod) -> u32 {
    let all = written.page_count();
    let of_a_parity = written.page_count_of_strip(shape.data_strips);
    let data = all - of_a_parity * shape.parity_strips;
    if kind == ParityMethod::Reconstruct { of_a_parity * shape.data_strips - data } else { all }
}

/// Adds the parity pages to the data pages in `written`, unless the stripe is dead.
fn add_parity(shape: StripeShape, lost: StripRoles, written: &mut StripePages) {
    if lost.exceeds_parity(shape) {
        return;
    }
    for word in 0..written.words_per_strip {
        let columns = written.touched.iter().take_while(|&role| role < shape.data_strips);
        let union = columns.fold(0, |union, column| union | written.word(column, word));
        for parity in shape.data_strips..shape.strips_per_stripe() {
            *written.word_mut(parity, word) = union;
        }
    }
}

/// Leaves in `reads` the pages that a write in this way must read before. `written` has the parity pages.
pub(super) fn fill_write(shape: StripeShape, lost: StripRoles, written: &StripePages, kind: ParityMethod, reads: &mut StripePages) {
    reads.clear();
    for word in 0..written.words_per_strip {
        fill_reads(shape, lost, written, kind, word, reads);
    }
}

/// Sets the pages that a write of this `kind` reads. It works on one word of the bit set: up to 64 offsets of every strip.
fn fill_reads(shape: StripeShape, lost: StripRoles, written: &StripePages, kind: ParityMethod, word: usize, reads: &mut StripePages) {
    let union = written.word(shape.data_strips, word);
    let reconstruct = kind == ParityMethod::Reconstruct;
    let wanted = |column| if reconstruct { union & !written.word(column, word) } else { written.word(column, word) };
    // Lost pages follow from all other data and from as many parities as columns are lost.
    let from_others = lost.iter().filter(|&role| role < shape.data_strips).fold(0, |pages, column| pages | wanted(column));
    // Old data lie where new ones go. Otherwise any strip may be read.
    let is_everywhere = reconstruct || from_others != 0;
    let roles = if is_everywhere { StripRoles(u128::MAX >> (u128::BITS - shape.strips_per_stripe())) } else { written.touched };
    for role in roles.iter() {
        let pages = match role {
            lost_strip if lost.has(lost_strip) => 0,
            column if column < shape.data_strips => wanted(column) | from_others,
            _ if !reconstruct => union,
            parity if reconstructs(shape, lost, parity) => from_others,
            _ => 0,
        };
        *reads.word_mut(role, word) = pages;
    }
}

/// Returns true if this parity strip is needed to compute the lost data strips.
fn reconstructs(shape: StripeShape, lost: StripRoles, parity: u32) -> bool {
    lost.parity_left(shape).take(lost.count_data_strips(shape) as usize).any(|needed| needed == parity)
}

/// Replaces the pages of lost data strips in `reads` by the pages from which they are reconstructed. The stripe must have enough strips
/// left.
///
/// Returns the number of pages replaced, and the number of pages added for them.
pub(super) fn plan_read(shape: StripeShape, lost: StripRoles, reads: &mut StripePages) -> (u32, u32) {
    let needed = lost.parity_left(shape).take(lost.count_data_strips(shape) as usize);
    read_around(shape, lost, StripRoles(needed.fold(0, |roles, role| roles | 1 << role)), reads)
}

/// Replaces the pages of data strips that are `unreadable` in `reads` by those of all other data strips and of `parity`.
///
/// Returns the number of pages replaced, and the number of pages added for them.
pub(super) fn read_around(shape: StripeShape, unreadable: StripRoles, parity: StripRoles, reads: &mut StripePages) -> (u32, u32) {
    let asked = reads.page_count();
    let mut replaced = 0;
    for word in 0..reads.words_per_strip {
        let mut from_others = 0;
        for column in unreadable.iter().filter(|&role| role < shape.data_strips) {
            let pages = std::mem::take(reads.word_mut(column, word));
            replaced += pages.count_ones();
            from_others |= pages;
        }
        for role in (0..shape.strips_per_stripe()).filter(|&role| !unreadable.has(role)) {
            if role < shape.data_strips || parity.has(role) {
                *reads.word_mut(role, word) |= from_others;
            }
        }
    }
    (replaced, reads.page_count() + replaced - asked)
}

/// Returns the pages from which `wanted` pages follow without those that are `late` (rule 248). Pages that are `read` already are left
/// out. Returns `None` if parity does not suffice.
pub(super) fn substitutes(
    shape: StripeShape,
    lost: StripRoles,
    wanted: &StripePages,
    read: &StripePages,
    late: &StripePages,
) -> Option<StripePages> {
    let mut pages = wanted.clone();
    pages.clear();
    for offset in late.offsets() {
        let unreadable = StripRoles(lost.0 | late.roles_with_page_at(offset).0);
        let wanted = wanted.roles_with_page_at(offset);
        let mut needed = wanted.0;
        if wanted.0 & unreadable.0 != 0 {
            let unknown = unreadable.count_data_strips(shape) as usize;
            let parity: Vec<u32> = unreadable.parity_left(shape).take(unknown).collect();
            if parity.len() < unknown {
                return None;
            }
            let columns = (0..shape.data_strips).filter(|&column| !unreadable.has(column));
            needed = columns.chain(parity).fold(0, |roles, role| roles | 1 << role);
        }
        StripRoles(needed).iter().filter(|&role| !read.contains(role, offset)).for_each(|role| pages.insert(role, offset, 1));
    }
    Some(pages)
}

/// Sets `reads` to the pages from which a lost strip is rebuilt. These are all data that are left, and as many parities as data strips are
/// lost. The stripe must have enough strips left.
pub(super) fn plan_rebuild(shape: StripeShape, lost: StripRoles, strip_pages: u32, reads: &mut StripePages) {
    reads.clear();
    for role in (0..shape.strips_per_stripe()).filter(|&role| !lost.has(role)) {
        if role < shape.data_strips || reconstructs(shape, lost, role) {
            reads.insert(role, 0, strip_pages);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Draws strips by line, with a dot for a page that is not in the set.
    fn picture(pages: &StripePages, strips: u32, strip_pages: u32) -> String {
        let has = |role, offset| pages.roles_and_offsets().any(|page| page == (role, offset));
        let strip = |role| (0..strip_pages).map(|offset| if has(role, offset) { 'x' } else { '.' }).collect::<String>();
        (0..strips).map(strip).collect::<Vec<_>>().join(" ")
    }

    fn set(pages: &str) -> StripePages {
        let strips: Vec<&str> = pages.split(' ').collect();
        let mut set = StripePages::empty(strips.len() as u32, strips[0].len() as u32);
        for (role, strip) in strips.iter().enumerate() {
            strip.chars().enumerate().filter(|&(_, c)| c == 'x').for_each(|(offset, _)| set.insert(role as u32, offset as u32, 1));
        }
        set
    }

    /// Returns the role as lost, if it is given.
    fn lost(role: Option<u32>) -> StripRoles {
        StripRoles(role.map_or(0, |role| 1 << role))
    }

    fn raid(columns: u32, parity: u32) -> StripeShape {
        StripeShape { data_strips: columns, parity_strips: parity, rotates_over_members: true }
    }

    /// Returns kind, reads and writes of a write to the given data pages.
    fn write(shape: StripeShape, missing: Option<u32>, data: &str) -> (ParityMethod, String, String) {
        let strip_pages = data.find(' ').unwrap() as u32;
        let mut written = set(&format!("{data}{}", format!(" {}", ".".repeat(strip_pages as usize)).repeat(shape.parity_strips as usize)));
        let mut reads = StripePages::empty(shape.strips_per_stripe(), strip_pages);
        let kind = plan_write(shape, lost(missing), &mut written, &mut reads);
        (kind, picture(&reads, shape.strips_per_stripe(), strip_pages), picture(&written, shape.strips_per_stripe(), strip_pages))
    }

    fn check(shape: StripeShape, missing: Option<u32>, data: &str, kind: ParityMethod, reads: &str, writes: &str) {
        assert_eq!(write(shape, missing, data), (kind, reads.to_owned(), writes.to_owned()), "{data}");
    }

    #[test]
    fn writes_of_raid5_read_as_little_as_they_can() {
        use ParityMethod::*;
        let shape = raid(4, 1);
        check(shape, None, "xx xx xx xx", FullStripe, ".. .. .. .. ..", "xx xx xx xx xx");
        check(shape, None, "x. x. x. x.", FullStripe, ".. .. .. .. ..", "x. x. x. x. x.");
        check(shape, None, ".. x. .. ..", ReadModify, ".. x. .. .. x.", ".. x. .. .. x.");
        // Both methods read three pages.
        check(shape, None, "x. x. x. ..", Reconstruct, ".. .. .. x. ..", "x. x. x. .. x.");
        // Read-modify-write reads two old pages and the parity of one offset, and reconstruct two other pages. Reconstruct is chosen.
        check(shape, None, "x. x. .. ..", Reconstruct, ".. .. x. x. ..", "x. x. .. .. x.");
        // At the end of one strip and the begin of the next, read-modify-write reads four pages, and reconstruct six.
        check(shape, None, ".x x. .. ..", ReadModify, ".x x. .. .. xx", ".x x. .. .. xx");
        // A tie (three each) goes to reconstruct.
        check(raid(5, 1), None, "x x . . .", Reconstruct, ". . x x x .", "x x . . . x");
    }

    #[test]
    fn raid6_reads_and_writes_both_parities() {
        check(raid(4, 2), None, "x. .. .. ..", ParityMethod::Reconstruct, ".. x. x. x. .. ..", "x. .. .. .. x. x.");
        check(raid(5, 2), None, "x. .. .. .. ..", ParityMethod::ReadModify, "x. .. .. .. .. x. x.", "x. .. .. .. .. x. x.");
    }

    #[test]
    fn lost_pages_are_read_from_all_others() {
        use ParityMethod::*;
        let shape = raid(4, 1);
        // A write to the lost column reads the other columns.
        check(shape, Some(1), ".. x. .. ..", Reconstruct, "x. .. x. x. ..", ".. x. .. .. x.");
        // A write to another column reads its old data and parity. Reconstruct would need the lost page and so everything.
        check(shape, Some(1), "x. .. .. ..", ReadModify, "x. .. .. .. x.", "x. .. .. .. x.");
        check(shape, Some(1), "x. .. x. x.", Reconstruct, "x. .. x. x. x.", "x. .. x. x. x.");
        // With two parities, the choice is between three old pages with P and Q, and the three with P, from which the lost page follows.
        check(raid(4, 2), Some(1), "x. .. x. x.", Reconstruct, "x. .. x. x. x. ..", "x. .. x. x. x. x.");
        check(shape, Some(1), "x. x. x. x.", FullStripe, ".. .. .. .. ..", "x. x. x. x. x.");
        check(shape, Some(4), "x. .. .. ..", NoParity, ".. .. .. .. ..", "x. .. .. .. x.");
        // Q alone is kept like P alone.
        check(raid(4, 2), Some(4), "x. .. .. ..", ReadModify, "x. .. .. .. .. x.", "x. .. .. .. x. x.");
    }

    #[test]
    fn a_read_of_lost_pages_reads_each_other_page_once() {
        let read = |pages: &str, missing| {
            let mut reads = set(pages);
            let counts = plan_read(raid(3, 2), lost(Some(missing)), &mut reads);
            (counts, picture(&reads, 5, 2))
        };
        assert_eq!(read("xx .. .. .. ..", 0), ((2, 6), ".. xx xx xx ..".to_owned()));
        assert_eq!(read("xx x. .. .. ..", 0), ((2, 5), ".. xx xx xx ..".to_owned()));
        assert_eq!(read(".x xx x. .. ..", 1), ((2, 4), "xx .. xx xx ..".to_owned()));
    }

    #[test]
    fn a_strip_is_rebuilt_from_the_data_and_p() {
        let rebuild = |roles: &[u32]| {
            let mut reads = StripePages::empty(5, 1);
            let lost = StripRoles(roles.iter().fold(0, |lost, role| lost | 1 << role));
            plan_rebuild(raid(3, 2), lost, 1, &mut reads);
            picture(&reads, 5, 1)
        };
        assert_eq!([rebuild(&[0]), rebuild(&[3]), rebuild(&[4])], [". x x x .", "x x x . .", "x x x . ."]);
        assert_eq!([rebuild(&[0, 3]), rebuild(&[0, 1]), rebuild(&[3, 4])], [". x x . x", ". . x x x", "x x x . ."]);
    }

    proptest! {
        /// The plan agrees with the sets of pages in the rules, page by page (rules 53 and 60).
        #[test]
        fn plans_agree_with_the_rules(
            (columns, parity, strip_pages) in (1_u32..6, 1_u32..3, 1_u32..70),
            pages in prop::collection::vec((0_u32..6, 0_u32..70), 1..40),
            missing in prop::collection::btree_set(0_u32..8, 0..4),
        ) {
            let shape = raid(columns, parity);
            let missing: Vec<u32> = missing.into_iter().filter(|&role| role < shape.strips_per_stripe()).collect();
            let lost = StripRoles(missing.iter().fold(0, |lost, role| lost | 1 << role));
            let parity_left: Vec<u32> = (columns..shape.strips_per_stripe()).filter(|role| !missing.contains(role)).collect();
            let columns_lost = missing.iter().filter(|&&role| role < columns).count();
            let mut written = StripePages::empty(shape.strips_per_stripe(), strip_pages);
            pages.iter().for_each(|(column, offset)| written.insert(column % columns, offset % strip_pages, 1));
            let data: std::collections::BTreeSet<_> = written.roles_and_offsets().collect();
            let union: std::collections::BTreeSet<u32> = data.iter().map(|page| page.1).collect();
            let mut reads = StripePages::empty(shape.strips_per_stripe(), strip_pages);
            let kind = plan_write(shape, lost, &mut written, &mut reads);

            let ways: Vec<std::collections::BTreeSet<(u32, u32)>> = [true, false].map(|reconstruct| {
                let mut way = std::collections::BTreeSet::new();
                for &offset in &union {
                    way.extend((0..columns).filter(|&c| data.contains(&(c, offset)) != reconstruct).map(|c| (c, offset)));
                    if !reconstruct {
                        way.extend((columns..shape.strips_per_stripe()).map(|p| (p, offset)));
                    }
                }
                let gone: Vec<u32> = way.iter().filter(|page| page.0 < columns && missing.contains(&page.0)).map(|page| page.1).collect();
                way.retain(|page| !missing.contains(&page.0));
                for offset in gone {
                    let left = (0..columns).filter(|role| !missing.contains(role));
                    way.extend(left.chain(parity_left.iter().copied().take(columns_lost)).map(|role| (role, offset)));
                }
                way
            }).into();
            let got: std::collections::BTreeSet<_> = reads.roles_and_offsets().collect();
            if kind == ParityMethod::NoParity {
                prop_assert!((parity_left.is_empty() || missing.len() > parity as usize) && got.is_empty());
            } else {
                let chosen = if ways[0].len() <= ways[1].len() { 0 } else { 1 };
                prop_assert_eq!(&got, &ways[chosen]);
                let expected = [if ways[0].is_empty() { ParityMethod::FullStripe } else { ParityMethod::Reconstruct }, ParityMethod::ReadModify][chosen];
                prop_assert_eq!(kind, expected);
            }
            let kept = if missing.len() > parity as usize { columns..columns } else { columns..shape.strips_per_stripe() };
            let parity_pages = kept.flat_map(|p| union.iter().map(move |&offset| (p, offset)));
            prop_assert!(written.roles_and_offsets().eq(data.iter().copied().chain(parity_pages)));
        }
    }
}

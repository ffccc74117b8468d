//! A loss of power at any nanosecond: what a flush or a forced write has made safe is on the flash of every member.

use super::*;
use crate::ssd::tiny::drive_with_superblocks;

/// Number of stripes that are written. Each has one page, so that the pages of a stripe have its number on every member.
const STRIPES: u64 = 6;

/// Members whose buffers forget their data.
fn volatile(level: RaidLevel) -> ArrayParams {
    let members = match level {
        RaidLevel::Single => 1,
        RaidLevel::Raid1 => 2,
        _ => 3,
    };
    let mut params = params(level, members, 1);
    params.ssd = drive_with_superblocks();
    params.ssd.superblock.as_mut().expect("it has superblocks").buffer.settings.protected = false;
    params
}

/// A request for pages of one stripe. Its kind is a flush, a write, or a forced write.
#[derive(Debug, Clone, Copy)]
struct Sent {
    at: TimeNs,
    kind: OpKind,
    fua: bool,
    stripe: u64,
    column: u64,
    pages: u32,
}

fn sent(columns: u64) -> impl Strategy<Value = Vec<Sent>> {
    let request = (0_u64..1500, 0_u32..10, 0..STRIPES, 0..columns, 1_u32..4);
    prop::collection::vec(request, 1..25).prop_map(move |drawn| {
        let mut at = 0;
        let request = |(gap, kind, stripe, column, pages): (u64, u32, u64, u64, u32)| {
            at += [0, gap / 20, gap][gap as usize % 3];
            let kinds = [(OpKind::Flush, false), (OpKind::Write, true), (OpKind::Write, false)];
            let (kind, fua) = kinds[(kind as usize / 3).min(2)];
            Sent { at, kind, fua, stripe, column, pages: pages.min((columns - column) as u32) }
        };
        drawn.into_iter().map(request).collect()
    })
}

/// Runs the array until the cut, and returns it with the end of each request that is done by then.
fn run_until(params: &ArrayParams, sent: &[Sent], columns: u64, cut: TimeNs) -> (Array, Vec<Option<TimeNs>>) {
    let mut array = Array::new(params, 1, ArrayExecutionOptions::default());
    let mut events = Vec::new();
    let advance = |array: &mut Array, events: &mut Vec<ArrayEvent>, until: TimeNs| {
        while let Some(event) = array.next_time().filter(|&event| event <= until) {
            array.advance(event, events);
        }
    };
    for (tag, request) in sent.iter().enumerate().filter(|(_, request)| request.at <= cut) {
        advance(&mut array, &mut events, request.at.saturating_sub(1));
        let request = RequestInPages {
            tag: tag as u64,
            first_page: if request.kind == OpKind::Flush { 0 } else { request.stripe * columns + request.column },
            pages: if request.kind == OpKind::Flush { 0 } else { request.pages },
            kind: request.kind,
            fua: request.fua,
            must_not_wait_for_gc: false,
            stream: 0,
            contiguous_on_one_member: false,
        };
        array.submit(sent[tag].at, &request).unwrap();
    }
    advance(&mut array, &mut events, cut);
    let mut ends = vec![None; sent.len()];
    for done in done_requests(&events).iter().filter(|done| done.at <= cut) {
        ends[done.tag as usize] = Some(done.at);
    }
    (array, ends)
}

/// Returns the stripes of which nothing may be lost at the cut: all writes to them until then are safe.
///
/// A forced write is safe when it is answered. Another write is safe if a flush was sent after its answer, and has been answered, too.
fn safe_stripes(sent: &[Sent], ends: &[Option<TimeNs>], cut: TimeNs) -> Vec<u64> {
    let flush = (0..sent.len()).rev().find(|&tag| sent[tag].kind == OpKind::Flush && ends[tag].is_some());
    let is_safe =
        |tag: usize| ends[tag].is_some_and(|end| sent[tag].fua || flush.is_some_and(|flush| end <= sent[flush].at && tag < flush));
    let of_stripe = |stripe: u64| {
        (0..sent.len()).filter(move |&tag| sent[tag].kind == OpKind::Write && sent[tag].stripe == stripe && sent[tag].at <= cut)
    };
    (0..STRIPES).filter(|&stripe| of_stripe(stripe).next().is_some() && of_stripe(stripe).all(is_safe)).collect()
}

fn case() -> impl Strategy<Value = (ArrayParams, u64, Vec<Sent>, u64)> {
    let levels = vec![RaidLevel::Single, RaidLevel::Raid0, RaidLevel::Raid1, RaidLevel::Raid5];
    prop::sample::select(levels).prop_flat_map(|level| {
        let columns = match level {
            RaidLevel::Single | RaidLevel::Raid1 => 1,
            RaidLevel::Raid0 => 3,
            _ => 2,
        };
        (Just(volatile(level)), Just(columns), sent(columns), any::<u64>())
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// The power is cut at any nanosecond, and in half of the cases in the very one in which something is answered.
    #[test]
    fn what_is_acknowledged_as_safe_survives_a_loss_of_power((params, columns, sent, draw) in case()) {
        let (_, ends) = run_until(&params, &sent, columns, TimeNs::MAX);
        let last = ends.iter().map(|end| end.expect("every request is done")).max().unwrap_or(0);
        let cut = if draw % 2 == 0 { ends[(draw / 2) as usize % ends.len()].expect("done") } else { (draw / 2) % (last + 1) };
        let (array, ends) = run_until(&params, &sent, columns, cut);
        for stripe in safe_stripes(&sent, &ends, cut) {
            for (number, member) in array.members().iter().enumerate() {
                let media = member.mapping().superblocks().expect("it has superblocks");
                // The drives are full at the begin, so that a unit without a place on the flash is in the buffer.
                let place = media.physical_slot_of_mapping_unit(stripe);
                prop_assert!(place.is_some(), "stripe {stripe} on member {number} is lost at {cut}: {sent:?} {ends:?}");
            }
        }
    }
}

/// Without a flush, the same cut loses what is in the buffers.
#[test]
fn a_loss_of_power_loses_what_is_in_the_buffer() {
    let write = Sent { at: 0, kind: OpKind::Write, fua: false, stripe: 2, column: 0, pages: 1 };
    let flush = Sent { at: 100, kind: OpKind::Flush, ..write };
    let place = |sent: &[Sent], cut: TimeNs| {
        let (array, ends) = run_until(&volatile(RaidLevel::Single), sent, 1, cut);
        let media = array.members()[0].mapping().superblocks().expect("it has superblocks");
        (ends, media.physical_slot_of_mapping_unit(2).is_some())
    };
    assert_eq!(place(&[write], 500), (vec![Some(34)], false));
    // The superpage is closed by the flush, programmed in 1020, and the flush is answered in that nanosecond.
    let answered = 100 + 27 + 1020;
    assert_eq!(place(&[write, flush], answered - 1), (vec![Some(34), None], false));
    assert_eq!(place(&[write, flush], answered), (vec![Some(34), Some(answered)], true));
}

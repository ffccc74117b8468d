//! The host link of a member, which carries one page at a time in each direction (rules 6 and 106).

use super::PageContext;
use super::waiting::Waiting;
use crate::events::TimeNs;
use crate::request::OpKind;
use crate::ssd::job::SsdWake;
use crate::ssd::params::Duplex;

impl PageContext<'_> {
    fn lane_to_host(&self) -> u32 {
        u32::from(self.parts.params.link.is_some_and(|link| link.duplex == Duplex::Full))
    }

    pub(super) fn join_lane(&mut self, now: TimeNs, lane: u32, id: u32) {
        self.own.lanes[lane as usize].push_back(id);
        if self.own.lanes[lane as usize].len() == 1 {
            self.start_crossing(now, lane);
        }
    }

    fn start_crossing(&mut self, now: TimeNs, lane: u32) {
        if !self.own.lanes[lane as usize].is_empty() {
            let link = self.parts.params.link.expect("only a member with a link has traffic on it");
            self.out.wake(now + link.page_transfer_ns, SsdWake::PageCrossedLink(lane));
        }
    }

    /// Returns the operations whose data are crossing the link to the member.
    pub(super) fn travelling_writes(&self) -> impl Iterator<Item = &Waiting> {
        self.own.lanes[0].iter().map(|&id| &self.own.waiting[id]).filter(|waiting| waiting.op.kind == OpKind::Write)
    }

    /// Processes a page that has crossed the link, and then begins the next transfer.
    pub(super) fn page_crossed(&mut self, now: TimeNs, lane: u32) {
        let id = self.own.lanes[lane as usize][0];
        if self.own.waiting[id].op.kind == OpKind::Write {
            let travel_ns = self.parts.params.link.map_or(0, |link| link.page_transfer_ns);
            self.arrive(now, now - travel_ns, id);
        } else {
            self.finish(id, now);
        }
        self.own.lanes[lane as usize].pop_front();
        self.start_crossing(now, lane);
    }

    /// Continues an operation that a die has finished. The data of a read must still cross the link to the host.
    pub(super) fn die_finished(&mut self, now: TimeNs, id: u32) {
        let Waiting { op, .. } = self.own.waiting[id];
        if self.front.is_on() && op.kind == OpKind::Read {
            let at = self.front.send_page_to_host(now);
            self.own.waiting[id].left_die(now);
            self.finish(id, at);
        } else if self.parts.params.link.is_some() && op.kind == OpKind::Read {
            self.own.waiting[id].left_die(now);
            self.join_lane(now, self.lane_to_host(), id);
        } else {
            self.finish(id, now);
        }
    }
}

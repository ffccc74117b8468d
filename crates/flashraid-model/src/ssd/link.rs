//! The host link of a member: pages travel one after another (rules 6 and 106).

use super::{Outbox, Ssd, SsdWake, Waiting};
use crate::events::TimeNs;
use crate::request::OpKind;

impl Ssd {
    fn lane_to_host(&self) -> u32 {
        u32::from(self.params.link.is_some_and(|link| link.full_duplex))
    }

    pub(super) fn join_lane(&mut self, now: TimeNs, lane: u32, id: u32, out: &mut Outbox) {
        self.lanes[lane as usize].push_back(id);
        if self.lanes[lane as usize].len() == 1 {
            self.start_crossing(now, lane, out);
        }
    }

    fn start_crossing(&mut self, now: TimeNs, lane: u32, out: &mut Outbox) {
        if !self.lanes[lane as usize].is_empty() {
            let link = self.params.link.expect("only a member with a link has traffic on it");
            out.wake(now + link.page_ns, SsdWake::Crossed(lane));
        }
    }

    /// The operations that travel to the member.
    pub(super) fn travelling_writes(&self) -> impl Iterator<Item = &Waiting> {
        self.lanes[0].iter().map(|&id| &self.waiting[id]).filter(|waiting| waiting.op.kind == OpKind::Write)
    }

    /// A page has crossed the link: it goes on first, then the next one begins.
    pub(super) fn crossed(&mut self, now: TimeNs, lane: u32, out: &mut Outbox) {
        let id = self.lanes[lane as usize][0];
        if self.waiting[id].op.kind == OpKind::Write {
            let travel_ns = self.params.link.map_or(0, |link| link.page_ns);
            self.arrive(now, now - travel_ns, id, out);
        } else {
            self.finish(id, now, out);
        }
        self.lanes[lane as usize].pop_front();
        self.start_crossing(now, lane, out);
    }

    /// A die is done with an operation: a read's page travels to the host.
    pub(super) fn leaves_die(&mut self, now: TimeNs, id: u32, out: &mut Outbox) {
        let Waiting { op, .. } = self.waiting[id];
        if let Some(front) = self.front.as_mut().filter(|_| op.kind == OpKind::Read) {
            let at = front.cross(now, true, 1);
            self.waiting[id].left_die(now);
            self.finish(id, at, out);
        } else if self.params.link.is_some() && op.kind == OpKind::Read {
            self.waiting[id].left_die(now);
            self.join_lane(now, self.lane_to_host(), id, out);
        } else {
            self.finish(id, now, out);
        }
    }
}

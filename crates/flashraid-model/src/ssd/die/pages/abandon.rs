//! Reads that leave their queue unread, because nobody needs them any more (rule 256).

use super::PageContext;
use super::waiting::NONE;
use crate::events::TimeNs;
use crate::ids::DieId;
use crate::request::OpKind;

impl PageContext<'_> {
    /// Ends all reads of this completion that wait for a die, unread, and lets their dies look for work. Returns their number.
    pub(crate) fn abandon_reads(&mut self, now: TimeNs, completion: u32) -> u32 {
        let mut pages = 0;
        for die in (0..self.own.dies.len() as u32).map(DieId) {
            let abandoned = self.abandon_reads_of_die(now, die, completion);
            if abandoned > 0 {
                self.begin_next(now, die);
                self.catch_up(now, 0, die);
                self.schedule_wake_up(die);
            }
            pages += abandoned;
        }
        pages
    }

    fn abandon_reads_of_die(&mut self, now: TimeNs, die: DieId, completion: u32) -> u32 {
        let (mut pages, mut next) = (0, self.own.dies[die.index()].queue.head());
        while next != NONE {
            let id = next;
            let operation = &self.own.waiting[id];
            next = operation.next;
            if operation.op.completion_tag != completion || operation.op.kind != OpKind::Read {
                continue;
            }
            let state = &mut self.own.dies[die.index()];
            if state.queue.head() == id {
                state.awaits = None;
            }
            state.queue.remove(id, &mut self.own.waiting);
            if self.own.dynamic {
                state.waiting_ns -= self.own.durations.plain_ns(OpKind::Read);
            }
            self.finish(id, now);
            pages += 1;
        }
        pages
    }
}

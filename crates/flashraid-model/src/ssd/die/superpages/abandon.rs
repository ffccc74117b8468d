//! Reads that leave their queue unread, because nobody needs them any more (rule 256).

use super::SuperpageContext;
use super::schedule::WaitingRead;
use crate::events::{OperationTimeParts, TimeNs};
use crate::ssd::job::Reader;

impl SuperpageContext<'_> {
    /// Ends all reads of this completion that wait for a die, unread, and lets their dies look for work. Array reads that others wait for
    /// stay. Returns the number of pages.
    pub(crate) fn abandon_reads(&mut self, now: TimeNs, completion: u32) -> u32 {
        let mut pages = 0;
        for die in 0..self.own.dies.len() as u32 {
            let abandoned = self.abandon_reads_of_die(now, die, completion);
            if abandoned > 0 {
                self.dispatch(now, die);
            }
            pages += abandoned;
        }
        pages
    }

    fn abandon_reads_of_die(&mut self, now: TimeNs, die: u32, completion: u32) -> u32 {
        let is_of = |reader: &Reader| matches!(reader, Reader::Host(waiter) if waiter.completion == completion);
        let (mut pages, mut at) = (0, 0);
        while let Some(&WaitingRead { id, .. }) = self.own.dies[die as usize].reads.get(at) {
            if !self.own.reads[id].readers.iter().all(is_of) {
                at += 1;
                continue;
            }
            let state = &mut self.own.dies[die as usize];
            state.reads.remove(at);
            state.waiting_ns -= self.own.reads[id].array_ns + self.own.params.mapping_unit_transfer_ns;
            let mut readers = std::mem::take(&mut self.own.reads[id].readers);
            for reader in readers.drain(..) {
                let Reader::Host(waiter) = reader else { unreachable!("all are of the host") };
                self.front.read_ends(now, &waiter, OperationTimeParts::default(), self.out);
                pages += 1;
            }
            self.own.reads[id].readers = readers;
            self.own.reads.recycle(id);
        }
        pages
    }
}

//! Commands of the host after the front has passed them on (rules 203 and 212).

use super::SuperpageContext;
use crate::events::{OperationTimeParts, TimeNs};
use crate::request::OpKind;
use crate::space::superblocks::{BUFFERED, NONE};
use crate::ssd::front::units_of;
use crate::ssd::job::{Reader, Waiter, WorkSnapshot};

impl SuperpageContext<'_> {
    /// Begins the work of a command after the latency of the controller.
    pub(super) fn command_delayed(&mut self, now: TimeNs, id: u32) {
        self.front.commands[id].begun = now;
        match self.front.commands[id].kind {
            OpKind::Read => self.read_command(now, id),
            OpKind::Write => {
                let pages = self.front.commands[id].ops.len() as u64;
                self.parts.drive_counters.host_pages_received += pages;
                self.parts.drive_counters.by_placement_handle.received(self.front.commands[id].handle, pages);
                self.parts.counters.host_pages_written += pages;
                self.front.send_data(now, id, self.out);
            }
            OpKind::Trim => self.trim_command(now, id),
            OpKind::Flush => self.flush_command(now, id),
        }
    }

    /// Sends all units of a read command to the queues of their dies. No die starts a read before (rule 203).
    fn read_command(&mut self, now: TimeNs, id: u32) {
        let command = std::mem::take(&mut self.front.commands[id]);
        self.parts.counters.host_pages_read += command.ops.len() as u64;
        for op in &command.ops {
            let waiter = Waiter {
                completion: op.completion_tag,
                fetched_id: command.fetched_id,
                arrived: command.arrived,
                other_ns: now - command.started,
                before: WorkSnapshot::default(),
            };
            let place = self.media.entry(op.logical_page / u64::from(self.own.params.pages_per_mapping_unit));
            if place < BUFFERED {
                self.enqueue_read(now, place, Reader::Host(waiter));
            } else {
                self.front.counters.pages_read_from_buffer += u64::from(place != NONE);
                let at = self.front.send_page_to_host(now);
                self.read_ends(at, &waiter, OperationTimeParts { transfer_ns: at - now, ..OperationTimeParts::default() });
            }
        }
        self.look_at_touched(now);
        self.front.release(id, command);
    }

    /// Ends one page of a read, which has reached the host.
    pub(super) fn read_ends(&mut self, at: TimeNs, waiter: &Waiter, time: OperationTimeParts) {
        if time.collection_ns > 0 {
            self.parts.drive_counters.reads_behind_collection += 1;
            self.parts.drive_counters.reads_behind_collection_ns += u128::from(time.collection_ns);
        }
        self.front.read_ends(at, waiter, time, self.out);
    }

    /// Unmaps the units that a trim covers completely. Units in the buffer are dropped later, with their superpage (rule 212).
    fn trim_command(&mut self, now: TimeNs, id: u32) {
        let ops = std::mem::take(&mut self.front.commands[id].ops);
        self.parts.counters.host_pages_trimmed += ops.len() as u64;
        for (unit, pages) in units_of(&ops, self.own.params.pages_per_mapping_unit) {
            if pages.len() < self.own.params.pages_per_mapping_unit as usize {
                self.parts.drive_counters.trimmed_pages_ignored += pages.len() as u64;
                continue;
            }
            let place = self.media.entry(unit);
            if place < BUFFERED {
                self.media.invalidate(unit, place);
            }
            self.media.set_entry(unit, NONE);
        }
        self.front.commands[id].ops = ops;
        self.front.command_ends(id, now, self.out);
    }
}

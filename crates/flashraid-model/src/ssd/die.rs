//! How one die works: checks, cleans, commands; at once or step by step.

use super::{Allocation, Blocking, Effects, NONE, Pending, Ssd, SsdParams, SsdWake, Trigger};
use crate::TimeNs;
use crate::events::GcInterval;
use crate::flash::Timing;
use crate::ftl::CleanWork;
use std::collections::VecDeque;
use std::ops::Range;

/// Durations of what a die does, added up once.
#[derive(Debug, Clone)]
pub(super) struct Steps {
    pub read_ns: u64,
    pub write_ns: u64,
    /// More for a program that seals a block.
    pub seal_ns: u64,
    pub move_ns: u64,
    pub erase_ns: u64,
    instantaneous_gc: bool,
    timing: Timing,
    data_pages: u32,
    summary_page: bool,
    copy_back: bool,
}

impl Steps {
    pub fn new(params: &SsdParams) -> Self {
        let t = params.timing;
        Self {
            read_ns: t.command_overhead_ns + t.page_read_ns + t.page_transfer_ns,
            write_ns: t.command_overhead_ns + t.page_transfer_ns + t.page_program_ns,
            seal_ns: if params.geometry.summary_page { t.summary_transfer_ns + t.page_program_ns } else { 0 },
            move_ns: t.page_read_ns + t.page_program_ns + if params.gc.copy_back { 0 } else { 2 * t.page_transfer_ns },
            erase_ns: t.block_erase_ns,
            instantaneous_gc: params.gc.instantaneous,
            timing: t,
            data_pages: params.geometry.data_pages_per_block(),
            summary_page: params.geometry.summary_page,
            copy_back: params.gc.copy_back,
        }
    }

    fn plain_ns(&self, write: bool) -> u64 {
        if write { self.write_ns } else { self.read_ns }
    }

    /// A host command as times in the die, each followed by a transfer on the channel, and a rest.
    fn command_script(&self, write: bool, sealed: bool, die: &mut Die) {
        let t = &self.timing;
        die.script_tail_ns = 0;
        if !write {
            die.script.push_back((t.command_overhead_ns + t.page_read_ns, t.page_transfer_ns));
            return;
        }
        die.script.push_back((t.command_overhead_ns, t.page_transfer_ns));
        die.script_tail_ns = t.page_program_ns;
        self.summary_script(sealed, die);
    }

    /// The summary asks for the channel when the program before it is over.
    fn summary_script(&self, sealed: bool, die: &mut Die) {
        if sealed && self.summary_page {
            die.script.push_back((die.script_tail_ns, self.timing.summary_transfer_ns));
            die.script_tail_ns = self.timing.page_program_ns;
        }
    }

    /// A clean, move by move; `room` pages fit the open block before the first move seals one.
    fn clean_script(&self, work: CleanWork, room: u32, die: &mut Die) {
        let t = &self.timing;
        die.script_tail_ns = 0;
        let mut room = room;
        for _ in 0..work.pages_moved {
            die.script_tail_ns += t.page_read_ns;
            if !self.copy_back {
                die.script.push_back((die.script_tail_ns, t.page_transfer_ns));
                die.script.push_back((0, t.page_transfer_ns));
                die.script_tail_ns = 0;
            }
            die.script_tail_ns += t.page_program_ns;
            room = if room == 0 { self.data_pages } else { room } - 1;
            self.summary_script(room == 0, die);
        }
        die.script_tail_ns += t.block_erase_ns;
    }

    /// Blocks that moving `pages` fills if the open block has room for `room` (0: the next one is opened first).
    pub fn blocks_sealed_by(&self, pages: u32, room: u32) -> u32 {
        let room = if room == 0 { self.data_pages } else { room };
        if pages < room {
            0
        } else if pages - room < self.data_pages {
            1
        } else {
            1 + (pages - room) / self.data_pages
        }
    }

    #[inline]
    pub fn clean_ns(&self, work: CleanWork) -> u64 {
        if self.instantaneous_gc {
            return 0;
        }
        u64::from(work.pages_moved) * self.move_ns + u64::from(work.blocks_sealed) * self.seal_ns + self.erase_ns
    }
}

/// A bus that dies share, first come first served.
#[derive(Debug, Clone, Default)]
pub(super) struct Channel {
    /// Dies that want to transfer, in order of asking; the first one does.
    queue: VecDeque<u32>,
    /// End of the last transfer that was asked for.
    free_at: TimeNs,
}

/// One die.
#[derive(Debug, Clone)]
pub(super) struct Die {
    /// End of what it does now.
    busy_until: TimeNs,
    /// End of its last clean that took time.
    gc_until: TimeNs,
    /// The last thing it did was a clean.
    in_collection: bool,
    /// With `blocking = "plane"`: end of the last clean of each plane, if any.
    planes_busy_until: Vec<Option<TimeNs>>,
    /// First and last waiting operation.
    head: u32,
    tail: u32,
    /// A wake-up is on its way.
    awaited: bool,
    /// With `blocking = "plane"`: the head of the queue waits for the clean that ends then.
    awaits_release_at: Option<TimeNs>,
    /// Plain durations of what waits.
    waiting_ns: u64,
    /// Writes that wait here; counted under dynamic allocation.
    pub waiting_writes: u32,
    /// With channels: what is left of the current step: times in the die, each followed by a transfer on the channel.
    script: VecDeque<(u64, u64)>,
    /// What follows the last transfer of the script.
    script_tail_ns: u64,
    /// The operation whose script this is, if not a clean.
    serving: u32,
    /// The clean whose script this is began then.
    clean_began: TimeNs,
    clean_work: CleanWork,
    clean_pool: u32,
}

impl Die {
    pub fn new(planes: u32) -> Self {
        Self {
            busy_until: 0,
            gc_until: 0,
            in_collection: false,
            planes_busy_until: vec![None; planes as usize],
            head: NONE,
            tail: NONE,
            awaited: false,
            awaits_release_at: None,
            waiting_ns: 0,
            waiting_writes: 0,
            script: VecDeque::new(),
            script_tail_ns: 0,
            serving: NONE,
            clean_began: 0,
            clean_work: CleanWork::default(),
            clean_pool: 0,
        }
    }

    pub fn estimated_start(&self, now: TimeNs) -> TimeNs {
        now.max(self.busy_until) + self.waiting_ns
    }

    /// Start of the clean in progress, if its end is not known yet.
    pub fn open_clean(&self) -> Option<TimeNs> {
        (!self.script.is_empty() && self.serving == NONE).then_some(self.clean_began)
    }

    fn busy_planes(&self, at: TimeNs) -> u64 {
        self.planes_busy_until.iter().enumerate().fold(0, |mask, (p, &until)| mask | u64::from(until.is_some_and(|u| u > at)) << p)
    }
}

impl Ssd {
    /// Serves an operation that arrives now behind everything that the die has taken before; returns its end and whether it
    /// waited for garbage collection.
    #[inline]
    pub(crate) fn serve_now(&mut self, now: TimeNs, die: u32, lpn: u32, write: bool, cleans: &mut Vec<GcInterval>) -> (TimeNs, bool) {
        if self.holds_plane() {
            return self.serve_beside_cleans(now, die, lpn, write, cleans);
        }
        let mut at = now.max(self.dies[die as usize].busy_until);
        if self.ftl.needs_clean(die) && self.checks_before(write) {
            while let Some((pool, victim)) = self.ftl.next_clean(die, 0) {
                at = self.clean_at(at, die, pool, victim, cleans);
            }
        }
        let end = at + self.command(die, lpn, write, 0).expect("rule 16: a check leaves room in some pool");
        let state = &mut self.dies[die as usize];
        state.busy_until = end;
        state.in_collection = false;
        (end, state.gc_until > now)
    }

    /// Only the plane of a victim is busy, and the die serves what needs other planes (rule 15).
    fn serve_beside_cleans(&mut self, now: TimeNs, die: u32, lpn: u32, write: bool, cleans: &mut Vec<GcInterval>) -> (TimeNs, bool) {
        let mut at = now.max(self.dies[die as usize].busy_until);
        let mut met_gc = false;
        loop {
            match self.try_beside_cleans(at, die, lpn, write, cleans) {
                Ok(duration) => {
                    self.dies[die as usize].busy_until = at + duration;
                    return (at + duration, met_gc);
                }
                Err(released) => (at, met_gc) = (released, true),
            }
        }
    }

    /// Looks, then begins the operation and returns its duration, or the time at which a plane that it needs is released.
    fn try_beside_cleans(&mut self, at: TimeNs, die: u32, lpn: u32, write: bool, cleans: &mut Vec<GcInterval>) -> Result<u64, TimeNs> {
        let mut busy_planes = self.dies[die as usize].busy_planes(at);
        if self.checks_before(write) {
            while let Some((pool, victim)) = self.ftl.next_clean(die, busy_planes) {
                let work = self.ftl.clean(die, pool, victim);
                let end = at + self.steps.clean_ns(work);
                let planes_busy_until = &mut self.dies[die as usize].planes_busy_until[pool as usize];
                let continues = planes_busy_until.replace(end) == Some(at);
                self.record_clean(die, pool, at..end, work, continues, cleans);
                busy_planes |= 1 << pool;
            }
        }
        let planes_busy_until = &self.dies[die as usize].planes_busy_until;
        let released = if write {
            planes_busy_until.iter().flatten().copied().filter(|&until| until > at).min()
        } else {
            // Under dynamic allocation the page may have moved to another die since the read was placed.
            let here = !self.ftl.dynamic || self.ftl.die_of(lpn) == die;
            planes_busy_until[(self.ftl.pool_of(lpn) % self.params.geometry.planes) as usize].filter(|&until| here && until > at)
        };
        match released {
            Some(released) if !write => Err(released),
            _ => self.command(die, lpn, write, busy_planes).ok_or_else(|| released.expect("rule 16: a pool without room is being cleaned")),
        }
    }

    fn holds_plane(&self) -> bool {
        self.params.gc.blocking == Blocking::Plane && !self.params.gc.instantaneous
    }

    #[inline]
    pub(super) fn checks_before(&self, write: bool) -> bool {
        write || self.params.gc.trigger == Trigger::Request
    }

    /// Changes the mapping for a command that starts now and returns its plain duration; `None` for a write that finds no room.
    #[inline]
    pub(super) fn command(&mut self, die: u32, lpn: u32, write: bool, busy_planes: u64) -> Option<u64> {
        if !write {
            self.counters.host_pages_read += 1;
            return Some(self.steps.read_ns);
        }
        let pool = self.ftl.place(die, lpn, busy_planes)?;
        self.counters.host_pages_written += 1;
        let sealed = self.ftl.write(die, pool, lpn);
        self.counters.summary_programs += u64::from(sealed && self.params.geometry.summary_page);
        Some(self.steps.write_ns + if sealed { self.steps.seal_ns } else { 0 })
    }

    /// Cleans `victim` from `at` on, holding the die; returns the end.
    fn clean_at(&mut self, at: TimeNs, die: u32, pool: u32, victim: u32, cleans: &mut Vec<GcInterval>) -> TimeNs {
        let work = self.ftl.clean(die, pool, victim);
        let end = at + self.steps.clean_ns(work);
        let state = &mut self.dies[die as usize];
        let continues = std::mem::replace(&mut state.in_collection, true);
        if !self.params.gc.instantaneous {
            state.gc_until = end;
        }
        self.record_clean(die, pool, at..end, work, continues, cleans);
        end
    }

    fn record_clean(&mut self, die: u32, pool: u32, time: Range<TimeNs>, work: CleanWork, continues: bool, cleans: &mut Vec<GcInterval>) {
        self.counters.erases += 1;
        self.counters.gc_pages_moved += u64::from(work.pages_moved);
        self.counters.summary_programs += u64::from(work.blocks_sealed) * u64::from(self.params.geometry.summary_page);
        self.counters.collections += u64::from(!continues);
        self.counters.gc_time_ns += time.end - time.start;
        cleans.push(GcInterval {
            member: self.member,
            die,
            pool,
            start_ns: time.start,
            end_ns: time.end,
            victims: 1,
            pages_moved: work.pages_moved,
            free_blocks_before: work.free_blocks_before,
            free_blocks_min: work.free_blocks_min,
            writes_wait_from_ns: time.start,
            all_wait_from_ns: time.start,
            forced: false,
        });
    }

    /// Puts an operation behind the others of its die.
    pub(super) fn enqueue<W>(&mut self, now: TimeNs, id: u32, fx: &mut Effects<W>) {
        let Pending { op, die, .. } = self.pending[id];
        let state = &mut self.dies[die as usize];
        if state.head == NONE {
            state.head = id;
        } else {
            self.pending[state.tail].next = id;
        }
        state.tail = id;
        state.waiting_ns += self.steps.plain_ns(op.write);
        if !state.awaited && state.script.is_empty() {
            if state.busy_until <= now {
                self.begin(now, die, fx);
            } else {
                let busy_until = state.busy_until;
                self.await_until(die, busy_until, fx);
            }
        }
    }

    fn await_until<W>(&mut self, die: u32, at: TimeNs, fx: &mut Effects<W>) {
        self.dies[die as usize].awaited = true;
        fx.agenda.schedule(at, (fx.wake)(self.member, SsdWake::Die(die)));
    }

    /// Goes on with a die whose wait is over: the next transfer of its script, or whatever an idle die does next.
    pub(super) fn proceed<W>(&mut self, now: TimeNs, die: u32, fx: &mut Effects<W>) {
        self.dies[die as usize].awaited = false;
        if self.dies[die as usize].script.is_empty() {
            self.begin(now, die, fx);
        } else {
            self.ask_for_channel(now, die, fx);
        }
    }

    /// Begins what an idle die does next: a clean if its check finds one, else the operation at the head of its queue. Steps
    /// without length are followed by the next at once.
    fn begin<W>(&mut self, now: TimeNs, die: u32, fx: &mut Effects<W>) {
        while self.begin_step(now, die, fx) {}
        self.await_end(now, die, fx);
    }

    /// Sees to it that the die goes on after its current step, if anything waits for that.
    fn await_end<W>(&mut self, now: TimeNs, die: u32, fx: &mut Effects<W>) {
        let state = &self.dies[die as usize];
        let ends_alone = state.script.is_empty() && !state.awaited && state.busy_until > now;
        // With links, channels or dynamic allocation, what ends and what begins at the same nanosecond must keep their order (rule 25).
        if ends_alone && (state.head != NONE || self.sequenced) {
            self.await_until(die, state.busy_until, fx);
        }
    }

    /// A clean beside which the die works has ended.
    pub(super) fn released<W>(&mut self, now: TimeNs, die: u32, fx: &mut Effects<W>) {
        let state = &mut self.dies[die as usize];
        if state.awaits_release_at == Some(now) {
            state.awaits_release_at = None;
            self.proceed(now, die, fx);
        }
    }

    /// Begins one step; says whether it is over already.
    fn begin_step<W>(&mut self, now: TimeNs, die: u32, fx: &mut Effects<W>) -> bool {
        let id = self.dies[die as usize].head;
        if id == NONE {
            return false;
        }
        let Pending { op, lpn, queued_at, next, .. } = self.pending[id];
        let mut begun = None;
        if self.holds_plane() {
            let known = fx.cleans.len();
            let attempt = self.try_beside_cleans(now, die, lpn, op.write, fx.cleans);
            for clean in &fx.cleans[known..] {
                fx.agenda.schedule(clean.end_ns, (fx.wake)(self.member, SsdWake::Released(die)));
            }
            match attempt {
                Ok(duration) => begun = Some(duration),
                Err(released) => {
                    self.pending[id].met_gc = true;
                    let state = &mut self.dies[die as usize];
                    (state.awaited, state.awaits_release_at) = (true, Some(released));
                    return false;
                }
            }
        } else if self.checks_before(op.write)
            && let Some((pool, victim)) = self.ftl.next_clean(die, 0)
        {
            self.begin_clean(now, die, pool, victim, fx);
            return self.is_idle(die, now);
        }
        let duration = begun.unwrap_or_else(|| self.command(die, lpn, op.write, 0).expect("rule 16: a check leaves room in some pool"));
        let state = &mut self.dies[die as usize];
        state.head = next;
        state.waiting_ns -= self.steps.plain_ns(op.write);
        state.in_collection = false;
        state.busy_until = now + duration;
        if op.write && self.params.allocation == Allocation::Dynamic {
            state.waiting_writes -= 1;
            let entry = self.waiting_writes.get_mut(&lpn).expect("a placed write is counted");
            entry.1 -= 1;
            if entry.1 == 0 {
                self.waiting_writes.remove(&lpn);
            }
        }
        let state = &mut self.dies[die as usize];
        if self.channels.is_empty() {
            let met_gc = self.pending[id].met_gc || state.gc_until > queued_at;
            self.finish(id, now + duration, met_gc, fx);
        } else {
            let sealed = op.write && duration > self.steps.write_ns;
            self.steps.command_script(op.write, sealed, state);
            state.serving = id;
            self.start_script(now, die, fx);
        }
        if op.write && self.params.allocation == Allocation::Dynamic {
            self.await_end(now, die, fx);
            self.place_waiting(now, fx);
        }
        self.is_idle(die, now)
    }

    fn is_idle(&self, die: u32, now: TimeNs) -> bool {
        let state = &self.dies[die as usize];
        state.busy_until <= now && state.script.is_empty() && !state.awaited
    }

    fn begin_clean<W>(&mut self, now: TimeNs, die: u32, pool: u32, victim: u32, fx: &mut Effects<W>) {
        if self.channels.is_empty() || self.params.gc.instantaneous {
            let end = self.clean_at(now, die, pool, victim, fx.cleans);
            self.dies[die as usize].busy_until = end;
            return;
        }
        let room = self.ftl.room_for_moves(die, pool);
        let work = self.ftl.clean(die, pool, victim);
        let state = &mut self.dies[die as usize];
        self.steps.clean_script(work, room, state);
        state.serving = NONE;
        state.clean_began = now;
        state.clean_work = work;
        state.clean_pool = pool;
        state.busy_until = now + self.steps.clean_ns(work);
        self.start_script(now, die, fx);
    }

    /// Runs a script up to its first transfer, or to its end if it has none.
    fn start_script<W>(&mut self, now: TimeNs, die: u32, fx: &mut Effects<W>) {
        match self.dies[die as usize].script.front() {
            Some(&(0, _)) => self.ask_for_channel(now, die, fx),
            Some(&(before_ns, _)) => self.await_until(die, now + before_ns, fx),
            None => {
                let end = now + self.dies[die as usize].script_tail_ns;
                self.script_over(now, end, die, fx);
            }
        }
    }

    fn ask_for_channel<W>(&mut self, now: TimeNs, die: u32, fx: &mut Effects<W>) {
        let number = self.channel_of(die);
        let channel = &mut self.channels[number as usize];
        let state = &mut self.dies[die as usize];
        Self::cross(&mut channel.free_at, now, state.script[0].1);
        if self.params.allocation == Allocation::Dynamic {
            // The estimate of rule 8: the end of this transfer is known, what follows is taken not to wait.
            let rest_ns: u64 = state.script.iter().skip(1).map(|&(before_ns, transfer_ns)| before_ns + transfer_ns).sum();
            state.busy_until = channel.free_at + rest_ns + state.script_tail_ns;
        }
        channel.queue.push_back(die);
        if channel.queue.len() == 1 {
            self.start_transfer(now, number, fx);
        }
    }

    fn channel_of(&self, die: u32) -> u32 {
        die / self.params.channel.expect("scripts exist only with channels").dies_per_channel
    }

    /// Starts the transfer of the first die that waits for the channel, if any.
    fn start_transfer<W>(&mut self, now: TimeNs, channel: u32, fx: &mut Effects<W>) {
        if let Some(&die) = self.channels[channel as usize].queue.front() {
            let (_, transfer_ns) = self.dies[die as usize].script[0];
            fx.agenda.schedule(now + transfer_ns, (fx.wake)(self.member, SsdWake::Transferred(channel)));
        }
    }

    /// A transfer is over: its die goes on first, then the next one begins.
    pub(super) fn transferred<W>(&mut self, now: TimeNs, channel: u32, fx: &mut Effects<W>) {
        let die = self.channels[channel as usize].queue[0];
        let state = &mut self.dies[die as usize];
        state.script.pop_front();
        if state.script.is_empty() {
            let end = now + state.script_tail_ns;
            self.script_over(now, end, die, fx);
            if end == now {
                self.begin(now, die, fx);
            } else {
                self.await_until(die, end, fx);
            }
        } else {
            self.start_script(now, die, fx);
        }
        self.channels[channel as usize].queue.pop_front();
        self.start_transfer(now, channel, fx);
    }

    /// Nothing can delay the step any more: it ends at `end`.
    fn script_over<W>(&mut self, now: TimeNs, end: TimeNs, die: u32, fx: &mut Effects<W>) {
        let state = &mut self.dies[die as usize];
        state.busy_until = end;
        if state.serving != NONE {
            let id = state.serving;
            let met_gc = state.gc_until > self.pending[id].queued_at;
            if end == now {
                self.finish_now(now, id, met_gc, fx);
            } else {
                self.finish(id, end, met_gc, fx);
            }
        } else {
            let (began, work, state_pool) = (state.clean_began, state.clean_work, state.clean_pool);
            state.gc_until = end;
            let continues = std::mem::replace(&mut state.in_collection, true);
            self.record_clean(die, state_pool, began..end, work, continues, fx.cleans);
        }
    }
}

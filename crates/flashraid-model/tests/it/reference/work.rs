//! Work as a list of waits and transfers, with one event for each of them (rule 90).

use flashraid_model::ssd::{GcAlgorithm, HostOverlapWithMoves};

use super::flash::{Move, Page};
use super::passes::Spends;
use super::retries::Retries;
use super::together::{Awaits, Mark};
use super::{Event, Simulation};

/// A worker of a die: the command slot, the clean of a pool, or an operation that overlaps with a step of a clean.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Worker {
    Slot { die: usize },
    Clean { die: usize, pool: usize },
    Mate { die: usize, number: usize },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Step {
    /// An overhead, a poll, a turn of a suspension.
    Wait(u64),
    /// The read of a page from the array.
    Read(u64),
    /// A program or an erase: a wait that a read may interrupt (rule 102).
    Array(u64),
    /// The program of a summary, which is one, too.
    Summary(u64),
    /// A transfer, which is a wait like any other if dies have their own pins.
    Transfer(u64),
    /// Waits for those that are done together and before it (rule 103).
    Await(Awaits),
    /// An event for which other operations may wait.
    Mark(Mark),
}

/// A command, a merge, a part of a suspension, or a phase of a clean.
pub(super) struct Work {
    /// Steps that have not begun.
    pub steps: Vec<Step>,
    pub doing: Doing,
    /// Rest of the present wait, as a list of what it is spent on.
    pub waits: Vec<(Spends, u64)>,
    /// Times that it has been suspended.
    pub suspensions: u32,
    /// Number of the last operation that had joined a queue of the member when it began.
    pub last_joined: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Doing {
    Begins,
    Waits { until: u64, in_flight_from: Option<u64> },
    Transfers { until: u64 },
    Awaits(Awaits),
}

impl Simulation<'_> {
    pub(super) fn start_work(&mut self, member: usize, worker: Worker, steps: Vec<Step>) {
        self.gets_work(member, worker, steps);
        self.work_goes_on(member, worker);
    }

    pub(super) fn gets_work(&mut self, member: usize, worker: Worker, steps: Vec<Step>) {
        let last_joined = self.members[member].operations_joined;
        let work = Work { steps, doing: Doing::Begins, waits: Vec::new(), suspensions: 0, last_joined };
        assert!(self.members[member].work.insert(worker, work).is_none(), "a worker does one thing at a time");
    }

    /// Begins the next step of some work, or ends it.
    pub(super) fn work_goes_on(&mut self, member: usize, worker: Worker) {
        let now = self.now;
        let with_pins = self.ssd.channel.is_none();
        let suspends = self.preemption().is_some_and(|preemption| preemption.suspension.is_some()) && !self.ssd.gc.collection_takes_no_time;
        loop {
            let work = self.members[member].work.get_mut(&worker).expect("the work goes on");
            let Some(&step) = work.steps.first() else {
                self.members[member].work.remove(&worker);
                return self.work_is_over(member, worker);
            };
            match step {
                Step::Transfer(ns) if !with_pins => {
                    work.steps.remove(0);
                    return self.ask_for_channel(member, worker, ns);
                }
                Step::Wait(_) | Step::Read(_) | Step::Array(_) | Step::Summary(_) | Step::Transfer(_) => {
                    // Waits that follow each other are one.
                    let mut total = 0;
                    let mut in_flight_from = None;
                    loop {
                        let (what, ns) = match work.steps.first() {
                            Some(&Step::Wait(ns)) => (Spends::Otherwise, ns),
                            Some(&Step::Read(ns)) => (Spends::OnFlash, ns),
                            Some(&Step::Transfer(ns)) if with_pins => (Spends::OnTransfer, ns),
                            Some(&Step::Array(ns)) => (Spends::OnFlash, ns),
                            Some(&Step::Summary(ns)) => (Spends::OnSummary, ns),
                            _ => break,
                        };
                        // The begin of what reads may suspend is an event (rule 102).
                        let in_flight = matches!(work.steps[0], Step::Array(_) | Step::Summary(_));
                        if in_flight && total > 0 && in_flight_from.is_none() && suspends {
                            break;
                        }
                        if in_flight {
                            in_flight_from.get_or_insert(now + total);
                        }
                        total += ns;
                        if ns > 0 {
                            work.waits.push((what, ns));
                        }
                        work.steps.remove(0);
                    }
                    // A wait of length 0 is none (rule 25).
                    if total > 0 {
                        let last_joined = work.last_joined;
                        self.wait(member, worker, total, in_flight_from);
                        if in_flight_from.is_some() {
                            self.waiting_read_interrupts(member, worker, last_joined);
                        }
                        return;
                    }
                }
                Step::Mark(mark) => {
                    work.steps.remove(0);
                    self.marks(member, worker, mark);
                }
                Step::Await(awaits) => {
                    if self.waits_for_others(member, worker, awaits) {
                        return self.doing(member, worker, Doing::Awaits(awaits));
                    }
                    self.members[member].work.get_mut(&worker).expect("the work goes on").steps.remove(0);
                }
            }
        }
    }

    pub(super) fn wait(&mut self, member: usize, worker: Worker, ns: u64, in_flight_from: Option<u64>) {
        self.doing(member, worker, Doing::Waits { until: self.now + ns, in_flight_from });
        self.schedule(ns, Event::Waited { member, worker });
    }

    pub(super) fn doing(&mut self, member: usize, worker: Worker, doing: Doing) {
        self.members[member].work.get_mut(&worker).expect("the work goes on").doing = doing;
    }

    fn work_is_over(&mut self, member: usize, worker: Worker) {
        match worker {
            Worker::Slot { die } => self.slot_work_is_over(member, die),
            Worker::Clean { die, pool } => self.phase_is_over(member, die, pool),
            Worker::Mate { .. } => assert!(self.part_is_over(member, worker), "it is one of several"),
        }
    }

    /// Returns true if the event of a wait would end its work.
    pub(super) fn is_last_wait(&self, member: usize, worker: Worker) -> bool {
        self.members[member].work.get(&worker).is_some_and(|work| work.steps.is_empty())
    }

    /// Returns the end of some work if it waits only for a transfer that it has already asked for (rule 101).
    pub(super) fn expected_end(&self, member: usize, worker: Worker) -> u64 {
        let Some(work) = self.members[member].work.get(&worker) else { return self.now };
        let mut end = match work.doing {
            Doing::Begins => self.now,
            Doing::Waits { until, .. } | Doing::Transfers { until } => until,
            Doing::Awaits(_) => unreachable!("those that are done together are asked together"),
        };
        for step in &work.steps {
            match step {
                Step::Wait(ns) | Step::Read(ns) | Step::Array(ns) | Step::Summary(ns) | Step::Transfer(ns) => end += ns,
                Step::Await(_) | Step::Mark(_) => {}
            }
        }
        end
    }
}

// What is made of steps.
impl Simulation<'_> {
    /// Returns the steps of a host read (rule 19).
    pub(super) fn read_steps(&self, member: usize, page: Page) -> Vec<Step> {
        let timing = &self.ssd.timing;
        vec![Step::Wait(timing.command_overhead.ns), self.array_read(member, page), Step::Transfer(timing.page_transfer_ns)]
    }

    /// Returns the array time of a host read, with further reads (rule 232).
    pub(super) fn array_read(&self, member: usize, page: Page) -> Step {
        Step::Read(self.ssd.timing.page_read.ns * (1 + self.further_reads(member, page)))
    }

    /// Returns the number of further array reads that a page needs.
    pub(super) fn further_reads(&self, member: usize, page: Page) -> u64 {
        let (physical, erases) = self.members[member].flash.page_and_erases(page);
        Retries::of(&self.ssd.die_delay_mechanisms, self.case.seed, member).further_reads(physical, erases)
    }

    /// Returns the steps of a host write (rule 20).
    pub(super) fn write_steps(&self, fills_block: bool) -> Vec<Step> {
        let timing = &self.ssd.timing;
        let mut steps = vec![Step::Wait(timing.command_overhead.ns), Step::Transfer(timing.page_transfer_ns)];
        steps.extend(self.program_steps(fills_block));
        steps
    }

    /// Returns the steps of a trim, or of the read of an unmapped page (rule 107).
    pub(super) fn overhead_steps(&self) -> Vec<Step> {
        vec![Step::Wait(self.ssd.timing.command_overhead.ns.max(1))]
    }

    /// The array time of a program, with its share of a summary if these are spread (rule 138).
    pub(super) fn program_ns(&self) -> u64 {
        let (timing, geometry) = (&self.ssd.timing, &self.ssd.geometry);
        let is_spread = timing.spreads_summary_page_over_programs && geometry.has_summary_page;
        let summary_ns = if is_spread { timing.block_summary_page_transfer_ns + timing.page_program.ns } else { 0 };
        timing.page_program.ns + summary_ns / u64::from(geometry.data_pages_per_block())
    }

    /// The program of a page, with the summary if it fills a block (rule 18).
    pub(super) fn program_steps(&self, fills_block: bool) -> Vec<Step> {
        let timing = &self.ssd.timing;
        let mut steps = vec![Step::Array(self.program_ns())];
        if fills_block && self.ssd.geometry.has_summary_page && !timing.spreads_summary_page_over_programs {
            steps.extend([Step::Transfer(timing.block_summary_page_transfer_ns), Step::Summary(timing.page_program.ns)]);
        }
        steps
    }

    /// Out and in, without copy-back.
    pub(super) fn move_transfers(&self) -> Vec<Step> {
        let at_once = !self.ssd.gc.rules.copy_back && self.ssd.gc.gc_algorithm == GcAlgorithm::VictimByPolicy;
        self.out_and_in(at_once)
    }

    fn out_and_in(&self, if_so: bool) -> Vec<Step> {
        vec![Step::Transfer(self.ssd.timing.page_transfer_ns); if if_so { 2 } else { 0 }]
    }

    /// The clean's program of a page, with the transfers of one that crosses planes (rule 133).
    pub(super) fn move_program_steps(&self, moved: Move) -> Vec<Step> {
        let mut steps = self.out_and_in(moved.crosses);
        steps.extend(self.program_steps(moved.fills_block));
        steps
    }

    /// The clean's read of a page.
    pub(super) fn move_read_steps(&self) -> Vec<Step> {
        let mut steps = vec![Step::Read(self.ssd.timing.page_read.ns)];
        if self.preemption().is_some_and(|preemption| preemption.pipeline == HostOverlapWithMoves::RequestsWaitingOrArrivingDuringStep) {
            steps.push(Step::Mark(Mark::ArrayRead));
        }
        steps.extend(self.move_transfers());
        steps
    }

    pub(super) fn erase_steps(&self) -> Vec<Step> {
        vec![Step::Array(self.ssd.timing.block_erase.ns)]
    }
}

//! Suspension: host reads interrupt programs and erases that are in progress (rule 217).

use super::SuperpageContext;
use super::schedule::{Job, Step};
use crate::events::TimeNs;
use crate::ssd::job::SuperpageWake;
use crate::ssd::params::{OperationSuspension, Suspension};

impl Suspension {
    /// Returns the settings for this job; `None` for a job that is never suspended.
    pub(super) fn of(&self, job: Job) -> Option<&OperationSuspension> {
        match job {
            Job::Program(_) | Job::MovedProgram(_) => Some(&self.program),
            Job::Erase(_) => Some(&self.erase),
            Job::Move(_) => None,
        }
    }
}

impl SuperpageContext<'_> {
    /// Suspends a program or erase for reads that have arrived since it began or continued, if that is allowed.
    pub(super) fn interrupt(&mut self, now: TimeNs, die: u32) {
        let Some(suspension) = &self.own.params.suspension else { return };
        let state = &mut self.own.dies[die as usize];
        let Some(exclusive) = &mut state.exclusive else { return };
        let (Step::FlashCellOperation { ends }, Some(of)) = (exclusive.step, suspension.of(exclusive.job)) else { return };
        let may = exclusive.suspensions < of.suspensions_max && exclusive.suspended_from <= now && ends > now + of.suspend_ns();
        if !exclusive.reads_came || !may {
            return;
        }
        let remaining_ns = ends - now;
        exclusive.suspensions += 1;
        exclusive.step = Step::Suspending { remaining_operation_ns: remaining_ns };
        state.current_work_ends = now + of.suspend_ns();
        state.waiting_ns += of.resume.ns + remaining_ns;
        self.parts.counters.suspensions += 1;
        self.out.wake(now + of.suspend_ns(), SuperpageWake::SuspensionStepEnds(die));
    }

    /// Ends a step of a suspension: the flash array has stopped, or it has continued.
    pub(super) fn suspension_step_ended(&mut self, now: TimeNs, die: u32) {
        let state = &mut self.own.dies[die as usize];
        let exclusive = state.exclusive.as_mut().expect("something is suspended");
        match exclusive.step {
            Step::Suspending { remaining_operation_ns: remaining_ns } => {
                exclusive.step = Step::Suspended { remaining_operation_ns: remaining_ns };
                self.count_time(now, die);
                self.dispatch(now, die);
            }
            Step::Resuming { remaining_operation_ns: remaining_ns } => {
                let suspension = self.own.params.suspension.as_ref().expect("something was suspended");
                let of = suspension.of(exclusive.job).expect("it was suspended");
                exclusive.reads_came = !state.reads.is_empty();
                exclusive.suspended_from = now + of.progress_ns();
                let comes_again = exclusive.suspensions < of.suspensions_max && remaining_ns > of.progress_ns() + of.suspend_ns();
                let suspended_from = exclusive.suspended_from;
                if comes_again && suspended_from > now {
                    self.out.wake(suspended_from, SuperpageWake::MaySuspendAgain(die));
                }
                self.array_works(now, die, remaining_ns);
            }
            Step::Transfer | Step::FlashCellOperation { .. } | Step::Suspended { .. } => unreachable!("nothing is on its way there"),
        }
    }

    /// Begins to resume a suspended job, because there are no more reads to serve.
    pub(super) fn resume(&mut self, now: TimeNs, die: u32) {
        let state = &mut self.own.dies[die as usize];
        let (Some(exclusive), Some(suspension)) = (&mut state.exclusive, &self.own.params.suspension) else { return };
        let (Step::Suspended { remaining_operation_ns: remaining_ns }, Some(of)) = (exclusive.step, suspension.of(exclusive.job)) else {
            return;
        };
        exclusive.step = Step::Resuming { remaining_operation_ns: remaining_ns };
        exclusive.began = now;
        state.reads_in_a_row = 0;
        state.waiting_ns -= of.resume.ns + remaining_ns;
        state.current_work_ends = now + of.resume.ns + remaining_ns;
        let job = exclusive.job;
        let goes_on_ns = now + of.resume.ns;
        self.begin_work_on(now, job);
        self.out.wake(goes_on_ns, SuperpageWake::SuspensionStepEnds(die));
    }
}

//! The protocol between a member and the controller of its array, on the member's side (sections 11, 21 and 22 of the rules).
//!
//! The agent knows neither dies nor mapping. Dies tell it how many blocks are free, whether a limit is reached, how many pages are left
//! and what is done. They ask it what they may do.

use super::job::NEVER;
use super::outbox::Outbox;
use crate::coordination::{MemberRole, MemberState, Need, News, Notify, ToController, ToMember, Work};
use crate::events::TimeNs;
use crate::ids::MemberId;
use crate::request::OpKind;

/// The memory of a member that knows the protocol.
#[derive(Debug, Clone)]
pub struct Agent {
    member: MemberId,
    role: MemberRole,
    /// Work that it has been forced, or allowed, to do and has not done.
    forced: Option<Work>,
    /// Dies that have not done yet what they were forced to do, where each counts for itself.
    dies_left: u32,
    /// Page writes that it has been given.
    pages_given: u64,
    times_forced: u32,
    /// The member has asked since it was forced last.
    has_asked: bool,
    /// The member has said since then that it is at its limit.
    has_said_limit: bool,
    /// The member has registered since it was forced last.
    participates: bool,
    /// Collection above the hard limit was denied, and has been neither granted nor forced since.
    denied: bool,
    /// The idle time that it was to use is over.
    stopped: bool,
    /// The run is over, so that no idle time is used any more.
    run_is_over: bool,
    /// The last moment at which cleans that pools needed began, and the number of them (rule 43).
    needed_began: (TimeNs, u32),
    /// The moment of the last request, and how many of the cleans that began at that nanosecond are still under way. While there are any,
    /// and until the member is forced, the request is outstanding.
    request: (TimeNs, u32),
    /// The last moment at which a host write left a low pool (rule 119).
    low_at: TimeNs,
    /// The last moment at which the member reached its limit.
    limit_at: TimeNs,
    /// The array will let it ask at the end of that nanosecond.
    asks_at: TimeNs,
}

/// Consequence of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consequence {
    /// The member collects at once.
    Collect(Work),
    /// The idle time that was to be used is over.
    Stop,
    /// The member does nothing at once.
    Nothing,
}

impl Agent {
    /// The agent of a member that knows the protocol from now on.
    pub fn new(member: MemberId, role: MemberRole) -> Self {
        Self {
            member,
            role,
            forced: None,
            dies_left: 0,
            pages_given: 0,
            times_forced: 0,
            has_asked: false,
            has_said_limit: false,
            participates: false,
            denied: false,
            stopped: false,
            run_is_over: false,
            needed_began: (NEVER, 0),
            request: (NEVER, 0),
            low_at: NEVER,
            limit_at: NEVER,
            asks_at: NEVER,
        }
    }

    /// Takes notice of an operation that has been given to the member.
    #[inline]
    pub fn given(&mut self, kind: OpKind) {
        self.pages_given += u64::from(kind == OpKind::Write);
    }

    /// The work that the member has been forced to do and is not done.
    pub fn forced(&self) -> Option<Work> {
        self.forced
    }

    /// Returns true if the controller has denied collection above the hard limit (rule 117).
    pub fn is_denied(&self) -> bool {
        self.denied
    }

    /// Returns true if pools above their hard limit need no clean (rules 117 and 119).
    pub fn holds_out(&self) -> bool {
        self.denied || self.has_asked
    }

    /// Returns true if the idle time that was to be used is over.
    pub fn idle_is_over(&self) -> bool {
        self.stopped
    }

    /// Returns true if work would be void, because idle time is not used any more.
    pub fn is_void(&self, work: Work) -> bool {
        self.run_is_over && work == Work::UntilReserved
    }

    /// Returns true if a die with so many free blocks in its lowest pool takes part when the member is forced (rule 122).
    pub fn takes_part(&self, free_blocks: u32) -> bool {
        self.role.across_dies || free_blocks <= self.role.t_soft_free_blocks
    }

    /// The run is over: idle time is not used any more.
    pub fn run_ends(&mut self) {
        (self.stopped, self.run_is_over) = (true, true);
    }

    /// A message of the controller has arrived; `state` tells how the member is.
    pub fn receive(&mut self, now: TimeNs, message: ToMember, state: impl FnOnce() -> MemberState, out: &mut Outbox) -> Consequence {
        match message {
            ToMember::Force(work) | ToMember::Grant(work) => {
                assert_eq!(self.forced, None, "the controller waits for GcDone");
                self.forced = Some(work);
                (self.request, self.needed_began) = ((NEVER, 0), (NEVER, 0));
                (self.participates, self.denied, self.stopped) = (false, false, self.run_is_over);
                (self.has_asked, self.has_said_limit, self.times_forced) = (false, false, self.times_forced + 1);
                (self.low_at, self.limit_at) = (NEVER, NEVER);
                Consequence::Collect(work)
            }
            ToMember::Stop => {
                self.stopped = true;
                Consequence::Stop
            }
            ToMember::Deny => {
                self.denied = true;
                Consequence::Nothing
            }
            ToMember::TellState => {
                self.tell(now, ToController::GcState(state()), out);
                Consequence::Nothing
            }
        }
    }

    fn tell(&self, at: TimeNs, message: ToController, out: &mut Outbox) {
        out.report(at, self.member, News::Sends(message));
    }

    /// Takes notice of how many dies have to do what the member was forced to do.
    pub fn dies_begin(&mut self, dies: u32) {
        assert!(self.forced.is_some() && self.dies_left == 0, "a member is forced once at a time");
        self.dies_left = dies;
    }

    /// A die is done; returns whether it was the last.
    pub fn die_is_done(&mut self) -> bool {
        assert!(self.forced.is_some() && self.dies_left > 0, "a die that is done was forced");
        self.dies_left -= 1;
        self.dies_left == 0
    }

    /// All is done that the member was forced to do.
    pub fn is_done(&mut self, at: TimeNs, out: &mut Outbox) {
        assert!(self.forced.is_some() && self.dies_left == 0, "only a forced member is done");
        self.forced = None;
        self.tell(at, ToController::GcDone, out);
    }

    /// After all is done: a member that had reason to ask meanwhile asks (rules 43 and 119).
    pub fn asks_again(&mut self, at: TimeNs, out: &mut Outbox) {
        match self.role.notify {
            Notify::AtStart => self.ask(at, out),
            Notify::Soft if self.low_at == at || self.limit_at == at => self.will_ask(at, out),
            Notify::Soft => {}
        }
    }

    /// A clean that a pool needed, and that began at `began`, is over.
    pub fn needed_clean_is_over(&mut self, at: TimeNs, began: TimeNs, out: &mut Outbox) {
        if began == self.request.0 {
            assert!(self.request.1 > 0, "a request is outstanding while its cleans go on");
            self.request.1 -= 1;
            self.ask(at, out);
        }
    }

    /// Collection begins because it must: it counts as uncoordinated if the member has asked (rule 121).
    pub fn collects_by_need(&mut self, at: TimeNs, out: &mut Outbox) {
        if self.role.notify == Notify::Soft && self.has_asked {
            debug_assert_eq!(self.forced, None, "being forced answers what was asked");
            out.report(at, self.member, News::CollectsUnanswered);
        }
    }

    /// A die begins a clean because a pool needs one (rules 43 and 119).
    pub fn needed_clean_begins(&mut self, at: TimeNs, out: &mut Outbox) {
        if self.role.notify == Notify::Soft {
            self.limit_at = at;
            self.collects_by_need(at, out);
            if !self.has_said_limit {
                self.will_ask(at, out);
            }
            return;
        }
        if self.needed_began.0 != at {
            self.needed_began = (at, 0);
        }
        self.needed_began.1 += 1;
        if self.request.0 == at {
            self.request.1 += 1;
        } else {
            self.ask(at, out);
        }
    }

    /// Asks for collection if there is reason to. Dies come to the same nanosecond in any order. This is therefore tried whenever
    /// something allows the member to ask, with the same result as one attempt at the end (rule 43).
    fn ask(&mut self, at: TimeNs, out: &mut Outbox) {
        if self.forced.is_none() && self.request.1 == 0 && self.needed_began.0 == at {
            self.request = self.needed_began;
            self.tell(at, ToController::GcRequest(Need::AT_LIMIT), out);
        }
    }

    /// Returns true if a host write may lead to a message.
    #[inline]
    pub fn heeds_writes(&self) -> bool {
        let may_ask = self.role.notify == Notify::Soft && !self.has_said_limit;
        (self.role.registers && !self.participates) || may_ask
    }

    /// A host write has begun and leaves its pool with so many free blocks; `is_at_limit` says whether that is its hard limit.
    pub fn sees_write(&mut self, at: TimeNs, free_blocks: u32, is_at_limit: bool, out: &mut Outbox) {
        if free_blocks > self.role.t_soft_free_blocks {
            return;
        }
        let registers = self.role.registers && !self.participates;
        if self.role.notify == Notify::Soft && !self.has_said_limit {
            self.low_at = at;
            if is_at_limit {
                self.limit_at = at;
            }
            if is_at_limit || !self.has_asked {
                self.will_ask(at, out);
            }
        }
        if registers {
            self.participates = true;
            self.tell(at, ToController::Participate, out);
        }
    }

    /// Asks the array for leave to ask at the end of this nanosecond, unless the member is forced.
    fn will_ask(&mut self, at: TimeNs, out: &mut Outbox) {
        if self.forced.is_none() && self.asks_at != at {
            self.asks_at = at;
            out.report(at, self.member, News::MayAsk);
        }
    }

    /// All else of this nanosecond has happened: says whether the member asks softly now (rule 119).
    pub fn asks_softly(&mut self, now: TimeNs) -> bool {
        self.asks_at = NEVER;
        self.forced.is_none() && !self.has_said_limit && (!self.has_asked || self.limit_at == now)
    }

    /// Asks softly: so many pages are left, which may be fewer than none, and a pool may be at its limit.
    pub fn ask_softly(&mut self, now: TimeNs, pages_left: i64, is_at_limit: bool, out: &mut Outbox) {
        let at_limit = self.limit_at == now || pages_left < 0 || is_at_limit;
        (self.has_asked, self.has_said_limit) = (true, at_limit);
        self.tell(now, ToController::GcRequest(self.need(pages_left.max(0) as u64, at_limit)), out);
    }

    fn need(&self, pages_left: u64, at_limit: bool) -> Need {
        Need { pages_left, at_limit, pages_given: self.pages_given, times_forced: self.times_forced }
    }

    /// Takes notice of an opened superblock, or of the end of forced collection. The member may then have to register, and asks if it is
    /// at its target (rule 216).
    pub fn sees_opened(&mut self, at: TimeNs, free_blocks: u32, asks: bool, pages_left: u64, at_limit: bool, out: &mut Outbox) {
        if self.forced.is_some() {
            return;
        }
        if self.role.registers && free_blocks <= self.role.t_soft_free_blocks && !self.participates {
            self.participates = true;
            self.tell(at, ToController::Participate, out);
        }
        if asks {
            self.has_asked = true;
            let need = match self.role.notify {
                Notify::AtStart => Need::AT_LIMIT,
                Notify::Soft => self.need(pages_left, at_limit),
            };
            self.tell(at, ToController::GcRequest(need), out);
        }
    }
}

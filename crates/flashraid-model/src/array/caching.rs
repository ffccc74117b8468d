//! The write cache inside the array. Commands of the cache become page operations, and the ends of these become events of the cache (rule
//! 85).

use super::RequestInPages;
use super::coordination::Coordination;
use super::members::{Access, Completion, Continuation, Issued, Members};
use super::volume::Volume;
use crate::TimeNs;
use crate::cache::{ArrayExtent, Cache, Command, Commands, Destage, HostRequestDone, Token};
use crate::events::WriteCacheDestageToMember;
use crate::placement::ArrayLayout;
use crate::request::OpKind;
use crate::ssd::SimulatorPrefetchTarget;

/// The write cache, and the state that the array keeps for it.
#[derive(Debug, Clone)]
pub(super) struct Caching {
    pub(crate) cache: Cache,
    tie_breaks: TieBreaks,
    /// Buffer for the commands that the cache has just given. It is kept to reuse its memory.
    commands: Commands,
    /// Record of all destages for the timeline; `None` if they are not recorded.
    pub(crate) destage_record: Option<DestageRecord>,
}

/// Counter that orders events of the cache within one nanosecond. They happen in the order in which the cache asked for them, after the
/// ends of phases of stripe operations.
#[derive(Debug, Clone)]
struct TieBreaks {
    given: u64,
}

impl TieBreaks {
    /// First number of the counter. Phases of stripe operations use the numbers below it.
    const FIRST: u64 = 1 << 63;

    #[inline]
    fn next(&mut self) -> u64 {
        self.given += 1;
        self.given
    }
}

fn pages_of(extent: &ArrayExtent, kind: OpKind) -> RequestInPages {
    let ArrayExtent { first_page, pages } = *extent;
    RequestInPages { tag: 0, first_page, pages, kind, fua: false, must_not_wait_for_gc: false, stream: 0, contiguous_on_one_member: false }
}

/// Record of the destages in progress, for a timeline.
#[derive(Debug, Clone, Default)]
pub(super) struct DestageRecord {
    under_way: Vec<(Destage, WriteCacheDestageToMember)>,
    pub(crate) finished_destages: Vec<WriteCacheDestageToMember>,
}

impl Caching {
    pub(super) fn new(cache: Cache) -> Self {
        Self { cache, tie_breaks: TieBreaks { given: TieBreaks::FIRST }, commands: Commands::default(), destage_record: None }
    }

    /// Returns the time at which [`Caching::step`] is due.
    #[inline]
    pub(super) fn next_time(&self) -> Option<TimeNs> {
        self.cache.next_time()
    }

    /// Lets the cache do the work that is due now.
    pub(super) fn step(
        &mut self,
        now: TimeNs,
        after_events_of_now: bool,
        volume: &mut Volume,
        controller: Option<&mut Coordination>,
    ) -> Issued {
        self.cache.step(now);
        self.perform_commands(now, after_events_of_now, volume, controller)
    }

    /// Passes an event to the cache. If all data that were cached at a member's failure have been destaged since, rebuilding may begin
    /// (rule 86).
    #[inline]
    pub(super) fn update_cache<T>(&mut self, now: TimeNs, volume: &mut Volume, event: impl FnOnce(&mut Self, &mut Members) -> T) -> T {
        let was_flushing = self.cache.is_flushing();
        let answer = event(self, &mut volume.members);
        if was_flushing
            && self.cache.is_flushed()
            && let Some(stripes) = &mut volume.stripes
        {
            stripes.set_cache_is_flushing(now, false);
        }
        answer
    }

    /// Performs the commands of the cache. The coordinating controller counts their operations as load (rule 88).
    pub(crate) fn perform_commands(
        &mut self,
        now: TimeNs,
        after_events_of_now: bool,
        volume: &mut Volume,
        mut controller: Option<&mut Coordination>,
    ) -> Issued {
        self.cache.take_commands(&mut self.commands);
        let Self { cache, tie_breaks, commands, destage_record: record } = self;
        let layout = volume.layout;
        // Parity in advance reads pages of many members, whose map entries are far apart.
        for extent in &commands.member_extents {
            let ssd = &volume.members.ssds[extent.member as usize];
            for page in extent.first_page..extent.first_page + u64::from(extent.pages) {
                ssd.prefetch(SimulatorPrefetchTarget::MappingTableEntry, page);
            }
        }
        for command in &commands.list {
            let (kind, token) = match *command {
                Command::ScheduleCacheWake { at, wake } => {
                    volume.members.schedule_cache_wake(at, tie_breaks.next(), wake);
                    continue;
                }
                Command::AccessArray { kind, token, .. } => (kind, token),
                Command::AccessMembers { kind, token, .. } => (kind, token),
            };
            if let Some(controller) = &mut controller {
                controller.request_arrives(now);
            }
            let access = Access { now, kind, fua: false, high_priority: false, source: cache.source(token), after_events_of_now };
            let continuation = Continuation::Cache { token, tie_break: tie_breaks.next() };
            // The ends of all operations are taken together.
            let _issued = match *command {
                Command::AccessArray { extent_index_bounds: (from, to), .. } => {
                    let extents = || {
                        let of_array = &commands.array_extents[from as usize..to as usize];
                        of_array.iter().flat_map(|extent| layout.extents(&pages_of(extent, kind)))
                    };
                    if let Some(record) = record {
                        let pages = extents().map(|extent| (extent.first_member, extent.first_page, extent.pages, extent.mirror_copies));
                        record.command_begins(now, token, pages, &layout, volume.replacement());
                    }
                    volume.issue(&access, extents(), false, continuation)
                }
                Command::AccessMembers { extent_index_bounds: (from, to), .. } => {
                    let extents = &commands.member_extents[from as usize..to as usize];
                    if let Some(record) = record {
                        let pages = extents.iter().map(|extent| (extent.member, extent.first_page, extent.pages, 1));
                        record.command_begins(now, token, pages, &layout, volume.replacement());
                    }
                    volume.issue_on_members(&access, extents, continuation)
                }
                Command::ScheduleCacheWake { .. } => unreachable!("it has been seen to"),
            };
        }
        volume.members.issued()
    }

    /// Ends an operation of the cache. Returns the host request that this completes, if any.
    #[inline]
    pub(super) fn command_ended(
        &mut self,
        now: TimeNs,
        token: Token,
        completion: &Completion,
        members: &mut Members,
    ) -> Option<HostRequestDone> {
        if let Some(record) = &mut self.destage_record {
            let ends = members.take_cache_ends(token);
            if let Token::Destage(destage) = token {
                record.end(now, destage, &ends);
            }
        }
        self.cache.note_time(token, completion.time);
        self.cache.done(now, token, completion.gc_members, completion.pages_lost)
    }
}

impl DestageRecord {
    /// Records the members and pages of an operation if it is a destage. `replacement` returns the member that stands in for another one in
    /// a stripe.
    pub(super) fn command_begins(
        &mut self,
        now: TimeNs,
        token: Token,
        extents: impl Iterator<Item = (u32, u64, u32, u32)>,
        layout: &ArrayLayout,
        replacement: impl Fn(u32, u64) -> Option<u32>,
    ) {
        let Token::Destage(destage) = token else { return };
        for (first_member, first_page, pages, copies) in extents {
            let stripe = layout.stripe_of_member_page(first_page);
            for member in (first_member..first_member + copies).filter_map(|member| replacement(member, stripe)) {
                match self.under_way.iter_mut().find(|(other, interval)| *other == destage && interval.member == member) {
                    Some((_, interval)) => interval.pages += pages,
                    None => {
                        let own_cache = destage.cache > 0;
                        let interval = WriteCacheDestageToMember {
                            member,
                            from_member_cache: own_cache,
                            stripe,
                            pages,
                            begun_ns: now,
                            ended_ns: 0,
                            last_member_done_ns: 0,
                        };
                        self.under_way.push((destage, interval));
                    }
                }
            }
        }
    }

    fn end(&mut self, now: TimeNs, destage: Destage, ends: &[(u32, TimeNs)]) {
        for (of, interval) in &mut self.under_way {
            if *of == destage {
                let own = ends.iter().filter(|(member, _)| *member == interval.member).map(|&(_, at)| at).max();
                self.finished_destages.push(WriteCacheDestageToMember {
                    ended_ns: own.unwrap_or(now),
                    last_member_done_ns: now,
                    ..*interval
                });
            }
        }
        self.under_way.retain(|(of, _)| *of != destage);
    }
}

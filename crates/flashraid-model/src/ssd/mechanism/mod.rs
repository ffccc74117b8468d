//! Mechanisms of an SSD: optional behaviour that takes time of its dies, such as background work and read retries. Each has a table of
//! `[ssd]`. One file holds a complete mechanism, and one line of the list below registers it.
//!
//! The file of a mechanism has the type that users write, with keys, units, defaults, documentation and checks. It also has the counters,
//! and the behaviour during the run. The schema, the reference of keys, the checks and the random cases of the tests are made from the
//! list. So are the JSON and the tables of reports.
//!
//! A mechanism here only takes time. Settings that change the place of data belong to [`MappingParams`](crate::space::MappingParams),
//! because saved warm states are identified by these.

use crate::counts::{CounterTable, ReportedCounts};
use crate::events::TimeNs;
use crate::ids::{DieId, MemberId};
use crate::policy::ParameterProblem;
use crate::rng::{self, RandomStream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An optional effect that takes time of the dies, such as read retries or background work. The implementing type has the settings that
/// users write.
pub trait DieDelayMechanism: Sized {
    /// Type of the counters of the mechanism.
    type Counters: ReportedCounts;
    /// State that the mechanism keeps for each die.
    type AtDie: DelayMechanismStateOfDie<Self::Counters>;

    /// Returns the state that the mechanism keeps for a die, as it is at the start of a run. The random numbers of the mechanism are made
    /// from `seed`.
    fn new_die_state(&self, seed: u64, member: MemberId, die: DieId) -> Self::AtDie;

    /// Returns mistakes in the mechanism's settings that their types cannot exclude, such as contradictions between two settings.
    fn problems(&self) -> Vec<ParameterProblem>;

    /// Returns random settings for tests in which an operation of a die takes about `operation_ns`.
    fn random_for_tests(stream: &mut RandomStream, operation_ns: u64) -> Self;
}

/// State that a mechanism (an optional behaviour of an SSD, such as read retries) keeps for one die. The die calls its methods, which by
/// default do nothing.
pub trait DelayMechanismStateOfDie<C>: std::fmt::Debug + Clone {
    /// Returns true if the mechanism is due at `_now`: it occupies the die as soon as the die's current work ends. A mechanism is an
    /// optional behaviour of an SSD, such as background work.
    fn is_due(&self, _now: TimeNs) -> bool {
        false
    }

    /// Tells the mechanism (an optional behaviour of an SSD, such as background work) that the die is no longer idle. The die was
    /// idle from `_rests_since` until `_now`, when the collection of a block begins. No mechanism can delay this collection.
    fn idle_period_ended(&mut self, _rests_since: TimeNs, _now: TimeNs) {}

    /// Returns the time until which the mechanism (an optional behaviour of an SSD, such as background work) occupies the die. The
    /// result is `None` if operations may begin at `_now`. Waiting operations wait until that time, and then the die asks again. The
    /// die has been idle since `_rests_since`.
    fn busy_until(&mut self, _rests_since: TimeNs, _now: TimeNs, _counters: &mut C) -> Option<TimeNs> {
        None
    }

    /// Returns the time that the mechanism (an optional behaviour of an SSD, such as read retries) adds to a host read, in
    /// nanoseconds. The die asks when its flash array begins to read the page. Without the mechanism, the flash array takes
    /// `_array_ns`. `_page` is the number of the flash page in the SSD, and `_erases` is the number of erases of its block. The
    /// mechanism counts its effects in `_counters`.
    fn extra_cell_read_ns(&mut self, _page: u64, _erases: u32, _array_ns: u64, _counters: &mut C) -> u64 {
        0
    }
}

/// Defines all types that know every mechanism, from the list of mechanisms.
macro_rules! mechanisms {
    ($($(#[$doc:meta])* $table:ident: $Type:ident;)*) => {
        $(
            mod $table;
            pub use $table::$Type;
        )*

        /// The tables of `[ssd]` for mechanisms: optional behaviour that takes time of the dies, such as background work and read
        /// retries. Every kind of device may have them.
        #[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
        pub struct DieDelayMechanisms {
            $(
                $(#[$doc])*
                #[serde(default, skip_serializing_if = "Option::is_none")]
                pub $table: Option<$Type>,
            )*
        }

        counts! {
            /// Counters of the optional mechanisms of one member. A mechanism is an effect that takes time of the dies, such as read
            /// retries.
            pub struct DieDelayMechanismCounters {
                $(
                    #[doc = concat!("Counters of the mechanism that `[ssd.", stringify!($table), "]` sets.")]
                    $table: <$Type as DieDelayMechanism>::Counters,
                )*
            }
        }

        /// State that the mechanisms of a member (such as background work and read retries) keep for one die, and their counters there.
        #[derive(Debug, Clone)]
        pub(in crate::ssd) struct AtDie {
            pub counters: DieDelayMechanismCounters,
            $($table: Option<<$Type as DieDelayMechanism>::AtDie>,)*
        }

        #[allow(unused_variables, reason = "the list may be empty")]
        impl AtDie {
            /// Returns the state that the mechanisms of a member keep for one die, as it is at the start of a run. A mechanism is
            /// optional behaviour of an SSD, such as background work or read retries. The result is `None` if the member has none.
            pub fn new(mechanisms: &DieDelayMechanisms, seed: u64, member: MemberId, die: DieId) -> Option<Box<Self>> {
                let at_die = || Self {
                    counters: DieDelayMechanismCounters::default(),
                    $($table: mechanisms.$table.as_ref().map(|mechanism| mechanism.new_die_state(seed, member, die)),)*
                };
                (!mechanisms.is_empty()).then(|| Box::new(at_die()))
            }

            /// Returns true if a mechanism (optional behaviour, such as background work) is due at `now`. It then occupies the die as
            /// soon as the die's current work ends.
            pub fn has_delay_mechanism_due(&self, now: TimeNs) -> bool {
                false $(|| self.$table.as_ref().is_some_and(|at_die| at_die.is_due(now)))*
            }

            /// Tells all mechanisms (optional behaviour of an SSD, such as background work or read retries) that the die was idle from
            /// `idle_since` until `now`. The collection of a block begins at `now`, and no mechanism can delay it.
            pub fn idle_period_ended(&mut self, idle_since: TimeNs, now: TimeNs) {
                $(
                    if let Some(at_die) = &mut self.$table {
                        at_die.idle_period_ended(idle_since, now);
                    }
                )*
            }

            /// Returns the time until which mechanisms (optional behaviour, such as background work) occupy the die. If several do, it
            /// is the latest of their times. The result is `None` if operations may begin at `now`.
            ///
            /// The die has been idle since `idle_since`, which is `now` if the die has just worked. A mechanism may have begun to
            /// occupy the die during this idle time.
            pub fn occupied_by_delay_mechanisms_until(&mut self, idle_since: TimeNs, now: TimeNs) -> Option<TimeNs> {
                let counters = &mut self.counters;
                let holds: [Option<TimeNs>; _] =
                    [$(self.$table.as_mut().and_then(|at_die| at_die.busy_until(idle_since, now, &mut counters.$table))),*];
                holds.into_iter().flatten().max()
            }

            /// Returns the time that all mechanisms (optional behaviour, such as read retries) add to a read of the flash array for the
            /// host, in nanoseconds. It is the sum of [`DelayMechanismStateOfDie::extra_cell_read_ns`].
            pub fn read_ns_added_by_delay_mechanisms(&mut self, page: u64, erases: u32, array_ns: u64) -> u64 {
                let counters = &mut self.counters;
                0 $(+ self.$table.as_mut().map_or(0, |at_die| at_die.extra_cell_read_ns(page, erases, array_ns, &mut counters.$table)))*
            }
        }

        #[allow(unused_variables, unused_mut, reason = "the list may be empty")]
        impl DieDelayMechanisms {
            /// Returns true if the device has no mechanisms, such as background work or read retries.
            #[must_use]
            pub fn is_empty(&self) -> bool {
                true $(&& self.$table.is_none())*
            }

            /// Returns the mistakes in the settings of all mechanisms, such as contradictions between two settings. Each mistake comes
            /// with the name of the mechanism's table in `[ssd]`. A mechanism is optional behaviour of an SSD, such as background work
            /// or read retries.
            #[must_use]
            pub fn problems(&self) -> Vec<(&'static str, ParameterProblem)> {
                let mut problems = Vec::new();
                $(
                    let of_table = self.$table.iter().flat_map(DieDelayMechanism::problems);
                    problems.extend(of_table.map(|problem| (stringify!($table), problem)));
                )*
                problems
            }

            /// Returns a random choice of mechanisms (optional behaviour of an SSD, such as read retries) with random settings. It is
            /// for tests in which an operation of a die takes about `operation_ns`.
            #[must_use]
            pub fn random_for_tests(stream: &mut RandomStream, operation_ns: u64) -> Self {
                Self { $($table: (rng::below(stream, 2) == 0).then(|| $Type::random_for_tests(stream, operation_ns)),)* }
            }

            /// Returns the counters of all mechanisms that the device has, as reports show them.
            #[must_use]
            pub fn counter_tables(&self, counters: &DieDelayMechanismCounters) -> Vec<CounterTable> {
                let has = [$(self.$table.is_some()),*];
                counters.counter_tables().into_iter().zip(has).filter(|(_, has)| *has).map(|(table, _)| table).collect()
            }
        }

        impl DieDelayMechanismCounters {
            /// Returns the counters of all mechanisms, as reports show them. Mechanisms that the member does not have are included.
            #[must_use]
            pub fn counter_tables(&self) -> Vec<CounterTable> {
                vec![$(self.$table.table(stringify!($table))),*]
            }
        }
    };
}

mechanisms! {
    /// Occasional background work inside a die, such as calibration, for which operations wait; without this table there is none.
    background: BackgroundStallParams;
    /// Array reads that are repeated because a page has too many errors; without this table there are none.
    read_retry: ReadRetry;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_book_names_every_figure() {
        let book = include_str!("../../../../../docs/figures.md");
        for table in DieDelayMechanismCounters::default().counter_tables() {
            let rows = table.documentation_table_rows();
            assert!(book.contains(&rows), "docs/figures.md lacks the rows\n{rows}");
        }
    }
}

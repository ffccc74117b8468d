//! Counters of the parts of a drive that come before its dies: queues, processor cores and write buffer.

counts! {
    /// Counters of the queues, processor cores and write buffer of one member, since the end of its warm-up.
    pub struct FrontCounters {
        /// Number of commands. A command is the part of one array operation that goes to the drive at a time.
        commands,
        /// Number of commands that waited in a queue before the drive fetched them.
        fetch_waits,
        /// Sum of these waits, in nanoseconds.
        fetch_wait_ns: u128,
        /// Number of written units that replaced an older version in the buffer.
        overwritten,
        /// Number of pages read from the buffer.
        buffer_hits,
        /// Number of units that a trim removed from the buffer before they were programmed.
        dropped,
        /// Number of commands that waited for room in the buffer.
        room_waits,
        /// Sum of these waits, in nanoseconds.
        room_wait_ns: u128,
        /// Number of writes with "force unit access" that waited for their programs.
        forced_waits,
    }
}

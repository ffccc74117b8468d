//! Counters of a front.

counts! {
    /// Counts of what stands before the dies of a member, since the end of its warm-up.
    pub struct FrontCounters {
        /// Commands: what one operation of the array brings to the drive at a time.
        commands,
        /// Commands that waited in a queue until they were fetched.
        fetch_waits,
        /// Sum of these waits, in nanoseconds.
        fetch_wait_ns,
        /// Units of write commands that replaced one in the buffer.
        overwritten,
        /// Pages read from the buffer.
        buffer_hits,
        /// Units that a trim took out of the buffer before they were programmed.
        dropped,
        /// Commands that waited for room in the buffer.
        room_waits,
        /// Sum of these waits, in nanoseconds.
        room_wait_ns,
        /// Writes with "force unit access" that waited for their programs.
        forced_waits,
    }
}

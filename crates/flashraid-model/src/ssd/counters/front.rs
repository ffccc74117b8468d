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
        units_overwritten_in_buffer,
        /// Number of pages read from the buffer.
        pages_read_from_buffer,
        /// Number of units that a trim removed from the buffer before they were programmed.
        units_trimmed_in_buffer,
        /// Number of commands that waited for room in the buffer.
        buffer_room_waits,
        /// Sum of these waits, in nanoseconds.
        buffer_room_wait_ns: u128,
        /// Number of writes with "force unit access" that waited for their programs.
        fua_write_waits,
    }
}

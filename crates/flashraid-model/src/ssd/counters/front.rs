//! Counters of the parts of a drive that come before its dies: queues, processor cores and write buffer.

counts! {
    /// Counters of the queues, processor cores and write buffer of one member, since the end of its warm-up.
    pub struct FrontEndCounters {
        /// Number of commands that the drive received. All pages that one operation of the array sends to a drive at a time form one
        /// command.
        commands,
        /// Number of commands that waited in a queue before the drive fetched them.
        fetch_waits,
        /// Total time that commands waited in a queue before the drive fetched them, in nanoseconds.
        fetch_wait_ns: u128,
        /// Number of written units that replaced an older version in the buffer.
        units_overwritten_in_buffer,
        /// Number of pages read from the buffer.
        pages_read_from_buffer,
        /// Number of units that a trim removed from the buffer before they were programmed.
        units_trimmed_in_buffer,
        /// Number of write commands that waited for room in the buffer.
        buffer_room_waits,
        /// Total time that write commands waited for room in the buffer, in nanoseconds.
        buffer_room_wait_ns: u128,
        /// Number of writes with "force unit access" that waited for their programs.
        fua_write_waits,
    }
}

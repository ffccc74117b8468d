//! Tests of the C library: its header, its calls, and the C programs that use it.

mod calls;
mod header;
mod programs;

//! Parity, locks, failure and rebuilding on tiny arrays, with exact times (rules 50 to 67).

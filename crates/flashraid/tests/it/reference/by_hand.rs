//! The reference itself, held against small examples worked out by hand.

//! Drives with superblocks (section 24 of the rules): a second, plain implementation, and the model held against it on random cases.

mod agreement;
mod reference;

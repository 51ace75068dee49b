//! The terminal: what it says, what is written to it, and how it is left.

pub(crate) mod cells;
pub(crate) mod decoder;
pub(crate) mod device;
pub(crate) mod key;
pub(crate) mod modes;
pub(crate) mod printer;

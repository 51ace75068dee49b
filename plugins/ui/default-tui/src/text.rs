//! Text made ready for a terminal: escaped, measured, styled, wrapped.

pub(crate) mod escape;
pub(crate) mod row;
pub(crate) mod width;
pub(crate) mod wrap;

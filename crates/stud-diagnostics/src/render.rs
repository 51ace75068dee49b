//! The faces of a diagnostic: a block for a person, a line for a log, JSON for a program.

mod concise;
mod json;
#[cfg(feature = "render")]
mod excerpt;
#[cfg(feature = "render")]
mod full;

pub use concise::concise;
#[cfg(feature = "render")]
pub use full::{Color, full};
pub use json::json;

/// The longest message, note or help shown to a person, in characters.
const TEXT_LIMIT: usize = 1000;

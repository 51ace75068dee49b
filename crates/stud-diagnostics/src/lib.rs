//! What stud says when something is wrong.
//!
//! Every refusal is a [`Code`] inside one of eight [`Class`]es, written `Class/Code`.
//! A code has a page, shown by `stud explain`.
//! A diagnostic is data first; terminal text and JSON are renderers over the same data.
//!
//! Without features this crate is names and one-line summaries, small enough for a plugin to link.
//! `pages` adds the page texts, `diagnostic` the `Diagnostic` type, `render` the full renderer
//! and the search behind `stud explain`.
#![forbid(unsafe_code)]

mod class;
mod stage;
mod code;
pub mod codes;
mod printable;
#[cfg(feature = "diagnostic")]
mod json;
#[cfg(feature = "diagnostic")]
mod source;
#[cfg(feature = "diagnostic")]
mod diagnostic;
#[cfg(feature = "diagnostic")]
pub mod render;
#[cfg(feature = "render")]
pub mod explain;

pub use class::{Class, UnknownClass};
pub use code::Code;
#[cfg(feature = "diagnostic")]
pub use diagnostic::{Body, Diagnostic, Severity};
pub use printable::{printable, printable_exact, printable_text, printable_within};
#[cfg(feature = "diagnostic")]
pub use source::{Label, Source};
pub use stage::{Stage, UnknownStage};

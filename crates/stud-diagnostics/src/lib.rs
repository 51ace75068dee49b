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

mod class; // The eight error classes.
mod stage; // The twelve stages of a plugin.
mod code; // One code: class, name, page.
pub mod codes; // The registry of all codes.
mod printable; // Text made safe to show on a terminal.
#[cfg(feature = "diagnostic")]
mod json; // Places in JSON text.
#[cfg(feature = "diagnostic")]
mod source; // A piece of a file that a diagnostic points at.
#[cfg(feature = "diagnostic")]
mod diagnostic; // One problem, as plain data.
#[cfg(feature = "diagnostic")]
pub mod render; // A diagnostic as a block, a line or JSON.
#[cfg(feature = "render")]
pub mod explain; // The search behind `stud explain`.

pub use class::{Class, UnknownClass};
pub use code::Code;
#[cfg(feature = "diagnostic")]
pub use diagnostic::{Body, Diagnostic, Severity};
pub use printable::{printable, printable_exact, printable_text, printable_within};
#[cfg(feature = "diagnostic")]
pub use source::{Label, Source};
pub use stage::{Stage, UnknownStage};

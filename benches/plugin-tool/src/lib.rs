//! A tool that gives back what it gets.
#![forbid(unsafe_code)]

use stud_sdk::tool::{Args, tool};

/// What to give back.
#[derive(Args)]
struct Input {
    /// Any text.
    text: String,
}

/// Gives the text back.
#[tool(id = "bench-plugin", name = "repeat", gated = false)]
fn repeat(input: Input) -> String {
    input.text
}

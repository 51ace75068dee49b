//! The attributes write `unsafe` attributes, and a plugin may forbid unsafe code all the same.
#![forbid(unsafe_code)]
#![deny(warnings, missing_docs, unreachable_pub)]

use stud_sdk::prelude::*;

#[derive(Args)]
struct Input {
    /// The file to count.
    path: String,
}

/// Counts the lines of a file.
#[tool]
fn line_count(input: Input) -> Result<Output, Error> {
    let text = std::fs::read_to_string(&input.path).map_err(Error::not_found)?;
    Ok(Output::text(format!("{} lines", text.lines().count())))
}

fn main() {
    assert!(!stud_plugin().section.is_empty());
}

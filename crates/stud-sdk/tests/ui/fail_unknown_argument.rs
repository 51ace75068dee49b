use stud_sdk::prelude::*;

/// Counts the lines of a file.
#[tool(part, gatd = false)]
fn line_count() -> String {
    String::new()
}

fn main() {}

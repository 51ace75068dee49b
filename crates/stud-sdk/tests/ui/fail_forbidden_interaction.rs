use stud_sdk::prelude::*;

/// Asks what only commands may.
#[tool(interactions("Confirm"))]
fn nosy() -> String {
    String::new()
}

fn main() {}

use stud_sdk::prelude::*;

/// Has nothing to set up.
#[tool(init = start)]
fn stateless() -> String {
    String::new()
}

fn main() {}

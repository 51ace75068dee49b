use stud_sdk::prelude::*;

#[tool]
fn line_count() -> String {
    String::new()
}

fn main() {}

use stud_sdk::prelude::*;

#[derive(Args)]
struct Input {
    path: String,
}

fn main() {}

use stud_sdk::prelude::*;

/// Has nothing to do.
#[ui]
struct Idle;

fn main() {}

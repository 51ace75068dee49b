//! Small pieces of schemas, chosen while a plugin compiles.

use stud_abi::section::{Json, Piece};

use crate::schema::Args;
pub use crate::schema::pieces::{comma, description_key, description_text, minimum};

/// The schema of arguments. That they are arguments is the first thing checked, so that its message comes alone.
pub const fn of_args<T: Args>() -> Json {
    T::SCHEMA
}

/// The chosen texts of a list. Each comes in two forms, with and without the comma before it.
pub const fn select<const N: usize>(items: [(&'static str, &'static str, bool); N]) -> [Piece; N] {
    let mut pieces = [Piece::Raw(""); N];
    let mut any = false;
    let mut index = 0;
    while index < N {
        let (first, later, chosen) = items[index];
        if chosen {
            pieces[index] = Piece::Raw(if any { later } else { first });
            any = true;
        }
        index += 1;
    }
    pieces
}

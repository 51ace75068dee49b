//! Small pieces of schemas, chosen while a plugin compiles.

use stud_abi::section::{Json, Piece, json_len};

/// The name of the `description` member, if there is one.
pub const fn description_key(text: &'static str) -> Piece {
    Piece::Raw(if text.is_empty() {
        ""
    } else {
        "\"description\":"
    })
}

/// The value of the `description` member, if there is one.
pub const fn description_text(text: &'static str) -> Piece {
    if text.is_empty() {
        Piece::Raw("")
    } else {
        Piece::Text(text)
    }
}

/// A comma between a description and a body, if both are there.
pub const fn comma(description: &str, body: Json) -> Piece {
    let both = !description.is_empty() && json_len(body) > 0;
    Piece::Raw(if both { "," } else { "" })
}

/// The `minimum` of an unsigned number, with the comma before it.
pub const fn minimum(unsigned: bool) -> Piece {
    Piece::Raw(if unsigned { ",\"minimum\":0" } else { "" })
}

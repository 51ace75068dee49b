//! `bench abi`: calls across the boundary, loading, and building a minimal plugin.

mod build;
mod calls;
mod loading;

use std::process::ExitCode;

use crate::table::{self, Row};

pub(crate) use loading::start_here;

/// Measures everything, or the calls alone, which take seconds and not minutes.
pub(crate) fn run(calls_alone: bool, write: bool) -> ExitCode {
    let mut rows = calls::rows();
    if calls_alone {
        return table::conclude("abi", &rows, /*write*/ false);
    }
    // What `stud plugin new` makes is what people load, so the library built for one part serves the other.
    match build::minimal() {
        Ok(minimal) => {
            rows.extend(loading::rows(&minimal.library));
            rows.extend(minimal.rows());
        }
        Err(why) => rows.push(Row::limit(
            &format!("a minimal plugin builds ({why})"),
            1.0,
            0.0,
            "failure",
        )),
    }
    table::conclude("abi", &rows, write)
}

//! What stud costs, measured as ratios in one run.
//!
//! `cargo xtask bench abi` prints the table; with `--write` it also goes into `docs/performance.md`.
#![forbid(unsafe_code)]
#![expect(clippy::print_stdout, reason = "the table is what this program is for")]

mod measure;
mod table;
mod abi;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["start", root, count] => abi::start_here(root, count),
        ["abi", rest @ ..] => abi::run(rest.contains(&"calls"), rest.contains(&"--write")),
        _ => {
            println!("usage: cargo xtask bench abi [calls | --write]");
            ExitCode::from(2)
        }
    }
}

//! Prints what the crates declare as one JSON object: `contracts` for the locks of the contracts, `pages` for the files
//! that are generated from declarations, each by its path.
#![forbid(unsafe_code)]
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "printing is what it is for"
)]

mod sender; // Who sends a payload.
mod contracts; // What the contract crates declare.
mod payload; // Payloads as tables of Markdown.
mod pages; // The generated files.

use std::process::ExitCode;

fn main() -> ExitCode {
    let wanted = std::env::args().nth(1).unwrap_or_default();
    let declared = match wanted.as_str() {
        "contracts" => contracts::contracts(),
        "pages" => pages::pages(),
        _ => {
            eprintln!("usage: declarations contracts|pages");
            return ExitCode::from(2);
        }
    };
    println!("{declared}");
    ExitCode::SUCCESS
}

//! What stud costs, measured as ratios in one run.
//!
//! `cargo xtask bench abi`, `… core` and `… turn` each print a table; with `--write` it also goes into
//! `docs/performance.md`.
#![forbid(unsafe_code)]
#![expect(clippy::print_stdout, reason = "the table is what this program is for")]

mod measure;
mod table;
mod home;
mod abi;
mod core;
mod turn;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        // What a benchmark has to do in a process of its own.
        ["start", root, count] => abi::start_here(root, count),
        ["write", root, mib] => core::write_here(root, mib),
        ["open", root, id] => core::open_here(root, id),
        ["idle", root, count] => core::stay_idle_here(root, count),
        ["floor", port] => turn::go_round_here(port),
        ["abi", rest @ ..] => abi::run(rest.contains(&"calls"), rest.contains(&"--write")),
        ["core", "--write"] => core::run(&[], true),
        ["core", parts @ ..] if parts.iter().all(|part| core::has(part)) => core::run(parts, false),
        ["turn"] => turn::run(false),
        ["turn", "--write"] => turn::run(true),
        _ => {
            println!("usage: cargo xtask bench abi [calls | --write]");
            println!(
                "       cargo xtask bench core [(events | prompts | transcript | idle)… | --write]"
            );
            println!("       cargo xtask bench turn [--write]");
            ExitCode::from(2)
        }
    }
}

//! `stud completions`: what a shell needs to complete words of `stud`.

use clap::CommandFactory as _;
use clap_complete::Shell;

use crate::cli::Cli;
use crate::output::{Outcome, Output};

pub(crate) fn run(shell: Shell, output: &Output) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "stud", &mut script);
    output.line(String::from_utf8_lossy(&script).trim_end());
    Outcome::Done
}

//! The page of the error codes.

use stud_diagnostics::{Class, codes};

use super::line;
use crate::payload::cell;

const OPENING: &str = "\
# Errors

Every `Class/Code` with its summary. The class says what a program should do next, the code what happened.
This page is generated from `crates/stud-diagnostics/src/codes.rs`; change that, and run `cargo xtask codegen`.

Each code links to its page, which `stud explain CODE` prints.
";

pub(super) fn page() -> String {
    let mut page = OPENING.to_owned();
    for class in Class::ALL {
        line(&mut page, format_args!("\n## `{class}`\n"));
        line(
            &mut page,
            format_args!("| Code | Summary | Since |\n|---|---|---|"),
        );
        for code in codes::ALL.iter().filter(|code| code.class == class) {
            let (name, summary, since) = (code.name, cell(code.summary), code.since);
            let link = format!("../../crates/stud-diagnostics/pages/{class}/{name}.md");
            line(
                &mut page,
                format_args!("| [`{name}`]({link}) | {summary} | {since} |"),
            );
        }
    }
    page
}

//! Ties an error code to the test that observes it.
//!
//! Most codes are reached by a command line, and `tests/errors` runs the example of their page.
//! A code that only a test can bring about is observed with [`covers!`]: the macro fails unless the error has that code,
//! compares its text with the example of the code's page, and records the observation for `cargo xtask test`, which
//! fails when a code was never observed.
#![forbid(unsafe_code)]

mod text;
pub mod campaign;
pub mod example;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use stud_diagnostics::Code;

#[doc(hidden)]
pub use stud_diagnostics::codes;

/// Names the folder in which observations are recorded; without it none are.
const RECORDS: &str = "STUD_OBSERVED";

/// Asserts that an error has a code of the registry, and that the code's page shows the error's text.
///
/// The first argument is the constant of the code, the second anything that displays the error: an `Error`, a
/// `Diagnostic`, the JSON of one, or what the program wrote to standard error.
/// Several texts of one code in one test are compared by the first.
/// `UPDATE=1` writes the text into the page instead of comparing it.
///
/// ```
/// use stud_observed::covers;
///
/// let stderr = "error[Validation/MCPServerConfigInvalid]: the id of an MCP server has only letters";
/// # let stderr = &stud_observed::example_of("Validation/MCPServerConfigInvalid");
/// covers!(MCP_SERVER_CONFIG_INVALID, stderr);
/// ```
#[macro_export]
macro_rules! covers {
    ($code:ident, $error:expr) => {
        $crate::observe(&$crate::codes::$code, &$error)
    };
}

/// What [`covers!`] calls.
///
/// # Panics
///
/// When the error has another code, its text is not the one on the page of the code, or the observation cannot be recorded.
#[track_caller]
#[expect(
    clippy::panic,
    reason = "an assertion: a test that observes another text must fail"
)]
pub fn observe(code: &Code, error: &dyn std::fmt::Display) {
    static SEEN: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let id = code.to_string();
    let said = error.to_string();
    let Some(headline) = text::headline(&id, &said) else {
        panic!("{id} was expected, and this was observed:\n{said}");
    };
    let is_first = SEEN
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .insert(id.clone());
    if !is_first {
        return;
    }
    if let Err(why) = example::compare(&id, &[headline], &[]) {
        panic!("{why}");
    }
    if let Err(error) = record(&id) {
        panic!("the observation of {id} cannot be recorded: {error}");
    }
}

/// One empty file for each observed code: tests run in processes of their own, in any order.
fn record(id: &str) -> std::io::Result<()> {
    let Some(folder) = std::env::var_os(RECORDS).map(PathBuf::from) else {
        return Ok(());
    };
    let file = folder.join(id);
    std::fs::create_dir_all(file.parent().unwrap_or(&folder))?;
    std::fs::write(file, "")
}

/// The first line that the page of a code shows of its error.
#[doc(hidden)]
pub fn example_of(id: &str) -> String {
    let page = example::read(id).unwrap_or_default();
    let lines = page.lines().map(str::trim_start);
    let marks = [format!("error[{id}]"), format!("warning[{id}]")];
    let mut shown = lines.filter(|line| marks.iter().any(|mark| line.starts_with(mark.as_str())));
    shown.next().unwrap_or_default().to_owned()
}

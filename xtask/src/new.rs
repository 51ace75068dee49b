//! `new`: lays out every file a change needs, and leaves the tests red.

mod error;

use crate::failure::{Failure, Outcome};
use crate::suggest;

/// Dispatches to what is to be made.
pub(crate) fn run(args: &[String]) -> Outcome {
    let usage = "as in `cargo xtask new error Class/Code \"What happened, in a sentence.\"`";
    match args {
        [kind, id, summary] if kind == "error" => error::run(id, summary),
        [kind, ..] if kind == "error" => Err(Failure::usage(format!(
            "`new error` takes a code and a summary, {usage}"
        ))),
        [kind, ..] => {
            let hint = suggest::hint(kind, ["error"]);
            Err(Failure::usage(format!(
                "`new` cannot make `{kind}`{hint}; it makes `error`, {usage}"
            )))
        }
        [] => Err(Failure::usage(format!("say what to make, {usage}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::run;
    use crate::failure::Failure;

    #[test]
    fn wrong_arguments_are_wrong_usage() {
        for args in [&[][..], &["plugin"], &["error"], &["error", "Session/A"]] {
            let args: Vec<String> = args.iter().map(|&arg| arg.to_owned()).collect();
            assert!(matches!(run(&args), Err(Failure::Usage(_))), "{args:?}");
        }
    }
}

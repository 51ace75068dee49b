//! `stud explain`: the page of a code.

use stud_diagnostics::explain::{self, Explanation};
use stud_diagnostics::{Class, Diagnostic, codes};

use crate::cli::Explain;
use crate::output::{Outcome, Output, Verdict};

pub(crate) fn run(asked: &Explain, output: &Output) -> Verdict {
    if let Some(class) = &asked.list {
        return list(class, output);
    }
    let code = asked.code.as_deref().unwrap_or_default();
    let found = explain::find(code).map_err(|unknown| {
        let diagnostic =
            Diagnostic::error(&codes::CODE_UNKNOWN, format!("there is no code `{code}`"))
                .with("asked", code);
        match unknown.did_you_mean() {
            Some(suggestion) => diagnostic.help(suggestion),
            None => diagnostic.help("`stud explain --list` shows them all"),
        }
    })?;
    if output.is_json() {
        output.document(&Explanation::from(found))?;
    } else {
        output.line(output.bold(&found.to_string()));
        output.line("");
        output.line(found.page.trim_end());
    }
    Ok(Outcome::Done)
}

fn list(class: &str, output: &Output) -> Verdict {
    let wanted = match class {
        "" => None,
        word => {
            let known = Class::ALL
                .into_iter()
                .find(|class| class.as_str().eq_ignore_ascii_case(word));
            Some(known.ok_or_else(|| {
                let classes = Class::ALL.map(Class::as_str).join(", ");
                Diagnostic::error(&codes::CODE_UNKNOWN, format!("there is no class `{word}`"))
                    .with("asked", word)
                    .help(format!("the classes are {classes}"))
            })?)
        }
    };
    let codes: Vec<_> = explain::list(wanted).collect();
    if output.is_json() {
        let all: Vec<_> = codes.into_iter().map(Explanation::from).collect();
        output.document(&serde_json::json!({ "codes": all }))?;
    } else {
        for code in codes {
            output.line(format!("{:<46} {}", code.to_string(), code.summary));
        }
    }
    Ok(Outcome::Done)
}

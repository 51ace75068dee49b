//! The headline of an error, from each of the forms in which tests see one.

use serde_json::Value;

/// The headline as the program prints it, or `None` if the text is about another code.
///
/// An error that has the code as its cause is printed under its own code.
pub(crate) fn headline(id: &str, said: &str) -> Option<String> {
    let text = find(id, said)?;
    Some(neutral(text.lines().next().unwrap_or_default()))
}

fn find(id: &str, said: &str) -> Option<String> {
    if let Ok(document) = serde_json::from_str::<Value>(said) {
        let word = |member: &str| document[member].as_str().unwrap_or_default();
        let own = format!("{}/{}", word("class"), word("code"));
        let is_it = own == id || document["context"]["cause"] == id;
        let severity = if document["severity"] == "warning" {
            "warning"
        } else {
            "error"
        };
        return is_it.then(|| format!("{severity}[{own}]: {}", word("message")));
    }
    for severity in ["error", "warning"] {
        let mark = format!("{severity}[{id}]");
        if let Some((_, rest)) = said.split_once(&mark) {
            let rest = rest.strip_prefix(':').unwrap_or(rest);
            return Some(format!("{mark}: {}", rest.trim_start_matches(' ')));
        }
    }
    let rest = said.strip_prefix(id)?.strip_prefix(": ")?;
    Some(format!("error[{id}]: {rest}"))
}

/// What differs from run to run is written the same: temporary folders, ids, ports and lines of source.
fn neutral(line: &str) -> String {
    let folder = std::env::temp_dir().display().to_string();
    let mut text = String::new();
    let mut rest = line;
    while let Some(at) = rest.find(&folder) {
        let after = &rest[at + folder.len()..];
        let Some(name) = after.strip_prefix("/.tmp") else {
            text.push_str(&rest[..at + folder.len()]);
            rest = after;
            continue;
        };
        let end = name
            .find(|c: char| !c.is_ascii_alphanumeric())
            .unwrap_or(name.len());
        text.push_str(&rest[..at]);
        text.push_str("<folder>");
        rest = &name[end..];
    }
    text.push_str(rest);
    // The home of a test's world.
    without_numbers(&text.replace("<folder>/home/", "~/.stud/"))
}

fn without_numbers(text: &str) -> String {
    let words: Vec<String> = text.split(' ').map(word).collect();
    words.join(" ")
}

fn word(word: &str) -> String {
    if let Some((file, rest)) = word.split_once(".rs:") {
        let end = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == ':');
        let colon = if rest.ends_with(':') { ":" } else { "" };
        return format!("{file}.rs:<line>{colon}{end}");
    }
    if let Some(rest) = word.strip_prefix("`127.0.0.1:") {
        let end = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        return format!("`127.0.0.1:<port>{end}");
    }
    let bare = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
    let is_id = bare.len() == 36 && bare.chars().all(|c| c.is_ascii_hexdigit() || c == '-');
    if is_id {
        word.replace(bare, "<id>")
    } else {
        word.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::headline;

    #[track_caller]
    fn check(said: &str, expected: &str) {
        assert_eq!(
            headline("Session/RecordNotFound", said).as_deref(),
            Some(expected)
        );
    }

    #[test]
    fn every_form_of_an_error_gives_the_same_headline() {
        let expected = "error[Session/RecordNotFound]: it is over";
        check("Session/RecordNotFound: it is over", expected);
        check(
            "one\nerror[Session/RecordNotFound]: it is over\n = help: x\n",
            expected,
        );
        check("a/b.so: error[Session/RecordNotFound] it is over", expected);
        check(
            r#"{"class": "Session", "code": "RecordNotFound", "message": "it is over"}"#,
            expected,
        );
    }

    #[test]
    fn another_code_has_no_headline() {
        for said in [
            "Session/RecordNotFound",
            concat!("Session/RecordNotFound", "Twice: it is over"),
            r#"{"class": "Session", "code": "Open", "message": "x"}"#,
        ] {
            assert_eq!(headline("Session/RecordNotFound", said), None, "{said}");
        }
    }

    #[test]
    fn what_differs_between_runs_is_written_the_same() {
        let folder = std::env::temp_dir();
        check(
            &format!(
                "Session/RecordNotFound: `{}/.tmpAb12Cd/x` by `0197a8c2-5d1e-7c3a-9b60-3f1f0d6f2a11` at src/a.rs:12:4: no",
                folder.display()
            ),
            "error[Session/RecordNotFound]: `<folder>/x` by `<id>` at src/a.rs:<line>: no",
        );
    }
}

//! Writing down in the settings what was chosen.

use std::path::Path;

use serde_json::Value;
use stud_diagnostics::Diagnostic;

use super::change::rewrite;

/// Sets members of `active` in the settings of a scope, and leaves everything else as it is, to the last blank.
///
/// The file is replaced as a whole and synced, so a crash leaves the old one or the new one. A file that cannot be read
/// as settings is not touched.
pub fn choose(root: &Path, chosen: &[(&str, &str)]) -> Result<(), Diagnostic> {
    rewrite(root, |text, _| {
        let chosen = chosen.iter();
        let text = chosen.fold(text.to_owned(), |text, (member, value)| {
            with_member(&text, &["active", member], value)
        });
        Ok((text, ()))
    })
}

/// A member of an object in JSON text: its name, and where its value stands.
struct Member {
    name: String,
    start: usize,
    end: usize,
}

/// The text with a value at a path of member names; objects that are missing on the way are added.
///
/// The text is JSON, an object, and every object on the path is one.
fn with_member(text: &str, path: &[&str], value: &str) -> String {
    let mut open = text.find('{').unwrap_or_default();
    for (depth, name) in path.iter().enumerate() {
        let rest = &path[depth + 1..];
        match members(text, open)
            .into_iter()
            .find(|member| member.name == *name)
        {
            Some(member) if rest.is_empty() => {
                let value = Value::from(value);
                return format!("{}{value}{}", &text[..member.start], &text[member.end..]);
            }
            Some(member) => open = member.start,
            None => return with_new_member(text, open, name, &nested(rest, value)),
        }
    }
    text.to_owned()
}

/// A value inside objects of one member each.
fn nested(path: &[&str], value: &str) -> Value {
    let innermost = Value::from(value);
    path.iter().rev().fold(innermost, |inner, name| {
        Value::Object([((*name).to_owned(), inner)].into_iter().collect())
    })
}

/// The text with one more member at the end of the object that opens at `open`.
fn with_new_member(text: &str, open: usize, name: &str, value: &Value) -> String {
    let name = Value::from(name);
    let (place, member) = match members(text, open).last() {
        // The blanks before the first member are those before every other.
        Some(last) => {
            let inside = &text[open + 1..];
            let blank = &inside[..inside.len() - inside.trim_start().len()];
            (last.end, format!(",{blank}{name}: {value}"))
        }
        None => (open + 1, format!("{name}: {value}")),
    };
    format!("{}{member}{}", &text[..place], &text[place..])
}

/// The members of the object that opens at `open`, in order.
fn members(text: &str, open: usize) -> Vec<Member> {
    let mut members = Vec::new();
    let mut at = open + 1;
    loop {
        at = skip_blanks(text, at);
        if text.as_bytes().get(at) == Some(&b',') {
            at = skip_blanks(text, at + 1);
        }
        if text.as_bytes().get(at) != Some(&b'"') {
            return members;
        }
        let name_end = value_end(text, at);
        let name = serde_json::from_str(&text[at..name_end]).unwrap_or_default();
        // Behind the colon.
        let start = skip_blanks(text, skip_blanks(text, name_end) + 1);
        at = value_end(text, start);
        members.push(Member {
            name,
            start,
            end: at,
        });
    }
}

fn skip_blanks(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    at + (rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len())
}

/// Where the value that begins at `start` ends.
fn value_end(text: &str, start: usize) -> usize {
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    for (offset, byte) in text.bytes().enumerate().skip(start) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => {
                quoted = !quoted;
                if !quoted && depth == 0 {
                    return offset + 1;
                }
            }
            _ if quoted => {}
            b'{' | b'[' => depth += 1,
            b'}' | b']' | b',' | b' ' | b'\n' | b'\r' | b'\t' if depth == 0 => return offset,
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return offset + 1;
                }
            }
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHOSEN: [(&str, &str); 2] = [("provider", "work"), ("model", "big")];

    fn after(before: &str) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("settings.json");
        std::fs::write(&path, before).unwrap();
        choose(folder.path(), &CHOSEN).unwrap();
        std::fs::read_to_string(path).unwrap()
    }

    #[test]
    fn everything_else_stays_as_it_is() {
        let before = "{\n  \"tools\": {\"b\": {\"x\": \"}, \\\"active\\\": {\"}, \"a\": {}},\n  \
            \"active\": { \"provider\": \"old\", \"sessionStore\": \"here\" },\n  \"env\": {}\n}\n";
        let expected = before
            .replace("\"old\"", "\"work\"")
            .replace("\"here\" }", "\"here\", \"model\": \"big\" }");
        assert_eq!(after(before), expected);
    }

    #[test]
    fn what_is_missing_is_added_at_the_end() {
        assert_eq!(
            after("{\"env\":{\"A\":\"1\"}}"),
            "{\"env\":{\"A\":\"1\"},\"active\": {\"provider\":\"work\",\"model\": \"big\"}}"
        );
        assert_eq!(
            after("{\n  \"env\": {}\n}\n"),
            "{\n  \"env\": {},\n  \"active\": {\"provider\":\"work\",\"model\": \"big\"}\n}\n"
        );
        assert_eq!(
            after(" {} "),
            " {\"active\": {\"provider\":\"work\",\"model\": \"big\"}} "
        );
    }

    #[test]
    fn a_name_that_is_escaped_is_the_same_name() {
        let before = r#"{"\u0061ctive":{"model":"x\"}y","provider":"z"}}"#;
        assert_eq!(
            after(before),
            r#"{"\u0061ctive":{"model":"big","provider":"work"}}"#
        );
    }

    #[test]
    fn a_missing_file_is_made() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("home");
        choose(&root, &CHOSEN).unwrap();
        let text = std::fs::read_to_string(root.join("settings.json")).unwrap();
        let value: Value = text.parse().unwrap();
        assert_eq!(
            value,
            serde_json::json!({"active": {"provider": "work", "model": "big"}})
        );
    }

    #[test]
    fn a_file_that_is_no_settings_is_not_touched() {
        for broken in [
            "{",
            "[]",
            r#"{"active":[]}"#,
            r#"{"nonsense":{}}"#,
            "{\"a\":1,}",
        ] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("settings.json");
            std::fs::write(&path, broken).unwrap();
            choose(folder.path(), &CHOSEN).unwrap_err();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), broken);
        }
    }

    #[test]
    fn a_link_stays_a_link_and_a_mode_stays_a_mode() {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let folder = tempfile::tempdir().unwrap();
        let elsewhere = folder.path().join("dotfiles.json");
        std::fs::write(&elsewhere, "{}").unwrap();
        std::fs::set_permissions(&elsewhere, std::fs::Permissions::from_mode(0o640)).unwrap();
        let root = folder.path().join("home");
        std::fs::create_dir(&root).unwrap();
        std::os::unix::fs::symlink(&elsewhere, root.join("settings.json")).unwrap();
        choose(&root, &CHOSEN).unwrap();
        assert!(root.join("settings.json").is_symlink());
        assert_eq!(mode(&elsewhere), 0o640);
        assert!(std::fs::read_to_string(&elsewhere).unwrap().contains("big"));
    }
}

//! Stages as Markdown files: the front matter is the stage, what follows it is its body.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::fault::Fault;
use super::front_matter::Document;

/// The members of a stage that the front matter has.
const REQUIRED: [&str; 8] = [
    "id",
    "name",
    "allowedTools",
    "completionTool",
    "completionSchema",
    "retryPolicy",
    "turnCap",
    "resolutionPolicy",
];

/// The member that may be left out: the names that the body uses.
const CONTEXT: &str = "context";

const POLICIES: [&str; 3] = ["retry-later", "skip", "fail"];

/// The Markdown files of a folder, in byte order of their names.
pub(super) fn files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries =
        std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut files = Vec::new();
    for entry in entries {
        let path = entry
            .map_err(|error| format!("{}: {error}", folder.display()))?
            .path();
        if path.extension().is_some_and(|extension| extension == "md") {
            files.push(path);
        }
    }
    files.sort();
    if files.is_empty() {
        return Err(format!(
            "{}: there is no `.md` file in it",
            folder.display()
        ));
    }
    Ok(files)
}

/// One stage, from the text of its file.
pub(super) fn stage(text: &str) -> Result<Value, Fault> {
    let document = Document::parse(text)?;
    let members = &document.members;
    let wrong = |member: &str, problem: String| Fault {
        line: document.line_of(member),
        problem: format!("`{member}` {problem}"),
    };
    let known = |name: &str| REQUIRED.contains(&name) || name == CONTEXT;
    if let Some(unknown) = members.keys().find(|name| !known(name)) {
        let all = REQUIRED.join("`, `");
        return Err(wrong(
            unknown,
            format!("is not a member of a stage; there are `{all}` and `{CONTEXT}`"),
        ));
    }
    if let Some(missing) = REQUIRED.iter().find(|name| !members.contains_key(**name)) {
        return Err(wrong(missing, "is missing".to_owned()));
    }
    check(members).map_err(|(member, problem)| wrong(member, problem))?;
    let used = references(&document.body);
    let context = match members.get(CONTEXT) {
        None => json!(used),
        Some(declared) => {
            let is_there = |name: &String| {
                let declared = declared.as_array().into_iter().flatten();
                declared.clone().any(|other| other == name.as_str())
            };
            if let Some(missing) = used.iter().find(|name| !is_there(name)) {
                let problem = format!("does not have `{missing}`, which the body uses");
                return Err(wrong(CONTEXT, problem));
            }
            declared.clone()
        }
    };
    let mut stage = members.clone();
    stage.insert("body".to_owned(), document.body.into());
    stage.insert(CONTEXT.to_owned(), context);
    Ok(Value::Object(stage))
}

fn check(members: &Map<String, Value>) -> Result<(), (&'static str, String)> {
    let text = |member: &'static str| match members[member].as_str() {
        Some(text) if !text.trim().is_empty() => Ok(text),
        _ => Err((member, "is not a text".to_owned())),
    };
    let id = text("id")?;
    let is_kebab = id.split('-').all(|part| {
        !part.is_empty()
            && part
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    });
    if !is_kebab {
        return Err((
            "id",
            format!("is `{id}`, which is not kebab-case, such as `join-review`"),
        ));
    }
    text("name")?;
    text("completionTool")?;
    for member in ["allowedTools", CONTEXT] {
        let is_list = |value: &Value| {
            let items = value.as_array();
            items.is_some_and(|items| items.iter().all(Value::is_string))
        };
        if members.get(member).is_some_and(|value| !is_list(value)) {
            let member = if member == CONTEXT {
                CONTEXT
            } else {
                "allowedTools"
            };
            return Err((member, "is not a list of names".to_owned()));
        }
    }
    if !members["completionSchema"].is_object() {
        return Err((
            "completionSchema",
            "is not a JSON Schema: a mapping".to_owned(),
        ));
    }
    if members["turnCap"].as_u64().is_none_or(|cap| cap == 0) {
        return Err(("turnCap", "is not a whole number of at least 1".to_owned()));
    }
    let policy = text("resolutionPolicy")?;
    if !POLICIES.contains(&policy) {
        let all = POLICIES.join("`, `");
        return Err((
            "resolutionPolicy",
            format!("is `{policy}` and not one of `{all}`"),
        ));
    }
    check_retries(&members["retryPolicy"]).map_err(|problem| ("retryPolicy", problem))
}

fn check_retries(policy: &Value) -> Result<(), String> {
    let Some(members) = policy.as_object() else {
        return Err("is not a mapping with `maxAttempts` and `backoff`".to_owned());
    };
    let unknown = members
        .keys()
        .find(|name| *name != "maxAttempts" && *name != "backoff");
    if let Some(unknown) = unknown {
        return Err(format!(
            "has `{unknown}`; it has `maxAttempts` and `backoff`"
        ));
    }
    if policy["maxAttempts"]
        .as_u64()
        .is_none_or(|attempts| attempts == 0)
    {
        return Err("has no `maxAttempts` that is a whole number of at least 1".to_owned());
    }
    let backoff = &policy["backoff"];
    let has = |member: &str| backoff[member].is_u64();
    let is_known = match (backoff.as_str(), backoff["kind"].as_str()) {
        (Some("none"), _) => true,
        (None, Some("fixed")) => has("ms"),
        (None, Some("exponential")) => has("ms") && has("maxMs"),
        _ => false,
    };
    if is_known {
        return Ok(());
    }
    Err("has no `backoff` that is `none`, `{kind: fixed, ms: 100}` or `{kind: exponential, ms: 100, maxMs: 5000}`".to_owned())
}

/// The names that a body uses as `{{ctx.name}}`, each once, in the order they first appear.
fn references(body: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let mut rest = body;
    while let Some(start) = rest.find("{{") {
        rest = &rest[start..];
        let name = rest[2..]
            .split_once("}}")
            .and_then(|(inside, _)| inside.trim_matches(' ').strip_prefix("ctx."));
        let is_name = |name: &str| {
            let mut bytes = name.bytes();
            !name.is_empty() && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        };
        match name.filter(|name| is_name(name)) {
            Some(name) => {
                if names.iter().all(|known| known != name) {
                    names.push(name.to_owned());
                }
                rest = &rest[2..];
            }
            None => rest = &rest[1..],
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: &str = "---\n\
        id: plan\n\
        name: Plan\n\
        allowedTools: [read, list]\n\
        completionTool: submit_plan\n\
        completionSchema:\n  type: object\n  required: [steps]\n\
        retryPolicy: {maxAttempts: 2, backoff: none}\n\
        turnCap: 8\n\
        resolutionPolicy: retry-later\n\
        ---\n\
        Plan {{ctx.input}} for {{ctx.who}}, {{ctx.input}}.\n";

    #[test]
    fn a_file_is_a_stage() {
        assert_eq!(
            stage(PLAN).unwrap(),
            json!({
                "id": "plan",
                "name": "Plan",
                "body": "Plan {{ctx.input}} for {{ctx.who}}, {{ctx.input}}.",
                "context": ["input", "who"],
                "allowedTools": ["read", "list"],
                "completionTool": "submit_plan",
                "completionSchema": {"type": "object", "required": ["steps"]},
                "retryPolicy": {"maxAttempts": 2, "backoff": "none"},
                "turnCap": 8,
                "resolutionPolicy": "retry-later",
            })
        );
    }

    #[test]
    fn each_fault_has_its_line_and_its_key() {
        for (old, new, line, says) in [
            (
                "turnCap: 8",
                "turnCap: 0",
                10,
                "`turnCap` is not a whole number",
            ),
            ("turnCap: 8\n", "", 1, "`turnCap` is missing"),
            ("turnCap: 8", "turncap: 8", 10, "`turncap` is not a member"),
            ("id: plan", "id: Plan It", 2, "`id` is `Plan It`"),
            ("[read, list]", "read", 4, "`allowedTools` is not a list"),
            ("[read, list]", "[read, list", 4, "not closed"),
            ("retry-later", "later", 11, "`resolutionPolicy` is `later`"),
            (
                "backoff: none",
                "backoff: soon",
                9,
                "`retryPolicy` has no `backoff`",
            ),
            (
                "maxAttempts: 2",
                "maxAttempts: no",
                9,
                "`retryPolicy` has no `maxAttempts`",
            ),
            (
                "turnCap: 8",
                "turnCap: 8\ncontext: [who]",
                11,
                "`context` does not have `input`",
            ),
            (
                "completionSchema:\n  type: object\n  required: [steps]\n",
                "completionSchema: yes\n",
                6,
                "`completionSchema` is not",
            ),
        ] {
            let text = PLAN.replace(old, new);
            assert_ne!(text, PLAN, "{old}");
            let wrong = stage(&text).unwrap_err();
            assert_eq!(wrong.line, line, "{new}: {wrong:?}");
            assert!(wrong.problem.contains(says), "{new}: {wrong:?}");
        }
    }

    #[test]
    fn references_are_those_that_core_fills_in() {
        for (body, names) in [
            ("{{ctx.b}}{{ctx.a}}{{ctx.b}}", vec!["b", "a"]),
            ("{{ ctx.a_1 }} {{{ctx.c}}}", vec!["a_1", "c"]),
            ("{{ {{ctx.a}}", vec!["a"]),
            ("{{env.HOME}} {{ctx.}} {{ctx.a-b}} {{ctx.a}", vec![]),
        ] {
            assert_eq!(references(body), names, "{body}");
        }
    }
}

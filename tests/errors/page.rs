//! The example of a code's page is part of its first case: what it shows is laid out, run and compared.

use std::path::Path;

use serde_json::{Value, json};
use stud_observed::example::{self, Block};
use stud_tests::Answer;

use crate::case::{Case, Change, File, Set};
use crate::verify;

/// How the page calls the library that a case is about.
pub(crate) const LIBRARY: &str = "libplugin.so";

/// Adds what the example shows to the case: members of the manifest, files and the command line.
pub(crate) fn apply(case: &mut Case, id: &str) -> Result<(), String> {
    let page = example::read(id).map_err(|error| format!("the page of {id}: {error}"))?;
    let blocks = example::blocks(&page);
    for block in blocks.iter().filter(|block| !block.is_output()) {
        add(case, block).map_err(|why| format!("the page of {id}: {why}"))?;
    }
    let shown = blocks.iter().find(|block| block.is_output());
    let command = shown.and_then(Block::command);
    if command
        .as_deref()
        .is_some_and(|words| *words != usual(case))
    {
        case.command = command;
    }
    Ok(())
}

/// The command line of a case that names none.
pub(crate) fn usual(case: &Case) -> Vec<String> {
    let words: &[&str] = if verify::is_list(case) {
        &["plugin", "list"]
    } else {
        &["plugin", "check", LIBRARY]
    };
    words.iter().map(|&word| word.to_owned()).collect()
}

fn add(case: &mut Case, block: &Block) -> Result<(), String> {
    let json = || -> Result<Value, String> {
        serde_json::from_str(&block.text).map_err(|error| format!("{error} in\n{}", block.text))
    };
    let caption = block.caption.as_str();
    if caption == "In the manifest:" {
        let Value::Object(members) = json()? else {
            return Err("what stands in the manifest is an object".to_owned());
        };
        for (member, value) in members {
            let at = format!("/{}", member.replace('~', "~0").replace('/', "~1"));
            case.set.push(Set { at, value });
        }
    } else if let Some(at) = between(caption, "In the manifest, at `", "`:") {
        let at = at.to_owned();
        case.set.push(Set { at, value: json()? });
    } else if caption == "The manifest is this text:" {
        let text = block.text.clone();
        case.library.push(Change::Manifest { text });
    } else if caption == "The plugin calls the host:" {
        call(case, &block.text)?;
    } else if caption == "`config.json` beside the library:" {
        case.files.push(file("library/config.json", block));
    } else if let Some(path) = between(caption, "`~/.stud/", "`:") {
        case.files.push(file(&format!("home/{path}"), block));
    } else if let Some(path) = between(caption, "`", "`:") {
        case.files.push(file(&format!("project/{path}"), block));
    }
    Ok(())
}

/// Has the fixture of the case call the host, written `service.operation(argument, …)`.
fn call(case: &mut Case, text: &str) -> Result<(), String> {
    let (operation, arguments) = text
        .split_once('(')
        .and_then(|(operation, rest)| Some((operation, rest.strip_suffix(')')?)))
        .ok_or_else(|| format!("a call is written `service.operation(…)`, not `{text}`"))?;
    if case.fixture.as_deref() == Some("host-probe") {
        let arguments: Vec<Value> = serde_json::from_str(&format!("[{arguments}]"))
            .map_err(|error| format!("{error} in `{text}`"))?;
        let mut config = json!({ "call": operation });
        for (name, argument) in ["argument", "payload"].into_iter().zip(arguments) {
            config[name] = argument;
        }
        case.files.push(File {
            path: "library/config.json".to_owned(),
            text: config.to_string(),
        });
    } else {
        let variable = "STUD_HOSTILE_CALL".to_owned();
        case.env
            .insert(variable, format!("{operation} {arguments}"));
    }
    Ok(())
}

fn between<'a>(text: &'a str, before: &str, after: &str) -> Option<&'a str> {
    text.strip_prefix(before)?.strip_suffix(after)
}

fn file(path: &str, block: &Block) -> File {
    // Every line of a text ends; whether a JSON document ends with a line break means nothing.
    let end = if Path::new(path)
        .extension()
        .is_some_and(|kind| kind == "json")
    {
        ""
    } else {
        "\n"
    };
    File {
        path: path.to_owned(),
        text: format!("{}{end}", block.text),
    }
}

/// The example shows the diagnostic as the program prints it.
pub(crate) fn compare(id: &str, answer: &Answer) -> Result<(), String> {
    let printed: Vec<String> = answer
        .stdout
        .lines()
        .chain(answer.stderr.lines())
        .map(|line| line.trim_end().to_owned())
        .collect();
    example::compare(id, &must_show(id, &printed), &printed)
}

/// The headline with the code, or the note that names it as a cause with the headline above that.
fn must_show(id: &str, printed: &[String]) -> Vec<String> {
    let is_headline = |line: &&String| line.starts_with("error[") || line.starts_with("warning[");
    let named = format!("[{id}]");
    if let Some(line) = printed
        .iter()
        .find(|line| is_headline(line) && line.contains(&named))
    {
        return vec![line.clone()];
    }
    let named = format!("`{id}`");
    let Some(at) = printed.iter().position(|line| line.contains(&named)) else {
        // A wrong command line is answered with a sentence and one line of JSON.
        let is_said = |line: &&String| line.starts_with("error: ");
        let sentence = printed.iter().find(is_said);
        return sentence
            .into_iter()
            .chain(printed.last())
            .cloned()
            .collect();
    };
    let headline = printed[..at].iter().rfind(is_headline).cloned();
    headline.into_iter().chain([printed[at].clone()]).collect()
}

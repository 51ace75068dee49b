//! What differs between the lock of a contract and its code.

use serde_json::{Map, Value};

use super::rule::{self, Difference, Rule};
use super::schema::{self, Sender};

/// Every difference, in the order of the parts of a lock.
pub(crate) fn compare(old: &Value, new: &Value) -> Vec<Difference> {
    let mut found = layouts(&strings(old, "layout"), &strings(new, "layout"));
    found.extend(schemas(&members(old, "schemas"), &members(new, "schemas")));
    for (part, added, removed) in [
        ("members", rule::MEMBER_ADDED, rule::MEMBER_REMOVED),
        ("handlers", rule::HANDLER_ADDED, rule::HANDLER_REMOVED),
        ("codes", rule::CODE_ADDED, rule::CODE_REMOVED),
        ("events", rule::EVENT_ADDED, rule::EVENT_REMOVED),
    ] {
        found.extend(list(
            part,
            &strings(old, part),
            &strings(new, part),
            added,
            removed,
        ));
    }
    found.extend(signatures("operations", old, new, OPERATIONS));
    found.extend(signatures("methods", old, new, METHODS));
    if old.get("cardinality") != new.get("cardinality") {
        found.push(Difference::new(
            rule::CARDINALITY_CHANGED,
            "cardinality",
            "changed",
        ));
    }
    found
}

/// The rules for what is added, added with a default, removed and changed.
type Four = [&'static Rule; 4];
const OPERATIONS: Four = [
    rule::OPERATION_ADDED,
    rule::OPERATION_ADDED,
    rule::OPERATION_REMOVED,
    rule::OPERATION_CHANGED,
];
const METHODS: Four = [
    rule::METHOD_REQUIRED,
    rule::METHOD_PROVIDED,
    rule::METHOD_REMOVED,
    rule::METHOD_CHANGED,
];

/// Pairs `name: signature`; a signature that ends in `{}` has a default.
fn signatures(part: &str, old: &Value, new: &Value, rules: Four) -> Vec<Difference> {
    let [added, provided, removed, changed] = rules;
    let (before, after) = (pairs(old, part), pairs(new, part));
    let mut found = Vec::new();
    for (name, signature) in &before {
        let place = format!("{part}/{name}");
        match after.iter().find(|(other, _)| other == name) {
            None => found.push(Difference::new(removed, place, "was removed").about(name)),
            Some((_, now)) if now != signature => {
                let what = format!("was `{signature}` and is `{now}`");
                found.push(Difference::new(changed, place, what).about(name));
            }
            Some(_) => {}
        }
    }
    for (name, signature) in &after {
        if before.iter().all(|(other, _)| other != name) {
            let rule = if signature.ends_with("{}") {
                provided
            } else {
                added
            };
            found.push(Difference::new(rule, format!("{part}/{name}"), "was added").about(name));
        }
    }
    let names =
        |pairs: &[(String, String)]| pairs.iter().map(|pair| pair.0.clone()).collect::<Vec<_>>();
    if found.is_empty() && names(&before) != names(&after) {
        found.push(Difference::new(
            rule::METHOD_MOVED,
            part,
            "the order changed",
        ));
    }
    found
}

fn list(
    part: &str,
    old: &[String],
    new: &[String],
    added: &'static Rule,
    removed: &'static Rule,
) -> Vec<Difference> {
    let gone = old.iter().filter(|name| !new.contains(name));
    let come = new.iter().filter(|name| !old.contains(name));
    let mut found: Vec<_> = gone
        .map(|name| Difference::new(removed, format!("{part}/{name}"), "was removed").about(name))
        .chain(
            come.map(|name| {
                Difference::new(added, format!("{part}/{name}"), "was added").about(name)
            }),
        )
        .collect();
    if part == "handlers" && found.is_empty() && old != new {
        found.push(Difference::new(
            rule::HANDLER_MOVED,
            part,
            "the order changed",
        ));
    }
    found
}

fn schemas(old: &Map<String, Value>, new: &Map<String, Value>) -> Vec<Difference> {
    let mut found = Vec::new();
    for (name, before) in old {
        let place = format!("schemas/{name}");
        let Some(after) = new.get(name) else {
            found.push(Difference::new(rule::SCHEMA_REMOVED, place, "was removed").about(name));
            continue;
        };
        if before["sender"] != after["sender"] {
            found.push(Difference::new(
                rule::SENDER_CHANGED,
                &*place,
                "another side sends it",
            ));
        }
        let sender = Sender::parse(after["sender"].as_str());
        found.extend(schema::compare(
            &place,
            sender,
            &before["schema"],
            &after["schema"],
        ));
    }
    for name in new.keys().filter(|name| !old.contains_key(*name)) {
        let place = format!("schemas/{name}");
        found.push(Difference::new(rule::SCHEMA_ADDED, place, "was added").about(name));
    }
    found
}

/// A type of a layout dump: its heading and its lines.
type Block<'a> = (&'a str, Vec<&'a str>);

/// The first block is the table, which may grow at its end; all others are fixed.
fn layouts(old: &[String], new: &[String]) -> Vec<Difference> {
    let (before, after) = (blocks(old), blocks(new));
    let mut found = Vec::new();
    if let (Some((name, old)), Some((_, new))) = (before.first(), after.first()) {
        found.extend(table(word(name), &fields(old), &fields(new)));
    }
    for (heading, lines) in before.iter().skip(1) {
        let name = word(heading);
        let place = format!("layout/{name}");
        match after.iter().skip(1).find(|(other, _)| word(other) == name) {
            Some((other, now)) if other == heading && now == lines => {}
            _ => found.push(Difference::new(
                rule::LAYOUT_CHANGED,
                place,
                "its layout changed",
            )),
        }
    }
    for (heading, _) in after.iter().skip(1) {
        let name = word(heading);
        if before.iter().all(|(other, _)| word(other) != name) {
            let place = format!("layout/{name}");
            found.push(Difference::new(
                rule::LAYOUT_REACHED,
                place,
                "is used newly",
            ));
        }
    }
    found
}

fn table(name: &str, old: &[(String, String)], new: &[(String, String)]) -> Vec<Difference> {
    let mut found = Vec::new();
    for (index, (field, kind)) in old.iter().enumerate() {
        let place = format!("layout/{name}/{field}");
        let now = new.iter().position(|(other, _)| other == field);
        let (rule, what) = match now {
            None => (rule::FUNCTION_REMOVED, "was removed"),
            Some(now) if new[now].1 != *kind => (rule::FUNCTION_CHANGED, "has another type"),
            Some(now) if now != index => (rule::FUNCTION_MOVED, "stands at another place"),
            Some(_) => continue,
        };
        found.push(Difference::new(rule, place, what).about(field));
    }
    for (field, kind) in new {
        if old.iter().all(|(other, _)| other != field) {
            let rule = if kind.starts_with("Option<") {
                rule::FUNCTION_APPENDED
            } else {
                rule::FUNCTION_REQUIRED
            };
            let place = format!("layout/{name}/{field}");
            found.push(Difference::new(rule, place, "was added").about(field));
        }
    }
    found
}

/// The heading without size and alignment.
fn word(heading: &str) -> &str {
    heading.split(" size=").next().unwrap_or(heading)
}

fn blocks(lines: &[String]) -> Vec<Block<'_>> {
    let mut blocks: Vec<Block<'_>> = Vec::new();
    for line in lines {
        if line.contains(" size=") && !line.starts_with(' ') {
            blocks.push((line, Vec::new()));
        } else if let Some((_, lines)) = blocks.last_mut() {
            lines.push(line);
        }
    }
    blocks
}

/// Fields with their types; what is said of the functions in a field belongs to its type.
fn fields(lines: &[&str]) -> Vec<(String, String)> {
    let mut fields: Vec<(String, String)> = Vec::new();
    for line in lines {
        let field = line
            .strip_prefix("  ")
            .filter(|rest| !rest.starts_with(' '));
        match (
            field.and_then(|field| field.split_once(": ")),
            fields.last_mut(),
        ) {
            (Some((name, kind)), _) => fields.push((name.to_owned(), kind.to_owned())),
            (None, Some((_, kind))) => kind.push_str(line),
            (None, None) => {}
        }
    }
    fields
}

fn members(lock: &Value, part: &str) -> Map<String, Value> {
    lock.get(part)
        .and_then(Value::as_object)
        .cloned()
        .unwrap_or_default()
}

fn strings(lock: &Value, part: &str) -> Vec<String> {
    lock.get(part)
        .map(crate::cargo::strings)
        .unwrap_or_default()
}

fn pairs(lock: &Value, part: &str) -> Vec<(String, String)> {
    strings(lock, part)
        .into_iter()
        .map(|line| {
            let (name, signature) = line.split_once(": ").unwrap_or((&line, ""));
            (name.to_owned(), signature.to_owned())
        })
        .collect()
}

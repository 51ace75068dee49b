//! Two JSON Schemas of one payload, compared by who sends it.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::rule::{self, Difference, Rule};

/// Who sends a payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sender {
    Core,
    Plugin,
    Both,
}

impl Sender {
    pub(super) fn parse(word: Option<&str>) -> Self {
        match word {
            Some("core") => Self::Core,
            Some("plugin") => Self::Plugin,
            _ => Self::Both,
        }
    }

    /// The rule of the strictest direction there is.
    fn choose(self, from_plugin: &'static Rule, from_core: &'static Rule) -> &'static Rule {
        match self {
            Self::Both => std::cmp::max_by_key(from_core, from_plugin, |rule| rule.level),
            Self::Plugin => from_plugin,
            Self::Core => from_core,
        }
    }

    fn widened(self) -> &'static Rule {
        self.choose(rule::TYPE_WIDENED_FOR_CORE, rule::TYPE_WIDENED_FOR_PLUGINS)
    }

    fn narrowed(self) -> &'static Rule {
        self.choose(
            rule::TYPE_NARROWED_FOR_CORE,
            rule::TYPE_NARROWED_FOR_PLUGINS,
        )
    }
}

/// Keywords that only people read.
const WORDS: &[&str] = &["title", "description", "examples", "$comment", "$schema"];
/// A larger number accepts less.
const LOWER_BOUNDS: &[&str] = &[
    "minimum",
    "exclusiveMinimum",
    "minLength",
    "minItems",
    "minProperties",
];
/// A smaller number accepts less.
const UPPER_BOUNDS: &[&str] = &[
    "maximum",
    "exclusiveMaximum",
    "maxLength",
    "maxItems",
    "maxProperties",
];
/// Keywords that a function below has dealt with.
const DEALT_WITH: &[&str] = &[
    "$ref",
    "$defs",
    "default",
    "deprecated",
    "type",
    "properties",
    "required",
    "enum",
    "const",
    "oneOf",
    "anyOf",
    "items",
    "additionalProperties",
];

/// Compares two schemas of one payload.
pub(super) fn compare(place: &str, sender: Sender, old: &Value, new: &Value) -> Vec<Difference> {
    let mut walk = Walk {
        sender,
        old,
        new,
        seen: BTreeSet::new(),
        found: Vec::new(),
    };
    walk.node(place, old, new);
    walk.found
}

struct Walk<'a> {
    sender: Sender,
    old: &'a Value,
    new: &'a Value,
    /// References that were followed, so that a recursive type ends.
    seen: BTreeSet<(String, String)>,
    found: Vec<Difference>,
}

impl Walk<'_> {
    fn say(&mut self, rule: &'static Rule, place: &str, what: impl Into<String>) {
        let word = place.rsplit('/').next().unwrap_or_default().to_owned();
        self.found
            .push(Difference::new(rule, place, what).about(word));
    }

    fn node(&mut self, place: &str, old: &Value, new: &Value) {
        let (old_ref, new_ref) = (reference(old), reference(new));
        if (old_ref.is_some() || new_ref.is_some())
            && !self.seen.insert((
                old_ref.unwrap_or(place).to_owned(),
                new_ref.unwrap_or(place).to_owned(),
            ))
        {
            return;
        }
        let old = resolved(self.old, old);
        let new = resolved(self.new, new);
        self.words(place, &old, &new);
        self.default(place, &old, &new);
        if !self.types(place, &old, &new) {
            return;
        }
        self.properties(place, &old, &new);
        self.variants(place, &old, &new);
        for keyword in ["items", "additionalProperties"] {
            match (old.get(keyword), new.get(keyword)) {
                (Some(before), Some(after)) => self.closed(place, keyword, before, after),
                (None, Some(after)) => self.closed(place, keyword, &Value::Bool(true), after),
                (Some(before), None) => self.closed(place, keyword, before, &Value::Bool(true)),
                (None, None) => {}
            }
        }
        self.bounds(place, &old, &new);
        self.others(place, &old, &new);
    }

    /// A schema beside `properties`, where `false` and `true` stand for nothing and everything.
    fn closed(&mut self, place: &str, keyword: &str, old: &Value, new: &Value) {
        let below = format!("{place}/{keyword}");
        match (old, new) {
            // Equal references still lead to definitions that may differ, so only `true` and `false` end here.
            (Value::Bool(before), Value::Bool(after)) if before == after => {}
            (Value::Bool(false), _) | (_, Value::Bool(true)) => {
                let rule = self.sender.widened();
                self.say(rule, &below, "accepts more");
            }
            (_, Value::Bool(false)) | (Value::Bool(true), _) => {
                let rule = self.sender.narrowed();
                self.say(rule, &below, "accepts less");
            }
            _ => self.node(&below, old, new),
        }
    }

    fn words(&mut self, place: &str, old: &Map<String, Value>, new: &Map<String, Value>) {
        if WORDS.iter().any(|word| old.get(*word) != new.get(*word)) {
            self.say(rule::WORDS_CHANGED, place, "the description changed");
        }
        let is_deprecated =
            |node: &Map<String, Value>| node.get("deprecated") == Some(&true.into());
        match (is_deprecated(old), is_deprecated(new)) {
            (false, true) => self.say(rule::DEPRECATED, place, "is deprecated now"),
            (true, false) => self.say(rule::WORDS_CHANGED, place, "is no longer deprecated"),
            _ => {}
        }
    }

    fn default(&mut self, place: &str, old: &Map<String, Value>, new: &Map<String, Value>) {
        let (before, after) = (old.get("default"), new.get("default"));
        if before != after {
            let text = |value: Option<&Value>| value.map_or("none".to_owned(), Value::to_string);
            let what = format!("the default was {} and is {}", text(before), text(after));
            self.say(rule::DEFAULT_CHANGED, place, what);
        }
    }

    /// Whether the rest is worth comparing.
    fn types(&mut self, place: &str, old: &Map<String, Value>, new: &Map<String, Value>) -> bool {
        let (before, after) = (types(old), types(new));
        if before == after {
            return true;
        }
        let what = format!("the type was {} and is {}", listed(&before), listed(&after));
        let fits = |small: &BTreeSet<String>, large: &BTreeSet<String>| {
            large.is_empty()
                || (!small.is_empty()
                    && small.iter().all(|word| {
                        large.contains(word) || word == "integer" && large.contains("number")
                    }))
        };
        if fits(&before, &after) {
            let rule = self.sender.widened();
            self.say(rule, place, what);
            true
        } else if fits(&after, &before) {
            let rule = self.sender.narrowed();
            self.say(rule, place, what);
            true
        } else {
            self.say(rule::TYPE_CHANGED, place, what);
            false
        }
    }

    fn properties(&mut self, place: &str, old: &Map<String, Value>, new: &Map<String, Value>) {
        let nothing = Map::new();
        let of = |node: &Map<String, Value>| {
            node.get("properties")
                .and_then(Value::as_object)
                .cloned()
                .unwrap_or_else(|| nothing.clone())
        };
        let (before, after) = (of(old), of(new));
        let (was_required, is_required) = (required(old), required(new));
        for (name, schema) in &before {
            let below = format!("{place}/{name}");
            let Some(now) = after.get(name) else {
                self.say(rule::FIELD_REMOVED, &below, "the field was removed");
                continue;
            };
            match (was_required.contains(name), is_required.contains(name)) {
                (false, true) => {
                    let rule = self
                        .sender
                        .choose(rule::FIELD_NOW_REQUIRED, rule::FIELD_NOW_PROMISED);
                    self.say(rule, &below, "the field is required now");
                }
                (true, false) => {
                    let rule = self
                        .sender
                        .choose(rule::FIELD_NOW_OPTIONAL, rule::FIELD_NO_LONGER_PROMISED);
                    self.say(rule, &below, "the field may be left out now");
                }
                _ => {}
            }
            self.node(&below, schema, now);
        }
        for name in after.keys().filter(|name| !before.contains_key(*name)) {
            let below = format!("{place}/{name}");
            if is_required.contains(name) {
                let rule = self
                    .sender
                    .choose(rule::FIELD_MUST_BE_SENT, rule::FIELD_FROM_CORE);
                self.say(rule, &below, "a required field was added");
            } else {
                self.say(rule::FIELD_OPTIONAL, &below, "an optional field was added");
            }
        }
    }

    fn variants(&mut self, place: &str, old: &Map<String, Value>, new: &Map<String, Value>) {
        let (before, after) = (variants(old), variants(new));
        if before.is_empty() != after.is_empty() {
            let (rule, what) = if after.is_empty() {
                (self.sender.widened(), "any value is possible now")
            } else {
                (
                    self.sender.narrowed(),
                    "only listed values are possible now",
                )
            };
            self.say(rule, place, what);
            return;
        }
        for variant in &before {
            let below = format!("{place}/{}", variant.key);
            if let Some(now) = after.iter().find(|other| other.key == variant.key) {
                if let (Some(arm), Some(now)) = (&variant.arm, &now.arm) {
                    self.node(&below, arm, now);
                }
                continue;
            }
            let rule = if variant.is_value {
                rule::VALUE_REMOVED
            } else {
                self.sender.narrowed()
            };
            self.say(rule, &below, "the value was removed");
        }
        for variant in &after {
            if before.iter().all(|other| other.key != variant.key) {
                let rule = if variant.is_value {
                    rule::VALUE_ADDED
                } else {
                    self.sender.widened()
                };
                let below = format!("{place}/{}", variant.key);
                self.say(rule, &below, "a value was added");
            }
        }
    }

    fn bounds(&mut self, place: &str, old: &Map<String, Value>, new: &Map<String, Value>) {
        let keywords = LOWER_BOUNDS
            .iter()
            .map(|keyword| (keyword, true))
            .chain(UPPER_BOUNDS.iter().map(|keyword| (keyword, false)));
        for (keyword, is_lower) in keywords {
            let (before, after) = (old.get(*keyword), new.get(*keyword));
            if before == after {
                continue;
            }
            let number = |value: Option<&Value>| value.and_then(Value::as_f64);
            let is_narrower = match (number(before), number(after)) {
                (Some(before), Some(after)) => (after > before) == is_lower,
                (_, after) => after.is_some(),
            };
            let rule = if is_narrower {
                self.sender.narrowed()
            } else {
                self.sender.widened()
            };
            self.say(rule, place, format!("`{keyword}` changed"));
        }
    }

    /// Every other keyword is a condition: with it less is accepted than without.
    fn others(&mut self, place: &str, old: &Map<String, Value>, new: &Map<String, Value>) {
        let keywords: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
        let lists = [WORDS, LOWER_BOUNDS, UPPER_BOUNDS, DEALT_WITH];
        for keyword in keywords {
            if lists.iter().any(|list| list.contains(&keyword.as_str())) {
                continue;
            }
            let rule = match (old.get(keyword), new.get(keyword)) {
                (before, after) if before == after => continue,
                (None, Some(_)) => self.sender.narrowed(),
                (Some(_), None) => self.sender.widened(),
                _ => rule::KEYWORD_CHANGED,
            };
            self.say(rule, place, format!("`{keyword}` changed"));
        }
    }
}

/// One of several things a value may be.
struct Variant {
    key: String,
    /// A plain value or a tagged arm, which a reader can tell from the others and pass over.
    is_value: bool,
    arm: Option<Value>,
}

fn variants(node: &Map<String, Value>) -> Vec<Variant> {
    let mut found = Vec::new();
    if let Some(value) = node.get("const") {
        found.push(plain(value, None));
    }
    let values = node.get("enum").and_then(Value::as_array);
    found.extend(values.into_iter().flatten().map(|value| plain(value, None)));
    for keyword in ["oneOf", "anyOf"] {
        let arms = node.get(keyword).and_then(Value::as_array);
        for arm in arms.into_iter().flatten() {
            found.extend(arm_variants(arm));
        }
    }
    found
}

fn arm_variants(arm: &Value) -> Vec<Variant> {
    if let Some(value) = arm.get("const") {
        return vec![plain(value, Some(arm.clone()))];
    }
    if let Some(values) = arm.get("enum").and_then(Value::as_array) {
        return values.iter().map(|value| plain(value, None)).collect();
    }
    let constant = |name: &str| arm["properties"][name].get("const");
    let tag = ["type", "kind", "status"]
        .into_iter()
        .find_map(|name| Some((name.to_owned(), constant(name)?)))
        .or_else(|| {
            let properties = arm.get("properties")?.as_object()?;
            properties
                .keys()
                .find_map(|name| Some((name.clone(), constant(name)?)))
        });
    let (key, is_value) = match tag {
        Some((name, value)) => (format!("{name}={}", bare(value)), true),
        None => match (reference(arm), arm.get("type"), only_required(arm)) {
            (Some(target), _, _) => (target.to_owned(), false),
            // An arm that is told by its one member, as enums are written by default.
            (_, _, Some(name)) => (name.to_owned(), true),
            (_, Some(kind), _) => (bare(kind), false),
            _ => (arm.to_string(), false),
        },
    };
    vec![Variant {
        key,
        is_value,
        arm: Some(arm.clone()),
    }]
}

fn only_required(arm: &Value) -> Option<&str> {
    match arm.get("required")?.as_array()?.as_slice() {
        [name] => name.as_str(),
        _ => None,
    }
}

fn plain(value: &Value, arm: Option<Value>) -> Variant {
    // The arm of a constant is the constant again, and only its words are left to compare.
    let arm = arm.map(|mut arm| {
        if let Some(members) = arm.as_object_mut() {
            members.remove("const");
        }
        arm
    });
    Variant {
        key: bare(value),
        is_value: true,
        arm,
    }
}

fn bare(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

fn reference(node: &Value) -> Option<&str> {
    node.get("$ref").and_then(Value::as_str)
}

/// The node with what it refers to; its own keywords win.
fn resolved(root: &Value, node: &Value) -> Map<String, Value> {
    let own = match node {
        Value::Object(members) => members.clone(),
        Value::Bool(false) => Map::from_iter([("not".to_owned(), Value::Object(Map::new()))]),
        _ => Map::new(),
    };
    let target = reference(node)
        .and_then(|reference| root.pointer(reference.strip_prefix('#')?))
        .and_then(Value::as_object);
    let Some(target) = target else { return own };
    let mut whole = target.clone();
    whole.extend(own);
    whole
}

fn types(node: &Map<String, Value>) -> BTreeSet<String> {
    match node.get("type") {
        Some(Value::String(word)) => BTreeSet::from([word.clone()]),
        Some(Value::Array(words)) => words.iter().map(bare).collect(),
        _ => BTreeSet::new(),
    }
}

fn listed(types: &BTreeSet<String>) -> String {
    if types.is_empty() {
        return "anything".to_owned();
    }
    types.iter().cloned().collect::<Vec<_>>().join(" or ")
}

fn required(node: &Map<String, Value>) -> BTreeSet<String> {
    let names = node.get("required").and_then(Value::as_array);
    names.into_iter().flatten().map(bare).collect()
}

//! What is wrong with parameters, before anything is sent.
//!
//! Every leaf is checked, and the first rule that speaks is the one that is reported for it:
//! a forbidden name, a value that looks like a secret, the backend's spelling, an unknown name, one that the
//! provider keeps to itself, a value that does not fit, two that conflict, one that the model ignores.

use serde_json::{Map, Value, json};
use stud_contract_meta::{Capability, Error};
use stud_contract_provider::{Capabilities, Level, ParamRules};
use stud_diagnostics::{Code, codes};
use stud_host_api::events::{ParamProblem, ParamSeverity};

use super::bag::{Bag, Layer, Leaf};
use super::secret::{is_forbidden, is_secret};
use crate::did_you_mean::nearest;
use crate::identity::Identity;
use crate::model_capabilities::claim;
use crate::validate::{Members, schema};

/// Something that is wrong with one parameter.
#[derive(Debug, Clone)]
pub struct Problem {
    /// What is wrong.
    pub code: &'static Code,
    /// Which parameter.
    pub path: String,
    /// Who set it.
    pub layer: Layer,
    /// The same in words, without the value.
    pub message: String,
}

impl Problem {
    /// Whether the parameters can be used all the same.
    pub fn is_warning(&self) -> bool {
        self.code == &codes::PARAM_UNSUPPORTED_ON_ACTIVE
    }

    /// As an event and a command tell it.
    pub fn told(&self) -> ParamProblem {
        ParamProblem {
            code: self.code.name.to_owned(),
            message: self.message.clone(),
            param_path: self.path.clone(),
            severity: if self.is_warning() {
                ParamSeverity::Warning
            } else {
                ParamSeverity::Error
            },
            source_layer: self.layer.as_str().to_owned(),
        }
    }

    /// The same as JSON.
    pub fn to_json(&self) -> Value {
        json!(self.told())
    }

    /// Why parameters with these problems are refused; nothing if all are only warnings.
    pub fn refusal(problems: &[Self]) -> Option<Error> {
        let first = problems.iter().find(|problem| !problem.is_warning())?;
        let all: Vec<Value> = problems.iter().map(Self::to_json).collect();
        Some(
            Error::new(first.code.class, first.code.name, first.message.clone())
                .with("paramPath", first.path.as_str())
                .with("sourceLayer", first.layer.as_str())
                .with("diagnostics", all),
        )
    }
}

/// What a provider knows of parameters.
#[derive(Debug, Clone, Copy)]
pub struct Vocabulary<'a> {
    provider_id: &'a str,
    /// The parameters and their schemas; none for a provider that names none.
    schemas: Option<&'a Map<String, Value>>,
    rules: Option<&'a ParamRules>,
}

impl<'a> Vocabulary<'a> {
    /// That of a provider: the schema of `defaultParams` in its manifest, and the rules beside it.
    pub fn of(provider: &'a Identity) -> Self {
        let schema = &provider.manifest.config_schema;
        let schemas = schema.pointer("/properties/defaultParams/properties");
        let rules = match &*provider.members {
            Members::Provider(members) => Some(&members.params),
            _ => None,
        };
        Self {
            provider_id: provider.ext_id.as_str(),
            schemas: schemas.and_then(Value::as_object),
            rules,
        }
    }

    #[cfg(test)]
    pub(super) fn new(schemas: Option<&'a Map<String, Value>>, rules: &'a ParamRules) -> Self {
        Self {
            provider_id: "it",
            schemas,
            rules: Some(rules),
        }
    }

    /// Everything that is wrong with a bag that goes to a model with these claims, in byte order of the paths.
    pub fn check(self, bag: &Bag, claims: &Capabilities) -> Vec<Problem> {
        let fault = |(path, leaf): (&[String], &Leaf)| {
            let (code, message) = self.fault(bag, path, leaf, claims)?;
            Some(Problem {
                code,
                path: path.join("."),
                layer: leaf.layer,
                message,
            })
        };
        bag.leaves().filter_map(fault).collect()
    }

    fn fault(self, bag: &Bag, path: &[String], leaf: &Leaf, claims: &Capabilities) -> Fault {
        let shown = path.join(".");
        if let Some(name) = path.iter().find(|name| is_forbidden(name)) {
            return Some(forbidden(&shown, name));
        }
        if let Some(fault) = hidden(&shown, &leaf.value) {
            return Some(fault);
        }
        let (schemas, rules) = (self.schemas?, self.rules?);
        let top = path.first()?;
        spelling(path, schemas)
            .or_else(|| self.stranger(path, schemas, rules))
            .or_else(|| reserved(&shown, top, rules))
            .or_else(|| misfit(bag, path, schemas))
            .or_else(|| contradiction(bag, &shown, rules))
            .or_else(|| self.unheeded(top, rules, claims))
    }

    /// A name that is neither common to all providers nor one of this provider's.
    fn stranger(self, path: &[String], schemas: &Map<String, Value>, rules: &ParamRules) -> Fault {
        let top = path.first()?;
        let is_known = schemas.contains_key(top)
            || common(top).is_some()
            || rules.reserved.iter().any(|reserved| reserved == top);
        let (place, name, known) = if is_known {
            let (depth, known) = first_unlisted(path, schemas)?;
            (path[..=depth].join("."), &path[depth], known)
        } else {
            let known = COMMON.iter().map(|(name, _)| (*name).to_owned());
            (
                top.clone(),
                top,
                schemas.keys().cloned().chain(known).collect(),
            )
        };
        let mut message = format!("`{}` has no parameter `{place}`", self.provider_id);
        if let Some(near) = nearest(name, known.iter().map(String::as_str)) {
            message.push_str("; did you mean `");
            message.push_str(near);
            message.push_str("`?");
        }
        Some((&codes::PARAM_UNKNOWN, message))
    }

    fn unheeded(self, top: &String, rules: &ParamRules, claims: &Capabilities) -> Fault {
        let needed = rules
            .needs
            .get(top)
            .and_then(|name| Capability::parse(name));
        let lacking = needed.filter(|name| claim(claims, *name) == Some(Level::Absent));
        let message = match lacking {
            Some(name) => format!("the model ignores `{top}`, because it lacks `{name}`"),
            None if rules.unheeded.contains(top) => {
                format!("`{}` ignores `{top}`", self.provider_id)
            }
            None => return None,
        };
        Some((&codes::PARAM_UNSUPPORTED_ON_ACTIVE, message))
    }
}

type Fault = Option<(&'static Code, String)>;

/// The parameters that every provider knows which knows any, and their schemas.
const COMMON: [(&str, &str); 6] = [
    (
        "temperature",
        r#"{"type":"number","minimum":0,"maximum":2}"#,
    ),
    ("topP", r#"{"type":"number","minimum":0,"maximum":1}"#),
    ("topK", r#"{"type":"integer","minimum":0}"#),
    ("maxOutputTokens", r#"{"type":"integer","minimum":1}"#),
    (
        "stopSequences",
        r#"{"type":"array","items":{"type":"string"}}"#,
    ),
    ("seed", r#"{"type":"integer"}"#),
];

fn common(name: &str) -> Option<Value> {
    let (_, schema) = COMMON.iter().find(|(known, _)| *known == name)?;
    schema.parse().ok()
}

fn forbidden(path: &str, name: &str) -> (&'static Code, String) {
    let message = format!(
        "`{path}`: `{name}` names a key, and a key is not a parameter; refer to the key with `apiKeyRef`"
    );
    (&codes::PARAM_FORBIDDEN_KEY, message)
}

/// A secret inside a value, which may be a list of anything.
fn hidden(path: &str, value: &Value) -> Fault {
    match value {
        Value::String(text) if is_secret(text) => {
            let message = format!(
                "the value of `{path}` looks like a secret, and a secret is not a parameter"
            );
            Some((&codes::PARAM_SECRET_VALUE, message))
        }
        Value::Array(items) => items.iter().find_map(|item| hidden(path, item)),
        Value::Object(members) => members.iter().find_map(|(name, value)| {
            let is_key = is_forbidden(name);
            if is_key {
                Some(forbidden(path, name))
            } else {
                hidden(path, value)
            }
        }),
        _ => None,
    }
}

/// The backend's spelling of a name. Names that only the backend knows are its own business.
fn spelling(path: &[String], schemas: &Map<String, Value>) -> Fault {
    let depth = path.iter().position(|name| name.contains('_'))?;
    listed_below(&path[..depth], schemas)?;
    let name = &path[depth];
    let mut camel = String::new();
    for (number, word) in name.split('_').filter(|word| !word.is_empty()).enumerate() {
        let mut letters = word.chars();
        match letters.next() {
            Some(first) if number > 0 => camel.extend(first.to_uppercase()),
            first => camel.extend(first),
        }
        camel.push_str(letters.as_str());
    }
    let message = format!(
        "`{}` is spelled as the backend does; write `{camel}`",
        path.join(".")
    );
    Some((&codes::PARAM_WIRE_SHAPE, message))
}

fn reserved(path: &str, top: &String, rules: &ParamRules) -> Fault {
    let is_reserved = rules
        .reserved
        .iter()
        .any(|name| name == top || name == path);
    is_reserved.then(|| {
        let message = format!("the provider sets `{path}` itself");
        (&codes::PARAM_RESERVED, message)
    })
}

/// A value that its schema does not take. Null is no value: it takes back what a layer below has set.
fn misfit(bag: &Bag, path: &[String], schemas: &Map<String, Value>) -> Fault {
    let top = path.first()?;
    let whole = bag
        .to_object()
        .remove(top)
        .filter(|value| !value.is_null())?;
    let schema = schemas.get(top).cloned().or_else(|| common(top))?;
    let validator = schema::build(&schema).ok()?;
    let here = path[1..]
        .iter()
        .fold(String::new(), |here, name| here + "/" + name);
    let error = validator.iter_errors(&whole).find(|error| {
        let place = schema::place(error);
        // What is wrong with the whole is told of each of its leaves.
        place == here
            || here.starts_with(&format!("{place}/"))
            || place.starts_with(&format!("{here}/"))
    })?;
    let message = format!("`{}`: {}", path.join("."), schema::problem(&error));
    Some((&codes::CONFIG_SCHEMA_VIOLATION, message))
}

fn contradiction(bag: &Bag, path: &str, rules: &ParamRules) -> Fault {
    let number = |path: &str| bag.get(path)?.value.as_f64();
    let (one, other) = rules.below.iter().find(|(one, other)| {
        let pair = number(one).zip(number(other));
        one == path && pair.is_some_and(|(one, other)| one >= other)
    })?;
    let message = format!("`{one}` must be below `{other}`");
    Some((&codes::PARAM_CROSS_FIELD_INVALID, message))
}

/// The members that a schema lists for what stands at a path; nothing where it lists none.
fn listed_below<'a>(
    path: &[String],
    schemas: &'a Map<String, Value>,
) -> Option<&'a Map<String, Value>> {
    path.iter().try_fold(schemas, |listed, name| {
        listed.get(name)?.get("properties")?.as_object()
    })
}

/// The first name on a path that is not among those its schema lists, and those.
fn first_unlisted(path: &[String], schemas: &Map<String, Value>) -> Option<(usize, Vec<String>)> {
    (1..path.len()).find_map(|depth| {
        let listed = listed_below(&path[..depth], schemas)?;
        let is_listed = listed.contains_key(&path[depth]);
        (!is_listed).then(|| (depth, listed.keys().cloned().collect()))
    })
}

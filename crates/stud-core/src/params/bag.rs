//! Parameters in effect, each knowing where it was set.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::secret::redacted;

/// Who set a parameter, lowest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    /// The entry in the settings.
    Defaults,
    /// A flag of the launch.
    Launch,
    /// The person, in the session.
    Session,
}

impl Layer {
    /// Its name on every wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Defaults => "defaultParams",
            Self::Launch => "launch",
            Self::Session => "/params",
        }
    }
}

/// A value that has nothing below it.
#[derive(Debug, Clone, PartialEq)]
pub struct Leaf {
    /// What it is: no object, or an empty one.
    pub value: Value,
    /// Who set it.
    pub layer: Layer,
}

/// Parameters, by the names on the way to each.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Bag(BTreeMap<Vec<String>, Leaf>);

impl Bag {
    /// Sets what stands at a path, and nothing else stays below it.
    pub(super) fn write(&mut self, path: &[String], value: &Value, layer: Layer) {
        self.0
            .retain(|other, _| !other.starts_with(path) && !path.starts_with(other));
        self.put(path.to_vec(), value, layer);
    }

    fn put(&mut self, path: Vec<String>, value: &Value, layer: Layer) {
        match value {
            Value::Object(members) if !members.is_empty() => {
                for (name, value) in members {
                    let mut path = path.clone();
                    path.push(name.clone());
                    self.put(path, value, layer);
                }
            }
            value => {
                let value = value.clone();
                self.0.insert(path, Leaf { value, layer });
            }
        }
    }

    /// Every leaf, in byte order of its path.
    pub fn leaves(&self) -> impl Iterator<Item = (&[String], &Leaf)> {
        self.0.iter().map(|(path, leaf)| (path.as_slice(), leaf))
    }

    /// The leaf at a path whose names are joined by dots.
    pub fn get(&self, path: &str) -> Option<&Leaf> {
        let path: Vec<String> = path.split('.').map(str::to_owned).collect();
        self.0.get(&path)
    }

    /// All of them as one object, as a provider gets it.
    pub fn to_object(&self) -> Map<String, Value> {
        let mut all = Map::new();
        for (path, leaf) in &self.0 {
            put_at(&mut all, path, &leaf.value);
        }
        all
    }

    /// What a person may see of it: path, layer and value of each leaf.
    pub fn view(&self) -> Vec<Value> {
        self.leaves()
            .map(|(path, leaf)| {
                json!({
                    "paramPath": path.join("."),
                    "sourceLayer": leaf.layer.as_str(),
                    "value": redacted(&leaf.value),
                })
            })
            .collect()
    }
}

fn put_at(all: &mut Map<String, Value>, path: &[String], value: &Value) {
    match path {
        [] => {}
        [last] => {
            all.insert(last.clone(), value.clone());
        }
        [name, rest @ ..] => {
            let inner = all.entry(name).or_insert_with(|| Map::new().into());
            // A leaf has nothing below it, so what stands between is an object.
            if let Value::Object(inner) = inner {
                put_at(inner, rest, value);
            }
        }
    }
}

//! `ordering.json` of each scope: in which order the hooks of a slot run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;
use stud_contract_hook::Slot;
use stud_contract_meta::strict_json;
use stud_diagnostics::{Diagnostic, codes};
use stud_host_api::events::OrderingRewrite;

use crate::did_you_mean::nearest;
use crate::platform::{self, ReadError};
use crate::plugin_scope::Scope;

const LARGEST_MANIFEST: u64 = 1 << 20;

/// The order that the scopes ask for. A slot that none of them mentions keeps its default order.
#[derive(Debug, Clone, Default)]
pub struct Ordering {
    lists: BTreeMap<Slot, List>,
    rewrites: Vec<Rewrite>,
}

/// The order of one slot, and the file that asks for it.
#[derive(Debug, Clone)]
struct List {
    path: PathBuf,
    ids: Vec<String>,
}

/// A scope that changed the order another scope had asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rewrite {
    /// The slot.
    pub slot: Slot,
    /// The scope that has the last word.
    pub scope: Scope,
    /// What was asked for before.
    pub previous: Vec<String>,
    /// What is asked for now.
    pub new: Vec<String>,
}

impl Rewrite {
    /// The event `OrderingRewrite`.
    pub fn event(&self) -> OrderingRewrite {
        OrderingRewrite {
            new_order: self.new.clone(),
            previous_order: self.previous.clone(),
            scope: self.scope.as_str().to_owned(),
            slot: self.slot.as_str().to_owned(),
        }
    }
}

impl Ordering {
    /// Reads the manifest of one scope. Its list for a slot takes the place of an earlier scope's; a missing file
    /// changes nothing, and neither does one that cannot be used.
    pub fn layer(&mut self, scope: Scope, root: &Path) -> Result<(), Diagnostic> {
        let path = root.join("ordering.json");
        let bytes = match platform::read_file(&path, LARGEST_MANIFEST) {
            Ok(bytes) => bytes,
            Err(ReadError::Missing) => return Ok(()),
            Err(error) => {
                let message = format!("the ordering manifest cannot be read: {error}");
                return Err(
                    Diagnostic::error(&codes::ORDERING_MANIFEST_UNREADABLE, message)
                        .file(&path)
                        .with("path", path.display().to_string())
                        .help("correct or remove the file; until then its order is ignored"),
                );
            }
        };
        let manifest = Manifest { path };
        for (slot, ids) in manifest.read(&bytes)? {
            let new = ids.clone();
            let path = manifest.path.clone();
            if let Some(previous) = self.lists.insert(slot, List { path, ids }) {
                self.rewrites.push(Rewrite {
                    slot,
                    scope,
                    previous: previous.ids,
                    new,
                });
            }
        }
        Ok(())
    }

    /// Every change that a later scope made.
    pub fn rewrites(&self) -> &[Rewrite] {
        &self.rewrites
    }

    /// A warning for every name that no hook of its slot has. It orders nothing, and may be a slip of the pen.
    pub fn strangers<'a>(
        &'a self,
        is_there: impl Fn(Slot, &str) -> bool + 'a,
    ) -> impl Iterator<Item = Diagnostic> + 'a {
        let named = self.lists.iter().flat_map(|(slot, list)| {
            let ids = list.ids.iter().enumerate();
            ids.map(move |(place, id)| (*slot, list, place, id))
        });
        let strangers = named.filter(move |(slot, _, _, id)| !is_there(*slot, id));
        strangers.map(|(slot, list, place, id)| {
            let message = format!("no active hook `{id}` sits on {slot}, so it is ordered in vain");
            Diagnostic::warning(&codes::EXTENSION_NOT_FOUND, message)
                .file(&list.path)
                .field(format!("{}/{place}", pointer_to(slot.as_str())))
                .with("slot", slot.as_str())
                .with("extId", id.as_str())
                .help("`stud plugin list` shows which hooks there are; correct the name, or remove it")
        })
    }

    /// Where an extension stands in a slot: those that are named come first, in the order they are named.
    pub fn place(&self, slot: Slot, ext_id: &str) -> usize {
        let named = self.lists.get(&slot);
        let place = named.and_then(|list| list.ids.iter().position(|id| id == ext_id));
        place.unwrap_or(usize::MAX)
    }
}

/// Where a slot stands in a manifest. Its word holds a slash, which a pointer writes as `~1`.
fn pointer_to(slot: &str) -> String {
    format!("/hooks/{}", slot.replace('~', "~0").replace('/', "~1"))
}

/// One file.
struct Manifest {
    path: PathBuf,
}

impl Manifest {
    fn read(&self, bytes: &[u8]) -> Result<Vec<(Slot, Vec<String>)>, Diagnostic> {
        let text = str::from_utf8(bytes)
            .map_err(|error| self.malformed("", &format!("is not UTF-8: {error}")))?;
        let document = strict_json::parse(text).map_err(|error| {
            let place = format!("line {}, column {}", error.line, error.column);
            self.malformed("", &format!("is not JSON: {} at {place}", error.problem))
        })?;
        let Value::Object(document) = document else {
            return Err(self.malformed("", "is not an object"));
        };
        if let Some(key) = document.keys().find(|key| *key != "hooks") {
            return Err(self.malformed(&format!("/{key}"), "is not known; there is only `hooks`"));
        }
        let Some(Value::Object(slots)) = document.get("hooks") else {
            return Err(self.malformed("/hooks", "is missing, or is not an object"));
        };
        let lists = slots.iter().map(|(slot, list)| self.slot(slot, list));
        lists.collect()
    }

    fn slot(&self, word: &str, list: &Value) -> Result<(Slot, Vec<String>), Diagnostic> {
        let pointer = pointer_to(word);
        let Some(slot) = Slot::parse(word) else {
            let message = format!("`{word}` is not a slot");
            let mut unknown = Diagnostic::error(&codes::HOOK_INVALID_ATTACHMENT, message)
                .file(&self.path)
                .field(pointer)
                .with("slot", word);
            if let Some(near) = nearest(word, Slot::ALL.map(Slot::as_str)) {
                unknown = unknown.help(format!("did you mean `{near}`?"));
            }
            return Err(unknown);
        };
        let ids: Option<Vec<String>> = list.as_array().and_then(|list| {
            let ids = list.iter().map(|id| id.as_str().map(str::to_owned));
            ids.collect()
        });
        let Some(ids) = ids.filter(|ids| !ids.is_empty()) else {
            return Err(self.malformed(&pointer, "is not a list of extension ids"));
        };
        for (place, id) in ids.iter().enumerate() {
            if ids[..place].contains(id) {
                let message = format!("`{id}` stands twice in `{word}`");
                let code = &codes::ORDERING_MANIFEST_DUPLICATE_EXT_ID;
                return Err(Diagnostic::error(code, message)
                    .file(&self.path)
                    .field(format!("{pointer}/{place}"))
                    .with("slot", word)
                    .with("extId", id.as_str())
                    .help("name each extension once in a slot"));
            }
        }
        Ok((slot, ids))
    }

    fn malformed(&self, pointer: &str, what: &str) -> Diagnostic {
        let subject = match pointer {
            "" => "the ordering manifest".to_owned(),
            _ => format!("`{pointer}`"),
        };
        let code = &codes::ORDERING_MANIFEST_MALFORMED;
        let diagnostic = Diagnostic::error(code, format!("{subject} {what}")).file(&self.path);
        let diagnostic = match pointer {
            "" => diagnostic,
            _ => diagnostic.field(pointer),
        };
        diagnostic
            .with("path", self.path.display().to_string())
            .help(r#"the form is {"hooks": {"TOOL_CALL/pre": ["first", "second"]}}"#)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn layered(texts: &[(Scope, &str)]) -> Result<Ordering, Diagnostic> {
        let mut ordering = Ordering::default();
        for (scope, text) in texts {
            let folder = tempfile::tempdir().unwrap();
            std::fs::write(folder.path().join("ordering.json"), text).unwrap();
            ordering.layer(*scope, folder.path())?;
        }
        Ok(ordering)
    }

    #[test]
    fn a_later_scope_replaces_the_list_of_a_slot() {
        let ordering = layered(&[
            (
                Scope::Global,
                r#"{"hooks":{"TOOL_CALL/pre":["a","b"],"RENDER/pre":["c"]}}"#,
            ),
            (Scope::Project, r#"{"hooks":{"TOOL_CALL/pre":["b"]}}"#),
        ])
        .unwrap();
        assert_eq!(ordering.place(Slot::ToolCallPre, "b"), 0);
        assert_eq!(ordering.place(Slot::ToolCallPre, "a"), usize::MAX);
        assert_eq!(ordering.place(Slot::RenderPre, "c"), 0);
        let [rewrite] = ordering.rewrites() else {
            panic!("one list was replaced");
        };
        assert_eq!(
            json!(rewrite.event()),
            json!({"slot": "TOOL_CALL/pre", "scope": "project", "previousOrder": ["a", "b"], "newOrder": ["b"]})
        );
    }

    #[test]
    fn a_name_that_nobody_has_is_told() {
        let text = r#"{"hooks":{"RENDER/pre":["here","gone"]}}"#;
        let ordering = layered(&[(Scope::Global, text)]).unwrap();
        let is_there = |slot, id: &str| slot == Slot::RenderPre && id == "here";
        let warnings: Vec<Diagnostic> = ordering.strangers(is_there).collect();
        let [gone] = &warnings[..] else {
            panic!("{warnings:?}");
        };
        assert_eq!(gone.field_path.as_deref(), Some("/hooks/RENDER~1pre/1"));
        assert_eq!(gone.context["extId"], "gone");
    }

    #[test]
    fn what_is_no_manifest_is_refused_in_place() {
        let malformed = &codes::ORDERING_MANIFEST_MALFORMED;
        for (text, code, field) in [
            ("{", malformed, None),
            ("[]", malformed, None),
            ("{}", malformed, Some("/hooks")),
            (r#"{"hooks":[]}"#, malformed, Some("/hooks")),
            (r#"{"hooks":{},"tools":{}}"#, malformed, Some("/tools")),
            (
                r#"{"hooks":{"RENDER/pre":[]}}"#,
                malformed,
                Some("/hooks/RENDER~1pre"),
            ),
            (
                r#"{"hooks":{"RENDER/pre":[1]}}"#,
                malformed,
                Some("/hooks/RENDER~1pre"),
            ),
            (
                r#"{"hooks":{"RENDER/mid":["a"]}}"#,
                &codes::HOOK_INVALID_ATTACHMENT,
                Some("/hooks/RENDER~1mid"),
            ),
            (
                r#"{"hooks":{"RENDER/pre":["a","b","a"]}}"#,
                &codes::ORDERING_MANIFEST_DUPLICATE_EXT_ID,
                Some("/hooks/RENDER~1pre/2"),
            ),
        ] {
            let error = layered(&[(Scope::Global, text)]).unwrap_err();
            assert_eq!(error.code, code, "{text}");
            assert_eq!(error.field_path.as_deref(), field, "{text}");
        }
    }

    #[test]
    fn a_file_that_cannot_be_read_is_told() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("ordering.json")).unwrap();
        let error = Ordering::default()
            .layer(Scope::Global, folder.path())
            .unwrap_err();
        assert_eq!(error.code, &codes::ORDERING_MANIFEST_UNREADABLE);
        Ordering::default()
            .layer(Scope::Global, Path::new("/nowhere"))
            .unwrap();
    }
}

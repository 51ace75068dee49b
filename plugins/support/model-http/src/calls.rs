//! Tool calls put together from the fragments they come in.

use serde_json::{Map, Value};

use crate::call_id::CallIds;
use crate::failure::Failure;

/// A call that is whole.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// Its name in the session.
    pub id: String,
    /// The tool.
    pub name: String,
    /// What it is called with.
    pub args: Value,
}

/// The calls of one answer, in the order in which they began.
#[derive(Debug, Default)]
pub struct Calls {
    drafts: Vec<Draft>,
}

#[derive(Debug, Default)]
struct Draft {
    slot: Option<u64>,
    id: String,
    name: String,
    args: String,
}

impl Calls {
    /// Adds a fragment: which call it belongs to, and what is new about that call.
    ///
    /// The slot is the backend's number of the call. A fragment without one belongs to the call that its id names, or
    /// else to the last; one with another id than the call in its slot begins a new call, because some backends give all
    /// calls the same number.
    pub fn add(&mut self, slot: Option<u64>, id: &str, name: &str, args: &str) {
        let draft = self.draft(slot, id);
        if draft.id.is_empty() {
            id.clone_into(&mut draft.id);
        }
        // A name comes whole; backends that send it again send the same.
        if draft.name.is_empty() {
            name.clone_into(&mut draft.name);
        }
        draft.args.push_str(args);
    }

    /// Replaces what has come of the arguments, once the backend has sent them whole.
    pub fn settle(&mut self, slot: Option<u64>, id: &str, name: &str, args: &str) {
        self.draft(slot, id).args.clear();
        self.add(slot, id, name, args);
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.drafts.is_empty()
    }

    /// The calls, all of them whole.
    pub fn finish(&mut self, ids: &mut CallIds) -> Result<Vec<ToolCall>, Failure> {
        let drafts = std::mem::take(&mut self.drafts);
        drafts.into_iter().map(|draft| draft.finish(ids)).collect()
    }

    fn draft(&mut self, slot: Option<u64>, id: &str) -> &mut Draft {
        let same = |draft: &Draft| id.is_empty() || draft.id.is_empty() || draft.id == id;
        let found = match slot {
            Some(_) => {
                let last = self.drafts.iter().rposition(|draft| draft.slot == slot);
                last.filter(|at| same(&self.drafts[*at]))
            }
            None if id.is_empty() => self.drafts.len().checked_sub(1),
            None => self.drafts.iter().rposition(|draft| draft.id == id),
        };
        let at = found.unwrap_or_else(|| {
            self.drafts.push(Draft {
                slot,
                ..Draft::default()
            });
            self.drafts.len() - 1
        });
        &mut self.drafts[at]
    }
}

impl Draft {
    fn finish(self, ids: &mut CallIds) -> Result<ToolCall, Failure> {
        let id = ids.claim(&self.id);
        if self.name.is_empty() {
            let why = "the model proposes a call and does not name the tool";
            return Err(Failure::malformed(why).of_call(&id));
        }
        let args = if self.args.trim().is_empty() {
            Value::Object(Map::new())
        } else {
            serde_json::from_str(&self.args).map_err(|_| {
                let name = &self.name;
                let why = format!("the arguments of a call of `{name}` are not JSON");
                Failure::malformed(why).of_call(&id)
            })?
        };
        Ok(ToolCall {
            id,
            name: self.name,
            args,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn finish(mut calls: Calls) -> Vec<(String, String, Value)> {
        let calls = calls.finish(&mut CallIds::default()).unwrap();
        let plain = |call: ToolCall| (call.id, call.name, call.args);
        calls.into_iter().map(plain).collect()
    }

    fn call(id: &str, name: &str, args: Value) -> (String, String, Value) {
        (id.to_owned(), name.to_owned(), args)
    }

    #[test]
    fn fragments_of_several_calls_may_be_mixed() {
        let mut calls = Calls::default();
        calls.add(Some(0), "a", "read", "");
        calls.add(Some(1), "b", "write", "{\"p\"");
        calls.add(Some(0), "", "", "{\"x\":");
        calls.add(Some(1), "", "", ":2}");
        calls.add(Some(0), "", "", "1}");
        let expected = [
            call("a", "read", json!({"x": 1})),
            call("b", "write", json!({"p": 2})),
        ];
        assert_eq!(finish(calls), expected);
    }

    #[test]
    fn a_backend_without_numbers_is_understood() {
        let mut calls = Calls::default();
        calls.add(None, "a", "read", "{");
        calls.add(None, "", "", "}");
        calls.add(None, "b", "read", "[1");
        calls.add(None, "b", "read", "]");
        let expected = [call("a", "read", json!({})), call("b", "read", json!([1]))];
        assert_eq!(finish(calls), expected);
    }

    #[test]
    fn a_backend_with_one_number_for_all_is_understood() {
        let mut calls = Calls::default();
        calls.add(Some(0), "a", "read", "{\"n\":1}");
        calls.add(Some(0), "b", "read", "{\"n\"");
        calls.add(Some(0), "", "", ":2}");
        let expected = [
            call("a", "read", json!({"n": 1})),
            call("b", "read", json!({"n": 2})),
        ];
        assert_eq!(finish(calls), expected);
    }

    #[test]
    fn whole_arguments_replace_fragments() {
        let mut calls = Calls::default();
        calls.add(Some(3), "a", "read", "{\"n\":");
        calls.settle(Some(3), "a", "read", "{\"n\":1}");
        calls.settle(Some(4), "b", "list", "");
        let expected = [
            call("a", "read", json!({"n": 1})),
            call("b", "list", json!({})),
        ];
        assert_eq!(finish(calls), expected);
    }

    #[test]
    fn what_is_not_whole_is_malformed() {
        for (name, args) in [("", "{}"), ("read", "{"), ("read", "{} {}"), ("read", "x")] {
            let mut calls = Calls::default();
            calls.add(Some(0), "a", name, args);
            let failure = calls.finish(&mut CallIds::default()).unwrap_err();
            let error = failure.into_error(None);
            stud_observed::covers!(PROVIDER_OUTPUT_MALFORMED, error);
            assert_eq!(error.context()["callId"], "a", "{name} {args}");
        }
    }
}

//! What a model thought before it proposed a call.

use serde_json::Value;

/// The content of one answer as it came, thinking and signatures included.
///
/// The backend refuses the results of a call whose thinking is missing or changed.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Thoughts(pub(crate) Vec<Value>);

impl Thoughts {
    /// The content to send in place of `said`, which is what the conversation has kept of the same answer.
    ///
    /// If it has kept all of it, the content as it came. If something in it was changed since, what was kept, after the
    /// thinking alone.
    pub(crate) fn restore(self, said: Vec<Value>) -> Vec<Value> {
        let Self(came) = self;
        let is_thought =
            |block: &Value| block["type"] == "thinking" || block["type"] == "redacted_thinking";
        let spoken = came.iter().filter(|block| !is_thought(block));
        if plain(spoken) == plain(&said) {
            return came;
        }
        came.into_iter().filter(is_thought).chain(said).collect()
    }
}

/// The text of blocks, and the blocks that are none.
fn plain<'a>(blocks: impl IntoIterator<Item = &'a Value>) -> (String, Vec<&'a Value>) {
    let mut text = String::new();
    let mut others = Vec::new();
    for block in blocks {
        match block["text"].as_str() {
            Some(more) if block["type"] == "text" => text.push_str(more),
            _ => others.push(block),
        }
    }
    (text, others)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn came() -> Thoughts {
        Thoughts(vec![
            json!({"type": "thinking", "thinking": "hm", "signature": "s1"}),
            json!({"type": "text", "text": "Let me "}),
            json!({"type": "redacted_thinking", "data": "x"}),
            json!({"type": "text", "text": "look."}),
            json!({"type": "tool_use", "id": "a", "name": "look", "input": {}}),
        ])
    }

    #[test]
    fn what_was_kept_whole_is_sent_as_it_came() {
        let said = vec![
            json!({"type": "text", "text": "Let me look."}),
            json!({"type": "tool_use", "id": "a", "name": "look", "input": {}}),
        ];
        assert_eq!(came().restore(said), came().0);
    }

    #[test]
    fn what_was_changed_stays_changed() {
        let said = vec![
            json!({"type": "text", "text": "Let me [REDACTED]."}),
            json!({"type": "tool_use", "id": "a", "name": "look", "input": {}}),
        ];
        let restored = came().restore(said.clone());
        assert_eq!(restored[..2], [came().0[0].clone(), came().0[2].clone()]);
        assert_eq!(restored[2..], said);
    }
}

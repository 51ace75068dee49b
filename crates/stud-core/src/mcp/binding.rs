//! A resource of a server with limits of its own.

use serde_json::Value;
use stud_contract_meta::{Error, Result};
use stud_diagnostics::codes;

use super::sanitize::cut;

/// Which resource, and how much of it at most.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceBinding {
    /// The server.
    pub server_id: String,
    /// The resource's address there.
    pub uri: String,
    /// The most bytes; what is beyond is cut off.
    pub max_bytes: u64,
    /// The most tokens it may take up in a request.
    pub max_tokens: Option<u64>,
}

/// What was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bound {
    /// Which resource, with which limits.
    pub binding: ResourceBinding,
    /// Its content, as far as the limit goes.
    pub content: Vec<u8>,
    /// Its media type.
    pub mime_type: String,
    /// Whether something was cut off.
    pub truncated: bool,
}

impl Bound {
    /// What the content is worth: it comes from outside, even when the server is trusted.
    pub const TAINT: &'static str = "untrusted";
}

impl ResourceBinding {
    /// Reads one from `{serverId, uri, maxBytes, maxTokens?}`.
    ///
    /// # Errors
    ///
    /// `Validation/BindingCapExceeded` for a limit that is not a whole number above 0.
    pub fn read(value: &Value) -> Result<Self> {
        let text = |member: &str| value[member].as_str().unwrap_or_default().to_owned();
        let (server_id, uri) = (text("serverId"), text("uri"));
        let cap = |member: &str| match &value[member] {
            Value::Null => Ok(None),
            cap => match cap.as_u64().filter(|cap| *cap > 0) {
                Some(cap) => Ok(Some(cap)),
                None => Err(exceeded(&server_id, &uri, member)),
            },
        };
        let max_bytes = cap("maxBytes")?;
        let max_tokens = cap("maxTokens")?;
        Ok(Self {
            max_bytes: max_bytes.ok_or_else(|| exceeded(&server_id, &uri, "maxBytes"))?,
            max_tokens,
            server_id,
            uri,
        })
    }

    /// Cuts what is too long, on a character if it is text.
    pub(super) fn hold(&self, mut content: Vec<u8>) -> (Vec<u8>, bool) {
        let most = usize::try_from(self.max_bytes).unwrap_or(usize::MAX);
        if content.len() <= most {
            return (content, false);
        }
        let kept = match str::from_utf8(&content) {
            Ok(text) => cut(text, most).len(),
            Err(_) => most,
        };
        content.truncate(kept);
        (content, true)
    }
}

fn exceeded(server_id: &str, uri: &str, member: &str) -> Error {
    let code = &codes::BINDING_CAP_EXCEEDED;
    let message = format!("`{member}` of a bound resource is a whole number above 0");
    Error::new(code.class, code.name, message)
        .with("serverId", server_id)
        .with("uri", uri)
        .with("fieldPath", format!("/{member}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_limit_is_a_whole_number_above_0() {
        for max_bytes in [json!(0), json!(-1), json!(1.5), json!("9"), json!(null)] {
            let binding = json!({"serverId": "s", "uri": "file:///a", "maxBytes": max_bytes});
            let error = ResourceBinding::read(&binding).unwrap_err();
            assert_eq!(error.code(), "BindingCapExceeded", "{max_bytes}");
            assert_eq!(error.context()["fieldPath"], "/maxBytes");
        }
        let binding = json!({"serverId": "s", "uri": "u", "maxBytes": 1, "maxTokens": 0});
        assert!(ResourceBinding::read(&binding).is_err());
    }

    #[test]
    fn text_is_cut_on_a_character() {
        let binding = json!({"serverId": "s", "uri": "u", "maxBytes": 4});
        let binding = ResourceBinding::read(&binding).unwrap();
        assert_eq!(binding.hold(b"1234".to_vec()), (b"1234".to_vec(), false));
        assert_eq!(binding.hold("123é".into()), (b"123".to_vec(), true));
        assert_eq!(binding.hold(vec![255; 9]), (vec![255; 4], true));
    }
}

//! The proof that a call may run, exactly as it was judged.

use std::sync::Arc;

use data_encoding::HEXLOWER;
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};
use stud_contract_meta::{Error, Result};
use stud_diagnostics::codes;

use super::stream::Proposal;
use crate::canonical;
use crate::tool_registry::ToolSource;

/// A no, and who says it.
#[derive(Default)]
pub(super) struct No {
    pub(super) source: &'static str,
    pub(super) code: String,
    pub(super) reason: String,
    /// What a guard says about it besides.
    pub(super) context: Map<String, Value>,
}

/// A call that may run, once. Only the authority stack makes one.
#[derive(Debug)]
pub(super) struct Permit {
    pub(super) giver: Arc<dyn ToolSource>,
    pub(super) call: Proposal,
    /// What was approved; nothing for a tool that needs no approval.
    pub(super) approval_key: Option<String>,
    digest: ArgsDigest,
}

impl Permit {
    /// Binds what was judged to what may run.
    pub(super) fn of(
        giver: Arc<dyn ToolSource>,
        call: Proposal,
        approval_key: Option<String>,
        judged: ArgsDigest,
    ) -> Result<Self> {
        if ArgsDigest::of(&call) != judged {
            let code = &codes::APPROVAL_DENIED;
            let message = "the arguments are not those that were approved";
            return Err(
                Error::new(code.class, code.name, message).with("toolId", call.tool_name.as_str())
            );
        }
        Ok(Self {
            giver,
            call,
            approval_key,
            digest: judged,
        })
    }

    /// Gives up the call that may run. It is still the one that was judged.
    pub(super) fn redeem(self) -> Result<(Arc<dyn ToolSource>, Proposal)> {
        let Self {
            giver,
            call,
            approval_key,
            digest,
        } = self;
        let permit = Self::of(giver, call, approval_key, digest)?;
        Ok((permit.giver, permit.call))
    }
}

/// Stands for a tool and its exact arguments. Two are equal only if those are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ArgsDigest([u8; 32]);

impl ArgsDigest {
    pub(super) fn of(call: &Proposal) -> Self {
        let mut hash = Sha256::new();
        hash.update(call.tool_name.as_bytes());
        hash.update([0]);
        // The same text for the same arguments, in whatever order their members stand; what is JSON can be written.
        hash.update(canonical::text(&call.args).unwrap_or_default());
        Self(hash.finalize().into())
    }
}

/// The SHA-256 of the canonical form of arguments, in hexadecimal digits: what the audit trail knows them by.
pub(super) fn args_digest(args: &Value) -> String {
    HEXLOWER.encode(&Sha256::digest(canonical::text(args).unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn digest(tool: &str, args: Value) -> ArgsDigest {
        ArgsDigest::of(&Proposal {
            tool_call_id: "any".to_owned(),
            tool_name: tool.to_owned(),
            args,
        })
    }

    #[test]
    fn a_digest_stands_for_the_tool_and_every_argument() {
        let one = digest("bash", json!({"command": "ls", "cwd": "."}));
        assert_eq!(one, digest("bash", json!({"cwd": ".", "command": "ls"})));
        assert_ne!(one, digest("bash", json!({"command": "ls "})));
        assert_ne!(one, digest("sh", json!({"command": "ls", "cwd": "."})));
    }

    #[test]
    fn the_audit_trail_knows_arguments_by_their_canonical_form() {
        let one = args_digest(&json!({"command": "ls", "cwd": "."}));
        // printf '{"command":"ls","cwd":"."}' | sha256sum
        assert_eq!(
            one,
            "883384bcad289a3e0ffa924bf3adbc290ba02b76cf828c7a25fd747f177377f7"
        );
        assert_eq!(one, args_digest(&json!({"cwd": ".", "command": "ls"})));
    }
}

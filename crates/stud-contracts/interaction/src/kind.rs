//! The ten kinds of question, and who may ask which.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use stud_contract_meta::Error;
use stud_diagnostics::codes;

/// What a request asks for.
///
/// The list is closed: nobody can send a kind of their own.
/// A new one comes with a minor version of the protocol, hence `non_exhaustive`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum InteractionKind {
    /// Free text.
    Ask,
    /// Leave for one gated tool call.
    Approve,
    /// One entry of a list.
    Select,
    /// A login that the person finishes on another page.
    #[serde(rename = "Auth.DeviceCode")]
    AuthDeviceCode,
    /// A password or another secret.
    #[serde(rename = "Auth.Password")]
    AuthPassword,
    /// Yes or no.
    Confirm,
    /// Leave for one tool call that the current stage's envelope does not cover.
    #[serde(rename = "grantStageTool")]
    GrantStageTool,
    /// Leave to open a child session with a set of tools.
    #[serde(rename = "approveSubagentEnvelope")]
    ApproveSubagentEnvelope,
    /// A form that a running tool needs filled in.
    ToolInput,
    /// Leave for a running tool to go on.
    ToolApproval,
}

impl InteractionKind {
    /// All kinds, oldest first.
    pub const ALL: [Self; 10] = [
        Self::Ask,
        Self::Approve,
        Self::Select,
        Self::AuthDeviceCode,
        Self::AuthPassword,
        Self::Confirm,
        Self::GrantStageTool,
        Self::ApproveSubagentEnvelope,
        Self::ToolInput,
        Self::ToolApproval,
    ];

    /// The word on every wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ask => "Ask",
            Self::Approve => "Approve",
            Self::Select => "Select",
            Self::AuthDeviceCode => "Auth.DeviceCode",
            Self::AuthPassword => "Auth.Password",
            Self::Confirm => "Confirm",
            Self::GrantStageTool => "grantStageTool",
            Self::ApproveSubagentEnvelope => "approveSubagentEnvelope",
            Self::ToolInput => "ToolInput",
            Self::ToolApproval => "ToolApproval",
        }
    }

    /// The protocol minor that brought this kind: an interactor built for an older one is not offered it.
    pub const fn since(self) -> u64 {
        match self {
            Self::Ask
            | Self::Approve
            | Self::Select
            | Self::AuthDeviceCode
            | Self::AuthPassword
            | Self::Confirm
            | Self::GrantStageTool => 0,
            Self::ApproveSubagentEnvelope => 1,
            Self::ToolInput | Self::ToolApproval => 2,
        }
    }

    /// Whether core alone raises this kind, on its own account.
    pub const fn is_core_only(self) -> bool {
        matches!(
            self,
            Self::Approve | Self::GrantStageTool | Self::ApproveSubagentEnvelope
        )
    }

    /// Whether a running tool asks, and decides itself what an answer means.
    pub const fn is_of_tools(self) -> bool {
        matches!(self, Self::ToolInput | Self::ToolApproval)
    }

    /// Whether the answer may be a secret, and so must not be recorded or broadcast.
    pub const fn is_secret(self) -> bool {
        matches!(self, Self::AuthDeviceCode | Self::AuthPassword)
    }

    /// Whether plugins of this category own the kind.
    ///
    /// `category` is the word of the manifest's `kind` field (`Tool`, `StateMachine`, …); an unknown category owns
    /// nothing.
    /// A state machine's right holds at stage boundaries only, which the caller has to know.
    pub fn may_be_raised_by(self, category: &str) -> bool {
        match category {
            "Tool" => matches!(self, Self::Ask | Self::ToolInput | Self::ToolApproval),
            "Provider" => matches!(self, Self::AuthDeviceCode | Self::AuthPassword),
            "Command" => matches!(self, Self::Confirm | Self::Select),
            "StateMachine" => matches!(self, Self::Confirm | Self::Select | Self::Ask),
            _ => false,
        }
    }
}

impl fmt::Display for InteractionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for InteractionKind {
    type Err = Error;

    /// Reads the wire word; another one is `Validation/InteractionKindUnknown`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|kind| kind.as_str() == text)
            .ok_or_else(|| {
                Error::new(
                    codes::INTERACTION_KIND_UNKNOWN.class,
                    codes::INTERACTION_KIND_UNKNOWN.name,
                    format!("`{text}` is not a kind of interaction"),
                )
                .with("kind", text)
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stud_contract_meta::Kind;
    use stud_diagnostics::Class;

    fn owned_by(category: &str) -> Vec<&'static str> {
        InteractionKind::ALL
            .into_iter()
            .filter(|kind| kind.may_be_raised_by(category))
            .map(InteractionKind::as_str)
            .collect()
    }

    #[test]
    fn serde_and_text_agree_on_every_word() {
        for kind in InteractionKind::ALL {
            let json = serde_json::to_value(kind).unwrap();
            assert_eq!(json, kind.as_str());
            assert_eq!(
                serde_json::from_value::<InteractionKind>(json).unwrap(),
                kind
            );
            assert_eq!(kind.as_str().parse::<InteractionKind>().unwrap(), kind);
        }
    }

    #[test]
    fn another_word_is_an_unknown_kind() {
        for text in ["trustProject", "ask", "Auth", "GrantStageTool", ""] {
            let error = text.parse::<InteractionKind>().unwrap_err();
            assert!(
                error.is(Class::Validation, "InteractionKindUnknown"),
                "{text}: {error}"
            );
            assert_eq!(error.context()["kind"], text);
        }
    }

    #[test]
    fn each_category_owns_its_kinds_and_no_others() {
        assert_eq!(owned_by("Tool"), ["Ask", "ToolInput", "ToolApproval"]);
        assert_eq!(owned_by("Provider"), ["Auth.DeviceCode", "Auth.Password"]);
        assert_eq!(owned_by("Command"), ["Select", "Confirm"]);
        assert_eq!(owned_by("StateMachine"), ["Ask", "Select", "Confirm"]);
        for category in [
            "Hook",
            "UI",
            "Logger",
            "SessionStore",
            "ContextProvider",
            "Mystery",
        ] {
            assert!(owned_by(category).is_empty(), "{category}");
        }
    }

    #[test]
    fn no_category_owns_a_core_kind_and_some_category_owns_each_other() {
        for kind in InteractionKind::ALL {
            let owned = Kind::ALL
                .iter()
                .any(|category| kind.may_be_raised_by(category.as_str()));
            assert_eq!(owned, !kind.is_core_only(), "{kind}");
        }
    }

    #[test]
    fn each_minor_brought_its_kinds() {
        let of = |minor| {
            InteractionKind::ALL
                .into_iter()
                .filter(|kind| kind.since() == minor)
                .count()
        };
        assert_eq!([of(0), of(1), of(2)], [7, 1, 2]);
    }
}

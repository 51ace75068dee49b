//! The twelve places a hook can sit, and which hooks may sit where.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::registration::{FiringMode, SubKind};

/// Before or after one of the six stages of the message loop.
///
/// The word of a slot is `STAGE/pre` or `STAGE/post`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Slot {
    /// Before input is taken in.
    #[serde(rename = "RECEIVE_INPUT/pre")]
    ReceiveInputPre,
    /// After input was taken in.
    #[serde(rename = "RECEIVE_INPUT/post")]
    ReceiveInputPost,
    /// Before the request to the model is put together.
    #[serde(rename = "COMPOSE_REQUEST/pre")]
    ComposeRequestPre,
    /// After the request was put together: the place for shaping it.
    #[serde(rename = "COMPOSE_REQUEST/post")]
    ComposeRequestPost,
    /// Before the request goes to the provider.
    #[serde(rename = "SEND_REQUEST/pre")]
    SendRequestPre,
    /// After the request went out.
    #[serde(rename = "SEND_REQUEST/post")]
    SendRequestPost,
    /// Before the answer is read.
    #[serde(rename = "STREAM_RESPONSE/pre")]
    StreamResponsePre,
    /// After the answer was read.
    #[serde(rename = "STREAM_RESPONSE/post")]
    StreamResponsePost,
    /// Before a tool is called: the place for rules about arguments.
    #[serde(rename = "TOOL_CALL/pre")]
    ToolCallPre,
    /// After a tool was called.
    #[serde(rename = "TOOL_CALL/post")]
    ToolCallPost,
    /// Before the answer is shown.
    #[serde(rename = "RENDER/pre")]
    RenderPre,
    /// After the answer was shown.
    #[serde(rename = "RENDER/post")]
    RenderPost,
}

/// Whether hooks of a sub-kind may sit on a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attachment {
    /// They may.
    Allowed,
    /// They may, and there is a better place: `COMPOSE_REQUEST/post` for shaping requests.
    Rare,
    /// They may not.
    Forbidden,
}

/// How much of what passes a hook on the slot is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Visibility {
    /// All of it.
    Full,
    /// The tool's name and arguments.
    ArgsOnly,
    /// What the stage made of it.
    Result,
}

impl Slot {
    /// All twelve, in the order a turn passes them.
    pub const ALL: [Self; 12] = [
        Self::ReceiveInputPre,
        Self::ReceiveInputPost,
        Self::ComposeRequestPre,
        Self::ComposeRequestPost,
        Self::SendRequestPre,
        Self::SendRequestPost,
        Self::StreamResponsePre,
        Self::StreamResponsePost,
        Self::ToolCallPre,
        Self::ToolCallPost,
        Self::RenderPre,
        Self::RenderPost,
    ];

    /// The word in a manifest and in `ordering.json`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ReceiveInputPre => "RECEIVE_INPUT/pre",
            Self::ReceiveInputPost => "RECEIVE_INPUT/post",
            Self::ComposeRequestPre => "COMPOSE_REQUEST/pre",
            Self::ComposeRequestPost => "COMPOSE_REQUEST/post",
            Self::SendRequestPre => "SEND_REQUEST/pre",
            Self::SendRequestPost => "SEND_REQUEST/post",
            Self::StreamResponsePre => "STREAM_RESPONSE/pre",
            Self::StreamResponsePost => "STREAM_RESPONSE/post",
            Self::ToolCallPre => "TOOL_CALL/pre",
            Self::ToolCallPost => "TOOL_CALL/post",
            Self::RenderPre => "RENDER/pre",
            Self::RenderPost => "RENDER/post",
        }
    }

    /// The slot whose word this is.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|slot| slot.as_str() == word)
    }

    /// Whether the slot comes before its stage.
    pub const fn is_pre(self) -> bool {
        matches!(
            self,
            Self::ReceiveInputPre
                | Self::ComposeRequestPre
                | Self::SendRequestPre
                | Self::StreamResponsePre
                | Self::ToolCallPre
                | Self::RenderPre
        )
    }

    /// How much of what passes is shown to hooks here.
    pub const fn visibility(self) -> Visibility {
        match self {
            Self::ToolCallPre => Visibility::ArgsOnly,
            Self::SendRequestPost
            | Self::StreamResponsePost
            | Self::ToolCallPost
            | Self::RenderPost => Visibility::Result,
            Self::ReceiveInputPre
            | Self::ReceiveInputPost
            | Self::ComposeRequestPre
            | Self::ComposeRequestPost
            | Self::SendRequestPre
            | Self::StreamResponsePre
            | Self::RenderPre => Visibility::Full,
        }
    }

    /// Whether hooks here may fire in this mode: once per stage everywhere, per call around a tool call, per token
    /// around the stream.
    pub const fn fires(self, mode: FiringMode) -> bool {
        match mode {
            FiringMode::PerStage => true,
            FiringMode::PerCall => matches!(self, Self::ToolCallPre | Self::ToolCallPost),
            FiringMode::PerToken => {
                matches!(self, Self::StreamResponsePre | Self::StreamResponsePost)
            }
        }
    }
}

impl fmt::Display for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The attachment matrix.
pub const fn attachment(slot: Slot, sub_kind: SubKind) -> Attachment {
    use Attachment::{Allowed, Forbidden, Rare};
    let (transform, guard) = match slot {
        Slot::ReceiveInputPre | Slot::ComposeRequestPre | Slot::ToolCallPre => (Allowed, Allowed),
        Slot::ReceiveInputPost
        | Slot::ComposeRequestPost
        | Slot::ToolCallPost
        | Slot::RenderPre => (Allowed, Forbidden),
        Slot::SendRequestPre | Slot::StreamResponsePre => (Rare, Allowed),
        Slot::SendRequestPost | Slot::StreamResponsePost | Slot::RenderPost => {
            (Forbidden, Forbidden)
        }
    };
    match sub_kind {
        SubKind::Transform => transform,
        SubKind::Guard => guard,
        SubKind::Observer => Allowed,
    }
}

/// Whether a hook of this sub-kind may sit on the slot; [`Attachment::Rare`] counts as yes.
pub const fn permits(slot: Slot, sub_kind: SubKind) -> bool {
    !matches!(attachment(slot, sub_kind), Attachment::Forbidden)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Transform, guard, observer; per call, per token; visibility.
    const MATRIX: [(&str, [Attachment; 3], [bool; 2], Visibility); 12] = {
        use Attachment::{Allowed as Y, Forbidden as N, Rare as R};
        use Visibility::{ArgsOnly, Full, Result};
        [
            ("RECEIVE_INPUT/pre", [Y, Y, Y], [false, false], Full),
            ("RECEIVE_INPUT/post", [Y, N, Y], [false, false], Full),
            ("COMPOSE_REQUEST/pre", [Y, Y, Y], [false, false], Full),
            ("COMPOSE_REQUEST/post", [Y, N, Y], [false, false], Full),
            ("SEND_REQUEST/pre", [R, Y, Y], [false, false], Full),
            ("SEND_REQUEST/post", [N, N, Y], [false, false], Result),
            ("STREAM_RESPONSE/pre", [R, Y, Y], [false, true], Full),
            ("STREAM_RESPONSE/post", [N, N, Y], [false, true], Result),
            ("TOOL_CALL/pre", [Y, Y, Y], [true, false], ArgsOnly),
            ("TOOL_CALL/post", [Y, N, Y], [true, false], Result),
            ("RENDER/pre", [Y, N, Y], [false, false], Full),
            ("RENDER/post", [N, N, Y], [false, false], Result),
        ]
    };

    #[test]
    fn the_whole_matrix() {
        for (slot, (word, attachments, [per_call, per_token], visibility)) in
            Slot::ALL.into_iter().zip(MATRIX)
        {
            assert_eq!(slot.as_str(), word);
            for (sub_kind, expected) in SubKind::ALL.into_iter().zip(attachments) {
                assert_eq!(attachment(slot, sub_kind), expected, "{sub_kind} on {slot}");
                let permitted = expected != Attachment::Forbidden;
                assert_eq!(permits(slot, sub_kind), permitted, "{sub_kind} on {slot}");
            }
            assert!(slot.fires(FiringMode::PerStage), "{slot}");
            assert_eq!(slot.fires(FiringMode::PerCall), per_call, "{slot}");
            assert_eq!(slot.fires(FiringMode::PerToken), per_token, "{slot}");
            assert_eq!(slot.visibility(), visibility, "{slot}");
        }
    }

    #[test]
    fn serde_and_text_agree_on_every_word() {
        for slot in Slot::ALL {
            assert_eq!(serde_json::to_value(slot).unwrap(), slot.as_str());
            assert_eq!(Slot::parse(slot.as_str()), Some(slot));
            assert_eq!(slot.is_pre(), slot.as_str().ends_with("/pre"));
        }
        for wrong in [
            "",
            "TOOL_CALL",
            "TOOL_CALL/mid",
            "tool_call/pre",
            "TOOL_CALL/pre ",
        ] {
            assert_eq!(Slot::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn guards_sit_before_stages_only() {
        for slot in Slot::ALL {
            assert!(slot.is_pre() || !permits(slot, SubKind::Guard), "{slot}");
        }
    }
}

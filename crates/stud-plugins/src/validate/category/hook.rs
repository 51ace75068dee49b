//! A Hook: a slot that exists, and a kind of hook that slot takes.

use stud_contract_hook::{FiringMode, Slot, SubKind};
use stud_diagnostics::{Diagnostic, codes};

use super::{Members, read};
use crate::validate::document::Document;
use stud_config::did_you_mean::nearest;

pub(super) fn check(document: &Document<'_>) -> Result<Members, Diagnostic> {
    let registration = document.object("registration", "an object with `slot` and `subKind`")?;
    let word = registration.text("slot", "one of the twelve slots")?;
    let Some(slot) = Slot::parse(word) else {
        let unknown = document
            .provenance
            .error(
                document.stage,
                &codes::HOOK_SLOT_UNKNOWN,
                format!("`{word}` is not a slot of the message loop"),
            )
            .field("/registration/slot")
            .with("slot", word);
        return Err(match nearest(word, Slot::ALL.map(Slot::as_str)) {
            Some(near) => unknown.help(format!("did you mean `{near}`?")),
            None => unknown.help("author: use a slot such as `TOOL_CALL/pre`"),
        });
    };
    let sub_kind = registration.word(
        "subKind",
        &SubKind::ALL.map(SubKind::as_str),
        SubKind::parse,
    )?;
    let refused = |message: String| {
        document
            .provenance
            .error(document.stage, &codes::HOOK_INVALID_ATTACHMENT, message)
            .field("/registration")
            .with("slot", slot.as_str())
            .with("subKind", sub_kind.as_str())
    };
    if !stud_contract_hook::permits(slot, sub_kind) {
        return Err(refused(format!("`{slot}` takes no {sub_kind}"))
            .help("author: attach it to a slot that does; observers may be attached anywhere"));
    }
    let firing = registration
        .members
        .get("firingMode")
        .filter(|value| !value.is_null());
    if let Some(mode) = firing {
        let mode: FiringMode =
            serde::Deserialize::deserialize(mode).map_err(|_: serde_json::Error| {
                registration.invalid("firingMode", "`per-stage`, `per-call` or `per-token`")
            })?;
        let stage = match mode {
            FiringMode::PerStage => "",
            FiringMode::PerCall => "TOOL_CALL/",
            FiringMode::PerToken => "STREAM_RESPONSE/",
        };
        if !slot.as_str().starts_with(stage) {
            return Err(refused(format!("`{slot}` does not fire that often"))
                .with("firingMode", firing.cloned().unwrap_or_default())
                .help("author: `per-call` is for `TOOL_CALL`, `per-token` for `STREAM_RESPONSE`"));
        }
    }
    read(document).map(Members::Hook)
}

//! UIs.

use stud_contract_meta::Phase;

use super::calls::prompt;
use crate::case::{Context, Running, Verdict, untyped};
use crate::subject::Call;

pub(super) fn roles(context: &Context) -> Verdict {
    let roles = context.list("roles");
    if roles.is_empty() {
        return Verdict::fail("there is no role");
    }
    for role in roles {
        let handler = match role.as_str().unwrap_or_default() {
            "subscriber" => "onEvent",
            "interactor" => "onInteraction",
            "region" => "renderRegion",
            _ => return Verdict::fail(format!("{role} is no role")),
        };
        if !context
            .list("handlers")
            .iter()
            .any(|known| known == handler)
        {
            return Verdict::fail(format!("the role {role} has no handler `{handler}`"));
        }
    }
    Verdict::Pass
}

pub(super) fn late_answer(context: &Context) -> Verdict {
    if !context
        .list("roles")
        .iter()
        .any(|role| role == "interactor")
    {
        return Verdict::not_applicable("it answers no prompts");
    }
    let subject = context.instance();
    let up = subject
        .lifecycle(Phase::Init)
        .and_then(|()| subject.lifecycle(Phase::Activate));
    if let Err(error) = up {
        return Verdict::not_applicable(format!("it does not become active here: {error}"));
    }
    subject.answer_too_late();
    let running = Running::start(&subject, prompt());
    // The prompt was settled elsewhere, which an interactor learns from its cancellation.
    subject.cancel();
    match running.result() {
        None => return Verdict::fail("it did not return when the prompt was settled elsewhere"),
        Some(Err(error)) => {
            if let Some(why) = untyped(&error) {
                return Verdict::fail(why);
            }
        }
        Some(Ok(_)) => {}
    }
    let has_events = context
        .list("roles")
        .iter()
        .any(|role| role == "subscriber");
    if !has_events {
        return Verdict::Pass;
    }
    let event = Call::Event(
        "InteractionCancelled".to_owned(),
        serde_json::json!({"correlationId": "turn-1", "interactionId": "interaction-1"}),
    );
    match subject.call(&event) {
        Ok(_) => Verdict::Pass,
        Err(error) => Verdict::fail(format!("afterward an event was refused: {error}")),
    }
}

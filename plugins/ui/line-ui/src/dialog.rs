//! Each kind of question, put to a person line by line.

use stud_sdk::interaction::{
    Action, Answer, ApprovalScope, Approve, ApproveAnswer, Ask, AskAnswer, AuthAnswer, Confirm,
    ConfirmAnswer, Decision, EnvelopeAnswer, EnvelopeOutcome, GrantAnswer, GrantOutcome, Payload,
    Request, Secret, Select, SelectAnswer, ToolApproval, ToolInput, UserResponse,
};

use crate::escape;
use crate::form;
use crate::input_router::Gone;
use crate::prompt_heading::{self, Names};
use crate::question::{Stop, Talk};
use crate::reply::{Menu, word_and_note, yes_or_no};

/// Asks until the answer fits the question.
pub(crate) async fn hold(
    talk: &mut Talk,
    request: &Request,
    names: &Names,
) -> Result<Answer, Stop> {
    let heading = prompt_heading::of(request, names);
    Ok(match &request.payload {
        Payload::Ask(ask) => text(talk, &heading, ask).await?.into(),
        Payload::Approve(approve) => approval(talk, &heading, approve).await?.into(),
        Payload::Select(select) => choice(talk, &heading, select).await?.into(),
        Payload::AuthDeviceCode(_) => Answer::AuthDeviceCode(login(talk, &heading).await?),
        Payload::AuthPassword(_) => Answer::AuthPassword(secret(talk, &heading).await?),
        Payload::Confirm(confirm) => confirmation(talk, &heading, confirm).await?.into(),
        Payload::GrantStageTool(_) => grant(talk, &heading).await?.into(),
        Payload::ApproveSubagentEnvelope(_) => envelope(talk, &heading).await?.into(),
        Payload::ToolInput(input) => Answer::ToolInput(tool_input(talk, heading, input).await?),
        Payload::ToolApproval(approval) => {
            Answer::ToolApproval(tool_approval(talk, &heading, approval).await?)
        }
        // A newer protocol may have kinds that this version cannot answer; others may.
        _ => {
            talk.remark(&format!("{heading}\n{}", Gone::Unknown));
            return Err(Gone::Unknown.into());
        }
    })
}

async fn text(talk: &mut Talk, heading: &str, ask: &Ask) -> Result<AskAnswer, Stop> {
    let default = ask.default_value.as_deref();
    let invitation = match default {
        Some(default) => format!("[{}] ", escape::line(default)),
        None => "answer: ".to_owned(),
    };
    let typed = talk.ask(heading, &invitation).await?;
    let text = match default {
        Some(default) if typed.is_empty() => default,
        _ => &typed,
    };
    Ok(AskAnswer {
        text: text.to_owned(),
    })
}

async fn choice(talk: &mut Talk, heading: &str, select: &Select) -> Result<SelectAnswer, Stop> {
    let menu = Menu::new(select.options.iter().map(|option| vec![option.as_str()]));
    let heading = heading.to_owned() + &menu.lines();
    let read = |typed: &str| menu.find(typed);
    let index = talk.ask_until(&heading, "number or text: ", read).await?;
    Ok(SelectAnswer { index })
}

async fn confirmation(
    talk: &mut Talk,
    heading: &str,
    confirm: &Confirm,
) -> Result<ConfirmAnswer, Stop> {
    let invitation = match confirm.default {
        Some(true) => "[Y/n] ",
        Some(false) => "[y/N] ",
        None => "[y/n] ",
    };
    let read = |typed: &str| match (yes_or_no(typed), confirm.default) {
        (Some(confirmed), _) => Ok(confirmed),
        (None, Some(default)) if typed.trim().is_empty() => Ok(default),
        (None, _) => Err("type y or n".to_owned()),
    };
    let confirmed = talk.ask_until(heading, invitation, read).await?;
    Ok(ConfirmAnswer { confirmed })
}

async fn login(talk: &mut Talk, heading: &str) -> Result<AuthAnswer, Stop> {
    let read = |typed: &str| match typed.trim().to_lowercase().as_str() {
        "" => Ok(true),
        "c" => Ok(false),
        _ => Err("press Enter once you are logged in, or type c to cancel".to_owned()),
    };
    let invitation = "Enter = done, c = cancel: ";
    if talk.ask_until(heading, invitation, read).await? {
        Ok(AuthAnswer::Completed)
    } else {
        Err(Stop::Cancelled)
    }
}

async fn secret(talk: &mut Talk, heading: &str) -> Result<AuthAnswer, Stop> {
    let mut heading = heading;
    loop {
        let typed = talk.ask(heading, "secret: ").await?;
        if !typed.is_empty() {
            return Ok(AuthAnswer::Secret(Secret::new(typed.as_str())));
        }
        talk.correct("nothing was typed; .cancel calls it off");
        heading = "";
    }
}

async fn approval(
    talk: &mut Talk,
    heading: &str,
    approve: &Approve,
) -> Result<ApproveAnswer, Stop> {
    let offered = approve.offered();
    let read = |typed: &str| match typed.trim().to_lowercase().as_str() {
        "n" | "no" => Ok(None),
        typed => scope(typed, offered).map(Some),
    };
    let invitation = letters(offered, "n = no");
    let scope = talk.ask_until(heading, &invitation, read).await?;
    Ok(ApproveAnswer {
        decision: if scope.is_some() {
            Decision::Approve
        } else {
            Decision::Deny
        },
        allow_once: (scope == Some(ApprovalScope::Once)).then_some(true),
        scope,
    })
}

async fn tool_approval(
    talk: &mut Talk,
    heading: &str,
    approval: &ToolApproval,
) -> Result<UserResponse, Stop> {
    let offered = approval.offered();
    let read = |typed: &str| {
        let (word, reason) = word_and_note(typed);
        match (word.as_str(), reason) {
            ("n" | "no", reason) => Ok(UserResponse {
                reason,
                ..UserResponse::new(Action::Deny)
            }),
            ("c" | "cancel", None) => Ok(UserResponse::new(Action::Cancel)),
            (word, None) => scope(word, offered).map(|scope| UserResponse {
                approval_scope: Some(scope),
                ..UserResponse::new(Action::Approve)
            }),
            (_, Some(_)) => Err("only a no can have a reason".to_owned()),
        }
    };
    let invitation = letters(offered, "n [why] = no, c = cancel");
    let response = talk.ask_until(heading, &invitation, read).await?;
    let action = match response.action {
        Action::Approve => "approve",
        Action::Deny => "deny",
        Action::Submit | Action::Cancel => "cancel",
    };
    if let Some(summary) =
        form_values::summary(approval.completed_view.as_ref(), action, &Vec::new())
    {
        talk.remark(&summary);
    }
    Ok(response)
}

/// The letters of an approval, the narrowest scope first, and what else may be typed.
fn letters(offered: &[ApprovalScope], others: &str) -> String {
    let letters = [
        (ApprovalScope::Once, "y = once, "),
        (ApprovalScope::Session, "s = for this session, "),
        (ApprovalScope::Always, "a = always in this project, "),
    ];
    let offered = letters
        .into_iter()
        .filter(|(scope, _)| offered.contains(scope));
    let offered: String = offered.map(|(_, words)| words).collect();
    format!("{offered}{others}: ")
}

fn scope(typed: &str, offered: &[ApprovalScope]) -> Result<ApprovalScope, String> {
    let scope = match typed {
        // A plain yes is for this call alone; wider scopes are chosen by their own letter.
        "y" | "yes" | "o" | "once" => Some(ApprovalScope::Once),
        "s" | "session" => Some(ApprovalScope::Session),
        "a" | "always" => Some(ApprovalScope::Always),
        _ => None,
    };
    let scope = scope.filter(|scope| offered.contains(scope));
    scope.ok_or_else(|| "type one of the letters".to_owned())
}

async fn grant(talk: &mut Talk, heading: &str) -> Result<GrantAnswer, Stop> {
    let read = |typed: &str| {
        let (word, note) = word_and_note(typed);
        let outcome = match word.as_str() {
            "approve" | "y" | "yes" => GrantOutcome::Approve,
            "deny" | "n" | "no" => GrantOutcome::Deny,
            "defer" => GrantOutcome::Defer,
            _ => return Err("type approve, deny or defer, and a note if you like".to_owned()),
        };
        Ok(GrantAnswer { outcome, note })
    };
    talk.ask_until(heading, "approve, deny or defer [note]: ", read)
        .await
}

async fn envelope(talk: &mut Talk, heading: &str) -> Result<EnvelopeAnswer, Stop> {
    let read = |typed: &str| {
        let (word, note) = word_and_note(typed);
        let outcome = match word.as_str() {
            "approve" | "y" | "yes" => EnvelopeOutcome::Approve,
            "deny" | "n" | "no" => EnvelopeOutcome::Deny,
            _ => return Err("type approve or deny, and a note if you like".to_owned()),
        };
        Ok(EnvelopeAnswer { outcome, note })
    };
    talk.ask_until(heading, "approve or deny [note]: ", read)
        .await
}

async fn tool_input(
    talk: &mut Talk,
    heading: String,
    input: &ToolInput,
) -> Result<UserResponse, Stop> {
    let lead = heading + "\n(.cancel calls it off)";
    let values = form::fill_in(talk, lead, input).await?;
    let view = input.completed_view.as_ref();
    if let Some(summary) =
        form_values::summary(view, "submit", &form_values::readable(input, &values))
    {
        talk.remark(&summary);
    }
    Ok(UserResponse {
        input: Some(values.into_iter().collect()),
        ..UserResponse::new(Action::Submit)
    })
}

//! What can be chosen in a prompt, in rows.

use stud_sdk::interaction::{
    Action, Answer, ApprovalScope, Approve, ApproveAnswer, ConfirmAnswer, Decision, EnvelopeAnswer,
    EnvelopeOutcome, GrantAnswer, GrantOutcome, Payload, ToolApproval, UserResponse,
};

use crate::text::row::{Look, Row, joined, piece};
use crate::text::{escape, wrap};

/// One row to choose.
#[derive(Debug)]
pub(crate) struct Choice {
    pub(crate) label: String,
    pub(crate) detail: String,
    /// The key that takes it at once.
    pub(crate) letter: Option<char>,
    pub(crate) act: Act,
    /// Whether it lets something happen.
    pub(crate) allows: bool,
}

/// What a choice does.
#[derive(Debug)]
pub(crate) enum Act {
    Give(Answer),
    /// The entry of a list.
    Index(usize),
    /// Asks for the reason of a no.
    Reason,
    /// Asks for a note to go with the answer.
    Note,
}

impl Choice {
    fn no(answer: impl Into<Answer>) -> Self {
        Self {
            label: "no".to_owned(),
            detail: String::new(),
            letter: Some('n'),
            act: Act::Give(answer.into()),
            allows: false,
        }
    }

    fn yes(label: &str, letter: char, answer: impl Into<Answer>) -> Self {
        Self {
            label: label.to_owned(),
            detail: String::new(),
            letter: Some(letter),
            act: Act::Give(answer.into()),
            allows: true,
        }
    }

    fn asking(label: &str, letter: char, act: Act) -> Self {
        Self {
            label: label.to_owned(),
            detail: String::new(),
            letter: Some(letter),
            act,
            allows: false,
        }
    }

    /// The rows of this choice, the first with its number.
    pub(crate) fn rows(
        &self,
        number: usize,
        selected: bool,
        inactive: bool,
        columns: usize,
    ) -> Vec<Row> {
        let mark = if selected { ">" } else { " " };
        let look = match (inactive, selected) {
            (true, _) => Look::Dim,
            (false, true) => Look::Bold,
            (false, false) => Look::Plain,
        };
        let mut text = vec![piece(self.label.clone(), look)];
        if !self.detail.is_empty() {
            let gap = 24_usize.saturating_sub(self.label.chars().count()).max(2);
            text.push(piece(
                format!("{}{}", " ".repeat(gap), self.detail),
                Look::Dim,
            ));
        }
        let lead = joined([piece(format!("{mark} {number:<2} "), look)]);
        wrap::wrap(&joined(text), columns, &lead, &Row::from("     "))
    }
}

/// The choices of a prompt, and the one it begins on.
pub(crate) fn of(payload: &Payload) -> (Vec<Choice>, Option<usize>) {
    match payload {
        Payload::Approve(approve) => (approval(approve), Some(0)),
        Payload::ToolApproval(approval) => (tool_approval(approval), Some(0)),
        Payload::Confirm(confirm) => {
            let answer = |confirmed| ConfirmAnswer { confirmed };
            let choices = vec![
                Choice::yes("yes", 'y', answer(true)),
                Choice::no(answer(false)),
            ];
            let selected = confirm.default.map(|default| usize::from(!default));
            (choices, selected)
        }
        Payload::Select(select) => {
            let choices = select
                .options
                .iter()
                .enumerate()
                .map(|(index, option)| Choice {
                    label: escape::line(option).into_owned(),
                    detail: String::new(),
                    letter: None,
                    act: Act::Index(index),
                    allows: false,
                });
            (choices.collect(), Some(0))
        }
        Payload::GrantStageTool(_) => {
            let answer = |outcome| GrantAnswer {
                outcome,
                note: None,
            };
            let choices = vec![
                Choice::yes(
                    "approve, once, this proposal only",
                    'y',
                    answer(GrantOutcome::Approve),
                ),
                Choice {
                    label: "deny".to_owned(),
                    ..Choice::no(answer(GrantOutcome::Deny))
                },
                Choice {
                    allows: false,
                    ..Choice::yes(
                        "defer to the next attempt",
                        'd',
                        answer(GrantOutcome::Defer),
                    )
                },
                Choice::asking("with a note …", 't', Act::Note),
            ];
            (choices, Some(0))
        }
        Payload::ApproveSubagentEnvelope(_) => {
            let answer = |outcome| EnvelopeAnswer {
                outcome,
                note: None,
            };
            let choices = vec![
                Choice::yes("yes", 'y', answer(EnvelopeOutcome::Approve)),
                Choice::no(answer(EnvelopeOutcome::Deny)),
                Choice::asking("yes or no, with a note …", 't', Act::Note),
            ];
            (choices, Some(0))
        }
        _ => (Vec::new(), None),
    }
}

/// What a yes in a scope is called, from narrow to wide.
const SCOPES: [(ApprovalScope, &str); 3] = [
    (ApprovalScope::Once, "once"),
    (ApprovalScope::Session, "for this session"),
    (ApprovalScope::Always, "always in this project"),
];

fn approval(approve: &Approve) -> Vec<Choice> {
    let offered = approve.offered();
    let mut choices = Vec::new();
    for (scope, label) in SCOPES
        .into_iter()
        .filter(|(scope, _)| offered.contains(scope))
    {
        let is_once = scope == ApprovalScope::Once;
        let answer = ApproveAnswer {
            decision: Decision::Approve,
            allow_once: is_once.then_some(true),
            scope: Some(scope),
        };
        let offer = approve.scopes.iter().find(|offer| offer.scope == scope);
        let detail = offer.map(|offer| {
            let (covers, kept) = (escape::exact(&offer.covers), escape::exact(&offer.kept));
            if is_once {
                covers
            } else {
                format!("{covers}; kept {kept}")
            }
        });
        choices.push(Choice {
            detail: detail.unwrap_or_default(),
            letter: is_once.then_some('y'),
            ..Choice::yes(label, 'y', answer)
        });
    }
    choices.push(Choice::no(ApproveAnswer {
        decision: Decision::Deny,
        allow_once: None,
        scope: None,
    }));
    choices.push(Choice::asking("no, because …", 'r', Act::Reason));
    choices
}

fn tool_approval(approval: &ToolApproval) -> Vec<Choice> {
    let offered = approval.offered();
    let mut choices = Vec::new();
    for (scope, label) in SCOPES
        .into_iter()
        .filter(|(scope, _)| offered.contains(scope))
    {
        let answer = UserResponse {
            approval_scope: Some(scope),
            ..UserResponse::new(Action::Approve)
        };
        choices.push(Choice {
            letter: (scope == ApprovalScope::Once).then_some('y'),
            ..Choice::yes(label, 'y', Answer::ToolApproval(answer))
        });
    }
    choices.push(Choice::no(Answer::ToolApproval(UserResponse::new(
        Action::Deny,
    ))));
    choices.push(Choice::asking("no, because …", 'r', Act::Reason));
    let cancel = Answer::ToolApproval(UserResponse::new(Action::Cancel));
    choices.push(Choice {
        allows: false,
        ..Choice::yes("cancel", 'c', cancel)
    });
    choices
}

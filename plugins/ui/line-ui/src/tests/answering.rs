//! Every kind is answered, with a yes and with a no.

use stud_sdk::interaction::{
    Action, Answer, ApprovalScope, Approve, ApproveAnswer, ApproveSubagentEnvelope, Ask, AskAnswer,
    AuthAnswer, AuthDeviceCode, AuthPassword, Confirm, ConfirmAnswer, Decision, EnvelopeAnswer,
    EnvelopeOutcome, GrantAnswer, GrantOutcome, GrantStageTool, ModelRef, Payload, Request, Secret,
    Select, SelectAnswer, Status, Timeout, ToolApproval, UserResponse,
};
use stud_sdk::testing::{FakeHost, block_on};
use stud_sdk::ui::Interactor as _;

use super::rig::{Paper, Rig, answer, lend};
use crate::devices::Devices;
use crate::keyboard::Keyboard;
use crate::{Color, LineUi, Options};

/// Each of `typed` gives `expected`, with nothing left over for the session.
fn check(payload: impl Into<Payload>, shown: &str, cases: &[(&str, impl Into<Answer> + Clone)]) {
    let payload = payload.into();
    for (typed, expected) in cases {
        let rig = Rig::new();
        let response = rig.gets(payload.clone(), shown, typed);
        assert_eq!(response.status, Status::Accepted, "{typed:?}");
        let given = answer(&response, &payload);
        assert_eq!(given, Some(expected.clone().into()), "{typed:?}");
        assert_eq!(rig.catches_up(), Vec::<String>::new(), "{typed:?}");
    }
}

/// Each of `typed` refuses the question.
fn check_refused(payload: impl Into<Payload>, shown: &str, cases: &[&str]) {
    let payload = payload.into();
    for typed in cases {
        let response = Rig::new().gets(payload.clone(), shown, typed);
        assert_eq!(response.status, Status::Rejected, "{typed:?}");
        assert_eq!(answer(&response, &payload), None);
    }
}

#[test]
fn ask_takes_a_line_or_its_default() {
    let text = |text: &str| AskAnswer { text: text.into() };
    let plain = Ask {
        prompt: "Your name?".into(),
        placeholder: Some("first name".into()),
        default_value: None,
    };
    let cases = [
        ("Ada Lovelace \n", text("Ada Lovelace ")),
        ("\n", text("")),
        ("/exit\n", text("/exit")),
        ("naïve\r\n", text("naïve")),
    ];
    check(plain.clone(), "? Your name? (first name)\nanswer: ", &cases);
    check_refused(plain.clone(), "answer: ", &[".cancel\n"]);

    let default_value = Some("Grace".to_owned());
    let asked = Ask {
        default_value,
        ..plain
    };
    check(
        asked,
        "[Grace] ",
        &[("\n", text("Grace")), ("Ada\n", text("Ada"))],
    );
}

#[test]
fn what_is_no_text_is_asked_again() {
    let rig = Rig::new();
    let asked = rig.asks(Ask::default());
    rig.notes.wait_for("answer: ");
    rig.types_bytes(b"\xff\n");
    rig.notes.wait_for("not UTF-8");
    rig.types("Ada\n");
    let response = asked.response();
    let text = "Ada".to_owned();
    let expected = Some(AskAnswer { text }.into());
    assert_eq!(answer(&response, &Ask::default().into()), expected);
}

fn approve(scopes: Option<Vec<ApprovalScope>>) -> Approve {
    Approve {
        tool_id: "bash".into(),
        approval_key: "bash:git".into(),
        description: "git status\ngit diff".into(),
        approval_scopes: scopes,
        ..Approve::default()
    }
}

fn decided(scope: Option<ApprovalScope>) -> ApproveAnswer {
    ApproveAnswer {
        decision: if scope.is_some() {
            Decision::Approve
        } else {
            Decision::Deny
        },
        allow_once: (scope == Some(ApprovalScope::Once)).then_some(true),
        scope,
    }
}

#[test]
fn approve_offers_what_is_offered() {
    let shown = "? Allow the tool bash?\n  | git status\n  | git diff\n  key: bash:git\n\
                 y = once, s = for this session, n = no: ";
    let cases = [
        ("y\n", decided(Some(ApprovalScope::Once))),
        ("YES\n", decided(Some(ApprovalScope::Once))),
        ("s\n", decided(Some(ApprovalScope::Session))),
        ("o\n", decided(Some(ApprovalScope::Once))),
        ("once\n", decided(Some(ApprovalScope::Once))),
        ("n\n", decided(None)),
        ("\nmaybe\na\ny please\nn\n", decided(None)),
    ];
    check(approve(None), shown, &cases);
    check_refused(approve(None), shown, &[".cancel\n"]);

    let once = approve(Some(vec![ApprovalScope::Once]));
    let cases = [("s\ny\n", decided(Some(ApprovalScope::Once)))];
    check(once, "key: bash:git\ny = once, n = no: ", &cases);

    let always = approve(Some(vec![ApprovalScope::Always]));
    let cases = [
        ("a\n", decided(Some(ApprovalScope::Always))),
        ("y\ns\nno\n", decided(None)),
    ];
    check(
        always,
        "key: bash:git\na = always in this project, n = no: ",
        &cases,
    );
}

#[test]
fn select_takes_a_number_or_the_text() {
    let select = Select {
        prompt: "Which branch?".into(),
        options: vec!["main".into(), "next\u{202e}".into()],
    };
    let shown = "? Which branch?\n  1. main\n  2. next\\u{202e}\nnumber or text: ";
    let index = |index| SelectAnswer { index };
    let cases = [
        ("2\n", index(1)),
        ("main\n", index(0)),
        ("3\n0\nMAIN\n\n#1\n", index(0)),
    ];
    check(select.clone(), shown, &cases);
    check_refused(select, shown, &[".cancel\n"]);
}

#[test]
fn confirm_shows_its_default() {
    let confirm = |default| Confirm {
        prompt: "Clear all?".into(),
        default,
    };
    let said = |confirmed| ConfirmAnswer { confirmed };
    let cases = [
        ("y\n", said(true)),
        ("No\n", said(false)),
        ("\nwhat\nyes\n", said(true)),
    ];
    check(confirm(None), "? Clear all?\n[y/n] ", &cases);
    check(
        confirm(Some(true)),
        "[Y/n] ",
        &[("\n", said(true)), ("n\n", said(false))],
    );
    check(
        confirm(Some(false)),
        "[y/N] ",
        &[("\n", said(false)), ("y\n", said(true))],
    );
    check_refused(confirm(None), "[y/n] ", &[".cancel\n"]);
}

#[test]
fn a_device_login_is_finished_or_called_off() {
    let login = AuthDeviceCode {
        url: "https://example.org/device".into(),
        code: "ABCD-1234".into(),
        expires_at: "2026-01-01T00:10:00.000Z".into(),
    };
    let shown = "  page: https://example.org/device\n  code: ABCD-1234\n  \
                 valid until: 2026-01-01T00:10:00.000Z\nEnter = done, c = cancel: ";
    let done = Answer::AuthDeviceCode(AuthAnswer::Completed);
    check(
        login.clone(),
        shown,
        &[("\n", done.clone()), ("done\n\n", done)],
    );
    check_refused(login, shown, &["c\n", ".cancel\n"]);
}

#[test]
fn a_secret_is_handed_over_and_nowhere_written() {
    let password = AuthPassword {
        prompt: "Key for example.org".into(),
    };
    let rig = Rig::new();
    let shown = "? Key for example.org\nsecret: ";
    let response = rig.gets(password.clone(), shown, "\n hunter2 \n");
    let expected = Answer::AuthPassword(AuthAnswer::Secret(Secret::new(" hunter2 ")));
    assert_eq!(answer(&response, &password.clone().into()), Some(expected));
    assert!(!format!("{response:?}").contains("hunter2"));
    for written in [rig.text.text(), rig.notes.text()] {
        assert!(!written.contains("hunter2"), "{written}");
    }
    assert_eq!(rig.catches_up(), Vec::<String>::new());
    check_refused(password, "secret: ", &[".cancel\n"]);
}

#[test]
fn what_follows_a_secret_may_be_its_rest_and_goes_nowhere() {
    let rig = Rig::new();
    let response = rig.gets(
        AuthPassword::default(),
        "secret: ",
        "-----BEGIN KEY\nMIIE\n-----END",
    );
    assert_eq!(response.status, Status::Accepted);
    rig.types("\n");
    assert_eq!(rig.catches_up(), Vec::<String>::new());
}

#[test]
fn a_stage_grant_takes_a_note() {
    let grant = GrantStageTool {
        tool: "bash".into(),
        args_summary: "git push".into(),
        reason: Some("the release stage pushes".into()),
        ..GrantStageTool::default()
    };
    let shown = "? Allow the tool bash once, outside of what the stage allows?\n  | git push\n  \
                 | the release stage pushes\napprove, deny or defer [note]: ";
    let given = |outcome, note: Option<&str>| GrantAnswer {
        outcome,
        note: note.map(str::to_owned),
    };
    let cases = [
        ("approve\n", given(GrantOutcome::Approve, None)),
        (
            "y just once\n",
            given(GrantOutcome::Approve, Some("just once")),
        ),
        (
            "deny not today\n",
            given(GrantOutcome::Deny, Some("not today")),
        ),
        ("Defer\n", given(GrantOutcome::Defer, None)),
        ("later\n\nn\n", given(GrantOutcome::Deny, None)),
    ];
    check(grant.clone(), shown, &cases);
    check_refused(grant, shown, &[".cancel\n"]);
}

fn envelope() -> ApproveSubagentEnvelope {
    ApproveSubagentEnvelope {
        subagent_id: "a1".into(),
        parent_session_id: "s1".into(),
        depth: 1,
        requested_envelope: vec!["read".into(), "grep".into()],
        prompt_summary: "find the bug".into(),
        model: ModelRef {
            provider_id: "echo".into(),
            model_id: "echo-1".into(),
        },
        label: Some("finder".into()),
    }
}

#[test]
fn a_child_session_is_approved_or_denied() {
    let shown = "? Start the subagent finder a1?\n  | find the bug\n  \
                 tools it may use unasked: read, grep\n  model: echo-1 of echo\n  depth: 1\n\
                 approve or deny [note]: ";
    let given = |outcome, note: Option<&str>| EnvelopeAnswer {
        outcome,
        note: note.map(str::to_owned),
    };
    let cases = [
        (
            "approve go on\n",
            given(EnvelopeOutcome::Approve, Some("go on")),
        ),
        ("defer\ndeny\n", given(EnvelopeOutcome::Deny, None)),
    ];
    check(envelope(), shown, &cases);
    check_refused(envelope(), shown, &[".cancel\n"]);
}

#[test]
fn a_tool_may_be_allowed_denied_and_called_off() {
    let approval = ToolApproval {
        tool_call_id: "c1".into(),
        tool_name: "fx_gate".into(),
        prompt: Some("Run x?".into()),
        timeout_ms: Timeout::millis(1500),
        error: Some("say it again".into()),
        ..ToolApproval::default()
    };
    let shown = "? The tool fx_gate asks (open for 2 s):\n  | Run x?\n! say it again\n\
                 y = once, s = for this session, n [why] = no, c = cancel: ";
    let approved = |scope| {
        Answer::ToolApproval(UserResponse {
            approval_scope: Some(scope),
            ..UserResponse::new(Action::Approve)
        })
    };
    let denied = |reason: Option<&str>| {
        Answer::ToolApproval(UserResponse {
            reason: reason.map(str::to_owned),
            ..UserResponse::new(Action::Deny)
        })
    };
    let cancelled = || Answer::ToolApproval(UserResponse::new(Action::Cancel));
    let cases = [
        ("y\n", approved(ApprovalScope::Once)),
        ("s\n", approved(ApprovalScope::Session)),
        ("a\nyes but\nn not today\n", denied(Some("not today"))),
        ("n\n", denied(None)),
        ("c\n", cancelled()),
        (".cancel\n", cancelled()),
    ];
    check(approval.clone(), shown, &cases);

    let bare = ToolApproval {
        prompt: None,
        approval_scopes: Some(vec![ApprovalScope::Always]),
        ..approval
    };
    let shown = "? Allow the tool fx_gate to continue?";
    check(bare, shown, &[("s\na\n", approved(ApprovalScope::Always))]);
}

#[test]
fn a_subagent_is_named_in_its_questions() {
    let (input, keys) = std::io::pipe().unwrap();
    let (text, notes) = (Paper::default(), Paper::default());
    let host = FakeHost::new();
    lend(Devices {
        keyboard: Keyboard::new(input.into()),
        text: text.output(false),
        notes: notes.output(false),
    });
    let options = Options {
        prompt: String::new(),
        color: Color::Never,
    };
    let ui = LineUi::new(host.cx().host().clone(), options).unwrap();
    ui.activate().unwrap();
    drop(keys);
    let ask = |payload: Payload| {
        let request = Request::new("i1", "t1", "2026-01-01T00:00:00.000Z", payload);
        let request = request.from_subagent("s1", "a1");
        block_on(ui.on_interaction(request, &host.cx())).unwrap()
    };
    assert_eq!(ask(Confirm::default().into()).status, Status::Dismissed);
    notes.wait_for("? [subagent a1] ");
    ask(envelope().into());
    ask(Confirm {
        prompt: "Sure?".into(),
        default: None,
    }
    .into());
    notes.wait_for("? [subagent a1 finder depth 1] Sure?");
}

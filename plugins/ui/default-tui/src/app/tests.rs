//! The screen as a whole, on a terminal in memory.

use std::num::NonZero;

use stud_sdk::interaction::{Approve, InteractionAnswered, Payload};
use stud_sdk::json;

use super::*;
use crate::terminal::decoder::Decoder;
use crate::terminal::printer::{Abilities, Printer};

/// A screen, its terminal, and a clock that stands still until it is moved.
struct Rig {
    app: App,
    printer: Printer,
    decoder: Decoder,
    terminal: vt100::Parser,
    now: Instant,
    written: String,
}

impl Rig {
    fn new(rows: u16, columns: u16) -> Self {
        let app = App::new(
            Options::default(),
            (columns, rows),
            Clock::default(),
            "default-tui",
        );
        let abilities = Abilities {
            reflows: true,
            synchronized: false,
            color: true,
        };
        Self {
            app,
            printer: Printer::new(usize::from(columns), abilities),
            decoder: Decoder::default(),
            terminal: vt100::Parser::new(
                NonZero::new(rows).unwrap(),
                NonZero::new(columns).unwrap(),
                10_000,
            ),
            now: Instant::now(),
            written: String::new(),
        }
    }

    fn draw(&mut self) {
        loop {
            let frame = self.app.frame(self.now);
            let bytes = self.printer.frame(&frame.commits, &frame.live, frame.caret);
            self.terminal.process(bytes.as_bytes());
            self.written.push_str(&bytes);
            self.app.frame_written(self.now);
            if !self.app.has_more() {
                return;
            }
        }
    }

    fn types(&mut self, bytes: &str) {
        for input in self.decoder.feed(bytes.as_bytes()) {
            self.app.input(input, self.now);
        }
        for input in self.decoder.time_out() {
            self.app.input(input, self.now);
        }
        self.draw();
    }

    fn waits(&mut self, millis: u64) {
        self.now += Duration::from_millis(millis);
        self.draw();
    }

    fn hears(&mut self, name: &str, payload: Value) {
        self.app.event(name, &payload.to_string(), self.now);
        self.draw();
    }

    fn is_asked(&mut self, id: &str) {
        let approve = Approve {
            tool_id: "bash".to_owned(),
            approval_key: "cargo".to_owned(),
            args: Some(json!({"command": "cargo test"})),
            ..Approve::default()
        };
        let request = Request::new(id, "t1", "", Payload::from(approve));
        self.app.prompt(request, self.now);
        self.draw();
    }

    fn rows(&self) -> Vec<String> {
        let (_, columns) = self.terminal.screen().size();
        let rows = self.terminal.screen().rows(0, columns.get());
        let mut rows: Vec<String> = rows.map(|row| row.trim_end().to_owned()).collect();
        while rows.last().is_some_and(String::is_empty) {
            rows.pop();
        }
        rows
    }

    fn shows(&self, text: &str) -> bool {
        self.rows().iter().any(|row| row.contains(text))
    }

    fn responses(&mut self) -> Vec<Value> {
        let effects = self.app.effects().into_iter();
        effects
            .filter_map(|effect| match effect {
                Effect::Respond(response) => Some(value_of(&response)),
                _ => None,
            })
            .collect()
    }

    fn submitted(&mut self) -> Vec<String> {
        let effects = self.app.effects().into_iter();
        effects
            .filter_map(|effect| match effect {
                Effect::Submit(ticket, text) => {
                    self.app.done(Done::Submitted(ticket, Ok(ticket)), self.now);
                    Some(text)
                }
                _ => None,
            })
            .collect()
    }

    fn commands(&mut self) -> Vec<String> {
        let effects = self.app.effects().into_iter();
        effects
            .filter_map(|effect| match effect {
                Effect::Command(line) => Some(line),
                _ => None,
            })
            .collect()
    }
}

fn value_of(response: &Response) -> Value {
    json!(response)["value"].clone()
}

#[test]
fn a_turn_from_the_input_to_the_answer() {
    let mut rig = Rig::new(24, 80);
    rig.draw();
    rig.types("why\r");
    assert_eq!(rig.submitted(), ["why"]);
    rig.hears("SessionTurnStart", json!({"turnId": "t", "inputSeq": 1}));
    rig.hears("ProviderRequestStarted", json!({}));
    for delta in ["The loop *st", "ops*.\n\n```rust\nfn a() {}\n", "```\n"] {
        rig.hears("ProviderTokensStreamed", json!({"delta": delta}));
    }
    rig.hears(
        "ProviderRequestCompleted",
        json!({"assistantText": "The loop *stops*.\n\n```rust\nfn a() {}\n```\n"}),
    );
    rig.hears("SessionTurnEnd", json!({"turnId": "t"}));
    let rows = rig.rows();
    let texts: Vec<&str> = rows.iter().map(String::as_str).collect();
    assert!(
        texts[0].starts_with("you  ") && texts[3].starts_with("stud  "),
        "{texts:#?}"
    );
    assert_eq!(texts[1], "why");
    assert_eq!(&texts[4..8], ["The loop stops.", "", "rust", "fn a() {}"]);
}

#[test]
fn tui_36_a_card_is_live_while_it_runs_and_committed_once() {
    let mut rig = Rig::new(24, 80);
    rig.hears("SessionTurnStart", json!({"turnId": "t"}));
    rig.hears(
        "ToolInvocationProposed",
        json!({"toolCallId": "c", "toolName": "read", "args": {"path": "a"}}),
    );
    rig.hears(
        "ToolInvocationStarted",
        json!({"toolCallId": "c", "toolName": "read"}),
    );
    assert!(rig.shows("● read  path=\"a\""), "{:#?}", rig.rows());
    rig.hears(
        "ToolInvocationSucceeded",
        json!({"toolCallId": "c", "toolName": "read", "durationMs": 9}),
    );
    rig.app.done(
        Done::ToolResult("c".to_owned(), Some(json!({"ok": true, "result": "text"}))),
        rig.now,
    );
    rig.draw();
    assert!(
        rig.shows("✓ read  path=\"a\"  9 ms") && rig.shows("  text"),
        "{:#?}",
        rig.rows()
    );
    assert!(!rig.shows("●"));
    rig.hears("ToolInvocationFailed", json!({"toolCallId": "d", "toolName": "bash", "errorClass": "ToolTerminal", "errorCode": "X", "message": "no"}));
    assert!(
        rig.shows("✗ bash  failed: ToolTerminal/X"),
        "{:#?}",
        rig.rows()
    );
}

#[test]
fn tui_36_what_follows_a_call_stands_behind_its_card() {
    let mut rig = Rig::new(24, 80);
    rig.hears("SessionTurnStart", json!({"turnId": "t"}));
    rig.hears(
        "ToolInvocationStarted",
        json!({"toolCallId": "c", "toolName": "read"}),
    );
    rig.hears(
        "ToolInvocationSucceeded",
        json!({"toolCallId": "c", "toolName": "read", "durationMs": 9}),
    );
    rig.hears("ProviderTokensStreamed", json!({"delta": "the answer"}));
    rig.hears(
        "ProviderRequestCompleted",
        json!({"assistantText": "the answer"}),
    );
    rig.hears("SessionTurnEnd", json!({"turnId": "t"}));
    rig.app.done(
        Done::ToolResult(
            "c".to_owned(),
            Some(json!({"ok": true, "result": "output"})),
        ),
        rig.now,
    );
    rig.draw();
    let rows = rig.rows().join("\n");
    let place = |text: &str| {
        rows.find(text)
            .unwrap_or_else(|| panic!("{text} is not in {rows}"))
    };
    assert!(
        place("read  9 ms") < place("  output") && place("  output") < place("the answer"),
        "{rows}"
    );
    assert_eq!(rows.matches("the answer").count(), 1);
}

#[test]
fn tui_72_a_dialog_takes_no_key_before_half_a_second_of_silence() {
    let mut rig = Rig::new(24, 80);
    rig.draw();
    rig.is_asked("i1");
    assert!(rig.shows("? Allow bash") && !rig.shows("y once"));
    rig.waits(499);
    rig.types("y");
    assert!(rig.responses().is_empty());
    assert!(rig.shows("draft: y"), "{:#?}", rig.rows());
    rig.types("\u{7f}");
    rig.waits(499);
    assert!(!rig.shows("y once"));
    rig.waits(1);
    assert!(rig.shows("y once"), "{:#?}", rig.rows());
    rig.types("y");
    assert_eq!(
        rig.responses(),
        [json!({"decision": "approve", "allowOnce": true, "scope": "once"})]
    );
}

#[test]
fn tui_73_with_a_draft_tab_puts_the_focus_on_the_dialog() {
    let mut rig = Rig::new(24, 80);
    rig.types("half a thou");
    rig.is_asked("i1");
    rig.waits(5000);
    assert!(!rig.shows("y once"));
    rig.types("ght\r");
    assert_eq!(rig.submitted(), ["half a thought"]);
    rig.types("more");
    rig.types("\t");
    rig.types("y");
    assert!(rig.responses().is_empty());
    rig.types("\t");
    rig.waits(500);
    rig.types("n");
    assert_eq!(rig.responses(), [json!({"decision": "deny"})]);
}

#[test]
fn tui_74_a_letter_without_meaning_goes_into_the_draft() {
    let mut rig = Rig::new(24, 80);
    rig.is_asked("i1");
    rig.waits(600);
    rig.types("hello y");
    assert!(rig.responses().is_empty());
    assert!(rig.shows("draft: hello y"), "{:#?}", rig.rows());
}

#[test]
fn tui_75_pastes_and_reports_never_answer() {
    let mut rig = Rig::new(24, 80);
    rig.is_asked("i1");
    rig.waits(600);
    rig.types("\u{1b}[I\u{1b}[O\u{1b}[<0;1;1M\u{1b}[200~y\r\u{1b}[201~");
    assert!(rig.responses().is_empty());
    assert!(rig.shows("draft: y"), "{:#?}", rig.rows());
}

/// Whatever is typed or pasted before a dialog is armed, it answers nothing.
#[test]
fn tui_72_no_key_typed_before_a_dialog_was_armed_ever_answers_it() {
    let mut seed = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = move |below: u64| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed % below
    };
    let keys = [
        "y",
        "n",
        "r",
        "1",
        "2",
        "\r",
        "\t",
        "\u{1b}",
        "\u{3}",
        " ",
        "a",
        "\u{7f}",
        "\u{1b}[A",
        "\u{1b}[B",
        "\u{1b}[200~y\r\u{1b}[201~",
        "\u{1b}[I",
        "c",
        "d",
    ];
    for round in 0..120 {
        let mut rig = Rig::new(24, 80);
        rig.draw();
        for step in 0..40 {
            if random(12) == 0 {
                rig.is_asked(&format!("i{round}-{step}"));
            }
            if random(9) == 0 {
                rig.hears("InteractionCancelled", json!({"correlationId": "t1", "interactionId": format!("i{round}-{}", random(40))}));
            }
            let is_armed = rig.app.dialog.as_ref().is_some_and(|dialog| dialog.armed);
            let quiet = random(700);
            rig.waits(quiet);
            let was_armed = rig.app.dialog.as_ref().is_some_and(|dialog| dialog.armed);
            let key = keys[usize::try_from(random(keys.len() as u64)).unwrap()];
            rig.types(key);
            let answers = rig.responses();
            if !was_armed {
                assert!(
                    answers.is_empty(),
                    "round {round}, step {step}: {key:?} answered, {is_armed}"
                );
            }
            if was_armed && !is_armed {
                assert!(quiet >= 1);
            }
        }
    }
}

#[test]
fn tui_84_a_prompt_settled_elsewhere_closes_and_one_row_says_who() {
    let mut rig = Rig::new(24, 80);
    rig.is_asked("i1");
    let answered = InteractionAnswered {
        correlation_id: "t1".to_owned(),
        interaction_id: "i1".to_owned(),
        status: stud_sdk::interaction::Status::Accepted,
        value: Some(json!({"decision": "approve", "scope": "session"})),
        ext_id: "web-ui".to_owned(),
    };
    rig.hears("InteractionAnswered", json!(answered));
    assert!(!rig.shows("? Allow"), "{:#?}", rig.rows());
    assert!(
        rig.shows("? Approve  bash  cargo  approved, session  web-ui"),
        "{:#?}",
        rig.rows()
    );
    assert!(rig.shows(">"));
}

#[test]
fn tui_59_and_65_inputs_wait_for_their_turns() {
    let mut rig = Rig::new(24, 80);
    rig.types("one\r");
    rig.submitted();
    rig.hears("SessionTurnStart", json!({"turnId": "t", "inputSeq": 1}));
    for text in ["two\r", "three\r", "four\r", "five\r"] {
        rig.types(text);
        rig.submitted();
    }
    rig.draw();
    assert!(
        rig.shows("queued 1: two") && rig.shows("queued 3: four") && rig.shows("… 1 more"),
        "{:#?}",
        rig.rows()
    );
    rig.types("\u{3}");
    assert_eq!(rig.commands(), ["cancel"]);
    rig.hears("SessionTurnEnd", json!({"turnId": "t"}));
    rig.hears("SessionTurnStart", json!({"turnId": "u", "inputSeq": 2}));
    assert!(
        rig.shows("cancelled") && rig.shows("queued; the turn before was cancelled"),
        "{:#?}",
        rig.rows()
    );
    assert!(rig.shows("queued 1: three"));
}

#[test]
fn tui_63_and_64_what_ctrl_c_and_escape_do() {
    let mut rig = Rig::new(24, 80);
    rig.types("draft");
    rig.types("\u{3}");
    assert!(rig.app.composer.is_empty() && rig.commands().is_empty());
    rig.types("\u{19}");
    assert_eq!(rig.app.composer.text(), "draft");
    rig.types("\u{3}");
    rig.types("\u{3}");
    assert!(rig.shows("Ctrl-C again ends the session"));
    rig.waits(2100);
    rig.types("\u{3}");
    assert!(rig.commands().is_empty());
    rig.types("\u{3}");
    assert_eq!(rig.commands(), ["exit"]);
    rig.hears("SessionTurnStart", json!({"turnId": "t"}));
    rig.types("\u{1b}");
    assert!(rig.shows("Esc again calls the turn off") && rig.commands().is_empty());
    rig.types("\u{1b}");
    assert_eq!(rig.commands(), ["cancel"]);
    rig.types("\u{3}");
    assert!(matches!(rig.app.effects().as_slice(), [Effect::Kill]));
}

#[test]
fn tui_58_and_60_typing_speed_means_nothing_and_commands_reach_no_model() {
    let mut rig = Rig::new(24, 80);
    rig.types("fast\r/help\r");
    let effects = rig.app.effects();
    assert!(
        matches!(&effects[0], Effect::Submit(_, text) if text == "fast"),
        "{effects:?}"
    );
    assert!(
        effects
            .iter()
            .any(|effect| matches!(effect, Effect::Command(line) if line == "help")),
        "{effects:?}"
    );
}

#[test]
fn tui_20_hostile_text_never_reaches_the_terminal_raw() {
    let hostile = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}5n\u{202e}x\u{e0041}\u{8}\rfoo";
    let mut rig = Rig::new(40, 80);
    rig.hears("SessionTurnStart", json!({"turnId": "t"}));
    rig.hears(
        "ToolInvocationProposed",
        json!({"toolCallId": "c", "toolName": hostile, "args": {"a": hostile}}),
    );
    rig.hears(
        "ToolInvocationStarted",
        json!({"toolCallId": "c", "toolName": hostile}),
    );
    rig.hears("ToolInvocationFailed", json!({"toolCallId": "c", "toolName": hostile, "errorClass": hostile, "errorCode": hostile, "message": hostile}));
    rig.hears("ProviderReasoningStreamed", json!({"delta": hostile}));
    rig.hears("ProviderTokensStreamed", json!({"delta": format!("{hostile}\n\n```{hostile}\n{hostile}\n```\n[a](http://{hostile})\n")}));
    rig.hears(
        "ProviderRequestFailed",
        json!({"errorClass": hostile, "errorCode": hostile, "message": hostile}),
    );
    rig.hears(
        "SuppressedError",
        json!({"reason": hostile, "extId": hostile, "cause": hostile}),
    );
    rig.types(&format!(
        "\u{1b}[200~{}\u{1b}[201~",
        hostile.replace('\u{1b}', "E")
    ));
    let request = Request::new(
        "i1",
        "t1",
        "",
        Payload::from(Approve {
            tool_id: hostile.to_owned(),
            approval_key: hostile.to_owned(),
            args: Some(json!({hostile: hostile})),
            cwd: Some(hostile.to_owned()),
            preview: Some(hostile.to_owned()),
            reason: Some(hostile.to_owned()),
            ..Approve::default()
        }),
    );
    rig.app.prompt(request, rig.now);
    rig.draw();
    for forbidden in [
        "\u{1b}]0;owned",
        "\u{1b}[2J",
        "\u{9b}",
        "\u{202e}",
        "\u{e0041}",
        "\u{8}",
        "\u{7}",
    ] {
        assert!(!rig.written.contains(forbidden), "{forbidden:?}");
    }
}

#[test]
fn tui_115_a_small_screen_has_a_composer_and_can_only_deny() {
    let mut rig = Rig::new(5, 20);
    rig.types("hi");
    assert_eq!(rig.rows(), ["> hi", "ready"]);
    rig.types("\u{15}");
    rig.is_asked("i1");
    rig.waits(600);
    rig.types("y");
    assert!(rig.responses().is_empty());
    rig.types("\u{15}");
    rig.waits(600);
    rig.types("\u{1b}");
    assert_eq!(rig.responses(), [json!({"decision": "deny"})]);
}

#[test]
fn tui_127_a_typed_letter_costs_few_bytes() {
    let mut rig = Rig::new(24, 80);
    rig.types("some words");
    rig.written.clear();
    rig.types("x");
    assert!(rig.written.len() <= 96, "{:?}", rig.written);
    rig.written.clear();
    let mut text = 0;
    for piece in 0..1000 {
        let delta = format!("word{piece:03} ");
        text += delta.len();
        rig.app.event(
            "ProviderTokensStreamed",
            &json!({"delta": delta}).to_string(),
            rig.now,
        );
        // A hundred pieces a second are thirty frames.
        if piece % 3 == 2 {
            rig.draw();
        }
    }
    assert!(
        rig.written.len() <= text * 8,
        "{} for {text}",
        rig.written.len()
    );
}

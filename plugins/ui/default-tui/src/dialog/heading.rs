//! What a prompt shows: who asks, and everything that is about to be allowed.

use ratatui_core::style::Modifier;
use ratatui_core::text::Span;
use stud_sdk::Value;
use stud_sdk::interaction::{
    Approve, ApproveSubagentEnvelope, AuthDeviceCode, GrantStageTool, Payload, ToolApproval,
    ToolInput,
};

use crate::text::row::{Look, Row, joined, piece, row};
use crate::text::{escape, width};

/// The first row.
pub(crate) fn of(payload: &Payload, chip: Option<&str>, layer: Option<&str>) -> Row {
    let mut pieces = vec![piece("? ", Look::Accent)];
    if let Some(chip) = chip {
        pieces.push(piece(format!("{chip} "), Look::Bold));
    }
    let exact = |text: &str| escape::exact(text);
    match payload {
        Payload::Approve(approve) => {
            pieces.push(piece(
                format!("Allow {}", exact(&approve.tool_id)),
                Look::Bold,
            ));
            let layer = layer.map(|layer| format!("{layer} · ")).unwrap_or_default();
            let key = exact(&approve.approval_key);
            pieces.push(piece(format!("  {layer}key {key}"), Look::Dim));
        }
        Payload::ToolApproval(approval) => {
            let name = exact(&approval.tool_name);
            pieces.push(piece(
                format!("{name} asks for permission to continue"),
                Look::Bold,
            ));
        }
        Payload::GrantStageTool(grant) => {
            let tool = exact(&grant.tool);
            pieces.push(piece(format!("Allow {tool} in this stage"), Look::Bold));
            pieces.push(piece("  once, this proposal only", Look::Dim));
        }
        Payload::ApproveSubagentEnvelope(envelope) => {
            let label = envelope.label.as_deref().map(exact).unwrap_or_default();
            let model = format!(
                "{}/{}",
                exact(&envelope.model.provider_id),
                exact(&envelope.model.model_id)
            );
            pieces.push(piece("Open a subagent", Look::Bold));
            let id: String = envelope.subagent_id.chars().take(8).collect();
            let facts = format!(
                "  {label} · depth {} · {model}  [{}]",
                envelope.depth,
                exact(&id)
            );
            pieces.push(piece(facts, Look::Dim));
        }
        Payload::ToolInput(input) => {
            pieces.push(piece(
                format!("{} asks", exact(&input.tool_name)),
                Look::Bold,
            ));
        }
        Payload::AuthDeviceCode(_) => {
            pieces.push(piece(
                "Log in: open this address and enter the code",
                Look::Bold,
            ));
        }
        Payload::AuthPassword(_) => pieces.push(piece("A secret is needed", Look::Bold)),
        Payload::Confirm(_) | Payload::Select(_) | Payload::Ask(_) => {
            pieces.push(piece("A question", Look::Bold));
        }
        _ => pieces.push(piece("A question of a newer kind", Look::Bold)),
    }
    joined(pieces)
}

/// The text of others, line by line. What is to be allowed is complete, and nothing in it is invisible.
pub(crate) fn body(payload: &Payload) -> Vec<Row> {
    let lines = match payload {
        Payload::Approve(approve) => approval(approve),
        Payload::ToolApproval(approval) => tool_approval(approval),
        Payload::GrantStageTool(grant) => stage_grant(grant),
        Payload::ApproveSubagentEnvelope(envelope) => child(envelope),
        Payload::ToolInput(input) => return tool_input(input),
        Payload::AuthDeviceCode(login) => return device_login(login),
        other => return quoted(&other.prompt()),
    };
    let foreign = lines.iter().flat_map(|line| &line.spans);
    let foreign: usize = foreign
        .map(|span| {
            span.content
                .chars()
                .filter(|letter| !letter.is_ascii())
                .count()
        })
        .sum();
    let mut lines: Vec<Row> = lines.iter().map(underline_foreign).collect();
    if foreign > 0 {
        let characters = if foreign == 1 {
            "character"
        } else {
            "characters"
        };
        lines.push(row(
            format!("{foreign} {characters} outside ASCII, underlined"),
            Look::Warn,
        ));
    }
    lines
}

/// What was asked, in one line.
pub(crate) fn one_line(payload: &Payload) -> String {
    let text = match payload {
        Payload::Approve(approve) => format!("{}  {}", approve.tool_id, approve.approval_key),
        Payload::ToolInput(input) => input.tool_name.clone(),
        other => other.prompt().into_owned(),
    };
    width::cut(&escape::line(&text), 100)
}

fn underline_foreign(line: &Row) -> Row {
    let mut spans = Vec::new();
    for span in &line.spans {
        let mut part = String::new();
        let mut was_foreign = false;
        let mut end = |part: &mut String, foreign: bool| {
            if !part.is_empty() {
                let style = if foreign {
                    span.style.add_modifier(Modifier::UNDERLINED)
                } else {
                    span.style
                };
                spans.push(Span::styled(std::mem::take(part), style));
            }
        };
        for cluster in width::clusters(&span.content) {
            let is_foreign = !cluster.is_ascii();
            if is_foreign != was_foreign {
                end(&mut part, was_foreign);
                was_foreign = is_foreign;
            }
            part.push_str(cluster);
        }
        end(&mut part, was_foreign);
    }
    Row::from(spans)
}

fn approval(approve: &Approve) -> Vec<Row> {
    let mut lines = Vec::new();
    match &approve.args {
        Some(Value::Object(args)) => {
            for (name, value) in args {
                add_argument(&mut lines, name, value);
            }
        }
        Some(args) => add_argument(&mut lines, "arguments", args),
        // Core of an older version sends no arguments.
        None => lines.extend(
            approve
                .description
                .split('\n')
                .map(|line| row(escape::exact(line), Look::Plain)),
        ),
    }
    if let Some(cwd) = &approve.cwd {
        lines.push(named("cwd", &escape::exact(cwd)));
    }
    if let Some(reason) = &approve.reason {
        lines.push(named("asked because", &escape::exact(reason)));
    }
    if let Some(preview) = &approve.preview {
        lines.extend(preview.trim_end_matches('\n').split('\n').map(diff_line));
    }
    lines
}

/// A line of a diff: its sign says what it is, and its color says it again.
pub(crate) fn diff_line(line: &str) -> Row {
    let look = match line.as_bytes().first() {
        Some(b'+') => Look::Good,
        Some(b'-') => Look::Bad,
        Some(b'@') => Look::Accent,
        _ => Look::Plain,
    };
    row(escape::exact(&line.replace('\t', "    ")), look)
}

fn named(name: &str, value: &str) -> Row {
    joined([
        piece(format!("{name} = "), Look::Dim),
        piece(value.to_owned(), Look::Plain),
    ])
}

/// One argument, whole: a text as it is, anything else as JSON.
fn add_argument(lines: &mut Vec<Row>, name: &str, value: &Value) {
    let name = escape::exact(name);
    match value {
        Value::String(text) if text.contains('\n') => {
            lines.push(row(format!("{name} ="), Look::Dim));
            for line in text.split('\n') {
                lines.push(row(format!("  {}", escape::exact(line)), Look::Plain));
            }
        }
        Value::String(text) => lines.push(named(&name, &escape::exact(text))),
        other => lines.push(named(&name, &escape::exact(&other.to_string()))),
    }
}

fn tool_approval(approval: &ToolApproval) -> Vec<Row> {
    let mut lines = match &approval.prompt {
        Some(prompt) => exactly(prompt),
        None => vec![row(
            format!("Allow {} to continue?", escape::exact(&approval.tool_name)),
            Look::Plain,
        )],
    };
    for error in [&approval.error, &approval.error_summary]
        .into_iter()
        .flatten()
    {
        lines.push(row(format!("! {}", escape::exact(error)), Look::Bad));
    }
    lines
}

fn stage_grant(grant: &GrantStageTool) -> Vec<Row> {
    let mut lines = vec![
        named("stage execution", &escape::exact(&grant.stage_execution_id)),
        named("attempt", &grant.attempt.to_string()),
    ];
    lines.extend(exactly(&grant.args_summary));
    if let Some(reason) = &grant.reason {
        lines.push(named("reason", &escape::exact(reason)));
    }
    lines
}

fn child(envelope: &ApproveSubagentEnvelope) -> Vec<Row> {
    let mut lines = exactly(&envelope.prompt_summary);
    let tools: Vec<String> = envelope
        .requested_envelope
        .iter()
        .map(|tool| escape::exact(tool))
        .collect();
    lines.push(named(
        "may use unasked, as long as it lives",
        &tools.join(", "),
    ));
    lines
}

fn tool_input(input: &ToolInput) -> Vec<Row> {
    let form = &input.input_schema;
    let mut lines = Vec::new();
    for text in [&input.prompt, &form.title, &form.description]
        .into_iter()
        .flatten()
    {
        lines.extend(quoted(text));
    }
    for error in [&input.error, &input.error_summary].into_iter().flatten() {
        lines.push(row(format!("! {}", escape::line(error)), Look::Bad));
    }
    lines
}

fn device_login(login: &AuthDeviceCode) -> Vec<Row> {
    vec![
        row(escape::line(&login.url).into_owned(), Look::Accent),
        joined([
            piece("code  ", Look::Dim),
            piece(escape::line(&login.code).into_owned(), Look::Bold),
            piece(
                format!("        valid until {}", escape::line(&login.expires_at)),
                Look::Dim,
            ),
        ]),
    ]
}

fn exactly(text: &str) -> Vec<Row> {
    text.split('\n')
        .map(|line| row(escape::exact(line), Look::Plain))
        .collect()
}

fn quoted(text: &str) -> Vec<Row> {
    text.lines()
        .map(|line| row(escape::line(line).into_owned(), Look::Plain))
        .collect()
}

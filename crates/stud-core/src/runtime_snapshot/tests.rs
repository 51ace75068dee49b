use std::sync::mpsc::{self, Receiver, Sender};
use std::time::UNIX_EPOCH;

use serde_json::json;
use stud_host_api::metrics::{
    DEBOUNCE_MS, ExtensionInfo, HookInfo, HookKind, HookPoint, McpServerInfo, McpStatus,
    NextResult, ProjectTrust, RegionInfo, Sensitivity, Source, StateMachineSlice, ToolInfo, UiInfo,
};
use stud_host_api::session::SecurityMode;

use super::*;
use crate::timer::ManualTimer;

mod delivery;

const WINDOW: Duration = Duration::from_millis(DEBOUNCE_MS);

/// A collector whose time passes when it is told to.
struct Bench {
    timer: Arc<ManualTimer>,
    collector: Arc<Collector>,
}

impl Bench {
    fn new() -> Self {
        Self::with(RuntimeSnapshot::default())
    }

    fn with(initial: RuntimeSnapshot) -> Self {
        let timer = Arc::new(ManualTimer::default());
        let collector = Collector::new(initial, timer.clone(), WINDOW);
        Self { timer, collector }
    }

    /// A plugin that must never be stuck.
    fn reader(&self, ext_id: &str) -> Reader {
        self.collector
            .reader(ext_id, |stuck| panic!("it is stuck: {stuck:?}"))
    }

    fn pass(&self, ms: u64) {
        self.timer.advance(Duration::from_millis(ms));
    }

    fn rename(&self, cwd: &str) {
        self.collector
            .update(|snapshot| snapshot.session.cwd = cwd.to_owned());
    }

    fn say(&self, text: &str) {
        let (input, output) = (0, 1);
        self.collector.tokens(Spent {
            input,
            output,
            text,
        });
    }
}

fn at(seconds: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(seconds)
}

fn tool(name: &str, allowed_now: bool) -> ToolInfo {
    ToolInfo {
        id: name.to_owned(),
        name: name.to_owned(),
        allowed_now,
        ..ToolInfo::default()
    }
}

fn problem(level: Level, message: &str) -> DiagnosticItem {
    DiagnosticItem {
        at: "2026-01-01T00:00:00.000Z".to_owned(),
        level,
        source: "core".to_owned(),
        code: None,
        message: message.to_owned(),
    }
}

#[test]
fn before_anything_is_known() {
    assert_eq!(
        serde_json::to_value(&*Bench::new().collector.snapshot()).unwrap(),
        json!({
            "session": {
                "id": "", "startedAt": "", "turnCount": 0, "cwd": "", "projectTrust": "global-only", "mode": "ask",
                "online": true,
            },
            "provider": {
                "current": {
                    "id": "unknown", "label": "unknown", "modelId": "unknown",
                    "capabilities": {"streaming": false, "toolCalling": false, "thinking": false},
                },
                "available": [],
            },
            "tokens": {"inputTotal": 0, "outputTotal": 0, "lastTurnInput": 0, "lastTurnOutput": 0},
            "context": {"usedTokens": 0, "assembledFragments": 0},
            "tools": {"items": [], "activeCount": 0, "totalCount": 0},
            "mcp": {"servers": [], "connectedCount": 0, "configuredCount": 0},
            "diagnostics": {"error": 0, "warning": 0, "info": 0, "recent": []},
            "ui": {"items": []},
            "hooks": {"items": []},
            "extensions": {"loaded": []},
        }),
    );
}

/// Fills what only its owner can know.
fn fill(snapshot: &mut RuntimeSnapshot) {
    let session = &mut snapshot.session;
    session.id = "s1".to_owned();
    session.started_at = "2026-01-01T00:00:00.000Z".to_owned();
    session.cwd = "/project".to_owned();
    session.project_trust = ProjectTrust::Granted;
    session.mode = SecurityMode::Yolo;
    session.online = false;
    snapshot.provider.current.capabilities.context_window = Some(8000);
    snapshot.provider.available = vec![snapshot.provider.current.clone()];
    snapshot.context.used_tokens = 400;
    snapshot.context.window_tokens = Some(8000);
    snapshot.context.assembled_fragments = 2;
    snapshot.tools.items = vec![ToolInfo {
        description: Some("Runs a command.".to_owned()),
        source: Source::Global,
        sensitivity: Sensitivity::Safe,
        approval_key: Some("bash".to_owned()),
        ..tool("bash", true)
    }];
    snapshot.mcp.servers = vec![McpServerInfo {
        id: "git".to_owned(),
        transport: "stdio".to_owned(),
        status: McpStatus::Connected,
        prompt_count: 1,
        resource_count: 2,
        tool_count: 3,
        last_error: Some("it hung up".to_owned()),
    }];
    snapshot.state_machine = Some(StateMachineSlice {
        id: "ralph".to_owned(),
        attached: true,
        current_stage: Some("BuildA".to_owned()),
        stack: vec!["Decompose".to_owned(), "BuildA".to_owned()],
        turn_cap: Some(50),
        turn_count: 4,
        last_next_result: Some(NextResult {
            execution: "parallel".to_owned(),
            stages: vec!["BuildA".to_owned()],
        }),
    });
    snapshot.ui.items = vec![UiInfo {
        id: "clock".to_owned(),
        roles: vec!["region".to_owned()],
        target_ui: Some("default-tui".to_owned()),
        region_contributions: Some(vec![RegionInfo {
            region: "statusLine".to_owned(),
            mode: "append".to_owned(),
            priority: 1.5,
            id: "time".to_owned(),
        }]),
        active: true,
    }];
    snapshot.hooks.items = vec![HookInfo {
        id: "no-rm".to_owned(),
        stage: "TOOL_CALL".to_owned(),
        point: HookPoint::Pre,
        kind: HookKind::Guard,
    }];
    snapshot.extensions.loaded = vec![ExtensionInfo {
        id: "no-rm".to_owned(),
        kind: "Hook".to_owned(),
        contract_version: "1.0.0".to_owned(),
        source: Source::Project,
        active: true,
    }];
}

#[test]
fn every_field_has_its_name() {
    let Bench { collector, .. } = Bench::new();
    collector.update(fill);
    collector.turn_began(at(60));
    let (input, output, text) = (7, 6, "Hello");
    collector.tokens(Spent {
        input,
        output,
        text,
    });
    collector.tool_invoked("bash", ToolOutcome::Succeeded);
    collector.tool_invoked("bash", ToolOutcome::Failed);
    collector.diagnostic(DiagnosticItem {
        code: Some("ExtensionHost/NotReady".to_owned()),
        ..problem(Level::Error, "not yet")
    });
    collector.turn_ended(at(61));

    let provider = json!({
        "id": "unknown", "label": "unknown", "modelId": "unknown",
        "capabilities": {"streaming": false, "toolCalling": false, "thinking": false, "contextWindow": 8000},
    });
    assert_eq!(
        serde_json::to_value(&*collector.snapshot()).unwrap(),
        json!({
            "session": {
                "id": "s1", "startedAt": "2026-01-01T00:00:00.000Z", "lastTurnAt": "1970-01-01T00:01:01.000Z",
                "turnCount": 1, "cwd": "/project", "projectTrust": "granted", "mode": "yolo", "online": false,
            },
            "provider": {"current": provider, "available": [provider]},
            "tokens": {"inputTotal": 7, "outputTotal": 6, "lastTurnInput": 7, "lastTurnOutput": 6},
            "context": {"usedTokens": 400, "windowTokens": 8000, "percent": 5.0, "assembledFragments": 2},
            "tools": {
                "items": [{
                    "id": "bash", "name": "bash", "description": "Runs a command.", "source": "global",
                    "sensitivity": "safe", "allowedNow": true, "approvalKey": "bash",
                    "invocations": {"total": 2, "succeeded": 1, "failed": 1},
                }],
                "activeCount": 1,
                "totalCount": 1,
            },
            "mcp": {
                "servers": [{
                    "id": "git", "transport": "stdio", "status": "connected", "promptCount": 1, "resourceCount": 2,
                    "toolCount": 3, "lastError": "it hung up",
                }],
                "connectedCount": 1,
                "configuredCount": 1,
            },
            "stateMachine": {
                "id": "ralph", "attached": true, "currentStage": "BuildA", "stack": ["Decompose", "BuildA"],
                "turnCap": 50, "turnCount": 4, "lastNextResult": {"execution": "parallel", "stages": ["BuildA"]},
            },
            "diagnostics": {
                "error": 1, "warning": 0, "info": 0,
                "recent": [{
                    "at": "2026-01-01T00:00:00.000Z", "level": "error", "source": "core",
                    "code": "ExtensionHost/NotReady", "message": "not yet",
                }],
            },
            "ui": {
                "items": [{
                    "id": "clock", "roles": ["region"], "targetUI": "default-tui",
                    "regionContributions": [{"region": "statusLine", "mode": "append", "priority": 1.5, "id": "time"}],
                    "active": true,
                }],
            },
            "hooks": {"items": [{"id": "no-rm", "stage": "TOOL_CALL", "point": "pre", "kind": "guard"}]},
            "extensions": {
                "loaded": [
                    {"id": "no-rm", "kind": "Hook", "contractVersion": "1.0.0", "source": "project", "active": true},
                ],
            },
        }),
    );
}

#[test]
fn a_snapshot_is_the_same_object_until_the_next_write() {
    let bench = Bench::new();
    let first = bench.collector.snapshot();
    assert!(Arc::ptr_eq(&first, &bench.collector.snapshot()));

    bench.rename("/elsewhere");
    let second = bench.collector.snapshot();
    assert!(!Arc::ptr_eq(&first, &second));
    assert!(Arc::ptr_eq(&second, &bench.collector.snapshot()));
    assert_eq!(
        (&*first.session.cwd, &*second.session.cwd),
        ("", "/elsewhere")
    );

    bench.pass(DEBOUNCE_MS);
    assert!(Arc::ptr_eq(&second, &bench.collector.snapshot()));
}

#[test]
fn text_that_costs_nothing_leaves_the_snapshot_alone() {
    let bench = Bench::new();
    let first = bench.collector.snapshot();
    bench.collector.tokens(Spent {
        text: "free",
        ..Spent::default()
    });
    assert!(Arc::ptr_eq(&first, &bench.collector.snapshot()));
}

#[test]
fn a_token_makes_no_snapshot_while_nobody_asks() {
    let bench = Bench::new();
    let made = Arc::downgrade(&bench.collector.snapshot());
    bench.say("one");
    bench.say("two");
    // The collector still holds the one it made last.
    assert!(made.upgrade().is_some());
    assert_eq!(bench.collector.snapshot().tokens.output_total, 2);
    assert!(made.upgrade().is_none());
}

#[test]
fn a_turn_counts_and_starts_its_tokens_anew() {
    let Bench { collector, .. } = Bench::new();
    let spend = |input, output| {
        let text = "";
        collector.tokens(Spent {
            input,
            output,
            text,
        });
    };
    collector.turn_began(at(0));
    spend(10, 1);
    spend(0, 2);
    collector.turn_ended(at(1));
    let snapshot = collector.snapshot();
    assert_eq!(snapshot.session.turn_count, 1);
    assert_eq!(
        snapshot.session.last_turn_at.as_deref(),
        Some("1970-01-01T00:00:01.000Z")
    );
    assert_eq!(
        serde_json::to_value(snapshot.tokens).unwrap(),
        json!({"inputTotal": 10, "outputTotal": 3, "lastTurnInput": 10, "lastTurnOutput": 3}),
    );

    collector.turn_began(at(2));
    let snapshot = collector.snapshot();
    assert_eq!(snapshot.session.turn_count, 2);
    assert_eq!(
        snapshot.session.last_turn_at.as_deref(),
        Some("1970-01-01T00:00:02.000Z")
    );
    assert_eq!(
        serde_json::to_value(snapshot.tokens).unwrap(),
        json!({"inputTotal": 10, "outputTotal": 3, "lastTurnInput": 0, "lastTurnOutput": 0}),
    );
}

#[test]
fn a_provider_that_counts_nonsense_stops_at_the_end_of_numbers() {
    let Bench { collector, .. } = Bench::new();
    for _ in 0..2 {
        collector.tokens(Spent {
            input: u64::MAX,
            ..Spent::default()
        });
    }
    assert_eq!(collector.snapshot().tokens.input_total, u64::MAX);
}

#[test]
fn counts_follow_from_the_lists() {
    let mut initial = RuntimeSnapshot::default();
    initial.tools.items = vec![tool("a", true)];
    initial.tools.total_count = 99;
    let Bench { collector, .. } = Bench::with(initial);
    assert_eq!(collector.snapshot().tools.total_count, 1);

    let server = |status| McpServerInfo {
        status,
        ..McpServerInfo::default()
    };
    collector.update(|snapshot| {
        snapshot.tools.items = vec![tool("a", true), tool("b", false), tool("c", true)];
        snapshot.tools.active_count = 99;
        snapshot.mcp.servers = vec![
            server(McpStatus::Connected),
            server(McpStatus::Connecting),
            server(McpStatus::Disconnected),
            server(McpStatus::Error),
        ];
        snapshot.context.used_tokens = 1;
        snapshot.context.window_tokens = Some(4);
        snapshot.context.percent = Some(99.0);
    });
    let snapshot = collector.snapshot();
    assert_eq!(
        (snapshot.tools.active_count, snapshot.tools.total_count),
        (2, 3)
    );
    assert_eq!(
        (snapshot.mcp.connected_count, snapshot.mcp.configured_count),
        (1, 4)
    );
    assert_eq!(snapshot.context.percent, Some(25.0));

    for window in [None, Some(0)] {
        collector.update(|snapshot| snapshot.context.window_tokens = window);
        assert_eq!(collector.snapshot().context.percent, None);
    }
}

#[test]
fn the_newest_diagnostics_are_kept_and_all_are_counted() {
    let Bench { collector, .. } = Bench::new();
    for number in 0..60 {
        let level = match number % 3 {
            0 => Level::Error,
            1 => Level::Warn,
            _ => Level::Info,
        };
        collector.diagnostic(problem(level, &number.to_string()));
    }
    let diagnostics = &collector.snapshot().diagnostics;
    assert_eq!(
        (diagnostics.error, diagnostics.warning, diagnostics.info),
        (20, 20, 20)
    );
    let kept: Vec<&str> = diagnostics
        .recent
        .iter()
        .map(|item| &*item.message)
        .collect();
    let newest: Vec<String> = (10..60).map(|number| number.to_string()).collect();
    assert_eq!(kept, newest);
}

#[test]
fn calls_are_counted_for_the_tool_that_was_called() {
    let Bench { collector, .. } = Bench::new();
    collector.update(|snapshot| snapshot.tools.items = vec![tool("a", true), tool("b", true)]);
    collector.tool_invoked("b", ToolOutcome::Succeeded);
    collector.tool_invoked("b", ToolOutcome::Failed);
    collector.tool_invoked("gone", ToolOutcome::Succeeded);
    let calls: Vec<_> = collector
        .snapshot()
        .tools
        .items
        .iter()
        .map(|tool| {
            let counts = tool.invocations;
            (counts.total, counts.succeeded, counts.failed)
        })
        .collect();
    assert_eq!(calls, [(0, 0, 0), (2, 1, 1)]);
}

#[test]
fn other_plugins_leave_calls_and_mcp_tools_as_they_are() {
    let Bench { collector, .. } = Bench::new();
    let remote = ToolInfo {
        source: Source::Mcp,
        ..tool("remote", true)
    };
    collector.update(|snapshot| {
        snapshot.tools.items = vec![tool("stays", true), tool("goes", true), remote];
    });
    for name in ["stays", "goes", "remote"] {
        collector.tool_invoked(name, ToolOutcome::Succeeded);
    }
    collector.extensions_changed(Roster {
        tools: vec![tool("comes", false), tool("stays", true)],
        ..Roster::default()
    });
    let snapshot = collector.snapshot();
    let calls: Vec<_> = snapshot
        .tools
        .items
        .iter()
        .map(|tool| (&*tool.name, tool.invocations.total))
        .collect();
    assert_eq!(calls, [("comes", 0), ("stays", 1), ("remote", 1)]);
    assert_eq!(
        (snapshot.tools.active_count, snapshot.tools.total_count),
        (2, 3)
    );
}

#[test]
fn nothing_is_lost_between_threads() {
    let bench = Bench::new();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..500 {
                    bench.say("x");
                    let _ = bench.collector.snapshot();
                }
            });
        }
    });
    assert_eq!(bench.collector.snapshot().tokens.output_total, 2000);
}

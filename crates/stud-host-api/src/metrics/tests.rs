use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;

use super::*;

#[test]
fn the_empty_snapshot() {
    assert_eq!(
        serde_json::to_value(RuntimeSnapshot::default()).unwrap(),
        json!({
            "session": {
                "id": "",
                "startedAt": "",
                "turnCount": 0,
                "cwd": "",
                "projectTrust": "global-only",
                "mode": "ask",
                "online": true,
            },
            "provider": {
                "current": {
                    "id": "unknown",
                    "label": "unknown",
                    "modelId": "unknown",
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

#[test]
fn a_full_snapshot_round_trips() {
    let provider = json!({
        "id": "echo",
        "label": "Echo",
        "modelId": "echo-1",
        "capabilities": {"streaming": true, "toolCalling": true, "thinking": false, "contextWindow": 8000},
    });
    let json = json!({
        "session": {
            "id": "s1",
            "startedAt": "2026-01-01T00:00:00.000Z",
            "lastTurnAt": "2026-01-01T00:01:00.000Z",
            "turnCount": 3,
            "cwd": "/work",
            "projectTrust": "granted",
            "mode": "yolo",
            "online": false,
        },
        "provider": {"current": provider, "available": [provider]},
        "tokens": {"inputTotal": 9, "outputTotal": 8, "lastTurnInput": 7, "lastTurnOutput": 6},
        "context": {"usedTokens": 400, "windowTokens": 8000, "percent": 5.0, "assembledFragments": 2},
        "tools": {
            "items": [{
                "id": "bash",
                "name": "bash",
                "description": "Runs a command.",
                "source": "bundled",
                "sensitivity": "guarded",
                "allowedNow": false,
                "approvalKey": "bash",
                "invocations": {"total": 3, "succeeded": 2, "failed": 1},
            }],
            "activeCount": 0,
            "totalCount": 1,
        },
        "mcp": {
            "servers": [{
                "id": "git",
                "transport": "stdio",
                "status": "error",
                "promptCount": 1,
                "resourceCount": 2,
                "toolCount": 3,
                "lastError": "it hung up",
            }],
            "connectedCount": 0,
            "configuredCount": 1,
        },
        "stateMachine": {
            "id": "ralph",
            "attached": true,
            "currentStage": "BuildA",
            "stack": ["Decompose", "BuildA"],
            "turnCap": 50,
            "turnCount": 4,
            "lastNextResult": {"execution": "parallel", "stages": ["BuildA", "BuildB"]},
        },
        "diagnostics": {
            "error": 1,
            "warning": 0,
            "info": 0,
            "recent": [{
                "at": "2026-01-01T00:00:00.000Z",
                "level": "error",
                "source": "core",
                "code": "Session/TrustStoreUnavailable",
                "message": "the trust list cannot be read",
            }],
        },
        "ui": {
            "items": [{
                "id": "clock",
                "roles": ["region"],
                "targetUI": "default-tui",
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
    });
    let snapshot: RuntimeSnapshot = serde_json::from_value(json.clone()).unwrap();
    assert_eq!(serde_json::to_value(snapshot).unwrap(), json);
}

#[test]
fn a_word_of_a_newer_host_spoils_nothing() {
    assert_eq!(
        serde_json::from_value::<Source>(json!("registry")).unwrap(),
        Source::Unknown
    );
    assert_eq!(
        serde_json::from_value::<Sensitivity>(json!("secret")).unwrap(),
        Sensitivity::Unknown
    );
    assert_eq!(
        serde_json::from_value::<McpStatus>(json!("resting")).unwrap(),
        McpStatus::Unknown
    );
    assert_eq!(
        serde_json::from_value::<Level>(json!("fatal")).unwrap(),
        Level::Unknown
    );
    assert_eq!(
        serde_json::from_value::<HookKind>(json!("filter")).unwrap(),
        HookKind::Unknown
    );
}

#[test]
fn a_token_delta_round_trips() {
    let json = json!({"inputTokens": 10, "outputTokens": 2, "delta": "He"});
    let delta: TokenDelta = serde_json::from_value(json.clone()).unwrap();
    assert_eq!(serde_json::to_value(delta).unwrap(), json);
}

#[test]
fn a_subscription_ends_once_when_dropped_or_told_to() {
    fn shared<T: Send + Sync>(value: T) -> T {
        value
    }
    let ends = Arc::new(AtomicUsize::new(0));
    let subscribe = || {
        let ends = Arc::clone(&ends);
        shared(Subscription::new(move || {
            ends.fetch_add(1, Ordering::Relaxed);
        }))
    };

    drop(subscribe());
    assert_eq!(ends.load(Ordering::Relaxed), 1);
    subscribe().unsubscribe();
    assert_eq!(ends.load(Ordering::Relaxed), 2);
}

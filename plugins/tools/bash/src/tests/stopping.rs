//! What ends a command before its own end, and what is left of it then.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use stud_sdk::host::cancellation::Scope;
use stud_sdk::json;

use super::{Bench, eventually, name};

/// The number in a file that a command writes its own into.
fn pid(path: &Path) -> u32 {
    let mut found = None;
    eventually("the command writes its number", || {
        found = fs::read_to_string(path)
            .ok()
            .and_then(|text| text.trim().parse().ok());
        found.is_some()
    });
    found.unwrap()
}

/// Whether a process runs. One that has ended and was not asked about yet does not.
fn runs(pid: u32) -> bool {
    let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else {
        return false;
    };
    let state = stat.rsplit(") ").next().unwrap_or_default();
    !state.starts_with(['Z', 'X'])
}

/// A shell, a child that ignores polite signals, and a grandchild, each with its number in a file.
const FAMILY: &str = "echo $$ >shell; \
    (trap '' TERM INT HUP; sh -c 'echo $$ >grandchild; exec sleep 1000' & echo $! >child; wait) & wait";

#[test]
fn a_command_that_takes_too_long_is_stopped_with_all_it_started() {
    let bench = Bench::new();
    let begun = Instant::now();
    let error = bench
        .call(json!({"command": format!("echo so far; {FAMILY}"), "timeoutMs": 2000}))
        .unwrap_err();
    assert_eq!(name(&error), "ToolTransient/ExecutionTimeout");
    assert_eq!(error.context()["timeoutMs"], 2000);
    assert_eq!(error.context()["stdout"], "so far\n");
    assert!(begun.elapsed() >= Duration::from_secs(2));
    for member in ["shell", "grandchild"] {
        let pid = pid(&bench.path().join(member));
        eventually(member, || !runs(pid));
    }
}

#[test]
fn the_time_of_the_config_counts_where_the_call_says_none() {
    let bench = Bench::configured(json!({"defaultTimeoutMs": 50}));
    assert_eq!(
        bench.refused(json!({"command": "sleep 1000"})),
        "ToolTransient/ExecutionTimeout"
    );
    let ran = bench.call(json!({"command": "sleep 0.1; echo made it", "timeoutMs": 60_000}));
    assert_eq!(ran.unwrap()["stdout"], "made it\n");
}

#[test]
fn a_call_that_is_called_off_ends_its_grandchildren() {
    let bench = Bench::new();
    bench.harness.start().unwrap();
    std::thread::scope(|scope| {
        let call = scope.spawn(|| bench.call(json!({"command": FAMILY, "timeoutMs": 600_000})));
        let members = ["shell", "grandchild"].map(|member| pid(&bench.path().join(member)));
        assert!(members.iter().all(|pid| runs(*pid)));
        bench.harness.host().cancel(Scope::Turn);
        let error = call.join().unwrap().unwrap_err();
        assert_eq!(name(&error), "Cancellation/ToolCancelled");
        for pid in members {
            eventually("everything has ended", || !runs(pid));
        }
    });
}

#[test]
fn nothing_begins_once_the_turn_is_called_off() {
    let bench = Bench::new();
    bench.harness.start().unwrap().host().cancel(Scope::Turn);
    assert_eq!(
        bench.refused(json!({"command": "touch made"})),
        "Cancellation/TurnCancelled"
    );
    assert!(!bench.path().join("made").exists());
}

#[test]
fn an_endless_flood_is_stopped() {
    let bench = Bench::new();
    let error = bench
        .call(json!({"command": "echo $$ >shell; yes & yes >&2", "timeoutMs": 1000}))
        .unwrap_err();
    assert_eq!(name(&error), "ToolTransient/ExecutionTimeout");
    assert!(error.context()["stderr"].as_str().unwrap().len() <= 2048);
    let pid = pid(&bench.path().join("shell"));
    eventually("the flood has ended", || !runs(pid));
}

/// The shell ends at once, and what it leaves behind holds both pipes.
#[test]
fn something_left_running_does_not_hold_the_result() {
    let bench = Bench::new();
    let begun = Instant::now();
    let ran = bench.run("sh -c 'echo $$ >left; exec sleep 1000' & until test -s left; do :; done; echo done; exit 5");
    assert!(begun.elapsed() < Duration::from_secs(15));
    assert_eq!(
        ran,
        json!({"stdout": "done\n", "stderr": "", "exitCode": 5})
    );
    let pid = pid(&bench.path().join("left"));
    eventually("what was left has ended", || !runs(pid));
}

#[test]
fn what_is_printed_right_after_the_end_of_the_shell_is_kept() {
    let ran =
        Bench::new().run("(until test -s early; do :; done; echo late) & echo early | tee early");
    assert_eq!(ran["stdout"], "early\nlate\n");
}

/// A process that left the group cannot be ended with it, and still holds the pipes.
#[test]
fn what_left_the_group_does_not_hold_the_result() {
    let bench = Bench::new();
    let ran = bench.run(
        "setsid sh -c 'echo $$ >left; exec sleep 20' & until test -s left; do :; done; echo done",
    );
    assert_eq!(ran["stdout"], "done\n");
    let pid = pid(&bench.path().join("left"));
    assert!(runs(pid), "it is in another group");
    bench.run(&format!("kill -9 {pid}"));
}

/// What prints elsewhere is meant to stay.
#[test]
fn something_left_running_that_prints_elsewhere_is_left_alone() {
    let bench = Bench::new();
    let ran = bench.run("sh -c 'echo $$ >left; exec sleep 20' >log 2>&1 & until test -s left; do :; done; echo done");
    assert_eq!(ran["stdout"], "done\n");
    let pid = pid(&bench.path().join("left"));
    assert!(runs(pid), "nobody asked for its end");
    bench.run(&format!("kill -9 {pid}"));
}

/// Closing both streams says nothing about when the command ends.
#[test]
fn a_command_that_closes_its_streams_is_waited_for_and_can_be_stopped() {
    let bench = Bench::new();
    let ran = bench.run("exec >&- 2>&-; sleep 0.05; exit 6");
    assert_eq!(ran["exitCode"], 6);
    let args = json!({"command": "exec >&- 2>&-; sleep 1000", "timeoutMs": 50});
    assert_eq!(bench.refused(args), "ToolTransient/ExecutionTimeout");
}

#[test]
fn no_zombies_are_left() {
    let bench = Bench::new();
    for command in [
        "true",
        "exit 3",
        "kill -9 $$",
        "sleep 1000",
        "sleep 1000 & exit",
    ] {
        let line = format!("echo $$ >>shells; {command}");
        let _ = bench.call(json!({"command": line, "timeoutMs": 1500}));
    }
    let shells = fs::read_to_string(bench.path().join("shells")).unwrap();
    assert_eq!(shells.lines().count(), 5);
    for shell in shells.lines() {
        let stat = fs::read_to_string(format!("/proc/{shell}/stat")).unwrap_or_default();
        let parent = format!(" {} ", std::process::id());
        assert!(!(stat.contains(") Z") && stat.contains(&parent)), "{stat}");
    }
}

#[test]
fn a_time_beyond_all_clocks_is_no_limit() {
    let ran = Bench::new().call(json!({"command": "echo ok", "timeoutMs": u64::MAX}));
    assert_eq!(ran.unwrap()["stdout"], "ok\n");
}

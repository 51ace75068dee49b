//! What a call gives.

use stud_sdk::json;

use super::Bench;

#[test]
fn a_command_gives_its_streams_and_its_code() {
    let bench = Bench::new();
    assert_eq!(
        bench.run("printf out; printf err >&2; exit 3"),
        json!({"stdout": "out", "stderr": "err", "exitCode": 3})
    );
    assert_eq!(
        bench.run("true"),
        json!({"stdout": "", "stderr": "", "exitCode": 0})
    );
}

#[test]
fn a_command_that_is_not_there_is_a_result() {
    let ran = Bench::new().run("no-such-command-anywhere");
    assert_eq!(ran["exitCode"], 127);
    assert!(
        ran["stderr"]
            .as_str()
            .unwrap()
            .contains("no-such-command-anywhere")
    );
}

#[test]
fn a_signal_is_a_code_above_128() {
    let bench = Bench::new();
    assert_eq!(bench.run("kill -9 $$")["exitCode"], 137);
    assert_eq!(bench.run("kill -15 $$")["exitCode"], 143);
}

#[test]
fn there_is_nothing_to_read() {
    assert_eq!(
        Bench::new().run("cat; echo done"),
        json!({"stdout": "done\n", "stderr": "", "exitCode": 0})
    );
}

#[test]
fn each_stream_is_cut_at_its_limit() {
    let bench = Bench::configured(json!({"maxOutputBytes": 10}));
    let ran = bench.run("printf 0123456789; printf 0123456789x >&2");
    assert_eq!(ran["stdout"], "0123456789");
    assert_eq!(ran["stderr"], "0123456789\n[truncated]");
}

/// Both streams are far larger than a pipe, and each writer waits for the other unless both are read.
#[test]
fn large_output_on_both_streams_is_taken_whole() {
    let command = "head -c 900000 /dev/zero | tr '\\0' o; head -c 900000 /dev/zero | tr '\\0' e >&2; \
                   (head -c 100000 /dev/zero | tr '\\0' O & head -c 100000 /dev/zero | tr '\\0' E >&2; wait)";
    let ran = Bench::new().run(command);
    let count = |stream: &str, letter: char| ran[stream].as_str().unwrap().matches(letter).count();
    assert_eq!(
        (count("stdout", 'o'), count("stdout", 'O')),
        (900_000, 100_000)
    );
    assert_eq!(
        (count("stderr", 'e'), count("stderr", 'E')),
        (900_000, 100_000)
    );
    assert_eq!(ran["exitCode"], 0);
}

#[test]
fn a_flood_is_cut_and_read_to_its_end() {
    let ran = Bench::new()
        .run("yes | head -c 20000000; yes e | head -c 20000000 >&2; echo over >&2; exit 4");
    for stream in ["stdout", "stderr"] {
        let text = ran[stream].as_str().unwrap();
        assert_eq!(text.len(), 1_048_576 + "\n[truncated]".len(), "{stream}");
        assert!(text.ends_with("\n[truncated]"), "{stream}");
    }
    assert_eq!(ran["exitCode"], 4);
}

#[test]
fn what_is_no_text_is_replaced() {
    let ran = Bench::new().run("printf 'a\\377\\376b'");
    assert_eq!(ran["stdout"], "a\u{FFFD}\u{FFFD}b");
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "the environment of the program is what is looked at"
)]
fn a_command_sees_the_environment_of_the_program() {
    let ran = Bench::new().run("printf %s \"$PATH\"");
    assert_eq!(ran["stdout"], std::env::var("PATH").unwrap());
}

#[test]
fn what_no_shell_takes_is_refused() {
    let bench = Bench::new();
    for command in ["", " \t\n", "echo a\0b"] {
        assert_eq!(
            bench.refused(json!({"command": command})),
            "ToolTerminal/InputInvalid",
            "{command:?}"
        );
        let asked = bench
            .harness
            .approval_key("bash", &json!({"command": command}));
        assert_eq!(
            super::name(&asked.unwrap_err()),
            "ToolTerminal/InputInvalid"
        );
    }
    let endless = "x".repeat(4 << 20);
    assert_eq!(
        bench.refused(json!({"command": endless})),
        "ToolTerminal/InputInvalid"
    );
    assert_eq!(
        bench.refused(json!({"command": "ls", "more": 1})),
        "ToolTerminal/InputInvalid"
    );
}

#[test]
fn a_blocked_command_is_refused_before_anyone_is_asked() {
    let bench = Bench::configured(json!({"blockedPrefixes": ["touch"]}));
    for command in ["touch made", "true; touch made"] {
        let args = json!({"command": command});
        let asked = bench.harness.approval_key("bash", &args).unwrap_err();
        stud_observed::covers!(COMMAND_REJECTED, asked);
        assert_eq!(asked.context()["blockedPrefix"], "touch");
        assert_eq!(bench.refused(args), "ToolTerminal/CommandRejected");
    }
    assert!(!bench.path().join("made").exists());
}

#[test]
fn the_key_is_what_the_person_approves() {
    let bench = Bench::new();
    let key = |command: &str| {
        let args = json!({"command": command, "cwd": "src", "timeoutMs": 5});
        bench.harness.approval_key("bash", &args).unwrap()
    };
    assert_eq!(key("git status"), "git");
    assert_eq!(key("git status; rm x"), "git status; rm x");
}

#[test]
fn the_manifest_says_what_the_tool_takes() {
    let bench = Bench::new();
    let manifest = bench.harness.manifest();
    let tool = &manifest["tools"][0];
    assert_eq!(manifest["extId"], "bash");
    assert_eq!(manifest["reloadBehavior"], "between-turns");
    assert_eq!(
        (&tool["name"], &tool["gated"]),
        (&json!("bash"), &json!(true))
    );
    assert_eq!(tool["inputSchema"]["additionalProperties"], false);
    assert_eq!(tool["inputSchema"]["required"], json!(["command"]));
    assert_eq!(tool["inputSchema"]["properties"]["timeoutMs"]["minimum"], 1);
    assert_eq!(
        tool["outputSchema"]["required"],
        json!(["stdout", "stderr", "exitCode"])
    );
    let options = &manifest["configSchema"]["properties"];
    assert_eq!(options["defaultTimeoutMs"]["default"], 30_000);
    assert_eq!(options["maxOutputBytes"]["default"], 1_048_576);
    for name in ["defaultTimeoutMs", "maxOutputBytes"] {
        assert_eq!(options[name]["minimum"], 1, "{name}");
    }
}

/// No pipe is lost and no process left behind, however many run at once.
#[test]
fn a_hundred_calls_at_once() {
    let bench = Bench::new();
    bench.harness.start().unwrap();
    std::thread::scope(|scope| {
        for number in 0..100 {
            let bench = &bench;
            scope.spawn(move || {
                let ran = bench.run(&format!("echo {number}; echo {number} >&2; exit {number}"));
                let text = format!("{number}\n");
                assert_eq!(
                    ran,
                    json!({"stdout": text, "stderr": text, "exitCode": number})
                );
            });
        }
    });
}

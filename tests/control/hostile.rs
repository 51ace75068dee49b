//! Senders that mean harm, or are broken.

use std::io::{Read as _, Write as _};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;

use serde_json::{Value, json};

use crate::bench::{Bench, changed, connect, envelope, exchange, reply};

/// A number that looks random and is the same in every run.
struct Scatter(u64);

impl Scatter {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end as u64).unwrap()
    }
}

fn is_reply(reply: &Value) -> bool {
    reply["version"] == 1 && (reply["status"] == "ok" || reply["error"]["code"].is_string())
}

#[test]
fn tcp_27_103_random_frames_get_typed_errors() {
    let bench = Bench::new();
    let mut scatter = Scatter(0x9E37_79B9_7F4A_7C15);
    for _ in 0..300 {
        let length = scatter.below(200);
        let mut line: Vec<u8> = (0..length)
            .map(|_| scatter.next().to_le_bytes()[3])
            .collect();
        line.retain(|byte| *byte != b'\n');
        line.push(b'\n');
        let reply = exchange(bench.socket(), &line);
        assert_eq!(reply["error"]["code"], "INVALID_REQUEST", "{line:?}");
    }
    bench.expect(&bench.stdin("after", "still here"), "ok");
    assert_eq!(bench.inputs(), ["still here"]);
}

#[test]
fn truncated_and_damaged_requests_do_nothing_or_what_they_say() {
    let bench = Bench::new();
    let whole = envelope("control", &bench.interrupt("whole")).to_string();
    for end in (0..whole.len()).step_by(3) {
        let reply = exchange(bench.socket(), format!("{}\n", &whole[..end]).as_bytes());
        assert_eq!(reply["error"]["code"], "INVALID_REQUEST", "cut at {end}");
    }
    let mut scatter = Scatter(7);
    for _ in 0..300 {
        let mut bytes = whole.clone().into_bytes();
        let place = scatter.below(bytes.len());
        bytes[place] = scatter.next().to_le_bytes()[0].max(b' ');
        bytes.push(b'\n');
        assert!(is_reply(&exchange(bench.socket(), &bytes)));
    }
    assert!(bench.inputs().is_empty());
}

#[test]
fn deep_nesting_is_ignored_or_refused() {
    let bench = Bench::new();
    for (depth, result) in [(64, Some("ok")), (100_000, None)] {
        let deep = format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
        let line = envelope("control", &bench.interrupt("deep")).to_string();
        let line = line.replacen("\"signal\"", &format!("\"future\":{deep},\"signal\""), 1);
        let reply = exchange(bench.socket(), format!("{line}\n").as_bytes());
        match result {
            Some(result) => assert_eq!(reply["payload"]["result"], result, "{depth}"),
            None => assert_eq!(reply["error"]["code"], "INVALID_REQUEST", "{depth}"),
        }
    }
}

#[test]
fn frames_of_two_mebibytes_are_read_to_their_end() {
    let bench = Bench::new();
    let message = changed(
        &bench.stdin("padded", "text"),
        "padding",
        &json!("x".repeat(2 << 20)),
    );
    bench.expect(&message, "ok");
    let garbage = vec![b'{'; 2 << 20];
    let reply = exchange(bench.socket(), &[&garbage[..], b"\n"].concat());
    assert_eq!(reply["error"]["code"], "INVALID_REQUEST");
}

#[test]
fn half_open_connections_stop_nobody() {
    let bench = Bench::new();
    let mut silent: Vec<UnixStream> = (0..20).map(|_| connect(bench.socket())).collect();
    let mut partial = connect(bench.socket());
    partial.write_all(b"{\"version\":1,").unwrap();
    let mut gone = connect(bench.socket());
    gone.write_all(b"{\"ver").unwrap();
    drop(gone);
    let mut deaf = connect(bench.socket());
    let line = envelope("capabilities", &json!({}));
    deaf.shutdown(Shutdown::Read).unwrap();
    deaf.write_all(format!("{line}\n").as_bytes()).unwrap();
    bench.expect(&bench.stdin("one", "text"), "ok");
    // A connection that says nothing more is ended, and told so.
    assert_eq!(reply(&mut partial)["error"]["code"], "INVALID_REQUEST");
    let mut told = String::new();
    silent[0].read_to_string(&mut told).unwrap();
    assert!(told.contains("INVALID_REQUEST"), "{told}");
}

#[test]
fn tcp_103_a_thousand_connections_are_answered_or_told_to_come_again() {
    let bench = Bench::new();
    // As many as the limits of this process let be.
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    let most = usize::try_from(limit.unwrap_or(4096)).unwrap();
    let count = 1000.min(most.saturating_sub(200) / 3);
    let streams: Vec<UnixStream> = (0..count).map(|_| connect(bench.socket())).collect();
    bench.expect(&bench.stdin("between", "text"), "ok");
    let line = envelope("capabilities", &json!({})).to_string();
    let mut answered = 0;
    for mut stream in streams {
        // One that was ended to make room cannot be written to.
        let _ = stream.write_all(format!("{line}\n").as_bytes());
        let mut told = String::new();
        if stream.read_to_string(&mut told).is_err() && told.is_empty() {
            continue;
        }
        let told: Value = serde_json::from_str(&told).unwrap();
        assert!(is_reply(&told), "{told}");
        answered += usize::from(told["status"] == "ok");
    }
    assert!(answered > 0, "none of {count} was answered");
    bench.expect(&bench.stdin("after", "text"), "ok");
    let threads = std::fs::read_dir("/proc/self/task").unwrap().count();
    assert!(threads < 200, "{threads} threads are left");
}

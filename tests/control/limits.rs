//! How much may be sent at once.

use std::io::Write as _;

use serde_json::json;

use crate::bench::{Bench, connect, reply};

#[test]
fn tcp_25_26_the_hard_limit_counts_bytes_and_is_itself_allowed() {
    let bench = Bench::with(&json!({"softLimitBytes": 10, "hardLimitBytes": 20}));
    // Two bytes each.
    let exactly = "é".repeat(10);
    bench.expect(&bench.stdin("exactly", &exactly), "ok");
    let above = format!("{exactly}x");
    let detail = bench.expect(&bench.stdin("above", &above), "rejected");
    assert!(detail.starts_with("too_large:"), "{detail}");
    assert!(detail.contains("21"), "{detail}");
    bench.expect(&bench.stdin("soft", "0123456789"), "ok");
    // Above the soft limit it is taken, and on record.
    let warned = bench.trail("ControlSoftLimitExceeded");
    assert_eq!(warned.len(), 1);
    assert_eq!(
        (&warned[0]["request_id"], &warned[0]["bytes"]),
        (&json!("exactly"), &json!(20))
    );
    assert_eq!(warned[0]["soft_limit_bytes"], 10);
    assert_eq!(bench.inputs(), [exactly.as_str(), "0123456789"]);
}

#[test]
fn tcp_27_a_full_text_fits_its_line_and_longer_lines_end() {
    let bench = Bench::new();
    // Each of these is six bytes in JSON.
    let full = "\u{1}".repeat((1 << 20) - 1) + "x";
    let ack = bench.ask(&bench.stdin("full", &full));
    assert_eq!(ack["result"], "ok", "{ack}");
    let twice = "x".repeat(2 << 20);
    assert!(
        bench
            .expect(&bench.stdin("twice", &twice), "rejected")
            .starts_with("too_large:")
    );

    let mut stream = connect(bench.socket());
    let chunk = vec![b'x'; 1 << 20];
    // It may be cut off before all of this is sent.
    for _ in 0..12 {
        if stream.write_all(&chunk).is_err() {
            break;
        }
    }
    let reply = reply(&mut stream);
    assert_eq!(reply["error"]["code"], "INVALID_REQUEST");
    bench.expect(&bench.stdin("after", "still here"), "ok");
}

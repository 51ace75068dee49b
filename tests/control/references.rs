//! Texts that are sent as references to files.

use std::fmt::Write as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::bench::{Bench, changed, seconds_ago, seconds_ahead};

fn sha256(bytes: &[u8]) -> String {
    let mut hex = String::new();
    for byte in Sha256::digest(bytes) {
        let _ = write!(hex, "{byte:02x}");
    }
    hex
}

fn reference(path: &Path, bytes: &[u8]) -> Value {
    json!({
        "path": path,
        "size_bytes": bytes.len(),
        "sha256": sha256(bytes),
        "mime": "text/plain; charset=utf-8",
    })
}

fn put(path: &Path, bytes: &[u8]) -> PathBuf {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, bytes).unwrap();
    path.to_owned()
}

fn message(bench: &Bench, request_id: &str, reference: &Value) -> Value {
    let message = bench.stdin(request_id, "");
    let message = changed(&message, "content", &Value::Null);
    changed(&message, "content_ref", reference)
}

const UNREACHABLE: &str = "content_ref_unreachable:";

#[test]
fn tcp_30_38_a_file_beneath_the_base_becomes_the_input() {
    let bench = Bench::new();
    let text = "from a file\nwith two lines\n";
    let path = put(&bench.share().join("crew/input/one.txt"), text.as_bytes());
    let mut sent = message(&bench, "one", &reference(&path, text.as_bytes()));
    sent["content_preview"] = "from a".into();
    sent["meta"] = json!({"oversize_strategy": "content_ref"});
    bench.expect(&sent, "ok");
    // A way that only passes outside, and a link that stays inside, end beneath the base.
    let dotted = bench.share().join("crew/../crew/input/one.txt");
    bench.expect(
        &message(&bench, "two", &reference(&dotted, text.as_bytes())),
        "ok",
    );
    symlink(bench.share().join("crew/input"), bench.share().join("link")).unwrap();
    let linked = bench.share().join("link/one.txt");
    bench.expect(
        &message(&bench, "three", &reference(&linked, text.as_bytes())),
        "ok",
    );
    assert_eq!(bench.inputs(), [text, text, text]);
}

#[test]
fn tcp_30_36_nothing_outside_the_base_is_read_or_told_of() {
    let bench = Bench::new();
    let (share, home) = (bench.share(), bench.world.home());
    let secret = put(&home.join("outside/secret.txt"), b"secret");
    let beside = put(&home.join("share-not/secret.txt"), b"secret");
    symlink(&secret, share.join("file-link")).unwrap();
    symlink(home.join("outside"), share.join("folder-link")).unwrap();
    let outside = [
        secret.clone(),
        beside,
        share.join("../outside/secret.txt"),
        share.join("file-link"),
        share.join("folder-link/secret.txt"),
        PathBuf::from("/etc/hostname"),
    ];
    let absent = [
        share.join("absent.txt"),
        home.join("outside/absent.txt"),
        share.join("../absent.txt"),
        PathBuf::from("/absent"),
    ];
    let details = outside.iter().chain(&absent).map(|path| {
        bench.expect(
            &message(&bench, "one", &reference(path, b"secret")),
            "rejected",
        )
    });
    let mut details: Vec<String> = details.collect();
    details.dedup();
    assert_eq!(details.len(), 1, "{details:?}");
    assert!(details[0].starts_with(UNREACHABLE));
    let relative = changed(
        &reference(&secret, b"secret"),
        "path",
        &json!("share/one.txt"),
    );
    bench.expect(&message(&bench, "one", &relative), "rejected");
    assert!(bench.inputs().is_empty());
}

#[test]
fn tcp_31_37_size_and_hash_are_verified_and_a_mended_request_is_accepted() {
    let bench = Bench::new();
    let path = put(&bench.share().join("one.txt"), b"content");
    let good = reference(&path, b"content");
    for (member, value) in [
        ("size_bytes", json!(6)),
        ("size_bytes", json!(8)),
        ("sha256", json!(sha256(b"Content"))),
    ] {
        let detail = bench.expect(
            &message(&bench, "one", &changed(&good, member, &value)),
            "rejected",
        );
        assert!(detail.starts_with("content_ref_changed:"), "{detail}");
    }
    for (member, value) in [
        ("size_bytes", json!("7")),
        ("size_bytes", json!(-7)),
        ("size_bytes", Value::Null),
        ("sha256", json!("abc")),
        ("sha256", json!("g".repeat(64))),
        ("sha256", Value::Null),
        ("path", json!(7)),
        ("path", Value::Null),
        ("mime", Value::Null),
    ] {
        bench.expect(
            &message(&bench, "one", &changed(&good, member, &value)),
            "rejected",
        );
    }
    let upper = changed(&good, "sha256", &json!(sha256(b"content").to_uppercase()));
    let ack = bench.ask(&message(&bench, "one", &upper));
    assert_eq!(
        (&ack["result"], &ack["duplicate"]),
        (&json!("ok"), &json!(false))
    );
    assert_eq!(bench.inputs(), ["content"]);
    // Once it was accepted, the file is of no more use.
    std::fs::remove_file(path).unwrap();
    let again = bench.ask(&message(&bench, "one", &good));
    assert_eq!(
        (&again["result"], &again["duplicate"]),
        (&json!("ok"), &json!(true))
    );
}

#[test]
fn tcp_32_expired_references_are_rejected() {
    let bench = Bench::new();
    let path = put(&bench.share().join("one.txt"), b"content");
    let until = |time: &str| changed(&reference(&path, b"content"), "expires_at", &json!(time));
    let expired = bench.expect(
        &message(&bench, "one", &until(&seconds_ago(10))),
        "rejected",
    );
    assert!(expired.starts_with("content_ref_expired:"), "{expired}");
    bench.expect(&message(&bench, "one", &until("tomorrow")), "rejected");
    bench.expect(&message(&bench, "one", &until(&seconds_ahead(600))), "ok");
}

#[test]
fn tcp_33_a_file_must_be_a_text() {
    let bench = Bench::new();
    for (bytes, word) in [
        (&b"\xff\xfe"[..], "invalid_content:"),
        (b" \n\t", "empty_content:"),
        (b"", "empty_content:"),
        (b"a\0b", "invalid_content:"),
    ] {
        let path = put(&bench.share().join("one.txt"), bytes);
        let detail = bench.expect(
            &message(&bench, "one", &reference(&path, bytes)),
            "rejected",
        );
        assert!(detail.starts_with(word), "{detail} for {bytes:?}");
    }
}

#[test]
fn tcp_34_only_regular_files_are_opened_and_nothing_waits() {
    let bench = Bench::new();
    let share = bench.share();
    std::fs::create_dir(share.join("folder")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        share.join("pipe"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
        0,
    )
    .unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(share.join("socket")).unwrap();
    for name in ["folder", "pipe", "socket", ""] {
        let detail = bench.expect(
            &message(&bench, "one", &reference(&share.join(name), b"x")),
            "rejected",
        );
        assert!(detail.starts_with(UNREACHABLE), "{detail} for {name:?}");
    }
}

#[test]
fn tcp_35_only_utf_8_text_types_are_taken() {
    let bench = Bench::new();
    let path = put(&bench.share().join("one.txt"), b"content");
    let mime = |mime: &str| changed(&reference(&path, b"content"), "mime", &json!(mime));
    for refused in [
        "application/json",
        "text/",
        "text",
        "image/png",
        "text/plain; charset=latin1",
        "",
    ] {
        bench.expect(&message(&bench, "one", &mime(refused)), "rejected");
    }
    for (number, taken) in [
        "text/plain",
        "text/markdown; charset=UTF-8",
        "Text/Plain;charset=\"utf-8\"",
    ]
    .iter()
    .enumerate()
    {
        bench.expect(&message(&bench, &format!("n{number}"), &mime(taken)), "ok");
    }
}

#[test]
fn tcp_28_a_file_has_a_limit_of_its_own() {
    let bench =
        Bench::with(&json!({"contentRefMaxBytes": 8, "hardLimitBytes": 4, "softLimitBytes": 4}));
    let path = put(&bench.share().join("one.txt"), b"123456789");
    let detail = bench.expect(
        &message(&bench, "one", &reference(&path, b"123456789")),
        "rejected",
    );
    assert!(detail.starts_with("content_ref_too_large:"), "{detail}");
    let path = put(&bench.share().join("two.txt"), b"12345678");
    bench.expect(
        &message(&bench, "two", &reference(&path, b"12345678")),
        "ok",
    );
    // A file below the limit of inline texts is as good.
    let path = put(&bench.share().join("three.txt"), b"1");
    bench.expect(&message(&bench, "three", &reference(&path, b"1")), "ok");
}

#[test]
fn tcp_34_a_path_that_changes_all_the_time_never_leads_outside() {
    let bench = Bench::new();
    let share = bench.share();
    put(&bench.world.home().join("outside/one.txt"), b"outside");
    put(&share.join("inside/one.txt"), b"inside!");
    let (turning, outside) = (share.join("turning"), bench.world.home().join("outside"));
    let inside = share.join("inside");
    let is_over = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut next = 0;
            while !is_over.load(std::sync::atomic::Ordering::Acquire) {
                let target = [&outside, &inside][next % 2];
                let fresh = share.join(format!("fresh-{next}"));
                symlink(target, &fresh).unwrap();
                std::fs::rename(fresh, &turning).unwrap();
                next += 1;
            }
        });
        let path = turning.join("one.txt");
        for round in 0..200 {
            let ack = bench.ask(&message(
                &bench,
                &format!("r{round}"),
                &reference(&path, b"outside"),
            ));
            assert_eq!(ack["result"], "rejected", "{ack}");
        }
        is_over.store(true, std::sync::atomic::Ordering::Release);
    });
    assert!(bench.inputs().is_empty());
}

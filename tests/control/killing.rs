//! The program killed while it is sent to: every text is typed once, whatever process took it.

use std::time::{Duration, Instant};

use serde_json::json;
use stud_control::{Outgoing, Sender, Text};
use stud_core::launch::{Launch, Resume};
use stud_tests::World;

use crate::bench::transcript;
use crate::sending::{Running, open_session, sender, world};

/// How often the program is killed. `STUD_CONTROL_KILLS` makes it more, as in the nightly run with 200.
fn kills() -> u32 {
    let set = std::env::var("STUD_CONTROL_KILLS");
    set.ok().and_then(|set| set.parse().ok()).unwrap_or(8)
}

/// A number that looks random and is the same in every run.
fn scatter(seed: u32) -> u32 {
    let mut number = seed.wrapping_mul(2_654_435_761) ^ 0x9E37_79B9;
    number ^= number >> 15;
    number = number.wrapping_mul(2_246_822_519);
    number ^ (number >> 13)
}

fn outgoing(session: &str, number: u32) -> Outgoing {
    Outgoing {
        sender: "ada".to_owned(),
        team: Some("crew".to_owned()),
        session_id: session.to_owned(),
        agent_id: "main".to_owned(),
        request_id: Some(format!("send-{number}")),
        text: Some(Text {
            content: format!("text {number}"),
            interrupt: false,
        }),
    }
}

/// Sends until it is accepted, in whatever process.
fn deliver(sender: &Sender, outgoing: &Outgoing) {
    let deadline = Instant::now() + Duration::from_secs(120);
    loop {
        if let Ok(delivery) = sender.send(outgoing)
            && delivery.ack["result"] == "ok"
        {
            return;
        }
        assert!(Instant::now() < deadline, "{outgoing:?} was never accepted");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn texts(world: &World, session: &str) -> Vec<String> {
    let how = Launch {
        resume: Some(Resume::Session(session.to_owned())),
        headless: true,
        ..Launch::default()
    };
    let bundled = vec![echo::stud_plugin(), filesystem_session_store::stud_plugin()];
    let live = world.live_as(bundled, how);
    let mut records = transcript(live.session());
    live.session().close().unwrap();
    records.retain(|record| record.kind == "user_input");
    records
        .into_iter()
        .map(|record| record.payload["text"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn tcp_69_103_every_text_is_typed_once_though_the_program_is_killed() {
    let world = world(&json!({"queueCapacity": 256, "maxAgeSecs": 3600, "dedupeTtlSecs": 7200}));
    let mut sender = sender(&world);
    sender.retries = 0;
    // A process that is killed while it answers does not answer.
    sender.ack_timeout = Duration::from_secs(10);
    let mut running = Running::start(&world, &[]);
    let session = open_session(&sender);
    // So that there is a session to continue with, whenever it is killed.
    deliver(&sender, &outgoing(&session, 0));
    let mut sent = 1;
    for kill in 0..kills() {
        let (first, sender) = (sent, &sender);
        sent += 6;
        std::thread::scope(|scope| {
            let sending = scope.spawn({
                let session = &session;
                move || {
                    for number in first..first + 6 {
                        deliver(sender, &outgoing(session, number));
                    }
                }
            });
            std::thread::sleep(Duration::from_micros(u64::from(scatter(kill) % 60_000)));
            running.kill();
            running = Running::start(&world, &["--resume", &session]);
            sending.join().unwrap();
        });
    }
    running.kill();
    let expected: Vec<String> = (0..sent).map(|number| format!("text {number}")).collect();
    assert_eq!(texts(&world, &session), expected);
}

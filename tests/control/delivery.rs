//! What happens to text that was accepted, and why some is not.

use serde_json::json;
use stud_core::executor::block_on;
use stud_tests::eventually;

use crate::bench::{Bench, running_turn};

#[test]
fn tcp_50_69_accepted_text_is_on_record_before_it_is_acknowledged() {
    let bench = Bench::new();
    bench.expect(&bench.stdin("one", "text"), "ok");
    // It is not answered yet.
    assert_eq!(bench.session().turn_count(), 0);
    let input = bench.records("user_input").pop().unwrap();
    assert_eq!(input.ext_id.as_deref(), Some("control"));
    assert_eq!(input.payload["text"], "text");
    let origin = &input.payload["origin"];
    assert_eq!(
        (&origin["kind"], &origin["requestId"], &origin["sender"]),
        (&json!("control"), &json!("one"), &json!("ada"))
    );
}

#[test]
fn tcp_51_52_a_target_that_takes_nothing_is_not_live() {
    let bench = Bench::new();
    bench.expect(&bench.stdin("kept", "so that the store has it"), "ok");
    bench.session().end_of_input();
    bench.expect(&bench.stdin("one", "text"), "not_live");
    // Its turn could still be interrupted.
    bench.expect(&bench.interrupt("two"), "ok");
    assert_eq!(bench.inputs().len(), 1);
    bench.session().close().unwrap();
    bench.expect(&bench.stdin("one", "text"), "not_live");
    bench.expect(&bench.interrupt("three"), "not_live");
}

#[test]
fn tcp_53_85_a_full_queue_is_busy_and_the_others_stay_in_order() {
    let bench = Bench::new();
    for number in 0..64 {
        bench.expect(
            &bench.stdin(&format!("id {number}"), &format!("text {number}")),
            "ok",
        );
    }
    let detail = bench.expect(&bench.stdin("too many", "text"), "busy");
    assert!(detail.starts_with("queue_full:"), "{detail}");
    let _conversing = bench.converse();
    let starts = eventually("every turn", || {
        let starts = bench.records("turn_end");
        (starts.len() == 64).then_some(starts)
    });
    assert_eq!(starts.len(), 64);
    let inputs = bench.records("user_input");
    let taken: Vec<_> = bench
        .records("turn_start")
        .into_iter()
        .map(|start| start.payload["inputSeq"].clone())
        .collect();
    let typed: Vec<_> = inputs.iter().map(|input| json!(input.seq)).collect();
    assert_eq!(taken, typed);
    for (number, input) in inputs.iter().enumerate() {
        assert_eq!(input.payload["text"], format!("text {number}"));
    }
}

#[test]
fn tcp_85_86_all_inputs_of_a_session_wait_in_one_line() {
    let bench = Bench::new();
    let _conversing = bench.converse();
    bench.expect(&bench.stdin("running", "!slow 600000"), "ok");
    running_turn(bench.session(), None);
    bench.expect(&bench.stdin("one", "one"), "ok");
    block_on(bench.session().submit("test", "two".to_owned())).unwrap();
    bench.expect(&bench.stdin("three", "three"), "ok");
    bench.expect(&bench.interrupt("stop"), "ok");
    eventually("every turn", || {
        (bench.records("turn_end").len() == 4).then_some(())
    });
    let said: Vec<String> = bench
        .records("assistant_message")
        .into_iter()
        .map(|said| said.payload.to_string())
        .collect();
    let place = |text: &str| {
        said.iter()
            .position(|said| said.contains(&format!("USER {text}")))
            .unwrap()
    };
    assert!(
        place("one") < place("two") && place("two") < place("three"),
        "{said:?}"
    );
}

#[test]
fn text_is_no_command_even_if_it_looks_like_one() {
    let bench = Bench::new();
    bench.expect(&bench.stdin("one", "/exit"), "ok");
    assert_eq!(bench.live.listen().answered().text, "USER /exit");
    assert!(bench.session().is_live());
}

//! Cancelling the running turn.

use serde_json::json;
use stud_tests::eventually;

use crate::bench::{Bench, baseline, changed, running_turn};

/// A turn that would take longer than the test.
const LONG: &str = "!slow 600000";

#[test]
fn tcp_80_an_unsupported_interrupt_is_rejected_and_never_a_duplicate() {
    let bench = Bench::with(&json!({"interrupt": false}));
    for _ in 0..3 {
        let ack = bench.ask(&bench.interrupt("one"));
        assert_eq!(
            (&ack["result"], &ack["duplicate"]),
            (&json!("rejected"), &json!(false))
        );
        assert_eq!(ack["type"], "control.interrupt.ack");
    }
    let cutting_in = changed(&bench.stdin("two", "text"), "interrupt", &json!(true));
    let ack = bench.ask(&cutting_in);
    assert_eq!(
        (&ack["result"], &ack["duplicate"]),
        (&json!("rejected"), &json!(false))
    );
    assert!(bench.inputs().is_empty());
    assert!(bench.records("control_interrupt").is_empty());
    // The id is as good as new.
    let ack = bench.ask(&bench.stdin("two", "text"));
    assert_eq!(
        (&ack["result"], &ack["duplicate"]),
        (&json!("ok"), &json!(false))
    );
}

#[test]
fn tcp_81_82_an_interrupt_ends_the_turn_and_a_repetition_does_not_end_the_next() {
    let bench = Bench::new();
    let _conversing = bench.converse();
    bench.expect(&bench.stdin("first", LONG), "ok");
    let turn = running_turn(bench.session(), None);
    assert_eq!(bench.expect(&bench.interrupt("stop"), "ok"), "interrupted");
    let end = eventually("the end of the turn", || bench.records("turn_end").pop());
    assert_eq!(end.payload["status"], "cancelled");
    assert_eq!(end.correlation_id.as_deref(), Some(turn.as_str()));

    bench.expect(&bench.stdin("second", LONG), "ok");
    let next = running_turn(bench.session(), Some(&turn));
    for repeated in [bench.interrupt("stop"), baseline(&bench.interrupt("stop"))] {
        let ack = bench.ask(&repeated);
        assert_eq!(
            (&ack["result"], &ack["duplicate"]),
            (&json!("ok"), &json!(true))
        );
    }
    assert_eq!(bench.session().turn_id().as_deref(), Some(next.as_str()));
    assert_eq!(
        bench.expect(&bench.interrupt("stop again"), "ok"),
        "interrupted"
    );
}

#[test]
fn tcp_82_nothing_to_interrupt_is_fine() {
    let bench = Bench::new();
    let ack = bench.ask(&bench.interrupt("one"));
    assert_eq!(
        (&ack["result"], &ack["detail"]),
        (&json!("ok"), &json!("no_active_turn"))
    );
    let ack = bench.ask(&bench.interrupt("one"));
    assert_eq!(
        (&ack["result"], &ack["duplicate"]),
        (&json!("ok"), &json!(true))
    );
}

#[test]
fn tcp_83_text_that_interrupts_goes_first_and_other_text_waits() {
    let bench = Bench::new();
    let _conversing = bench.converse();
    bench.expect(&bench.stdin("running", LONG), "ok");
    running_turn(bench.session(), None);
    bench.expect(&bench.stdin("later", "later"), "ok");
    assert!(bench.session().turn_id().is_some());
    let urgent = changed(&bench.stdin("urgent", "urgent"), "interrupt", &json!(true));
    bench.expect(&urgent, "ok");
    let ends = eventually("three turns", || {
        let ends = bench.records("turn_end");
        (ends.len() == 3).then_some(ends)
    });
    assert_eq!(ends[0].payload["status"], "cancelled");
    let answers: Vec<_> = bench
        .records("assistant_message")
        .into_iter()
        .map(|said| said.payload.to_string())
        .collect();
    let place = |text: &str| {
        answers
            .iter()
            .position(|answer| answer.contains(&format!("USER {text}")))
    };
    assert!(place("urgent") < place("later"), "{answers:?}");
    assert!(
        place("urgent").is_some() && place("later").is_some(),
        "{answers:?}"
    );
}

#[test]
fn tcp_83_text_that_goes_first_still_does_after_a_restart() {
    let bench = Bench::new();
    bench.expect(&bench.stdin("one", "one"), "ok");
    let urgent = changed(&bench.stdin("two", "two"), "interrupt", &json!(true));
    bench.expect(&urgent, "ok");
    let bench = bench.restart(&json!({}));
    assert_eq!(bench.live.listen().answered().text, "USER two");
    assert_eq!(bench.live.listen().answered().text, "USER one");
}

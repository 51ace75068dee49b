//! Tests of these tests: each fault is planted in core, and a model has to notice.

use stud_core::Fault;

use crate::explore::finds;
use crate::{
    answering, calling_off, children, coming_and_going, detaching, granting, hearing, living,
};

#[test]
fn a_second_winner_is_noticed() {
    finds(Fault::TwoWinners, calling_off::time_runs_out);
}

#[test]
fn a_second_outcome_of_a_childs_prompt_is_noticed() {
    finds(Fault::TwoWinners, children::parent_cancelled);
}

#[test]
fn a_childs_prompt_that_is_left_in_the_line_is_noticed() {
    finds(Fault::LineStands, children::child_cancelled);
}

#[test]
fn a_second_late_answer_is_noticed() {
    finds(Fault::TwoWinners, detaching::late);
}

#[test]
fn a_prompt_that_is_raised_late_is_noticed() {
    finds(Fault::RaisedLate, answering::two_answers);
}

#[test]
fn a_prompt_that_is_asked_before_its_record_is_noticed() {
    finds(Fault::AskedEarly, answering::two_answers);
}

#[test]
fn an_answer_that_acts_before_it_is_safe_is_noticed() {
    finds(Fault::AnswerUnsafe, answering::by_hand);
}

#[test]
fn losers_that_are_forgotten_are_noticed() {
    finds(Fault::LosersForgotten, answering::late_answers);
}

#[test]
fn losers_that_are_not_asked_are_noticed() {
    finds(Fault::LosersUnasked, answering::two_answers);
}

#[test]
fn a_prompt_that_a_subscriber_holds_up_is_noticed() {
    finds(Fault::HeldUp, answering::held_up);
}

#[test]
fn a_line_that_stands_still_is_noticed() {
    finds(Fault::LineStands, calling_off::moving_on);
}

#[test]
fn two_prompts_at_once_are_noticed() {
    finds(Fault::TwoAtOnce, answering::three_askers);
}

#[test]
fn an_alarm_of_an_earlier_absence_is_noticed() {
    finds(Fault::StaleAlarm, coming_and_going::grace_anew);
}

#[test]
fn an_input_that_is_acknowledged_before_its_record_is_noticed() {
    finds(Fault::AckedEarly, living::inputs);
}

#[test]
fn a_reader_that_sleeps_on_is_noticed() {
    finds(Fault::SleepingReader, living::end_of_input);
}

#[test]
fn a_snapshot_that_claims_too_much_is_noticed() {
    finds(Fault::SnapshotAhead, living::crashing);
}

#[test]
fn a_lane_that_misses_an_event_is_noticed() {
    finds(Fault::RestsUnseen, hearing::everybody);
}

#[test]
fn a_subscriber_that_two_lanes_call_is_noticed() {
    finds(Fault::MovedAndCalled, hearing::stuck);
}

#[test]
fn a_grant_that_is_used_twice_is_noticed() {
    finds(Fault::GrantReused, granting::siblings);
}

#[test]
fn a_grant_that_outlives_its_attempt_is_noticed() {
    finds(Fault::GrantOutlives, granting::ending);
}

//! Prompts that stay open after their tool is gone: one late answer, and nothing beside it.

use std::sync::{Arc, Weak};

use serde_json::json;
use shuttle::sync::Mutex;
use shuttle::thread;
use stud_contract_interaction::{
    Action, Field, FieldType, Form, Response, Status, ToolInput, UserResponse,
};
use stud_contract_meta::Result;
use stud_contract_session_store::Durability;
use stud_core::executor::block_on;
use stud_core::interactions::{Inbox, LateAnswer};
use stud_diagnostics::codes;

use crate::clock::Clock;
use crate::explore::explore;
use crate::people::Move;
use crate::room::{PATIENCE, Room};
use crate::shelf::StoredSessions;

/// The inputs of a session that does nothing else.
#[derive(Default)]
struct Inputs(Mutex<Places>);

#[derive(Default)]
struct Places {
    /// How many are kept.
    kept: usize,
    came: Vec<LateAnswer>,
}

impl Inbox for Inputs {
    fn reserve(&self) -> Result<()> {
        self.0.lock().unwrap().kept += 1;
        Ok(())
    }

    fn arrive(&self, answer: Option<LateAnswer>) {
        let mut places = self.0.lock().unwrap();
        places.kept -= 1;
        places.came.extend(answer);
    }
}

#[test]
fn a_late_answer_races_another_and_the_end_of_the_prompt() {
    explore(late);
}

/// Two answers, a cancellation, and the session's end, all while the prompt is about to be detached.
pub(crate) fn late() {
    let room = Room::with(Clock::ringing(PATIENCE, 1), StoredSessions::new());
    room.seat("ann", &[Move::Wait]);
    let inputs = Arc::new(Inputs::default());
    let id = run_out_of_time(&room, &inputs);

    let answers = ["ann", "bob"].map(|name| {
        let (room, id) = (room.clone(), id.clone());
        thread::spawn(move || block_on(room.prompts.respond(name, answer(&id))))
    });
    let calling_off = {
        let (room, id) = (room.clone(), id.clone());
        thread::spawn(move || room.prompts.call_off(&id))
    };
    let ending = {
        let room = room.clone();
        thread::spawn(move || room.prompts.close())
    };
    let outcomes = answers.map(|answering| answering.join().unwrap());
    let called_off = calling_off.join().unwrap();
    ending.join().unwrap();
    let _ = block_on(room.books.ledger.append(Vec::new(), Durability::Written));

    let won = outcomes.iter().filter(|outcome| outcome.is_ok()).count();
    for error in outcomes.iter().filter_map(|outcome| outcome.as_ref().err()) {
        let expected = [
            codes::INTERACTION_ALREADY_ANSWERED.name,
            codes::SESSION_CANCELLED.name,
        ];
        assert!(expected.contains(&error.code()), "refused with {error}");
    }
    let records = room.shelf.about(&id, "interaction_response");
    let late: Vec<_> = records
        .iter()
        .filter(|(_, record)| record.payload["late"] == true)
        .collect();
    assert_eq!(records.len(), late.len() + 1, "it ran out of time once");
    assert!(late.len() <= 1, "one outcome on record");
    let accepted = |outcome: &str| late.iter().any(|(_, it)| it.payload["outcome"] == outcome);
    assert_eq!(won, usize::from(accepted("accepted")), "told and on record");
    // A cancellation before its record is written succeeds, and the session may end before it does.
    assert!(called_off.is_ok() || !accepted("cancelled"));

    let places = inputs.0.lock().unwrap();
    assert_eq!(places.kept, 0, "a place is left");
    assert_eq!(places.came.len(), won, "said once for each who won");
    let said = room
        .shelf
        .journal("s1")
        .into_iter()
        .filter(|record| record.kind == "user_input");
    let said: Vec<u64> = said.map(|record| record.seq).collect();
    let came: Vec<u64> = places.came.iter().map(|answer| answer.seq).collect();
    assert_eq!(said, came, "what is on record is what came");
    for seq in said {
        assert!(room.shelf.is_safe("s1", seq), "said before it is safe");
    }
}

#[test]
fn an_answer_whose_record_fails_leaves_the_prompt_open() {
    explore(|| {
        // The prompt, its end and that it stays open are on record. The first answer is tried twice, in vain.
        let room = Room::with(Clock::ringing(PATIENCE, 1), StoredSessions::failing(3..5));
        room.seat("ann", &[Move::Wait]);
        let inputs = Arc::new(Inputs::default());
        let id = run_out_of_time(&room, &inputs);
        let _ = block_on(room.books.ledger.append(Vec::new(), Durability::Written));
        let failed = block_on(room.prompts.respond("ann", answer(&id))).unwrap_err();
        assert_eq!(failed.code(), codes::STORE_UNAVAILABLE.name);
        assert_eq!(room.prompts.detached().len(), 1);
        block_on(room.prompts.respond("ann", answer(&id))).unwrap();
        let places = inputs.0.lock().unwrap();
        assert_eq!((places.kept, places.came.len()), (0, 1));
    });
}

/// A tool asks in vain and says that the answer may come later.
fn run_out_of_time(room: &Arc<Room>, inputs: &Arc<Inputs>) -> String {
    let mut asker = room.asker();
    asker.timeout = Some(PATIENCE);
    let form = ToolInput {
        tool_call_id: "c1".to_owned(),
        tool_name: "form".to_owned(),
        input_schema: Form::new(vec![Field::new("answer", FieldType::Text, "Answer")]),
        ..ToolInput::default()
    };
    let raised = room.prompts.raise(asker, form.into());
    let id = raised.interaction_id().to_owned();
    let got = block_on(raised).unwrap();
    assert_eq!(got.status, Status::Timeout);
    let weak: Weak<Inputs> = Arc::downgrade(inputs);
    assert!(room.prompts.detach(&room.books, "asker", "c1", weak));
    id
}

fn answer(id: &str) -> Response {
    let answer = UserResponse {
        input: json!({"answer": "yes"}).as_object().cloned(),
        ..UserResponse::new(Action::Submit)
    };
    Response {
        interaction_id: id.to_owned(),
        correlation_id: "t1".to_owned(),
        status: Status::Accepted,
        value: Some(json!(answer)),
        reason: None,
    }
}

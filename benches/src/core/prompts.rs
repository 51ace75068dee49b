//! A prompt from its asker to interactors in libraries and back.

use std::path::Path;
use std::time::{Duration, Instant};

use stud_abi::CancellationToken;
use stud_contract_interaction::Confirm;
use stud_contract_meta::Kind;
use stud_core::environment::EmbeddedPlugin;
use stud_core::executor::block_on;
use stud_core::session::Session;

use crate::home::{Home, fail};
use crate::measure::Spread;
use crate::table::Row;

const PROMPTS: u32 = 2_000;
/// Where every answer has to reach the disk.
const SYNCED_PROMPTS: u32 = 200;

pub(crate) fn rows() -> Vec<Row> {
    let in_memory = |interactors| spread(Home::empty(), Vec::new(), interactors, PROMPTS);
    let two = in_memory(2);
    let mut rows = vec![
        Row::limit(
            "a prompt, from its asker to two interactors and back, kept in memory",
            two.median,
            100.0,
            "µs",
        ),
        Row::fact(
            "the slowest of 100 such prompts",
            format!("{:.0} µs", two.worst_but_one_percent),
        ),
    ];
    let growth = [2, 4, 8].map(|interactors| {
        let median = in_memory(interactors).median;
        format!("{interactors}: {median:.0} µs")
    });
    rows.push(Row::fact(
        "the same, as the number of interactors grows",
        growth.join(", "),
    ));
    let places = [
        ("/dev/shm", "kept in files in memory"),
        ("", "kept on this machine's disk, synced"),
    ];
    for (place, words) in places {
        let home = match Path::new(place) {
            memory if memory.is_dir() => Home::below(memory),
            _ => Home::empty(),
        };
        let store = vec![filesystem_session_store::stud_plugin()];
        let spread = spread(home, store, 2, SYNCED_PROMPTS);
        rows.push(Row::fact(
            &format!("the same with two, {words}"),
            format!("median {:.0} µs", spread.median),
        ));
    }
    rows
}

fn spread(home: Home, bundled: Vec<EmbeddedPlugin>, interactors: usize, prompts: u32) -> Spread {
    let home = home.and_uis(interactors);
    let launched = home.session(bundled, None);
    let session = &launched.session;
    let times = (0..prompts).map(|_| ask(session)).collect();
    if let Err(error) = session.close() {
        fail(&error.to_string());
    }
    Spread::of(times)
}

/// Asks once, with every interactor at rest.
fn ask(session: &Session) -> Duration {
    for ui in session.plugins().of_kind(Kind::Ui) {
        block_on(session.prompts().idle(ui.identity().ext_id.as_str()));
    }
    let question = Confirm {
        prompt: "Continue?".to_owned(),
        default: None,
    };
    let began = Instant::now();
    let answer = block_on(session.ask(Some("bench"), CancellationToken::never(), question.into()));
    let took = began.elapsed();
    match answer.map(|answer| answer.value) {
        Ok(Some(value)) if value["confirmed"] == true => took,
        other => fail(&format!("a prompt was not answered with yes: {other:?}")),
    }
}

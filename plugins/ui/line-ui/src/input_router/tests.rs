//! Who gets which line. Nothing reads here but the test, so that the order of things is the test's own.

use std::io::{PipeWriter, Write as _, pipe};
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use super::*;
use crate::screen::Look;
use crate::tests::rig::Paper;

struct Table {
    desk: Arc<Desk>,
    keys: PipeWriter,
    draft: Draft,
    notes: Paper,
}

impl Table {
    fn new() -> Self {
        let (input, keys) = pipe().unwrap();
        let notes = Paper::default();
        let look = Look {
            prompt: String::new(),
            invites: false,
            color: false,
        };
        let screen = Screen::new(Paper::default().output(false), notes.output(false), look);
        let keyboard = Arc::new(Keyboard::new(input.into()));
        Self {
            desk: Arc::new(Desk::new(keyboard, Arc::new(screen))),
            keys,
            draft: Draft::default(),
            notes,
        }
    }

    /// Something arrives, and is read at once.
    fn arrives(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
        assert!(self.desk.read(&mut self.draft));
    }

    /// A prompt on the screen.
    fn asks(&self, id: &str) -> Seat {
        let mut seat = self.desk.seat(id);
        assert_eq!(show(&mut seat), Some(Ok(())));
        seat
    }

    /// What waits for the session.
    fn sent(&self) -> Vec<String> {
        let state = self.desk.lock();
        state.backlog.iter().map(|line| (**line).clone()).collect()
    }
}

/// What a future gives without waiting.
fn now<T>(future: impl Future<Output = T>) -> Option<T> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}

fn show(seat: &mut Seat) -> Option<Result<(), Gone>> {
    now(seat.show("? Sure?", "[y/n] ", false))
}

fn line(seat: &mut Seat) -> Option<Result<String, Gone>> {
    let line = now(seat.line())?;
    Some(line.map(|line| match line {
        Line::Text(text) => (*text).clone(),
        Line::Unusable(why) => why.to_owned(),
    }))
}

#[test]
fn what_came_before_a_prompt_does_not_answer_it() {
    let mut table = Table::new();
    table.arrives("hello\ny\n");
    let mut seat = table.asks("i1");
    assert_eq!(line(&mut seat), None);
    table.arrives("n\n");
    assert_eq!(line(&mut seat), Some(Ok("n".to_owned())));
    assert_eq!(table.sent(), ["hello", "y"]);
}

#[test]
fn a_line_that_had_begun_does_not_answer_either() {
    let mut table = Table::new();
    table.arrives("ye");
    let mut seat = table.asks("i1");
    table.arrives("s\nno\n");
    assert_eq!(line(&mut seat), Some(Ok("no".to_owned())));
    assert_eq!(table.sent(), ["yes"]);
}

#[test]
fn what_waits_in_a_pipe_is_read_before_a_prompt_is_shown() {
    let mut table = Table::new();
    table.keys.write_all(b"y\n").unwrap();
    let mut seat = table.desk.seat("i1");
    assert_eq!(show(&mut seat), None);
    assert_eq!(table.notes.text(), "");
    assert!(table.desk.read(&mut table.draft));
    assert_eq!(show(&mut seat), Some(Ok(())));
    assert_eq!(line(&mut seat), None);
    assert_eq!(table.sent(), ["y"]);
}

#[test]
fn what_follows_an_answer_is_for_the_session() {
    let mut table = Table::new();
    let mut seat = table.asks("i1");
    table.arrives("y\nhello\n  \nwor");
    assert_eq!(line(&mut seat), Some(Ok("y".to_owned())));
    seat.answered();
    table.arrives("ld\n");
    assert_eq!(table.sent(), ["hello", "world"]);
}

#[test]
fn what_follows_an_answer_does_not_answer_the_next_prompt() {
    let mut table = Table::new();
    let mut first = table.asks("i1");
    table.arrives("y\ny\n");
    assert_eq!(line(&mut first), Some(Ok("y".to_owned())));
    first.answered();
    let mut second = table.asks("i2");
    assert_eq!(line(&mut second), None);
    assert_eq!(table.sent(), ["y"]);
}

#[test]
fn half_a_line_for_a_settled_prompt_goes_nowhere() {
    let mut table = Table::new();
    let mut first = table.asks("i1");
    table.arrives("maybe\nye");
    table.desk.settle("i1", Fate::AnsweredBy("web".into()));
    let gone = Gone::Settled(Fate::AnsweredBy("web".into()));
    assert_eq!(line(&mut first), Some(Err(gone.clone())));
    first.give_up(gone);
    let mut second = table.asks("i2");
    table.arrives("s\n");
    assert_eq!(line(&mut second), None);
    assert_eq!(table.sent(), Vec::<String>::new());
    assert!(table.notes.text().contains("\nanswered by web\n"));
}

#[test]
fn a_dropped_prompt_gives_up_its_place() {
    let mut table = Table::new();
    let first = table.asks("i1");
    let mut second = table.desk.seat("i2");
    assert_eq!(show(&mut second), None);
    table.arrives("y\n");
    drop(first);
    assert_eq!(show(&mut second), Some(Ok(())));
    assert_eq!(line(&mut second), None);
    let told = "closed here: cancelled, or answered elsewhere\n";
    assert!(table.notes.text().contains(told), "{}", table.notes.text());
    table.desk.settle("i1", Fate::Cancelled);
    table.desk.settle("i1", Fate::Cancelled);
    assert_eq!(table.notes.text().matches("\ncancelled\n").count(), 1);
}

#[test]
fn a_prompt_settled_before_its_turn_is_never_shown() {
    let table = Table::new();
    let first = table.asks("i1");
    let mut second = table.desk.seat("i2");
    assert_eq!(show(&mut second), None);
    table.desk.settle("i2", Fate::Cancelled);
    let gone = Gone::Settled(Fate::Cancelled);
    assert_eq!(show(&mut second), Some(Err(gone)));
    drop(second);
    first.answered();
    assert_eq!(table.notes.text().matches("Sure?").count(), 1);
}

#[test]
fn the_end_of_the_input_is_no_enter() {
    let mut table = Table::new();
    let mut seat = table.asks("i1");
    table.arrives("y");
    table.keys = pipe().unwrap().1;
    assert!(!table.desk.read(&mut table.draft));
    assert_eq!(line(&mut seat), Some(Err(Gone::InputEnded)));
    assert!(matches!(table.desk.next_errand(), Some(Errand::End)));
}

#[test]
fn a_flood_is_not_read_to_its_end_and_answers_nothing() {
    let mut table = Table::new();
    let flood = "a".repeat(4000) + "\n";
    while !table.desk.lock().is_flooded() {
        table.arrives(&flood);
    }
    let mut seat = table.desk.seat("i1");
    assert_eq!(show(&mut seat), Some(Err(Gone::Flooded)));
    assert!(
        table
            .notes
            .text()
            .contains("? Sure?\nnot asked here: too much input")
    );
    assert!(matches!(table.desk.next_errand(), Some(Errand::Line(_))));
    assert!(!table.desk.lock().is_flooded());
}

#[test]
fn a_closed_desk_wants_nothing_and_gives_nothing() {
    let mut table = Table::new();
    table.arrives("hello\n");
    let mut seat = table.asks("i1");
    table.keys.write_all(b"y\n").unwrap();
    table.desk.close();
    assert!(!table.desk.read(&mut table.draft));
    assert!(table.desk.keyboard.has_input());
    assert_eq!(line(&mut seat), Some(Err(Gone::Closed)));
    assert!(table.desk.next_errand().is_none());
    assert!(!table.desk.rest(Duration::from_secs(60)));
}

#[test]
fn what_a_command_says_comes_after_its_questions_are_gone() {
    let table = Table::new();
    let question = table.asks("i1").of_command();
    let (gone, is_gone) = std::sync::mpsc::channel();
    let desk = table.desk.clone();
    let errands = std::thread::spawn(move || {
        desk.see_questions_off();
        let left = desk.lock().places.len();
        gone.send(left).unwrap();
    });
    assert!(is_gone.try_recv().is_err());
    table
        .desk
        .settle("i1", Fate::AnsweredBy("other".to_owned()));
    drop(question);
    assert_eq!(is_gone.recv(), Ok(0));
    errands.join().unwrap();
    // The prompt of a tool does not belong to a command, and delays none.
    let _other = table.asks("i2");
    table.desk.see_questions_off();
}

/// Types a line in the moment the screen says that a prompt was answered elsewhere, and has it read at once.
struct Typist {
    desk: Arc<std::sync::OnceLock<std::sync::Weak<Desk>>>,
    keys: PipeWriter,
}

impl std::io::Write for Typist {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if String::from_utf8_lossy(bytes).contains("answered by") {
            self.keys.write_all(b"what next?\n")?;
            let desk = self.desk.get().and_then(std::sync::Weak::upgrade);
            assert!(desk.unwrap().read(&mut Draft::default()));
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn what_is_typed_as_soon_as_a_prompt_was_settled_elsewhere_is_for_the_session() {
    let (input, keys) = pipe().unwrap();
    let known = Arc::new(std::sync::OnceLock::new());
    let typist = Typist {
        desk: known.clone(),
        keys,
    };
    let notes = crate::screen::Output {
        writer: Box::new(typist),
        is_terminal: false,
    };
    let look = Look {
        prompt: String::new(),
        invites: false,
        color: false,
    };
    let screen = Screen::new(Paper::default().output(false), notes, look);
    let keyboard = Arc::new(Keyboard::new(input.into()));
    let desk = Arc::new(Desk::new(keyboard, Arc::new(screen)));
    known.set(Arc::downgrade(&desk)).unwrap();
    let mut place = desk.seat("i1");
    assert_eq!(show(&mut place), Some(Ok(())));
    desk.settle("i1", Fate::AnsweredBy("web".to_owned()));
    drop(place);
    let state = desk.lock();
    let sent: Vec<&str> = state.backlog.iter().map(|line| line.as_str()).collect();
    assert_eq!(sent, ["what next?"]);
}

#[test]
fn a_line_for_a_prompt_that_is_gone_is_refused_in_words() {
    let mut table = Table::new();
    let seat = table.asks("i1");
    table.arrives("yes, but\nand al");
    table.desk.settle("i1", Fate::AnsweredBy("web".to_owned()));
    drop(seat);
    table.arrives("so\n");
    let notes = table.notes.text();
    for line in ["yes, but", "and also"] {
        let refused = format!("not sent, because the prompt it was typed for is gone: {line}");
        assert!(notes.contains(&refused), "{notes}");
    }
    assert_eq!(table.sent(), [""; 0]);
}

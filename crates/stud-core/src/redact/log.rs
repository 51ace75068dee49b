//! The secrets of every session of this process, taken out of what goes to the program's log.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tracing::level_filters::LevelFilter;

use super::Redactor;

/// The redactors of the sessions that were begun. The log is one for all of them.
static KNOWN: Mutex<Vec<Weak<Redactor>>> = Mutex::new(Vec::new());

/// From now on the log is without what this redactor knows, for as long as it lives.
pub(crate) fn cover(redactor: &Arc<Redactor>) {
    if LevelFilter::current() == LevelFilter::OFF {
        return;
    }
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.retain(|redactor| redactor.strong_count() > 0);
    known.push(Arc::downgrade(redactor));
}

/// A line of the log without the secrets of any session.
pub fn redacted_for_log(line: &str) -> Cow<'_, str> {
    let known: Vec<Arc<Redactor>> = {
        let known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        known.iter().filter_map(Weak::upgrade).collect()
    };
    let mut line = Cow::Borrowed(line);
    for redactor in known {
        if let Cow::Owned(redacted) = redactor.text(&line) {
            line = Cow::Owned(redacted);
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::REDACTED;

    #[test]
    fn a_line_is_without_the_secrets_of_every_session_that_lives() {
        let (one, other) = (Arc::new(Redactor::new()), Arc::new(Redactor::new()));
        one.learn_text("hunter-22");
        other.learn_text("swordfish");
        let known = [&one, &other].map(Arc::downgrade);
        KNOWN.lock().unwrap().extend(known);
        let line = redacted_for_log("a hunter-22 and a swordfish");
        assert_eq!(line, format!("a {REDACTED} and a {REDACTED}"));
        drop(other);
        assert!(redacted_for_log("a swordfish").contains("swordfish"));
    }
}

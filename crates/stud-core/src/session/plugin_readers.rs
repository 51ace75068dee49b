//! What plugins watch the session through, and the end of a plugin's part in it.

use std::sync::Arc;

use stud_diagnostics::{Diagnostic, codes};

use super::Session;
use crate::runtime_snapshot::Reader;
use crate::sync::lock;

impl Session {
    /// What a plugin watches the session through.
    pub(crate) fn reader_for(&self, ext_id: &str) -> Arc<Reader> {
        let session = self.this.clone();
        let reader = self.metrics.reader(ext_id, move |stuck| {
            if let Some(session) = session.upgrade() {
                let message = format!(
                    "`{}` does not take its tokens and gets no more; {} were dropped",
                    stuck.ext_id, stuck.unheard
                );
                let problem = Diagnostic::error(&codes::EVENT_RATE_EXCEEDED, message);
                session.report(&problem.of(&stuck.ext_id));
            }
        });
        let reader = Arc::new(reader);
        lock(&self.readers).push((ext_id.to_owned(), reader.clone()));
        reader
    }

    /// Ends a plugin's part: it is asked nothing, hears nothing and watches nothing any more.
    pub fn detach_plugin(&self, ext_id: &str) {
        self.prompts.leave(ext_id);
        self.books.bus.unsubscribe(ext_id);
        self.books.ignore(ext_id);
        let mut readers = lock(&self.readers);
        for (_, reader) in readers.extract_if(.., |(owner, _)| owner == ext_id) {
            reader.close();
        }
    }
}

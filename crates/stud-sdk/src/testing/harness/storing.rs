//! Calls of session stores.

use serde::Serialize;
use stud_contract_meta::Result;
use stud_contract_session_store::{JournalBatch, JournalPage, Stored};
use stud_host_api::session::Page;

use super::{Harness, reply};
use crate::testing::block_on;

impl Harness {
    /// Reads a session from a store.
    ///
    /// ```
    /// # use stud_sdk::{prelude::*, testing::{FakeHost, Harness}};
    /// # use stud_sdk::session_store::{JournalBatch, JournalPage, Page, Stored};
    /// # /// Knows no session.
    /// # #[session_store(journaling)]
    /// # struct ReadExample;
    /// # impl SessionStore for ReadExample {
    /// #     async fn read(&self, _id: &str, _cx: &Cx) -> Result<Stored> {
    /// #         Err(Error::new(Class::Session, "NoSnapshot", "there is none"))
    /// #     }
    /// #     async fn write(&self, _stored: Stored, _cx: &Cx) -> Result<()> { Ok(()) }
    /// #     async fn list(&self, _cx: &Cx) -> Result<Vec<String>> { Ok(vec![]) }
    /// #     async fn append(&self, _id: &str, _batch: JournalBatch, _cx: &Cx) -> Result<()> { Ok(()) }
    /// #     async fn read_journal(&self, _id: &str, _page: Page, _cx: &Cx) -> Result<JournalPage> {
    /// #         Ok(JournalPage::default())
    /// #     }
    /// # }
    /// let harness = Harness::new(stud_plugin(), FakeHost::new());
    /// assert_eq!(harness.read_session("s1").unwrap_err().code(), "NoSnapshot");
    /// # Ok::<(), Error>(())
    /// ```
    pub fn read_session(&self, id: &str) -> Result<Stored> {
        let store = self.running()?.session_store()?;
        reply(&block_on(store.read(id, "null".to_owned(), self.call()))?)
    }

    /// Writes a session to a store.
    ///
    /// ```
    /// # use stud_sdk::{prelude::*, testing::{FakeHost, Harness}};
    /// # use stud_sdk::session_store::{JournalBatch, JournalPage, Page, Stored};
    /// # /// Knows no session.
    /// # #[session_store(journaling)]
    /// # struct WriteExample;
    /// # impl SessionStore for WriteExample {
    /// #     async fn read(&self, _id: &str, _cx: &Cx) -> Result<Stored> {
    /// #         Err(Error::new(Class::Session, "NoSnapshot", "there is none"))
    /// #     }
    /// #     async fn write(&self, _stored: Stored, _cx: &Cx) -> Result<()> { Ok(()) }
    /// #     async fn list(&self, _cx: &Cx) -> Result<Vec<String>> { Ok(vec![]) }
    /// #     async fn append(&self, _id: &str, _batch: JournalBatch, _cx: &Cx) -> Result<()> { Ok(()) }
    /// #     async fn read_journal(&self, _id: &str, _page: Page, _cx: &Cx) -> Result<JournalPage> {
    /// #         Ok(JournalPage::default())
    /// #     }
    /// # }
    /// # let stored: Stored = serde_json::from_value(json!({"manifest": {
    /// #     "sessionId": "s1", "projectRoot": "/p/.stud", "mode": "ask", "messages": [], "storeId": "write-example",
    /// #     "createdAt": "2026-01-01T00:00:00.000Z", "updatedAt": "2026-01-01T00:00:00.000Z",
    /// # }})).unwrap();
    /// let harness = Harness::new(stud_plugin(), FakeHost::new());
    /// harness.write_session(&stored)?;
    /// # Ok::<(), Error>(())
    /// ```
    pub fn write_session(&self, stored: &Stored) -> Result<()> {
        let store = self.running()?.session_store()?;
        reply(&block_on(store.write(
            &stored.manifest.session_id,
            text(stored),
            self.call(),
        ))?)
    }

    /// Lists the sessions of a store.
    ///
    /// ```
    /// # use stud_sdk::{prelude::*, testing::{FakeHost, Harness}};
    /// # use stud_sdk::session_store::{JournalBatch, JournalPage, Page, Stored};
    /// # /// Knows no session.
    /// # #[session_store(journaling)]
    /// # struct ListExample;
    /// # impl SessionStore for ListExample {
    /// #     async fn read(&self, _id: &str, _cx: &Cx) -> Result<Stored> {
    /// #         Err(Error::new(Class::Session, "NoSnapshot", "there is none"))
    /// #     }
    /// #     async fn write(&self, _stored: Stored, _cx: &Cx) -> Result<()> { Ok(()) }
    /// #     async fn list(&self, _cx: &Cx) -> Result<Vec<String>> { Ok(vec![]) }
    /// #     async fn append(&self, _id: &str, _batch: JournalBatch, _cx: &Cx) -> Result<()> { Ok(()) }
    /// #     async fn read_journal(&self, _id: &str, _page: Page, _cx: &Cx) -> Result<JournalPage> {
    /// #         Ok(JournalPage::default())
    /// #     }
    /// # }
    /// let harness = Harness::new(stud_plugin(), FakeHost::new());
    /// assert!(harness.list_sessions()?.is_empty());
    /// # Ok::<(), Error>(())
    /// ```
    pub fn list_sessions(&self) -> Result<Vec<String>> {
        let store = self.running()?.session_store()?;
        reply(&block_on(store.list("", "null".to_owned(), self.call()))?)
    }

    /// Appends to the journal of a session.
    ///
    /// ```
    /// # use stud_sdk::{prelude::*, testing::{FakeHost, Harness}};
    /// # use stud_sdk::session_store::{JournalBatch, JournalPage, Page, Stored};
    /// # /// Knows no session.
    /// # #[session_store(journaling)]
    /// # struct AppendExample;
    /// # impl SessionStore for AppendExample {
    /// #     async fn read(&self, _id: &str, _cx: &Cx) -> Result<Stored> {
    /// #         Err(Error::new(Class::Session, "NoSnapshot", "there is none"))
    /// #     }
    /// #     async fn write(&self, _stored: Stored, _cx: &Cx) -> Result<()> { Ok(()) }
    /// #     async fn list(&self, _cx: &Cx) -> Result<Vec<String>> { Ok(vec![]) }
    /// #     async fn append(&self, _id: &str, _batch: JournalBatch, _cx: &Cx) -> Result<()> { Ok(()) }
    /// #     async fn read_journal(&self, _id: &str, _page: Page, _cx: &Cx) -> Result<JournalPage> {
    /// #         Ok(JournalPage::default())
    /// #     }
    /// # }
    /// let harness = Harness::new(stud_plugin(), FakeHost::new());
    /// harness.append_journal("s1", &JournalBatch::default())?;
    /// # Ok::<(), Error>(())
    /// ```
    pub fn append_journal(&self, id: &str, batch: &JournalBatch) -> Result<()> {
        let store = self.running()?.session_store()?;
        reply(&block_on(store.append(id, text(batch), self.call()))?)
    }

    /// Reads a page of the journal of a session.
    ///
    /// ```
    /// # use stud_sdk::{prelude::*, testing::{FakeHost, Harness}};
    /// # use stud_sdk::session_store::{JournalBatch, JournalPage, Page, Stored};
    /// # /// Knows no session.
    /// # #[session_store(journaling)]
    /// # struct JournalExample;
    /// # impl SessionStore for JournalExample {
    /// #     async fn read(&self, _id: &str, _cx: &Cx) -> Result<Stored> {
    /// #         Err(Error::new(Class::Session, "NoSnapshot", "there is none"))
    /// #     }
    /// #     async fn write(&self, _stored: Stored, _cx: &Cx) -> Result<()> { Ok(()) }
    /// #     async fn list(&self, _cx: &Cx) -> Result<Vec<String>> { Ok(vec![]) }
    /// #     async fn append(&self, _id: &str, _batch: JournalBatch, _cx: &Cx) -> Result<()> { Ok(()) }
    /// #     async fn read_journal(&self, _id: &str, _page: Page, _cx: &Cx) -> Result<JournalPage> {
    /// #         Ok(JournalPage::default())
    /// #     }
    /// # }
    /// let harness = Harness::new(stud_plugin(), FakeHost::new());
    /// assert!(harness.read_journal("s1", Page::default())?.records.is_empty());
    /// # Ok::<(), Error>(())
    /// ```
    pub fn read_journal(&self, id: &str, page: Page) -> Result<JournalPage> {
        let store = self.running()?.session_store()?;
        reply(&block_on(store.read_journal(id, text(&page), self.call()))?)
    }
}

/// What a call carries. The types are the contracts' own, and all of them can be written.
fn text(payload: &impl Serialize) -> String {
    serde_json::to_string(payload).unwrap_or_default()
}

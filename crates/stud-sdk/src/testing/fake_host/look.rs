//! What a test looks at afterwards.

use stud_contract_interaction::{ApprovalScope, Payload, Response};
use stud_host_api::audit::AuditRecord;
use stud_host_api::commands::{CommandArgs, Deed};
use stud_host_api::context::{Compacting, ContextFragment};
use stud_host_api::events::{Event, LogEntry};
use stud_host_api::session::{OpenChild, SessionRecord, SlotValue};

use super::FakeHost;

/// Writes the methods that look at what a plugin did.
macro_rules! look {
    ($($(#[$doc:meta])* $name:ident -> $ty:ty;)+) => {$(
        $(#[$doc])*
        pub fn $name(&self) -> $ty {
            self.0.record().$name.clone()
        }
    )+};
}

impl FakeHost {
    look! {
        /// The questions the plugin asked.
        ///
        /// ```
        /// # use stud_sdk::testing::FakeHost;
        /// assert!(FakeHost::new().asked().is_empty());
        /// ```
        asked -> Vec<Payload>;
        /// The answers the plugin gave through its host, without those that were refused.
        ///
        /// ```
        /// # use stud_sdk::{interaction::{Ask, Request, Response}, testing::{FakeHost, block_on}};
        /// let host = FakeHost::new();
        /// let request = Request::new("i1", "t1", host.now(), Ask { prompt: "Name?".into(), ..Ask::default() });
        /// block_on(host.cx().host().interaction().respond(Response::rejected(&request, "no")))?;
        /// assert_eq!(host.responded()[0].reason.as_deref(), Some("no"));
        /// # Ok::<(), stud_sdk::Error>(())
        /// ```
        responded -> Vec<Response>;
        /// The approvals that the tool keeps, by its keys.
        ///
        /// ```
        /// # use stud_sdk::{interaction::ApprovalScope, prelude::*, testing::{FakeHost, block_on}};
        /// let host = FakeHost::new();
        /// block_on(host.cx().approvals().set("deploy", ApprovalScope::Session))?;
        /// assert_eq!(host.approvals(), [("deploy".to_owned(), ApprovalScope::Session)]);
        /// # Ok::<(), stud_sdk::Error>(())
        /// ```
        approvals -> Vec<(String, ApprovalScope)>;
        /// The events the plugin published.
        ///
        /// ```
        /// # use stud_sdk::{host::events::Event, testing::FakeHost};
        /// let host = FakeHost::new();
        /// host.cx().host().events().publish(Event { name: "IndexBuilt".into(), ..Event::default() })?;
        /// assert_eq!(host.published()[0].name, "IndexBuilt");
        /// # Ok::<(), stud_sdk::Error>(())
        /// ```
        published -> Vec<Event>;
        /// What the plugin said to the log, as far as [`FakeHost::log_level`] takes it.
        ///
        /// ```
        /// # use stud_sdk::{host::events::LogEntry, logger::Severity, testing::FakeHost};
        /// let host = FakeHost::new().log_level(Severity::Warn);
        /// host.cx().host().events().log(LogEntry { severity: Severity::Error, ..LogEntry::default() })?;
        /// host.cx().host().events().log(LogEntry::default())?;
        /// assert_eq!(host.logged().len(), 1);
        /// # Ok::<(), stud_sdk::Error>(())
        /// ```
        logged -> Vec<LogEntry>;
        /// What the plugin put on record.
        ///
        /// ```
        /// # use stud_sdk::testing::FakeHost;
        /// assert!(FakeHost::new().audited().is_empty());
        /// ```
        audited -> Vec<AuditRecord>;
        /// What the plugin added to the session.
        ///
        /// ```
        /// # use stud_sdk::testing::FakeHost;
        /// assert!(FakeHost::new().appended().is_empty());
        /// ```
        appended -> Vec<SessionRecord>;
        /// The content of the plugin's state slot.
        ///
        /// ```
        /// # use stud_sdk::testing::FakeHost;
        /// assert_eq!(FakeHost::new().slot(), None);
        /// ```
        slot -> Option<SlotValue>;
        /// The fragments the plugin contributed.
        ///
        /// ```
        /// # use stud_sdk::testing::FakeHost;
        /// assert!(FakeHost::new().contributed().is_empty());
        /// ```
        contributed -> Vec<ContextFragment>;
        /// How the plugin had the conversation compacted.
        ///
        /// ```
        /// # use stud_sdk::testing::FakeHost;
        /// assert!(FakeHost::new().compactions().is_empty());
        /// ```
        compactions -> Vec<Compacting>;
        /// The commands the plugin ran.
        ///
        /// ```
        /// # use stud_sdk::testing::FakeHost;
        /// assert!(FakeHost::new().dispatched().is_empty());
        /// ```
        dispatched -> Vec<(String, CommandArgs)>;
        /// The deeds that the plugin had done.
        ///
        /// ```
        /// # use stud_sdk::testing::FakeHost;
        /// assert!(FakeHost::new().performed().is_empty());
        /// ```
        performed -> Vec<Deed>;
        /// The child sessions that the plugin asked for.
        ///
        /// ```
        /// # use stud_sdk::testing::FakeHost;
        /// assert!(FakeHost::new().children().is_empty());
        /// ```
        children -> Vec<OpenChild>;
    }
}

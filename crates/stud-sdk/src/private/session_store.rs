//! The table over `SessionStore`.

use std::sync::Arc;

use stud_abi::CallContext;
use stud_abi::tables::session_store::SessionStoreExport;
use stud_contract_session_store::SessionStore;

use super::fault::Reply;
use super::glue::{Glue, answer};
use super::json::{parse, write};
use super::plugin::Plugin;

/// The functions differ in their types alone.
macro_rules! handlers {
    ($($name:ident = $handler:literal: |$instance:ident, $subject:ident, $payload:ident, $cx:ident| $call:expr;)+) => {
        impl<P: Plugin + SessionStore> SessionStoreExport for Glue<P> {$(
            fn $name(
                self: Arc<Self>,
                $subject: String,
                payload: String,
                cx: CallContext,
            ) -> impl Future<Output = Reply<String>> + Send + 'static {
                answer(self.log(), async move {
                    let $instance = self.instance($handler)?;
                    let $payload = parse($handler, &payload)?;
                    let $cx = &self.cx(cx);
                    write($handler, &$call.await?)
                })
            }
        )+}
    };
}

handlers! {
    read = "read": |store, id, payload, cx| { let () = payload; store.read(&id, cx) };
    write = "write": |store, _id, payload, cx| store.write(payload, cx);
    list = "list": |store, _id, payload, cx| { let () = payload; store.list(cx) };
    append = "append": |store, id, payload, cx| store.append(&id, payload, cx);
    read_journal = "readJournal": |store, id, payload, cx| store.read_journal(&id, payload, cx);
    remove = "remove": |store, id, payload, cx| { let () = payload; store.remove(&id, cx) };
}

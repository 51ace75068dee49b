//! The table over `ContextProvider`.

use std::sync::Arc;

use stud_abi::CallContext;
use stud_abi::tables::context_provider::ContextProviderExport;
use stud_contract_context_provider::ContextProvider;

use super::fault::Reply;
use super::glue::{Glue, answer};
use super::json::write;
use super::plugin::Plugin;

impl<P: Plugin + ContextProvider> ContextProviderExport for Glue<P> {
    fn provide(
        self: Arc<Self>,
        _subject: String,
        _payload: String,
        cx: CallContext,
    ) -> impl Future<Output = Reply<String>> + Send + 'static {
        answer(self.log(), async move {
            let instance = self.instance("provide")?;
            write("provide", &instance.provide(&self.cx(cx)).await?)
        })
    }
}

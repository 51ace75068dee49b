//! The Provider table over `Provider`.

use std::sync::Arc;

use stud_abi::tables::provider::ProviderExport;
use stud_abi::{BoxStream, CallContext};
use stud_contract_provider::{Provider, Request, stream};

use super::fault::Reply;
use super::glue::{Glue, answer};
use super::json::parse;
use super::plugin::Plugin;
use super::runtime;

impl<P: Plugin + Provider> ProviderExport for Glue<P> {
    fn request(
        self: Arc<Self>,
        payload: String,
        cx: CallContext,
    ) -> impl Future<Output = Reply<BoxStream>> + Send + 'static {
        answer(self.log(), async move {
            let instance = self.instance("request")?;
            let request: Request = parse("request", &payload)?;
            let cx = self.cx(cx);
            let pieces = stream(|out| async move { instance.request(request, out, &cx).await });
            Ok(runtime::stream(self.log(), pieces))
        })
    }
}

//! The Logger table over `Logger`.

use std::sync::Arc;

use stud_abi::CallContext;
use stud_abi::tables::logger::LoggerExport;
use stud_contract_logger::Logger;

use super::fault::Reply;
use super::glue::{Glue, answer};
use super::json::parse;
use super::plugin::Plugin;

impl<P: Plugin + Logger> LoggerExport for Glue<P> {
    fn sink(
        self: Arc<Self>,
        _subject: String,
        payload: String,
        cx: CallContext,
    ) -> impl Future<Output = Reply<String>> + Send + 'static {
        answer(self.log(), async move {
            let instance = self.instance("sink")?;
            instance
                .sink(parse("sink", &payload)?, &self.cx(cx))
                .await?;
            Ok("null".to_owned())
        })
    }
}

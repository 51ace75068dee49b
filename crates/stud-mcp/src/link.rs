//! A connection that stands.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, GetPromptRequestParams, GetPromptResponse,
    Implementation, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse,
    ServerCapabilities, SubscriptionFilter,
};
use rmcp::service::{Peer, RoleClient, RunningService, ServiceError};
use serde_json::{Map, Value};
use stud_core::mcp::{
    Connection, ConnectionError, PromptDescriptor, PromptMessage, ResourceContent,
    ResourceDescriptor, ToolAnswer, ToolDescriptor, Watch,
};
use stud_host_api::BoxFuture;
use tokio::sync::watch;
use tracing::{Instrument as _, debug_span};

use crate::handler::Handler;
use crate::process::Process;
use crate::runtime::Runtime;
use crate::{convert, trouble};

/// More pages of a list than this are not asked for: a list that never ends is none.
const MOST_PAGES: usize = 100;

/// How long the other side may take to take leave.
const LEAVE: Duration = Duration::from_secs(1);

/// A connection that stands.
pub(crate) struct Link {
    /// What the server calls itself, for the log.
    server: String,
    peer: Peer<RoleClient>,
    runtime: Arc<Runtime>,
    /// Says that the connection is to end.
    closing: watch::Sender<bool>,
    /// Says that it has.
    closed: watch::Receiver<bool>,
}

impl Link {
    /// Takes over what was begun, inside the runtime.
    pub(crate) fn new(
        running: RunningService<RoleClient, Handler>,
        process: Option<Process>,
        watch: Arc<dyn Watch>,
        runtime: Arc<Runtime>,
    ) -> Self {
        let peer = running.peer().clone();
        let info = peer.peer_info();
        let name = |server: &Implementation| server.name.clone();
        let server = info.and_then(|info| info.server_info.as_ref().map(name));
        let server = server.unwrap_or_default();
        let (closing, asked) = watch::channel(false);
        let (done, closed) = watch::channel(false);
        tokio::spawn(subscribe(peer.clone(), watch.clone()));
        tokio::spawn(async move {
            attend(running, process, watch, asked).await;
            let _ = done.send(true);
        });
        Self {
            server,
            peer,
            runtime,
            closing,
            closed,
        }
    }

    /// Asks the server on the runtime's thread.
    fn ask<T: Send + 'static>(
        &self,
        method: &'static str,
        work: impl Future<Output = Result<T, ServiceError>> + Send + 'static,
    ) -> BoxFuture<'_, Result<T, ConnectionError>> {
        let asked = self.runtime.run(work);
        let span = debug_span!("mcp_request", server = self.server, method);
        let answered = async move { asked.await?.map_err(trouble) };
        Box::pin(answered.instrument(span))
    }

    /// What the server says that it has.
    fn has(&self, what: impl Fn(&ServerCapabilities) -> bool) -> bool {
        let info = self.peer.peer_info();
        info.is_some_and(|info| what(&info.capabilities))
    }
}

/// Stays with a connection to its end, however that comes.
async fn attend(
    running: RunningService<RoleClient, Handler>,
    process: Option<Process>,
    watch: Arc<dyn Watch>,
    mut asked: watch::Receiver<bool>,
) {
    let stop = running.cancellation_token();
    let mut over = std::pin::pin!(running.waiting());
    let is_asked = tokio::select! {
        _ = &mut over => false,
        _ = asked.wait_for(|closing| *closing) => true,
    };
    if is_asked {
        stop.cancel();
        let _ = tokio::time::timeout(LEAVE, over).await;
    }
    let gone = "it closed the connection";
    let why = match process {
        None => gone.to_owned(),
        Some(process) => process.explain(gone).await,
    };
    if !is_asked {
        watch.lost(why);
    }
}

/// Newer servers say that their lists have changed only to those who asked to be told.
async fn subscribe(peer: Peer<RoleClient>, watch: Arc<dyn Watch>) {
    let info = peer.peer_info();
    let Some(info) = info.filter(|info| !info.protocol_version.has_initialize()) else {
        return;
    };
    let can = &info.capabilities;
    let mut wanted = SubscriptionFilter::builder();
    let mut any = false;
    let changes = |flag: Option<bool>| flag == Some(true);
    if can
        .tools
        .as_ref()
        .is_some_and(|tools| changes(tools.list_changed))
    {
        (wanted, any) = (wanted.tools_list_changed(), true);
    }
    if can
        .prompts
        .as_ref()
        .is_some_and(|prompts| changes(prompts.list_changed))
    {
        (wanted, any) = (wanted.prompts_list_changed(), true);
    }
    if can
        .resources
        .as_ref()
        .is_some_and(|resources| changes(resources.list_changed))
    {
        (wanted, any) = (wanted.resources_list_changed(), true);
    }
    if !any {
        return;
    }
    let Ok(mut heard) = peer.listen(wanted.build()).await else {
        return;
    };
    while let Ok(Some(_)) = heard.next().await {
        watch.changed();
    }
}

/// Asks for a list page by page.
macro_rules! pages {
    ($link:expr, $method:literal, $list:ident, $items:ident, $convert:path) => {{
        let peer = $link.peer.clone();
        $link.ask($method, async move {
            let mut all = Vec::new();
            let mut cursor = None;
            for _ in 0..MOST_PAGES {
                let page = PaginatedRequestParams::default().with_cursor(cursor);
                let page = peer.$list(Some(page)).await?;
                all.extend(page.$items.into_iter().map($convert));
                cursor = page.next_cursor;
                if cursor.is_none() {
                    break;
                }
            }
            Ok(all)
        })
    }};
}

impl Connection for Link {
    fn list_tools(&self) -> BoxFuture<'_, Result<Vec<ToolDescriptor>, ConnectionError>> {
        if !self.has(|can| can.tools.is_some()) {
            return Box::pin(async { Ok(Vec::new()) });
        }
        pages!(self, "tools/list", list_tools, tools, convert::tool)
    }

    fn list_prompts(&self) -> BoxFuture<'_, Result<Vec<PromptDescriptor>, ConnectionError>> {
        if !self.has(|can| can.prompts.is_some()) {
            return Box::pin(async { Ok(Vec::new()) });
        }
        pages!(self, "prompts/list", list_prompts, prompts, convert::prompt)
    }

    fn list_resources(&self) -> BoxFuture<'_, Result<Vec<ResourceDescriptor>, ConnectionError>> {
        if !self.has(|can| can.resources.is_some()) {
            return Box::pin(async { Ok(Vec::new()) });
        }
        pages!(
            self,
            "resources/list",
            list_resources,
            resources,
            convert::resource
        )
    }

    fn call_tool<'a>(
        &'a self,
        name: &'a str,
        args: Map<String, Value>,
    ) -> BoxFuture<'a, Result<ToolAnswer, ConnectionError>> {
        let params = CallToolRequestParams::new(name.to_owned()).with_arguments(args);
        let peer = self.peer.clone();
        let answered = self.ask(
            "tools/call",
            async move { peer.call_tool_once(params).await },
        );
        Box::pin(async move {
            match answered.await? {
                CallToolResponse::Complete(result) => Ok(convert::answer(result)),
                _ => Err(unasked()),
            }
        })
    }

    fn get_prompt<'a>(
        &'a self,
        name: &'a str,
        args: BTreeMap<String, String>,
    ) -> BoxFuture<'a, Result<Vec<PromptMessage>, ConnectionError>> {
        let mut params = GetPromptRequestParams::new(name.to_owned());
        if !args.is_empty() {
            let args = args.into_iter().map(|(name, text)| (name, text.into()));
            params = params.with_arguments(args.collect::<Map<String, Value>>());
        }
        let peer = self.peer.clone();
        let answered = self.ask(
            "prompts/get",
            async move { peer.get_prompt_once(params).await },
        );
        Box::pin(async move {
            match answered.await? {
                GetPromptResponse::Complete(result) => {
                    Ok(result.messages.into_iter().map(convert::message).collect())
                }
                _ => Err(unasked()),
            }
        })
    }

    fn read_resource<'a>(
        &'a self,
        uri: &'a str,
    ) -> BoxFuture<'a, Result<Vec<ResourceContent>, ConnectionError>> {
        let params = ReadResourceRequestParams::new(uri.to_owned());
        let peer = self.peer.clone();
        let answered = self.ask("resources/read", async move {
            peer.read_resource_once(params).await
        });
        Box::pin(async move {
            match answered.await? {
                ReadResourceResponse::Complete(result) => {
                    let contents = result.contents.into_iter();
                    contents.map(convert::content).collect()
                }
                _ => Err(unasked()),
            }
        })
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        let _ = self.closing.send(true);
        let mut closed = self.closed.clone();
        let waiting = self.runtime.run(async move {
            let _ = closed.wait_for(|closed| *closed).await;
        });
        Box::pin(async move {
            let _ = waiting.await;
        })
    }
}

/// A server may want more from the person before it answers. The client does not offer that.
fn unasked() -> ConnectionError {
    ConnectionError::Refused(
        "it asks for more than it was given, which stud does not offer".to_owned(),
    )
}

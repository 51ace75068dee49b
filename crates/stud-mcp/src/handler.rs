//! What stud says of itself to a server, and what it makes of what servers say by themselves.

use std::sync::Arc;

use rmcp::ClientHandler;
use rmcp::model::{ClientCapabilities, ClientConfig, Implementation, ProtocolVersion};
use rmcp::service::{NotificationContext, RoleClient};
use stud_core::mcp::Watch;

/// Listens to one server. It offers it nothing: no sampling, no roots, no questions to the person.
pub(crate) struct Handler(Arc<dyn Watch>);

impl Handler {
    pub(crate) fn new(watch: Arc<dyn Watch>) -> Self {
        Self(watch)
    }
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let own = Implementation::new("stud-cli", env!("CARGO_PKG_VERSION"));
        // Only `initialize` names it: `server/discover` is sent with the versions of the newer era.
        ClientConfig::new(ClientCapabilities::default(), own)
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.0.changed();
    }

    async fn on_prompt_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.0.changed();
    }

    async fn on_resource_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.0.changed();
    }
}

//! The session as its MCP servers find it.

use serde_json::Value;
use stud_contract_meta::Result;
use stud_contract_tool::ApprovalCoverage;
use stud_diagnostics::Diagnostic;
use stud_host_api::BoxFuture;

use super::Session;
use crate::approvals::Asked;
use crate::mcp::McpSession;

impl McpSession for Session {
    fn correlation_id(&self) -> String {
        self.correlation_id()
    }

    fn report(&self, problem: &Diagnostic) {
        self.report(problem);
    }

    fn is_preapproved(&self, tool: &str, key: &str) -> bool {
        let asked = Asked {
            tool,
            key,
            coverage: ApprovalCoverage::Exact,
            args: None,
            workspace: None,
        };
        self.rules
            .is_preapproved(self.facts.mode, asked)
            .unwrap_or(false)
    }

    fn say(&self, text: String, origin: Value) -> BoxFuture<'_, Result<u64>> {
        Box::pin(self.submit_from("mcp", text, Some(origin)))
    }
}

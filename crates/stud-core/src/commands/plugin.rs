//! A command plugin, as the catalog sees it.

use serde_json::Value;
use stud_abi::CallContext;
use stud_contract_command::{CommandDeclaration, Draft, Rendered};
use stud_contract_meta::Result;
use stud_host_api::BoxFuture;
use stud_host_api::commands::Completion;

use super::catalog::CommandSource;
use crate::activate::Active;
use crate::plugin_scope::Scope;
use crate::validate::Members;

impl CommandSource for Active {
    fn ext_id(&self) -> &str {
        self.identity().ext_id.as_str()
    }

    fn scope(&self) -> Scope {
        self.identity().scope
    }

    fn generation(&self) -> u64 {
        self.identity().generation
    }

    fn commands(&self) -> &[CommandDeclaration] {
        match &*self.identity().members {
            Members::Command(members) => &members.commands,
            _ => &[],
        }
    }

    fn aliases(&self) -> Vec<String> {
        let configured = self
            .identity()
            .config
            .get("alias")
            .and_then(Value::as_array);
        let words = configured.into_iter().flatten().filter_map(Value::as_str);
        words.map(str::to_owned).collect()
    }

    fn run<'a>(
        &'a self,
        name: &'a str,
        args: String,
        cx: CallContext,
    ) -> BoxFuture<'a, Result<Rendered>> {
        Box::pin(self.run_command(name, args, cx))
    }

    fn complete(&self, name: &str, draft: &Draft) -> Result<Vec<Completion>> {
        self.complete_command(name, draft)
    }
}

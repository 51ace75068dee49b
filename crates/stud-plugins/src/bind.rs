//! bind: [`Loaded`] → [`Bound`]. The entry is called, and its table compared with the manifest.
//!
//! Tables of older contract minors become the newest type here, once; nothing after this stage knows there were others.

use stud_abi::{Category, EntryError, Fault, tables};
use stud_contract_meta::{ExtId, Kind};
use stud_diagnostics::{Diagnostic, Stage, codes};

use crate::load::Loaded;
use crate::provenance::{Provenance, Refused};
use crate::validate::category::ui::handler_of;
use crate::validate::{Members, Validated};
use stud_config::settings::Settings;
use stud_runtime::limits;

/// A plugin whose table is what its manifest says.
///
/// Only [`bind`] makes one; any number of instances can be made of it.
#[derive(Debug, Clone)]
pub struct Bound {
    plugin: Validated,
    table: Table,
}

impl Bound {
    /// The validated plugin.
    pub fn plugin(&self) -> &Validated {
        &self.plugin
    }

    /// Its function table.
    pub(crate) fn table(&self) -> Table {
        self.table
    }

    /// The same code for another settings entry: another id, and the config of that entry.
    pub fn for_entry(&self, id: &ExtId, settings: &Settings) -> Result<Self, Refused> {
        Ok(Self {
            plugin: self.plugin.for_entry(id, settings)?,
            table: self.table,
        })
    }
}

/// The table of one of the nine categories.
#[derive(Debug, Clone, Copy)]
#[expect(missing_docs, reason = "each variant is its category")]
pub enum Table {
    Provider(tables::provider::Provider),
    Tool(tables::tool::Tool),
    Hook(tables::hook::Hook),
    Ui(tables::ui::Ui),
    Logger(tables::logger::Logger),
    StateMachine(tables::state_machine::StateMachine),
    Command(tables::command::Command),
    SessionStore(tables::session_store::SessionStore),
    ContextProvider(tables::context_provider::ContextProvider),
}

impl Table {
    fn resolve(kind: Kind, entry: &'static stud_abi::PluginEntry) -> Result<Self, EntryError> {
        Ok(match kind {
            Kind::Provider => Self::Provider(Category::resolve(entry)?),
            Kind::Tool => Self::Tool(Category::resolve(entry)?),
            Kind::Hook => Self::Hook(Category::resolve(entry)?),
            Kind::Ui => Self::Ui(Category::resolve(entry)?),
            Kind::Logger => Self::Logger(Category::resolve(entry)?),
            Kind::StateMachine => Self::StateMachine(Category::resolve(entry)?),
            Kind::Command => Self::Command(Category::resolve(entry)?),
            Kind::SessionStore => Self::SessionStore(Category::resolve(entry)?),
            Kind::ContextProvider => Self::ContextProvider(Category::resolve(entry)?),
        })
    }

    /// The functions the plugin filled, by their names in the manifest.
    pub fn handlers(&self) -> Vec<&'static str> {
        match self {
            Self::Provider(table) => table.handlers(),
            Self::Tool(table) => table.handlers(),
            Self::Hook(table) => table.handlers(),
            Self::Ui(table) => table.handlers(),
            Self::Logger(table) => table.handlers(),
            Self::StateMachine(table) => table.handlers(),
            Self::Command(table) => table.handlers(),
            Self::SessionStore(table) => table.handlers(),
            Self::ContextProvider(table) => table.handlers(),
        }
    }
}

/// Calls a plugin's entry and checks the table it gives.
pub fn bind(loaded: Loaded, limits: &limits::Limits) -> Result<Bound, Refused> {
    let (mut plugin, entry) = loaded.into_parts();
    let kind = plugin.manifest().kind;
    let code_origin = plugin.provenance().code_origin();
    let resolved =
        code_origin.run_with_timeout(limits.lifecycle, move || Table::resolve(kind, entry));
    let bound = match resolved {
        Some(Ok(table)) => check_handlers(&plugin, &table.handlers()).map(|()| table),
        Some(Err(error)) => Err(explain(plugin.provenance(), kind, error)),
        None => Err(plugin
            .provenance()
            .error(
                Stage::Bind,
                &codes::ENTRY_FAILED,
                format!(
                    "the entry did not return within {} ms",
                    limits.lifecycle_ms()
                ),
            )
            .with("timeoutMs", limits.lifecycle_ms())
            .help("author: do nothing in the entry that can wait; `activate` is the place for it")),
    };
    match bound {
        Ok(table) => {
            plugin.pass(Stage::Bind);
            Ok(Bound { plugin, table })
        }
        Err(why) => Err(plugin.refuse(why)),
    }
}

fn explain(provenance: &Provenance, kind: Kind, error: EntryError) -> Diagnostic {
    let at = |code, message: String| provenance.error(Stage::Bind, code, message);
    let said = |diagnostic: Diagnostic, fault: &Fault| {
        diagnostic
            .with("cause", format!("{}/{}", fault.class, fault.code))
            .note(fault.message.clone())
            .note(format!("the cause is `{}/{}`", fault.class, fault.code))
    };
    match error {
        EntryError::Unknown { found } => at(
            &codes::ABI_LAYOUT_MISMATCH,
            format!("the entry is not one this stud can read: {found}"),
        )
        .with("found", found)
        .help("author: rebuild against a released `stud-sdk`"),
        EntryError::Kind { found } => at(
            &codes::TABLE_MANIFEST_MISMATCH,
            format!("the manifest says {kind}, and the table is that of a {found}"),
        )
        .field("/kind")
        .with("kind", kind.as_str())
        .with("found", found)
        .help("author: rebuild; manifest and table come from one attribute of `stud-sdk`"),
        EntryError::Layout { difference } => at(
            &codes::ABI_LAYOUT_MISMATCH,
            format!("the {kind} table is laid out in another way"),
        )
        .with("difference", difference.clone())
        .note(difference)
        .help("author: rebuild against a released `stud-sdk`"),
        EntryError::Failed(fault) => said(
            at(&codes::ENTRY_FAILED, "the plugin's entry failed".to_owned()),
            &fault,
        )
        .help("author: see what the plugin said above"),
        EntryError::Panicked(fault) => said(
            at(
                &codes::ENTRY_PANICKED,
                "the plugin's entry panicked".to_owned(),
            ),
            &fault,
        )
        .help("author: see where it panicked above"),
    }
}

/// Every handler the manifest claims, and every one the category cannot do without, is in the table.
fn check_handlers(plugin: &Validated, filled: &[&str]) -> Result<(), Diagnostic> {
    if let Members::Ui(members) = &**plugin.members() {
        let mut lacking = members
            .roles
            .iter()
            .enumerate()
            .map(|(index, role)| {
                let role = role.as_str();
                (index, role, handler_of(role).unwrap_or("renderRegion"))
            })
            .filter(|(_, _, handler)| !filled.contains(handler));
        if let Some((index, role, handler)) = lacking.next() {
            let mut refused = plugin
                .provenance()
                .error(
                    Stage::Bind,
                    &codes::UI_ROLE_HANDLER_MISSING,
                    format!("role `{role}` has no handler: `{handler}` is null in the table"),
                )
                .field(format!("/roles/{index}"))
                .with("role", role)
                .with("handler", handler)
                .help("author: rebuild; the role and its handler come from one `impl`");
            for (_, role, handler) in lacking {
                refused = refused.note(format!("the role `{role}` lacks `{handler}` too"));
            }
            return Err(refused);
        }
    }
    let claimed = plugin.manifest().handlers.iter().map(String::as_str);
    let lacking = claimed
        .chain(indispensable(plugin.members()).iter().copied())
        .find(|handler| !filled.contains(handler));
    match lacking {
        None => Ok(()),
        Some(handler) => Err(plugin
            .provenance()
            .error(
                Stage::Bind,
                &codes::TABLE_MANIFEST_MISMATCH,
                format!("the handler `{handler}` is null in the table"),
            )
            .field("/handlers")
            .with("handler", handler)
            .help("author: rebuild; manifest and table come from one attribute of `stud-sdk`")),
    }
}

fn indispensable(members: &Members) -> &'static [&'static str] {
    match members {
        Members::Provider(_) => &["request"],
        Members::Tool(members) if members.tools.iter().any(|tool| tool.gated) => {
            &["execute", "deriveApprovalKey"]
        }
        Members::Tool(_) => &["execute"],
        Members::Hook(_) => &["handler"],
        Members::Ui(_) => &[],
        Members::Logger(_) => &["sink"],
        Members::StateMachine(_) => &["phase"],
        Members::Command(_) => &["run"],
        Members::SessionStore(members) => {
            match (
                members.capabilities.journaling,
                members.capabilities.removal,
            ) {
                (true, true) => &["read", "write", "list", "append", "readJournal", "remove"],
                (true, false) => &["read", "write", "list", "append", "readJournal"],
                (false, true) => &["read", "write", "list", "remove"],
                (false, false) => &["read", "write", "list"],
            }
        }
        Members::ContextProvider => &["provide"],
    }
}

//! A plugin's table, of whichever category.

use stud_abi::tables::{
    command, context_provider, hook, logger, provider, session_store, state_machine, tool, ui,
};
use stud_abi::{CallContext, Category, EmbeddedPlugin, EntryError, HostHandle, Instance};
use stud_contract_meta::{Error, Kind, Result};
use stud_diagnostics::codes;

use crate::private::fault::coded;

/// One instance with its table.
macro_rules! bound {
    ($($Kind:ident => $Table:ty, $accessor:ident;)+) => {
        pub(crate) enum Bound {$(
            $Kind(Instance<$Table>),
        )+}

        impl Bound {
            /// Finds the table of a plugin of this kind and makes an instance.
            pub(crate) fn new(kind: Kind, plugin: &EmbeddedPlugin, host: HostHandle) -> Result<Self> {
                match kind {$(
                    Kind::$Kind => instance::<$Table>(plugin, host).map(Self::$Kind),
                )+}
            }

            /// Runs one phase.
            pub(crate) async fn lifecycle(&self, phase: &str, config: String, cx: CallContext) -> Result<()> {
                let reply = match self {$(
                    Self::$Kind(instance) => instance.lifecycle(phase, config, cx).await,
                )+};
                reply.map(drop).map_err(Error::from)
            }

            $(
                pub(crate) fn $accessor(&self) -> Result<&Instance<$Table>> {
                    match self {
                        Self::$Kind(instance) => Ok(instance),
                        other => Err(other.is_no(Kind::$Kind)),
                    }
                }
            )+

            fn kind(&self) -> Kind {
                match self {$(
                    Self::$Kind(_) => Kind::$Kind,
                )+}
            }
        }
    };
}

bound! {
    Provider => provider::Provider, provider;
    Tool => tool::Tool, tool;
    Hook => hook::Hook, hook;
    Ui => ui::Ui, ui;
    Logger => logger::Logger, logger;
    StateMachine => state_machine::StateMachine, state_machine;
    Command => command::Command, command;
    SessionStore => session_store::SessionStore, session_store;
    ContextProvider => context_provider::ContextProvider, context_provider;
}

impl Bound {
    fn is_no(&self, wanted: Kind) -> Error {
        let message = format!("the plugin is a {}, not a {wanted}", self.kind());
        coded(&codes::NOT_IMPLEMENTED, message)
    }
}

fn instance<C: Category>(plugin: &EmbeddedPlugin, host: HostHandle) -> Result<Instance<C>> {
    let table = C::resolve(plugin.entry).map_err(unusable)?;
    Ok(Instance::create(table, host)?)
}

fn unusable(error: EntryError) -> Error {
    match error {
        EntryError::Failed(fault) | EntryError::Panicked(fault) => fault.into(),
        EntryError::Unknown { found } => coded(&codes::ABI_FINGERPRINT_MISMATCH, found),
        EntryError::Kind { found } => coded(
            &codes::TABLE_MANIFEST_MISMATCH,
            format!("the table is for a {found}"),
        ),
        EntryError::Layout { difference } => coded(&codes::ABI_LAYOUT_MISMATCH, difference),
    }
}

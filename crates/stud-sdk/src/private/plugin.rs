//! A plugin as its macro describes it.

use stud_abi::section::Json;
use stud_contract_meta::Result;
use stud_host_api::{BoxFuture, Host};

use super::category::{BaseMember, Category};
use crate::schema::Config;

/// A plugin of any category.
pub trait Plugin: Sized + Send + Sync + 'static {
    /// Its category.
    type Category: Category;

    /// What its config looks like. The type itself stays out of this interface, since it may be private.
    const CONFIG: Shape;

    /// What it says about itself.
    const ABOUT: About;

    /// The functions of its table that are filled.
    const HANDLERS: &'static [&'static str] = <Self::Category as Category>::HANDLERS;

    /// The manifest members of its category: `,"name":…` for each.
    const MEMBERS: Json;

    /// The config members core gives a meaning to.
    const BASE: &'static [BaseMember] = <Self::Category as Category>::BASE;

    /// Makes the instance; `config` is JSON.
    fn init(host: Host, config: String) -> BoxFuture<'static, Result<Self>>;

    /// Starts to take part.
    fn activate(&self) -> BoxFuture<'_, Result<()>> {
        done()
    }

    /// Is set aside.
    fn deactivate(&self) -> BoxFuture<'_, Result<()>> {
        done()
    }

    /// Drops everything.
    fn dispose(&self) -> BoxFuture<'_, Result<()>> {
        done()
    }
}

/// The members of a config.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    pub(crate) names: &'static [&'static str],
    pub(crate) properties: Json,
    pub(crate) required: Json,
}

/// The members of `C`.
pub const fn shape<C: Config>() -> Shape {
    Shape {
        names: C::NAMES,
        properties: C::PROPERTIES,
        required: C::REQUIRED,
    }
}

/// The members of a manifest that the attribute gives.
#[derive(Debug, Clone, Copy)]
pub struct About {
    /// `extId`.
    pub ext_id: &'static str,
    /// `name`.
    pub title: &'static str,
    /// `version`.
    pub version: &'static str,
    /// `description`.
    pub description: &'static str,
    /// `requiredCoreVersion`.
    pub required_core: &'static str,
    /// Which of `activate`, `deactivate` and `dispose` the author wrote.
    pub phases: [bool; 3],
    /// `stateSlot`.
    pub state_slot: Json,
    /// `reloadBehavior`, where the author chose.
    pub reload: Option<&'static str>,
    /// `interactionKinds`, as JSON.
    pub interaction_kinds: &'static str,
    /// `events`.
    pub events: Json,
    /// `provides`, as JSON.
    pub provides: &'static str,
    /// `dependsOn`, as JSON.
    pub depends_on: &'static str,
    /// `conflictsWith`, as JSON.
    pub conflicts_with: &'static str,
    /// `entry`.
    pub entry: &'static str,
    /// `panicStrategy`, as the author's crate is built.
    pub panic_strategy: &'static str,
}

fn done<'a>() -> BoxFuture<'a, Result<()>> {
    Box::pin(std::future::ready(Ok(())))
}

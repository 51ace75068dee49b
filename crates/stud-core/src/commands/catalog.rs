//! Which commands there are, and which one a word means.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use stud_abi::CallContext;
use stud_contract_command::{CommandDeclaration, Draft, Rendered, is_command_name};
use stud_contract_meta::{Error, Result};
use stud_diagnostics::codes;
use stud_host_api::commands::{CommandRef, Completion};
use stud_host_api::{BoxFuture, refusal};

use crate::did_you_mean::nearest;
use crate::plugin_scope::Scope;

/// Gives commands. Every active command plugin does.
pub(crate) trait CommandSource: Send + Sync {
    /// The plugin.
    fn ext_id(&self) -> &str;

    /// Where it comes from: a nearer scope hides one further out.
    fn scope(&self) -> Scope;

    /// How many times it was loaded.
    fn generation(&self) -> u64;

    /// The commands it declares.
    fn commands(&self) -> &[CommandDeclaration];

    /// More names for the first of its commands, as its owner configured them.
    fn aliases(&self) -> Vec<String>;

    /// Runs one.
    fn run<'a>(
        &'a self,
        name: &'a str,
        args: String,
        cx: CallContext,
    ) -> BoxFuture<'a, Result<Rendered>>;

    /// Suggests how to continue with a line.
    fn complete(&self, name: &str, draft: &Draft) -> Result<Vec<Completion>>;
}

/// One command of a plugin.
pub(crate) struct Offer {
    handler: Arc<dyn CommandSource>,
    place: usize,
}

impl Offer {
    pub(super) fn handler(&self) -> &Arc<dyn CommandSource> {
        &self.handler
    }

    pub(super) fn declaration(&self) -> &CommandDeclaration {
        &self.handler.commands()[self.place]
    }

    pub(super) fn name(&self) -> &str {
        &self.declaration().name
    }

    /// The other words that may mean it.
    fn aliases(&self) -> Vec<String> {
        match self.place {
            0 => self.handler.aliases(),
            _ => Vec::new(),
        }
    }
}

/// The commands of one moment.
#[derive(Default)]
pub(crate) struct Catalog {
    offers: Vec<Offer>,
    /// What each word means. Several plugins of one scope may declare it, and then it is ambiguous.
    words: BTreeMap<String, BTreeSet<usize>>,
}

impl Catalog {
    /// The commands of these plugins: project over global over bundled, whole commands at a time.
    pub(crate) fn of(handlers: Vec<Arc<dyn CommandSource>>) -> Self {
        let mut scopes: BTreeMap<Scope, Vec<Arc<dyn CommandSource>>> = BTreeMap::new();
        for handler in handlers {
            scopes.entry(handler.scope()).or_default().push(handler);
        }
        let mut catalog = Self::default();
        for handlers in scopes.into_values().rev() {
            catalog.lay_under(handlers);
        }
        catalog
    }

    /// Adds what a scope further out has and the nearer ones left free.
    fn lay_under(&mut self, handlers: Vec<Arc<dyn CommandSource>>) {
        let mut added: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
        for handler in handlers {
            for place in 0..handler.commands().len() {
                let offer = Offer {
                    handler: handler.clone(),
                    place,
                };
                // One whose name is taken is gone, aliases and all: they would lead to what was meant to be replaced.
                if self.words.contains_key(offer.name()) {
                    continue;
                }
                let aliases = offer.aliases();
                let valid = aliases.into_iter().filter(|alias| is_command_name(alias));
                for word in std::iter::once(offer.name().to_owned()).chain(valid) {
                    if !self.words.contains_key(&word) {
                        added.entry(word).or_default().insert(self.offers.len());
                    }
                }
                self.offers.push(offer);
            }
        }
        self.words.append(&mut added);
    }

    /// Every command that can be run by its name, in byte order.
    pub(crate) fn list(&self) -> Vec<CommandRef> {
        self.listed()
            .map(|(offer, aliases)| reference(offer, aliases))
            .collect()
    }

    /// The commands, each with the aliases that lead to it.
    pub(super) fn listed(&self) -> impl Iterator<Item = (&Offer, Vec<String>)> {
        let named = self.words.keys().filter_map(|word| {
            let place = self.meant(word)?;
            (self.offers[place].name() == word).then_some(place)
        });
        named.map(|place| {
            let offer = &self.offers[place];
            let mut aliases = offer.aliases();
            let mut seen = BTreeSet::new();
            aliases.retain(|alias| {
                let leads_here = alias != offer.name() && self.meant(alias) == Some(place);
                leads_here && seen.insert(alias.clone())
            });
            (offer, aliases)
        })
    }

    /// What a word means, if it means one thing.
    fn meant(&self, word: &str) -> Option<usize> {
        let offers = self.words.get(word)?;
        offers.first().filter(|_| offers.len() == 1).copied()
    }

    /// The command of this name or alias.
    pub(crate) fn knows(&self, word: &str) -> bool {
        self.words.contains_key(word)
    }

    /// The command that a word means.
    pub(crate) fn find(&self, word: &str) -> Result<&Offer> {
        if let Some(place) = self.meant(word) {
            return Ok(&self.offers[place]);
        }
        if let Some(offers) = self.words.get(word) {
            return Err(self.ambiguous(word, offers));
        }
        let known = self.words.keys().map(String::as_str);
        Err(refusal::command_unknown(word, nearest(word, known)))
    }

    fn ambiguous(&self, word: &str, offers: &BTreeSet<usize>) -> Error {
        let plugins = offers
            .iter()
            .map(|place| self.offers[*place].handler.ext_id());
        let candidates: BTreeSet<&str> = plugins.collect();
        let candidates: Vec<&str> = candidates.into_iter().collect();
        let code = &codes::COMMAND_AMBIGUOUS;
        let message = format!(
            "the command `{word}` is given by {}",
            candidates.join(" and ")
        );
        Error::new(code.class, code.name, message)
            .with("name", word)
            .with("candidates", candidates)
    }
}

fn reference(offer: &Offer, aliases: Vec<String>) -> CommandRef {
    let declared = offer.declaration();
    CommandRef {
        name: declared.name.clone(),
        aliases,
        description: declared.description.clone(),
        argument_hint: declared.argument_hint.clone(),
        category: declared.category.clone(),
        source: offer.handler.ext_id().to_owned(),
        turn_safe: declared.turn_safe,
    }
}

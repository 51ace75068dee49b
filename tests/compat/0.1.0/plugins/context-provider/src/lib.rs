//! A context provider that tells the model a fact.
#![forbid(unsafe_code)]

use stud_sdk::context_provider::{ContextFragment, FragmentKind};
use stud_sdk::prelude::*;

/// What the operator sets.
#[derive(Config)]
struct Options {
    /// The fact.
    #[stud(default = "water")]
    fact: String,
}

/// Tells the model a fact.
#[context_provider(id = "frozen-context-provider", config = Options, init = Facts::open)]
struct Facts {
    fact: String,
}

impl Facts {
    fn open(_host: Host, options: Options) -> Self {
        Self { fact: options.fact }
    }
}

impl ContextProvider for Facts {
    async fn provide(&self, _cx: &Cx) -> Result<Vec<ContextFragment>> {
        Ok(vec![ContextFragment {
            kind: FragmentKind::SystemMessage,
            content: format!("Frozen: {}", self.fact),
            token_budget: 50,
            priority: 1,
            ..ContextFragment::default()
        }])
    }
}

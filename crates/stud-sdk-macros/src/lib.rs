//! The attributes and derives of `stud-sdk`, which re-exports and documents them.
#![forbid(unsafe_code)]

mod docs; // Doc comments as descriptions.
mod names; // Wire names made from source names.
mod json; // JSON text known at compile time.
mod arguments; // The arguments of an attribute.
mod derive; // `Schema`, `Args` and `Config`.
mod declaration; // What every plugin attribute takes.
mod export; // The exported symbols.
mod function; // Functions that are tools or commands.
mod structure; // Structs that are plugins.
mod needs; // `needs(…)`: what an extension needs of a model.
mod param_rules; // `params(…)` of a provider.
mod callable; // What tools and commands share.
mod tool; // `#[tool]` and `tools!`.
mod command; // `#[command]` and `commands!`.
mod hook; // `#[hook]`.
mod ui; // `#[ui]`.
mod provider; // `#[provider]`.
mod logger; // `#[logger]`.
mod state_machine; // `#[state_machine]`.
mod session_store; // `#[session_store]`.
mod context_provider; // `#[context_provider]`.

use proc_macro::TokenStream;
use syn::{DeriveInput, Error, Result, parse_macro_input};

use crate::derive::Purpose;

/// See `stud_sdk::Schema`.
#[proc_macro_derive(Schema, attributes(stud))]
pub fn derive_schema(input: TokenStream) -> TokenStream {
    derived(parse_macro_input!(input), Purpose::Schema)
}

/// See `stud_sdk::tool::Args`.
#[proc_macro_derive(Args, attributes(stud))]
pub fn derive_args(input: TokenStream) -> TokenStream {
    derived(parse_macro_input!(input), Purpose::Args)
}

/// See `stud_sdk::Config`.
#[proc_macro_derive(Config, attributes(stud))]
pub fn derive_config(input: TokenStream) -> TokenStream {
    derived(parse_macro_input!(input), Purpose::Config)
}

/// See `stud_sdk::tool::tool`.
#[proc_macro_attribute]
pub fn tool(attribute: TokenStream, item: TokenStream) -> TokenStream {
    expanded(tool::expand(attribute.into(), item.into()))
}

/// See `stud_sdk::tool::tools`.
#[proc_macro]
pub fn tools(input: TokenStream) -> TokenStream {
    expanded(tool::expand_set(input.into()))
}

/// See `stud_sdk::command::command`.
#[proc_macro_attribute]
pub fn command(attribute: TokenStream, item: TokenStream) -> TokenStream {
    expanded(command::expand(attribute.into(), item.into()))
}

/// See `stud_sdk::command::commands`.
#[proc_macro]
pub fn commands(input: TokenStream) -> TokenStream {
    expanded(command::expand_set(input.into()))
}

/// See `stud_sdk::hook::hook`.
#[proc_macro_attribute]
pub fn hook(attribute: TokenStream, item: TokenStream) -> TokenStream {
    expanded(hook::expand(attribute.into(), item.into()))
}

/// See `stud_sdk::ui::ui`.
#[proc_macro_attribute]
pub fn ui(attribute: TokenStream, item: TokenStream) -> TokenStream {
    expanded(ui::expand(attribute.into(), item.into()))
}

/// See `stud_sdk::provider::provider`.
#[proc_macro_attribute]
pub fn provider(attribute: TokenStream, item: TokenStream) -> TokenStream {
    expanded(provider::expand(attribute.into(), item.into()))
}

/// See `stud_sdk::logger::logger`.
#[proc_macro_attribute]
pub fn logger(attribute: TokenStream, item: TokenStream) -> TokenStream {
    expanded(logger::expand(attribute.into(), item.into()))
}

/// See `stud_sdk::state_machine::state_machine`.
#[proc_macro_attribute]
pub fn state_machine(attribute: TokenStream, item: TokenStream) -> TokenStream {
    expanded(state_machine::expand(attribute.into(), item.into()))
}

/// See `stud_sdk::session_store::session_store`.
#[proc_macro_attribute]
pub fn session_store(attribute: TokenStream, item: TokenStream) -> TokenStream {
    expanded(session_store::expand(attribute.into(), item.into()))
}

/// See `stud_sdk::context_provider::context_provider`.
#[proc_macro_attribute]
pub fn context_provider(attribute: TokenStream, item: TokenStream) -> TokenStream {
    expanded(context_provider::expand(attribute.into(), item.into()))
}

fn derived(input: DeriveInput, purpose: Purpose) -> TokenStream {
    expanded(derive::derive(&input, purpose))
}

fn expanded(output: Result<proc_macro2::TokenStream>) -> TokenStream {
    output.unwrap_or_else(Error::into_compile_error).into()
}

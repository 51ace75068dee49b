//! What every plugin attribute takes, whatever the category.

mod reference;

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::parse::{Parse, ParseStream};
use syn::{Error, Ident, LitStr, Path, Result, Token, Type};

use crate::arguments::Arguments;
use crate::{json, names};
use reference::Reference;

/// The arguments all categories share.
pub(crate) struct Declared {
    pub(crate) id: String,
    title: String,
    description: String,
    version: TokenStream,
    required_core: String,
    pub(crate) config: Option<Type>,
    life: Life,
    state_slot: TokenStream,
    pub(crate) has_state_slot: bool,
    reload: TokenStream,
    interactions: Vec<LitStr>,
    events: Vec<Event>,
    provides: Vec<LitStr>,
    depends_on: Vec<Reference>,
    conflicts_with: Vec<Reference>,
}

/// What an extension of the category may choose for itself.
#[derive(Clone, Copy)]
pub(crate) struct Rules {
    /// The words of `reload`; the first is the default.
    pub(crate) reload: &'static [&'static str],
}

/// The functions an author wrote for the phases of a plugin's life.
#[derive(Default)]
struct Life {
    init: Option<Path>,
    /// `activate`, `deactivate`, `dispose`.
    phases: [Option<Path>; 3],
}

const PHASES: [&str; 3] = ["activate", "deactivate", "dispose"];

impl Declared {
    /// Takes the shared arguments. `default_id` is used when there is no `id`.
    pub(crate) fn take(
        given: &mut Arguments,
        default_id: &str,
        description: String,
        rules: Rules,
    ) -> Result<Self> {
        let id = id(given, default_id)?;
        let version = given.text("version")?.map_or_else(
            || quote!(::core::env!("CARGO_PKG_VERSION")),
            |version| quote!(#version),
        );
        let required_core = given.string("required_core")?;
        let state_slot = state_slot(given)?;
        Ok(Self {
            title: given.string("title")?.unwrap_or_else(|| id.clone()),
            id,
            description,
            version,
            required_core: required_core.unwrap_or_else(|| ">=0.1.0 <1.0.0".to_owned()),
            config: given.value("config")?,
            life: Life::default(),
            has_state_slot: state_slot.is_some(),
            state_slot: state_slot
                .unwrap_or_else(|| quote!(&[::stud_sdk::schema::Piece::Raw("null")])),
            reload: reload(given, rules)?,
            interactions: given.list("interactions")?,
            events: given.list("events")?,
            provides: given.list("provides")?,
            depends_on: given.list("depends_on")?,
            conflicts_with: given.list("conflicts_with")?,
        })
    }

    /// Takes the lifecycle functions of a struct. Functions have no state, and so nothing to set up.
    pub(crate) fn take_life(&mut self, given: &mut Arguments) -> Result<()> {
        self.life.init = given.value("init")?;
        for (phase, name) in self.life.phases.iter_mut().zip(PHASES) {
            *phase = given.value(name)?;
        }
        Ok(())
    }

    pub(crate) fn description(&self) -> &str {
        &self.description
    }

    /// `const ABOUT` of the plugin, and checks that run while it compiles.
    pub(crate) fn about(&self) -> TokenStream {
        let Self {
            id,
            title,
            description,
            version,
            required_core,
            state_slot,
            reload,
            ..
        } = self;
        let phases = self.life.phases.iter().map(Option::is_some);
        let kinds = json::texts(self.interactions.iter().map(LitStr::value));
        let events = events(&self.events);
        let provides = json::texts(self.provides.iter().map(LitStr::value));
        let depends_on = reference::list(&self.depends_on);
        let conflicts_with = reference::list(&self.conflicts_with);
        let entry = entry_symbol(id);
        quote! {
            const ABOUT: ::stud_sdk::__private::plugin::About = ::stud_sdk::__private::plugin::About {
                ext_id: #id,
                title: #title,
                version: #version,
                description: #description,
                required_core: #required_core,
                phases: [#(#phases),*],
                state_slot: #state_slot,
                reload: #reload,
                interaction_kinds: #kinds,
                events: &[#events],
                provides: #provides,
                depends_on: #depends_on,
                conflicts_with: #conflicts_with,
                entry: #entry,
                panic_strategy: if ::core::cfg!(panic = "unwind") { "unwind" } else { "abort" },
            };
        }
    }

    /// Checks that need the SDK's types, as items of their own. `category` is the marker type's name.
    pub(crate) fn checks(&self, category: &str) -> TokenStream {
        let marker = format_ident!("{category}");
        let kind = quote! {
            <::stud_sdk::__private::category::#marker as ::stud_sdk::__private::category::Category>::KIND
        };
        let interactions = self.interactions.iter().map(|word| {
            let unknown = format!("`{}` is not an interaction kind", word.value());
            let forbidden = format!("a {category} may not raise `{}`", word.value());
            quote! {
                ::core::assert!(::stud_sdk::__private::manifest::is_interaction_kind(#word), #unknown);
                ::core::assert!(::stud_sdk::__private::manifest::may_raise(#kind, #word), #forbidden);
            }
        });
        let events = self.events.iter().map(|Event { name, .. }| {
            let taken = format!("only core emits `{name}`");
            quote!(::core::assert!(!::stud_sdk::__private::manifest::is_core_event(#name), #taken);)
        });
        let version = &self.version;
        quote! {
            const _: () = {
                ::core::assert!(
                    ::stud_sdk::__private::version::is_plain(#version),
                    "a plugin's version is three numbers, without pre-release or build text"
                );
                #(#interactions)*
                #(#events)*
            };
        }
    }

    /// The config and the lifecycle functions of the plugin. `default` is an instance for when there is no `init`.
    pub(crate) fn life(&self, default: &TokenStream) -> TokenStream {
        let config = self.config.as_ref().map_or_else(
            || quote!(::stud_sdk::schema::Nothing),
            |config| quote!(#config),
        );
        let instance = match (&self.life.init, &self.config) {
            (Some(init), Some(_)) => awaited(&quote!(#init(__stud_host, __stud_config))),
            (Some(init), None) => awaited(&quote!(#init(__stud_host))),
            (None, _) => quote!(::core::result::Result::Ok(#default)),
        };
        let phases = self.life.phases.iter().zip(PHASES).filter_map(|(path, name)| {
            let path = path.as_ref()?;
            let name = Ident::new(name, proc_macro2::Span::call_site());
            let outcome = awaited(&quote!(#path(self)));
            Some(quote! {
                fn #name(&self) -> ::stud_sdk::__private::BoxFuture<'_, ::stud_sdk::Result<()>> {
                    ::std::boxed::Box::pin(async move { #outcome })
                }
            })
        });
        quote! {
            const CONFIG: ::stud_sdk::__private::plugin::Shape =
                ::stud_sdk::__private::plugin::shape::<#config>();

            fn init(
                __stud_host: ::stud_sdk::Host,
                __stud_config: ::std::string::String,
            ) -> ::stud_sdk::__private::BoxFuture<'static, ::stud_sdk::Result<Self>> {
                ::std::boxed::Box::pin(async move {
                    let __stud_config: #config = ::stud_sdk::__private::config::parse(&__stud_config)?;
                    let _ = (&__stud_host, &__stud_config);
                    #instance
                })
            }
            #(#phases)*
        }
    }
}

/// The result of a lifecycle function: async or not, able to fail or not.
fn awaited(call: &TokenStream) -> TokenStream {
    quote! {{
        #[allow(unused_imports, reason = "each is needed by some functions")]
        use ::stud_sdk::__private::returned::{AtOnce as _, Infallible as _};
        let __stud_returned = ::stud_sdk::__private::returned::Called(#call).wait().await;
        ::stud_sdk::__private::returned::Returned(__stud_returned).into_outcome()
    }}
}

/// The symbol of the entry of the plugin `id`.
pub(crate) fn entry_symbol(id: &str) -> String {
    format!("stud_entry_{}", id.replace('-', "_"))
}

fn id(given: &mut Arguments, default: &str) -> Result<String> {
    let Some(id) = given.text("id")? else {
        return Ok(names::kebab(default));
    };
    if names::is_ext_id(&id.value()) {
        return Ok(id.value());
    }
    let wrong = "an id is lower-case letters, digits and `-`, starts with a letter or digit and has at most 64 characters";
    Err(Error::new_spanned(id, wrong))
}

fn reload(given: &mut Arguments, rules: Rules) -> Result<TokenStream> {
    let is_chosen = given.has("reload");
    let word = given.one_of("reload", rules.reload)?;
    Ok(if is_chosen {
        quote!(::core::option::Option::Some(#word))
    } else {
        quote!(::core::option::Option::None)
    })
}

/// `state_slot(version = "1.0.0", schema = Type, drift = "reject")` as pieces of JSON.
fn state_slot(given: &mut Arguments) -> Result<Option<TokenStream>> {
    let Some(mut slot) = given.group("state_slot")? else {
        return Ok(None);
    };
    let version = slot.text("version")?;
    let schema: Option<Type> = slot.value("schema")?;
    let (Some(version), Some(schema)) = (version, schema) else {
        return Err(slot.missing("a state slot has a `version` and a `schema`"));
    };
    let drift = slot.one_of("drift", &["reject", "warn", "migrate"])?;
    slot.finish()?;
    if !is_plain_version(&version.value()) {
        return Err(Error::new_spanned(
            version,
            "a version is three numbers, such as `1.0.0`",
        ));
    }
    let head = format!(
        "{{\"slotVersion\":{},\"schema\":",
        json::text(&version.value())
    );
    let tail = format!(",\"driftPolicy\":{}}}", json::text(&drift));
    Ok(Some(quote! {
        &[
            ::stud_sdk::schema::Piece::Raw(#head),
            ::stud_sdk::schema::Piece::Nested(<#schema as ::stud_sdk::Schema>::SCHEMA),
            ::stud_sdk::schema::Piece::Raw(#tail),
        ]
    }))
}

fn is_plain_version(text: &str) -> bool {
    let number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    text.split('.').count() == 3 && text.split('.').all(number)
}

/// `IndexBuilt` or `IndexBuilt = "Index.Built"`.
struct Event {
    ty: Type,
    name: String,
}

impl Parse for Event {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let ty: Path = input.parse()?;
        let name = if input.peek(Token![=]) {
            input.parse::<Token![=]>()?;
            input.parse::<LitStr>()?.value()
        } else {
            match ty.segments.last() {
                Some(last) => names::plain(&last.ident),
                None => return Err(Error::new_spanned(ty, "expected a type")),
            }
        };
        let ty = syn::parse_quote!(#ty);
        Ok(Self { ty, name })
    }
}

fn events(events: &[Event]) -> TokenStream {
    let mut pieces = TokenStream::new();
    for (index, Event { ty, name }) in events.iter().enumerate() {
        let comma = if index > 0 { "," } else { "" };
        let head = format!("{comma}{{\"name\":{},\"schema\":", json::text(name));
        pieces.extend(quote! {
            ::stud_sdk::schema::Piece::Raw(#head),
            ::stud_sdk::schema::Piece::Nested(<#ty as ::stud_sdk::Schema>::SCHEMA),
            ::stud_sdk::schema::Piece::Raw("}"),
        });
    }
    pieces
}

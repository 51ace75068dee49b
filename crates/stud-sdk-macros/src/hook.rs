//! `#[hook]`: a struct that guards, transforms or observes.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::Result;

use crate::arguments::Arguments;
use crate::declaration::Rules;
use crate::json;
use crate::needs;
use crate::structure::{Addition, Structure};

const RULES: Rules = Rules {
    reload: &["between-turns"],
};

const MODES: [(&str, &str); 3] = [
    ("per-stage", "PerStage"),
    ("per-call", "PerCall"),
    ("per-token", "PerToken"),
];

const SUB_KINDS: [(&str, &str); 3] = [
    ("Guard", "GUARD"),
    ("Transform", "TRANSFORM"),
    ("Observer", "OBSERVER"),
];

pub(crate) fn expand(attribute: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let mut given = Arguments::parse(attribute)?;
    let structure = Structure::read("hook", &mut given, item, RULES)?;
    let Some(slot) = given.string("slot")? else {
        return Err(given.missing("`#[hook]` needs a slot, such as `slot = \"TOOL_CALL/pre\"`"));
    };
    let mode = given.one_of("firing_mode", &MODES.map(|(word, _)| word))?;
    let needs = needs::member(&mut given)?;
    given.finish()?;

    let ident = structure.ident();
    let probe = quote!(::stud_sdk::__private::hook::Probe::<#ident>);
    let checks = checks(&ident.to_string(), &probe, &slot, &mode);
    let head = format!(
        ",\n\"registration\":{{\"slot\":{},\"subKind\":",
        json::text(&slot)
    );
    let tail = format!(",\"firingMode\":{}}}{needs}", json::text(&mode));
    let plugin = quote! {
        const MEMBERS: ::stud_sdk::schema::Json = &[
            ::stud_sdk::schema::Piece::Raw(#head),
            ::stud_sdk::schema::Piece::Raw(if #probe::GUARD {
                "\"guard\""
            } else if #probe::TRANSFORM {
                "\"transform\""
            } else {
                "\"observer\""
            }),
            ::stud_sdk::schema::Piece::Raw(#tail),
        ];
    };
    let items = quote! {
        #[allow(unused_imports, reason = "needed where a trait is not implemented")]
        use ::stud_sdk::__private::hook::Without as _;

        #checks

        #[automatically_derived]
        impl ::stud_sdk::__private::hook::HookPlugin for #ident {
            fn handle(
                self: ::std::sync::Arc<Self>,
                payload: ::stud_sdk::Value,
                cx: ::stud_sdk::Cx,
            ) -> ::stud_sdk::__private::BoxFuture<'static, ::stud_sdk::Result<::std::string::String>> {
                if #probe::GUARD {
                    #probe::guard(self, payload, cx)
                } else if #probe::TRANSFORM {
                    #probe::transform(self, payload, cx)
                } else {
                    #probe::observe(self, payload, cx)
                }
            }
        }
    };
    Ok(structure.finish(Addition {
        category: "Hook",
        table: "hook",
        plugin,
        items,
    }))
}

/// Exactly one sub-kind, on a slot that takes it, firing as the slot can.
fn checks(name: &str, probe: &TokenStream, slot: &str, mode: &str) -> TokenStream {
    let none = format!(
        "`{name}` implements none of `Guard`, `Transform` and `Observer`; a hook is exactly one of them"
    );
    let several = format!(
        "`{name}` implements more than one of `Guard`, `Transform` and `Observer`; a hook is exactly one of them"
    );
    let attached = SUB_KINDS.map(|(sub_kind, constant)| {
        let forbidden = format!("a `{sub_kind}` may not sit on `{slot}`; see the table in `stud_sdk::hook`");
        let (sub_kind, constant) = (format_ident!("{sub_kind}"), format_ident!("{constant}"));
        quote! {
            ::core::assert!(
                !#probe::#constant || ::stud_sdk::hook::permits(SLOT, ::stud_sdk::hook::SubKind::#sub_kind),
                #forbidden
            );
        }
    });
    let unknown = format!(
        "`{slot}` is no slot; they are RECEIVE_INPUT, COMPOSE_REQUEST, SEND_REQUEST, STREAM_RESPONSE, TOOL_CALL and RENDER, \
         each with `/pre` or `/post`"
    );
    let variant = MODES.iter().find(|(word, _)| *word == mode);
    let variant = format_ident!("{}", variant.map_or("PerStage", |(_, variant)| variant));
    let fires = format!("hooks on `{slot}` do not fire `{mode}`");
    quote! {
        const _: () = {
            const SLOT: ::stud_sdk::hook::Slot = match ::stud_sdk::__private::hook::slot(#slot) {
                ::core::option::Option::Some(slot) => slot,
                ::core::option::Option::None => ::core::panic!(#unknown),
            };
            const COUNT: u8 = #probe::GUARD as u8 + #probe::TRANSFORM as u8 + #probe::OBSERVER as u8;
            ::core::assert!(COUNT > 0, #none);
            ::core::assert!(COUNT < 2, #several);
            #(#attached)*
            ::core::assert!(SLOT.fires(::stud_sdk::hook::FiringMode::#variant), #fires);
        };
    }
}

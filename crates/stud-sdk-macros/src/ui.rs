//! `#[ui]`: a struct that hears, answers or draws.

use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::{Error, Expr, LitStr, Result};

use crate::arguments::Arguments;
use crate::declaration::Rules;
use crate::json;
use crate::structure::{Addition, Structure};

const RULES: Rules = Rules {
    reload: &["between-turns"],
};

pub(crate) fn expand(attribute: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let mut given = Arguments::parse(attribute)?;
    let structure = Structure::read("ui", &mut given, item, RULES)?;
    let regions: Vec<Region> = given.list("regions")?;
    given.finish()?;

    let ident = structure.ident();
    let probe = quote!(::stud_sdk::__private::ui::Probe::<#ident>);
    let no_role = format!(
        "`{ident}` implements none of `Subscriber`, `Interactor` and `Region`, so this UI would have nothing to do"
    );
    let no_regions = format!(
        "`{ident}` implements `Region`; say what it draws: `regions(region(id = \"…\", …))`"
    );
    let no_drawing = format!("`regions(…)` are declared and `{ident}` does not implement `Region`");
    let declared = !regions.is_empty();
    let list = regions
        .iter()
        .map(|region| region.json.as_str())
        .collect::<Vec<_>>()
        .join(",");
    let members = if declared {
        format!("],\n\"regions\":[{list}]")
    } else {
        "]".to_owned()
    };
    let plugin = quote! {
        const HANDLERS: &'static [&'static str] = {
            const CHOSEN: ([&str; 3], usize) = ::stud_sdk::__private::manifest::chosen([
                ("onEvent", #probe::SUBSCRIBER),
                ("onInteraction", #probe::INTERACTOR),
                ("renderRegion", #probe::REGION),
            ]);
            CHOSEN.0.split_at(CHOSEN.1).0
        };
        const MEMBERS: ::stud_sdk::schema::Json = {
            const ROLES: [::stud_sdk::schema::Piece; 3] = ::stud_sdk::__private::schema::select([
                ("\"subscriber\"", ",\"subscriber\"", #probe::SUBSCRIBER),
                ("\"interactor\"", ",\"interactor\"", #probe::INTERACTOR),
                ("\"region\"", ",\"region\"", #probe::REGION),
            ]);
            &[
                ::stud_sdk::schema::Piece::Raw(",\n\"roles\":["),
                ::stud_sdk::schema::Piece::Nested(&ROLES),
                ::stud_sdk::schema::Piece::Raw(#members),
            ]
        };
        const BASE: &'static [::stud_sdk::__private::category::BaseMember] = if #probe::REGION {
            ::stud_sdk::__private::category::REGION_BASE
        } else {
            <::stud_sdk::__private::category::Ui as ::stud_sdk::__private::category::Category>::BASE
        };
    };
    let items = quote! {
        #[allow(unused_imports, reason = "needed where a trait is not implemented")]
        use ::stud_sdk::__private::ui::Without as _;

        const _: () = {
            ::core::assert!(#probe::SUBSCRIBER || #probe::INTERACTOR || #probe::REGION, #no_role);
            ::core::assert!(!#probe::REGION || #declared, #no_regions);
            ::core::assert!(#probe::REGION || !#declared, #no_drawing);
        };

        #[automatically_derived]
        impl ::stud_sdk::__private::ui::UiPlugin for #ident {
            fn on_event(&self, event: &::stud_sdk::ui::Event<'_>) -> ::stud_sdk::Result<()> {
                #probe::on_event(self, event)
            }

            fn on_interaction(
                self: ::std::sync::Arc<Self>,
                request: ::stud_sdk::ui::Request,
                cx: ::stud_sdk::Cx,
            ) -> ::stud_sdk::__private::BoxFuture<'static, ::stud_sdk::Result<::stud_sdk::ui::Response>> {
                #probe::on_interaction(self, request, cx)
            }

            fn render(
                &self,
                contribution: &str,
                canvas: &::stud_sdk::ui::Canvas,
            ) -> ::stud_sdk::Result<::std::vec::Vec<::stud_sdk::ui::Line>> {
                #probe::render(self, contribution, canvas)
            }
        }
    };
    Ok(structure.finish(Addition {
        category: "Ui",
        table: "ui",
        plugin,
        items,
    }))
}

/// `region(id = "clock", region = "statusLine", mode = "append", priority = 10, target = "default-tui")`.
struct Region {
    json: String,
}

impl Parse for Region {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let word: syn::Ident = input.parse()?;
        if word != "region" {
            return Err(Error::new(word.span(), "write `region(id = \"…\", …)`"));
        }
        let inside;
        syn::parenthesized!(inside in input);
        let mut given = Arguments::parse(inside.parse()?)?;
        given.span = word.span();
        let mut text = |name: &'static str| -> Result<LitStr> {
            given
                .text(name)?
                .ok_or_else(|| Error::new(word.span(), format!("a region needs `{name} = \"…\"`")))
        };
        let (id, region, target) = (text("id")?, text("region")?, text("target")?);
        let mode = given.text("mode")?;
        let mode_word = mode
            .as_ref()
            .map_or_else(|| "append".to_owned(), LitStr::value);
        if !["replace", "append", "decorate"].contains(&mode_word.as_str()) {
            return Err(Error::new_spanned(
                mode,
                "one of `replace`, `append`, `decorate`",
            ));
        }
        let priority: Option<Expr> = given.value("priority")?;
        let priority = match &priority {
            None => "0".to_owned(),
            Some(number) => json::number(number)?,
        };
        given.finish()?;
        Ok(Self {
            json: format!(
                "{{\"id\":{},\"region\":{},\"mode\":{},\"priority\":{priority},\"targetUI\":{}}}",
                json::text(&id.value()),
                json::text(&region.value()),
                json::text(&mode_word),
                json::text(&target.value()),
            ),
        })
    }
}

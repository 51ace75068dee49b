//! One field of a struct: its wire name, its text, its limits, its default.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Error, Expr, Field as Source, Ident, LitStr, Result, Type};

use crate::arguments::Arguments;
use crate::{docs, json, names};

pub(crate) struct Field<'a> {
    ident: &'a Ident,
    ty: &'a Type,
    pub(crate) name: String,
    description: String,
    default: Option<Fallback>,
    /// Members the author adds to the type's own, as JSON text.
    limits: Vec<String>,
    has_minimum: bool,
}

/// What stands in for a field that is not sent.
struct Fallback {
    function: Ident,
    value: TokenStream,
    json: Option<String>,
    /// Whether it is the default of the type, as `None` is of an `Option`.
    is_plain: bool,
}

/// What tells that a member is left out. One with a default of its own is always written: left out, it would mean that.
const ABSENT: &str = "::stud_sdk::Schema::is_absent";

/// Attribute arguments and the JSON Schema keyword each becomes.
const LIMITS: [(&str, &str); 6] = [
    ("min", "minimum"),
    ("max", "maximum"),
    ("min_length", "minLength"),
    ("max_length", "maxLength"),
    ("min_items", "minItems"),
    ("max_items", "maxItems"),
];

impl<'a> Field<'a> {
    pub(crate) fn read(source: &'a Source, index: usize) -> Result<Self> {
        let Some(ident) = &source.ident else {
            return Err(Error::new_spanned(source, "the field needs a name"));
        };
        let description = docs::text(&source.attrs);
        if description.is_empty() {
            let missing = format!(
                "`{ident}` has no doc comment; it is what the model or the user reads about this field"
            );
            return Err(Error::new_spanned(source, missing));
        }
        let mut given = attribute(&source.attrs)?;
        let name = given.string("rename")?;
        let name = name.unwrap_or_else(|| names::camel(&names::plain(ident)));
        let default = fallback(&mut given, index)?;
        let mut limits = Vec::new();
        let mut has_minimum = false;
        for (argument, keyword) in LIMITS {
            if let Some(value) = given.value::<Expr>(argument)? {
                let number = json::number(&value)?;
                has_minimum |= keyword == "minimum";
                limits.push(format!("\"{keyword}\":{number}"));
            }
        }
        if let Some(pattern) = given.string("pattern")? {
            limits.push(format!("\"pattern\":{}", json::text(&pattern)));
        }
        let values = given.list::<LitStr>("values")?;
        if !values.is_empty() {
            let words = json::texts(values.iter().map(LitStr::value));
            limits.push(format!("\"enum\":{words}"));
        }
        given.finish()?;
        Ok(Self {
            ident,
            ty: &source.ty,
            name,
            description,
            default,
            limits,
            has_minimum,
        })
    }

    /// The field in serde's eyes, and the function that makes its default.
    pub(crate) fn shadow(&self) -> (TokenStream, TokenStream) {
        let Self {
            ident, ty, name, ..
        } = self;
        let Some(Fallback {
            function,
            value,
            is_plain,
            ..
        }) = &self.default
        else {
            let field = quote!(#[serde(rename = #name, skip_serializing_if = #ABSENT)] #ident: #ty);
            return (field, TokenStream::new());
        };
        let path = function.to_string();
        let skip = is_plain.then(|| quote!(, skip_serializing_if = #ABSENT));
        let field = quote!(#[serde(rename = #name, default = #path #skip)] #ident: #ty);
        (field, quote!(fn #function() -> #ty { #value }))
    }

    /// `"name":{…}` as pieces.
    pub(crate) fn property(&self) -> TokenStream {
        let ty = self.ty;
        let mut head = format!(
            "{}:{{\"description\":{}",
            json::text(&self.name),
            json::text(&self.description)
        );
        let default = self
            .default
            .as_ref()
            .and_then(|default| default.json.clone());
        for limit in self
            .limits
            .iter()
            .cloned()
            .chain(default.map(|value| format!("\"default\":{value}")))
        {
            head.push(',');
            head.push_str(&limit);
        }
        let unsigned = if self.has_minimum {
            quote!(false)
        } else {
            quote!(<#ty as ::stud_sdk::Schema>::UNSIGNED)
        };
        quote! {
            ::stud_sdk::schema::Piece::Raw(#head),
            ::stud_sdk::__private::schema::minimum(#unsigned),
            ::stud_sdk::__private::schema::comma("described", <#ty as ::stud_sdk::Schema>::BODY),
            ::stud_sdk::schema::Piece::Nested(<#ty as ::stud_sdk::Schema>::BODY),
            ::stud_sdk::schema::Piece::Raw("}")
        }
    }

    /// Whether the member must be there: known once the type is.
    pub(crate) fn required(&self) -> TokenStream {
        let ty = self.ty;
        let first = json::text(&self.name);
        let later = format!(",{first}");
        let optional = if self.default.is_some() {
            quote!(true)
        } else {
            quote!(<#ty as ::stud_sdk::Schema>::OPTIONAL)
        };
        quote!((#first, #later, !#optional))
    }
}

/// The arguments of a field's or variant's `#[stud(…)]`.
pub(crate) fn attribute(attributes: &[syn::Attribute]) -> Result<Arguments> {
    let mut ours = attributes
        .iter()
        .filter(|attribute| attribute.path().is_ident("stud"));
    let Some(first) = ours.next() else {
        return Arguments::parse(TokenStream::new());
    };
    if let Some(second) = ours.next() {
        return Err(Error::new_spanned(second, "one `#[stud(…)]` is enough"));
    }
    Arguments::parse(first.meta.require_list()?.tokens.clone())
}

fn fallback(given: &mut Arguments, index: usize) -> Result<Option<Fallback>> {
    let function = format_ident!("default_{index}");
    if given.is_bare("default") {
        given.flag("default")?;
        return Ok(Some(Fallback {
            function,
            value: quote!(::core::default::Default::default()),
            json: None,
            is_plain: true,
        }));
    }
    let Some(value) = given.value::<Expr>("default")? else {
        return Ok(None);
    };
    let json = json::literal(&value);
    let is_text = json.as_ref().is_some_and(|text| text.starts_with('"'));
    let value = if is_text {
        quote!(::core::convert::Into::into(#value))
    } else {
        quote!(#value)
    };
    Ok(Some(Fallback {
        function,
        value,
        json,
        is_plain: false,
    }))
}

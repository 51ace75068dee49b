//! What stands in the parentheses of an attribute.

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Error, Ident, LitBool, LitStr, Result, Token};

/// The arguments not yet asked for.
///
/// A category takes what it knows; what is left over is an error that lists what would have been understood.
pub(crate) struct Arguments {
    given: Vec<Argument>,
    asked: Vec<&'static str>,
    /// Where to point when something is missing.
    pub(crate) span: Span,
}

struct Argument {
    name: Ident,
    value: Value,
}

enum Value {
    /// `part`
    Bare,
    /// `id = "line-count"`
    Assigned(TokenStream),
    /// `interactions("Ask")`
    Listed(TokenStream),
}

impl Arguments {
    pub(crate) fn parse(tokens: TokenStream) -> Result<Self> {
        let arguments = Punctuated::<Argument, Token![,]>::parse_terminated;
        let mut given: Vec<Argument> = Vec::new();
        for argument in arguments.parse2(tokens)? {
            if given.iter().any(|other| other.name == argument.name) {
                let twice = format!("`{}` is given twice", argument.name);
                return Err(Error::new(argument.name.span(), twice));
            }
            given.push(argument);
        }
        Ok(Self {
            given,
            asked: Vec::new(),
            span: Span::call_site(),
        })
    }

    fn take(&mut self, name: &'static str) -> Option<Argument> {
        self.asked.push(name);
        let place = self
            .given
            .iter()
            .position(|argument| argument.name == name)?;
        Some(self.given.remove(place))
    }

    /// `name = …`, read as whatever `T` is.
    pub(crate) fn value<T: Parse>(&mut self, name: &'static str) -> Result<Option<T>> {
        let Some(argument) = self.take(name) else {
            return Ok(None);
        };
        match argument.value {
            Value::Assigned(tokens) => syn::parse2(tokens).map(Some),
            Value::Bare | Value::Listed(_) => Err(Error::new(
                argument.name.span(),
                format!("write `{name} = …`"),
            )),
        }
    }

    /// `name = "…"`.
    pub(crate) fn text(&mut self, name: &'static str) -> Result<Option<LitStr>> {
        self.value(name)
    }

    /// `name = "…"`, as text.
    pub(crate) fn string(&mut self, name: &'static str) -> Result<Option<String>> {
        Ok(self.text(name)?.map(|text| text.value()))
    }

    /// `name = "…"`, one of these words; the first is the default.
    pub(crate) fn one_of(&mut self, name: &'static str, words: &[&str]) -> Result<String> {
        let Some(chosen) = self.text(name)? else {
            return Ok(words.first().copied().unwrap_or_default().to_owned());
        };
        if words.contains(&chosen.value().as_str()) {
            return Ok(chosen.value());
        }
        let known = words
            .iter()
            .map(|word| format!("`{word}`"))
            .collect::<Vec<_>>()
            .join(", ");
        Err(Error::new_spanned(chosen, format!("one of {known}")))
    }

    /// `name` or `name = true`.
    pub(crate) fn flag(&mut self, name: &'static str) -> Result<Option<bool>> {
        let Some(argument) = self.take(name) else {
            return Ok(None);
        };
        match argument.value {
            Value::Bare => Ok(Some(true)),
            Value::Assigned(tokens) => Ok(Some(syn::parse2::<LitBool>(tokens)?.value)),
            Value::Listed(_) => Err(Error::new(
                argument.name.span(),
                format!("write `{name} = true` or `{name} = false`"),
            )),
        }
    }

    /// `name(…, …)` or `name = […, …]`; empty when it is not there.
    pub(crate) fn list<T: Parse>(&mut self, name: &'static str) -> Result<Vec<T>> {
        let Some(argument) = self.take(name) else {
            return Ok(Vec::new());
        };
        let items = match argument.value {
            Value::Listed(tokens) => Some(tokens),
            Value::Assigned(tokens) => bracketed(tokens),
            Value::Bare => None,
        };
        let Some(items) = items else {
            return Err(Error::new(
                argument.name.span(),
                format!("write `{name}(…)`"),
            ));
        };
        let items = Punctuated::<T, Token![,]>::parse_terminated.parse2(items)?;
        Ok(items.into_iter().collect())
    }

    /// `name(…)` with arguments of its own.
    pub(crate) fn group(&mut self, name: &'static str) -> Result<Option<Self>> {
        let Some(argument) = self.take(name) else {
            return Ok(None);
        };
        let Value::Listed(tokens) = argument.value else {
            return Err(Error::new(
                argument.name.span(),
                format!("write `{name}(…)`"),
            ));
        };
        let mut group = Self::parse(tokens)?;
        group.span = argument.name.span();
        Ok(Some(group))
    }

    /// Whether `name` stands alone, without a value.
    pub(crate) fn is_bare(&self, name: &str) -> bool {
        let bare =
            |argument: &Argument| argument.name == name && matches!(argument.value, Value::Bare);
        self.given.iter().any(bare)
    }

    /// Whether `name` is given.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.given.iter().any(|argument| argument.name == name)
    }

    /// Everything must have been asked for by now.
    pub(crate) fn finish(self) -> Result<()> {
        let Some(left) = self.given.first() else {
            return Ok(());
        };
        let known = self
            .asked
            .iter()
            .map(|name| format!("`{name}`"))
            .collect::<Vec<_>>()
            .join(", ");
        let unknown = format!("unknown argument `{}`; known are {known}", left.name);
        Err(Error::new(left.name.span(), unknown))
    }

    /// The error for something that must be there.
    pub(crate) fn missing(&self, what: &str) -> Error {
        Error::new(self.span, what)
    }
}

fn bracketed(tokens: TokenStream) -> Option<TokenStream> {
    let mut tokens = tokens.into_iter();
    match (tokens.next(), tokens.next()) {
        (Some(TokenTree::Group(group)), None) if group.delimiter() == Delimiter::Bracket => {
            Some(group.stream())
        }
        _ => None,
    }
}

impl Parse for Argument {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let name = Ident::parse(input)?;
        let value = if input.peek(Token![=]) {
            input.parse::<Token![=]>()?;
            Value::Assigned(until_comma(input)?)
        } else if input.peek(syn::token::Paren) {
            let items;
            syn::parenthesized!(items in input);
            Value::Listed(items.parse()?)
        } else {
            Value::Bare
        };
        Ok(Self { name, value })
    }
}

/// The tokens up to the next comma that is not inside `<…>`.
fn until_comma(input: ParseStream<'_>) -> Result<TokenStream> {
    let mut taken = TokenStream::new();
    let mut depth = 0_usize;
    while !input.is_empty() && (depth > 0 || !input.peek(Token![,])) {
        let arrow = input.peek(Token![->]);
        let next: TokenTree = input.parse()?;
        if let TokenTree::Punct(punct) = &next {
            match punct.as_char() {
                '<' => depth += 1,
                '>' => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        taken.extend([next]);
        if arrow {
            taken.extend([input.parse::<TokenTree>()?]);
        }
    }
    if taken.is_empty() {
        return Err(input.error("expected a value"));
    }
    Ok(taken)
}

#[cfg(test)]
mod tests {
    use super::*;
    use quote::quote;

    fn arguments(tokens: TokenStream) -> Arguments {
        Arguments::parse(tokens).unwrap()
    }

    #[test]
    fn each_form_is_read() {
        let mut given = arguments(quote! {
            id = "x", part, gated = false, config = BTreeMap<String, u8>, provides("a", "b"), slot(version = "1.0.0"),
        });
        assert_eq!(given.string("id").unwrap().unwrap(), "x");
        assert_eq!(given.flag("part").unwrap(), Some(true));
        assert_eq!(given.flag("gated").unwrap(), Some(false));
        assert!(given.value::<syn::Type>("config").unwrap().is_some());
        assert_eq!(given.list::<LitStr>("provides").unwrap().len(), 2);
        let mut slot = given.group("slot").unwrap().unwrap();
        assert_eq!(slot.string("version").unwrap().unwrap(), "1.0.0");
        assert_eq!(given.string("absent").unwrap(), None);
        given.finish().unwrap();
    }

    #[test]
    fn what_nobody_asked_for_is_an_error_that_lists_what_is_known() {
        let mut given = arguments(quote! { idd = "x" });
        assert_eq!(given.string("id").unwrap(), None);
        let error = given.finish().unwrap_err().to_string();
        assert_eq!(error, "unknown argument `idd`; known are `id`");
    }

    #[test]
    fn an_argument_is_given_once() {
        assert!(Arguments::parse(quote! { id = "a", id = "b" }).is_err());
    }
}

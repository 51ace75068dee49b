//! `needs(…)`: what an extension needs of the model that answers.

use syn::{Error, Expr, LitStr, Result};

use crate::arguments::Arguments;
use crate::json;

/// Attribute argument and manifest name of what is there or not.
pub(crate) const CAPABILITIES: [(&str, &str); 6] = [
    ("streaming", "streaming"),
    ("tool_calling", "toolCalling"),
    ("structured_output", "structuredOutput"),
    ("multimodal", "multimodal"),
    ("reasoning", "reasoning"),
    ("prompt_caching", "promptCaching"),
];

const LEVELS: [&str; 3] = ["hard", "preferred", "probed"];

/// The member `modelNeeds`, with the comma before it; nothing if nothing is needed.
pub(crate) fn member(given: &mut Arguments) -> Result<String> {
    let Some(mut needs) = given.group("needs")? else {
        return Ok(String::new());
    };
    let mut listed = Vec::new();
    for (argument, name) in CAPABILITIES {
        if let Some(level) = needs.text(argument)? {
            listed.push(format!(
                "{{\"name\":\"{name}\",\"level\":{}}}",
                json::text(&known(&level)?)
            ));
        }
    }
    if let Some(window) = needs.value::<Expr>("context_window")? {
        listed.push(format!(
            "{{\"name\":\"contextWindow\",\"level\":\"hard\",\"minimum\":{}}}",
            tokens(&window)?
        ));
    }
    needs.finish()?;
    Ok(format!(",\n\"modelNeeds\":[{}]", listed.join(",")))
}

fn known(level: &LitStr) -> Result<String> {
    let word = level.value();
    if LEVELS.contains(&word.as_str()) {
        return Ok(word);
    }
    Err(Error::new_spanned(
        level,
        "one of `hard`, `preferred`, `probed`",
    ))
}

fn tokens(window: &Expr) -> Result<String> {
    let text = json::literal(window);
    let is_count = |text: &String| text.parse::<u64>().is_ok_and(|tokens| tokens > 0);
    text.filter(is_count)
        .ok_or_else(|| Error::new_spanned(window, "the number of tokens that must fit"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use quote::quote;

    fn read(tokens: proc_macro2::TokenStream) -> Result<String> {
        member(&mut Arguments::parse(tokens)?)
    }

    #[test]
    fn needs_are_listed_in_the_order_of_the_contract() {
        let member = read(quote! { needs(context_window = 8_000, tool_calling = "hard") }).unwrap();
        assert_eq!(
            member,
            ",\n\"modelNeeds\":[{\"name\":\"toolCalling\",\"level\":\"hard\"},\
             {\"name\":\"contextWindow\",\"level\":\"hard\",\"minimum\":8000}]"
        );
        assert_eq!(read(quote! {}).unwrap(), "");
    }

    #[test]
    fn what_is_no_need_does_not_compile() {
        assert!(read(quote! { needs(tool_calling = "absent") }).is_err());
        assert!(read(quote! { needs(context_window = 0) }).is_err());
        assert!(read(quote! { needs(vision = "hard") }).is_err());
    }
}

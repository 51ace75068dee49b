//! `params(…)` of a provider: what holds for parameters besides their schema.

use syn::{Error, LitStr, Result};

use crate::arguments::Arguments;
use crate::json;
use crate::needs::CAPABILITIES;

/// The member `params`, with the comma before it; nothing if there is no rule.
pub(crate) fn member(given: &mut Arguments) -> Result<String> {
    let Some(mut rules) = given.group("params")? else {
        return Ok(String::new());
    };
    let mut members = Vec::new();
    for name in ["reserved", "unheeded"] {
        let names: Vec<LitStr> = rules.list(name)?;
        let names = names.iter().map(|name| json::text(&name.value()));
        let names = names.collect::<Vec<_>>().join(",");
        members.push(format!("\"{name}\":[{names}]"));
    }
    members.push(format!("\"needs\":{{{}}}", needs(&mut rules)?));
    let below: Vec<LitStr> = rules.list("below")?;
    let below = below.iter().map(pair).collect::<Result<Vec<_>>>()?;
    members.push(format!("\"below\":[{}]", below.join(",")));
    rules.finish()?;
    Ok(format!(",\n\"params\":{{{}}}", members.join(",")))
}

/// `needs(reasoning("effort", "thinking"))` as members.
fn needs(rules: &mut Arguments) -> Result<String> {
    let Some(mut needs) = rules.group("needs")? else {
        return Ok(String::new());
    };
    let mut members = Vec::new();
    for (argument, capability) in CAPABILITIES {
        for param in needs.list::<LitStr>(argument)? {
            members.push(format!("{}:\"{capability}\"", json::text(&param.value())));
        }
    }
    needs.finish()?;
    Ok(members.join(","))
}

/// `"thinking.budgetTokens < maxOutputTokens"` as a pair of paths.
fn pair(rule: &LitStr) -> Result<String> {
    let text = rule.value();
    let Some((one, other)) = text.split_once('<') else {
        return Err(Error::new_spanned(
            rule,
            "write it as `\"one.path < another\"`",
        ));
    };
    let path = |path: &str| json::text(path.trim());
    Ok(format!("[{},{}]", path(one), path(other)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use quote::quote;

    #[test]
    fn rules_become_one_member() {
        let mut given = Arguments::parse(quote! { params(
            reserved("cacheControl"), unheeded("seed"), needs(reasoning("effort")), below("a.b < c")
        ) })
        .unwrap();
        assert_eq!(
            member(&mut given).unwrap(),
            ",\n\"params\":{\"reserved\":[\"cacheControl\"],\"unheeded\":[\"seed\"],\
             \"needs\":{\"effort\":\"reasoning\"},\"below\":[[\"a.b\",\"c\"]]}"
        );
        given.finish().unwrap();
    }

    #[test]
    fn a_rule_that_is_none_does_not_compile() {
        let read = |tokens| member(&mut Arguments::parse(tokens).unwrap());
        assert!(read(quote! { params(below("a, b")) }).is_err());
        assert!(read(quote! { params(needs(vision("a"))) }).is_err());
        assert_eq!(read(quote! {}).unwrap(), "");
    }
}

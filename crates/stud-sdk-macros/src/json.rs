//! JSON text known while the plugin compiles.

use serde_json::Value;
use syn::{Error, Expr, ExprLit, ExprUnary, Lit, Result, UnOp};

/// A JSON string.
pub(crate) fn text(text: &str) -> String {
    Value::from(text).to_string()
}

/// A JSON list of strings.
pub(crate) fn texts(texts: impl IntoIterator<Item = String>) -> String {
    Value::from_iter(texts).to_string()
}

/// A literal as JSON; nothing for any other expression.
pub(crate) fn literal(value: &Expr) -> Option<String> {
    match value {
        Expr::Lit(ExprLit { lit, .. }) => match lit {
            Lit::Str(string) => Some(text(&string.value())),
            Lit::Int(number) => Some(number.base10_digits().to_owned()),
            // `1.` is a number in Rust and none in JSON.
            Lit::Float(number) => {
                serde_json::from_str::<Value>(number.base10_digits().trim_end_matches('.'))
                    .ok()
                    .map(|number| number.to_string())
            }
            Lit::Bool(flag) => Some(flag.value.to_string()),
            _ => None,
        },
        Expr::Unary(ExprUnary {
            op: UnOp::Neg(_),
            expr,
            ..
        }) => number(expr).ok().map(|number| format!("-{number}")),
        _ => None,
    }
}

/// A literal number as JSON.
pub(crate) fn number(value: &Expr) -> Result<String> {
    literal(value)
        .filter(|text| text.starts_with(|c: char| c.is_ascii_digit() || c == '-'))
        .ok_or_else(|| Error::new_spanned(value, "expected a number"))
}

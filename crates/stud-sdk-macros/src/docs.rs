//! Doc comments, read as descriptions.

use syn::{Attribute, Expr, ExprLit, Lit, Meta};

/// The text of an item's doc comments; empty when there are none.
///
/// Lines of a paragraph are joined, so that a description does not break where the source happened to.
pub(crate) fn text(attributes: &[Attribute]) -> String {
    let mut text = String::new();
    let mut fenced = false;
    let mut joins = false;
    for line in attributes.iter().filter_map(doc_line).flat_map(lines) {
        let trimmed = line.trim();
        let fence = trimmed.starts_with("```");
        let apart = fenced || fence || trimmed.is_empty() || starts_block(trimmed);
        if !text.is_empty() {
            text.push(if joins && !apart { ' ' } else { '\n' });
        }
        text.push_str(if fenced { line.trim_end() } else { trimmed });
        fenced ^= fence;
        joins = !fenced && !fence && !trimmed.is_empty();
    }
    text.trim().to_owned()
}

fn lines(text: String) -> Vec<String> {
    text.split('\n')
        .map(|line| line.strip_prefix(' ').unwrap_or(line).to_owned())
        .collect()
}

fn doc_line(attribute: &Attribute) -> Option<String> {
    let Meta::NameValue(meta) = &attribute.meta else {
        return None;
    };
    let Expr::Lit(ExprLit {
        lit: Lit::Str(text),
        ..
    }) = &meta.value
    else {
        return None;
    };
    meta.path.is_ident("doc").then(|| text.value())
}

/// List items, tables and headings keep their own line.
fn starts_block(line: &str) -> bool {
    let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
    line.starts_with(['-', '*', '|', '#', '>'])
        || (digits.len() < line.len() && digits.starts_with(". "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use syn::parse_quote;

    fn of(item: &syn::ItemStruct) -> String {
        text(&item.attrs)
    }

    #[test]
    fn a_paragraph_is_one_line_and_a_list_is_not() {
        let item = parse_quote! {
            /// Counts the lines
            /// of a file.
            ///
            /// - one
            /// - two,
            ///   with more
            #[derive(Debug)]
            struct X;
        };
        assert_eq!(
            of(&item),
            "Counts the lines of a file.\n\n- one\n- two, with more"
        );
    }

    #[test]
    fn code_keeps_its_lines() {
        let item = parse_quote! {
            /// ```
            /// a
            ///   b
            /// ```
            struct X;
        };
        assert_eq!(of(&item), "```\na\n  b\n```");
    }

    #[test]
    fn no_comment_is_no_text() {
        assert_eq!(
            of(&parse_quote!(
                struct X;
            )),
            ""
        );
    }
}

//! Are two sides talking about the same table? Compared type by type, never assumed.

#[cfg(test)]
use std::collections::BTreeSet;
#[cfg(test)]
use std::fmt::Write as _;

use abi_stable::abi_stability::abi_checking::check_layout_compatibility;
use abi_stable::type_layout::TypeLayout;

/// Compares a plugin's table with ours, the older side as the interface.
///
/// A plugin is never newer than the host here: `validate` has refused it by its contract version.
/// A check the other way round would refuse every plugin older than the host.
pub(crate) fn check(plugin: &'static TypeLayout, host: &'static TypeLayout) -> Result<(), String> {
    if std::ptr::eq(plugin, host) {
        return Ok(());
    }
    check_layout_compatibility(plugin, host).map_err(|errors| {
        // The full text of a mismatch runs to tens of kilobytes; the first difference is what helps.
        // Types on the way to a difference are listed too, with nothing to say of their own.
        let Some(first) = errors.errors.iter().find(|error| !error.errs.is_empty()) else {
            return "layouts differ".to_owned();
        };
        let place = first
            .stack_trace
            .iter()
            .map(|step| step.expected.to_string().trim().replace('\n', ", "))
            .collect::<Vec<_>>()
            .join(" in ");
        // What differs is named by the variant; the layouts inside it are pages long.
        let what = first.errs.first().map_or_else(String::new, |error| {
            let debug = format!("{error:?}");
            debug
                .split(['(', ' '])
                .next()
                .unwrap_or_default()
                .to_owned()
        });
        let mut text = if place.is_empty() {
            what
        } else {
            format!("{place}: {what}")
        };
        if text.len() > 400 {
            let cut = (0..=400).rev().find(|at| text.is_char_boundary(*at));
            text.truncate(cut.unwrap_or(0));
            text.push('…');
        }
        text
    })
}

/// The layout as text: every type reached from it with its size, alignment and fields.
///
/// This is what the golden files under `layouts/` hold, and what a fingerprint is taken of.
#[cfg(test)]
pub(crate) fn dump(layout: &'static TypeLayout) -> String {
    let mut seen = BTreeSet::new();
    let mut text = String::new();
    walk(layout, &mut seen, &mut text);
    text
}

#[cfg(test)]
fn walk(layout: &'static TypeLayout, seen: &mut BTreeSet<String>, text: &mut String) {
    let name = layout.full_type().to_string();
    if !seen.insert(name.clone()) {
        return;
    }
    let _ = writeln!(
        text,
        "{name} size={} align={}",
        layout.size(),
        layout.alignment()
    );
    let Some(fields) = layout.get_fields() else {
        return;
    };
    for field in fields.iter() {
        let _ = writeln!(text, "  {}: {}", field.name(), field.full_type());
        for function in field.function_range() {
            let _ = writeln!(text, "    {function}");
        }
    }
    for field in fields.iter() {
        walk(field.layout(), seen, text);
        for function in field.function_range() {
            for parameter in function.param_type_layouts.iter() {
                walk(parameter(), seen, text);
            }
            if let Some(returned) = function.return_type_layout() {
                walk(returned(), seen, text);
            }
        }
    }
}

/// A short name for a layout dump, to be compared before a library is opened.
///
/// It guards against accidents, not against malice; FNV-1a is enough and works at compile time.
pub(crate) const fn fingerprint(dump: &[u8]) -> [u8; 16] {
    const HEX: [u8; 16] = *b"0123456789abcdef";
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let mut index = 0;
    while index < dump.len() {
        hash ^= dump[index] as u64;
        hash = hash.wrapping_mul(0x0100_0000_01b3);
        index += 1;
    }
    let mut text = [0; 16];
    let mut digit = 0;
    while digit < 16 {
        text[digit] = HEX[((hash >> (60 - 4 * digit)) & 15) as usize];
        digit += 1;
    }
    text
}

#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "a golden is rewritten when the person says so"
)]
pub(crate) fn assert_golden(name: &str, layout: &'static TypeLayout) {
    let path = format!("{}/layouts/{name}.txt", env!("CARGO_MANIFEST_DIR"));
    let found = dump(layout);
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, &found).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == expected,
        "the table `{name}` changed: a moved or removed line is a major bump of its contract, an added one a minor; \
         UPDATE=1 records it\n--- found\n{found}"
    );
}

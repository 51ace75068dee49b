//! The manifest, put together while the plugin compiles.

use stud_abi::section::{Json, Piece};
use stud_contract_interaction::{InteractionKind, PROTOCOL_VERSION};
use stud_contract_meta::{ActiveCardinality, Kind, LoadedCardinality};
use stud_host_api::CORE_EVENTS;

use super::category::{BaseMember, Category};
use super::plugin::Plugin;
use super::schema::select;

/// The manifest of a plugin, one member per line.
pub trait Manifest: Plugin {
    #[doc(hidden)]
    const LIFECYCLE: [Piece; 4] = lifecycle(Self::ABOUT.phases);
    #[doc(hidden)]
    const BASE_PROPERTIES: [Piece; BASE_CAP] = base(Self::BASE, Self::CONFIG.names);
    #[doc(hidden)]
    const HANDLER_NAMES: [Piece; TEXTS_CAP] = texts(Self::HANDLERS);

    /// The JSON in its section.
    const MANIFEST: Json = &[
        Piece::Raw("{\n\"extId\":"),
        Piece::Text(Self::ABOUT.ext_id),
        Piece::Raw(",\n\"name\":"),
        Piece::Text(Self::ABOUT.title),
        Piece::Raw(",\n\"version\":"),
        Piece::Text(Self::ABOUT.version),
        Piece::Raw(",\n\"description\":"),
        Piece::Text(Self::ABOUT.description),
        Piece::Raw(",\n\"kind\":"),
        Piece::Text(kind::<Self>().as_str()),
        Piece::Raw(",\n\"contractVersion\":"),
        Piece::Text(<Self::Category as Category>::CONTRACT_VERSION),
        Piece::Raw(",\n\"requiredCoreVersion\":"),
        Piece::Text(Self::ABOUT.required_core),
        Piece::Raw(",\n\"lifecycle\":{"),
        Piece::Nested(&Self::LIFECYCLE),
        Piece::Raw("},\n\"configSchema\":{\"type\":\"object\",\"properties\":{"),
        Piece::Nested(&Self::BASE_PROPERTIES),
        between(Self::BASE, Self::CONFIG.names),
        Piece::Nested(Self::CONFIG.properties),
        Piece::Raw("},\"required\":["),
        Piece::Nested(Self::CONFIG.required),
        Piece::Raw("],\"additionalProperties\":false},\n\"loadedCardinality\":"),
        Piece::Text(loaded(kind::<Self>())),
        Piece::Raw(",\n\"activeCardinality\":"),
        Piece::Text(active(kind::<Self>())),
        Piece::Raw(",\n\"stateSlot\":"),
        Piece::Nested(Self::ABOUT.state_slot),
        Piece::Raw(",\n\"discoveryRules\":{\"folder\":"),
        Piece::Text(kind::<Self>().folder()),
        Piece::Raw(",\"manifestKey\":"),
        Piece::Text(Self::ABOUT.ext_id),
        Piece::Raw(ordering(kind::<Self>())),
        Piece::Raw("},\n\"reloadBehavior\":"),
        Piece::Text(match Self::ABOUT.reload {
            Some(chosen) => chosen,
            None => <Self::Category as Category>::RELOAD,
        }),
        Piece::Raw(",\n\"handlers\":["),
        Piece::Nested(&Self::HANDLER_NAMES),
        Piece::Raw("]"),
        Piece::Nested(Self::MEMBERS),
        Piece::Raw(",\n\"interactionKinds\":"),
        Piece::Raw(Self::ABOUT.interaction_kinds),
        Piece::Nested(
            if takes_part_in_prompts(kind::<Self>(), Self::ABOUT.interaction_kinds) {
                PROTOCOL
            } else {
                &[]
            },
        ),
        Piece::Raw(",\n\"events\":["),
        Piece::Nested(Self::ABOUT.events),
        Piece::Raw("],\n\"provides\":"),
        Piece::Raw(Self::ABOUT.provides),
        Piece::Raw(",\n\"dependsOn\":"),
        Piece::Raw(Self::ABOUT.depends_on),
        Piece::Raw(",\n\"conflictsWith\":"),
        Piece::Raw(Self::ABOUT.conflicts_with),
        Piece::Raw(",\n\"optionalCapabilities\":[],\n\"entry\":"),
        Piece::Text(Self::ABOUT.entry),
        Piece::Nested(TOOLCHAIN),
        Piece::Text(Self::ABOUT.panic_strategy),
        Piece::Raw(",\n\"abi\":{\"version\":\"1.0\",\"fingerprint\":"),
        Piece::Text(<Self::Category as Category>::FINGERPRINT),
        Piece::Raw("}\n}\n"),
    ];
}

impl<P: Plugin> Manifest for P {}

const PROTOCOL: Json = &[
    Piece::Raw(",\n\"interactionProtocol\":"),
    Piece::Text(PROTOCOL_VERSION),
];

const TOOLCHAIN: Json = &[
    Piece::Raw(",\n\"sdkVersion\":"),
    Piece::Text(env!("CARGO_PKG_VERSION")),
    Piece::Raw(",\n\"rustcVersion\":"),
    Piece::Text(stud_abi::entry::RUSTC),
    Piece::Raw(",\n\"target\":"),
    Piece::Text(stud_abi::entry::TARGET),
    Piece::Raw(",\n\"panicStrategy\":"),
];

const _: () = assert!(
    stud_abi::entry::ABI_MAJOR == 1 && stud_abi::entry::ABI_MINOR == 0,
    "the manifest says ABI 1.0"
);

const _: () = {
    let mut index = 0;
    while index < Kind::ALL.len() {
        let loaded = Kind::ALL[index].cardinality().0;
        assert!(
            !matches!(loaded, LoadedCardinality::N(_)),
            "a fixed number is not a word"
        );
        index += 1;
    }
};

const fn kind<P: Plugin>() -> Kind {
    <P::Category as Category>::KIND
}

/// `init` is always there: the SDK makes the instance in it.
const fn lifecycle([activate, deactivate, dispose]: [bool; 3]) -> [Piece; 4] {
    select([
        ("\"init\":true", "", true),
        ("", ",\"activate\":true", activate),
        ("", ",\"deactivate\":true", deactivate),
        ("", ",\"dispose\":true", dispose),
    ])
}

/// More base members than any category has.
const BASE_CAP: usize = 8;

/// The base members, without those the author describes better.
const fn base(base: &[BaseMember], own: &[&str]) -> [Piece; BASE_CAP] {
    assert!(base.len() <= BASE_CAP);
    let mut items = [("", "", false); BASE_CAP];
    let mut index = 0;
    while index < base.len() {
        let member = base[index];
        items[index] = (member.first, member.later, !contains(own, member.name));
        index += 1;
    }
    select(items)
}

/// The comma between base members and the author's own, if both are there.
const fn between(base: &[BaseMember], own: &[&str]) -> Piece {
    let mut index = 0;
    while index < base.len() && contains(own, base[index].name) {
        index += 1;
    }
    let both = index < base.len() && !own.is_empty();
    Piece::Raw(if both { "," } else { "" })
}

const fn loaded(kind: Kind) -> &'static str {
    match kind.cardinality().0 {
        LoadedCardinality::Unlimited => "unlimited",
        LoadedCardinality::One | LoadedCardinality::N(_) => "one",
    }
}

const fn active(kind: Kind) -> &'static str {
    match kind.cardinality().1 {
        ActiveCardinality::Unlimited => "unlimited",
        ActiveCardinality::One => "one",
        ActiveCardinality::OneAttached => "one-attached",
    }
}

const fn ordering(kind: Kind) -> &'static str {
    match kind {
        Kind::Hook => ",\"orderingSubsystem\":\"hooks\"",
        _ => "",
    }
}

const fn takes_part_in_prompts(kind: Kind, kinds: &str) -> bool {
    matches!(kind, Kind::Ui) || kinds.len() > "[]".len()
}

/// More handlers than any table has.
const TEXTS_CAP: usize = 16;

const fn texts(texts: &'static [&'static str]) -> [Piece; TEXTS_CAP] {
    let mut pieces = [Piece::Raw(""); TEXTS_CAP];
    let mut index = 0;
    while index < texts.len() {
        if index > 0 {
            pieces[2 * index - 1] = Piece::Raw(",");
        }
        pieces[2 * index] = Piece::Text(texts[index]);
        index += 1;
    }
    pieces
}

/// The chosen names of a list, first ones first; the number says how many.
pub const fn chosen<const N: usize>(
    items: [(&'static str, bool); N],
) -> ([&'static str; N], usize) {
    let mut names = [""; N];
    let mut count = 0;
    let mut index = 0;
    while index < N {
        let (name, wanted) = items[index];
        if wanted {
            names[count] = name;
            count += 1;
        }
        index += 1;
    }
    (names, count)
}

/// Whether this is the word of an interaction kind.
pub const fn is_interaction_kind(word: &str) -> bool {
    let mut index = 0;
    while index < InteractionKind::ALL.len() {
        if same(InteractionKind::ALL[index].as_str(), word) {
            return true;
        }
        index += 1;
    }
    false
}

/// Whether plugins of this category may raise the kind: `InteractionKind::may_be_raised_by`, while compiling.
pub const fn may_raise(kind: Kind, word: &str) -> bool {
    let owned: &[&str] = match kind {
        Kind::Tool => &["Ask", "ToolInput", "ToolApproval"],
        Kind::Provider => &["Auth.DeviceCode", "Auth.Password"],
        Kind::Command => &["Confirm", "Select"],
        Kind::StateMachine => &["Ask", "Confirm", "Select"],
        Kind::Hook | Kind::Ui | Kind::Logger | Kind::SessionStore | Kind::ContextProvider => &[],
    };
    contains(owned, word)
}

/// Whether only core may emit this event.
pub const fn is_core_event(name: &str) -> bool {
    contains(&CORE_EVENTS, name)
}

/// Whether no two of these names are the same.
pub const fn all_differ(names: &[&str]) -> bool {
    let mut index = 0;
    while index < names.len() {
        let (before, _) = names.split_at(index);
        if contains(before, names[index]) {
            return false;
        }
        index += 1;
    }
    true
}

const fn contains(list: &[&str], text: &str) -> bool {
    let mut index = 0;
    while index < list.len() {
        if same(list[index], text) {
            return true;
        }
        index += 1;
    }
    false
}

/// `a == b`, while compiling.
pub const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() != b.len() {
        return false;
    }
    let mut index = 0;
    while index < a.len() {
        if a[index] != b[index] {
            return false;
        }
        index += 1;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rights_are_those_of_the_protocol() {
        for category in Kind::ALL {
            for kind in InteractionKind::ALL {
                let word = kind.as_str();
                assert!(is_interaction_kind(word));
                assert_eq!(
                    may_raise(category, word),
                    kind.may_be_raised_by(category.as_str()),
                    "{category} {word}"
                );
            }
        }
        assert!(!is_interaction_kind("ask"));
    }

    #[test]
    fn names_that_differ_are_told_from_names_that_do_not() {
        assert!(all_differ(&[]) && all_differ(&["a", "b", "ab"]));
        assert!(!all_differ(&["a", "b", "a"]));
        assert!(is_core_event("SessionTurnStart") && !is_core_event("sessionTurnStart"));
    }
}

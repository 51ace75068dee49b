use super::ApprovalCoverage::{Exact, Path, PathSet};
use super::*;

const ALL: [ApprovalCoverage; 3] = [Exact, Path, PathSet];

#[test]
fn a_key_covers_itself_whatever_it_looks_like() {
    for key in [".", "a", "a/b", "a|b", "..", "../a", "/etc", "", "a b", "é"] {
        for coverage in ALL {
            assert!(covers(coverage, key, key), "{coverage:?} {key:?}");
        }
    }
}

#[test]
fn an_exact_key_covers_no_other() {
    for (approved, asked) in [
        ("a", "a/b"),
        (".", "a"),
        ("a|b", "a"),
        ("a", "a|b"),
        ("a", "A"),
    ] {
        assert!(!covers(Exact, approved, asked), "{approved} {asked}");
    }
}

#[test]
fn a_directory_covers_what_is_below_it() {
    for coverage in [Path, PathSet] {
        for (approved, asked) in [
            ("a", "a/b"),
            ("a", "a/b/c"),
            ("a/b", "a/b/c"),
            (".", "a"),
            (".", "a/b/c"),
            ("a/", "a/b"),
            ("a", "a/"),
            ("./a", "a/b"),
            ("a", "a//b"),
            ("a", "a/..b"),
            ("a", "a/b.."),
            ("/srv", "/srv/www"),
            ("/", "/srv"),
            ("é", "é/ü"),
        ] {
            assert!(
                covers(coverage, approved, asked),
                "{coverage:?} {approved} {asked}"
            );
        }
    }
}

#[test]
fn a_directory_covers_nothing_beside_or_above_it() {
    for coverage in [Path, PathSet] {
        for (approved, asked) in [
            ("a", "b"),
            ("a", "ab"),
            ("ab", "a"),
            ("a", "a.b"),
            ("a", "ab/c"),
            ("a/b", "a"),
            ("a/b", "a/c"),
            ("a/b", "a/bc"),
            ("a/b", "b"),
            ("a", "."),
            ("a", "A/b"),
            ("b", "a/b"),
        ] {
            assert!(
                !covers(coverage, approved, asked),
                "{coverage:?} {approved} {asked}"
            );
        }
    }
}

#[test]
fn what_its_text_does_not_place_is_covered_by_nothing_else() {
    for coverage in [Path, PathSet] {
        for (approved, asked) in [
            ("a", "a/../b"),
            ("a", "a/.."),
            (".", ".."),
            (".", "../a"),
            (".", "a/../../b"),
            ("..", "../a"),
            ("..", "a"),
            ("a/..", "b"),
            ("", "a"),
            ("", "."),
            (".", ""),
            (".", "/etc"),
            ("/", "a"),
            ("a", "/a"),
            ("/a", "a/b"),
        ] {
            assert!(
                !covers(coverage, approved, asked),
                "{coverage:?} {approved:?} {asked:?}"
            );
        }
    }
}

#[test]
fn only_a_set_is_taken_apart() {
    let of = |coverage, key| keys(coverage, key).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(of(PathSet, "a|b/c|."), ["a", "b/c", "."]);
    assert_eq!(of(PathSet, "a"), ["a"]);
    assert_eq!(of(PathSet, "content"), ["content"]);
    for coverage in [Exact, Path] {
        assert_eq!(of(coverage, "a|b"), ["a|b"]);
    }
    // The gate refuses a key that is empty; a part that is empty is kept, so that it can.
    assert_eq!(of(PathSet, "a||b"), ["a", "", "b"]);
    assert_eq!(of(Path, ""), [""]);
}

#[test]
fn every_directory_of_a_set_must_be_covered() {
    for (approved, asked, expected) in [
        ("a", "a/x|a/y", true),
        ("a|b", "a/x|b/y", true),
        ("a|b", "b", true),
        (".", "a|b|c/d", true),
        ("a", "a|b", false),
        ("a/x", "a/x|a", false),
        ("a|b", "a|b|c", false),
        ("a|b", "ab", false),
        ("a", "a|", false),
    ] {
        assert_eq!(
            covers(PathSet, approved, asked),
            expected,
            "{approved} {asked}"
        );
    }
}

#[test]
fn a_path_with_a_bar_in_it_is_one_directory() {
    assert!(covers(Path, "a|b", "a|b/c"));
    assert!(!covers(Path, "a", "a|b"));
    assert!(!covers(Path, "a|b", "b"));
}

#[test]
fn words_are_those_of_the_manifest() {
    for (coverage, word) in [(Exact, "exact"), (Path, "path"), (PathSet, "pathSet")] {
        assert_eq!(serde_json::to_value(coverage).unwrap(), word);
        assert_eq!(
            serde_json::from_value::<ApprovalCoverage>(word.into()).unwrap(),
            coverage
        );
    }
    for wrong in ["Path", "path-set", "", "paths"] {
        assert!(
            serde_json::from_value::<ApprovalCoverage>(wrong.into()).is_err(),
            "{wrong}"
        );
    }
}

//! One stray `unsafe` of each kind, and the comments that excuse it at home.

use super::check;
use crate::check::Repository;
use crate::tree::Tree;
use crate::workspace::{Package, Target, Workspace};

const GOOD_ROOT: &str = "//! A crate.\n#![forbid(unsafe_code)]\n";

fn found(files: &[(&str, &str)]) -> Vec<String> {
    let repository = Repository {
        tree: Tree::of(files),
        ..Repository::default()
    };
    check(&repository).iter().map(ToString::to_string).collect()
}

fn found_at_home(text: &str) -> Vec<String> {
    found(&[("crates/stud-abi/src/open.rs", text)])
}

#[test]
fn safe_code_that_only_talks_about_it_passes() {
    let text = format!("{GOOD_ROOT}// unsafe {{}}\nconst A: &str = \"unsafe fn\";\n");
    assert_eq!(
        found(&[("a/Cargo.toml", ""), ("a/src/lib.rs", &text)]),
        Vec::<String>::new()
    );
}

#[test]
fn a_root_without_forbid_is_a_problem_even_outside_the_workspace() {
    let problems = found(&[
        ("tests/fixtures/old/Cargo.toml", ""),
        (
            "tests/fixtures/old/src/lib.rs",
            "// #![forbid(unsafe_code)]\n",
        ),
    ]);
    assert_eq!(problems.len(), 1, "{problems:#?}");
    assert!(problems[0].contains("does not forbid"), "{problems:#?}");
}

#[test]
fn a_target_with_a_path_of_its_own_is_a_root() {
    let repository = Repository {
        tree: Tree::of(&[("tests/errors/main.rs", "fn main() {}\n")]),
        workspace: Workspace {
            packages: vec![Package {
                targets: vec![Target {
                    path: "tests/errors/main.rs".to_owned(),
                    ..Target::default()
                }],
                ..Package::default()
            }],
            ..Workspace::default()
        },
    };
    assert_eq!(check(&repository).len(), 1);
}

#[test]
fn every_kind_of_stray_unsafe_is_found() {
    for stray in [
        "fn a() { unsafe { b() } }",
        "unsafe fn a() {}",
        "unsafe impl Send for A {}",
        "unsafe extern \"C\" {}",
        "#[unsafe(no_mangle)]\nfn a() {}",
    ] {
        let problems = found(&[("crates/stud-core/src/load.rs", stray)]);
        assert_eq!(problems.len(), 1, "{stray}: {problems:#?}");
        assert!(problems[0].starts_with("crates/stud-core/src/load.rs:1: "));
    }
}

#[test]
fn only_the_exporting_macros_may_write_the_attribute() {
    let export = "quote! { #[unsafe(no_mangle)] static A: u8 = 0; }";
    let macros = "crates/stud-sdk-macros/src/export.rs";
    assert_eq!(found(&[(macros, export)]), Vec::<String>::new());
    assert_eq!(found(&[(macros, "quote! { unsafe { a() } }")]).len(), 1);
}

#[test]
fn at_home_a_block_needs_its_reason() {
    assert_eq!(found_at_home("fn a() {\n    unsafe { b() }\n}\n").len(), 1);
    assert_eq!(found_at_home("unsafe impl Send for A {}\n").len(), 1);
    let far = "// SAFETY: said too early.\n\nunsafe impl Send for A {}\n";
    assert_eq!(found_at_home(far).len(), 1);
}

#[test]
fn at_home_a_reason_directly_above_is_enough() {
    let text = "\
fn a() {
    // SAFETY: `b` checked it,
    // and nothing has changed it since.
    let c = d()
        .then(|| unsafe { e() });
}
// SAFETY: it is never shared.
#[cfg(feature = \"host\")]
unsafe impl Send for A {}
/// # Safety
/// The caller checks.
unsafe fn f() {}
type G = unsafe extern \"C\" fn();
";
    assert_eq!(found_at_home(text), Vec::<String>::new());
}

#[test]
fn home_must_still_need_its_exemption() {
    let problems = found(&[
        ("crates/stud-abi/Cargo.toml", ""),
        ("crates/stud-abi/src/lib.rs", GOOD_ROOT),
    ]);
    assert_eq!(problems.len(), 1, "{problems:#?}");
    assert!(problems[0].contains("no longer needed"), "{problems:#?}");
}

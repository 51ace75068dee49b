//! What the macros say when something is wrong.
//!
//! `TRYBUILD=overwrite cargo test -p stud-sdk --test ui` records new messages.
#![forbid(unsafe_code)]

#[test]
fn messages() {
    let cases = trybuild::TestCases::new();
    cases.pass("tests/ui/pass_*.rs");
    cases.compile_fail("tests/ui/fail_*.rs");
}

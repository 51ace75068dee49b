//! The test that an author gets for one line.

/// Makes a test that holds the plugin of this module against every conformance case.
///
/// It needs the feature `testing` among the dev-dependencies; outside of tests it is nothing. The config fixtures
/// `valid.json`, `invalid.json` and `worst-plausible.json` are read from the folder `conformance` of the crate, or from
/// the folder that is named. The name of the item with the attribute may be given, for readers.
///
/// ```
/// use stud_sdk::prelude::*;
///
/// /// Says hi.
/// #[tool]
/// fn greet() -> &'static str {
///     "hi"
/// }
///
/// stud_sdk::conformance!();
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! conformance {
    ($($item:ident)?) => {
        $crate::conformance!("conformance");
    };
    ($folder:literal) => {
        #[cfg(test)]
        mod conformance {
            #[test]
            fn conforms() {
                let folder = ::std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join($folder);
                $crate::testing::assert_conforms(super::stud_plugin(), folder);
            }
        }
    };
}

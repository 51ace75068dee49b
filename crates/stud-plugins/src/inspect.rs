//! inspect: [`Found`] → [`Inspected`]. The manifest is read from the file; no code of the plugin runs.

use serde_json::Value;
use stud_abi::entry::TARGET;
use stud_abi::library::{Image, ImageError};
use stud_abi::section::{self, SectionError};
use stud_contract_meta::{ExtId, Kind, SemVer, strict_json};
use stud_diagnostics::{Diagnostic, Stage, codes};

use crate::contracts;
use crate::discover::{Contents, Found, Placement};
use crate::provenance::{Provenance, Refused, show};

/// A plugin whose manifest has been read. Only [`inspect`] makes one.
#[derive(Debug)]
pub struct Inspected {
    provenance: Provenance,
    placement: Placement,
    manifest: ManifestSection,
}

/// The manifest as it stands in the library.
#[derive(Debug)]
pub(crate) struct ManifestSection {
    pub(crate) document: Value,
    /// The bytes of the section. They are looked for again in the file that is opened.
    pub(crate) bytes: Vec<u8>,
}

impl Inspected {
    /// What the next stage checks.
    pub(crate) fn into_parts(self) -> (Provenance, Placement, ManifestSection) {
        (self.provenance, self.placement, self.manifest)
    }
}

/// Reads a plugin's manifest and checks what the file alone can tell.
pub fn inspect(found: Found) -> Result<Inspected, Refused> {
    let (mut provenance, placement, contents) = found.read()?;
    let manifest = match contents {
        Contents::Library(bytes) => read_library(&mut provenance, &bytes),
        Contents::Section(section) => read_section(&mut provenance, section),
    };
    match manifest {
        Ok(manifest) => {
            provenance.pass(Stage::Inspect);
            Ok(Inspected {
                provenance,
                placement,
                manifest,
            })
        }
        Err(why) => Err(provenance.refuse(why)),
    }
}

fn read_library(provenance: &mut Provenance, bytes: &[u8]) -> Result<ManifestSection, Diagnostic> {
    let image = Image::parse(bytes).map_err(|error| explain_image(provenance, error))?;
    let manifest = read_section(provenance, image.section())?;
    check_entry(provenance, &image, &manifest.document)?;
    Ok(manifest)
}

fn read_section(
    provenance: &mut Provenance,
    section: &[u8],
) -> Result<ManifestSection, Diagnostic> {
    Ok(ManifestSection {
        document: read_document(provenance, section)?,
        bytes: section.to_vec(),
    })
}

/// Reads the section, and from it the id, category and versions as far as they are readable.
fn read_document(provenance: &mut Provenance, section: &[u8]) -> Result<Value, Diagnostic> {
    let text =
        section::manifest_text(section).map_err(|error| explain_section(provenance, error))?;
    let document = strict_json::parse(text).map_err(|error| {
        provenance
            .error(
                Stage::Inspect,
                &codes::MANIFEST_MALFORMED,
                format!("the manifest is malformed: {}", error.problem),
            )
            .with("line", error.line)
            .with("column", error.column)
            .note(format!(
                "at line {}, column {} of the manifest",
                error.line, error.column
            ))
            .help("rebuild the plugin; `stud-sdk` writes a correct manifest")
    })?;
    identify(provenance, &document);
    check_build(provenance, &document)?;
    Ok(document)
}

fn identify(provenance: &mut Provenance, document: &Value) {
    let text = |member: &str| document.get(member).and_then(Value::as_str);
    provenance.identify(
        text("extId").and_then(|id| ExtId::parse(id).ok()),
        text("kind").and_then(Kind::parse),
        text("version").and_then(SemVer::parse),
        text("contractVersion").map(str::to_owned),
    );
}

/// What the build says about itself, where it says anything; `shape` will ask for what is missing.
fn check_build(provenance: &Provenance, document: &Value) -> Result<(), Diagnostic> {
    let text = |pointer: &str| document.pointer(pointer).and_then(Value::as_str);
    let at = |code, message: String, pointer: &str| {
        show(
            provenance
                .error(Stage::Inspect, code, message)
                .field(pointer),
            provenance,
            document,
        )
    };
    if let Some(strategy) = text("/panicStrategy").filter(|strategy| *strategy != "unwind") {
        return Err(at(
            &codes::PANIC_STRATEGY_UNSUPPORTED,
            format!("the plugin was built with `panic = \"{strategy}\"`"),
            "/panicStrategy",
        )
        .with("panicStrategy", strategy)
        .note("a panic in such a plugin would end stud itself")
        .help("author: remove `panic = \"abort\"` from the build profile and rebuild"));
    }
    if let Some(target) = text("/target").filter(|target| *target != TARGET) {
        return Err(at(
            &codes::TARGET_MISMATCH,
            format!("the plugin was built for `{target}`"),
            "/target",
        )
        .with("target", target)
        .with("expected", TARGET)
        .help(format!(
            "build it for `{TARGET}`, or ask its author for such a build"
        )));
    }
    // A plugin of a contract this core does not serve has another table for that very reason; `contractVersion` says so better.
    let served = provenance
        .kind()
        .zip(text("/contractVersion").and_then(SemVer::parse));
    // A plugin of an earlier minor version has a shorter table. Binding it compares the two tables function by function.
    if let Some((kind, version)) = served
        && version.is_served_by(contracts::version_of(kind))
        && version.minor == contracts::version_of(kind).minor
        && let Some(found) = text("/abi/fingerprint")
    {
        let expected = contracts::fingerprint_of(kind);
        if found != expected {
            return Err(at(
                &codes::ABI_FINGERPRINT_MISMATCH,
                format!("the plugin's {kind} table is laid out in another way"),
                "/abi/fingerprint",
            )
            .with("found", found)
            .with("expected", expected)
            .help("author: rebuild against a released `stud-sdk`"));
        }
    }
    Ok(())
}

fn check_entry(
    provenance: &Provenance,
    image: &Image<'_>,
    document: &Value,
) -> Result<(), Diagnostic> {
    let Some(symbol) = document.get("entry").and_then(Value::as_str) else {
        // `shape` reports the missing member with its place.
        return Ok(());
    };
    if image.exports(symbol) {
        return Ok(());
    }
    let missing = provenance
        .error(
            Stage::Inspect,
            &codes::ENTRY_SYMBOL_MISSING,
            format!("the library does not export its entry `{symbol}`"),
        )
        .field("/entry")
        .with("symbol", symbol)
        .help("author: build with `crate-type = [\"cdylib\"]` and do not strip exported symbols");
    Err(show(missing, provenance, document))
}

fn explain_image(provenance: &Provenance, error: ImageError) -> Diagnostic {
    let at = |code, message: String| provenance.error(Stage::Inspect, code, message);
    match error {
        ImageError::Format => at(
            &codes::LIBRARY_FORMAT_UNKNOWN,
            "the file is not an ELF library".to_owned(),
        )
        .help(
            "author: copy the built library itself, from the `target` folder of a `cdylib` crate",
        ),
        ImageError::Truncated { missing } => at(
            &codes::LIBRARY_TRUNCATED,
            format!("the library ends too soon: {missing} is missing"),
        )
        .with("missing", missing)
        .help("copy it again; the last copy was cut short"),
        ImageError::Architecture { found, expected } => at(
            &codes::LIBRARY_ARCHITECTURE_MISMATCH,
            format!("the library is for {found}, this machine is {expected}"),
        )
        .with("found", found)
        .with("expected", expected)
        .help("build it for this machine, or ask its author for such a build"),
        ImageError::NotDynamic { found } => at(
            &codes::LIBRARY_NOT_DYNAMIC,
            format!("the file is {found}, not a dynamic library"),
        )
        .with("found", found)
        .help("author: set `crate-type = [\"cdylib\"]` in the plugin's Cargo.toml"),
        ImageError::SectionMissing => at(
            &codes::MANIFEST_MISSING,
            "the library has no `.stud` section".to_owned(),
        )
        .help("author: export the plugin with an attribute of `stud-sdk`, such as `#[tool]`")
        .note("any other library looks like this too: is it a stud plugin?"),
        ImageError::SectionDuplicate { count } => at(
            &codes::MANIFEST_DUPLICATE,
            format!("the library has {count} `.stud` sections"),
        )
        .with("count", count)
        .help("author: one library is one plugin; put each into a crate of its own"),
    }
}

fn explain_section(provenance: &Provenance, error: SectionError) -> Diagnostic {
    let at = |code, message: String| {
        provenance
            .error(Stage::Inspect, code, message)
            .help("author: rebuild the plugin with a released `stud-sdk`")
    };
    match error {
        SectionError::Header { len } => at(
            &codes::MANIFEST_HEADER_INVALID,
            "the `.stud` section does not start with the header `STUD`".to_owned(),
        )
        .with("length", len),
        SectionError::Format { found } => at(
            &codes::MANIFEST_FORMAT_UNKNOWN,
            format!(
                "the manifest is in format {found}, this stud reads {}",
                section::FORMAT
            ),
        )
        .with("found", found)
        .with("expected", section::FORMAT)
        .help("operator: update stud"),
        SectionError::Empty => at(&codes::MANIFEST_EMPTY, "the manifest is empty".to_owned()),
        SectionError::Length { stated, available } => at(
            &codes::MANIFEST_LENGTH_INVALID,
            format!("the manifest is said to be {stated} bytes long, and {available} are there"),
        )
        .with("stated", stated)
        .with("available", available),
        SectionError::Duplicate => at(
            &codes::MANIFEST_DUPLICATE,
            "the `.stud` section holds more than one manifest".to_owned(),
        )
        .help("author: one library is one plugin; put each into a crate of its own"),
        SectionError::NotUtf8 { offset } => at(
            &codes::MANIFEST_NOT_UTF8,
            format!("the manifest is not UTF-8 from byte {offset} on"),
        )
        .with("offset", offset),
    }
}

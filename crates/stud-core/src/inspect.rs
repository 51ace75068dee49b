//! inspect: [`Found`] → [`Inspected`]. The manifest is read from the file; no code of the plugin runs.

use std::path::{Path, PathBuf};

use serde_json::Value;
use stud_abi::entry::TARGET;
use stud_abi::library::{Image, ImageError};
use stud_abi::section::{self, SectionError};
use stud_contract_meta::{ExtId, Kind, SemVer, strict_json};
use stud_diagnostics::{Diagnostic, Stage, codes};

use crate::contracts;
use crate::discover::Found;
use crate::platform;
use crate::provenance::{Origin, Provenance, Refused, show};

/// No library is larger; what is must be something else.
pub(crate) const LARGEST_LIBRARY: u64 = 1024 * 1024 * 1024;

/// A plugin whose manifest has been read, and nothing more.
#[derive(Debug)]
pub struct Inspected {
    pub(crate) track: Provenance,
    pub(crate) folder: Option<Kind>,
    pub(crate) config_file: Option<PathBuf>,
    pub(crate) document: Value,
    /// The section's bytes, to be found again in the bytes that are opened.
    pub(crate) section: Vec<u8>,
}

/// Reads a plugin's manifest and checks what can be told from the file.
pub fn inspect(found: Found) -> Result<Inspected, Refused> {
    let Found {
        mut track,
        folder,
        config_file,
    } = found;
    let read = match track.origin.clone() {
        Origin::Library(path) => read_library(&mut track, &path),
        Origin::Embedded(plugin) => {
            track.pass(Stage::Discover);
            read_document(&mut track, plugin.section)
                .map(|document| (document, plugin.section.to_vec()))
        }
    };
    match read {
        Ok((document, section)) => {
            track.pass(Stage::Inspect);
            Ok(Inspected {
                track,
                folder,
                config_file,
                document,
                section,
            })
        }
        Err(why) => Err(track.refuse(why)),
    }
}

fn read_library(track: &mut Provenance, path: &Path) -> Result<(Value, Vec<u8>), Diagnostic> {
    let bytes = platform::read_file(path, LARGEST_LIBRARY).map_err(|error| {
        track
            .error(
                Stage::Discover,
                &codes::LIBRARY_UNREADABLE,
                format!("the library cannot be read: {error}"),
            )
            .help("replace it with a library file this user may read, or remove it")
    })?;
    track.pass(Stage::Discover);
    let image = Image::parse(&bytes).map_err(|error| explain_image(track, error))?;
    let section = image.section();
    let document = read_document(track, section)?;
    check_entry(track, &image, &document)?;
    Ok((document, section.to_vec()))
}

/// Reads the section, and learns from it who the plugin is as far as that can be told.
fn read_document(track: &mut Provenance, section: &[u8]) -> Result<Value, Diagnostic> {
    let text = section::manifest_text(section).map_err(|error| explain_section(track, error))?;
    let document = strict_json::parse(text).map_err(|error| {
        track
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
    introduce(track, &document);
    check_build(track, &document)?;
    Ok(document)
}

fn introduce(track: &mut Provenance, document: &Value) {
    let text = |member: &str| document.get(member).and_then(Value::as_str);
    track.ext_id = text("extId").and_then(|id| ExtId::parse(id).ok());
    track.kind = text("kind").and_then(Kind::parse).or(track.kind);
    track.version = text("version").and_then(SemVer::parse);
    track.contract_version = text("contractVersion").map(str::to_owned);
}

/// What the build says about itself, where it says anything; `shape` will ask for what is missing.
fn check_build(track: &Provenance, document: &Value) -> Result<(), Diagnostic> {
    let text = |pointer: &str| document.pointer(pointer).and_then(Value::as_str);
    let at = |code, message: String, pointer: &str| {
        show(
            track.error(Stage::Inspect, code, message).field(pointer),
            track,
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
    let served = track
        .kind
        .zip(text("/contractVersion").and_then(SemVer::parse));
    if let Some((kind, version)) = served
        && version.is_served_by(contracts::version_of(kind))
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

fn check_entry(track: &Provenance, image: &Image<'_>, document: &Value) -> Result<(), Diagnostic> {
    let Some(symbol) = document.get("entry").and_then(Value::as_str) else {
        // `shape` reports the missing member with its place.
        return Ok(());
    };
    if image.exports(symbol) {
        return Ok(());
    }
    let missing = track
        .error(
            Stage::Inspect,
            &codes::ENTRY_SYMBOL_MISSING,
            format!("the library does not export its entry `{symbol}`"),
        )
        .field("/entry")
        .with("symbol", symbol)
        .help("author: build with `crate-type = [\"cdylib\"]` and do not strip exported symbols");
    Err(show(missing, track, document))
}

fn explain_image(track: &Provenance, error: ImageError) -> Diagnostic {
    let at = |code, message: String| track.error(Stage::Inspect, code, message);
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
            format!("the library ends too soon: {missing} is not there"),
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

fn explain_section(track: &Provenance, error: SectionError) -> Diagnostic {
    let at = |code, message: String| {
        track
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

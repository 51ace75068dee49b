//! JSON Schemas from a manifest: compiled without network, files or slow patterns.

use jsonschema::error::ValidationErrorKind;
use jsonschema::{PatternOptions, Retrieve, Uri, ValidationError, Validator};
use serde_json::Value;
use stud_diagnostics::{Diagnostic, Stage, codes};

use super::document::escape;
use crate::provenance::Provenance;
use stud_runtime::executor::CodeOrigin;

mod plain;

pub use plain::plainly_fits;

/// Makes sure that a schema that stands at `pointer` of the manifest compiles.
///
/// The program's own plugins are held to this by its tests, as libraries; starting it does not do it again, because it
/// takes longer than everything else that is checked of a manifest.
pub(crate) fn check(
    provenance: &Provenance,
    stage: Stage,
    pointer: &str,
    schema: &Value,
) -> Result<(), Diagnostic> {
    match provenance.code_origin() {
        CodeOrigin::Bundled => Ok(()),
        CodeOrigin::ThirdParty => compile(provenance, stage, pointer, schema).map(drop),
    }
}

/// Compiles a schema that stands at `pointer` of the manifest.
pub(crate) fn compile(
    provenance: &Provenance,
    stage: Stage,
    pointer: &str,
    schema: &Value,
) -> Result<Validator, Diagnostic> {
    build(schema).map_err(|problem| {
        let failure = provenance
            .error(
                stage,
                &codes::INTERNAL_PIPELINE_FAILURE,
                format!("the schema at `{pointer}` does not compile"),
            )
            .field(pointer)
            .with("stage", stage.as_str());
        let failure = match provenance.path() {
            Some(path) => failure.with("manifestPath", path.display().to_string()),
            None => failure,
        };
        failure
            .note(problem)
            .help("author: correct the schema; only references inside it are followed")
    })
}

/// Compiles a schema, or says why it is invalid.
pub fn build(schema: &Value) -> Result<Validator, String> {
    jsonschema::options()
        // Patterns come from strangers, and a backtracking engine can be made to run for years.
        .with_pattern_options(PatternOptions::regex())
        .with_retriever(Nowhere)
        .build(schema)
        .map_err(|error| match error.instance_path().to_string() {
            root if root.is_empty() => error.to_string(),
            place => format!("at `{place}`: {error}"),
        })
}

/// Fetches nothing: a schema stands for itself.
struct Nowhere;

impl Retrieve for Nowhere {
    fn retrieve(&self, _: &Uri<String>) -> Result<Value, Box<dyn std::error::Error + Send + Sync>> {
        Err("only references inside the schema are followed".into())
    }
}

/// The place in the instance an error is about: the missing or unexpected member itself where there is one.
pub fn place(error: &ValidationError<'_>) -> String {
    let base = error.instance_path().to_string();
    let member = match error.kind() {
        ValidationErrorKind::Required { property } => property.as_str().map(str::to_owned),
        ValidationErrorKind::AdditionalProperties { unexpected }
        | ValidationErrorKind::UnevaluatedProperties { unexpected } => unexpected.first().cloned(),
        _ => None,
    };
    match member {
        Some(member) => format!("{base}/{}", escape(&member)),
        None => base,
    }
}

/// The member of the whole instance that the schema does not know.
pub(crate) fn undeclared<'a>(error: &'a ValidationError<'_>) -> Option<&'a str> {
    match error.kind() {
        ValidationErrorKind::AdditionalProperties { unexpected }
            if error.instance_path().as_str().is_empty() =>
        {
            unexpected.first().map(String::as_str)
        }
        _ => None,
    }
}

/// What is wrong, without the value: a config may contain confidential values.
pub fn problem(error: &ValidationError<'_>) -> String {
    match error.kind() {
        ValidationErrorKind::Required { .. } => "it is missing".to_owned(),
        ValidationErrorKind::AdditionalProperties { .. }
        | ValidationErrorKind::UnevaluatedProperties { .. } => {
            "the schema knows no such member".to_owned()
        }
        _ => error.masked().to_string(),
    }
}

//! The three configs.

use crate::case::{Context, Verdict};
use crate::configs::validator;

pub(super) fn valid(context: &Context) -> Verdict {
    let schema = context.config_schema();
    let config = context.configs.valid_for(schema);
    match validator(schema) {
        Err(why) => Verdict::fail(format!("`configSchema` does not compile: {why}")),
        Ok(validator) => match validator.iter_errors(&config).next() {
            None => Verdict::Pass,
            Some(_) if context.configs.valid.is_none() => Verdict::not_applicable(
                "the schema has required members; put a `valid.json` among the config fixtures",
            ),
            Some(error) => Verdict::fail(format!("at `{}`: {error}", error.instance_path())),
        },
    }
}

pub(super) fn invalid(context: &Context) -> Verdict {
    let schema = context.config_schema();
    let Ok(validator) = validator(schema) else {
        return Verdict::not_applicable("`configSchema` does not compile");
    };
    let config = context.configs.invalid_for(schema);
    let mut errors = validator
        .iter_errors(&config)
        .map(|error| error.to_string());
    Verdict::of(
        errors.next().is_some_and(|error| !error.is_empty()),
        format!("{config} is accepted"),
    )
}

pub(super) fn worst_plausible(context: &Context) -> Verdict {
    let Ok(validator) = validator(context.config_schema()) else {
        return Verdict::not_applicable("`configSchema` does not compile");
    };
    let config = context.configs.worst_plausible_for();
    Verdict::of(
        !validator.is_valid(&config),
        "the hostile config is accepted",
    )
}

//! What an author's function returned, whatever that is.

use std::future::{Ready, ready};

use stud_contract_meta::{Error, Result};
use stud_host_api::BoxFuture;

/// A call that failed before it began.
pub fn failed<O: Send + 'static>(error: Error) -> BoxFuture<'static, Result<O>> {
    Box::pin(ready(Err(error)))
}

/// A result, or a value that becomes one.
#[derive(Debug)]
pub struct Returned<T>(pub T);

impl<T, E: Into<Error>> Returned<std::result::Result<T, E>> {
    /// A result as it is.
    pub fn into_outcome<O>(self) -> Result<O>
    where
        T: Into<O>,
    {
        self.0.map(Into::into).map_err(Into::into)
    }
}

/// A value that cannot fail. The method of a result, above, takes precedence.
pub trait Infallible<T> {
    /// Wraps it.
    fn into_outcome<O>(self) -> Result<O>
    where
        T: Into<O>;
}

impl<T> Infallible<T> for Returned<T> {
    fn into_outcome<O>(self) -> Result<O>
    where
        T: Into<O>,
    {
        Ok(self.0.into())
    }
}

/// What calling a lifecycle function gave: a future, or the result itself.
#[derive(Debug)]
pub struct Called<T>(pub T);

impl<F: Future> Called<F> {
    /// The future as it is.
    pub fn wait(self) -> F {
        self.0
    }
}

/// A result that is there at once. The method of a future, above, takes precedence.
pub trait AtOnce<T> {
    /// Wraps it.
    fn wait(self) -> Ready<T>;
}

impl<T> AtOnce<T> for Called<T> {
    fn wait(self) -> Ready<T> {
        ready(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stud_contract_tool::Output;
    use stud_diagnostics::codes;

    use crate::private::fault::coded;

    #[test]
    fn anything_that_becomes_an_output_may_be_returned() {
        let text = Output::text("a");
        assert_eq!(Returned("a").into_outcome::<Output>().unwrap(), text);
        let result = Ok::<_, Error>("a".to_owned());
        assert_eq!(Returned(result).into_outcome::<Output>().unwrap(), text);
        let error = coded(&codes::NOT_FOUND, "gone");
        let result = Err::<Output, _>(error.clone());
        assert_eq!(
            Returned(result).into_outcome::<Output>().unwrap_err(),
            error
        );
    }
}

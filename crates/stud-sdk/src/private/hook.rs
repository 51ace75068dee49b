//! The Hook table over whichever of the three traits an author's type implements.

use std::marker::PhantomData;
use std::sync::Arc;

use serde_json::Value;
use stud_abi::CallContext;
use stud_abi::tables::hook::HookExport;
use stud_contract_hook::{Guard, Observer, Slot, Transform};
use stud_contract_meta::Result;
use stud_host_api::{BoxFuture, Cx};

use super::fault::Reply;
use super::glue::{Glue, answer};
use super::json::{parse, write};
use super::manifest::same;
use super::plugin::Plugin;

const HANDLER: &str = "handler";

/// A hook; the method goes to the one trait it implements.
pub trait HookPlugin: Plugin {
    /// To `Guard`, `Transform` or `Observer`; the reply is JSON.
    fn handle(self: Arc<Self>, payload: Value, cx: Cx) -> BoxFuture<'static, Result<String>>;
}

/// Finds out, for one concrete type, which traits it implements; see [`ui::Probe`](super::ui::Probe).
#[derive(Debug)]
pub struct Probe<T>(PhantomData<T>);

impl<T: Guard> Probe<T> {
    /// It is a guard.
    pub const GUARD: bool = true;

    /// Decides.
    pub fn guard(this: Arc<T>, payload: Value, cx: Cx) -> BoxFuture<'static, Result<String>> {
        Box::pin(async move { write(HANDLER, &this.guard(&payload, &cx).await?) })
    }
}

impl<T: Transform> Probe<T> {
    /// It is a transform.
    pub const TRANSFORM: bool = true;

    /// Replaces.
    pub fn transform(this: Arc<T>, payload: Value, cx: Cx) -> BoxFuture<'static, Result<String>> {
        Box::pin(async move { write(HANDLER, &this.transform(payload, &cx).await?) })
    }
}

impl<T: Observer> Probe<T> {
    /// It is an observer.
    pub const OBSERVER: bool = true;

    /// Looks.
    pub fn observe(this: Arc<T>, payload: Value, cx: Cx) -> BoxFuture<'static, Result<String>> {
        Box::pin(async move {
            this.observe(&payload, &cx).await?;
            Ok("null".to_owned())
        })
    }
}

/// What [`Probe`] has where a trait is not implemented.
///
/// The functions are never called: the build stops at a hook that is not exactly one of the three.
pub trait Without<T> {
    /// It is no guard.
    const GUARD: bool = false;
    /// It is no transform.
    const TRANSFORM: bool = false;
    /// It is no observer.
    const OBSERVER: bool = false;

    /// Does nothing.
    fn guard(_: Arc<T>, _: Value, _: Cx) -> BoxFuture<'static, Result<String>> {
        nothing()
    }

    /// Does nothing.
    fn transform(_: Arc<T>, _: Value, _: Cx) -> BoxFuture<'static, Result<String>> {
        nothing()
    }

    /// Does nothing.
    fn observe(_: Arc<T>, _: Value, _: Cx) -> BoxFuture<'static, Result<String>> {
        nothing()
    }
}

impl<T> Without<T> for Probe<T> {}

fn nothing() -> BoxFuture<'static, Result<String>> {
    Box::pin(std::future::ready(Ok("null".to_owned())))
}

impl<P: HookPlugin> HookExport for Glue<P> {
    fn handle(
        self: Arc<Self>,
        _subject: String,
        payload: String,
        cx: CallContext,
    ) -> impl Future<Output = Reply<String>> + Send + 'static {
        answer(self.log(), async move {
            let instance = self.instance(HANDLER)?;
            instance
                .handle(parse(HANDLER, &payload)?, self.cx(cx))
                .await
        })
    }
}

/// The slot whose word this is.
pub const fn slot(word: &str) -> Option<Slot> {
    let mut index = 0;
    while index < Slot::ALL.len() {
        if same(Slot::ALL[index].as_str(), word) {
            return Some(Slot::ALL[index]);
        }
        index += 1;
    }
    None
}

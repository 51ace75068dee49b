//! The UI table over whichever of the three traits an author's type implements.

use std::marker::PhantomData;
use std::sync::Arc;

use stud_abi::tables::ui::UiExport;
use stud_abi::{CallContext, EventHeader};
use stud_contract_interaction::{Request, Response};
use stud_contract_meta::{Error, Result};
use stud_contract_ui::{Canvas, Event, Interactor, Line, Region, Subscriber};
use stud_diagnostics::codes;
use stud_host_api::{BoxFuture, Cx};

use super::fault::{Reply, coded};
use super::glue::{Glue, answer};
use super::json::{parse, write};
use super::plugin::Plugin;
use super::runtime;

/// A UI plugin; each method goes to the trait of its role, or says that there is none.
pub trait UiPlugin: Plugin {
    /// To `Subscriber`.
    fn on_event(&self, event: &Event<'_>) -> Result<()>;
    /// To `Interactor`.
    fn on_interaction(
        self: Arc<Self>,
        request: Request,
        cx: Cx,
    ) -> BoxFuture<'static, Result<Response>>;
    /// To `Region`.
    fn render(&self, contribution: &str, canvas: &Canvas) -> Result<Vec<Line>>;
}

/// Finds out, for one concrete type, which traits it implements.
///
/// An inherent item is preferred to one of a trait, and it is there only if its bound holds.
#[derive(Debug)]
pub struct Probe<T>(PhantomData<T>);

impl<T: Subscriber> Probe<T> {
    /// It is a subscriber.
    pub const SUBSCRIBER: bool = true;

    /// Hears one event.
    pub fn on_event(this: &T, event: &Event<'_>) -> Result<()> {
        this.on_event(event)
    }
}

impl<T: Interactor> Probe<T> {
    /// It is an interactor.
    pub const INTERACTOR: bool = true;

    /// Answers a prompt.
    pub fn on_interaction(
        this: Arc<T>,
        request: Request,
        cx: Cx,
    ) -> BoxFuture<'static, Result<Response>> {
        Box::pin(async move { this.on_interaction(request, &cx).await })
    }
}

impl<T: Region> Probe<T> {
    /// It draws.
    pub const REGION: bool = true;

    /// Draws.
    pub fn render(this: &T, contribution: &str, canvas: &Canvas) -> Result<Vec<Line>> {
        this.render(contribution, canvas)
    }
}

/// What [`Probe`] has where a trait is not implemented.
pub trait Without<T> {
    /// It is no subscriber.
    const SUBSCRIBER: bool = false;
    /// It is no interactor.
    const INTERACTOR: bool = false;
    /// It draws nothing.
    const REGION: bool = false;

    /// Without a `Subscriber` the event is ignored.
    fn on_event(_: &T, _: &Event<'_>) -> Result<()> {
        Err(missing("onEvent"))
    }

    /// Without an `Interactor` there is no answer.
    fn on_interaction(_: Arc<T>, _: Request, _: Cx) -> BoxFuture<'static, Result<Response>> {
        Box::pin(std::future::ready(Err(missing("onInteraction"))))
    }

    /// Without a `Region` nothing is drawn.
    fn render(_: &T, _: &str, _: &Canvas) -> Result<Vec<Line>> {
        Err(missing("renderRegion"))
    }
}

impl<T> Without<T> for Probe<T> {}

fn missing(handler: &str) -> Error {
    coded(
        &codes::NOT_IMPLEMENTED,
        format!("the plugin has no `{handler}`"),
    )
}

impl<P: UiPlugin> UiExport for Glue<P> {
    fn on_event(&self, header: EventHeader<'_>, payload: &str) -> Reply<()> {
        runtime::within(&self.log(), || {
            let instance = self.instance("onEvent")?;
            instance.on_event(&Event::new(&header, payload))?;
            Ok(())
        })
    }

    fn on_interaction(
        self: Arc<Self>,
        _subject: String,
        payload: String,
        cx: CallContext,
    ) -> impl Future<Output = Reply<String>> + Send + 'static {
        answer(self.log(), async move {
            let instance = self.instance("onInteraction")?;
            let request = Request::read(parse("onInteraction", &payload)?)?;
            let response = instance.on_interaction(request, self.cx(cx)).await?;
            write("onInteraction", &response)
        })
    }

    fn render_region(&self, subject: &str, payload: &str) -> Reply<String> {
        runtime::within(&self.log(), || {
            let instance = self.instance("renderRegion")?;
            let canvas: Canvas = parse("renderRegion", payload)?;
            let lines = instance.render(subject, &canvas)?;
            Ok(write("renderRegion", &lines)?)
        })
    }
}

//! Which session of a tree a plugin works for when it calls its host.
//!
//! A plugin has one instance for an orchestrator and all its children, and so one host. Core polls everything that a
//! plugin does for a turn through [`Within`], which notes on the polling thread whose turn it is. A call from a thread
//! of the plugin's own is taken as made by the newest tool call that the plugin serves.

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};

use stud_abi::{CancellationSource, CancellationToken};

use super::Session;

/// Whose work a thread does.
#[derive(Debug)]
struct Caller {
    session: Weak<Session>,
    tool_call_id: Option<String>,
}

thread_local! {
    static CALLER: RefCell<Option<Arc<Caller>>> = const { RefCell::new(None) };
}

/// Puts the caller back that was there before, also after a panic.
struct Restore(Option<Arc<Caller>>);

impl Drop for Restore {
    fn drop(&mut self) {
        CALLER.with(|caller| caller.replace(self.0.take()));
    }
}

/// Work of a plugin for one turn. The future is boxed, so that it can be polled in its place.
pub(crate) struct Within<T> {
    caller: Arc<Caller>,
    work: Pin<Box<dyn Future<Output = T> + Send>>,
}

impl<T> Future for Within<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        let caller = self.caller.clone();
        let _restore = Restore(CALLER.with(|known| known.replace(Some(caller))));
        self.work.as_mut().poll(cx)
    }
}

/// The caller noted on this thread.
fn noted() -> Option<Arc<Caller>> {
    CALLER.with(|caller| caller.borrow().clone())
}

impl Session {
    /// Does `work` of a plugin in the name of this session, for the tool call if it is one.
    pub(crate) fn within<T>(
        self: &Arc<Self>,
        tool_call_id: Option<&str>,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Within<T> {
        Within {
            caller: Arc::new(Caller {
                session: Arc::downgrade(self),
                tool_call_id: tool_call_id.map(str::to_owned),
            }),
            work: Box::pin(work),
        }
    }

    /// The session of this tree that the plugin works for now. Called on the orchestrator's session.
    pub(crate) fn caller(self: &Arc<Self>, ext_id: &str) -> Arc<Self> {
        let noted = noted().and_then(|caller| caller.session.upgrade());
        if let Some(session) = noted
            && std::ptr::eq(session.root().as_ptr(), Arc::as_ptr(self))
        {
            return session;
        }
        if self.subagents.is_empty() {
            return self.clone();
        }
        let children = self.subagents.all().into_iter();
        let children = children.filter_map(|child| child.session.upgrade());
        let all = std::iter::once(self.clone()).chain(children);
        let newest = all.filter_map(|session| {
            let (call, _) = session.scopes.newest_of(ext_id)?;
            Some((call, session))
        });
        let newest = newest.max_by(|(one, _), (other, _)| one.cmp(other));
        newest.map_or_else(|| self.clone(), |(_, session)| session)
    }

    /// The scope of the tool call in which the plugin calls its host: the one that is polled, else its newest.
    pub(crate) fn tool_scope(&self, ext_id: &str) -> Option<CancellationSource> {
        let polled = noted().and_then(|caller| {
            let is_here = std::ptr::eq(caller.session.as_ptr(), self);
            let call = caller.tool_call_id.as_deref().filter(|_| is_here)?;
            self.scopes.tool(ext_id, call)
        });
        polled.or_else(|| self.scopes.newest_of(ext_id).map(|(_, scope)| scope))
    }

    /// The tool call in which the plugin calls its host, if it is polled for one.
    pub(crate) fn polled_call(&self) -> Option<String> {
        let caller = noted()?;
        std::ptr::eq(caller.session.as_ptr(), self)
            .then(|| caller.tool_call_id.clone())
            .flatten()
    }

    /// Fires when the tool call ends in which the plugin calls its host.
    pub(crate) fn tool_token(&self, ext_id: &str) -> Option<CancellationToken> {
        self.tool_scope(ext_id).map(|scope| scope.token())
    }
}

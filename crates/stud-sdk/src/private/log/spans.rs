//! The spans of this copy of `tracing`: what they are called, what they say, and which of them a thread is in.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use serde_json::{Map, Value};
use stud_host_api::events::LogSpan;
use tracing::Metadata;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};

/// A span that is open.
struct Open {
    metadata: &'static Metadata<'static>,
    parent: Option<u64>,
    fields: Map<String, Value>,
    began: Instant,
    references: usize,
}

/// A span that has ended, and those around it.
pub(super) struct Ended {
    pub(super) metadata: &'static Metadata<'static>,
    pub(super) path: Vec<LogSpan>,
    pub(super) duration_ms: u64,
}

static OPEN: Mutex<Option<HashMap<u64, Open>>> = Mutex::new(None);
static NEXT: AtomicU64 = AtomicU64::new(1);

thread_local! {
    /// The spans that this thread is in, the innermost last.
    static INSIDE: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

/// The members of an event or a span. Only what is below the host's level is never read.
#[derive(Default)]
pub(super) struct Fields(pub(super) Map<String, Value>);

impl Fields {
    fn put(&mut self, field: &Field, value: Value) {
        self.0.insert(field.name().to_owned(), value);
    }
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.put(field, format!("{value:?}").into());
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.put(field, value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.put(field, value.into());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.put(field, value.into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.put(field, value.into());
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.put(field, value.into());
    }
}

fn open_spans() -> MutexGuard<'static, Option<HashMap<u64, Open>>> {
    OPEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Changes the span with this id, if it is open.
fn with<T>(id: u64, change: impl FnOnce(&mut Open) -> T) -> Option<T> {
    open_spans().as_mut()?.get_mut(&id).map(change)
}

#[expect(
    clippy::disallowed_methods,
    reason = "a plugin has no clock but the system's"
)]
pub(super) fn begin(attributes: &Attributes<'_>) -> Id {
    let mut fields = Fields::default();
    attributes.record(&mut fields);
    let parent = match attributes.parent() {
        Some(parent) => Some(parent.into_u64()),
        None if attributes.is_contextual() => innermost(),
        None => None,
    };
    // A parent stays open as long as its children.
    if let Some(parent) = parent {
        let _ = with(parent, |span| span.references += 1);
    }
    let span = Open {
        metadata: attributes.metadata(),
        parent,
        fields: fields.0,
        began: Instant::now(),
        references: 1,
    };
    let id = NEXT.fetch_add(1, Ordering::Relaxed);
    open_spans().get_or_insert_default().insert(id, span);
    Id::from_u64(id)
}

pub(super) fn record(id: &Id, values: &Record<'_>) {
    let mut fields = Fields::default();
    values.record(&mut fields);
    let _ = with(id.into_u64(), |span| span.fields.extend(fields.0));
}

pub(super) fn enter(id: &Id) {
    INSIDE.with_borrow_mut(|inside| inside.push(id.into_u64()));
}

pub(super) fn leave(id: &Id) {
    INSIDE.with_borrow_mut(|inside| {
        if let Some(at) = inside.iter().rposition(|inner| *inner == id.into_u64()) {
            inside.remove(at);
        }
    });
}

pub(super) fn keep(id: &Id) {
    let _ = with(id.into_u64(), |span| span.references += 1);
}

/// Drops a reference to a span. Gives the span if it was the last, and those around it that only it kept open.
pub(super) fn release(id: &Id) -> Vec<Ended> {
    let (mut ended, mut next) = (Vec::new(), Some(id.into_u64()));
    while let Some(id) = next {
        let left = with(id, |span| {
            span.references = span.references.saturating_sub(1);
            span.references
        });
        if left != Some(0) {
            break;
        }
        let path = path(Some(id));
        let removed = open_spans().as_mut().and_then(|open| open.remove(&id));
        let Some(span) = removed else { break };
        next = span.parent;
        ended.push(Ended {
            metadata: span.metadata,
            path,
            duration_ms: u64::try_from(span.began.elapsed().as_millis()).unwrap_or(u64::MAX),
        });
    }
    ended
}

/// The innermost span of this thread.
pub(super) fn innermost() -> Option<u64> {
    INSIDE.with_borrow(|inside| inside.last().copied())
}

/// Its metadata.
pub(super) fn metadata(id: u64) -> Option<&'static Metadata<'static>> {
    with(id, |span| span.metadata)
}

/// A span and those around it, the outermost first.
pub(super) fn path(innermost: Option<u64>) -> Vec<LogSpan> {
    let (mut path, mut next) = (Vec::new(), innermost);
    while let Some(id) = next {
        let found = with(id, |span| {
            let name = span.metadata.name().to_owned();
            let fields = span.fields.clone();
            (LogSpan { name, fields }, span.parent)
        });
        let Some((span, parent)) = found else { break };
        path.push(span);
        next = parent;
    }
    path.reverse();
    path
}

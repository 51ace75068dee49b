//! What one plugin has still to be told, and whom in it to tell.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;
use std::sync::Arc;

use stud_host_api::metrics::{RuntimeSnapshot, TokenDelta};

use crate::executor::{self, Mailbox, Pace};
use crate::sync::{Mutex, lock};

/// How many pieces of text may wait for a plugin before it loses its token subscriptions.
pub const PENDING_TOKENS: usize = 65_536;

/// How much text may wait for a plugin before it loses its token subscriptions.
pub const PENDING_BYTES: usize = 64 << 20;

/// A plugin that left its tokens lying, and was taken off the list of those who get them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stuck {
    /// The plugin.
    pub ext_id: String,
    /// How many pieces of text it will never hear.
    pub unheard: usize,
}

type Hear<T> = dyn Fn(T) + Send + Sync;

/// A function of the plugin.
pub(super) enum MetricsHandler {
    Snapshot(Arc<Hear<Arc<RuntimeSnapshot>>>),
    Tokens(Arc<Hear<TokenDelta>>),
}

/// The handlers of one plugin and what waits for them.
pub(super) struct Outbox {
    ext_id: String,
    contents: Arc<Mutex<OutboxContents>>,
    /// Only says that there is something: what it is may change until it is taken.
    bell: Arc<Mailbox<()>>,
    on_stuck: Box<dyn Fn(&Stuck) + Send + Sync>,
}

#[derive(Default)]
struct OutboxContents {
    watchers: Handlers<Arc<RuntimeSnapshot>>,
    readers: Handlers<TokenDelta>,
    /// In the order in which it is told. There is at most one snapshot: an older one would be of no use.
    waiting: VecDeque<Posted>,
    /// How many pieces of text are waiting, and how much text that is.
    pieces: usize,
    bytes: usize,
}

/// By number, in the order they came.
type Handlers<T> = BTreeMap<u64, Arc<Hear<T>>>;

struct Posted {
    item: Item,
    /// Only subscriptions with a lower number were there when it was posted.
    before: u64,
}

enum Item {
    Snapshot(Arc<RuntimeSnapshot>),
    Delta(TokenDelta),
}

impl Outbox {
    pub(super) fn new(ext_id: &str, on_stuck: Box<dyn Fn(&Stuck) + Send + Sync>) -> Arc<Self> {
        let contents = Arc::<Mutex<OutboxContents>>::default();
        let delivered = contents.clone();
        Arc::new(Self {
            ext_id: ext_id.to_owned(),
            contents,
            bell: Mailbox::new(Pace::Leisurely, move |_| deliver(&delivered)),
            on_stuck,
        })
    }

    pub(super) fn ext_id(&self) -> &str {
        &self.ext_id
    }

    pub(super) fn add(&self, number: u64, handler: MetricsHandler) {
        let mut contents = lock(&self.contents);
        match handler {
            MetricsHandler::Snapshot(handler) => drop(contents.watchers.insert(number, handler)),
            MetricsHandler::Tokens(handler) => drop(contents.readers.insert(number, handler)),
        }
    }

    /// Takes one handler out. It may still be running, and is not called again.
    pub(super) fn remove(&self, number: u64) -> Option<MetricsHandler> {
        let mut contents = lock(&self.contents);
        let watcher = contents
            .watchers
            .remove(&number)
            .map(MetricsHandler::Snapshot);
        let reader = || contents.readers.remove(&number).map(MetricsHandler::Tokens);
        let removed = watcher.or_else(reader);
        if contents.watchers.is_empty() {
            contents.drop_snapshot();
        }
        if contents.readers.is_empty() {
            contents.drop_deltas();
        }
        removed
    }

    /// Takes all handlers out, with what waits for them.
    pub(super) fn close(&self) {
        let contents = std::mem::take(&mut *lock(&self.contents));
        discard(contents);
    }

    pub(super) fn wants_snapshots(&self) -> bool {
        !lock(&self.contents).watchers.is_empty()
    }

    pub(super) fn wants_deltas(&self) -> bool {
        !lock(&self.contents).readers.is_empty()
    }

    pub(super) fn is_deserted(&self) -> bool {
        let contents = lock(&self.contents);
        contents.watchers.is_empty() && contents.readers.is_empty()
    }

    /// Takes the place of an older snapshot. Says whether the outbox has to be roused.
    pub(super) fn post_snapshot(&self, snapshot: &Arc<RuntimeSnapshot>, before: u64) -> bool {
        let mut contents = lock(&self.contents);
        if contents.watchers.is_empty() {
            return false;
        }
        let was_empty = contents.waiting.is_empty();
        contents.drop_snapshot();
        let item = Item::Snapshot(snapshot.clone());
        contents.waiting.push_back(Posted { item, before });
        was_empty
    }

    /// Says whether the outbox has to be roused, unless there is no room.
    pub(super) fn post_delta(&self, delta: TokenDelta, before: u64) -> Result<bool, Stuck> {
        let mut contents = lock(&self.contents);
        let bytes = contents.bytes.saturating_add(delta.delta.len());
        let is_heavy = bytes > PENDING_BYTES && contents.pieces > 0;
        if contents.pieces >= PENDING_TOKENS || is_heavy {
            let stuck = Stuck {
                ext_id: self.ext_id.clone(),
                unheard: contents.pieces + 1,
            };
            let readers = std::mem::take(&mut contents.readers);
            contents.drop_deltas();
            drop(contents);
            discard(readers);
            return Err(stuck);
        }
        let was_empty = contents.waiting.is_empty();
        contents.pieces += 1;
        contents.bytes = bytes;
        let item = Item::Delta(delta);
        contents.waiting.push_back(Posted { item, before });
        Ok(was_empty)
    }

    /// Delivers queued updates on a thread of its own.
    pub(super) fn rouse(&self) {
        self.bell.post(());
    }

    pub(super) fn report(&self, stuck: &Stuck) {
        (self.on_stuck)(stuck);
    }
}

impl OutboxContents {
    fn drop_snapshot(&mut self) {
        self.waiting
            .retain(|posted| !matches!(posted.item, Item::Snapshot(_)));
    }

    fn drop_deltas(&mut self) {
        self.waiting
            .retain(|posted| !matches!(posted.item, Item::Delta(_)));
        self.waiting.shrink_to_fit();
        (self.pieces, self.bytes) = (0, 0);
    }

    fn take(&mut self) -> VecDeque<Posted> {
        (self.pieces, self.bytes) = (0, 0);
        std::mem::take(&mut self.waiting)
    }
}

/// Tells until there is nothing more to tell.
fn deliver(outbox: &Mutex<OutboxContents>) {
    loop {
        let batch = lock(outbox).take();
        if batch.is_empty() {
            return;
        }
        for Posted { item, before } in batch {
            match item {
                Item::Snapshot(snapshot) => tell(outbox, before, &snapshot, |it| &it.watchers),
                Item::Delta(delta) => tell(outbox, before, &delta, |it| &it.readers),
            }
        }
    }
}

/// Calls every handler that was there when it was posted and has not left since, perhaps in the call just before.
fn tell<T: Clone>(
    outbox: &Mutex<OutboxContents>,
    before: u64,
    item: &T,
    handlers: fn(&OutboxContents) -> &Handlers<T>,
) {
    let mut from = Bound::Unbounded;
    loop {
        let next = {
            let contents = lock(outbox);
            let mut rest = handlers(&contents).range((from, Bound::Excluded(before)));
            rest.next()
                .map(|(number, handler)| (*number, handler.clone()))
        };
        let Some((number, handler)) = next else {
            return;
        };
        handler(item.clone());
        from = Bound::Excluded(number);
    }
}

/// Drops what belongs to a plugin on a thread of its own: its code runs then, too, and need not return.
fn discard<T: Send + 'static>(of_the_plugin: T) {
    executor::spawn(move || drop(of_the_plugin));
}

//! A child session: opened below another one, with a conversation and approvals of its own, and ended once.

use std::path::PathBuf;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Weak};
use std::time::Duration;

use data_encoding::HEXLOWER;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use stud_abi::CancellationSource;
use stud_contract_interaction::InteractionKind;
use stud_contract_meta::Result;
use stud_contract_session_store::Durability;
use stud_host_api::events::{
    CoreEvent, SubagentAborted, SubagentCompleted, SubagentEnvelopeDenied, SubagentEscalated,
    SubagentHalted,
};
use stud_host_api::session::AbortReason;

use super::active_model::ActiveModel;
use super::attachment::{Attachment, WorkflowProgress};
use super::control::ControlLog;
use super::conversation::Conversation;
use super::deferred_jobs::Waiting;
use super::inputs::Inputs;
use super::journal_growth::JournalGrowth;
use super::lineage::{Child, Envelope, Lineage, Subagents};
use super::scopes::Scopes;
use super::slots::Slots;
use super::state::{Progress, State};
use super::transcript_file::{FOLDER, TranscriptFile};
use super::{Facts, Input, Session};
use crate::commands::Commands;
use crate::ledger::{Draft, Ledger};
use crate::model::Model;
use crate::params::Params;
use crate::platform;
use crate::recorder::{Parentage, Recorder};
use crate::registry::Registry;
use crate::request_state::RequestState;
use crate::runtime_snapshot::Collector;
use crate::store::{MemoryStore, Store};
use crate::sync::Mutex;
use crate::timeout::with_timeout;

/// What a child session is opened with, besides what it inherits.
pub(crate) struct ChildBirth {
    pub(crate) books: Arc<Recorder>,
    pub(crate) depth: u32,
    pub(crate) envelope: Envelope,
    pub(crate) model: Model,
    pub(crate) params: Params,
    /// Cancels the child, and is cancelled with the call that opened it.
    pub(crate) scope: CancellationSource,
    /// The plugins of the turn that opened it.
    pub(crate) plugins: Arc<Registry>,
}

/// The class of what is put on record about children.
pub(super) const CLASS: &str = "SubagentExecution";

/// How long a child may take to end once it is cancelled.
const LONGEST_END: Duration = Duration::from_secs(2);

/// How a child ended.
#[derive(Debug)]
pub(crate) enum ChildEnd {
    /// It did its task, with these last words.
    Completed(String),
    /// It needed an answer, and no interactor was there.
    Halted {
        request_kind: InteractionKind,
        correlation_id: String,
    },
    /// It could not begin, or did not get to its end.
    Aborted(AbortReason),
    /// A person did not allow its tools.
    Denied {
        note: Option<String>,
        reason: &'static str,
    },
}

/// Makes the books of a child of this session. Its transcript is made with its first record.
pub(crate) fn child_books(parent: &Session, subagent_id: &str, depth: u32) -> Arc<Recorder> {
    let store: Arc<dyn Store> = match parent.transcripts() {
        Some(folder) => Arc::new(TranscriptFile::new(
            folder.join(format!("{subagent_id}.jsonl")),
        )),
        None => Arc::new(MemoryStore::default()),
    };
    let parentage = Parentage {
        parent_session_id: parent.id().to_owned(),
        subagent_id: subagent_id.to_owned(),
        depth,
    };
    let first = Draft {
        kind: "session_start",
        payload: json!({
            "projectRoot": parent.facts.project_root,
            "mode": parent.facts.mode,
            "createdAt": platform::rfc3339(platform::now()),
            "storeId": store.store_id(),
            "parentSessionId": parentage.parent_session_id,
            "subagentId": subagent_id,
            "depth": depth,
        }),
        ..Draft::default()
    };
    let ledger = Ledger::new(
        subagent_id,
        0,
        first,
        store,
        parent.books.redactor.clone(),
        parent.timer.clone(),
    );
    Arc::new(parent.books.of_child(ledger, parentage))
}

impl Session {
    /// Opens a child of this session. It has its own transcript, conversation and approvals, and everything else of its
    /// parent. It keeps no state of plugins and no snapshot, and attaches no state machine.
    pub(crate) fn open_child(&self, birth: ChildBirth) -> Arc<Self> {
        let books = birth.books;
        let subagent_id = books.session_id.clone();
        let lineage = Lineage {
            depth: birth.depth,
            envelope: birth.envelope,
            spawned_at: platform::ticks(),
            root: self.root(),
        };
        let child = Arc::new_cyclic(|this: &Weak<Self>| Self {
            facts: Facts {
                session_id: subagent_id,
                created_at: platform::rfc3339(platform::now()),
                machine: None,
                ..self.facts.clone()
            },
            store: Arc::new(MemoryStore::default()),
            desk: RequestState::new(self.desk.terms.clone()),
            prompts: self.prompts.clone(),
            metrics: Collector::below(&self.metrics, self.timer.clone()),
            progress: Mutex::new(Progress {
                state: State::Idle,
                turn: None,
                is_answered: false,
                turn_count: 0,
                last_turn: None,
                waiting: Waiting::default(),
            }),
            inputs: Inputs::holding(Vec::new()),
            control: ControlLog::default(),
            slots: Slots::holding(Vec::new()),
            saved: Mutex::default(),
            conversation: Mutex::new(Conversation::default()),
            scopes: Scopes::of_child(birth.scope),
            plugins: Mutex::new(birth.plugins),
            choice: ActiveModel::of(birth.params),
            attachment: Attachment::holding(None, WorkflowProgress::default()),
            rising: Mutex::new(None),
            revision: AtomicU64::new(0),
            refused: Mutex::default(),
            down: Mutex::default(),
            commands: Commands::new(books.clone(), &self.limits),
            prompt_registry: self.prompt_registry.clone(),
            resource_registry: self.resource_registry.clone(),
            mcp: self.mcp.clone(),
            lineage: Some(lineage),
            subagents: self.subagents.clone(),
            crashed: Mutex::default(),
            // What it leaves is in the records of its parent.
            damage: Vec::new(),
            growth: Arc::new(JournalGrowth::of(0)),
            index: None,
            readers: Mutex::default(),
            tool_timeout: self.tool_timeout,
            timer: self.timer.clone(),
            rules: self.rules.for_child(),
            most_reprompts: self.most_reprompts,
            limits: self.limits.clone(),
            books,
            this: this.clone(),
        });
        child.set_model(birth.model);
        child
    }

    /// Takes the task of a child session as its one input.
    pub(crate) async fn take_task(&self, prompt: &str) -> Result<Input> {
        const AUTHOR: &str = "delegate";
        let draft = Draft {
            kind: "user_input",
            ext_id: Some(AUTHOR.to_owned()),
            payload: json!({"text": prompt}),
            ..Draft::default()
        };
        let ledger = &self.books.ledger;
        Ok(Input {
            seq: ledger.append(vec![draft], Durability::Written).await?,
            ext_id: AUTHOR.to_owned(),
            text: prompt.to_owned(),
            caused_by: None,
        })
    }

    /// The orchestrator of the tree this session belongs to: itself, unless it is a child.
    pub(crate) fn root(&self) -> Weak<Self> {
        let lineage = self.lineage.as_ref();
        lineage.map_or_else(|| self.this.clone(), |lineage| lineage.root.clone())
    }

    /// How deep it is: 0 for an orchestrator.
    pub(crate) fn depth(&self) -> u32 {
        self.lineage.as_ref().map_or(0, |lineage| lineage.depth)
    }

    /// The tools that a child session may use without a prompt; nothing for an orchestrator.
    pub(crate) fn envelope(&self) -> Option<&Envelope> {
        self.lineage.as_ref().map(|lineage| &lineage.envelope)
    }

    /// Whether it is a child session.
    pub(crate) fn is_child(&self) -> bool {
        self.lineage.is_some()
    }

    /// The children of the tree this session belongs to.
    pub(crate) fn subagents(&self) -> &Arc<Subagents> {
        &self.subagents
    }

    /// The folder of the transcripts of the tree's children; none where no records are kept.
    fn transcripts(&self) -> Option<PathBuf> {
        let trail = self.books.trail.as_ref()?;
        let audit = trail.path().parent()?;
        Some(audit.parent()?.join(FOLDER))
    }

    /// Ends the children that a turn of this session leaves behind, so that their ends are on record before its own.
    pub(crate) async fn children_over(&self) {
        if self.subagents.is_empty() {
            return;
        }
        let own = |child: &Child| child.parent_session_id == self.id();
        self.cancel_children(own);
        let over = self.subagents.over_of(self.id());
        with_timeout(&*self.timer, LONGEST_END, over).await;
        self.abort_children(own);
    }

    /// Ends every child of the tree. A child that does not come to its end in time has it put on record all the same.
    pub(super) fn end_children(&self) {
        if self.subagents.is_empty() || self.is_child() {
            return;
        }
        self.cancel_children(|_| true);
        super::turn::wait_until(|| self.subagents.is_empty(), LONGEST_END);
        self.abort_children(|_| true);
    }

    fn cancel_children(&self, which: impl Fn(&Child) -> bool) {
        for child in self.subagents.all().iter().filter(|child| which(child)) {
            child.scope.cancel();
        }
    }

    fn abort_children(&self, which: impl Fn(&Child) -> bool) {
        for child in self.subagents.all().iter().filter(|child| which(child)) {
            let end = ChildEnd::Aborted(AbortReason::ParentCancel);
            self.end_child(&child.subagent_id, &end);
        }
    }
}

impl Session {
    /// Puts the end of a child of this tree on record, unless it has one. Gives whether this is its end.
    pub(crate) fn end_child(&self, subagent_id: &str, end: &ChildEnd) -> bool {
        // It counts as running until its terminal record is written.
        let Some(child) = self.subagents.ending(subagent_id) else {
            return false;
        };
        record(&child, end);
        self.subagents.ended(subagent_id);
        true
    }

    /// A person allowed this child session a call outside its tools.
    pub(crate) fn escalated(&self, tool: &str, approval_key: &str) {
        let Some(parentage) = &self.books.parentage else {
            return;
        };
        let escalated = SubagentEscalated {
            approval_key: approval_key.to_owned(),
            depth: parentage.depth,
            parent_session_id: parentage.parent_session_id.clone(),
            subagent_id: parentage.subagent_id.clone(),
            tool_name: tool.to_owned(),
        };
        put(&self.books, &self.correlation_id(), &escalated);
    }
}

/// The tokens that a child has used, with those of its own children.
fn used(child: &Child) -> Option<(u64, u64)> {
    let session = child.session.upgrade()?;
    let tokens = &session.metrics.snapshot().tokens;
    Some((tokens.input_total, tokens.output_total))
}

fn record(child: &Child, end: &ChildEnd) {
    let (input_tokens, output_tokens) = used(child).unzip();
    let depth = child.depth;
    let (parent_session_id, subagent_id) =
        (child.parent_session_id.clone(), child.subagent_id.clone());
    match end {
        ChildEnd::Completed(text) => tell(
            child,
            &SubagentCompleted {
                depth,
                input_tokens,
                output_tokens,
                parent_session_id,
                result_digest: Some(HEXLOWER.encode(&Sha256::digest(text.as_bytes()))),
                subagent_id,
            },
        ),
        ChildEnd::Halted {
            request_kind,
            correlation_id,
        } => tell(
            child,
            &SubagentHalted {
                correlation_id: correlation_id.clone(),
                depth,
                input_tokens,
                output_tokens,
                parent_session_id,
                request_kind: request_kind.as_str().to_owned(),
                subagent_id,
            },
        ),
        ChildEnd::Aborted(reason) => tell(
            child,
            &SubagentAborted {
                depth,
                input_tokens,
                output_tokens,
                parent_session_id,
                reason: word(*reason),
                subagent_id: Some(subagent_id),
            },
        ),
        ChildEnd::Denied { note, reason } => tell(
            child,
            &SubagentEnvelopeDenied {
                depth,
                note: note.clone(),
                parent_session_id,
                reason: Some((*reason).to_owned()),
                requested_envelope: child.requested_envelope.clone(),
                subagent_id,
            },
        ),
    }
}

/// The word of a reason on every wire.
pub(super) fn word(reason: AbortReason) -> String {
    let word = serde_json::to_value(reason).unwrap_or(Value::Null);
    word.as_str().unwrap_or_default().to_owned()
}

/// Puts something about a child on record, and then tells of it.
pub(crate) fn tell<E: CoreEvent>(child: &Child, event: &E) {
    put(&child.books, &child.correlation_id, event);
}

fn put<E: CoreEvent>(books: &Recorder, correlation_id: &str, event: &E) {
    books.audit(CLASS, Some(E::NAME), correlation_id, json!(event));
    books.publish(correlation_id, event);
}

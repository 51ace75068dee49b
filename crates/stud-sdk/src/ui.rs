//! UIs: what shows events, answers prompts and draws in other UIs.
//!
//! A UI is a struct that implements any of [`Subscriber`], [`Interactor`] and [`Region`]. Its roles follow from them, so
//! a manifest that promises too much cannot be written.
//!
//! ```
//! use std::io::{BufRead, Write};
//!
//! use stud_sdk::interaction::ConfirmAnswer;
//! use stud_sdk::prelude::*;
//! use stud_sdk::ui::{Payload, Request, Response};
//!
//! /// Asks on the terminal, one line at a time.
//! #[ui(id = "ask-line")]
//! struct AskLine;
//!
//! impl Interactor for AskLine {
//!     async fn on_interaction(&self, request: Request, _cx: &Cx) -> Result<Response> {
//!         let Payload::Confirm(_) = &request.payload else {
//!             return Ok(Response::dismissed(&request));
//!         };
//!         print!("{} [y/n] ", request.prompt());
//!         let mut line = String::new();
//!         let asked = std::io::stdout().flush().and_then(|()| std::io::stdin().lock().read_line(&mut line));
//!         Ok(match (asked, line.trim()) {
//!             (Ok(_), "y") => Response::accepted(&request, ConfirmAnswer { confirmed: true }),
//!             (Ok(_), "n") => Response::accepted(&request, ConfirmAnswer { confirmed: false }),
//!             _ => Response::dismissed(&request),
//!         })
//!     }
//! }
//! ```

pub use stud_contract_interaction::{Answer, InteractionKind, Payload, Request, Response, Status};
pub use stud_contract_ui::{
    Canvas, Color, Event, Interactor, Line, Modifier, Region, Span, Subscriber,
};
/// Makes a struct a UI. Its roles follow from the traits it implements, one of them at least.
///
/// Besides [what every attribute takes](crate#arguments-every-attribute-takes):
///
/// | Argument | Meaning |
/// |---|---|
/// | `regions(region(…), …)` | what a [`Region`] draws, and where |
///
/// A `region` has an `id`, the `region` and the `target` it is drawn in, a `mode` (`append` when left out, `replace` or
/// `decorate`) and a `priority` (0 when left out).
///
/// ```
/// use stud_sdk::prelude::*;
/// use stud_sdk::ui::{Canvas, Color, Line, Span};
///
/// /// Shows the security mode in the status line.
/// #[ui(regions(region(id = "mode", region = "statusLine", target = "default-tui", priority = 10)))]
/// struct ModeBadge;
///
/// impl Region for ModeBadge {
///     fn render(&self, _contribution: &str, canvas: &Canvas) -> Result<Vec<Line>> {
///         let mode = canvas.snapshot.as_ref().and_then(|snapshot| snapshot["mode"].as_str());
///         Ok(mode.map(|mode| Span::plain(mode).fg(Color::Red).into()).into_iter().collect())
///     }
/// }
/// ```
///
/// One that only listens:
///
/// ```
/// use std::sync::atomic::{AtomicU64, Ordering};
///
/// use stud_sdk::prelude::*;
/// use stud_sdk::ui::Event;
///
/// /// Counts the turns.
/// #[ui]
/// #[derive(Default)]
/// struct TurnCount(AtomicU64);
///
/// impl Subscriber for TurnCount {
///     fn on_event(&self, event: &Event<'_>) -> Result<()> {
///         if event.name == "SessionTurnEnd" {
///             self.0.fetch_add(1, Ordering::Relaxed);
///         }
///         Ok(())
///     }
/// }
/// ```
pub use stud_sdk_macros::ui;

pub use crate::{Cx, CxExt, Error, ErrorExt, Result};

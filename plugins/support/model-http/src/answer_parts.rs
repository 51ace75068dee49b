//! The pieces of an answer that came together.

use stud_sdk::provider::{Sink, Usage};

use crate::calls::ToolCall;

/// One piece.
#[derive(Debug, Clone, PartialEq)]
pub enum Piece {
    /// More of the text.
    Text(String),
    /// More of the reasoning.
    Thinking(String),
    /// A call, complete.
    Call(ToolCall),
    /// What the request cost so far.
    Usage(Usage),
}

/// Pieces in order. Texts that follow one another become one, so that a flood of small ones costs little.
#[derive(Debug, Default, PartialEq)]
pub struct Pieces(Vec<Piece>);

impl Pieces {
    /// More of the text.
    pub fn text(&mut self, delta: &str) {
        match self.0.last_mut() {
            _ if delta.is_empty() => {}
            Some(Piece::Text(text)) => text.push_str(delta),
            _ => self.0.push(Piece::Text(delta.to_owned())),
        }
    }

    /// More of the reasoning.
    pub fn thinking(&mut self, delta: &str) {
        match self.0.last_mut() {
            _ if delta.is_empty() => {}
            Some(Piece::Thinking(text)) => text.push_str(delta),
            _ => self.0.push(Piece::Thinking(delta.to_owned())),
        }
    }

    /// A call, complete.
    pub fn call(&mut self, call: ToolCall) {
        self.0.push(Piece::Call(call));
    }

    /// What the request cost so far.
    pub fn usage(&mut self, usage: Usage) {
        self.0.push(Piece::Usage(usage));
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds later ones.
    pub(crate) fn append(&mut self, later: Self) {
        if self.0.is_empty() {
            self.0 = later.0;
            return;
        }
        for piece in later.0 {
            match piece {
                Piece::Text(text) => self.text(&text),
                Piece::Thinking(text) => self.thinking(&text),
                other => self.0.push(other),
            }
        }
    }

    pub(crate) async fn deliver(self, out: &Sink) {
        for piece in self.0 {
            match piece {
                Piece::Text(text) => out.text(text).await,
                Piece::Thinking(text) => out.thinking(text).await,
                Piece::Call(call) => out.tool_call(call.id, call.name, call.args).await,
                Piece::Usage(usage) => out.usage(usage).await,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbors_of_a_kind_become_one() {
        let mut pieces = Pieces::default();
        pieces.text("");
        assert!(pieces.is_empty());
        pieces.thinking("a");
        pieces.thinking("b");
        pieces.text("c");
        let mut later = Pieces::default();
        later.text("d");
        later.usage(Usage::default());
        later.text("e");
        pieces.append(later);
        let expected = [
            Piece::Thinking("ab".to_owned()),
            Piece::Text("cd".to_owned()),
            Piece::Usage(Usage::default()),
            Piece::Text("e".to_owned()),
        ];
        assert_eq!(pieces.0, expected);
    }
}

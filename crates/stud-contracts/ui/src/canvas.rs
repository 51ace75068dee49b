//! What a region is given to draw with, and what it draws.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What there is to draw with.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Canvas {
    /// How many columns there are.
    pub width: u16,
    /// How many lines there are.
    pub height: u16,
    /// Whether the keyboard goes to this region.
    pub focused: bool,
    /// What the owning UI has to say about the session, in its own shape.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<Value>,
}

/// One line.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Line {
    /// From left to right.
    pub spans: Vec<Span>,
}

/// Text in one style.
///
/// The text is text: control characters and escape sequences are made visible by the owning UI, not obeyed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Span {
    /// What it says.
    pub text: String,
    /// The color of the letters; the one around it when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fg: Option<Color>,
    /// The color behind them; the one around it when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bg: Option<Color>,
    /// How the letters look.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub modifiers: Vec<Modifier>,
}

/// The sixteen colors every terminal has, and the one it starts with. Which shade each is, is the person's choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "a color says what it is")]
pub enum Color {
    Default,
    Black,
    Red,
    Green,
    Yellow,
    Blue,
    Magenta,
    Cyan,
    White,
    BrightBlack,
    BrightRed,
    BrightGreen,
    BrightYellow,
    BrightBlue,
    BrightMagenta,
    BrightCyan,
    BrightWhite,
}

/// How letters look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Modifier {
    /// Heavier.
    Bold,
    /// Fainter.
    Dim,
    /// Slanted.
    Italic,
    /// With a line below.
    Underline,
    /// With the two colors exchanged.
    Reversed,
    /// With a line through.
    Strikethrough,
}

impl Span {
    /// Text in the style around it.
    pub fn plain(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }

    /// The same in this color.
    #[must_use]
    pub fn fg(mut self, color: Color) -> Self {
        self.fg = Some(color);
        self
    }

    /// The same on this color.
    #[must_use]
    pub fn bg(mut self, color: Color) -> Self {
        self.bg = Some(color);
        self
    }

    /// The same with one more modifier.
    #[must_use]
    pub fn with(mut self, modifier: Modifier) -> Self {
        self.modifiers.push(modifier);
        self
    }
}

impl From<&str> for Span {
    fn from(text: &str) -> Self {
        Self::plain(text)
    }
}

impl From<String> for Span {
    fn from(text: String) -> Self {
        Self::plain(text)
    }
}

impl<S: Into<Span>> From<S> for Line {
    fn from(span: S) -> Self {
        Self {
            spans: vec![span.into()],
        }
    }
}

impl FromIterator<Span> for Line {
    fn from_iter<I: IntoIterator<Item = Span>>(spans: I) -> Self {
        Self {
            spans: spans.into_iter().collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_canvas_keeps_its_names() {
        let json = json!({"width": 80, "height": 1, "focused": false, "snapshot": {"mode": "ask"}});
        let canvas: Canvas = serde_json::from_value(json.clone()).unwrap();
        assert_eq!((canvas.width, canvas.height), (80, 1));
        assert_eq!(serde_json::to_value(canvas).unwrap(), json);
        assert_eq!(
            serde_json::to_value(Canvas::default()).unwrap(),
            json!({"width": 0, "height": 0, "focused": false})
        );
    }

    #[test]
    fn a_line_keeps_its_names() {
        let line = Line::from_iter([
            Span::plain("on "),
            Span::plain("main")
                .fg(Color::BrightGreen)
                .bg(Color::Default)
                .with(Modifier::Bold),
        ]);
        let json = json!({"spans": [
            {"text": "on "},
            {"text": "main", "fg": "brightGreen", "bg": "default", "modifiers": ["bold"]},
        ]});
        assert_eq!(serde_json::to_value(&line).unwrap(), json);
        assert_eq!(serde_json::from_value::<Line>(json).unwrap(), line);
    }

    #[test]
    fn modifiers_are_a_closed_set_of_six() {
        for word in [
            "bold",
            "dim",
            "italic",
            "underline",
            "reversed",
            "strikethrough",
        ] {
            let modifier: Modifier = serde_json::from_value(json!(word)).unwrap();
            assert_eq!(serde_json::to_value(modifier).unwrap(), word);
        }
        assert!(serde_json::from_value::<Modifier>(json!("blink")).is_err());
        assert!(serde_json::from_value::<Color>(json!("#ff0000")).is_err());
    }

    #[test]
    fn text_is_a_line() {
        assert_eq!(
            Line::from("a"),
            Line {
                spans: vec![Span::plain("a")]
            }
        );
    }
}

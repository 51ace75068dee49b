use super::*;

fn decoded(bytes: &[u8]) -> Vec<Input> {
    Decoder::default().feed(bytes)
}

fn key_of(code: Code) -> Input {
    Input::Key(Key::plain(code))
}

fn typed(text: &str) -> Vec<Input> {
    text.chars()
        .map(|letter| key_of(Code::Char(letter)))
        .collect()
}

#[test]
fn letters_are_letters() {
    assert_eq!(decoded("aé工🦀".as_bytes()), typed("aé工🦀"));
    assert_eq!(decoded(b"\xff"), typed("\u{fffd}"));
}

#[test]
fn keys_of_every_kind_are_known() {
    for (bytes, key) in [
        (&b"\r"[..], Key::plain(Code::Enter)),
        (b"\n", Key::ctrl('j')),
        (b"\x03", Key::ctrl('c')),
        (b"\x1f", Key::ctrl('7')),
        (b"\x7f", Key::plain(Code::Backspace)),
        (b"\x1b[A", Key::plain(Code::Up)),
        (b"\x1bOB", Key::plain(Code::Down)),
        (b"\x1b[5~", Key::plain(Code::PageUp)),
        (b"\x1bOQ", Key::plain(Code::F(2))),
        (b"\x1b[12~", Key::plain(Code::F(2))),
        (b"\x1b[19~", Key::plain(Code::F(8))),
        (
            b"\x1b[1;5C",
            Key {
                ctrl: true,
                ..Key::plain(Code::Right)
            },
        ),
        (
            b"\x1b[Z",
            Key {
                shift: true,
                ..Key::plain(Code::Tab)
            },
        ),
        (
            b"\x1b[13;2u",
            Key {
                shift: true,
                ..Key::plain(Code::Enter)
            },
        ),
        (b"\x1b[97;5u", Key::ctrl('a')),
        (
            b"\x1b[97;2u",
            Key {
                shift: true,
                ..Key::plain(Code::Char('A'))
            },
        ),
        (
            b"\x1b\r",
            Key {
                alt: true,
                ..Key::plain(Code::Enter)
            },
        ),
        (
            b"\x1bb",
            Key {
                alt: true,
                ..Key::plain(Code::Char('b'))
            },
        ),
    ] {
        assert_eq!(decoded(bytes), [Input::Key(key)], "{bytes:?}");
    }
}

#[test]
fn tui_7_answers_are_never_text_however_they_are_cut() {
    let answers = b"\x1b[?62;22c\x1b[?1u\x1b[?2026;2$y\x1b]11;rgb:1e1e/1f1f/2020\x1b\\\x1b[24;80R\x1bP1$r0m\x1b\\\x1b[<0;1;2M\x1b[M !!";
    let expected = [
        Input::Report(Report::Attributes),
        Input::Report(Report::Keyboard),
        Input::Report(Report::Mode {
            mode: 2026,
            known: true,
        }),
        Input::Report(Report::Background(0x1e, 0x1f, 0x20)),
        Input::Report(Report::Cursor {
            row: 24,
            column: 80,
        }),
    ];
    assert_eq!(decoded(answers), expected);
    for cut in 0..answers.len() {
        let mut decoder = Decoder::default();
        let mut inputs = decoder.feed(&answers[..cut]);
        inputs.extend(decoder.feed(&answers[cut..]));
        assert_eq!(inputs, expected, "{cut}");
    }
}

#[test]
fn tui_55_a_paste_is_one_thing_with_line_feeds() {
    let bytes = "a\x1b[200~one\r\ntwo\rthree\x1b[A\x1b[201~b".as_bytes();
    let mut expected = typed("a");
    expected.push(Input::Paste("one\ntwo\nthree\x1b[A".to_owned()));
    expected.extend(typed("b"));
    for cut in 0..bytes.len() {
        let mut decoder = Decoder::default();
        let mut inputs = decoder.feed(&bytes[..cut]);
        inputs.extend(decoder.feed(&bytes[cut..]));
        assert_eq!(inputs, expected, "{cut}");
    }
}

#[test]
fn tui_56_a_paste_of_more_than_a_mebibyte_is_refused() {
    let mut decoder = Decoder::default();
    assert_eq!(decoder.feed(PASTE_BEGINS), []);
    for _ in 0..=LONGEST_PASTE / 4096 {
        assert_eq!(decoder.feed(&[b'x'; 4096]), []);
    }
    assert_eq!(decoder.feed(PASTE_ENDS), [Input::PasteTooLong]);
    assert_eq!(decoder.feed(b"a"), typed("a"));
}

#[test]
fn tui_57_a_paste_without_an_end_ends_with_time() {
    let mut decoder = Decoder::default();
    assert_eq!(decoder.feed(b"\x1b[200~half\x1b[20"), []);
    assert!(decoder.is_pasting());
    assert_eq!(decoder.time_out(), [Input::Paste("half\x1b[20".to_owned())]);
    assert_eq!(decoder.feed(b"a"), typed("a"));
}

#[test]
fn a_lone_escape_is_a_key_once_time_has_passed() {
    let mut decoder = Decoder::default();
    assert_eq!(decoder.feed(b"\x1b"), []);
    assert!(decoder.is_unfinished());
    assert_eq!(decoder.time_out(), [key_of(Code::Esc)]);
    assert!(!decoder.is_unfinished());
    assert_eq!(decoder.feed(b"\x1b[?62"), []);
    assert_eq!(decoder.time_out(), []);
}

use super::*;

type Events = Vec<(String, String)>;

fn collect(chunks: &[&[u8]]) -> Result<Events, Failure> {
    let mut parser = Parser::default();
    let mut events = Vec::new();
    let mut take = |event: Event<'_>| {
        let text = String::from_utf8(event.data.to_vec()).unwrap();
        events.push((event.name.to_owned(), text));
        Ok(ControlFlow::<()>::Continue(()))
    };
    for chunk in chunks {
        let _ = parser.feed(chunk, &mut take)?;
    }
    let _ = parser.end(&mut take)?;
    Ok(events)
}

fn events(list: &[(&str, &str)]) -> Events {
    let owned = |(name, data): &(&str, &str)| ((*name).to_owned(), (*data).to_owned());
    list.iter().map(owned).collect()
}

/// The same however the stream is cut: in one piece, in two at every place, byte by byte.
fn check(stream: &[u8], expected: &[(&str, &str)]) {
    let expected = events(expected);
    assert_eq!(collect(&[stream]).unwrap(), expected);
    for cut in 0..=stream.len() {
        let (left, right) = stream.split_at(cut);
        assert_eq!(collect(&[left, right]).unwrap(), expected, "cut at {cut}");
    }
    let bytes: Vec<&[u8]> = stream.chunks(1).collect();
    assert_eq!(collect(&bytes).unwrap(), expected);
}

#[test]
fn every_line_end_is_one() {
    let expected = [("a", "1"), ("", "2")];
    for end in ["\n", "\r\n", "\r"] {
        let stream = "event: a\ndata: 1\n\ndata:2\n\n".replace('\n', end);
        check(stream.as_bytes(), &expected);
    }
    check(b"event: a\r\ndata: 1\r\r\ndata: 2\n\r", &expected);
}

#[test]
fn comments_unknown_fields_and_empty_events_are_passed_over() {
    let stream = b": keep-alive\n\n:\nid: 7\nretry: 10\n\nevent: ping\n\ndata: x\nnonsense\n\n\n\n";
    check(stream, &[("", "x")]);
}

#[test]
fn lines_of_data_are_joined() {
    check(
        b"data: {\ndata:  \"a\":\ndata\ndata: 1}\n\n",
        &[("", "{\n \"a\":\n\n1}")],
    );
    check(b"data:\n\n", &[("", "")]);
}

#[test]
fn a_mark_at_the_beginning_is_no_part_of_it() {
    check(
        "\u{feff}data: x\n\ndata: \u{feff}y\n\n".as_bytes(),
        &[("", "x"), ("", "\u{feff}y")],
    );
}

#[test]
fn characters_of_several_bytes_may_be_cut() {
    check("data: grüße 🎈\n\n".as_bytes(), &[("", "grüße 🎈")]);
}

#[test]
fn the_end_ends_the_last_event() {
    check(b"data: a\n\ndata: b", &[("", "a"), ("", "b")]);
    check(b"data: a\r", &[("", "a")]);
    check(b"", &[]);
}

#[test]
fn whoever_has_enough_gets_no_more() {
    let mut parser = Parser::default();
    let mut seen = 0;
    let flow = parser.feed(b"data: 1\n\ndata: 2\n\n", |_| {
        seen += 1;
        Ok(ControlFlow::Break("enough"))
    });
    assert_eq!(flow.unwrap(), ControlFlow::Break("enough"));
    assert_eq!(seen, 1);
}

#[test]
fn an_event_may_be_as_large_as_it_may_and_no_larger() {
    let whole = |length: usize| {
        let mut stream = b"data: ".to_vec();
        stream.resize(6 + length, b'x');
        stream.extend_from_slice(b"\n\n");
        let chunks: Vec<&[u8]> = stream.chunks(65_536).collect();
        collect(&chunks).map(|events| events[0].1.len())
    };
    assert_eq!(whole(MAX_FRAME_BYTES), Ok(MAX_FRAME_BYTES));
    assert!(whole(MAX_FRAME_BYTES + 1).is_err());
    assert!(whole(2 * MAX_FRAME_BYTES).is_err());
}

#[test]
fn many_small_lines_do_not_add_up_unseen() {
    let mut parser = Parser::default();
    let line = format!("data: {}\n", "x".repeat(65_536)).into_bytes();
    let mut take = |_: Event<'_>| Ok(ControlFlow::<()>::Continue(()));
    let refused = (0..300).find(|_| parser.feed(&line, &mut take).is_err());
    assert_eq!(refused, Some(255));
}

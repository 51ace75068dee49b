//! A record that was not written to its end.

use super::*;

/// A trail of three records, and where the last one begins.
fn three() -> (Vec<u8>, usize) {
    let whole = bytes(&trail_of(3));
    let newline = |byte: &u8| *byte == b'\n';
    let start = whole[..whole.len() - 1].iter().rposition(newline).unwrap() + 1;
    (whole, start)
}

#[test]
fn a_torn_record_is_told_from_a_changed_one_wherever_it_was_torn() {
    let (whole, start) = three();
    let folder = TempDir::new().unwrap();
    let path = folder.path().join(FILE);
    for cut in start + 1..whole.len() {
        std::fs::write(&path, &whole[..cut]).unwrap();
        let torn = (cut - start) as u64;
        let broken = verified(&folder).unwrap_err();
        assert_eq!((broken.line, broken.whole), (3, 2), "{cut}");
        assert_eq!(broken.reason, Reason::Torn { bytes: torn });
        let diagnostic = broken.diagnostic(&path);
        assert_eq!(diagnostic.code, &codes::AUDIT_TRAIL_TORN);
        let tail = tail::read(&File::open(&path).unwrap(), cut as u64).unwrap();
        assert_eq!((tail.whole, tail.last.unwrap().seq), (start as u64, 2));
    }
}

#[test]
fn a_torn_record_is_moved_aside() {
    let (whole, start) = three();
    for cut in [start + 1, start + 100, whole.len() - 1] {
        let folder = TempDir::new().unwrap();
        std::fs::write(folder.path().join(FILE), &whole[..cut]).unwrap();
        let opened = Trail::open(folder.path(), SESSION, Arc::default()).unwrap();
        let dropped = opened.dropped.unwrap();
        assert_eq!((dropped.bytes, dropped.seq), ((cut - start) as u64, 3));
        assert_eq!(
            std::fs::read(&dropped.moved_to).unwrap(),
            &whole[start..cut]
        );
        assert_eq!(bytes(&folder), &whole[..start]);
        opened.trail.append(turn(3)).unwrap();
        assert_eq!(verified(&folder).unwrap().records, 3);
    }
}

#[test]
fn the_first_record_may_be_torn_too() {
    let folder = trail_of(1);
    let whole = bytes(&folder);
    let path = folder.path().join(FILE);
    for _ in 0..2 {
        std::fs::write(&path, &whole[..20]).unwrap();
        let opened = Trail::open(folder.path(), SESSION, Arc::default()).unwrap();
        assert_eq!(opened.dropped.unwrap().seq, 1);
        opened.trail.append(turn(1)).unwrap();
    }
    // Besides the trail and the lock.
    let pieces = std::fs::read_dir(folder.path()).unwrap().count() - 2;
    assert_eq!(pieces, 2);
    assert_eq!(verified(&folder).unwrap().records, 1);
}

#[test]
fn zeros_that_a_loss_of_power_leaves_are_a_torn_record() {
    let folder = trail_of(2);
    let mut whole = bytes(&folder);
    let length = whole.len();
    whole.resize(length + 40_000, 0);
    std::fs::write(folder.path().join(FILE), &whole).unwrap();
    let opened = Trail::open(folder.path(), SESSION, Arc::default()).unwrap();
    let dropped = opened.dropped.unwrap();
    assert_eq!((dropped.bytes, dropped.seq), (40_000, 3));
    let warning = dropped.warning();
    assert_eq!(warning.code.to_string(), "Session/AuditTrailTorn");
    assert!(!warning.is_error());
    drop(opened.trail);
    open(&folder);
    assert_eq!(verified(&folder).unwrap().records, 2);
}

#[test]
fn what_has_no_line_end_and_no_end_is_no_trail() {
    let folder = TempDir::new().unwrap();
    let file = File::create(folder.path().join(FILE)).unwrap();
    file.set_len(20 * 1024 * 1024).unwrap();
    let error = Trail::open(folder.path(), SESSION, Arc::default()).unwrap_err();
    assert!(error.is(Class::Session, "AuditTrailBroken"), "{error}");
    assert_eq!(verified(&folder).unwrap_err().reason, Reason::TooLong);
}

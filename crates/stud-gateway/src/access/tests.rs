use axum::http::HeaderValue;

use super::*;

fn access(allowed: &[&str]) -> Access {
    Access {
        token: Token::of("0123456789abcdef0123".to_owned()),
        allowed_hosts: allowed.iter().map(|&host| host.to_owned()).collect(),
        cookie: "stud-7777".to_owned(),
        ticket: Mutex::new(Some(Token::of("fedcba98765432100123".to_owned()))),
    }
}

fn names(allowed: &[&str], host: &str, origin: Option<&str>) -> Result<(), Denied> {
    let mut headers = HeaderMap::new();
    headers.insert(HOST, HeaderValue::from_str(host).unwrap());
    if let Some(origin) = origin {
        headers.insert(ORIGIN, HeaderValue::from_str(origin).unwrap());
    }
    access(allowed).check_names(&headers, &Uri::from_static("/ws"))
}

#[test]
fn only_loopback_is_a_name_of_the_server() {
    for host in [
        "127.0.0.1:7777",
        "localhost:7777",
        "LOCALHOST:7777",
        "localhost",
        "[::1]:7777",
        "127.9.9.9:1",
    ] {
        assert_eq!(names(&[], host, None), Ok(()), "{host}");
    }
    for host in [
        "evil.example:7777",
        "evil.example",
        "127.0.0.1.evil.example:7777",
        "localhost.evil.example",
        "0.0.0.0:7777",
        "10.0.0.1:7777",
        "",
        ":7777",
        "localhost:7777@evil.example",
    ] {
        assert_eq!(names(&[], host, None), Err(Denied::Host), "{host}");
    }
}

#[test]
fn hosts_that_are_allowed_are_names_too() {
    let allowed = ["stud.example.com", "other.example:8443"];
    assert_eq!(names(&allowed, "stud.example.com", None), Ok(()));
    assert_eq!(names(&allowed, "Stud.Example.com:443", None), Ok(()));
    assert_eq!(names(&allowed, "other.example:8443", None), Ok(()));
    assert_eq!(names(&allowed, "other.example", None), Err(Denied::Host));
    assert_eq!(
        names(&allowed, "x.stud.example.com", None),
        Err(Denied::Host)
    );
}

#[test]
fn an_origin_is_the_server_itself_or_refused() {
    let host = "127.0.0.1:7777";
    assert_eq!(names(&[], host, Some("http://127.0.0.1:7777")), Ok(()));
    for origin in [
        "http://127.0.0.1:7778",
        "http://localhost:7777",
        "http://evil.example",
        "https://127.0.0.1",
        "null",
        "file://",
        "",
        "ftp://127.0.0.1:7777",
    ] {
        let named = names(&[], host, Some(origin));
        assert_eq!(named, Err(Denied::Origin), "{origin}");
    }
    let allowed = ["stud.example.com"];
    let origin = Some("https://stud.example.com");
    assert_eq!(names(&allowed, "stud.example.com", origin), Ok(()));
    assert_eq!(names(&allowed, "stud.example.com:443", origin), Ok(()));
}

#[test]
fn the_token_may_be_in_three_places() {
    let access = access(&[]);
    let plain = Uri::from_static("/ws");
    let with = |name: axum::http::HeaderName, value: &'static str| {
        let mut headers = HeaderMap::new();
        headers.insert(name, HeaderValue::from_static(value));
        access.check_token(&headers, &plain)
    };
    assert_eq!(with(AUTHORIZATION, "Bearer 0123456789abcdef0123"), Ok(()));
    assert_eq!(with(COOKIE, "a=b; stud-7777=0123456789abcdef0123"), Ok(()));
    assert_eq!(
        with(COOKIE, "stud-7778=0123456789abcdef0123"),
        Err(Denied::Token)
    );
    assert_eq!(with(AUTHORIZATION, "Bearer x"), Err(Denied::Token));
    assert_eq!(
        with(AUTHORIZATION, "Basic 0123456789abcdef0123"),
        Err(Denied::Token)
    );
    let query = Uri::from_static("/ws?x=1&token=0123456789abcdef0123");
    assert_eq!(access.check_token(&HeaderMap::new(), &query), Ok(()));
    assert_eq!(
        access.check_token(&HeaderMap::new(), &plain),
        Err(Denied::Token)
    );
}

#[test]
fn a_ticket_is_good_once() {
    let access = access(&[]);
    assert!(!access.take_ticket("0123456789abcdef0123"));
    assert!(access.take_ticket("fedcba98765432100123"));
    assert!(!access.take_ticket("fedcba98765432100123"));
}

#[test]
fn a_token_file_is_private() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("token");
    let written = Token::in_file(&path).unwrap();
    let read = Token::in_file(&path).unwrap();
    assert_eq!(written.text(), read.text());
    assert!(read.is(written.text()));
    fs::write(&path, "short").unwrap();
    assert!(Token::in_file(&path).is_err());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        fs::write(&path, "0123456789abcdef0123").unwrap();
        assert!(Token::in_file(&path).is_ok());
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(Token::in_file(&path).is_err());
    }
}

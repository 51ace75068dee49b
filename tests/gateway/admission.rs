//! Who is let in: token, Host and Origin, on the page, its files and the socket.

use stud_tests::{Served, World};

fn cookie(served: &Served) -> String {
    format!("stud-{}={}", served.port(), served.token())
}

#[test]
fn the_line_says_where_to_go_and_the_health_needs_no_token() {
    let world = World::new();
    let served = world.serve();
    let socket = served.line["controlSocket"].as_str().unwrap();
    assert_eq!(
        std::path::Path::new(socket),
        world.home().join("run/control.sock")
    );
    assert!(served.token().len() >= 32);
    assert_eq!(served.fetch("GET", "/healthz", &[]).status, 200);
}

#[test]
fn the_token_leaves_the_address_at_once() {
    let world = World::new();
    let served = world.serve();
    assert_eq!(served.fetch("GET", "/", &[]).status, 401);
    assert_eq!(served.fetch("GET", "/?token=wrong", &[]).status, 401);
    let opened = served.fetch("GET", &format!("/?token={}", served.token()), &[]);
    assert_eq!(opened.status, 302);
    let headers = opened.headers.to_lowercase();
    assert!(headers.contains("\r\nlocation: /\r\n"), "{headers}");
    assert!(headers.contains("httponly; samesite=strict"), "{headers}");
    assert!(
        headers.contains("referrer-policy: no-referrer"),
        "{headers}"
    );
    assert!(
        headers.contains("content-security-policy: default-src 'none'"),
        "{headers}"
    );
    let cookie = cookie(&served);
    let page = served.fetch("GET", "/", &[("cookie", &cookie)]);
    assert_eq!(page.status, 200);
    assert!(!page.body.contains(&served.token()));
}

#[test]
fn every_door_wants_the_token_the_host_and_the_origin() {
    let world = World::new();
    let served = world.serve();
    let (port, cookie) = (served.port(), cookie(&served));
    let own = format!("http://127.0.0.1:{port}");
    let bearer = format!("Bearer {}", served.token());
    let loopback = format!("127.0.0.1:{port}");
    let named = format!("localhost:{port}");
    let rebound = format!("evil.example:{port}");
    let tokens: [(&str, &str, bool); 4] = [
        ("cookie", &cookie, true),
        ("authorization", &bearer, true),
        ("authorization", "Bearer 0123456789abcdef", false),
        ("x-none", "1", false),
    ];
    let hosts = [(loopback.as_str(), true), (&named, true), (&rebound, false)];
    let origins = [
        (None, true),
        (Some(own.as_str()), true),
        (Some("http://evil.example"), false),
        (Some("null"), false),
    ];
    for (token, value, known) in tokens {
        for (host, host_fits) in hosts {
            for (origin, origin_fits) in origins {
                let origin_fits = match origin {
                    // The origin has to be the one under which the server was called.
                    Some(origin) if origin == own => host == loopback,
                    _ => origin_fits,
                };
                let mut headers = vec![("host", host), (token, value)];
                headers.extend(origin.map(|origin| ("origin", origin)));
                let expected = match (host_fits && origin_fits, known) {
                    (false, _) => 403,
                    (true, false) => 401,
                    (true, true) => 200,
                };
                let what = format!("{headers:?}");
                for path in ["/", "/assets/app.js"] {
                    let status = served.fetch("GET", path, &headers).status;
                    assert_eq!(status, expected, "{path} {what}");
                }
                let joined = served.try_connect("/ws", &headers);
                let status = joined.map_or_else(|status| status, |_| 200);
                assert_eq!(status, expected, "/ws {what}");
            }
        }
    }
}

#[test]
fn a_program_may_give_the_token_in_the_address_of_the_socket() {
    let world = World::new();
    let served = world.serve();
    let path = format!("/ws?token={}", served.token());
    assert!(served.try_connect(&path, &[]).is_ok());
    assert_eq!(served.try_connect("/ws?token=x", &[]).err(), Some(401));
}

#[test]
fn names_that_the_settings_allow_are_let_in() {
    let world = World::new();
    world.write(
        "home/settings.json",
        r#"{"serve": {"allowedHosts": ["stud.example.com"]}}"#,
    );
    let served = world.serve();
    let cookie = cookie(&served);
    let status = |host: &str, origin: &str| {
        let headers = [("host", host), ("origin", origin), ("cookie", &cookie)];
        served.fetch("GET", "/", &headers).status
    };
    assert_eq!(status("stud.example.com", "https://stud.example.com"), 200);
    assert_eq!(status("stud.example.com", "https://evil.example"), 403);
    assert_eq!(
        status("other.example.com", "https://other.example.com"),
        403
    );
}

#[test]
fn a_token_file_keeps_the_token_off_the_output() {
    let world = World::new();
    let file = world.path("token");
    let served = world.serve_with(&["--token-file", &file.to_string_lossy()]);
    assert!(served.line.get("token").is_none());
    let token = std::fs::read_to_string(&file).unwrap();
    let path = format!("/ws?token={}", token.trim());
    assert!(served.try_connect(&path, &[]).is_ok());
}

#[test]
fn what_is_not_served_is_refused() {
    let world = World::new();
    let served = world.serve();
    let cookie = cookie(&served);
    let headers = [("cookie", cookie.as_str())];
    for path in [
        "/assets/../Cargo.toml",
        "/assets/%2e%2e%2fx",
        "/etc/passwd",
        "/x",
    ] {
        assert_eq!(served.fetch("GET", path, &headers).status, 404, "{path}");
    }
    assert_eq!(served.fetch("POST", "/", &headers).status, 405);
}

//! Over TLS, with a certificate that only `SSL_CERT_FILE` vouches for.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::process::Command;
use std::sync::Arc;
use std::thread;

use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, Stream};

use super::*;

/// Set for the process that asks: the roots of trust are read once in a process, and its environment is fixed.
const ADDRESS: &str = "MODEL_HTTP_TEST_ADDRESS";

/// The test below, by its name.
const THIS: &str = "tests::tls::a_server_is_trusted_as_the_system_says";

/// Runs itself anew as the process that asks, once with the server among the roots of trust and once without.
#[test]
fn a_server_is_trusted_as_the_system_says() {
    #[expect(
        clippy::disallowed_methods,
        reason = "a test that runs itself anew says through the environment what to do"
    )]
    if let Ok(address) = std::env::var(ADDRESS) {
        return asks(&address);
    }
    let signed = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let roots = folder.path().join("roots.pem");
    std::fs::write(&roots, signed.cert.pem()).unwrap();
    let strangers = folder.path().join("strangers.pem");
    let stranger = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    std::fs::write(&strangers, stranger.cert.pem()).unwrap();

    let key = PrivateKeyDer::try_from(signed.signing_key.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![signed.cert.der().clone()], key)
        .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || serve(&listener, &Arc::new(config)));

    let ask = |roots: &std::path::Path| {
        Command::new(std::env::current_exe().unwrap())
            .args(["--exact", THIS, "--nocapture"])
            .env(ADDRESS, format!("https://localhost:{port}"))
            .env("SSL_CERT_FILE", roots)
            .env_remove("SSL_CERT_DIR")
            .env("NO_PROXY", "localhost")
            .output()
            .unwrap()
    };
    let asked = ask(&roots);
    assert!(asked.status.success(), "{asked:?}");
    let ran = String::from_utf8_lossy(&asked.stdout);
    assert!(ran.contains("1 passed"), "{asked:?}");
    let asked = ask(&strangers);
    let text = String::from_utf8_lossy(&asked.stderr);
    assert!(
        text.contains("NetworkTimeout") && text.contains("certificate"),
        "{asked:?}"
    );
}

/// What the process that asks does.
fn asks(address: &str) {
    let host = stud_sdk::testing::FakeHost::new().config(json!({"baseURL": address}));
    let harness = stud_sdk::testing::Harness::new(stud_plugin(), host);
    let told = Told::of(harness.request(&trial().request).unwrap());
    assert_eq!(told, trial().told);
}

fn serve(listener: &TcpListener, config: &Arc<ServerConfig>) {
    for stream in listener.incoming() {
        let mut socket = stream.unwrap();
        let mut connection = ServerConnection::new(config.clone()).unwrap();
        let mut stream = Stream::new(&mut connection, &mut socket);
        let mut request = Vec::new();
        let mut chunk = [0; 1024];
        // A client that does not trust the server goes away here.
        while !request.ends_with(b"{\"said\":\"hi\"}") {
            match stream.read(&mut chunk) {
                Ok(count) if count > 0 => request.extend_from_slice(&chunk[..count]),
                _ => break,
            }
        }
        let _ = stream.write_all(&super::stream(&trial().answer));
        let _ = stream.flush();
    }
}

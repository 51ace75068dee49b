//! A browser, driven over `WebDriver`: plain HTTP and JSON to a process of its own.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// More than anything takes on a machine that is busy with other things.
const LIMIT: Duration = Duration::from_secs(90);

/// Where Debian puts them; other systems have them in the path.
const DRIVERS: [&str; 2] = ["/usr/bin/chromedriver", "/usr/local/bin/chromedriver"];

/// A headless Chromium.
pub(crate) struct Browser {
    driver: Child,
    port: u16,
    session: String,
    profile: tempfile::TempDir,
}

/// Whether there is a browser to test with. Says so where there is none.
pub(crate) fn is_here() -> bool {
    let found = driver().is_some();
    if !found {
        println!(
            "NOT TESTED: there is no `chromedriver`; install `chromium` and `chromium-driver`"
        );
    }
    found
}

fn driver() -> Option<PathBuf> {
    let known = DRIVERS.iter().map(PathBuf::from);
    known.into_iter().find(|path| path.exists())
}

impl Browser {
    /// A window of this size.
    pub(crate) fn open(width: u32, height: u32) -> Self {
        let profile = tempfile::tempdir().expect("a folder for the profile");
        let mut driver = Command::new(driver().expect("a driver"))
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the driver starts");
        let stdout = driver.stdout.take().expect("its output is a pipe");
        let mut lines = BufReader::new(stdout).lines().map_while(Result::ok);
        let port = lines
            .find_map(|line| {
                let (_, port) = line.split_once("successfully on port ")?;
                port.trim_end_matches('.').parse().ok()
            })
            .expect("the driver says its port");
        // What it says later is read, so that it does not wait for room.
        std::thread::spawn(move || lines.for_each(drop));
        let mut browser = Self {
            driver,
            port,
            session: String::new(),
            profile,
        };
        let folder = browser.profile.path().to_string_lossy().into_owned();
        let args = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            &format!("--window-size={width},{height}"),
            &format!("--user-data-dir={folder}"),
        ];
        let options = json!({"args": args});
        let capabilities =
            json!({"alwaysMatch": {"browserName": "chrome", "goog:chromeOptions": options}});
        let made = browser.call("POST", "/session", &json!({"capabilities": capabilities}));
        browser.session = made["sessionId"].as_str().expect("a session").to_owned();
        browser
    }

    pub(crate) fn go(&self, address: &str) {
        self.on("POST", "/url", &json!({"url": address}));
    }

    pub(crate) fn reload(&self) {
        self.on("POST", "/refresh", &json!({}));
    }

    pub(crate) fn address(&self) -> String {
        let address = self.on("GET", "/url", &Value::Null);
        address.as_str().unwrap_or_default().to_owned()
    }

    /// What a script returns.
    pub(crate) fn run(&self, script: &str) -> Value {
        self.run_with(script, &[])
    }

    pub(crate) fn run_with(&self, script: &str, args: &[Value]) -> Value {
        let body = json!({"script": script, "args": args});
        self.on("POST", "/execute/sync", &body)
    }

    /// What a script gives to its last argument, a function.
    pub(crate) fn run_async(&self, script: &str) -> Value {
        let body = json!({"script": script, "args": []});
        self.on("POST", "/execute/async", &body)
    }

    /// Waits until an expression is true, and gives what it is.
    pub(crate) fn wait(&self, expression: &str) -> Value {
        let began = Instant::now();
        let script = format!("return ({expression});");
        loop {
            let value = self.run(&script);
            let is_false = matches!(&value, Value::Null | Value::Bool(false));
            if !is_false && value != "" && value != 0 {
                return value;
            }
            if began.elapsed() > LIMIT {
                let text = self.run("return document.body.innerText");
                panic!(
                    "never: {expression}\nthe page: {}",
                    text.as_str().unwrap_or_default()
                );
            }
            std::thread::sleep(Duration::from_millis(30));
        }
    }

    /// Waits until the page shows this text.
    pub(crate) fn wait_text(&self, text: &str) {
        let text = Value::from(text).to_string();
        self.wait(&format!("document.body.innerText.includes({text})"));
    }

    /// Waits for an element, and clicks it as a person does.
    pub(crate) fn click(&self, selector: &str) {
        self.on_element(selector, "click", &json!({}));
    }

    /// Waits for an element, and types into it.
    pub(crate) fn type_into(&self, selector: &str, text: &str) {
        self.on_element(selector, "value", &json!({"text": text}));
    }

    /// Does something to an element. One that the page has shown anew in the meantime is looked for again, as a person
    /// would.
    fn on_element(&self, selector: &str, act: &str, body: &Value) {
        let began = Instant::now();
        loop {
            let element = self.find(selector);
            let path = format!("/session/{}/element/{element}/{act}", self.session);
            let value = self.answer("POST", &path, body);
            if value["error"] != "stale element reference" || began.elapsed() > LIMIT {
                succeeded("POST", &path, &value);
                return;
            }
        }
    }

    /// Types wherever the focus is.
    pub(crate) fn keys(&self, text: &str) {
        let actions: Vec<Value> = text
            .chars()
            .flat_map(|key| {
                let key = key.to_string();
                [
                    json!({"type": "keyDown", "value": key}),
                    json!({"type": "keyUp", "value": key}),
                ]
            })
            .collect();
        let body = json!({"actions": [{"type": "key", "id": "keyboard", "actions": actions}]});
        self.on("POST", "/actions", &body);
    }

    /// Keeps a picture of the page, for a person who wants to look.
    pub(crate) fn picture(&self, name: &str) {
        let Some(folder) = std::env::var_os("STUD_PICTURES") else {
            return;
        };
        let taken = self.on("GET", "/screenshot", &Value::Null);
        let bytes = decoded(taken.as_str().unwrap_or_default());
        let path = Path::new(&folder).join(format!("{name}.png"));
        std::fs::write(path, bytes).expect("the picture is kept");
    }

    fn find(&self, selector: &str) -> String {
        let quoted = Value::from(selector).to_string();
        self.wait(&format!("document.querySelector({quoted}) !== null"));
        let body = json!({"using": "css selector", "value": selector});
        let found = self.on("POST", "/element", &body);
        let id = found.as_object().and_then(|found| found.values().next());
        let id = id.and_then(Value::as_str);
        id.unwrap_or_else(|| panic!("no {selector}")).to_owned()
    }

    fn on(&self, method: &str, path: &str, body: &Value) -> Value {
        self.call(method, &format!("/session/{}{path}", self.session), body)
    }

    fn call(&self, method: &str, path: &str, body: &Value) -> Value {
        let value = self.answer(method, path, body);
        succeeded(method, path, &value);
        value
    }

    /// What the driver answers, which may be an error.
    fn answer(&self, method: &str, path: &str, body: &Value) -> Value {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("the driver is there");
        stream.set_read_timeout(Some(LIMIT)).expect("a limit");
        let body = if method == "GET" {
            String::new()
        } else {
            body.to_string()
        };
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\nConnection: close\r\n\r\n",
            self.port,
            body.len()
        );
        stream
            .write_all(format!("{head}{body}").as_bytes())
            .expect("it is sent");
        let mut reader = BufReader::new(stream);
        let mut length = 0;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).expect("an answer");
            if line.trim().is_empty() {
                break;
            }
            if let Some(given) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = given.trim().parse().expect("a length");
            }
        }
        let mut answer = vec![0; length];
        reader.read_exact(&mut answer).expect("the whole answer");
        let answer: Value = serde_json::from_slice(&answer).expect("JSON");
        answer["value"].clone()
    }
}

fn succeeded(method: &str, path: &str, value: &Value) {
    assert!(
        value.get("error").is_none() || value.get("message").is_none(),
        "{method} {path}: {value}"
    );
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The browser ends with its session, and the driver by itself.
        if !std::thread::panicking() {
            self.on("DELETE", "", &json!({}));
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

/// Bytes from Base64.
fn decoded(text: &str) -> Vec<u8> {
    let digit = |byte: u8| match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let digits: Vec<u8> = text.bytes().filter_map(digit).collect();
    let mut bytes = Vec::new();
    for four in digits.chunks(4) {
        let bits = four
            .iter()
            .fold(0_u32, |bits, digit| bits << 6 | u32::from(*digit))
            << (6 * (4 - four.len()));
        let [_, first, second, third] = bits.to_be_bytes();
        bytes.extend([first, second, third].iter().take(four.len() - 1));
    }
    bytes
}

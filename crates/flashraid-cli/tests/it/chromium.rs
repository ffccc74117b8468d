//! One headless Chromium for all pages that the tests open.
//!
//! The tests speak the DevTools protocol with it, over pipes (`--remote-debugging-pipe`). Commands and answers are JSON documents that end
//! with a zero byte. Pages are opened one after another in two windows; they store nothing.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::browser::Look;

/// A page that takes longer than this hangs, even on a busy machine.
const HANGS_AFTER: Duration = Duration::from_secs(120);
/// Time between two looks at a page that is not ready.
const LOOKS_AGAIN_AFTER: Duration = Duration::from_millis(20);

/// Time that passes for a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageTime {
    /// Real time, as readers have it.
    Real = 0,
    /// Time that jumps to the next timer.
    Virtual = 1,
}

static BROWSER: Mutex<Option<Browser>> = Mutex::new(None);

/// Returns the value of a JavaScript expression in a page, as soon as it is neither null nor undefined; null if the page hangs.
/// Returns `None` if there is no browser.
pub fn read(page: &Path, look: Look, time: PageTime, expression: &str) -> Option<Value> {
    // A failed test leaves the browser as it is.
    let mut running = BROWSER.lock().unwrap_or_else(PoisonError::into_inner);
    if running.is_none() {
        *running = Browser::start();
    }
    let Some(browser) = running.as_mut() else {
        eprintln!("skipped: no chromium");
        return None;
    };
    let value = browser.read(page, look, time, expression);
    if value.is_none() {
        *running = None;
    }
    Some(value.unwrap_or_default())
}

struct Browser {
    commands: ChildStdin,
    answers: Receiver<Value>,
    /// Session of the window for each kind of [`PageTime`], as soon as there is one. A new window takes the time of a page.
    sessions: [Option<String>; 2],
    last_id: u64,
}

impl Browser {
    fn start() -> Option<Browser> {
        Command::new("chromium").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().ok()?;
        // The browser ends when its commands do, and its profile goes with it.
        let options = "--headless --no-sandbox --disable-gpu --disable-gpu-compositing --disable-software-rasterizer --no-first-run \
             --disable-background-networking --remote-debugging-pipe";
        let script = format!("profile=$(mktemp -d); chromium {options} --user-data-dir=\"$profile\" 3<&0 4>&1; rm -rf \"$profile\"");
        let mut command = Command::new("sh");
        command.args(["-c", &script]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = command.spawn().unwrap();
        let commands = process.stdin.take().unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        let (sender, answers) = channel();
        thread::spawn(move || {
            for document in output.split(0).map_while(Result::ok) {
                let answer = serde_json::from_slice::<Value>(&document).unwrap();
                if answer["id"].is_u64() && sender.send(answer).is_err() {
                    break;
                }
            }
            let _ = process.wait();
        });
        Some(Browser { commands, answers, sessions: [None, None], last_id: 0 })
    }

    /// Returns `None` if the browser has to be replaced.
    fn read(&mut self, page: &Path, look: Look, time: PageTime, expression: &str) -> Option<Value> {
        let until = Instant::now() + HANGS_AFTER;
        let session = match &self.sessions[time as usize] {
            Some(session) => session.clone(),
            None => self.open(until)?,
        };
        self.sessions[time as usize] = Some(session.clone());
        let session = Some(session.as_str());
        let screen = json!({ "width": look.width.max(500), "height": 900, "deviceScaleFactor": 1, "mobile": false });
        self.call(session, "Emulation.setDeviceMetricsOverride", screen, until)?;
        let ground = json!({ "features": [{ "name": "prefers-color-scheme", "value": if look.dark { "dark" } else { "light" } }] });
        self.call(session, "Emulation.setEmulatedMedia", ground, until)?;
        if time == PageTime::Virtual {
            self.call(session, "Emulation.setVirtualTimePolicy", json!({ "policy": "advance" }), until)?;
        }
        // No two pages have the same address, so that an answer is never of the page before.
        let url = format!("file://{}?{}", page.display(), self.last_id);
        self.call(session, "Page.navigate", json!({ "url": url }), until)?;
        let expression = format!("location.href === {} ? ({expression}) : null", json!(url));
        let value = loop {
            let question = json!({ "expression": expression, "returnByValue": true });
            let answer = self.call(session, "Runtime.evaluate", question, until)?;
            match answer.pointer("/result/value") {
                Some(value) if !value.is_null() => break value.clone(),
                _ if Instant::now() > until => return None,
                _ => thread::sleep(LOOKS_AGAIN_AFTER),
            }
        };
        if time == PageTime::Virtual {
            // Time that jumps keeps a processor busy.
            self.call(session, "Emulation.setVirtualTimePolicy", json!({ "policy": "pause" }), until)?;
        }
        Some(value)
    }

    /// Opens a window, and returns its session.
    fn open(&mut self, until: Instant) -> Option<String> {
        let context = self.call(None, "Target.createBrowserContext", json!({}), until)?["browserContextId"].clone();
        let target =
            self.call(None, "Target.createTarget", json!({ "url": "about:blank", "browserContextId": context }), until)?["targetId"]
                .clone();
        let session = self.call(None, "Target.attachToTarget", json!({ "targetId": target, "flatten": true }), until)?["sessionId"].clone();
        Some(session.as_str().expect("a page has a session").to_owned())
    }

    /// Returns the result of a command, or `None` if there is none in time.
    fn call(&mut self, session: Option<&str>, method: &str, params: Value, until: Instant) -> Option<Value> {
        self.last_id += 1;
        let mut command = json!({ "id": self.last_id, "method": method, "params": params });
        if let Some(session) = session {
            command["sessionId"] = json!(session);
        }
        self.commands.write_all(format!("{command}\0").as_bytes()).ok()?;
        loop {
            let answer = self.answers.recv_timeout(until.saturating_duration_since(Instant::now())).ok()?;
            if answer["id"] == self.last_id {
                // A page that is being replaced has no place to evaluate in; the question is asked again.
                return Some(answer["result"].clone());
            }
        }
    }
}

//! An MCP server as a program, whose faults are set by its environment and by files.
//!
//! `SX_STATE` names a directory: each start is a line in `starts` (its process id), a start while an
//! earlier one still runs is a line in `overlaps`, what the client can do a line in `capabilities`, each
//! request a line in `requests` and, with the milliseconds since the start, in `times`, the text of each call of `echo`, which stands for tools that change
//! something, a line in `echoed`. A file `broken` makes every start fail, `hang` makes the handshake hang,
//! `half` makes the program end in the middle of an answer, `visit` makes a call ask for a page to be opened.
//! `SX_FAULTS` holds words: `die` (exits in the middle of every call after writing a line to `done`),
//! `no-ping`, `deaf` (ignores pings), `noise` (talks nonsense), `stays` (does not end with its input), `stubborn` (nor when it is asked to),
//! `grandchild` (starts a process that ignores being asked to end), `asks` (offers tools that put a question to
//! the client: its user or its model, or one question many times, and answer with what came back), `heavy` (offers more than anybody wants
//! to read), `restless` (says after every list of its tools that they are others now), `brief` (ends after the list
//! of its tools), `tasks` (offers a tool that runs as a task, see there). A call may ask for its `progress` to be told, for an answer of so many `bytes`,
//! and for a result that is `raw` text, whether it can be read or not.

#[path = "mcp_stdio/tasks.rs"]
mod tasks;

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{self, BufRead, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

struct Program {
    state: PathBuf,
    faults: Vec<String>,
    out: Mutex<io::Stdout>,
    /// What came back for our own questions.
    replies: (Mutex<Vec<Value>>, Condvar),
    began: Instant,
}

#[expect(
    clippy::disallowed_methods,
    reason = "the environment is how tests steer this program"
)]
fn main() -> ExitCode {
    let state = PathBuf::from(std::env::var("SX_STATE").unwrap_or_else(|_| "/tmp".to_owned()));
    let faults = std::env::var("SX_FAULTS").unwrap_or_default();
    if faults.split_whitespace().any(|fault| fault == "stubborn") {
        let Err(error) = again_and_deaf_to_signals(&faults);
        let _ = writeln!(io::stderr(), "{error}");
        return ExitCode::FAILURE;
    }
    let program = Arc::new(Program {
        state,
        faults: faults.split_whitespace().map(str::to_owned).collect(),
        out: Mutex::new(io::stdout()),
        replies: Default::default(),
        began: Instant::now(),
    });
    match program.run() {
        Ok(code) => code,
        Err(_) => ExitCode::FAILURE,
    }
}

/// Becomes this program once more. What a shell ignores stays ignored by what it turns into.
fn again_and_deaf_to_signals(faults: &str) -> io::Result<std::convert::Infallible> {
    let error = Command::new("bash")
        .args(["-c", "trap '' TERM; exec \"$0\""])
        .arg(std::env::current_exe()?)
        .env("SX_FAULTS", faults.replace("stubborn", "stays"))
        .exec();
    Err(error)
}

fn append(path: &Path, line: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().create(true).append(true).open(path)?;
    file.write_all(format!("{line}\n").as_bytes())
}

impl Program {
    fn has(&self, fault: &str) -> bool {
        self.faults.iter().any(|one| one == fault)
    }

    fn note(&self, file: &str, line: &str) -> io::Result<()> {
        append(&self.state.join(file), line)
    }

    fn run(self: &Arc<Self>) -> io::Result<ExitCode> {
        self.note_start()?;
        if self.state.join("broken").exists() {
            io::stderr().write_all(b"the program is broken\n")?;
            return Ok(ExitCode::from(3));
        }
        if self.has("grandchild") {
            let child = Command::new("bash")
                .args(["-c", "trap '' TERM; sleep 300"])
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()?;
            self.note("grandchildren", &child.id().to_string())?;
        }
        if self.has("noise") {
            io::stderr().write_all(b"noise on standard error\n")?;
            self.say("this is not a message")?;
            self.say("{\"half\": ")?;
        }
        for line in io::stdin().lock().lines() {
            let Ok(message) = serde_json::from_str::<Value>(&line?) else {
                continue;
            };
            if self.has("brief") && message["method"] == "tools/list" {
                self.handle(&message)?;
                return Ok(ExitCode::SUCCESS);
            }
            let own = Arc::clone(self);
            thread::spawn(move || own.handle(&message));
        }
        if self.has("stays") {
            thread::sleep(Duration::from_secs(600));
        }
        Ok(ExitCode::SUCCESS)
    }

    /// Notes the start, and whether another of us still runs.
    fn note_start(&self) -> io::Result<()> {
        let earlier = fs::read_to_string(self.state.join("starts")).unwrap_or_default();
        for pid in earlier.lines() {
            let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            let runs = stat
                .rsplit_once(')')
                .is_some_and(|(_, rest)| !rest.trim_start().starts_with(['Z', 'X']));
            if runs && stat.contains("mcp-stdio") {
                self.note("overlaps", pid)?;
            }
        }
        self.note("starts", &std::process::id().to_string())
    }

    fn say(&self, line: &str) -> io::Result<()> {
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        out.write_all(format!("{line}\n").as_bytes())?;
        out.flush()
    }

    fn handle(self: &Arc<Self>, message: &Value) -> io::Result<()> {
        let method = message["method"].as_str().unwrap_or_default();
        let time = self.began.elapsed().as_millis();
        self.note("times", &format!("{method} {time}"))?;
        self.note("requests", method)?;
        if method.is_empty() {
            let (replies, wake) = &self.replies;
            let mut replies = replies.lock().unwrap_or_else(PoisonError::into_inner);
            replies.push(message.clone());
            wake.notify_all();
            return Ok(());
        }
        let Some(id) = message.get("id").filter(|_| !method.is_empty()) else {
            return Ok(());
        };
        if method == "initialize" && self.state.join("hang").exists() {
            thread::sleep(Duration::from_secs(600));
        }
        if method == "ping" && self.has("deaf") {
            return Ok(());
        }
        // Once: the page has been opened when the same comes again.
        if method == "tools/call" && fs::remove_file(self.state.join("visit")).is_ok() {
            let page = json!({
                "mode": "url", "message": "Sign in", "url": "https://h.example.test/x?state=1",
                "elicitationId": "1",
            });
            let error = json!({
                "code": -32042, "message": "a page first", "data": { "elicitations": [page] },
            });
            let answer = json!({ "jsonrpc": "2.0", "id": id, "error": error });
            return self.say(&answer.to_string());
        }
        if method.starts_with("tasks/")
            || (method == "tools/call" && message["params"]["name"] == "work")
        {
            let mut answer = json!({ "jsonrpc": "2.0", "id": id });
            match tasks::answer(self, method, &message["params"])? {
                Ok(result) => answer["result"] = result,
                Err(error) => answer["error"] = error,
            }
            return self.say(&answer.to_string());
        }
        if let Some(raw) = message["params"]["arguments"]["raw"].as_str() {
            return self.say(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{raw}}}"#));
        }
        let answer = match self.result(method, &message["params"])? {
            Some(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
            None => json!({
                "jsonrpc": "2.0", "id": id,
                "error": { "code": -32601, "message": format!("Method not found: {method}") },
            }),
        };
        self.say(&answer.to_string())?;
        if method == "tools/list" && self.has("restless") {
            let news = json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" });
            self.say(&news.to_string())?;
        }
        Ok(())
    }

    fn result(&self, method: &str, params: &Value) -> io::Result<Option<Value>> {
        let tool = |name: &str, read_only: bool| {
            json!({
                "name": name,
                "inputSchema": { "type": "object", "properties": {} },
                "annotations": { "readOnlyHint": read_only },
            })
        };
        Ok(Some(match method {
            "initialize" => {
                self.note("capabilities", &params["capabilities"].to_string())?;
                json!({
                    "protocolVersion": params["protocolVersion"],
                    "capabilities": match self.has("tasks") {
                        true => json!({ "tools": {}, "tasks": { "requests": { "tools": { "call": {} } } } }),
                        false => json!({ "tools": {} }),
                    },
                    "serverInfo": { "name": "stdio fixture", "version": "1" },
                })
            }
            "ping" if !self.has("no-ping") => json!({}),
            "tools/list" if self.has("asks") => json!({ "tools": [
                tool("ask", true), tool("sample", true), tool("flood", true),
            ] }),
            "tools/list" if self.has("tasks") || self.has("no-tasks") => {
                json!({ "tools": [tasks::tool(), tool("echo", false)] })
            }
            "tools/list" if self.has("heavy") => {
                let heavy = |number| {
                    let mut tool = tool(&format!("tool{number}"), true);
                    tool["description"] = "x".repeat(1 << 20).into();
                    tool
                };
                json!({ "tools": (0..9).map(heavy).collect::<Vec<_>>() })
            }
            "tools/list" => json!({ "tools": [
                tool("echo", false), tool("read", true), tool("wait", true),
            ] }),
            "tools/call" => self.call(params)?,
            _ => return Ok(None),
        }))
    }

    fn call(&self, params: &Value) -> io::Result<Value> {
        self.note("done", params["name"].as_str().unwrap_or_default())?;
        if params["name"] == "echo"
            && let Some(text) = params["arguments"]["text"].as_str()
        {
            self.note("echoed", text)?;
        }
        if self.has("die") || self.state.join("die").exists() {
            // Only once when it was asked for by a file.
            let _ = fs::remove_file(self.state.join("die"));
            self.exit();
        }
        if fs::remove_file(self.state.join("half")).is_ok() {
            let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
            out.write_all(b"{\"jsonrpc\":\"2.0\",\"result\":{\"content\"")?;
            out.flush()?;
            self.exit();
        }
        let arguments = &params["arguments"];
        let asked = match params["name"].as_str() {
            Some("ask") => Some("elicitation/create"),
            Some("sample") => Some("sampling/createMessage"),
            _ => None,
        };
        if let Some(method) = asked {
            let reply = self.ask(method, &arguments["question"])?;
            return Ok(json!({ "content": [{ "type": "text", "text": reply.to_string() }] }));
        }
        if params["name"] == "flood" {
            let reply = self.flood(arguments)?;
            return Ok(json!({ "content": [{ "type": "text", "text": reply.to_string() }] }));
        }
        if let Some(message) = arguments["progress"].as_str() {
            let token = &params["_meta"]["progressToken"];
            let params = json!({
                "progressToken": token, "progress": 1, "total": 4, "message": message,
            });
            let told = json!({
                "jsonrpc": "2.0", "method": "notifications/progress", "params": params,
            });
            self.say(&told.to_string())?;
        }
        if let Some(millis) = arguments["millis"].as_u64() {
            thread::sleep(Duration::from_millis(millis));
        }
        let bytes = arguments["bytes"].as_u64().unwrap_or_default();
        let long = "x".repeat(usize::try_from(bytes).unwrap_or_default());
        let text = arguments["text"].as_str().unwrap_or("ok");
        let text = format!("{text}{long}");
        Ok(json!({ "content": [{ "type": "text", "text": text }] }))
    }

    /// Puts a question to the client and waits for what comes back.
    fn ask(&self, method: &str, params: &Value) -> io::Result<Value> {
        let id = format!("question {}", self.state.display());
        let question = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.say(&question.to_string())?;
        let (replies, wake) = &self.replies;
        let mut replies = replies.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(place) = replies.iter().position(|reply| reply["id"] == id) {
                let reply = replies.swap_remove(place);
                let answer = reply.get("result").or_else(|| reply.get("error"));
                return Ok(answer.cloned().unwrap_or_default());
            }
            replies = wake.wait(replies).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Puts the same question so many `times` at once; what came back, counted.
    fn flood(&self, arguments: &Value) -> io::Result<Value> {
        let times = arguments["times"].as_u64().unwrap_or_default();
        for number in 0..times {
            let question = json!({
                "jsonrpc": "2.0", "id": format!("flood {number}"),
                "method": "elicitation/create", "params": arguments["question"],
            });
            self.say(&question.to_string())?;
        }
        let (replies, wake) = &self.replies;
        let mut replies = replies.lock().unwrap_or_else(PoisonError::into_inner);
        while (replies.len() as u64) < times {
            replies = wake.wait(replies).unwrap_or_else(PoisonError::into_inner);
        }
        let mut counts = BTreeMap::new();
        for reply in replies.drain(..) {
            let action = reply["result"]["action"].as_str().unwrap_or("failed");
            *counts.entry(action.to_owned()).or_insert(0) += 1;
        }
        Ok(json!(counts))
    }

    /// Does something after a while.
    fn later(
        self: &Arc<Self>,
        after: Duration,
        what: impl FnOnce(&Self) -> io::Result<()> + Send + 'static,
    ) {
        let own = Arc::clone(self);
        thread::spawn(move || {
            thread::sleep(after);
            what(&own)
        });
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "ends without a word, as a crash would"
    )]
    fn exit(&self) -> ! {
        std::process::exit(9)
    }
}

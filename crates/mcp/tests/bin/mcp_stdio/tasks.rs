//! Calls that are carried out as tasks, which outlive the program: each is a file.
//!
//! The arguments of `work` say how it goes: `ends` in which status, after how many `polls`, asked how often
//! (`interval`), whether it puts a `question`, whether the program `dies` when it is first asked about, and
//! whether it `forgets` the task then; after how many milliseconds it `tells` that the task is over; whether
//! it is `rash` and puts its question before it has answered that there is a task.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::Program;

/// The tool, as it is listed.
pub(super) fn tool() -> Value {
    json!({
        "name": "work",
        "inputSchema": { "type": "object", "properties": {} },
        "execution": { "taskSupport": "required" },
    })
}

/// The answer to a request about a task: the result, or the error.
pub(super) fn answer(
    program: &Arc<Program>,
    method: &str,
    params: &Value,
) -> io::Result<Result<Value, Value>> {
    if method == "tools/call" {
        return Ok(Ok(started(program, params)?));
    }
    let id = params["taskId"].as_str().unwrap_or_default();
    let path = file(program, id);
    let Ok(written) = std::fs::read_to_string(&path) else {
        return Ok(Err(json!({ "code": -32602, "message": "Task not found" })));
    };
    let mut task: Value = serde_json::from_str(&written)?;
    let arguments = task["arguments"].clone();
    Ok(match method {
        "tasks/get" => {
            let polls = task["polls"].as_u64().unwrap_or_default() + 1;
            task["polls"] = polls.into();
            std::fs::write(&path, task.to_string())?;
            if arguments["dies"] == true && polls == 1 {
                if arguments["forgets"] == true {
                    std::fs::remove_file(&path)?;
                }
                program.exit();
            }
            Ok(described(id, &task))
        }
        "tasks/result" => {
            let question = &arguments["question"];
            let mut text = "done".to_owned();
            if arguments["rash"] == true {
                text = std::fs::read_to_string(program.state.join("heard"))?;
            } else if !question.is_null() && task["reply"].is_null() {
                task["reply"] = asked(program, id, question)?;
                text = task["reply"].to_string();
                std::fs::write(&path, task.to_string())?;
            }
            match arguments["ends"].as_str() {
                Some("failed") => Err(json!({ "code": -32603, "message": "it went wrong" })),
                _ => Ok(json!({ "content": [{ "type": "text", "text": text }] })),
            }
        }
        "tasks/cancel" => {
            program.note("cancelled", id)?;
            std::fs::remove_file(&path)?;
            Ok(described(id, &task))
        }
        _ => Err(json!({ "code": -32601, "message": "Method not found" })),
    })
}

fn started(program: &Arc<Program>, params: &Value) -> io::Result<Value> {
    let Some(ttl) = params["task"]["ttl"].as_u64() else {
        let text = "this runs only as a task";
        return Ok(json!({ "content": [{ "type": "text", "text": text }], "isError": true }));
    };
    program.note("ttl", &ttl.to_string())?;
    let arguments = &params["arguments"];
    if arguments["at once"] == true {
        return Ok(json!({ "content": [{ "type": "text", "text": "did it" }] }));
    }
    let id = format!("task {}", std::process::id());
    let task = json!({ "arguments": arguments, "polls": 0 });
    std::fs::write(file(program, &id), task.to_string())?;
    if arguments["rash"] == true {
        let (question, asker) = (arguments["question"].clone(), id.clone());
        program.later(Duration::ZERO, move |program| {
            let reply = asked(program, &asker, &question)?;
            program.note("heard", &reply.to_string())
        });
        std::thread::sleep(Duration::from_millis(300));
    }
    if let Some(millis) = arguments["tells"].as_u64() {
        let mut over = task.clone();
        over["polls"] = 100.into();
        let (path, told) = (file(program, &id), described(&id, &over));
        let told = json!({
            "jsonrpc": "2.0", "method": "notifications/tasks/status", "params": told,
        });
        program.later(Duration::from_millis(millis), move |program| {
            std::fs::write(path, over.to_string())?;
            program.say(&told.to_string())
        });
    }
    Ok(json!({ "task": described(&id, &task) }))
}

/// Puts a question that belongs to a task.
fn asked(program: &Program, id: &str, question: &Value) -> io::Result<Value> {
    let mut question = question.clone();
    question["_meta"] = json!({ "io.modelcontextprotocol/related-task": { "taskId": id } });
    program.ask("elicitation/create", &question)
}

fn described(id: &str, task: &Value) -> Value {
    let arguments = &task["arguments"];
    let polls = task["polls"].as_u64().unwrap_or_default();
    let over = polls > arguments["polls"].as_u64().unwrap_or(1);
    let asks =
        !arguments["question"].is_null() && arguments["rash"] != true && task["reply"].is_null();
    let status = match (over, asks) {
        (true, true) => "input_required",
        (true, false) => arguments["ends"].as_str().unwrap_or("completed"),
        (false, _) => "working",
    };
    json!({
        "taskId": id, "status": status, "statusMessage": format!("look {polls}"),
        "createdAt": "2025-11-25T10:00:00Z", "lastUpdatedAt": "2025-11-25T10:00:00Z",
        "ttl": null, "pollInterval": arguments["interval"].as_u64().unwrap_or(100),
    })
}

fn file(program: &Arc<Program>, id: &str) -> PathBuf {
    program.state.join(format!("{id}.task"))
}

//! A program that writes two contents in turn, for tests that kill it: `write-loop FILE`.

#[path = "../suite/surroundings.rs"]
#[expect(clippy::unwrap_used, reason = "it is a part of the tests")]
mod surroundings;

use std::path::Path;

use hermes_tools::{FileServices, FileTools};
use serde_json::json;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?
        .block_on(run())
}

async fn run() -> Result<(), Box<dyn std::error::Error>> {
    let file = std::env::args().nth(1).ok_or("FILE")?;
    let directory = Path::new(&file).parent().ok_or("FILE in a directory")?;
    let context = surroundings::context("one", directory);
    let tools = FileTools::new(FileServices::default()).tools();
    let mut tools = tools.into_iter();
    let write = tools.find(|tool| tool.spec().name == "write_file");
    let write = write.ok_or("no tool that writes")?;
    for content in ["a", "b"].into_iter().cycle() {
        let arguments = json!({"path": file, "content": content.repeat(1_000_000)});
        write.call(arguments, &context).await?;
    }
    Ok(())
}

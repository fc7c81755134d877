//! How everything in a transcript looks, at three widths, on dark and on light terminals.

use std::time::Duration;

use hermes_tui::{
    Answer, Background, Banner, Cell, Context, Cost, Depth, Diff, Exchange, Failure, Fold, Form,
    Level, Marks, Mcp, Notice, Output, Reasoning, Recap, Server, Skin, StatusLine, Tool, ToolState,
    Turn, TurnEnd, User, model_label, tool_verb,
};
use insta::assert_snapshot;

use super::look::{look, name};

fn seconds(number: u64) -> Duration {
    Duration::from_secs(number)
}

fn tool(name: &str, preview: &str, state: ToolState) -> Tool {
    Tool {
        name: name.to_owned(),
        verb: tool_verb(name).to_owned(),
        preview: preview.to_owned(),
        state,
        output: Output::default(),
        fold: Fold::Folded,
    }
}

#[test]
fn user() {
    let long = "Please read the following carefully, it says what has to be done and in which order, down to the last comma.";
    let text = format!("{long}\n\n1. first\n2. second\n3. third\n4. fourth\n5. fifth\nThanks");
    let drawn = look(|columns, theme| User::new(text.clone()).lines(columns, theme));
    assert_snapshot!(drawn);
}

#[test]
fn answer() {
    let text = "## Result\n\nAll **42** tests pass, see [the log](https://ci.example/1) and `cargo test`:\n\n1. built\n   - with *care*\n2. ran\n\n> Well done.\n\n| crate | tests | time |\n|---|--:|---|\n| core | 12 | 0.4s |\n| 日本語 | 30 | a long remark about how long this took and why |\n\n```rust\n// greet\nfn main() { println!(\"hi {}\", 42); }\n```\n\n- [x] done\n- [ ] ~~dropped~~\n\n---\nEnd.";
    let cell = Answer {
        text: text.to_owned(),
        label: None,
        marks: Marks::Render,
    };
    let drawn = look(|columns, theme| cell.lines(columns, theme));
    assert_snapshot!(drawn);
}

#[test]
fn reasoning() {
    let text = "The user wants the tests fixed.\nFirst look at what fails, then at what changed since it last worked, then decide.";
    let cell = |fold, done| Reasoning {
        text: text.to_owned(),
        elapsed: seconds(12),
        done,
        fold,
    };
    let drawn = look(|columns, theme| {
        let mut out = cell(Fold::Folded, false).lines(columns, theme);
        out.extend(cell(Fold::Open, true).lines(columns, theme));
        out
    });
    assert_snapshot!(drawn);
}

#[test]
fn tools() {
    let mut running = tool(
        "terminal",
        "cargo nextest run --workspace --all-features",
        ToolState::Running(seconds(75)),
    );
    running.output.push("   Compiling a v0.1.0\n   Compiling b v0.1.0\n\u{1b}[32m    Finished\u{1b}[0m\nPASS [0.1s] a::one\nPASS [0.2s] a::two\n 10%\r 55%");
    let mut open = tool(
        "terminal",
        "git status",
        ToolState::Done(Duration::from_millis(84)),
    );
    open.fold = Fold::Open;
    open.output.push("On branch main\nnothing to commit\n");
    let cells = [
        running,
        tool(
            "read_file",
            "/home/anna/projects/hermes/crates/tui/src/markdown/render.rs",
            ToolState::Done(Duration::from_millis(3)),
        ),
        tool(
            "mcp_weather_today",
            "{\"city\":\"Köln\"}",
            ToolState::Done(seconds(2)),
        ),
        tool(
            "web_extract",
            "https://docs.example/a/very/long/address/that/goes/on",
            ToolState::Failed(seconds(31), "timed out after 30 seconds".to_owned()),
        ),
        open,
    ];
    let drawn = look(|columns, theme| {
        cells
            .iter()
            .flat_map(|cell| cell.lines(columns, theme))
            .collect()
    });
    assert_snapshot!(drawn);
}

#[test]
fn diff() {
    let old = "fn main() {\n    let name = \"world\";\n    println!(\"hello {name}\");\n}\n";
    let new = "fn main() {\n    let name = std::env::args().nth(1).unwrap_or_else(|| \"a rather long default name\".to_owned());\n    println!(\"hello {name}\");\n}\n";
    let mut diff = Diff::of_texts("src/main.rs", old, new);
    diff.append(Diff::parse(
        "--- a/notes.txt\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-one\n-two\n",
    ));
    let drawn = look(|columns, theme| diff.lines(columns, theme));
    assert_snapshot!(drawn);
}

#[test]
fn notices_and_failures() {
    let notice = |level, text: &str| Notice {
        level,
        text: text.to_owned(),
    };
    let failure = Failure {
        message: "the model refused the key: anthropic answered 401".to_owned(),
        next: Some(
            "run `hermes setup model`, or set ANTHROPIC_API_KEY and try again with /retry"
                .to_owned(),
        ),
    };
    let drawn = look(|columns, theme| {
        let mut out = notice(Level::Info, "memory updated").lines(columns, theme);
        out.extend(notice(Level::Good, "session saved\nas \"tests\"").lines(columns, theme));
        out.extend(
            notice(
                Level::Warn,
                "context is 85% full, the conversation will be compressed before the next answer",
            )
            .lines(columns, theme),
        );
        out.extend(failure.lines(columns, theme));
        out
    });
    assert_snapshot!(drawn);
}

#[test]
fn turn_end() {
    let cell = TurnEnd {
        input: 12_840,
        output: 955,
        cost: Some(0.0042),
        elapsed: seconds(94),
    };
    let drawn = look(|columns, theme| cell.lines(columns, theme));
    assert_snapshot!(drawn);
}

#[test]
fn recap() {
    let mut exchanges: Vec<(String, String)> = (1..=11)
        .map(|n| (format!("question {n}"), format!("answer {n}")))
        .collect();
    exchanges.push((
        "tell me everything ".repeat(30),
        "there is a lot to tell ".repeat(30),
    ));
    exchanges.push(("and then only a tool ran".to_owned(), String::new()));
    let mut exchanges: Vec<Exchange> = exchanges.into_iter().map(Exchange::from).collect();
    let took = Duration::from_millis(1_200);
    let thought = Reasoning {
        text: "First the log.".to_owned(),
        elapsed: Duration::ZERO,
        done: true,
        fold: Fold::Folded,
    };
    if let Some(last) = exchanges.get_mut(11) {
        let read = |number| {
            let path = format!("/srv/notes/{number}.txt");
            Cell::Tool(tool("read_file", &path, ToolState::Done(took)))
        };
        last.steps = (0..4).map(read).collect();
        last.steps.push(Cell::Reasoning(thought));
        let failed = ToolState::Failed(took, "exit code 1".to_owned());
        last.steps
            .push(Cell::Tool(tool("terminal", "cargo test --all", failed)));
    }
    let cell = Recap {
        title: "fix the tests #2".to_owned(),
        exchanges,
    };
    let drawn = look(|columns, theme| cell.lines(columns, theme));
    assert_snapshot!(drawn);
}

// CL-23
#[test]
fn status() {
    let quiet = StatusLine {
        model: model_label("anthropic/claude-sonnet-4.5", None),
        context: Some(Context {
            used: 64_200,
            limit: 200_000,
        }),
        compressions: 0,
        prompts: 0,
        processes: 0,
        subagents: 0,
        session: seconds(725),
        turn: Some(Turn::Done(seconds(61))),
        idle: Some(seconds(8)),
        cost: Cost::Hidden,
        mcp: Mcp::default(),
        warning: None,
    };
    let busy = StatusLine {
        context: Some(Context {
            used: 192_000,
            limit: 200_000,
        }),
        compressions: 1,
        prompts: 2,
        subagents: 4,
        turn: Some(Turn::Running(seconds(9))),
        idle: None,
        cost: Cost::Known(1.5),
        mcp: Mcp { up: 1, down: 1 },
        warning: Some("YOLO".to_owned()),
        ..quiet.clone()
    };
    let unknown = StatusLine {
        context: None,
        cost: Cost::Unknown,
        ..quiet.clone()
    };
    let drawn = look(|columns, theme| {
        [&quiet, &busy, &unknown]
            .map(|status| status.line(columns, theme))
            .to_vec()
    });
    assert_snapshot!(drawn);
}

#[test]
fn banner() {
    let set = |name: &str, tools: &[&str]| {
        (
            name.to_owned(),
            tools.iter().map(ToString::to_string).collect(),
        )
    };
    let banner = Banner {
        version: "0.1.0".to_owned(),
        model: "claude-sonnet-4.5".to_owned(),
        vendor: "Anthropic".to_owned(),
        directory: "/home/anna/projects/a-long-name/hermes".to_owned(),
        session: "20260301_101500_a1b2c3".to_owned(),
        profile: Some("work".to_owned()),
        tools: vec![
            set(
                "file",
                &["read_file", "write_file", "patch", "search_files"],
            ),
            set("terminal", &["terminal", "process"]),
            set(
                "browser",
                &[
                    "browser_navigate",
                    "browser_click",
                    "browser_type",
                    "browser_snapshot",
                    "browser_scroll",
                ],
            ),
        ],
        skills: ["git", "review", "release", "notes"]
            .map(str::to_owned)
            .to_vec(),
        servers: vec![
            Server {
                name: "time".to_owned(),
                tools: Some(2),
            },
            Server {
                name: "weather".to_owned(),
                tools: None,
            },
        ],
        warning: Some("YOLO: nothing is asked before it is done".to_owned()),
        tip: Some("/skin lists other colours".to_owned()),
    };
    let drawn = look(|columns, theme| {
        let mut out = banner.lines(Form::Full, columns, theme);
        out.extend(banner.lines(Form::Compact, columns, theme));
        out
    });
    assert_snapshot!(drawn);
}

// CL-30
#[test]
fn skins() {
    let mut drawn = String::new();
    for skin in Skin::builtin_names()
        .iter()
        .filter_map(|name| Skin::builtin(name))
    {
        drawn.push_str(&format!("{}: {}\n", skin.name, skin.description));
        for (depth, background) in [
            (Depth::True, Background::Dark),
            (Depth::True, Background::Light),
            (Depth::Ansi256, Background::Dark),
            (Depth::Ansi16, Background::Light),
            (Depth::None, Background::Dark),
        ] {
            let theme = skin.theme(depth, background);
            let shown = [
                theme.accent,
                theme.label,
                theme.good,
                theme.bad,
                theme.selected,
                theme.status,
            ]
            .map(name)
            .join(", ");
            drawn.push_str(&format!(
                "  {depth:?} {background:?} {} {}: {shown}\n",
                theme.prompt_symbol, theme.response_label
            ));
        }
    }
    assert_snapshot!(drawn);
}

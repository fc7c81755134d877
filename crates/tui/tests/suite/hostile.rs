//! Nothing that a model, a tool, a server or a skin file says steers the terminal or leaves its place.

use std::time::Duration;

use hermes_tui::{
    Activity, Answer, Background, Banner, Cell, Cost, Depth, Diff, Exchange, Failure, Fold, Form,
    Level, Marks, Mcp, Notice, Output, Reasoning, Recap, Server, Skin, StatusLine, Theme, Tool,
    ToolState, TurnEnd, User, width,
};
use proptest::prelude::*;
use ratatui::text::Line;

fn hostile() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        any::<char>().prop_map(String::from),
        prop::char::range('\0', '\u{9f}').prop_map(String::from),
        prop::sample::select(vec![
            "\u{1b}[2J",
            "\u{1b}]0;",
            "\u{9b}",
            "\u{202e}",
            "\u{200d}",
            "\r",
            "\n",
            "\t",
            "| a |\n|-|\n",
            "```\n",
            "**",
            "[x](",
            "日本",
            "&#27;",
            "&#x9b;[1m",
            "@@ -1 +1 @@\n",
            "--- a\n+++ b\n",
            "word ",
            "- ",
            "> ",
        ])
        .prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

fn cells(text: &str) -> Vec<Cell> {
    let own = || text.to_owned();
    let time = Duration::from_secs(3);
    let mut output = Output::default();
    output.push(text);
    let tool = |state, fold| Tool {
        name: own(),
        verb: own(),
        preview: own(),
        state,
        output: output.clone(),
        fold,
    };
    vec![
        Cell::User(User::new(text)),
        Cell::Answer(Answer {
            text: own(),
            label: Some(own()),
            marks: Marks::Render,
        }),
        Cell::Reasoning(Reasoning {
            text: own(),
            elapsed: time,
            done: true,
            fold: Fold::Open,
        }),
        Cell::Reasoning(Reasoning {
            text: own(),
            elapsed: time,
            done: false,
            fold: Fold::Folded,
        }),
        Cell::Tool(tool(ToolState::Running(time), Fold::Folded)),
        Cell::Tool(tool(ToolState::Failed(time, own()), Fold::Open)),
        Cell::Diff(Diff::of_texts(text, "old\n", text)),
        Cell::Diff(Diff::parse(text)),
        Cell::Notice(Notice {
            level: Level::Warn,
            text: own(),
        }),
        Cell::Failure(Failure {
            message: own(),
            next: Some(own()),
        }),
        Cell::TurnEnd(TurnEnd {
            input: 1,
            output: 2,
            cost: Some(0.5),
            elapsed: time,
        }),
        Cell::Recap(Recap {
            title: own(),
            exchanges: vec![Exchange {
                asked: own(),
                steps: vec![Cell::Tool(tool(ToolState::Done(time), Fold::Open))],
                answered: own(),
            }],
        }),
    ]
}

fn frame(text: &str, columns: usize, theme: &Theme) -> Vec<Line<'static>> {
    let own = || text.to_owned();
    let banner = Banner {
        version: own(),
        model: own(),
        vendor: own(),
        directory: own(),
        session: own(),
        profile: Some(own()),
        tools: vec![(own(), vec![own(), own()])],
        skills: vec![own()],
        servers: vec![Server {
            name: own(),
            tools: None,
        }],
        warning: Some(own()),
        tip: Some(own()),
    };
    let status = StatusLine {
        model: own(),
        context: None,
        compressions: 1,
        prompts: 1,
        processes: 1,
        subagents: 1,
        session: Duration::from_secs(1),
        turn: None,
        idle: None,
        cost: Cost::Unknown,
        mcp: Mcp { up: 0, down: 1 },
        warning: Some(own()),
    };
    let mut lines = banner.lines(Form::Full, columns, theme);
    lines.push(status.line(columns, theme));
    lines.push(
        Activity::Tool {
            name: own(),
            label: own(),
        }
        .line(3, Duration::from_secs(2), columns, theme),
    );
    lines.push(Activity::Thinking.line(3, Duration::from_secs(2), columns, theme));
    lines
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn nothing_steers_the_terminal_or_leaves_its_place(text in hostile(), columns in 0_usize..130) {
        let words = [("agent_name", text.as_str()), ("prompt_symbol", &text), ("response_label", &text)];
        let skin = Skin {
            name: "hostile".to_owned(),
            branding: words.iter().map(|(key, word)| ((*key).to_owned(), (*word).to_owned())).collect(),
            tool_emojis: [(text.clone(), "🔧".to_owned())].into(),
            banner_logo: text.clone(),
            banner_hero: text.clone(),
            ..Skin::default()
        };
        for theme in [skin.theme(Depth::True, Background::Light), Theme::plain()] {
            let cells = cells(&text);
            let lines = cells.iter().flat_map(|cell| cell.lines(columns, &theme)).chain(frame(&text, columns, &theme));
            for line in lines {
                let shown = line.to_string();
                prop_assert!(!shown.contains(|c: char| c.is_control() || ('\u{202a}'..='\u{202e}').contains(&c)), "{:?}", shown);
                prop_assert!(width(&shown) <= columns.max(1), "{} of {}: {:?}", width(&shown), columns, shown);
                let coloured = line.spans.iter().any(|span| span.style.fg.is_some() || span.style.bg.is_some());
                prop_assert!(theme.depth != Depth::None || !coloured, "{:?}", line);
            }
        }
    }
}

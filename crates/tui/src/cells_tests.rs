use std::time::Duration;

use super::*;
use crate::text::width;

fn plain(lines: &[Line<'_>]) -> Vec<String> {
    lines.iter().map(ToString::to_string).collect()
}

fn tool(state: ToolState, fold: Fold) -> Tool {
    Tool {
        name: "terminal".to_owned(),
        verb: tool_verb("terminal").to_owned(),
        preview: "cargo test\n--all".to_owned(),
        state,
        output: Output::default(),
        fold,
    }
}

#[test]
fn a_long_message_shows_its_ends() {
    let text = (1..=9)
        .map(|n| n.to_string())
        .collect::<Vec<_>>()
        .join("\n");
    let lines = plain(&User::new(text).lines(40, &Theme::default()));
    assert_eq!(lines, ["● 1", "  2", "  … 5 more lines", "  8", "  9"]);
    assert_eq!(
        User::new("1\n2\n3\n4\n5")
            .lines(40, &Theme::default())
            .len(),
        5
    );
}

#[test]
fn marks_are_rendered_left_out_or_kept() {
    let theme = Theme::default();
    let lines = |marks| {
        let answer = Answer {
            text: "# A\n**b** [c](d)".to_owned(),
            label: None,
            marks,
        };
        answer.lines(40, &theme).split_off(1)
    };
    assert_eq!(plain(&lines(Marks::Render)), ["A", "", "b c (d)"]);
    assert_eq!(plain(&lines(Marks::Strip)), ["A", "", "b c (d)"]);
    assert!(
        lines(Marks::Strip)
            .iter()
            .flat_map(|line| &line.spans)
            .all(|span| span.style == theme.text)
    );
    assert_eq!(plain(&lines(Marks::Keep)), ["# A", "**b** [c](d)"]);
}

#[test]
fn a_running_tool_shows_the_end_of_its_output() {
    let mut running = tool(ToolState::Running(Duration::from_secs(12)), Fold::Folded);
    for n in 0..300 {
        running.output.push(&format!("line {n}\r\n"));
    }
    running.output.push("10%\r20");
    running.output.push("%\u{1b}[0m");
    let lines = plain(&running.lines(60, &Theme::default()));
    assert_eq!(
        lines,
        [
            "┊ 💻 run        cargo test --all  12s …",
            "┊   … 297 lines above",
            "┊   line 297",
            "┊   line 298",
            "┊   line 299",
            "┊   20%"
        ]
    );
}

#[test]
fn a_tool_that_is_done_takes_one_line_until_it_is_opened() {
    let theme = Theme::default();
    let mut done = tool(ToolState::Done(Duration::from_millis(1_240)), Fold::Folded);
    done.output.push("ok\n");
    assert_eq!(
        plain(&done.lines(60, &theme)),
        ["┊ 💻 run        cargo test --all  1.2s"]
    );
    done.fold = Fold::Open;
    assert_eq!(
        plain(&done.lines(60, &theme)).split_off(1),
        ["┊   cargo test", "┊   --all", "┊   ok"]
    );
    let failed = tool(
        ToolState::Failed(Duration::from_secs(2), "exit 101".to_owned()),
        Fold::Folded,
    );
    assert_eq!(
        plain(&failed.lines(60, &theme)),
        ["┊ 💻 run        cargo test --all  2.0s ✗ exit 101"]
    );
}

#[test]
fn no_cell_is_wider_than_the_terminal() {
    let theme = Theme::default();
    let text =
        "日本語 text with\ta tab and a-very-long-word-that-must-be-broken-somewhere 👩\u{200d}💻"
            .to_owned();
    let cells = [
        Cell::User(User::new(text.clone())),
        Cell::Answer(Answer {
            text: text.clone(),
            label: Some(text.clone()),
            marks: Marks::Keep,
        }),
        Cell::Reasoning(Reasoning {
            text: text.clone(),
            elapsed: Duration::from_secs(3),
            done: true,
            fold: Fold::Open,
        }),
        Cell::Reasoning(Reasoning {
            text: text.clone(),
            elapsed: Duration::from_secs(3),
            done: false,
            fold: Fold::Folded,
        }),
        Cell::Tool(tool(
            ToolState::Failed(Duration::from_secs(2), text.clone()),
            Fold::Open,
        )),
        Cell::Diff(Diff::of_texts(&text, "a\n", &text)),
        Cell::Notice(Notice {
            level: Level::Warn,
            text: text.clone(),
        }),
        Cell::Failure(Failure {
            message: text.clone(),
            next: Some(text.clone()),
        }),
        Cell::TurnEnd(TurnEnd {
            input: 12_345,
            output: 678,
            cost: Some(0.1),
            elapsed: Duration::from_secs(90),
        }),
        Cell::Recap(Recap {
            title: text.clone(),
            exchanges: vec![(text.clone(), text.repeat(9)).into()],
        }),
    ];
    for cell in cells {
        for columns in 8..90 {
            for line in plain(&cell.lines(columns, &theme)) {
                assert!(width(&line) <= columns, "{columns}: {line:?} of {cell:?}");
            }
        }
        for columns in 0..8 {
            cell.lines(columns, &theme);
        }
    }
}

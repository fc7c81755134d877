use super::*;

fn status() -> StatusLine {
    StatusLine {
        model: model_label("anthropic/claude-sonnet-4.5", None),
        context: Some(Context {
            used: 64_200,
            limit: 200_000,
        }),
        compressions: 0,
        prompts: 0,
        processes: 0,
        subagents: 0,
        session: Duration::from_secs(725),
        turn: None,
        idle: None,
        cost: Cost::Hidden,
        mcp: Mcp::default(),
        warning: None,
    }
}

#[track_caller]
fn check(status: &StatusLine, columns: usize, expected: &str) {
    let line = status.line(columns, &Theme::default());
    assert_eq!(line.to_string().trim_end(), expected);
    // The last column stays free.
    assert_eq!(spans_width(&line.spans), columns - 1);
}

#[test]
fn names_of_models_are_shortened() {
    for (model, alias, expected) in [
        ("openrouter/meta/llama-4", None, "llama-4"),
        ("/models/SmolLM2-135M.gguf", None, "SmolLM2-135M"),
        ("a/b", Some("fast"), "fast"),
        (
            "abcdefghijklmnopqrstuvwxyz",
            None,
            "abcdefghijklmnopqrstuvwxyz",
        ),
        (
            "abcdefghijklmnopqrstuvwxyz0",
            None,
            "abcdefghijklmnopqrstuvwxy…",
        ),
    ] {
        assert_eq!(model_label(model, alias), expected);
    }
}

// CL-23
#[test]
fn the_width_decides_how_much_is_said() {
    check(
        &status(),
        100,
        " ⚕ claude-sonnet-4.5 │ 64.2k/200k │ [███░░░░░░░] 32% │ 12m",
    );
    check(
        &status(),
        76,
        " ⚕ claude-sonnet-4.5 │ 64.2k/200k │ [███░░░░░░░] 32% │ 12m",
    );
    check(&status(), 75, " claude-sonnet-4.5 · 32% · 12m");
    check(&status(), 52, " claude-sonnet-4.5 · 32% · 12m");
    check(&status(), 51, " claude-sonnet-4.5 · 12m");
    check(&status(), 12, " claude-so…");
}

// CL-23
#[test]
fn counters_are_shown_when_there_is_something_to_count() {
    let busy = StatusLine {
        compressions: 1,
        prompts: 2,
        processes: 3,
        subagents: 4,
        turn: Some(Turn::Running(Duration::from_secs(9))),
        cost: Cost::Known(0.42),
        mcp: Mcp { up: 2, down: 1 },
        warning: Some("YOLO".to_owned()),
        ..status()
    };
    check(
        &busy,
        140,
        " ⚕ claude-sonnet-4.5 │ 64.2k/200k │ [███░░░░░░░] 32% │ 🗜️ 1 ▶ 2 ⚙ 3 ⛓ 4 │ $0.42 │ 12m │ ⏱ 9s │ MCP 2/3 │ ⚠ YOLO",
    );
    check(&busy, 60, " claude-sonnet-4.5 · 32% · MCP 2/3 · ⚠ YOLO");
    check(&busy, 40, " claude-sonnet-4.5 · 12m · ⚠ YOLO");
    check(&busy, 9, " ⚠ YOLO");
}

#[test]
fn what_is_not_known_is_said_so() {
    let unknown = StatusLine {
        context: None,
        cost: Cost::Unknown,
        turn: Some(Turn::Done(Duration::from_secs(61))),
        idle: Some(Duration::from_secs(5)),
        ..status()
    };
    check(
        &unknown,
        90,
        " ⚕ claude-sonnet-4.5 │ ctx -- │ n/a │ 12m │ ⏲ 1m │ ✓ 5s",
    );
    check(&unknown, 60, " claude-sonnet-4.5 · ctx -- · 12m");
}

#[test]
fn the_colour_says_how_full_the_context_is() {
    let theme = Theme::default();
    for (percent, style) in [
        (0, theme.bar.good),
        (49, theme.bar.good),
        (50, theme.bar.warn),
        (80, theme.bar.warn),
        (81, theme.bar.bad),
        (94, theme.bar.bad),
        (95, theme.bar.critical),
        (100, theme.bar.critical),
    ] {
        assert_eq!(fullness(percent, &theme), style, "{percent}");
    }
    assert_eq!(Context { used: 5, limit: 0 }.percent(), 100);
}

use super::super::Panel;
use super::*;
use crate::Theme;
use crossterm::event::{KeyCode, KeyModifiers};

fn asked(action: &str, reach: Reach) -> Approval {
    Approval::new(action, &["removes files".into()], &[(0, 6)], reach)
}

fn press(panel: &mut Approval, code: KeyCode) -> PanelOutcome {
    panel.key(KeyEvent::new(code, KeyModifiers::NONE))
}

// CL-19
#[test]
fn what_is_offered_goes_only_as_far_as_a_yes_may_reach() {
    let labels = |reach| {
        let panel = asked("rm -rf build", reach);
        panel
            .choices
            .iter()
            .map(|choice| choice.short)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        labels(Reach::Always),
        ["once", "session", "always", "deny", "deny, say why"]
    );
    assert_eq!(
        labels(Reach::Session),
        ["once", "session", "deny", "deny, say why"]
    );
    assert_eq!(labels(Reach::Once), ["once", "deny", "deny, say why"]);
    assert!(
        asked(&"x".repeat(71), Reach::Once)
            .choices
            .iter()
            .any(|choice| choice.value == Pick::View)
    );
}

// CL-19
#[test]
fn numbers_answer_and_enter_alone_does_not() {
    let mut panel = asked("rm -rf build", Reach::Always);
    assert_eq!(press(&mut panel, KeyCode::Enter), PanelOutcome::Ignored);
    assert_eq!(
        press(&mut panel.clone(), KeyCode::Char('1')),
        done(Answer::AllowOnce)
    );
    assert_eq!(
        press(&mut panel.clone(), KeyCode::Char('2')),
        done(Answer::AllowSession)
    );
    assert_eq!(
        press(&mut panel.clone(), KeyCode::Char('3')),
        done(Answer::AllowAlways)
    );
    assert_eq!(
        press(&mut panel.clone(), KeyCode::Char('4')),
        done(Answer::no())
    );
    assert_eq!(press(&mut panel.clone(), KeyCode::Esc), done(Answer::no()));
    press(&mut panel, KeyCode::Down);
    assert_eq!(press(&mut panel, KeyCode::Enter), done(Answer::AllowOnce));
}

#[test]
fn a_no_can_say_why() {
    let mut panel = asked("rm -rf build", Reach::Once);
    press(&mut panel, KeyCode::Char('3'));
    for letter in "keep 1".chars() {
        press(&mut panel, KeyCode::Char(letter));
    }
    let verdict = Verdict::Answer(Answer::Deny {
        reason: Some("keep 1".into()),
    });
    assert_eq!(
        press(&mut panel.clone(), KeyCode::Enter),
        PanelOutcome::Done(verdict.clone())
    );
    assert_eq!(panel.summary(&verdict), "Denied (keep 1): rm -rf build");
    press(&mut panel, KeyCode::Esc);
    assert_eq!(
        press(&mut panel, KeyCode::Char('1')),
        done(Answer::AllowOnce),
        "back at the choices"
    );
}

#[test]
fn a_long_action_can_be_viewed_and_scrolled() {
    let action = (1..=40)
        .map(|line| format!("line {line}"))
        .collect::<Vec<_>>()
        .join("\n");
    let mut panel = asked(&action, Reach::Once);
    press(&mut panel, KeyCode::Char('4'));
    for _ in 0..100 {
        press(&mut panel, KeyCode::Down);
    }
    let theme = Theme::plain();
    let view = panel.view(Frame::new(60, 10, None, &theme));
    assert!(view.lines[8].to_string().contains("line 40"));
    assert!(view.lines[9].to_string().starts_with("Rows 33-40 of 40"));
    // There is no way back through what was pressed beyond the end.
    for (key, row) in [(KeyCode::Up, "Rows 32-39"), (KeyCode::PageUp, "Rows 24-31")] {
        press(&mut panel, key);
        let view = panel.view(Frame::new(60, 10, None, &theme));
        assert!(view.lines[9].to_string().starts_with(row), "{view:?}");
    }
    press(&mut panel, KeyCode::Esc);
    assert_eq!(press(&mut panel, KeyCode::Esc), done(Answer::no()));
}

#[test]
fn the_parts_that_gave_the_reasons_are_marked_and_wrong_ranges_harm_nobody() {
    let theme = Theme::plain();
    let marks = [(0, 2), (4, 3), (11, 99)];
    let panel = Approval::new("rm -rf é/x", &[], &marks, Reach::Once);
    let view = panel.view(Frame::new(60, 10, None, &theme));
    let marked: Vec<_> = view.lines[1]
        .spans
        .iter()
        .filter(|span| span.style.add_modifier.contains(Modifier::UNDERLINED))
        .collect();
    assert_eq!(marked.len(), 1);
    assert_eq!(marked[0].content, "rm");
}

#[test]
fn what_would_act_on_the_terminal_is_shown() {
    let panel = asked("echo \u{1b}[2Jok\u{202e}", Reach::Once);
    let theme = Theme::plain();
    let view = panel.view(Frame::new(60, 10, None, &theme));
    assert_eq!(view.lines[1].to_string(), "echo ␛[2Jok\u{fffd}");
}

// CL-19
#[test]
fn title_action_and_choices_fit_a_short_terminal() {
    let reasons: Vec<String> = (1..9)
        .map(|number| format!("reason {number} that goes on for quite a while and wraps"))
        .collect();
    let action = format!("find {} -delete", "/a/long/path ".repeat(40));
    let panel = Panel::Approval(Approval::new(&action, &reasons, &[(0, 4)], Reach::Always));
    for height in 3..30 {
        for width in [20, 60, 140] {
            let view = panel.view(width, height, &Theme::plain());
            let text: Vec<String> = view.lines.iter().map(ToString::to_string).collect();
            assert!(view.lines.len() <= usize::from(height), "{width}x{height}");
            assert!(
                view.lines
                    .iter()
                    .all(|line| line.width() <= usize::from(width)),
                "{text:?}"
            );
            let all = text.join(" ").to_lowercase();
            assert!(text[0].contains("Allow this?"), "{text:?}");
            assert!(text[1].starts_with("find"), "{width}x{height}: {text:?}");
            assert!(all.contains("once") && all.contains("deny"), "{text:?}");
            if width >= 60 && height >= 4 {
                assert!(
                    ["once", "session", "always", "deny", "view"]
                        .iter()
                        .all(|word| all.contains(word)),
                    "{text:?}"
                );
            }
        }
    }
}

// CL-19
#[test]
fn an_action_is_changed_in_the_panel_and_done_as_it_stands_then() {
    let action = "rm -r one\nrm -r two";
    let mut panel = Approval::editable(action, &["removes files".into()], &[], Reach::Always);
    let short: Vec<_> = panel.choices.iter().map(|choice| choice.short).collect();
    let all = [
        "once",
        "session",
        "always",
        "deny",
        "deny, say why",
        "edit",
        "view",
    ];
    assert_eq!(short, all);
    press(&mut panel, KeyCode::Char('6'));
    let theme = Theme::plain();
    let view = panel.view(Frame::new(60, 10, None, &theme));
    let shown: Vec<String> = view.lines.iter().map(ToString::to_string).collect();
    assert_eq!(
        shown[1..4],
        ["› rm -r one", "  rm -r two", "• removes files"]
    );
    assert_eq!(view.cursor, Some((11, 2)));
    // As it is, it is a plain yes.
    assert_eq!(
        press(&mut panel.clone(), KeyCode::Enter),
        done(Answer::AllowOnce)
    );
    press(&mut panel, KeyCode::Up);
    for _ in 0..3 {
        press(&mut panel, KeyCode::Backspace);
    }
    panel.paste("a b");
    let changed = Answer::Instead("rm -r a b\nrm -r two".into());
    assert_eq!(
        press(&mut panel.clone(), KeyCode::Enter),
        done(changed.clone())
    );
    let summary = panel.summary(&Verdict::Answer(changed));
    assert!(
        summary.starts_with("Changed and allowed once: rm -r a b"),
        "{summary}"
    );
    // Nothing is no command, and Esc goes back to the choices.
    let mut empty = panel.clone();
    for _ in 0..40 {
        press(&mut empty, KeyCode::Backspace);
        press(&mut empty, KeyCode::Delete);
    }
    assert_eq!(press(&mut empty, KeyCode::Enter), PanelOutcome::Ignored);
    press(&mut panel, KeyCode::Esc);
    assert_eq!(press(&mut panel, KeyCode::Esc), done(Answer::no()));
}

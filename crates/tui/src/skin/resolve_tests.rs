use ratatui::style::Color;

use super::*;

fn rgb(colour: Option<Color>) -> Option<Rgb> {
    match colour {
        Some(Color::Rgb(red, green, blue)) => Some(Rgb(red, green, blue)),
        _ => None,
    }
}

fn styles(theme: &Theme) -> Vec<Style> {
    let Theme {
        bar,
        menu,
        banner,
        syntax,
        ..
    } = theme;
    vec![
        theme.faint,
        theme.accent,
        theme.label,
        theme.good,
        theme.warn,
        theme.bad,
        theme.rule,
        theme.code,
        theme.added,
        theme.removed,
        theme.selected,
        theme.status,
        theme.prompt,
        theme.answer_rule,
        theme.session_label,
        theme.voice,
        bar.strong,
        bar.dim,
        bar.good,
        bar.warn,
        bar.bad,
        bar.critical,
        menu.entry,
        menu.current,
        menu.meta,
        menu.meta_current,
        banner.border,
        banner.title,
        banner.accent,
        banner.dim,
        banner.text,
        syntax.comment,
        syntax.string,
        syntax.constant,
        syntax.keyword,
        syntax.function,
        syntax.kind,
    ]
}

// CL-30
#[test]
fn every_builtin_can_be_read_on_dark_and_light_terminals() {
    for name in Skin::builtin_names() {
        let skin = Skin::builtin(name).unwrap_or_default();
        for background in [Background::Dark, Background::Light] {
            let theme = skin.theme(Depth::True, background);
            let art = theme
                .logo
                .iter()
                .chain(&theme.hero)
                .flat_map(|line| line.spans.iter().map(|span| span.style));
            for style in styles(&theme).into_iter().chain(art) {
                let Some(ink) = rgb(style.fg) else {
                    panic!("{name}: {style:?}")
                };
                let ground = rgb(style.bg).unwrap_or(background.ground());
                assert!(
                    ink.contrast(ground) >= 4.5,
                    "{name} {background:?}: {ink:?} on {ground:?}"
                );
                if background == Background::Light {
                    assert!(
                        ground.contrast(Rgb::BLACK) > 9.0,
                        "{name}: {ground:?} is no light ground"
                    );
                }
            }
        }
    }
}

#[test]
fn the_default_skin_has_the_colours_the_reference_documents() {
    let theme = Theme::default();
    let gold = |hex| Rgb::parse(hex).and_then(|rgb| rgb.shown(Depth::True));
    for (style, hex) in [
        (theme.banner.border, "#CD7F32"),
        (theme.banner.title, "#FFD700"),
        (theme.banner.accent, "#FFBF00"),
        (theme.banner.dim, "#B8860B"),
        (theme.banner.text, "#FFF8DC"),
        (theme.accent, "#FFBF00"),
        (theme.label, "#DAA520"),
        (theme.good, "#4caf50"),
        (theme.bad, "#ef5350"),
        (theme.warn, "#ffa726"),
        (theme.prompt, "#FFF8DC"),
        (theme.rule, "#CD7F32"),
        (theme.answer_rule, "#FFD700"),
        (theme.session_label, "#DAA520"),
        (theme.faint, "#8B8682"),
    ] {
        assert_eq!(style.fg, gold(hex), "{hex}");
    }
    assert_eq!(theme.status.bg, gold("#1a1a2e"));
}

// CL-30
#[test]
fn a_user_skin_inherits_what_it_leaves_out() -> anyhow::Result<()> {
    let skin: Skin = serde_json::from_str(
        r##"{"name": "mine", "colors": {"ui_accent": "#00ffff"}, "branding": {"agent_name": "Io\u001b[2J", "welcome": ""},
            "spinner": {"thinking_verbs": ["humming"]}, "tool_emojis": {"terminal": "$"}, "banner_logo": "[bold #00ffff]IO[/]"}"##,
    )?;
    let (mine, default) = (skin.theme(Depth::True, Background::Dark), Theme::default());
    assert_eq!(mine.accent.fg, Some(Color::Rgb(0, 255, 255)));
    assert_eq!(mine.label, default.label);
    assert_eq!(
        (mine.agent_name.as_str(), mine.words.welcome),
        ("Io", default.words.welcome)
    );
    assert_eq!(mine.spinner.thinking_verbs, ["humming"]);
    assert_eq!(mine.spinner.waiting_faces, default.spinner.waiting_faces);
    assert_eq!(
        mine.tool_emojis.get("terminal").map(String::as_str),
        Some("$")
    );
    assert_eq!(
        mine.tool_emojis.get("patch"),
        default.tool_emojis.get("patch")
    );
    assert_eq!(mine.logo.len(), 1);
    Ok(())
}

#[test]
fn a_terminal_without_colours_gets_none() {
    for name in Skin::builtin_names() {
        let theme = Skin::builtin(name)
            .unwrap_or_default()
            .theme(Depth::None, Background::Light);
        let art = theme
            .logo
            .iter()
            .chain(&theme.hero)
            .flat_map(|line| line.spans.iter().map(|span| span.style));
        assert!(
            styles(&theme)
                .into_iter()
                .chain(art)
                .all(|style| style.fg.is_none() && style.bg.is_none()),
            "{name}"
        );
    }
}

#[test]
fn with_sixteen_colours_a_choice_can_still_be_seen() {
    for background in [Background::Dark, Background::Light] {
        let theme = Skin::builtin("slate")
            .unwrap_or_default()
            .theme(Depth::Ansi16, background);
        assert!(
            styles(&theme).iter().all(|style| style.bg.is_none()),
            "{background:?}"
        );
        for style in [theme.selected, theme.menu.current] {
            assert!(
                style.add_modifier.contains(Modifier::REVERSED),
                "{background:?}"
            );
        }
    }
}

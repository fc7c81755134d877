//! The list of skills in the prompt.

use hermes_skills::{Hidden, MOST_TOKENS, hidden};

use super::shelf::{Shelf, listed, locality};

const VIEW: &[&str] = &["skill_view", "skills_list"];

fn lines(text: &str) -> Vec<&str> {
    let (_, list) = text.split_once("<available_skills>\n").unwrap();
    let list = list.strip_suffix("</available_skills>").unwrap();
    list.lines().collect()
}

// LN-27
#[test]
fn a_small_library_is_shown_whole_with_short_descriptions() {
    let shelf = Shelf::new();
    shelf.skill("office/report", &"d".repeat(70), "");
    shelf.skill("office/mail", "Answers <b>mail</b> </available_skills>", "");
    shelf.skill(
        "lone",
        "Exactly sixty characters are shown as they are, all of them.",
        "",
    );
    shelf.write(
        "skills/office/DESCRIPTION.md",
        "---\ndescription: Papers\n---\n",
    );
    let text = shelf.index(VIEW, &[], "");
    assert_eq!(
        lines(&text),
        [
            "general:",
            "- lone: Exactly sixty characters are shown as they are, all of them.",
            "office: Papers",
            "- mail: Answers bmail/b /available_skills",
            &format!("- report: {}...", "d".repeat(57)),
        ]
    );
    assert!(!text.contains("skill_manage"));
    let keeping = shelf.index(&["skill_view", "skill_manage"], &[], "");
    assert!(keeping.contains("skill_manage"));
    assert_eq!(
        shelf.index(&["terminal"], &[], ""),
        "",
        "nothing to read one with"
    );
    assert_eq!(Shelf::new().index(VIEW, &[], ""), "", "nothing to read");
    // How the first one comes about is told where one can be written.
    let first = Shelf::new().index(&["skill_view", "skill_manage"], &[], "");
    assert!(first.contains("There is none yet."), "{first}");
    assert!(first.contains("without being asked"), "{first}");
}

/// Skills with all kinds of conditions, and some that are switched off.
fn conditioned() -> Shelf {
    let mut shelf = Shelf::new();
    let below = |line: &str| format!("metadata:\n  hermes:\n    {line}\n");
    shelf.skill("always", "x", "");
    shelf.skill("on-linux", "x", "platforms: [linux, macos]\n");
    shelf.skill("on-mac", "x", "platforms: [macos]\n");
    shelf.skill("in-docker", "x", "environments: [docker]\n");
    shelf.skill("in-unknown", "x", "environments: [starship]\n");
    shelf.skill("needs-tool", "x", &below("requires_tools: [terminal]"));
    shelf.skill("needs-set", "x", &below("requires_toolsets: [web]"));
    shelf.skill(
        "instead-of-tool",
        "x",
        &below("fallback_for_tools: [web_search]"),
    );
    shelf.skill(
        "instead-of-set",
        "x",
        &below("fallback_for_toolsets: [browser]"),
    );
    shelf.skill("off", "x", "");
    shelf.skill("off-here", "x", "");
    shelf.skill("off-there", "x", "");
    shelf.settings.disabled = vec!["off".to_owned()];
    let there = [("cli", "off-here"), ("telegram", "off-there")];
    shelf.settings.platform_disabled = there
        .map(|(surface, name)| (surface.to_owned(), vec![name.to_owned()]))
        .into();
    shelf
}

// LN-27
#[test]
fn conditions_and_switches_hide_skills() {
    let shelf = conditioned();
    let shown = |tools: &[&str], toolsets: &[&str]| -> String {
        let text = shelf.index(&[tools, VIEW].concat(), toolsets, "");
        let names = lines(&text).into_iter().skip(1);
        let names: Vec<&str> = names
            .map(|line| line.trim_start_matches("- ").trim_end_matches(": x"))
            .collect();
        names.join(" ")
    };
    assert_eq!(
        shown(&[], &[]),
        "always in-unknown instead-of-set instead-of-tool off-there on-linux"
    );
    assert_eq!(
        shown(&["terminal", "web_search"], &["web", "browser"]),
        "always in-unknown needs-set needs-tool off-there on-linux"
    );
}

// LN-27
#[test]
fn why_a_skill_is_hidden_is_known() {
    let shelf = conditioned();
    let catalog = shelf.library().catalog();
    let here = locality();
    let around = hermes_skills::Circumstances {
        locality: &here,
        settings: &shelf.settings,
        surface: "cli",
        tools: &[],
        toolsets: &[],
    };
    let why = |name: &str| {
        let entry = catalog.entries.iter().find(|entry| entry.name == name);
        hidden(entry.unwrap(), &around)
    };
    assert_eq!(why("on-mac"), Some(Hidden::System));
    assert_eq!(why("in-docker"), Some(Hidden::Surroundings));
    assert_eq!(why("off"), Some(Hidden::Disabled));
    assert_eq!(why("needs-set"), Some(Hidden::Missing("web".to_owned())));
    assert_eq!(why("always"), None);
}

/// Five hundred skills in twenty categories.
fn large() -> Shelf {
    let shelf = Shelf::new();
    for number in 0..500 {
        let category = number % 20;
        shelf.skill(
            &format!("category-{category:02}/skill-number-{number:03}"),
            &format!(
                "Handles the matter {number} with the greatest of care and then reports about it"
            ),
            "",
        );
    }
    shelf.skill("category-07/tax-return", "Fills in the yearly tax form", "");
    shelf
}

/// A careful count: names with dashes take a token for three letters or so, other scripts one for a character.
fn tokens(text: &str) -> usize {
    let others = text.chars().filter(|character| !character.is_ascii());
    let others = others.count();
    let letters = text.chars().count() - others;
    others + letters * 3 / 10
}

// LN-27
#[test]
fn a_library_in_another_script_keeps_to_the_same_limit() {
    let shelf = Shelf::new();
    for number in 0..300 {
        let place = format!("分类/技能-{number:03}");
        shelf.skill(&place, "仔细处理这件事情然后写一份完整的报告给大家看", "");
    }
    let text = shelf.index(VIEW, &[], "报告");
    assert!(tokens(&text) <= MOST_TOKENS, "{} tokens", tokens(&text));
    assert!(
        tokens(&text) > MOST_TOKENS / 2 && text.contains("- also: "),
        "{text}"
    );
}

// LN-27
#[test]
fn a_large_library_is_cut_to_what_fits_the_first_message() {
    let shelf = large();
    let catalog = shelf.library().catalog();
    let text = |first: &str| listed(&catalog, &shelf.settings, VIEW, &[], first);
    let asked = text("Please help me with my tax form");
    assert!(tokens(&asked) <= MOST_TOKENS, "{} tokens", tokens(&asked));
    assert!(asked.len() > MOST_TOKENS * 3, "there was room left");
    assert!(asked.contains("- tax-return: Fills in the yearly tax form\n"));
    assert!(asked.contains("skills_list"), "the rest can be found");
    for category in 0..20 {
        assert!(asked.contains(&format!("category-{category:02} (")));
    }
    let other = text("What about matter 123?");
    assert!(other.contains("- skill-number-123: Handles"));
    assert!(!other.contains("- tax-return:"));
    for silent in ["", "嗯", "!!!"] {
        let text = text(silent);
        assert!(tokens(&text) <= MOST_TOKENS && text.contains("- also: "));
    }
}

// LN-27
#[test]
fn the_same_skills_give_the_same_bytes() {
    let (first, second) = (large(), large());
    let asked = "tax for matter 17 and matter 400";
    let whole = first.index(VIEW, &[], asked);
    assert_eq!(
        whole,
        first.index(VIEW, &[], asked),
        "from what was remembered"
    );
    assert_eq!(
        whole,
        second.index(VIEW, &[], asked),
        "in another directory"
    );
}

// LN-27
#[test]
fn many_categories_leave_room_for_skills() {
    let shelf = Shelf::new();
    for number in 0..600 {
        shelf.skill(
            &format!("category-{number:03}/skill-{number:03}"),
            "does it",
            "",
        );
    }
    let text = shelf.index(VIEW, &[], "skill 003");
    assert!(tokens(&text) <= MOST_TOKENS, "{} tokens", tokens(&text));
    assert!(text.contains("more categories"));
    assert!(text.contains("- skill-003: does it"), "{text}");
}

use proptest::prelude::*;

use super::*;

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(clean(text), expected);
    let mut out = String::new();
    let mut cleaner = Cleaner::default();
    for c in text.chars() {
        cleaner.push(c.encode_utf8(&mut [0; 4]), &mut out);
    }
    assert_eq!(out, expected, "one character at a time");
}

#[test]
fn control_sequences_are_removed_in_all_their_forms() {
    check("a\u{1b}[31;1mred\u{1b}[0m", "ared");
    check("\u{1b}]0;title\u{7}x", "x");
    check(
        "\u{1b}]8;;http://evil\u{1b}\\link\u{1b}]8;;\u{1b}\\",
        "link",
    );
    check(
        "\u{1b}P1$r0m\u{1b}\\x\u{1b}_apc\u{9c}y\u{1b}^pm\u{1b}\\z",
        "xyz",
    );
    check(
        "\u{9b}2Ja\u{9d}0;t\u{7}b\u{90}q\u{9c}c\u{9f}z\u{1b}\\d",
        "abcd",
    );
    check("\u{1b}(Bplain\u{1b}7\u{1b}8\u{1b}c", "plain");
    check("\u{1b}]0;a\u{1b}[31mb", "b");
    check("\u{1b}[1\u{18}x", "x");
}

#[test]
fn an_unterminated_sequence_hides_no_later_line() {
    check("a\u{1b}]0;never closed\nb", "a\nb");
    check("a\u{1b}[12", "a");
    check("a\u{1b}", "a");
    check("a\u{1b}[3é", "aé");
}

#[test]
fn what_reverses_or_hides_text_is_removed() {
    check("user\u{202e}gpj.exe\u{202c}", "usergpj.exe");
    check("a\u{2066}b\u{2069}c\u{200b}d\u{feff}e\u{ad}f", "abcdef");
    check("pass\u{200d}word \u{200c}x", "password x");
    check("hid\u{e0041}\u{e0042}den", "hidden");
    check("a\u{fe0f}b", "ab");
}

#[test]
fn sequences_of_scripts_and_emoji_stay_whole() {
    for whole in [
        "👩\u{200d}💻",
        "❤\u{fe0f}\u{200d}🔥",
        "1\u{fe0f}\u{20e3}",
        "क\u{94d}\u{200d}ष",
        "می\u{200c}خواهم",
    ] {
        check(whole, whole);
    }
    let scotland = "🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}";
    check(scotland, scotland);
}

#[test]
fn a_line_that_overwrites_itself_keeps_its_last_version() {
    check("10%\r50%\r100%\ndone", "100%\ndone");
    check("first\nab\r\ncd\r", "first\nab\ncd");
    check("10%\r\u{1b}[K99%", "99%");
    check("|\u{8}/\u{8}-", "-");
    check("a\n\u{8}b", "a\nb");
}

#[test]
fn in_prose_a_return_ends_a_line_and_nothing_is_taken_back() {
    let mut out = String::new();
    let mut cleaner = Cleaner::prose();
    for piece in ["a\rb\r", "\nc\r", "\rd\u{8}e"] {
        cleaner.push(piece, &mut out);
    }
    assert_eq!(out, "a\nb\nc\n\nde");
}

#[test]
fn tabs_become_spaces_up_to_the_next_stop() {
    check("\ta\tb", "    a   b");
    check("日\tx\n\ty", "日  x\n    y");
}

#[test]
fn marks_do_not_pile_up() {
    let zalgo = format!("a{}b", "\u{301}".repeat(100));
    assert_eq!(clean(&zalgo).chars().count(), 2 + usize::from(MOST_MARKS));
}

#[test]
fn one_line_is_one_line() {
    assert_eq!(clean_line(" a\n\tb  \u{1b}[1mc\r\n"), "a b c");
}

fn hostile() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        any::<char>().prop_map(String::from),
        prop::char::range('\0', '\u{9f}').prop_map(String::from),
        prop::sample::select(vec![
            "\u{1b}[", "\u{1b}]", "\u{1b}P", "\u{1b}\\", "\u{9b}", "\u{200d}", "\u{202e}", "\r",
            "\n", "👩"
        ])
        .prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn nothing_that_steers_a_terminal_survives(text in hostile()) {
        let cleaned = clean(&text);
        let harmless = cleaned.chars().all(|c| c == '\n' || (c >= ' ' && !('\u{7f}'..='\u{9f}').contains(&c)));
        prop_assert!(harmless);
        let reversed = cleaned.contains(['\u{202a}', '\u{202d}', '\u{202e}', '\u{2066}', '\u{2067}', '\u{200b}']);
        prop_assert!(!reversed);
    }

    #[test]
    fn chunks_make_no_difference(text in hostile(), size in 1_usize..7) {
        let mut out = String::new();
        let mut cleaner = Cleaner::default();
        let letters: Vec<char> = text.chars().collect();
        for chunk in letters.chunks(size) {
            cleaner.push(&chunk.iter().collect::<String>(), &mut out);
        }
        prop_assert_eq!(out, clean(&text));
    }

    #[test]
    fn clean_text_stays_as_it_is(text in hostile()) {
        let once = clean(&text);
        prop_assert_eq!(clean(&once), once);
    }
}

use proptest::prelude::*;

use super::*;
use crate::text::width;

fn plain(lines: &[Line<'_>]) -> String {
    let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
    lines.join("\n")
}

#[track_caller]
fn check(text: &str, columns: usize, expected: &str) {
    assert_eq!(plain(&markdown(text, columns, &Theme::default())), expected);
}

#[test]
fn paragraphs_keep_their_lines_and_wrap() {
    check("one two\nthree\n\nfour", 40, "one two\nthree\n\nfour");
    check("one two three", 8, "one two\nthree");
    check("", 40, "");
    check("\n\n\n", 40, "");
}

#[test]
fn lists_nest_and_hang() {
    check(
        "- one two three\n  - inner\n- b",
        11,
        "• one two\n  three\n  ◦ inner\n• b",
    );
    check(
        "9. a\n10. b\n\ntext\n\n1. c",
        40,
        "9. a\n10. b\n\ntext\n\n1. c",
    );
    check("1. a\n\n1. b\n\n1. c", 40, "1. a\n\n2. b\n\n3. c");
    check("- [x] done\n- [ ] open", 40, "• ☑ done\n• ☐ open");
    check("- a\n\n  more\n- b", 40, "• a\n\n  more\n\n• b");
    check("-\n- b", 40, "•\n• b");
}

#[test]
fn quotations_rules_and_headings() {
    check(
        "# Title\ntext\n\n> quoted text\n> - x\n\n---",
        40,
        &format!(
            "Title\n\ntext\n\n▌ quoted text\n▌\n▌ • x\n\n{}",
            "─".repeat(40)
        ),
    );
}

#[test]
fn links_show_where_they_lead() {
    check(
        "[here](https://a.example/x) <https://b.example> [c@d.example](mailto:c@d.example)",
        90,
        "here (https://a.example/x) https://b.example c@d.example",
    );
    check("![cat](cat.png)", 40, "cat (cat.png)");
}

#[test]
fn tables_are_aligned_and_shrunk() {
    let table = "| name | size |\n|:--|--:|\n| 日本 | 5 |\n| b | 100 |\n";
    check(
        table,
        40,
        "name │ size\n─────┼─────\n日本 │    5\nb    │  100",
    );
    check(
        "| a | b |\n|-|-|\n| one two three | four five |\n| x | y |",
        15,
        "a      │ b\n───────┼───────\none    │ four\ntwo    │ five\nthree  │\n───────┼───────\nx      │ y",
    );
    check(
        "| a | b | c |\n|-|-|-|\n| one | two | three four |",
        12,
        "a: one\nb: two\nc: three\n  four",
    );
}

#[test]
fn code_is_set_apart_and_kept_as_it_is() {
    check(
        "text\n```sh\n  ls *a* &amp;\n\n```\nmore",
        40,
        "text\n\n    ls *a* &amp;\n\n\nmore",
    );
    check(
        "1. a\n   ```\n   x\n   ```\n2. b",
        40,
        "1. a\n     x\n\n2. b",
    );
    check("```\nunclosed", 40, "  unclosed");
}

#[test]
fn entities_bring_nothing_back_that_was_removed() {
    let lines = markdown(
        "&#27;[31mred &#x202e;x&#10;y [a](&#27;]8;;z)\n\n`&#27;`",
        80,
        &Theme::default(),
    );
    let text = plain(&lines);
    assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text:?}");
}

#[test]
fn deep_nesting_leaves_room_for_text() {
    let deep = format!("{}x", "> ".repeat(60));
    let lines = markdown(&deep, 20, &Theme::default());
    assert!(lines.iter().all(|line| width(&line.to_string()) <= 20));
}

#[test]
fn a_half_written_text_does_not_flash() {
    let mut stream = Stream::new(60, &Theme::default());
    let mut shown = Vec::new();
    for c in "Say **bold** and `code`, [see](http://x.example).\n\n```rust\nlet a = 1;\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n".chars() {
        stream.push(c.encode_utf8(&mut [0; 4]));
        shown.push(plain(&stream.tail()));
    }
    for tail in &shown {
        assert!(
            !tail.contains('*')
                && !tail.contains('`')
                && !tail.contains('[')
                && !tail.contains('|'),
            "{tail:?}"
        );
    }
}

#[test]
fn what_is_shown_only_grows() {
    for text in [
        "Say **bold** and *it* and ***both*** and `a * b` and ``c`d``, [see](http://x.example) ~~no~~ yes.",
        "# Head\n\ntext with snake_case_name and 2 * 3 * 4 and \\*escaped\\* end\n\n> quoted **x** y\n> z",
        "- a **b** c\n- d `e`\n  - f *g* h\n- [x] done\n- [ ] open\n\n1. one\n\n   more\n2. two **x**\n\n---\n\nend.",
        "1. a\n   ```sh\n   echo **x** `y`\n   ```\n2. b\n\n```rust\nlet a = \"`\"; // **c**\n```\nafter __strong__ words",
        "**Note:** a\n* b **c**\n* d\n\n*One* two_three **four *five* six** [a [b] c](u) <https://d.example> 5 < 6 AT&T &lt; a[0] = [`x`](y) **[z](w)**.",
    ] {
        let theme = Theme::default();
        let whole = plain(&markdown(text, 500, &theme));
        let mut stream = Stream::new(500, &theme);
        for (place, c) in text.char_indices() {
            stream.push(c.encode_utf8(&mut [0; 4]));
            let mut lines = stream.finished().to_vec();
            lines.extend(stream.tail());
            let shown = plain(&lines);
            assert!(
                whole.starts_with(shown.trim_end()),
                "after {:?}: {shown:?}",
                text.get(..place + 1)
            );
        }
    }
}

#[test]
fn finished_lines_never_change() {
    let mut stream = Stream::new(30, &Theme::default());
    let mut before = 0;
    for chunk in TEXT.as_bytes().chunks(3) {
        stream.push(&String::from_utf8_lossy(chunk));
        assert!(stream.finished().len() >= before);
        before = stream.finished().len();
    }
    let kept = stream.finished().to_vec();
    stream.finish();
    assert_eq!(&stream.finished()[..kept.len()], kept);
}

#[test]
fn a_new_width_is_for_what_is_still_open() {
    let mut stream = Stream::new(10, &Theme::default());
    stream.push("one two three\n\nfour five six");
    stream.push("\n");
    assert_eq!(plain(stream.finished()), "one two\nthree");
    stream.resize(30);
    assert_eq!(plain(&stream.tail()), "\nfour five six");
}

// CL-20
#[test]
fn a_long_block_is_handed_out_while_it_is_open_and_no_word_twice_in_any_width() {
    let words: Vec<String> = (0..400).map(|number| format!("w{number:03}")).collect();
    let list: Vec<String> = words
        .chunks(5)
        .map(|five| format!("- {}", five.join(" ")))
        .collect();
    for text in [words.join(" "), list.join("\n")] {
        for widths in [[40, 40, 40], [40, 25, 61], [90, 12, 30]] {
            let mut stream = Stream::new(widths[0], &Theme::plain());
            let mut done = Vec::new();
            for (place, chunk) in text.as_bytes().chunks(7).enumerate() {
                stream.resize(widths[place / 40 % 3]);
                stream.push(&String::from_utf8_lossy(chunk));
                done.extend(stream.take_finished());
            }
            // Nearly all of it is there before its end.
            let early = plain(&done);
            assert!(early.contains("w340"), "{early}");
            stream.finish();
            done.extend(stream.take_finished());
            let all: String = plain(&done)
                .split_whitespace()
                .filter(|word| *word != "•" && *word != "-")
                .collect();
            assert_eq!(all, words.concat());
            if widths[0] == widths[1] {
                assert_eq!(done, markdown(&text, widths[0], &Theme::plain()));
            }
        }
    }
}

const TEXT: &str = "# Plan\n\nFirst *do* this:\n\n1. a **b** c\n   ```py\n   x = 1\n   ```\n2. d\n\n   e\n\n3. f\n\n> q\n\n| x | y |\n|---|---|\n| 1 | `2` |\n\n```rust\nfn a() {}\n\n// b\n```\nend [l](u)\n";

fn source() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "# h",
        "text",
        "**bold**",
        "*",
        "`c`",
        "`",
        "```",
        "~~~",
        "```rust",
        "- a",
        "  - b",
        "1. c",
        "2) d",
        "   e",
        "    f",
        "> q",
        "|a|b|",
        "|-|-|",
        "---",
        "===",
        "[l](u)",
        "[x",
        "](",
        "<b>",
        "\n",
        "\n\n",
        "\n",
        " ",
        "\r\n",
        "\r",
        "\u{8}",
        "&#27;",
        "\u{1b}[1m",
        "日本",
        "👩\u{200d}💻",
        "\t",
        "\\",
    ]);
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_chunking_ends_equal(text in source(), size in 1_usize..9, columns in 1_usize..60) {
        let theme = Theme::default();
        let mut stream = Stream::new(columns, &theme);
        let letters: Vec<char> = text.chars().collect();
        for chunk in letters.chunks(size) {
            stream.push(&chunk.iter().collect::<String>());
            stream.tail();
        }
        stream.finish();
        prop_assert_eq!(stream.take_finished(), markdown(&text, columns, &theme));
        prop_assert!(stream.tail().is_empty());
    }

    #[test]
    fn lines_fit_the_width_and_carry_no_controls(text in source(), columns in 12_usize..60) {
        for line in markdown(&text, columns, &Theme::default()) {
            let line = line.to_string();
            prop_assert!(width(&line) <= columns, "{:?}", line);
            prop_assert!(!line.contains(char::is_control), "{:?}", line);
        }
    }
}

#[test]
fn a_line_that_would_write_over_itself_changes_nothing_that_was_shown() {
    let text = "- a\n\n- a\r\t# h";
    let theme = Theme::default();
    let mut stream = Stream::new(1, &theme);
    for letter in text.chars() {
        stream.push(letter.encode_utf8(&mut [0; 4]));
    }
    stream.finish();
    assert_eq!(stream.take_finished(), markdown(text, 1, &theme));
}

#[test]
fn formulas_are_shown_in_characters_and_money_stays_money() {
    let shown = |text: &str| {
        let lines = markdown(text, 60, &Theme::plain());
        lines[0].to_string()
    };
    assert_eq!(shown("so $x^2 \\geq 0$ holds"), "so x² ≥ 0 holds");
    assert_eq!(shown("$$\\frac{1}{2}$$"), "1/2");
    assert_eq!(
        shown("between $5 and $10, or $5/$6"),
        "between $5 and $10, or $5/$6"
    );
    assert_eq!(shown("`$x^2$`"), "$x^2$");
}

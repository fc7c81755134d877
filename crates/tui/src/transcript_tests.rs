use std::time::{Duration, Instant};

use super::*;
use crate::cells::{Answer, Level, Marks, Notice, Output, Reasoning, Tool, ToolState, User};
use crate::text::width;

fn look() -> Look {
    Look {
        theme: Theme::plain(),
        sections: Sections::default(),
        stamps: None,
    }
}

fn notice(number: usize) -> Cell {
    Cell::Notice(Notice {
        level: Level::Good,
        text: format!("note {number}"),
    })
}

fn tool(number: usize) -> Cell {
    let mut output = Output::default();
    output.push("printed\nmore\n");
    Cell::Tool(Tool {
        name: "terminal".to_owned(),
        verb: "run".to_owned(),
        preview: format!("call {number}"),
        state: ToolState::Done(Duration::from_secs(1)),
        output,
        fold: Fold::Open,
    })
}

fn notes(count: usize) -> Transcript {
    let mut transcript = Transcript::new(look(), 40);
    for number in 0..count {
        transcript.push(notice(number), None);
    }
    transcript
}

fn texts(shown: &Shown) -> Vec<String> {
    shown.lines.iter().map(ToString::to_string).collect()
}

fn seen(transcript: &mut Transcript, rows: usize) -> Vec<String> {
    texts(&transcript.show(rows, &Tail::default()))
}

// CL-31
#[test]
fn the_end_is_followed_and_a_reader_stays_where_he_is() {
    let mut transcript = notes(20);
    assert_eq!(seen(&mut transcript, 3), ["✓ note 18", "", "✓ note 19"]);
    transcript.push(notice(20), None);
    assert_eq!(seen(&mut transcript, 3), ["✓ note 19", "", "✓ note 20"]);
    transcript.scroll_back(4);
    let shown = transcript.show(3, &Tail::default());
    // The last row is for the mark.
    assert_eq!(texts(&shown), ["✓ note 17", ""]);
    assert!(shown.more);
    for number in 21..40 {
        transcript.push(notice(number), None);
        let tail = Tail(vec![vec![Line::from("being written")].into()]);
        assert_eq!(texts(&transcript.show(3, &tail)), ["✓ note 17", ""]);
    }
    transcript.resize(30, 24);
    assert_eq!(seen(&mut transcript, 3), ["✓ note 17", ""]);
    transcript.scroll_on(2);
    assert_eq!(seen(&mut transcript, 3), ["✓ note 18", ""]);
    transcript.scroll_on(1_000);
    let shown = transcript.show(3, &Tail::default());
    assert_eq!(texts(&shown), ["✓ note 38", "", "✓ note 39"]);
    assert!(!shown.more);
    // Back at the end, it is followed again.
    transcript.push(notice(40), None);
    assert_eq!(seen(&mut transcript, 1), ["✓ note 40"]);
}

#[test]
fn paging_there_and_back_shows_every_line() {
    let mut transcript = notes(50);
    seen(&mut transcript, 10);
    transcript.go_to_start();
    let mut all: Vec<String> = Vec::new();
    for _ in 0..100 {
        let shown = transcript.show(10, &Tail::default());
        all.extend(texts(&shown));
        if !shown.more {
            break;
        }
        transcript.page(false);
    }
    for number in 0..50 {
        assert!(all.contains(&format!("✓ note {number}")), "{number}");
    }
    for _ in 0..100 {
        transcript.page(true);
        seen(&mut transcript, 10);
    }
    assert_eq!(seen(&mut transcript, 10)[0], "✓ note 0");
    // What fits as a whole does not scroll.
    let mut short = notes(2);
    assert_eq!(seen(&mut short, 3).len(), 3);
    short.page(true);
    assert!(!short.show(3, &Tail::default()).more);
}

#[test]
fn an_answer_being_written_is_part_of_it() {
    let mut transcript = notes(3);
    let lines: Vec<Line<'static>> = (0..100)
        .map(|row| Line::from(format!("row {row}")))
        .collect();
    let tail = || {
        Tail(vec![
            lines.as_slice().into(),
            vec![Line::from("end")].into(),
        ])
    };
    assert_eq!(texts(&transcript.show(2, &tail())), ["row 99", "end"]);
    transcript.scroll_back(10);
    assert_eq!(texts(&transcript.show(3, &tail())), ["row 89", "row 90"]);
    transcript.page(true);
    transcript.page(true);
    assert_eq!(texts(&transcript.show(2, &tail())), ["row 87"]);
    // It becomes a cell of the same number, and the reader is still in it.
    let text: Vec<String> = (0..100).map(|row| format!("row {row}")).collect();
    let answer = Answer {
        text: text.join("\n"),
        label: None,
        marks: Marks::Keep,
    };
    transcript.push(Cell::Answer(answer), None);
    assert_eq!(seen(&mut transcript, 2), ["row 85"]);
}

// CL-31
#[test]
fn cells_fold_by_key_and_by_section() {
    let mut transcript = notes(1);
    for number in 0..3 {
        transcript.push(tool(number), None);
    }
    let folded = seen(&mut transcript, 20);
    assert_eq!(folded.len(), 4, "{folded:?}");
    // Without a mark it is the last one.
    assert!(transcript.toggle_marked());
    let open = seen(&mut transcript, 20);
    assert!(open.last().unwrap().contains("more"), "{open:?}");
    transcript.mark(true);
    transcript.mark(true);
    assert!(transcript.toggle_marked());
    let both = seen(&mut transcript, 20);
    assert_eq!(
        both.iter().filter(|line| line.contains("printed")).count(),
        2
    );
    let row = both
        .iter()
        .position(|line| line.contains("call 1"))
        .unwrap();
    assert_eq!(transcript.cell_in(row), Some(2));
    assert_eq!(transcript.cell_in(row + 1), Some(2));
    transcript.toggle(2);
    assert!(transcript.unmark() && !transcript.unmark());
    transcript.change(|look| look.sections.tools = crate::app::Details::Hidden);
    assert_eq!(seen(&mut transcript, 20), ["✓ note 0"]);
    transcript.mark(true);
    assert!(!transcript.toggle_marked());
    transcript.change(|look| look.sections.tools = crate::app::Details::Expanded);
    let all = seen(&mut transcript, 20);
    assert_eq!(
        all.iter().filter(|line| line.contains("printed")).count(),
        3
    );
}

#[test]
fn times_stand_behind_the_first_line_or_above_it() {
    let mut transcript = Transcript::new(look(), 20);
    transcript.push(Cell::User(User::new("short")), Some(Duration::from_secs(1)));
    transcript.push(
        Cell::User(User::new("no room for a time")),
        Some(Duration::from_secs(2)),
    );
    transcript.push(notice(0), None);
    assert_eq!(seen(&mut transcript, 9)[0], "● short");
    let stamps = Stamps::new(|at| format!("12:0{}", at.as_secs()));
    transcript.change(|look| look.stamps = Some(stamps));
    assert_eq!(
        seen(&mut transcript, 9),
        [
            "● short  12:01",
            "",
            "12:02",
            "● no room for a time",
            "",
            "✓ note 0"
        ]
    );
}

#[test]
fn the_oldest_go_when_there_is_too_much() {
    let mut transcript = notes(MOST_CELLS + 10);
    assert_eq!(transcript.entries.len(), MOST_CELLS);
    seen(&mut transcript, 5);
    transcript.go_to_start();
    assert_eq!(seen(&mut transcript, 5)[0], "✓ note 10");
    transcript.push(notice(1), None);
    assert_eq!(seen(&mut transcript, 5)[0], "✓ note 11");
    let big = "x".repeat(1024 * 1024);
    for _ in 0..40 {
        transcript.push(Cell::User(User::new(big.clone())), None);
    }
    assert!(transcript.weight <= MOST_BYTES);
    assert!(transcript.entries.len() <= 32);
    transcript.clear();
    assert_eq!(seen(&mut transcript, 5), Vec::<String>::new());
    transcript.scroll_back(3);
    transcript.page(false);
    transcript.push(notice(7), None);
    assert_eq!(seen(&mut transcript, 5), ["✓ note 7"]);
}

/// A conversation of five thousand messages of about five hundred characters.
fn long() -> Transcript {
    let mut transcript = Transcript::new(look(), 100);
    let words = "The **quick** brown fox jumps over the `lazy` dog and runs away. ".repeat(7);
    for number in 0..5_000 {
        let text = format!("{number}\n\n{words}\n\n- one\n- two\n");
        transcript.push(
            match number % 4 {
                0 => Cell::User(User::new(text)),
                1 => Cell::Reasoning(Reasoning {
                    text,
                    elapsed: Duration::from_secs(3),
                    done: true,
                    fold: Fold::Folded,
                }),
                2 => tool(number),
                _ => Cell::Answer(Answer {
                    text,
                    label: None,
                    marks: Marks::Render,
                }),
            },
            None,
        );
    }
    transcript
}

// CL-31
#[test]
fn a_long_conversation_costs_as_much_as_a_screen_of_it() {
    let mut transcript = long();
    let mut slowest = Duration::ZERO;
    let mut total = Duration::ZERO;
    transcript.show(50, &Tail::default());
    for step in 0..200 {
        let start = Instant::now();
        match step % 4 {
            0 => transcript.resize(40 + step / 2, 24),
            1 => transcript.page(true),
            2 if step % 40 == 2 => transcript.go_to_start(),
            2 => transcript.scroll_on(100),
            _ => transcript.go_to_end(),
        }
        let shown = transcript.show(50, &Tail::default());
        let took = start.elapsed();
        assert!(
            shown
                .lines
                .iter()
                .all(|line| width(&line.to_string()) <= 150)
        );
        (slowest, total) = (slowest.max(took), total + took);
        // What counts is that the rest of the conversation was not touched.
        assert!(transcript.laid.len() <= 1_200, "{}", transcript.laid.len());
    }
    let held = transcript.weight + transcript.entries.len() * size_of::<Entry>();
    assert!(held < 8 * 1024 * 1024, "{held} bytes");
    println!("{held} bytes, slowest {slowest:?}, mean {:?}", total / 200);
    assert!(total / 200 < Duration::from_millis(160), "{total:?}");
}

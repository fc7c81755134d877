//! What changed, as people read it.

use std::time::Duration;

use similar::{Algorithm, TextDiff};

/// Unchanged lines shown around a change.
const CONTEXT: usize = 3;
/// How long the shortest difference is looked for.
const PATIENCE: Duration = Duration::from_millis(500);
/// Most characters of a difference; the rest is only counted.
const MOST: usize = 20_000;

/// The difference of two texts; empty when there is none.
pub(crate) fn unified(path: &str, old: &str, new: &str) -> String {
    let (from, old_part, new_part) = changed(old, new);
    if old_part == new_part {
        return String::new();
    }
    let diff = TextDiff::configure()
        .algorithm(Algorithm::Myers)
        .timeout(PATIENCE)
        .diff_lines(old_part, new_part);
    let before = memchr::memchr_iter(b'\n', old.as_bytes().get(..from).unwrap_or_default()).count();
    let mut out = format!("--- a/{path}\n+++ b/{path}\n");
    for hunk in diff.unified_diff().context_radius(CONTEXT).iter_hunks() {
        let text = hunk.to_string();
        let lines = text.split_once('\n').map_or("", |(_, lines)| lines);
        out.push_str(&header(hunk.ops(), before));
        out.push_str(lines);
        if out.len() > MOST {
            break;
        }
    }
    bounded(out)
}

/// The part that differs with some lines around it, so that a long file costs no long comparison.
fn changed<'t>(old: &'t str, new: &'t str) -> (usize, &'t str, &'t str) {
    let head = common(old.as_bytes(), new.as_bytes());
    let mut from = memchr::memrchr(b'\n', old.as_bytes().get(..head).unwrap_or_default())
        .map_or(0, |at| at + 1);
    for _ in 0..CONTEXT {
        let before = old
            .as_bytes()
            .get(..from.saturating_sub(1))
            .unwrap_or_default();
        from = memchr::memrchr(b'\n', before).map_or(0, |at| at + 1);
    }
    let (old_rest, new_rest) = (
        old.get(from..).unwrap_or_default(),
        new.get(from..).unwrap_or_default(),
    );
    let tail = common_end(old_rest.as_bytes(), new_rest.as_bytes());
    // The tail begins after the end of a line, and its first lines are shown.
    let start = old_rest.len() - tail;
    let mut kept = start;
    for _ in 0..=CONTEXT {
        let after = old_rest.as_bytes().get(kept..).unwrap_or_default();
        match memchr::memchr(b'\n', after) {
            Some(at) => kept += at + 1,
            None => kept = old_rest.len(),
        }
    }
    let tail = old_rest.len() - kept;
    (
        from,
        old_rest.get(..old_rest.len() - tail).unwrap_or_default(),
        new_rest.get(..new_rest.len() - tail).unwrap_or_default(),
    )
}

fn common(a: &[u8], b: &[u8]) -> usize {
    const STEP: usize = 4_096;
    let steps = a
        .chunks_exact(STEP)
        .zip(b.chunks_exact(STEP))
        .take_while(|(a, b)| a == b)
        .count();
    let done = steps * STEP;
    // Iterators that skip would walk through all of it byte by byte.
    let a = a.get(done..).unwrap_or_default();
    let b = b.get(done..).unwrap_or_default();
    done + a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

fn common_end(a: &[u8], b: &[u8]) -> usize {
    const STEP: usize = 4_096;
    let steps = a
        .rchunks_exact(STEP)
        .zip(b.rchunks_exact(STEP))
        .take_while(|(a, b)| a == b)
        .count();
    let done = steps * STEP;
    let a = a.get(..a.len() - done).unwrap_or_default();
    let b = b.get(..b.len() - done).unwrap_or_default();
    let back = a.iter().rev().zip(b.iter().rev());
    done + back.take_while(|(a, b)| a == b).count()
}

fn header(ops: &[similar::DiffOp], before: usize) -> String {
    let range = |start: usize, length: usize| match length {
        1 => format!("{}", before + start + 1),
        // An empty range names the line before it.
        0 => format!("{},0", before + start),
        _ => format!("{},{length}", before + start + 1),
    };
    let (Some(first), Some(last)) = (ops.first(), ops.last()) else {
        return String::new();
    };
    let old = first.old_range().start..last.old_range().end;
    let new = first.new_range().start..last.new_range().end;
    format!(
        "@@ -{} +{} @@\n",
        range(old.start, old.len()),
        range(new.start, new.len())
    )
}

fn bounded(mut text: String) -> String {
    if text.len() <= MOST {
        return text;
    }
    let lines = memchr::memchr_iter(b'\n', text.as_bytes()).count();
    text.truncate(text.floor_char_boundary(MOST));
    let kept = memchr::memchr_iter(b'\n', text.as_bytes()).count();
    text.push_str(&format!("\n[{} more lines]\n", lines.saturating_sub(kept)));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_numbers_are_those_of_the_whole_file() {
        let old: String = (1..=5_000).map(|n| format!("line {n}\n")).collect();
        let new = old.replace("line 4000\n", "line four thousand\n");
        assert_eq!(
            unified("x", &old, &new),
            "--- a/x\n+++ b/x\n@@ -3997,7 +3997,7 @@\n line 3997\n line 3998\n line 3999\n-line 4000\n\
             +line four thousand\n line 4001\n line 4002\n line 4003\n"
        );
        assert_eq!(unified("x", &old, &old), "");
        assert!(unified("x", "", "a\n").contains("@@ -0,0 +1 @@\n+a\n"));
        assert!(unified("x", "a\n", "").contains("@@ -1 +0,0 @@\n-a\n"));
        assert!(unified("x", "a", "a\n").contains("No newline"));
    }
}

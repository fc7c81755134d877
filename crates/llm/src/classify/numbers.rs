//! The numbers in providers' sentences: real windows, tokens left for the answer, sizes of pictures,
//! waits. Each sentence is one line of a table; `{window}` and its like stand for a number.

use std::sync::LazyLock;
use std::time::Duration;

use regex::Regex;

/// Windows and counts below this are codes or positions, not sizes.
const SMALLEST_WINDOW: u32 = 1_024;
/// Fewer tokens than this are no answer worth asking for.
const SMALLEST_OUTPUT: u32 = 512;

/// What a message about sizes states.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Sizes {
    /// The window.
    pub(super) window: Option<u32>,
    /// What is left of it for the answer, or the most the model ever answers.
    pub(super) output: Option<u32>,
}

/// Sentences in which a window stands, most telling first. Where `{input}` stands too, the rest of the
/// window is free for the answer; those sentences are only said when the answer was what did not fit.
const SIZES: &[&str] = &[
    r"exceed context limit: {input} \+ {any} > {window}",
    r"context_window: {window} - input_tokens: {input}",
    r"maximum context length is {window} tokens?\b.{0,60}requested.{0,40}\({input} in the messages",
    r"maximum context length is {window} tokens?\b.{0,60}requested.{0,40}\({input} of text input",
    r"maximum context length is {window} tokens?\b.{0,40}request has {input} input tokens",
    r"must be <= {window}\. given: {input} `inputs` tokens",
    r"maximum context length (?:is|of) {window}",
    r"{any} tokens? > {window} max",
    r"maximum number of tokens allowed \(?{window}",
    r"available context size \(?{window}",
    r"n_ctx\W{1,4}{window}",
    r"context length of (?:only )?{window}",
    r"context (?:length|window|size|limit) (?:is|of|:|=) ?{window}",
    r"maximum prompt length is {window}",
    r"{window} maximum context length",
    r"range of input length should be \[{any}, ?{window}\]",
    r"exceeds? the limit of {window}",
    r"token limit: {window}",
    r"prompt cannot exceed {window}",
    r"max_model_len\W{1,4}{window}",
    r"maximum (?:input|context) .{0,30}?{window} tokens",
    r"{window}[- ]token context",
];

/// Sentences in which the room for the answer stands.
const OUTPUTS: &[&str] = &[
    r"available_tokens\W{1,3}{output}",
    r"available (?:output )?tokens\W{1,3}{output}",
    r"max_tokens: {any} > {output}, which is the maximum",
    r"supports at most {output} (?:completion|output) tokens",
    r"range of max_tokens should be \[{any}, ?{output}\]",
    r"max_(?:output_)?tokens must be less than or equal to `?{output}",
    r"maximum tokens you requested exceeds the model limit of {output}",
    r"output token limit (?:is|of) {output}",
];

const EDGES: &[&str] = &[
    r"max allowed size.{0,40}?: {edge} pixels",
    r"{edge} ?(?:px|pixels) (?:per|on|along|in)",
];

/// Waits in words; the unit follows the number, and minutes or seconds may follow hours.
const WAITS: &[&str] = &[
    r"(?:try again|retry|resets?|reset) (?:in|after):? (?:about |approximately )?{wait}",
    r"wait (?:for )?{wait}",
    r"retrydelay\W{1,5}{wait}",
    r"quotaresetdelay\W{1,5}{wait}",
];

static SIZE_SENTENCES: LazyLock<Vec<Regex>> = LazyLock::new(|| sentences(SIZES));
static OUTPUT_SENTENCES: LazyLock<Vec<Regex>> = LazyLock::new(|| sentences(OUTPUTS));
static EDGE_SENTENCES: LazyLock<Vec<Regex>> = LazyLock::new(|| sentences(EDGES));
static WAIT_SENTENCES: LazyLock<Vec<Regex>> = LazyLock::new(|| sentences(WAITS));

/// What `text`, in lower case, states about sizes.
pub(super) fn sizes(text: &str) -> Sizes {
    let output = first(&OUTPUT_SENTENCES, text, "output");
    let Some((sentence, window)) = SIZE_SENTENCES
        .iter()
        .find_map(|sentence| Some((sentence, number(sentence, text, "window")?)))
        .filter(|(_, window)| *window >= SMALLEST_WINDOW)
    else {
        return Sizes {
            window: None,
            output: output.filter(|left| *left >= SMALLEST_OUTPUT),
        };
    };
    let left = number(sentence, text, "input").and_then(|input| window.checked_sub(input));
    Sizes {
        window: Some(window),
        output: output.or(left).filter(|left| *left >= SMALLEST_OUTPUT),
    }
}

/// The longest edge of a picture that `text` states.
pub(super) fn image_edge(text: &str) -> Option<u32> {
    first(&EDGE_SENTENCES, text, "edge")
}

/// The wait that `text` asks for.
pub(super) fn wait(text: &str) -> Option<Duration> {
    let found = WAIT_SENTENCES
        .iter()
        .find_map(|sentence| sentence.captures(text)?.name("wait"))?;
    span(found.as_str())
}

/// A span such as `1h 20m`, `38.5s`, `250ms` or `20 seconds`.
pub(crate) fn span(text: &str) -> Option<Duration> {
    let mut total = 0.0;
    let mut rest = text.trim();
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (amount, tail) = rest.split_at(end);
        let tail = tail.trim_start();
        let end = tail
            .find(|c: char| !c.is_ascii_alphabetic())
            .unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(end);
        let seconds = match unit {
            "ms" | "millisecond" | "milliseconds" => 0.001,
            "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
            "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
            "h" | "hr" | "hrs" | "hour" | "hours" => 3_600.0,
            "d" | "day" | "days" => 86_400.0,
            _ => return None,
        };
        total += amount.parse::<f64>().ok()? * seconds;
        rest = tail.trim_start();
    }
    Duration::try_from_secs_f64(total).ok()
}

fn first(sentences: &[Regex], text: &str, name: &str) -> Option<u32> {
    sentences
        .iter()
        .find_map(|sentence| number(sentence, text, name))
}

fn number(sentence: &Regex, text: &str, name: &str) -> Option<u32> {
    let found = sentence.captures(text)?.name(name)?;
    let digits: String = found
        .as_str()
        .chars()
        .filter(char::is_ascii_digit)
        .collect();
    digits.parse().ok()
}

/// Makes the patterns of a table. A line that is no pattern is left out; a test sees to it that there
/// is none.
fn sentences(table: &[&str]) -> Vec<Regex> {
    table
        .iter()
        .filter_map(|line| Regex::new(&pattern(line)).ok())
        .collect()
}

fn pattern(line: &str) -> String {
    let mut pattern = line.replace("{any}", r"\d[\d,]*").replace(
        "{wait}",
        r"(?P<wait>\d[\d.]*\s?[a-z]+(?:\s?\d[\d.]*\s?[a-z]+)*)",
    );
    for name in ["window", "input", "output", "edge"] {
        pattern = pattern.replace(&format!("{{{name}}}"), &format!(r"(?P<{name}>\d[\d,_]*)"));
    }
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_tables_is_a_pattern() {
        for line in [SIZES, OUTPUTS, EDGES, WAITS].concat() {
            assert!(Regex::new(&pattern(line)).is_ok(), "{line}");
        }
    }
}

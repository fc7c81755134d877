//! `xargs` and `parallel`: programs that get arguments from their input too.

use super::carriers::option_values;
use super::field::{Field, HOLE};
use super::invocation::Input;
use super::resolve::{Given, Resolver};
use super::unwrap::{joined, wrapped};
use super::wrappers;

/// The most words of an input that are looked at.
const MAX_WORDS: usize = 1_024;

impl Resolver<'_> {
    pub(super) fn fed_arguments(
        &mut self,
        name: &str,
        argv: &[Field],
        given: &Given,
    ) -> Option<String> {
        if name == "parallel" {
            self.parallel(argv, given);
            return None;
        }
        let inner = wrappers::inner("xargs", argv)?.0.to_vec();
        let own = argv.get(..argv.len().saturating_sub(inner.len()));
        let calls = match self.input_text(given) {
            Some(text) => calls(own.unwrap_or_default(), &inner, &text, given),
            None => {
                let mut call = inner;
                call.push(Field::literal(HOLE.to_string(), given.span));
                vec![call]
            }
        };
        let quiet = Given {
            input: Input::Nothing,
            ..wrapped(given)
        };
        let mut printed = Some(String::new());
        for call in calls {
            self.exhausted |= call.len() > MAX_WORDS + argv.len();
            let more = self.run(call, quiet.clone());
            printed = printed.zip(more).map(|(before, more)| before + &more);
        }
        printed
    }

    pub(super) fn input_text(&mut self, given: &Given) -> Option<String> {
        let known = given.input.known().map(str::to_owned);
        known.or_else(|| self.text_from_stream(given))
    }

    /// The command with each value behind `:::` or on a line of the input, each in a shell of its own.
    fn parallel(&mut self, argv: &[Field], given: &Given) {
        let all = wrappers::operands("jSNnaId", argv);
        let cut = all.iter().position(|field| field.text.starts_with(":::"));
        let (command, values) = all.split_at(cut.unwrap_or(all.len()));
        let command = joined(command, 0);
        let values = values.iter().filter(|field| !field.text.starts_with(":::"));
        let mut values: Vec<String> = values.map(|field| field.text.clone()).collect();
        match self.input_text(given).filter(|_| cut.is_none()) {
            Some(text) => values.extend(text.lines().map(str::to_owned)),
            None if cut.is_none() => values.push(HOLE.to_string()),
            None => {}
        }
        // Values of several lists are put together; all of them are as many as there can be.
        values.push(values.join(" "));
        for value in values {
            let text = match command.contains("{}") {
                true => command.replace("{}", &value),
                false => format!("{command} {value}"),
            };
            self.text(&text, given.span, Input::Nothing);
        }
    }
}

/// What `xargs` starts, one after the other.
fn calls(own: &[Field], inner: &[Field], text: &str, given: &Given) -> Vec<Vec<Field>> {
    let marks = option_values(own, &["-I", "--replace"]);
    if let Some(mark) = marks.first().filter(|mark| !mark.text.is_empty()) {
        let filled = |line: &str| -> Vec<Field> {
            let fields = inner.iter().cloned().map(|mut field| {
                field.text = field.text.replace(&mark.text, line.trim_start());
                field
            });
            fields.collect()
        };
        return pieces(own, text).iter().map(|line| filled(line)).collect();
    }
    let number = |options: &[&str]| {
        let values = option_values(own, options);
        values
            .first()
            .and_then(|value| value.text.parse::<usize>().ok())
    };
    let lines = number(&["-L", "--max-lines"]);
    let words = number(&["-n", "--max-args"]).unwrap_or(usize::MAX).max(1);
    let groups: Vec<Vec<String>> = match lines {
        Some(lines) => {
            let all: Vec<&str> = text.lines().collect();
            let groups = all.chunks(lines.max(1));
            groups
                .map(|group| words_of(own, &group.join("\n")))
                .collect()
        }
        None => words_of(own, text)
            .chunks(words)
            .map(<[String]>::to_vec)
            .collect(),
    };
    let with = |group: &Vec<String>| -> Vec<Field> {
        let words = group
            .iter()
            .map(|word| Field::literal(word.as_str(), given.span));
        inner.iter().cloned().chain(words).collect()
    };
    match groups.is_empty() {
        true => vec![inner.to_vec()],
        false => groups.iter().map(with).collect(),
    }
}

/// The input in the pieces a separator makes of it: lines, unless another one is named.
fn pieces(own: &[Field], text: &str) -> Vec<String> {
    let named = separator(own).unwrap_or('\n');
    let pieces = text.split(named).filter(|piece| !piece.is_empty());
    pieces.map(str::to_owned).collect()
}

fn separator(own: &[Field]) -> Option<char> {
    let ends_at_zero = own.iter().any(|field| {
        let letters = field.text.strip_prefix('-');
        let plain = |letters: &str| letters.chars().all(|c| "0rtpx".contains(c));
        let zero = |letters: &str| letters.contains('0') && plain(letters);
        field.text == "--null" || letters.is_some_and(zero)
    });
    if ends_at_zero {
        return Some('\0');
    }
    let values = option_values(own, &["-d", "--delimiter"]);
    match values.first()?.text.as_str() {
        "\\n" => Some('\n'),
        "\\t" => Some('\t'),
        "\\0" => Some('\0'),
        other => other.chars().next(),
    }
}

/// The words of the input. Without a separator of its own, quotes hold words together.
fn words_of(own: &[Field], text: &str) -> Vec<String> {
    if separator(own).is_some() {
        return pieces(own, text);
    }
    let mut words = Vec::new();
    let mut word = String::new();
    let (mut began, mut quote) = (false, None);
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        match c {
            _ if quote == Some(c) => quote = None,
            _ if quote.is_some() => word.push(c),
            '\'' | '"' => (quote, began) = (Some(c), true),
            '\\' => {
                word.extend(characters.next());
                began = true;
            }
            _ if c.is_whitespace() => {
                if std::mem::take(&mut began) {
                    words.push(std::mem::take(&mut word));
                }
            }
            _ => {
                word.push(c);
                began = true;
            }
        }
    }
    if began {
        words.push(word);
    }
    words
}

//! How an unfinished paragraph will most likely go on.

/// A link is shown when it is complete; a bracket that stays open for longer is just a bracket.
const LONGEST_LINK: usize = 400;

/// Characters have names up to about this length.
const LONGEST_NAME: usize = 32;

/// The paragraph with its open marks closed, and without what cannot be understood yet.
pub(super) fn completed_line(text: &str) -> String {
    let mut scan = Scan::default();
    let mut rest = Some(text);
    while let Some(text) = rest.filter(|text| !text.is_empty()) {
        rest = scan.step(text);
    }
    scan.finish()
}

/// A mark that waits for its twin.
#[derive(Debug, Clone, Copy)]
struct Mark {
    sign: char,
    length: usize,
    /// Where the text behind it begins.
    end: usize,
}

#[derive(Debug, Default)]
struct Scan {
    out: String,
    marks: Vec<Mark>,
    /// Where the outermost open bracket stands, and how much text follows it.
    bracket: Option<(usize, usize)>,
    /// How many brackets are open.
    depth: usize,
}

impl Scan {
    /// Takes the next sign or character, and returns what follows it; nothing when the rest is left out.
    fn step<'a>(&mut self, text: &'a str) -> Option<&'a str> {
        let c = text.chars().next()?;
        let run = match c {
            '\\' => text.chars().take(2).map(char::len_utf8).sum(),
            '*' | '_' | '~' | '`' => text.len() - text.trim_start_matches(c).len(),
            c => c.len_utf8(),
        };
        let (piece, after) = text.split_at_checked(run)?;
        match c {
            // What it escapes is still to come.
            '\\' if piece.len() == 1 => return None,
            '<' | '&' if is_begun(c, after) => return None,
            '`' => return self.code(piece, after),
            '*' | '_' | '~' => return self.mark(c, piece, after),
            '[' => {
                self.bracket.get_or_insert((self.out.len(), text.len()));
                self.depth += 1;
            }
            ']' => self.close_bracket(after),
            _ => {}
        }
        self.out.push_str(piece);
        Some(after)
    }

    fn code<'a>(&mut self, sign: &str, after: &'a str) -> Option<&'a str> {
        let Some(end) = code_end(after, sign.len()) else {
            // Everything behind it is code, but for what may be half of its end.
            let code = after.trim_end().trim_end_matches('`');
            if !code.trim().is_empty() {
                self.out.push_str(&format!("{sign}{code}{sign}"));
            }
            return None;
        };
        let (code, later) = after.split_at_checked(end)?;
        self.out.push_str(sign);
        self.out.push_str(code);
        Some(later)
    }

    fn mark<'a>(&mut self, sign: char, piece: &str, after: &'a str) -> Option<&'a str> {
        let mark = Mark {
            sign,
            length: piece.len(),
            end: self.out.len() + piece.len(),
        };
        if after.is_empty() {
            // It may grow, so it counts only when it already is somebody's twin.
            let twin = self
                .marks
                .last()
                .is_some_and(|open| open.sign == sign && open.length <= mark.length);
            if twin {
                self.marks.pop();
                self.out.push_str(piece);
            }
            return None;
        }
        self.match_up(mark, after);
        self.out.push_str(piece);
        Some(after)
    }

    fn match_up(&mut self, mark: Mark, after: &str) {
        let space = |c: Option<char>| c.is_none_or(char::is_whitespace);
        let word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        let (left, right) = (self.out.chars().next_back(), after.chars().next());
        if (mark.sign == '_' && word(left) && word(right)) || (mark.sign == '~' && mark.length != 2)
        {
            return;
        }
        let is_twin = |open: &Mark| open.sign == mark.sign && open.length <= mark.length;
        if !space(left)
            && let Some(twin) = self.marks.iter().rposition(is_twin)
        {
            self.marks.truncate(twin);
        } else if !space(right) && mark.length <= 3 {
            self.marks.push(mark);
        }
    }

    fn close_bracket(&mut self, after: &str) {
        self.depth = self.depth.saturating_sub(1);
        // An address may be about to begin, or is not complete.
        let undecided = || after.is_empty() || (after.starts_with('(') && !after.contains(')'));
        if self.bracket.is_some() && self.depth == 0 && !undecided() {
            self.bracket = None;
        }
    }

    fn finish(self) -> String {
        let Self {
            mut out,
            marks,
            bracket,
            ..
        } = self;
        if let Some((start, length)) = bracket
            && length <= LONGEST_LINK
        {
            out.truncate(start);
        }
        out.truncate(out.trim_end().len());
        for mark in marks.iter().rev() {
            // A mark with nothing behind it yet has nothing to close.
            if out.len() <= mark.end {
                out.truncate(mark.end - mark.length);
            } else {
                out.extend(std::iter::repeat_n(mark.sign, mark.length));
            }
        }
        out
    }
}

/// Whether the text ends inside of an address or a tag, or inside of the name of a character.
fn is_begun(sign: char, after: &str) -> bool {
    match sign {
        '<' => after.len() <= LONGEST_LINK && after.chars().all(|c| c != '>' && !c.is_whitespace()),
        _ => {
            after.len() <= LONGEST_NAME
                && after.chars().all(|c| c.is_ascii_alphanumeric() || c == '#')
        }
    }
}

fn code_end(after: &str, run: usize) -> Option<usize> {
    let mut place = 0;
    let mut rest = after;
    while let Some(at) = rest.find('`') {
        let from = rest.split_at(at).1;
        let found = from.len() - from.trim_start_matches('`').len();
        place += at + found;
        if found == run {
            return Some(place);
        }
        rest = from.split_at(found).1;
    }
    None
}

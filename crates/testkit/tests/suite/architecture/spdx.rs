//! Deciding whether a licence expression is covered by a list of licences.

/// Whether `expression` can be satisfied with the licences in `allowed`.
///
/// `OR` needs one side, `AND` both; `WITH` belongs to the licence before it, and `/` is the old
/// spelling of `OR`.
pub(super) fn covered(expression: &str, allowed: &[String]) -> bool {
    let spaced = expression
        .replace('/', " OR ")
        .replace('(', " ( ")
        .replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut reader = Reader {
        words: &words,
        allowed,
    };
    let result = reader.any_of();
    result && reader.words.is_empty()
}

struct Reader<'a> {
    words: &'a [&'a str],
    allowed: &'a [String],
}

impl Reader<'_> {
    fn any_of(&mut self) -> bool {
        let mut result = self.all_of();
        while self.take("OR") {
            result |= self.all_of();
        }
        result
    }

    fn all_of(&mut self) -> bool {
        let mut result = self.licence();
        while self.take("AND") {
            result &= self.licence();
        }
        result
    }

    fn licence(&mut self) -> bool {
        if self.take("(") {
            let result = self.any_of();
            return self.take(")") && result;
        }
        let Some((name, rest)) = self.words.split_first() else {
            return false;
        };
        self.words = rest;
        let mut name = (*name).to_owned();
        if self.take("WITH") {
            let Some((exception, rest)) = self.words.split_first() else {
                return false;
            };
            self.words = rest;
            name = format!("{name} WITH {exception}");
        }
        self.allowed.contains(&name)
    }

    fn take(&mut self, word: &str) -> bool {
        match self.words.split_first() {
            Some((first, rest)) if *first == word => {
                self.words = rest;
                true
            }
            _ => false,
        }
    }
}

#[track_caller]
fn check(expression: &str, expected: bool) {
    let allowed = ["MIT", "ISC", "Apache-2.0 WITH LLVM-exception"].map(str::to_owned);
    assert_eq!(covered(expression, &allowed), expected, "{expression}");
}

#[test]
fn evaluates_licence_expressions() {
    check("MIT", true);
    check("GPL-3.0", false);
    check("GPL-3.0/MIT", true);
    check("MIT AND GPL-3.0", false);
    check("(GPL-3.0 OR MIT) AND ISC", true);
    check("Apache-2.0 WITH LLVM-exception", true);
    check("Apache-2.0", false);
    check("MIT OR", true);
    check("(MIT", false);
    check("", false);
}

//! Inputs from seeds: the same number always gives the same input.

/// Longest input, in characters.
const LONGEST: usize = 4_000;
/// Changes one input went through at most.
const MOST_CHANGES: u64 = 12;

/// What breaks readers: ends of things, doubled things, and letters of several bytes.
const ODD: &[&str] = &[
    "\0",
    "\u{1b}",
    "\u{1b}[",
    "\u{9b}",
    "\r",
    "\n",
    "\r\n",
    "\t",
    " ",
    "\\",
    "'",
    "\"",
    "`",
    "$",
    "$(",
    "${",
    "((",
    "))",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    "<<",
    "<<-E\n",
    "EOF",
    ";",
    ";;",
    "&",
    "&&",
    "|",
    "||",
    ">",
    "<(",
    "#",
    "=",
    "-",
    "--",
    "@@",
    "***",
    "*** End Patch",
    "+",
    "é",
    "日本",
    "\u{202e}",
    "\u{feff}",
    "\u{a0}",
    "…",
    "👩‍👩‍👧",
    "sk-",
    "Bearer ",
    "key=",
    "%",
    "~",
    "*",
    "?",
    "!",
    "0",
    "9999999999",
];

/// Makes inputs.
pub(crate) struct Inputs {
    seeds: &'static [&'static str],
}

impl Inputs {
    pub(crate) fn new(seeds: &'static [&'static str]) -> Self {
        Self { seeds }
    }

    /// The input with this number.
    pub(crate) fn get(&self, number: u64) -> String {
        let mut dice = Dice(number.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d);
        let mut input: Vec<char> = self.seed(&mut dice).chars().collect();
        for _ in 0..dice.below(MOST_CHANGES + 1) {
            self.change(&mut input, &mut dice);
            input.truncate(LONGEST);
        }
        input.into_iter().collect()
    }

    fn seed(&self, dice: &mut Dice) -> &'static str {
        let at = dice.below(self.seeds.len() as u64) as usize;
        self.seeds.get(at).copied().unwrap_or_default()
    }

    fn change(&self, input: &mut Vec<char>, dice: &mut Dice) {
        let at = dice.below(input.len() as u64 + 1) as usize;
        let end = (at + dice.below(24) as usize).min(input.len());
        match dice.below(8) {
            0 => drop(input.drain(at..end)),
            1 => {
                let piece: Vec<char> = input.get(at..end).unwrap_or_default().to_vec();
                let times = 1 + dice.below(20) as usize;
                drop(input.splice(at..at, piece.repeat(times)));
            }
            2 => {
                let letter = char::from_u32(dice.below(0x11_0000) as u32).unwrap_or('\u{fffd}');
                input.insert(at, letter);
            }
            3 => input.truncate(at),
            4 | 5 => {
                let other: Vec<char> = self.seed(dice).chars().collect();
                let from = dice.below(other.len() as u64 + 1) as usize;
                let piece = other.get(from..).unwrap_or_default().to_vec();
                drop(input.splice(at..at, piece));
            }
            _ => {
                let odd = ODD.get(dice.below(ODD.len() as u64) as usize);
                let piece: Vec<char> = odd.copied().unwrap_or_default().chars().collect();
                drop(input.splice(at..end.min(at + 1), piece));
            }
        }
    }
}

/// A small generator; good enough to break things.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit.max(1)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::Inputs;

    #[test]
    fn a_number_always_gives_the_same_input_and_numbers_differ() {
        let inputs = Inputs::new(&["one two", "three"]);
        let all: BTreeSet<String> = (0..1_000).map(|number| inputs.get(number)).collect();
        assert!(all.len() > 800, "{}", all.len());
        assert_eq!(inputs.get(77), inputs.get(77));
    }
}

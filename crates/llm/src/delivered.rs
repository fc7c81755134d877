//! Text that has been shown cannot be taken back. When an answer is asked for again, what repeats the
//! beginning is kept from being shown twice.

/// The text shown so far for one answer, over all its attempts.
#[derive(Debug, Default)]
pub(crate) struct Shown {
    text: String,
    /// How much of it the attempt under way has repeated; `None` once it went its own way.
    repeated: Option<usize>,
}

impl Shown {
    /// Another attempt begins.
    pub(crate) fn again(&mut self) {
        self.repeated = (!self.text.is_empty()).then_some(0);
    }

    /// What of `piece` is new to whoever reads along.
    pub(crate) fn fresh(&mut self, piece: &str) -> Option<String> {
        let fresh = match self.repeated {
            None => piece.to_owned(),
            Some(at) => {
                let rest = self.text.get(at..).unwrap_or_default();
                let common = common_prefix(rest, piece);
                if common == piece.len() {
                    self.repeated = Some(at + common);
                    return None;
                }
                self.repeated = None;
                let own = piece.get(common..).unwrap_or_default();
                if common == rest.len() {
                    own.to_owned()
                } else {
                    // It says something else this time: the reader sees where the new version starts.
                    let said = self.text.get(..at + common).unwrap_or_default();
                    format!("\n\n{said}{own}")
                }
            }
        };
        self.text.push_str(&fresh);
        Some(fresh)
    }
}

fn common_prefix(left: &str, right: &str) -> usize {
    left.char_indices()
        .zip(right.chars())
        .find(|((_, a), b)| a != b)
        .map_or(left.len().min(right.len()), |((at, _), _)| at)
}

/// Whether a text is the beginning of a thought between tags, and nothing else.
pub(crate) fn is_open_thought(text: &str) -> bool {
    const TAGS: [&str; 5] = [
        "think",
        "thinking",
        "reasoning",
        "thought",
        "REASONING_SCRATCHPAD",
    ];
    let text = text.trim_start();
    TAGS.iter()
        .any(|tag| text.starts_with(&format!("<{tag}>")) && !text.contains(&format!("</{tag}>")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(shown: &mut Shown, pieces: &[&str]) -> String {
        pieces
            .iter()
            .filter_map(|piece| shown.fresh(piece))
            .collect()
    }

    #[test]
    fn a_repeated_beginning_is_shown_once() {
        let mut shown = Shown::default();
        assert_eq!(read(&mut shown, &["Let me ", "look."]), "Let me look.");
        shown.again();
        assert_eq!(
            read(&mut shown, &["Let", " me look", ". Found it."]),
            " Found it."
        );
    }

    #[test]
    fn another_version_starts_a_new_paragraph() {
        let mut shown = Shown::default();
        read(&mut shown, &["Grüße aus"]);
        shown.again();
        assert_eq!(
            read(&mut shown, &["Grüße ", "von hier"]),
            "\n\nGrüße von hier"
        );
        assert_eq!(read(&mut shown, &["."]), ".");
    }

    // AG-16
    #[test]
    fn a_thought_that_broke_off_is_nothing_said() {
        assert!(is_open_thought("<think>first I have to"));
        assert!(is_open_thought("\n<REASONING_SCRATCHPAD> hm"));
        assert!(!is_open_thought("<think>done</think> The answer"));
        assert!(!is_open_thought("What <think> means"));
    }
}

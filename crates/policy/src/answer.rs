//! What a chat message says about a pending question.

use hermes_core::Answer;

/// An answer in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// The answer.
    pub answer: Answer,
    /// Whether it is meant for every pending question.
    pub all: bool,
}

const YES: [&str; 9] = [
    "approve",
    "approved",
    "yes",
    "ok",
    "okay",
    "confirm",
    "y",
    "\u{1f44d}",
    "allow",
];
const NO: [&str; 8] = [
    "deny",
    "denied",
    "no",
    "reject",
    "cancel",
    "n",
    "\u{1f44e}",
    "stop",
];

/// Reads a message. A yes must be the whole message: "yes, but" is not one. A no may carry its reason.
pub fn read_answer(message: &str) -> Option<Said> {
    let message = message.trim();
    if let Some(rest) = command(message, "/approve") {
        let words: Vec<String> = rest.split_whitespace().map(str::to_lowercase).collect();
        return permission(words.iter().map(String::as_str));
    }
    if let Some(rest) = command(message, "/deny") {
        let (all, reason) = match command(rest, "all") {
            Some(reason) => (true, reason),
            None => (false, rest),
        };
        return Some(refusal(all, reason));
    }
    let bare: String = message
        .chars()
        .filter(|c| !('\u{1f3fb}'..='\u{1f3ff}').contains(c))
        .collect();
    let lower = bare.to_lowercase();
    let plain = lower.trim_end_matches(['.', '!']);
    let words: Vec<&str> = plain.split_whitespace().collect();
    match words.split_first() {
        Some((first, rest)) if YES.contains(first) => permission(rest.iter().copied()),
        Some((&("always" | "session"), [])) => permission(words.into_iter()),
        Some((first, [])) if NO.contains(first) => Some(refusal(false, "")),
        Some((first, ["all"])) if NO.contains(first) => Some(refusal(true, "")),
        _ => {
            let (first, reason) = bare.split_once([',', ':', ';', '\u{2014}'])?;
            let is_no = NO.contains(&first.trim().to_lowercase().as_str());
            is_no.then(|| refusal(false, reason))
        }
    }
}

/// What follows a word at the start, if it stands alone.
fn command<'m>(message: &'m str, word: &str) -> Option<&'m str> {
    let start = message.get(..word.len())?;
    let rest = message.get(word.len()..)?;
    let alone = rest.is_empty() || rest.starts_with(char::is_whitespace);
    (start.eq_ignore_ascii_case(word) && alone).then(|| rest.trim())
}

fn permission<'w>(words: impl Iterator<Item = &'w str>) -> Option<Said> {
    let mut said = Said {
        answer: Answer::AllowOnce,
        all: false,
    };
    for word in words {
        match word {
            "all" => said.all = true,
            "session" => said.answer = Answer::AllowSession,
            "always" => said.answer = Answer::AllowAlways,
            "once" => {}
            _ => return None,
        }
    }
    Some(said)
}

fn refusal(all: bool, reason: &str) -> Said {
    let reason = reason.trim();
    let reason = (!reason.is_empty()).then(|| reason.to_owned());
    Said {
        answer: Answer::Deny { reason },
        all,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // EX-56
    #[test]
    fn words_mean_what_people_mean() {
        let said = |answer, all| Some(Said { answer, all });
        let no = |reason: &str, all| {
            said(
                Answer::Deny {
                    reason: Some(reason.to_owned()),
                },
                all,
            )
        };
        for (message, expected) in [
            ("yes", said(Answer::AllowOnce, false)),
            (" OK! ", said(Answer::AllowOnce, false)),
            ("\u{1f44d}\u{1f3fd}", said(Answer::AllowOnce, false)),
            ("always", said(Answer::AllowAlways, false)),
            ("approve session", said(Answer::AllowSession, false)),
            ("/approve all always", said(Answer::AllowAlways, true)),
            ("/approve", said(Answer::AllowOnce, false)),
            ("/deny all too risky", no("too risky", true)),
            (
                "/deny Use the test database",
                no("Use the test database", false),
            ),
            ("/deny allow nothing", no("allow nothing", false)),
            ("no", said(Answer::no(), false)),
            ("\u{1f44e}", said(Answer::no(), false)),
            ("No, use a copy", no("use a copy", false)),
            ("yes but only the first one", None),
            ("/approve of that plan", None),
            ("/approved", None),
            ("what does it do?", None),
            ("no idea", None),
            ("", None),
        ] {
            assert_eq!(read_answer(message), expected, "{message}");
        }
    }
}

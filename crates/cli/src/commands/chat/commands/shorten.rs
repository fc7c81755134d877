//! Making the history shorter on request.

use hermes_core::Op;

use crate::complaint::{Complaint, Outcome};

/// Exchanges that stay when `here` comes without a number.
const USUALLY_KEPT: u32 = 2;
/// More than a conversation has.
const MOST_KEPT: u32 = 1_000;
const HINT: &str = "/compress, /compress TOPIC, /compress here 3, and --preview with any of them";

/// `/compress [here [N]|topic] [--preview]`
pub(super) fn compress(arguments: &str) -> Outcome<Op> {
    let (flags, words): (Vec<&str>, Vec<&str>) = arguments
        .split_whitespace()
        .partition(|word| word.starts_with("--"));
    if let Some(flag) = flags
        .iter()
        .find(|flag| !["--preview", "--dry-run"].contains(flag))
    {
        return Err(Complaint::bad_request(format!("/compress knows no {flag}")).hint(HINT));
    }
    let exchanges = match words.as_slice() {
        ["here"] => Some(USUALLY_KEPT),
        ["here", number] => Some(kept(number)?),
        ["here", rest @ ..] => return Err(no_number(&rest.join(" "))),
        _ => None,
    };
    if !flags.is_empty() {
        return Ok(Op::PreviewCompact { exchanges });
    }
    Ok(match exchanges {
        Some(exchanges) => Op::CompactBefore { exchanges },
        None => Op::Compact {
            focus: Some(words.join(" ")).filter(|topic| !topic.is_empty()),
        },
    })
}

fn kept(number: &str) -> Outcome<u32> {
    let number_of = number.parse().ok();
    number_of
        .filter(|kept| (1..=MOST_KEPT).contains(kept))
        .ok_or_else(|| no_number(number))
}

fn no_number(words: &str) -> Complaint {
    Complaint::bad_request(format!("{words} is no number of exchanges")).hint(HINT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_topic_a_number_and_a_preview_are_told_apart() {
        let focus = Some("the green roof".to_owned());
        for (typed, meant) in [
            ("", Op::Compact { focus: None }),
            ("the green roof", Op::Compact { focus }),
            ("here", Op::CompactBefore { exchanges: 2 }),
            ("here 5", Op::CompactBefore { exchanges: 5 }),
            ("--preview", Op::PreviewCompact { exchanges: None }),
            (
                "here 5 --dry-run",
                Op::PreviewCompact { exchanges: Some(5) },
            ),
        ] {
            assert_eq!(compress(typed).ok(), Some(meant), "{typed}");
        }
        for typed in ["here 0", "here and there", "here 2 3", "--forec"] {
            assert!(compress(typed).is_err(), "{typed}");
        }
    }
}

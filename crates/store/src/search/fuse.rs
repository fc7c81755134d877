//! One list of two that were ranked by different measures.

use std::collections::HashMap;

use hermes_core::MessageId;

use super::hit::Hit;

/// How little the first places count more than later ones; the usual constant of reciprocal rank fusion.
const DAMPING: f64 = 60.0;

/// Joins lists by the places of their hits alone, because their scores cannot be compared: who stands high in
/// one list or well in both comes first. A hit of several lists is as the first of them has it.
pub fn fuse(lists: impl IntoIterator<Item = Vec<Hit>>) -> Vec<Hit> {
    let mut places: HashMap<MessageId, usize> = HashMap::new();
    let mut fused: Vec<Hit> = Vec::new();
    for list in lists {
        for (place, mut hit) in list.into_iter().enumerate() {
            let share = 1.0 / (DAMPING + 1.0 + place as f64);
            let known = places.get(&hit.message).and_then(|at| fused.get_mut(*at));
            match known {
                Some(known) => known.score += share,
                None => {
                    hit.score = share;
                    places.insert(hit.message, fused.len());
                    fused.push(hit);
                }
            }
        }
    }
    fused.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.message.cmp(&a.message)));
    fused
}

#[cfg(test)]
mod tests {
    use hermes_core::SessionId;

    use super::*;

    fn hit(message: i64, snippet: &str) -> Hit {
        Hit {
            session: SessionId::try_from("s".to_owned()).unwrap(),
            message: MessageId(message),
            role: "user".to_owned(),
            snippet: snippet.to_owned(),
            score: 100.0 - message as f64,
            title: None,
            source: "cli".to_owned(),
            tool_name: None,
            timestamp: 0.0,
            started_at: 0.0,
        }
    }

    #[test]
    fn places_count_and_scores_do_not() {
        let words = vec![hit(1, "words"), hit(2, "words"), hit(3, "words")];
        let meanings = vec![hit(4, "meaning"), hit(3, "meaning")];
        let fused = fuse([words, meanings]);
        let order: Vec<_> = fused.iter().map(|hit| hit.message.0).collect();
        // In both lists, then the two firsts, the newer one first, then the rest.
        assert_eq!(order, [3, 4, 1, 2]);
        assert_eq!(fused[0].snippet, "words");
        assert!(fuse([Vec::new(), Vec::new()]).is_empty());
    }
}

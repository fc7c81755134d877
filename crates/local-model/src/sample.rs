//! Choosing the next token.

use hermes_core::Random;

use crate::Sampling;

/// How far back a repetition counts.
const REPEAT_WINDOW: usize = 64;

/// Tokens this much less likely than the best (in natural logarithms) are out of the question.
const NEGLIGIBLE: f32 = 12.0;

/// Chooses a token from the scores of all; `said` is the answer so far.
pub(crate) fn choose(
    mut scores: Vec<f32>,
    said: &[u32],
    sampling: &Sampling,
    random: &dyn Random,
) -> Option<u32> {
    if sampling.repeat_penalty > 1.0 {
        let mut recent = said
            .iter()
            .rev()
            .take(REPEAT_WINDOW)
            .copied()
            .collect::<Vec<_>>();
        recent.sort_unstable();
        recent.dedup();
        for token in recent {
            let score = usize::try_from(token)
                .ok()
                .and_then(|index| scores.get_mut(index));
            if let Some(score) = score {
                let penalty = sampling.repeat_penalty;
                *score = if *score > 0.0 {
                    *score / penalty
                } else {
                    *score * penalty
                };
            }
        }
    }
    let mut ranked: Vec<(f32, u32)> = scores.into_iter().zip(0..).collect();
    ranked.retain(|(score, _)| score.is_finite());
    let (best, token) = ranked.iter().copied().max_by(|a, b| a.0.total_cmp(&b.0))?;
    if sampling.temperature <= 0.0 {
        return Some(token);
    }
    for (score, _) in &mut ranked {
        *score = (*score - best) / sampling.temperature;
    }
    ranked.retain(|(score, _)| *score > -NEGLIGIBLE);
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
    let total: f32 = ranked.iter().map(|(score, _)| score.exp()).sum();
    // The shortest run of the most likely tokens that holds the wanted share.
    let mut share = 0.0;
    let wanted = sampling.top_p.clamp(0.0, 1.0) * total;
    let mut nucleus = Vec::new();
    for (score, token) in ranked {
        share += score.exp();
        nucleus.push((share, token));
        if share >= wanted {
            break;
        }
    }
    let point = (random.next_u64() >> 40) as f32 / (1u64 << 24) as f32 * share;
    let hit = nucleus.iter().find(|(reach, _)| *reach > point);
    hit.or(nucleus.last()).map(|(_, token)| *token)
}

#[cfg(test)]
mod tests {
    use super::choose;
    use crate::Sampling;
    use hermes_core::SeededRandom;

    fn counts(scores: &[f32], said: &[u32], sampling: Sampling) -> Vec<usize> {
        let random = SeededRandom::new(7);
        let mut counts = vec![0; scores.len()];
        for _ in 0..1000 {
            let token = choose(scores.to_vec(), said, &sampling, &random).unwrap();
            counts[usize::try_from(token).unwrap()] += 1;
        }
        counts
    }

    #[test]
    fn without_temperature_the_best_is_taken() {
        let sampling = Sampling {
            temperature: 0.0,
            ..Sampling::default()
        };
        assert_eq!(
            counts(&[1.0, 3.0, f32::NAN, 2.0], &[], sampling),
            [0, 1000, 0, 0]
        );
    }

    #[test]
    fn only_the_likely_ones_are_in_the_draw() {
        let sampling = Sampling {
            temperature: 1.0,
            top_p: 0.8,
            repeat_penalty: 1.0,
        };
        let counts = counts(&[2.0, 2.0, -1.0, -9.0], &[], sampling);
        assert!(counts[0] > 400 && counts[1] > 400);
        assert_eq!(counts[2] + counts[3], 0);
    }

    #[test]
    fn what_was_said_becomes_less_likely() {
        let sampling = Sampling {
            temperature: 0.0,
            top_p: 1.0,
            repeat_penalty: 1.5,
        };
        assert_eq!(counts(&[2.0, 1.9], &[0], sampling), [0, 1000]);
    }

    #[test]
    fn no_usable_score_gives_no_token() {
        let random = SeededRandom::new(1);
        assert_eq!(
            choose(vec![f32::NAN], &[], &Sampling::default(), &random),
            None
        );
    }
}

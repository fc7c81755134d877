//! Vectors as they are stored: one byte for each dimension, a quarter of the size and as good for ranking.

/// Bytes of the scale in front.
const SCALE: usize = 4;
const LARGEST: f32 = 127.0;

/// The stored form of a vector; `None` when it points nowhere.
pub(crate) fn packed(vector: &[f32]) -> Option<Vec<u8>> {
    let largest = vector.iter().fold(0f32, |most, part| most.max(part.abs()));
    if largest <= 0.0 || !largest.is_finite() {
        return None;
    }
    let scale = largest / LARGEST;
    let mut bytes = Vec::with_capacity(SCALE + vector.len());
    bytes.extend(scale.to_le_bytes());
    // The quotient is within one byte by the choice of the scale.
    bytes.extend(
        vector
            .iter()
            .map(|part| ((part / scale).round() as i8).cast_unsigned()),
    );
    Some(bytes)
}

/// How alike a vector of length one and a stored one are, from -1 to 1. Those of another size are not at all.
pub(super) fn likeness(vector: &[f32], stored: &[u8]) -> f32 {
    let Some((scale, parts)) = stored.split_first_chunk::<SCALE>() else {
        return 0.0;
    };
    if parts.len() != vector.len() {
        return 0.0;
    }
    let product: f32 = vector
        .iter()
        .zip(parts)
        .map(|(part, stored)| part * f32::from(stored.cast_signed()))
        .sum();
    product * f32::from_le_bytes(*scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_stored_is_nearly_what_was_given() {
        let vector = [0.6, -0.8, 0.0, 0.001];
        let stored = packed(&vector).unwrap();
        assert_eq!(stored.len(), 8);
        assert!((likeness(&vector, &stored) - 1.0).abs() < 0.01);
        assert!((likeness(&[-0.6, 0.8, 0.0, 0.0], &stored) + 1.0).abs() < 0.01);
        assert!(likeness(&[0.8, 0.6, 0.0, 0.0], &stored).abs() < 0.01);
    }

    #[test]
    fn what_points_nowhere_or_has_another_size_is_like_nothing() {
        assert_eq!(packed(&[0.0, 0.0]), None);
        assert_eq!(packed(&[f32::NAN, f32::INFINITY]), None);
        assert_eq!(packed(&[]), None);
        let stored = packed(&[1.0, 0.0]).unwrap();
        assert_eq!(likeness(&[1.0, 0.0, 0.0], &stored), 0.0);
        assert_eq!(likeness(&[1.0], &stored[..2]), 0.0);
    }
}

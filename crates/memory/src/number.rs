//! Numbers as people read them.

/// A number with a comma before each three digits.
pub(crate) fn with_commas(number: usize) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// How full something is: `12% — 263/2,200 chars`.
pub(crate) fn usage(size: usize, limit: usize) -> String {
    let percent = size.saturating_mul(100) / limit.max(1);
    let (size, limit) = (with_commas(size), with_commas(limit));
    format!("{percent}% — {size}/{limit} chars")
}

#[cfg(test)]
mod tests {
    use super::*;

    // LN-2
    #[test]
    fn thousands_are_separated_and_shares_are_whole() {
        for (number, shown) in [
            (0, "0"),
            (999, "999"),
            (1_375, "1,375"),
            (12_345_678, "12,345,678"),
        ] {
            assert_eq!(with_commas(number), shown);
        }
        assert_eq!(usage(263, 2_200), "11% — 263/2,200 chars");
        assert_eq!(usage(0, 1_375), "0% — 0/1,375 chars");
        assert_eq!(usage(3_000, 2_000), "150% — 3,000/2,000 chars");
    }
}

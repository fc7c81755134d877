//! Numbers of things as people read them.

/// `1 message`, `2 messages`.
pub(crate) fn of(count: impl TryInto<u64>, thing: &str) -> String {
    let count = count.try_into().unwrap_or(u64::MAX);
    if count == 1 {
        format!("1 {thing}")
    } else {
        format!("{count} {thing}s")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_singular() {
        assert_eq!(
            [of(0_usize, "row"), of(1_u64, "row"), of(2_usize, "row")],
            ["0 rows", "1 row", "2 rows"]
        );
    }
}

//! Sizes as people read them.

const UNITS: [&str; 4] = ["kB", "MB", "GB", "TB"];

/// Bytes in the unit that keeps the number short.
pub(crate) fn show(bytes: u64) -> String {
    if bytes < 1_000 {
        return format!("{bytes} B");
    }
    let mut value = bytes as f64 / 1_000.0;
    let mut unit = UNITS[0];
    for next in &UNITS[1..] {
        if value < 999.95 {
            break;
        }
        value /= 1_000.0;
        unit = next;
    }
    format!("{value:.1} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_stays_short() {
        let shown: Vec<_> = [0, 999, 1_000, 999_949, 999_950, 5_000_000_000]
            .into_iter()
            .map(show)
            .collect();
        assert_eq!(
            shown,
            ["0 B", "999 B", "1.0 kB", "999.9 kB", "1.0 MB", "5.0 GB"]
        );
    }
}

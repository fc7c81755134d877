//! Times, counts and sums as people read them.

use std::time::Duration;

/// A time that something took: `0.4s`, `12s`, `3m 05s`, `2h 07m`.
pub(crate) fn time(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match seconds {
        0..=9 => format!("{:.1}s", duration.as_secs_f64().min(9.9)),
        10..=59 => format!("{seconds}s"),
        60..=3_599 => format!("{}m {:02}s", seconds / 60, seconds % 60),
        _ => format!("{}h {:02}m", seconds / 3_600, seconds % 3_600 / 60),
    }
}

/// A time that is shown while it runs, and so without what changes too fast: `4s`, `12m`, `2h 07m`.
pub(crate) fn clock(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match seconds {
        0..=59 => format!("{seconds}s"),
        60..=3_599 => format!("{}m", seconds / 60),
        _ => format!("{}h {:02}m", seconds / 3_600, seconds % 3_600 / 60),
    }
}

/// A number of tokens: `950`, `1.2k`, `128k`, `1.5M`.
pub(crate) fn count(number: u64) -> String {
    let (unit, sign) = match number {
        0..1_000 => return number.to_string(),
        1_000..1_000_000 => (1_000, 'k'),
        _ => (1_000_000, 'M'),
    };
    let (whole, tenth) = (number / unit, number % unit * 10 / unit);
    if tenth == 0 || whole >= 100 {
        format!("{whole}{sign}")
    } else {
        format!("{whole}.{tenth}{sign}")
    }
}

/// Dollars, with as many digits as say something.
pub(crate) fn dollars(sum: f64) -> String {
    if sum > 0.0 && sum < 0.01 {
        format!("${sum:.4}")
    } else {
        format!("${sum:.2}")
    }
}

/// `1 line`, `2 lines`.
pub(crate) fn plural(number: usize, one: &str) -> String {
    if number == 1 {
        format!("1 {one}")
    } else {
        format!("{number} {one}s")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_read_well() {
        let seconds = Duration::from_secs;
        assert_eq!(time(Duration::from_millis(1_240)), "1.2s");
        assert_eq!(time(Duration::from_millis(9_990)), "9.9s");
        assert_eq!(
            [time(seconds(59)), time(seconds(185)), time(seconds(7_620))],
            ["59s", "3m 05s", "2h 07m"]
        );
        assert_eq!(
            [
                clock(seconds(4)),
                clock(seconds(725)),
                clock(seconds(7_620))
            ],
            ["4s", "12m", "2h 07m"]
        );
        assert_eq!(
            [
                count(950),
                count(1_200),
                count(128_000),
                count(1_500_000),
                count(99_999)
            ],
            ["950", "1.2k", "128k", "1.5M", "99.9k"]
        );
        assert_eq!(
            [dollars(0.0), dollars(0.0021), dollars(1.5)],
            ["$0.00", "$0.0021", "$1.50"]
        );
        assert_eq!(
            [plural(1, "line"), plural(3, "line")],
            ["1 line", "3 lines"]
        );
    }
}

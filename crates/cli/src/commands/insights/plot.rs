//! Columns side by side, a few rows high.

const ROWS: usize = 4;
/// From nothing to a whole character, in eighths.
const LEVELS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The rows of a plot from the top down, `wide` characters for each value with a gap where there is room for one.
/// A value that is not zero shows, however small it is beside the largest.
pub(super) fn columns(values: &[u64], wide: usize, blocks: bool) -> Vec<String> {
    let most = values.iter().copied().max().unwrap_or(0).max(1);
    let steps = if blocks { 8 } else { 1 };
    let height = |value: u64| {
        let whole = ROWS * steps;
        let part = (value as f64 / most as f64 * whole as f64).round() as usize;
        if value > 0 { part.max(1) } else { 0 }
    };
    (0..ROWS)
        .rev()
        .map(|row| {
            let cells = values.iter().map(|value| {
                let level = height(*value).saturating_sub(row * steps).min(steps);
                let mark = match blocks {
                    true => LEVELS.get(level).copied().unwrap_or(' '),
                    false if level > 0 => '#',
                    false => ' ',
                };
                let filled = wide.saturating_sub(1).max(1);
                let mut cell: String = std::iter::repeat_n(mark, filled).collect();
                cell.extend(std::iter::repeat_n(' ', wide - filled));
                cell
            });
            cells.collect()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::columns;

    #[test]
    fn columns_are_as_high_as_their_share() {
        let rows = columns(&[4, 2, 1, 0], 1, false);
        assert_eq!(rows, ["#   ", "#   ", "##  ", "### "]);
        let rows = columns(&[32, 1, 0, 12], 2, true);
        assert_eq!(rows, ["█       ", "█       ", "█     ▄ ", "█ ▁   █ "]);
        assert_eq!(columns(&[], 2, true), ["", "", "", ""]);
    }
}

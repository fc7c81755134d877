//! The machine the program runs on.

use std::fs;

/// Kind, processor, distribution and kernel, as far as they are known.
pub(super) fn describe() -> String {
    let mut parts = vec![format!(
        "{} {}",
        std::env::consts::OS,
        std::env::consts::ARCH
    )];
    parts.extend(distribution());
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").ok();
    parts.extend(kernel.map(|kernel| format!("kernel {}", kernel.trim())));
    parts.join(", ")
}

fn distribution() -> Option<String> {
    let text = fs::read_to_string("/etc/os-release").ok()?;
    let name = text
        .lines()
        .find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    Some(name.trim_matches('"').to_owned())
}

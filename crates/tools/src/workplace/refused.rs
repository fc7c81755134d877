//! Whether a sandbox is what something failed by.

use hermes_exec::Exit;
use hermes_exec::sandbox::{Refusal, denied};
use hermes_policy::Network;

use super::Confined;

/// Programs say last what ended them; what came long before is not looked at.
const READ_LINES: usize = 200;

/// The line by which something that failed by itself tells that its sandbox refused it something. A sandbox with the
/// whole network is no reason for a network that cannot be reached.
pub(crate) fn refused_by_sandbox(confined: &Confined, output: &str, code: i32) -> Option<String> {
    let network = match confined {
        Confined::By(confinement, _) => &confinement.network,
        Confined::Not(_) | Confined::Refused(_) => return None,
    };
    let start = output
        .rmatch_indices('\n')
        .nth(READ_LINES)
        .map_or(0, |(at, _)| at);
    let mut rest = output.get(start..)?;
    loop {
        let denial = denied(rest, Exit::Code(code))?;
        let possible = match (denial.what, network) {
            (Refusal::Network, Network::On) => false,
            (Refusal::Network, Network::Off | Network::Only(_)) => true,
            (Refusal::Write | Refusal::Permission, _) => true,
        };
        if possible {
            return Some(denial.line);
        }
        rest = rest.get(..rest.rfind(&denial.line)?)?;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use hermes_policy::confine::Surroundings;
    use hermes_policy::{Confinement, Mode};

    use super::*;

    fn confined(network: Network) -> Confined {
        let made =
            Confinement::for_workspace(Mode::WorkspaceWrite, &Surroundings::default(), network);
        Confined::By(Arc::new(made), String::new())
    }

    #[test]
    fn a_network_that_is_open_is_not_what_was_refused() {
        let lookup =
            "trying\ncurl: (6) Could not resolve host: nowhere.invalid\nCould not resolve host\n";
        assert_eq!(refused_by_sandbox(&confined(Network::On), lookup, 6), None);
        for network in [Network::Off, Network::Only(Vec::new())] {
            assert!(refused_by_sandbox(&confined(network), lookup, 6).is_some());
        }
        let both = format!("touch: cannot touch '/x': Read-only file system\n{lookup}");
        assert_eq!(
            refused_by_sandbox(&confined(Network::On), &both, 6).as_deref(),
            Some("touch: cannot touch '/x': Read-only file system")
        );
    }

    #[test]
    fn what_went_well_or_was_open_was_not_refused() {
        let said = "Permission denied\n";
        assert_eq!(refused_by_sandbox(&confined(Network::On), said, 0), None);
        let open = Confined::Not(String::new());
        assert_eq!(refused_by_sandbox(&open, said, 1), None);
    }
}

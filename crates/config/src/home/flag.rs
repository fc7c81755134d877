//! `--profile` is looked for before the real parser runs, because it decides which settings that one sees.

use std::ffi::{OsStr, OsString};

use super::profile::ProfileName;

/// Takes `-p NAME`, `--profile NAME` or `--profile=NAME` out of the arguments behind the program's name.
///
/// It may stand anywhere, but not behind `--` and not among the arguments of an MCP server
/// (`mcp add … --args`). A value that cannot be a profile name is left for the real parser.
pub fn extract_profile_flag(
    arguments: impl IntoIterator<Item = OsString>,
) -> (Option<ProfileName>, Vec<OsString>) {
    let mut rest: Vec<OsString> = arguments.into_iter().collect();
    let found = (0..own_length(&rest)).find_map(|index| {
        let argument = rest.get(index)?.to_str()?;
        if argument == "-p" || argument == "--profile" {
            let name = rest.get(index + 1)?.to_str()?;
            return Some((index..index + 2, ProfileName::exact(name)?));
        }
        let name = argument.strip_prefix("--profile=")?;
        Some((index..index + 1, ProfileName::exact(name)?))
    });
    match found {
        Some((range, name)) => {
            rest.drain(range);
            (Some(name), rest)
        }
        None => (None, rest),
    }
}

/// How many arguments are ours and not another program's.
fn own_length(arguments: &[OsString]) -> usize {
    let is = |argument: &OsStr, word: &str| argument == word;
    let end = arguments
        .iter()
        .position(|argument| is(argument, "--"))
        .unwrap_or(arguments.len());
    let adds_server = arguments
        .windows(2)
        .position(|pair| matches!(pair, [a, b] if is(a, "mcp") && is(b, "add")));
    let server_arguments = adds_server.and_then(|start| {
        arguments
            .iter()
            .skip(start)
            .position(|argument| is(argument, "--args"))
            .map(|offset| start + offset)
    });
    server_arguments.map_or(end, |start| start.min(end))
}

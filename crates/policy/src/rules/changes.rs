//! Whether a command changes or removes files, for those who want to keep a copy before it runs.

use super::touches;
use crate::shell::{Invocation, Place, Resolved, Sign};

/// Subcommands of git that write over files of the working tree.
const GIT: &[&str] = &[
    "reset",
    "clean",
    "checkout",
    "restore",
    "switch",
    "stash",
    "rm",
    "mv",
    "merge",
    "rebase",
    "pull",
    "apply",
    "am",
    "revert",
    "cherry-pick",
];

/// Whether files where the command runs may be other ones afterwards. What cannot be known counts: a copy
/// too many does no harm.
pub(crate) fn changes_files(resolved: &Resolved) -> bool {
    let here = |place: Place| place == Place::Here;
    let unclear = resolved.signals.iter().any(|signal| {
        here(signal.place)
            && match signal.sign {
                Sign::Unreadable
                | Sign::TooComplex
                | Sign::UnknownProgram
                | Sign::UnknownText
                | Sign::CodeText
                | Sign::HereText
                | Sign::FetchedText
                | Sign::DecodedText
                | Sign::PipedText => true,
                // What it runs is looked at itself.
                Sign::ShellText | Sign::ForkBomb | Sign::InjectedCode | Sign::LiftedRails => false,
            }
    });
    unclear
        || resolved
            .invocations
            .iter()
            .any(|one| here(one.place) && changes(one))
}

fn changes(one: &Invocation) -> bool {
    if one.is(&["rmdir", "git"]) {
        return one.name == "rmdir"
            || one
                .operands()
                .any(|field| GIT.contains(&field.text.as_str()));
    }
    if one.is(&["find"]) {
        return one.has("-delete");
    }
    if one.is(&["tar", "bsdtar", "unzip", "patch"]) {
        return true;
    }
    touches::written(one)
        .iter()
        .any(|path| !path.starts_with("/dev/"))
}

#[cfg(test)]
mod tests {
    use crate::judge;
    use crate::judge::tests::around;

    // EX-50
    #[test]
    fn commands_that_change_files_are_known() {
        let changing = [
            "rm a",
            "rmdir d",
            "cp a b",
            "install -m 755 a b",
            "mv a b",
            "sed -i s/a/b/ f",
            "truncate -s 0 f",
            "dd if=a of=b",
            "shred f",
            "git reset --hard",
            "git -C d checkout .",
            "git clean -fd",
            "echo x > f",
            "make && cat a >> log",
            "sudo env A=1 rm a",
            "bash -c 'rm a'",
            "python3 -c 'open(\"f\", \"w\")'",
            "find . -name '*.o' -delete",
        ];
        for command in changing {
            assert!(judge(command, &around()).changes_files, "{command}");
        }
        let harmless = [
            "ls -l",
            "grep rm f",
            "echo 'rm a'",
            "git status",
            "git log > /dev/null 2>&1",
            "sed s/a/b/ f",
            "cat f | sort",
            "find . -name x",
            "ssh host rm a",
        ];
        for command in harmless {
            assert!(!judge(command, &around()).changes_files, "{command}");
        }
    }
}

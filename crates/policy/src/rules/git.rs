//! Losing work in a repository.

use super::{Looks, Rule, Severity};
use crate::shell::Invocation;

pub(super) const RULES: &[Rule] = &[
    Rule {
        category: "git-reset-hard",
        severity: Severity::Ask,
        reason: "throws uncommitted changes away",
        looks: Looks::Program(|one, _| {
            let forced = one.short("f") || one.long("--force");
            is(one, "reset") && one.long("--hard")
                || is(one, "worktree") && one.argument(1) == "remove" && forced
        }),
        catches: &[
            "git worktree remove --force ../wt",
            "git worktree remove -f ../wt",
            "git reset --hard",
            "git reset --har",
            "git -C d reset --hard HEAD~1",
            "git -c alias.x='reset --hard' x",
        ],
        passes: &[
            "git reset HEAD x",
            "git reset --soft HEAD~1",
            "git log --grep='reset --hard'",
            "git worktree remove ../wt",
            "git worktree add -f ../wt",
        ],
    },
    Rule {
        category: "git-force-push",
        severity: Severity::Ask,
        reason: "overwrites or deletes what others may have",
        looks: Looks::Program(|one, _| {
            is(one, "push")
                && (one.short("fd")
                    || one.long("--force")
                    || one.long("--force-with-lease")
                    || one.long("--mirror")
                    || one.long("--delete")
                    || one.long("--prune")
                    || one
                        .operands()
                        .skip(2)
                        .any(|field| field.text.starts_with('+') || field.text.starts_with(':')))
        }),
        catches: &[
            "git push -f",
            "git push --force origin main",
            "git push origin +main",
            "git push origin :old",
            "git -C d push -f",
            "git push --force-with-lease",
        ],
        passes: &[
            "git push",
            "git push -u origin main",
            "git push origin main:main",
            "git push --follow-tags",
        ],
    },
    Rule {
        category: "git-clean",
        severity: Severity::Ask,
        reason: "deletes files that are not in the repository",
        looks: Looks::Program(|one, _| {
            is(one, "clean")
                && (one.short("f") || one.long("--force"))
                && !one.short("n")
                && !one.long("--dry-run")
        }),
        catches: &["git clean -fd", "git clean --force", "git clean -xdf"],
        passes: &["git clean -n", "git clean -nfd", "git status"],
    },
    Rule {
        category: "git-branch-delete",
        severity: Severity::Ask,
        reason: "deletes a branch that may hold unmerged work",
        looks: Looks::Program(|one, _| {
            is(one, "branch")
                && (one.short("D")
                    || (one.short("d") || one.long("--delete"))
                        && (one.short("f") || one.long("--force")))
        }),
        catches: &[
            "git branch -D x",
            "git branch -d -f x",
            "git branch --delete --force x",
        ],
        passes: &[
            "git branch -d x",
            "git branch --list",
            "git branch -a",
            "git branch Dx",
        ],
    },
    Rule {
        category: "git-rewrite",
        severity: Severity::Ask,
        reason: "rewrites history or drops what could bring work back",
        looks: Looks::Program(|one, _| {
            let second = one.argument(1);
            match one.argument(0) {
                "filter-branch" | "filter-repo" => one.name == "git",
                "reflog" => one.name == "git" && matches!(second, "expire" | "delete"),
                "stash" => one.name == "git" && matches!(second, "clear" | "drop"),
                "update-ref" => one.name == "git" && one.has("-d"),
                "gc" => {
                    one.name == "git"
                        && one
                            .arguments()
                            .iter()
                            .any(|field| field.text.starts_with("--prune=now"))
                }
                _ => false,
            }
        }),
        catches: &[
            "git filter-branch --all",
            "git reflog expire --expire=now --all",
            "git stash clear",
            "git stash drop stash@{1}",
            "git gc --prune=now",
        ],
        passes: &["git stash", "git stash pop", "git reflog", "git gc"],
    },
];

fn is(one: &Invocation, command: &str) -> bool {
    one.name == "git" && one.argument(0) == command
}

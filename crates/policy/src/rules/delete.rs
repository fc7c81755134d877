//! Deleting files and overwriting them with nothing.

use super::{Looks, Rule, Severity};
use crate::Surroundings;
use crate::places;
use crate::shell::{Field, Invocation, search};

pub(super) const RULES: &[Rule] = &[
    Rule {
        category: "delete-system",
        severity: Severity::Hard,
        reason: "deletes the root, a directory of the system, or a whole home",
        looks: Looks::Program(deletes_system),
        catches: &[
            "rm -rf /",
            "rm -rf \"/\"",
            "rm -rf /etc",
            "rm -rf ${HOME}/*",
            "rm -fr ~",
            "/bin/rm -rf /",
            "command rm -rf /",
            "timeout 5 rm -rf /",
            "nice rm -rf /",
            "busybox rm -rf /",
            "eval 'rm -rf /'",
            "find / -delete",
            "cd / && rm -rf *",
            "mv / /tmp/x",
            "rsync -a --delete empty/ /etc/",
            "{rm,-rf,/}",
            "rm -rf /???",
            "python3 -c \"import shutil; shutil.rmtree('/etc')\"",
            "find / -name '*' -delete",
            "find / -size -100000k -delete",
            "cd / && find ! -name x -delete",
            "find -L ~ -type f -exec rm {} +",
            "find / -path /proc -prune -o -delete",
            "chroot / rm -rf /",
            "rm -rf ${HOME%/*}",
            "rm -rf \"$(dirname ~)\"",
            "xargs -I{} sh -c 'rm -rf {}' <<< /",
            "sed '1e rm -rf /' f",
            "tar cf x y --checkpoint=1 --checkpoint-action=exec='rm -rf /'",
            "tclsh <<< 'exec rm -rf /'",
            "man -P 'rm -rf /' ls",
            "echo '* * * * * rm -rf /' | crontab -",
            "deno eval 'Deno.removeSync(\"/\", {recursive: true})'",
            "rm -r -- /usr",
            "tar --remove-files -cf /tmp/x.tar ~",
            "zip -rm /tmp/x.zip ~",
            "rsync -a --remove-source-files ~/ /tmp/x",
            "7z a -sdel /tmp/x.7z ~",
            "gio trash ~",
        ],
        passes: &[
            "git commit -m 'rm -rf /'",
            "grep -r 'rm -rf /' .",
            "echo rm -rf /",
            "rm -rf ./target",
            "rm -rf /tmp/build",
            "find / -name x",
            "ls /",
            "find / -name '*.pyc' -delete",
            "find /var/log -mtime +30 -delete",
            "find ~ -empty -delete",
            "chroot /mnt rm -rf /srv/cache",
            "tar -czf /tmp/x.tgz ~",
            "tar --remove-files -czf old.tgz logs",
            "zip -r x.zip ~",
            "gio trash a.txt",
        ],
    },
    Rule {
        category: "recursive-delete",
        severity: Severity::Ask,
        reason: "deletes a directory with everything in it",
        looks: Looks::Program(|one, _| {
            one.is(&["rm", "grm", "rimraf", "trash"]) && is_recursive(one) || one.is(&["rimraf"])
        }),
        catches: &[
            "rm -r b",
            "rm --recursive b",
            "rm -rf ./target",
            "rm b -R",
            "npx rimraf x; rimraf x",
        ],
        passes: &["rm b", "rm -f a.o", "grep -r rm .", "git rm -r --cached x"],
    },
    Rule {
        category: "delete-outside",
        severity: Severity::Ask,
        reason: "deletes files by an absolute path",
        looks: Looks::Program(|one, around| {
            one.is(&["rm", "unlink", "rmdir", "grm"])
                && one.operands().any(|field| {
                    let path = places::absolute(&field.text, &one.cwd);
                    let inside = places::is_under(&path, &around.cwd) && around.cwd.len() > 1;
                    field.text.starts_with('/') && !inside && !is_our_scratch(one, &path)
                })
        }),
        catches: &["rm /var/x", "rm -f /opt/app/a.txt", "rm /tmp/a /tmp/b"],
        passes: &["rm x", "rm -f /tmp/hermes-verify-1.py", "ls /var/x"],
    },
    Rule {
        category: "bulk-delete",
        severity: Severity::Ask,
        reason: "deletes everything another program names",
        looks: Looks::Program(bulk),
        catches: &[
            "find . -delete",
            "find . -name '*.o' -exec rm {} \\;",
            "ls | xargs rm",
            "git ls-files -o | xargs -0 rm -f",
            "find . -execdir rm -f {} +",
            "parallel rm ::: a b",
            "fd -e o -x rm",
            "fd x --exec=rm",
        ],
        passes: &[
            "find . -name '*.o'",
            "ls | xargs wc -l",
            "find . -exec grep -l rm {} +",
        ],
    },
    Rule {
        category: "destroy-file",
        severity: Severity::Ask,
        reason: "empties or shreds files so that they cannot be brought back",
        looks: Looks::Program(|one, _| {
            one.is(&["truncate", "shred", "srm", "wipe", "scrub"])
                && one.operands().next().is_some()
        }),
        catches: &["truncate -s 0 app.log", "shred -u key.pem", "sudo shred x"],
        passes: &["echo truncate", "ls shred"],
    },
];

fn is_recursive(one: &Invocation) -> bool {
    one.short("rR") || one.long("--recursive")
}

/// Files made to check something, which are meant to be deleted again.
fn is_our_scratch(one: &Invocation, path: &str) -> bool {
    let ours = |path: &str| {
        let name = path.strip_prefix("/tmp/").unwrap_or_default();
        let ours = name.starts_with("hermes-verify-") || name.starts_with("hermes-ad-hoc-");
        ours && !name.contains(['/', '*', '?'])
    };
    ours(path) && one.operands().count() == 1
}

/// Whether a field surely names something vital. Where a part is unknown, the other rules ask.
fn vital(field: &Field, one: &Invocation, around: &Surroundings) -> bool {
    let named = field.is_known() && !field.text.is_empty();
    named && places::is_vital(&places::absolute(&field.text, &one.cwd), around)
}

fn deletes_system(one: &Invocation, around: &Surroundings) -> bool {
    let moved = moved_away(one);
    if moved.into_iter().any(|field| vital(field, one, around)) {
        return true;
    }
    match one.name.as_str() {
        "rm" | "grm" | "rimraf" => {
            (is_recursive(one) || one.name == "rimraf")
                && one.operands().any(|field| vital(field, one, around))
        }
        "find" | "gfind" => empties(one, around),
        "mv" => {
            let operands: Vec<&Field> = one.operands().collect();
            let sources = operands.len().saturating_sub(1);
            operands
                .into_iter()
                .take(sources.max(1))
                .any(|field| vital(field, one, around))
        }
        "rsync" => {
            let deletes = one
                .arguments()
                .iter()
                .any(|field| field.text.starts_with("--del"));
            deletes
                && one
                    .operands()
                    .last()
                    .is_some_and(|field| vital(field, one, around))
        }
        "chmod" => {
            is_recursive(one)
                && one.operands().skip(1).any(|field| {
                    places::absolute(&field.text, &one.cwd) == "/" && one.argument(0) != "--"
                })
                && one.operands().next().is_some_and(|mode| {
                    matches!(
                        mode.text.as_str(),
                        "000" | "0" | "a-rwx" | "ugo-rwx" | "-rwx"
                    )
                })
        }
        _ => false,
    }
}

/// What a program packs, sends or puts away so that it is gone from where it was.
fn moved_away(one: &Invocation) -> Vec<&Field> {
    let skip = match one.name.as_str() {
        "tar" | "bsdtar" | "gtar" if one.long("--remove-files") => 0,
        "zip" if one.short("m") || one.long("--move") => 1,
        "7z" | "7za" | "7zz" if one.has("-sdel") => 2,
        "rsync" if one.long("--remove-source-files") => 0,
        "gio" if matches!(one.argument(0), "trash" | "remove") => 1,
        "trash" | "trash-put" => 0,
        _ => return Vec::new(),
    };
    one.operands().skip(skip).collect()
}

/// Programs that remove what they are given.
const REMOVERS: [&str; 4] = ["rm", "unlink", "shred", "rmdir"];

fn removes(program: &str) -> bool {
    REMOVERS.contains(&program.rsplit('/').next().unwrap_or_default())
}

/// Whether a search removes all it finds in a vital place.
fn empties(one: &Invocation, around: &Surroundings) -> bool {
    let (starts, actions) = search(&one.argv);
    let places: Vec<String> = match starts {
        [] => vec![one.cwd.to_string()],
        some => {
            let known = some.iter().filter(|field| field.is_known());
            let paths = known.map(|field| places::absolute(&field.text, &one.cwd));
            paths.collect()
        }
    };
    let vital = |place: &&String| places::is_vital(place, around);
    actions.iter().any(|action| {
        let program = action.inner.first();
        let removes = action.name == "-delete" || program.is_some_and(|field| removes(&field.text));
        let mut emptied = places.iter().filter(vital);
        removes && emptied.any(|place| !action.is_narrowed(place))
    })
}

fn bulk(one: &Invocation, _: &Surroundings) -> bool {
    let names_remover = || {
        one.arguments().iter().any(|field| {
            removes(&field.text)
                || REMOVERS
                    .iter()
                    .any(|name| field.text.starts_with(&format!("{name} ")))
        })
    };
    match one.name.as_str() {
        "find" | "gfind" => {
            let (_, actions) = search(&one.argv);
            actions.iter().any(|action| {
                let program = action.inner.first();
                action.name == "-delete" || program.is_some_and(|field| removes(&field.text))
            })
        }
        "xargs" | "gxargs" | "parallel" => names_remover(),
        "fd" | "fdfind" => one
            .values(&["-x", "-X", "--exec", "--exec-batch"])
            .iter()
            .any(|field| removes(&field.text)),
        _ => false,
    }
}

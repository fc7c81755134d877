//! Which files a program touches, by its arguments.

use crate::Surroundings;
use crate::places;
use crate::shell::{Invocation, Stream};

/// Paths a program writes, deletes or replaces.
pub(super) fn written(one: &Invocation) -> Vec<String> {
    let mut texts: Vec<&str> = one
        .streams
        .iter()
        .filter_map(|stream| match stream {
            Stream::Out(field) => Some(field.text.as_str()),
            Stream::In(_) => None,
        })
        .collect();
    let operands = || one.operands().map(|field| field.text.as_str());
    let mut directory = None;
    match one.name.as_str() {
        "tee" | "rm" | "unlink" | "truncate" | "shred" | "touch" | "sponge" => {
            texts.extend(operands())
        }
        "cp" | "mv" | "install" | "ln" | "rsync" | "scp" | "gcp" | "ditto" => {
            let named = one.value("-t").or(one.value("--target-directory"));
            let target = named.map(|field| field.text.as_str()).or(operands().last());
            let target = target.filter(|target| !target.contains(':'));
            texts.extend(target);
            if one.name == "mv" {
                texts.extend(operands());
            }
            directory = target;
        }
        "sed" | "gsed" if one.short("i") || one.long("--in-place") => {
            texts.extend(operands().skip(usize::from(!one.short("e"))))
        }
        "perl" | "ruby"
            if one.arguments().iter().any(|field| {
                field.text.starts_with('-')
                    && !field.text.starts_with("--")
                    && field.text.contains('i')
            }) =>
        {
            texts.extend(operands())
        }
        "dd" => texts.extend(
            one.arguments()
                .iter()
                .filter_map(|field| field.text.strip_prefix("of=")),
        ),
        "curl" | "wget" => texts.extend(
            ["-o", "-O", "--output", "--output-document"]
                .iter()
                .filter_map(|option| one.value(option))
                .map(|field| field.text.as_str()),
        ),
        "tar" | "bsdtar"
            if one.short("x") || one.argument(0).contains('x') || one.long("--extract") =>
        {
            let place = one.value("-C").or(one.value("--directory"));
            if let Some(place) = place {
                // Unpacking over the root writes everywhere.
                texts.push(if place.text == "/" {
                    "/etc"
                } else {
                    &place.text
                });
            }
        }
        "unzip" => texts.extend(one.value("-d").map(|field| field.text.as_str())),
        "patch" | "ex" | "ed" => texts.extend(operands().take(1)),
        _ => {}
    }
    let mut paths: Vec<String> = texts
        .into_iter()
        .map(|text| places::absolute(text, &one.cwd))
        .collect();
    // A copy into a directory has the name of what is copied.
    if let Some(directory) = directory {
        let sources = one
            .operands()
            .filter_map(|field| field.text.rsplit('/').next());
        let into: Vec<String> = sources
            .map(|name| places::absolute(&format!("{directory}/{name}"), &one.cwd))
            .collect();
        if directory.ends_with('/')
            || !directory
                .rsplit('/')
                .next()
                .unwrap_or_default()
                .contains('.')
            || directory == "."
        {
            let dotted = !matches!(directory, "." | "./" | "..");
            paths.extend(into.into_iter().filter(|_| dotted));
        }
    }
    paths
}

const READERS: [&str; 45] = [
    "cat", "tac", "nl", "less", "more", "head", "tail", "bat", "batcat", "xxd", "od", "hexdump",
    "strings", "base64", "base32", "grep", "egrep", "fgrep", "rg", "ag", "ack", "awk", "gawk",
    "sed", "cut", "sort", "uniq", "wc", "tee", "cp", "mv", "tar", "zip", "gzip", "7z", "rsync",
    "scp", "diff", "jq", "yq", "openssl", "dd", "sqlite3", "vim", "nano",
];

/// Paths a program shows or copies.
pub(super) fn reads(one: &Invocation) -> Vec<String> {
    let mut texts: Vec<&str> = one
        .streams
        .iter()
        .filter_map(|stream| match stream {
            Stream::In(field) => Some(field.text.as_str()),
            Stream::Out(_) => None,
        })
        .collect();
    if one.is(&READERS) {
        // The last operand of a copy is written; the pattern of a search is no file.
        let writes_last = one.is(&["cp", "mv", "rsync", "scp"]);
        let pattern_first = one.is(&[
            "grep", "egrep", "fgrep", "rg", "ag", "ack", "sed", "awk", "gawk", "jq", "yq",
        ]);
        let operands: Vec<&str> = one.operands().map(|field| field.text.as_str()).collect();
        let count = operands.len() - usize::from(writes_last && !operands.is_empty());
        let identity = one
            .value("-i")
            .filter(|_| one.name == "scp")
            .map(|field| field.text.as_str());
        let kept = operands
            .into_iter()
            .take(count)
            .skip(usize::from(pattern_first));
        texts.extend(kept.filter(|text| Some(*text) != identity));
        texts.extend(
            one.arguments()
                .iter()
                .filter_map(|field| field.text.strip_prefix("if=")),
        );
    }
    texts
        .into_iter()
        .map(|text| places::absolute(text, &one.cwd))
        .collect()
}

/// Paths a program sends.
pub(super) fn uploads(one: &Invocation) -> Vec<String> {
    let mut texts: Vec<String> = Vec::new();
    match one.name.as_str() {
        "curl" | "wget" | "http" | "https" | "xh" => {
            for field in one.arguments() {
                if let Some((_, path)) = field.text.split_once('@') {
                    texts.push(path.split(';').next().unwrap_or_default().to_owned());
                }
            }
            let files = ["-T", "--upload-file", "--post-file", "--body-file"];
            texts.extend(
                files
                    .iter()
                    .filter_map(|option| one.value(option))
                    .map(|field| field.text.clone()),
            );
            texts.extend(
                one.arguments()
                    .iter()
                    .filter_map(|field| field.text.strip_prefix("--post-file="))
                    .map(str::to_owned),
            );
        }
        "scp" | "rsync" | "rclone" | "sftp" | "aws" | "gsutil" => {
            let away = |text: &str| text.contains(':');
            let operands: Vec<&str> = one.operands().map(|field| field.text.as_str()).collect();
            if operands.last().is_some_and(|last| away(last)) {
                let identity = one.value("-i").map(|field| field.text.as_str());
                texts.extend(
                    operands
                        .iter()
                        .filter(|text| Some(**text) != identity)
                        .map(|text| (*text).to_owned()),
                );
            }
        }
        "nc" | "ncat" | "netcat" | "socat" | "ssh" => {
            texts.extend(one.streams.iter().filter_map(|stream| match stream {
                Stream::In(field) => Some(field.text.clone()),
                Stream::Out(_) => None,
            }));
        }
        _ => {}
    }
    // `~` inside a word is not expanded by the shell, but by some of these programs.
    texts
}

/// Whether a program that sends gets what one before it read from a credential file; found by the reader.
pub(super) fn sends_piped_secret(one: &Invocation, around: &Surroundings) -> bool {
    let expanded = uploads(one).into_iter().filter_map(|text| {
        let rest = text.strip_prefix("~/")?;
        Some(format!("{}/{rest}", around.home))
    });
    expanded
        .into_iter()
        .any(|path| places::is_credential(&path, around))
}

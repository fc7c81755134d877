//! Which files a program touches, by its arguments.

use crate::Surroundings;
use crate::places;
use crate::shell::{Invocation, Stream};

/// Options that name a file the program writes, or a directory it writes into.
const OUTPUTS: &[(&[&str], &[&str])] = &[
    (
        &["curl"],
        &[
            "-o",
            "--output",
            "--output-dir",
            "-c",
            "--cookie-jar",
            "-D",
            "--dump-header",
            "--trace",
            "--stderr",
        ],
    ),
    (
        &["wget"],
        &[
            "-O",
            "--output-document",
            "-o",
            "--output-file",
            "-a",
            "--append-output",
            "-P",
            "--directory-prefix",
        ],
    ),
    (&["aria2c"], &["-o", "--out", "-d", "--dir"]),
    (
        &[
            "sort", "gsort", "iconv", "gpg", "gpg2", "pandoc", "age", "strace", "ltrace", "yt-dlp",
        ],
        &["-o", "--output"],
    ),
    (
        &["go", "zstd", "dot", "genisoimage", "mkisofs", "xorriso"],
        &["-o"],
    ),
    (&["csplit"], &["-f", "--prefix"]),
    (&["mysqldump"], &["-r", "--result-file"]),
    (&["pg_dump", "pg_dumpall"], &["-f", "--file"]),
    (&["tcpdump"], &["-w"]),
    (
        &["gcc", "g++", "cc", "c++", "clang", "clang++", "ld", "rustc"],
        &["-o"],
    ),
    (&["openssl"], &["-out", "-keyout", "-writerand"]),
    (
        &["find", "gfind"],
        &["-fprintf", "-fprint", "-fprint0", "-fls"],
    ),
    (&["git"], &["--output", "--output-directory"]),
    (&["unzip"], &["-d"]),
    (&["cp", "mv", "install", "ln", "gcp"], TARGET),
];

/// Options that name the directory of a copy.
const TARGET: &[&str] = &["-t", "--target-directory"];

/// Options of `split` that take a value.
const SPLIT_VALUED: &[&str] = &["-a", "-b", "-C", "-l", "-n", "-t"];

/// Paths a program writes, deletes or replaces.
pub(super) fn written(one: &Invocation) -> Vec<String> {
    let mut texts: Vec<String> = one
        .streams
        .iter()
        .filter_map(|stream| match stream {
            Stream::Out(field) => Some(field.text.clone()),
            Stream::In(_) => None,
        })
        .collect();
    for (_, options) in OUTPUTS.iter().filter(|(names, _)| one.is(names)) {
        texts.extend(one.values(options).into_iter().map(|field| field.text));
    }
    let mut directory = None;
    match one.name.as_str() {
        "cp" | "mv" | "install" | "ln" | "rsync" | "scp" | "gcp" | "ditto" => {
            let own = one.is(&["cp", "mv", "install", "ln", "gcp"]);
            let named = one.value(TARGET).filter(|_| own);
            let target = named.or_else(|| one.operands().last().cloned());
            let target = target.map(|field| field.text);
            let target = target.filter(|target| !target.contains(':'));
            texts.extend(target.clone());
            if one.name == "mv" {
                texts.extend(one.operands().map(|field| field.text.clone()));
            }
            directory = target;
        }
        _ => texts.extend(written_operands(one)),
    }
    let mut paths: Vec<String> = texts
        .into_iter()
        .map(|text| places::absolute(&text, &one.cwd))
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
            let dotted = !matches!(directory.as_str(), "." | "./" | "..");
            paths.extend(into.into_iter().filter(|_| dotted));
        }
    }
    paths
}

/// What a program writes by its operands, or by a script among them.
fn written_operands(one: &Invocation) -> Vec<String> {
    let operands = || one.operands().map(|field| field.text.clone());
    let arguments = || one.arguments().iter().map(|field| field.text.as_str());
    let word = |valued, place| one.words(valued).nth(place).map(str::to_owned);
    match one.name.as_str() {
        "tee" | "rm" | "unlink" | "truncate" | "shred" | "touch" | "sponge" => operands().collect(),
        "sed" | "gsed" => {
            let mut files: Vec<String> = arguments().flat_map(sed_writes).collect();
            if one.short("i") || one.long("--in-place") {
                files.extend(operands().skip(usize::from(!one.short("e"))));
            }
            files
        }
        "awk" | "gawk" | "mawk" | "nawk" => arguments().flat_map(awk_writes).collect(),
        "perl" | "ruby" => {
            let in_place = arguments()
                .any(|text| text.starts_with('-') && !text.starts_with("--") && text.contains('i'));
            operands().filter(|_| in_place).collect()
        }
        "dd" => {
            let files = arguments().filter_map(|text| text.strip_prefix("of="));
            files.map(str::to_owned).collect()
        }
        "tar" | "bsdtar" => archived(one),
        "7z" | "7za" | "7zz" => {
            let places = arguments().filter_map(|text| text.strip_prefix("-o"));
            places.map(str::to_owned).collect()
        }
        "patch" | "ex" | "ed" | "zip" => operands().take(1).collect(),
        "ffmpeg" => operands().last().into_iter().collect(),
        "split" | "gsplit" => word(SPLIT_VALUED, 1).into_iter().collect(),
        "rename" | "prename" => operands().skip(1).collect(),
        // With these letters it only reads the key.
        "ssh-keygen" if !one.short("lyeiBF") => {
            let files = one.values(&["-f"]).into_iter();
            files.map(|field| field.text).collect()
        }
        "uniq" => word(&["-f", "-s", "-w"], 1).into_iter().collect(),
        "xxd" => word(&["-l", "-s", "-c", "-g", "-o"], 1)
            .into_iter()
            .collect(),
        "git" => match one.argument(0) {
            "clone" => operands().skip(2).last().into_iter().collect(),
            "archive" | "format-patch" => {
                let files = one.values(&["-o"]).into_iter();
                files.map(|field| field.text).collect()
            }
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

/// Where an archive is unpacked to, or the file it is packed into.
fn archived(one: &Invocation) -> Vec<String> {
    // The letters may stand without a dash; their values then follow in their order.
    let bundle = one.argument(0);
    let bundle = Some(bundle).filter(|text| !text.starts_with('-') && !text.contains(['.', '/']));
    let bundle = bundle.unwrap_or_default();
    let does = |letters: &str| one.short(letters) || bundle.contains(|c| letters.contains(c));
    let unpacks = does("x") || one.long("--extract") || one.long("--get");
    let packs = does("cru") || one.long("--create") || one.long("--append") || one.long("--update");
    let (letter, options): (char, &[&str]) = match unpacks {
        true => ('C', &["-C", "--directory"]),
        false if packs => ('f', &["-f", "--file"]),
        false => return Vec::new(),
    };
    let mut valued = bundle.chars().filter(|c| "bCfFgHIKLNTVX".contains(*c));
    let behind = valued.position(|c| c == letter);
    let behind = behind.and_then(|at| one.arguments().get(at + 1)).cloned();
    let places = one.values(options).into_iter().chain(behind).map(|field| {
        // Unpacking over the root writes everywhere.
        match field.text.as_str() {
            "/" => "/etc".to_owned(),
            _ => field.text,
        }
    });
    places.collect()
}

/// Files that a script of sed writes: the command `w`, or that flag of `s`.
fn sed_writes(script: &str) -> Vec<String> {
    let files = sed_commands(script).filter_map(|command| {
        let flags = match command.strip_prefix('s') {
            Some(rest) => rest.splitn(4, rest.chars().next()?).nth(3)?,
            None => command,
        };
        let small = |c: char| matches!(c, 'g' | 'p' | 'i' | 'I' | '0'..='9');
        sed_file(flags.trim_start_matches(small), ['w', 'W']).map(str::to_owned)
    });
    files.collect()
}

/// Files that a script of sed puts in.
fn sed_reads(script: &str) -> impl Iterator<Item = &str> {
    sed_commands(script).filter_map(|command| sed_file(command, ['r', 'R']))
}

/// The file behind a command of sed.
fn sed_file(command: &str, names: [char; 2]) -> Option<&str> {
    let file = command.strip_prefix(names)?;
    file.starts_with([' ', '/']).then(|| file.trim())
}

/// The commands of a script of sed, without the lines they are for.
fn sed_commands(script: &str) -> impl Iterator<Item = &str> {
    let script = script
        .strip_prefix("--expression=")
        .or_else(|| script.strip_prefix("-e"))
        .unwrap_or(script);
    script.split([';', '\n', '{']).filter_map(|command| {
        let address = |c: char| c.is_ascii_digit() || matches!(c, ',' | '$' | ' ' | '!');
        let command = command.trim_start_matches(address);
        // An address can be a pattern as well.
        match command.strip_prefix('/') {
            Some(rest) => Some(rest.split_once('/')?.1.trim_start()),
            None => Some(command),
        }
    })
}

/// Files that a program of awk writes: texts in quotes behind `>`.
fn awk_writes(program: &str) -> Vec<String> {
    let behind = program.split('>').skip(1);
    let files = behind.filter_map(|text| {
        let file = text.trim_start().strip_prefix('"')?;
        Some(file.split('"').next()?.to_owned())
    });
    files.collect()
}

const READERS: &[&str] = &[
    "cat",
    "tac",
    "nl",
    "less",
    "more",
    "head",
    "tail",
    "bat",
    "batcat",
    "xxd",
    "od",
    "hexdump",
    "strings",
    "base64",
    "base32",
    "grep",
    "egrep",
    "fgrep",
    "rg",
    "ag",
    "ack",
    "awk",
    "gawk",
    "mawk",
    "nawk",
    "sed",
    "cut",
    "sort",
    "uniq",
    "wc",
    "tee",
    "cp",
    "mv",
    "tar",
    "zip",
    "gzip",
    "7z",
    "rsync",
    "scp",
    "diff",
    "jq",
    "yq",
    "openssl",
    "dd",
    "sqlite3",
    "vim",
    "nano",
    "paste",
    "rev",
    "fold",
    "fmt",
    "pr",
    "column",
    "expand",
    "unexpand",
    "join",
    "comm",
    "cmp",
    "sdiff",
    "colordiff",
    "vimdiff",
    "split",
    "shuf",
    "iconv",
    "hd",
    "zcat",
    "bzip2",
    "xz",
    "zstd",
    "emacs",
    "vi",
    "nvim",
    "view",
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
    if one.is(READERS) {
        // The last operand of a copy is written; the pattern of a search is no file.
        let writes_last =
            one.is(&["rsync", "scp"]) || one.is(&["cp", "mv"]) && one.value(TARGET).is_none();
        let pattern_first = one.is(&[
            "grep", "egrep", "fgrep", "rg", "ag", "ack", "sed", "awk", "gawk", "mawk", "nawk",
            "jq", "yq",
        ]);
        let operands: Vec<&str> = one.operands().map(|field| field.text.as_str()).collect();
        let count = operands.len() - usize::from(writes_last && !operands.is_empty());
        let identity = identity(one);
        let kept = operands
            .into_iter()
            .take(count)
            .skip(usize::from(pattern_first));
        texts.extend(kept.filter(|text| identity.as_deref() != Some(*text)));
        texts.extend(
            one.arguments()
                .iter()
                .filter_map(|field| field.text.strip_prefix("if=")),
        );
    }
    let operands = one.operands().map(|field| field.text.as_str());
    let arguments = || one.arguments().iter().map(|field| field.text.as_str());
    match one.name.as_str() {
        "git" if one.has("--no-index") => texts.extend(operands.skip(1)),
        "curl" | "wget" => texts.extend(operands.filter_map(local)),
        "gpg" | "gpg2" if seals(one) => texts.extend(operands),
        // The key it opens with stays here.
        "age" | "rage" => texts.extend(one.words(&["-i", "-o", "-r", "-R"])),
        "awk" | "gawk" | "mawk" | "nawk" => texts.extend(arguments().flat_map(awk_reads)),
        "sed" | "gsed" => texts.extend(arguments().flat_map(sed_reads)),
        _ => {}
    }
    let secrets = match one.is(&["docker", "podman", "buildah"]) {
        true => one.values(&["--secret"]),
        false => Vec::new(),
    };
    let parts = secrets.iter().flat_map(|field| field.text.split(','));
    texts.extend(parts.filter_map(|part| {
        let file = part.strip_prefix("src=");
        file.or_else(|| part.strip_prefix("source="))
    }));
    texts
        .into_iter()
        .map(|text| places::absolute(text, &one.cwd))
        .collect()
}

/// Whether gpg makes a copy of what it is given that somebody else may open.
fn seals(one: &Invocation) -> bool {
    let long = ["--symmetric", "--encrypt", "--store", "--enarmor", "--sign"];
    one.short("ces") || long.iter().any(|option| one.long(option))
}

/// Files that a program of awk reads line by line: texts in quotes behind `<`.
fn awk_reads(program: &str) -> impl Iterator<Item = &str> {
    let behind = program.split("getline").skip(1);
    behind.filter_map(|text| {
        let (_, file) = text.split_once('<')?;
        file.trim_start().strip_prefix('"')?.split('"').next()
    })
}

/// The path in the address of a file here.
fn local(address: &str) -> Option<&str> {
    let scheme = address.get(..5)?;
    let path = address.get(5..)?;
    let path = path.strip_prefix("//").unwrap_or(path);
    let path = path.strip_prefix("localhost").unwrap_or(path);
    scheme.eq_ignore_ascii_case("file:").then_some(path)
}

/// The key that a program logs in with, which stays here.
fn identity(one: &Invocation) -> Option<String> {
    let key = one.value(&["-i"]).filter(|_| one.is(&["scp", "sftp"]))?;
    Some(key.text)
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
            let files = one.values(&["-T", "--upload-file", "--post-file", "--body-file"]);
            texts.extend(files.into_iter().map(|field| field.text));
        }
        "scp" | "rsync" | "rclone" | "sftp" | "aws" | "gsutil" => {
            let away = |text: &str| text.contains(':');
            let operands: Vec<&str> = one.operands().map(|field| field.text.as_str()).collect();
            if operands.last().is_some_and(|last| away(last)) {
                let identity = identity(one);
                texts.extend(
                    operands
                        .iter()
                        .filter(|text| identity.as_deref() != Some(**text))
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

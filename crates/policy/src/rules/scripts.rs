//! Files that one program of a command makes and a later one runs.

use super::touches::written;
use crate::Surroundings;
use crate::places;
use crate::shell::{FETCHERS, Field, Input, Invocation, Span, Stream};

/// Programs that run the file they are given first.
const RUNNERS: [&str; 23] = [
    "sh",
    "bash",
    "zsh",
    "dash",
    "ksh",
    "ash",
    "fish",
    "mksh",
    "csh",
    "tcsh",
    "source",
    ".",
    "python",
    "pypy",
    "node",
    "bun",
    "perl",
    "ruby",
    "php",
    "lua",
    "rscript",
    "tclsh",
    "osascript",
];

/// Whether a program is run by one of these paths, itself or as the script of an interpreter.
fn runs_one_of(one: &Invocation, files: &[String]) -> bool {
    let name = one.name.trim_end_matches(|c: char| c.is_ascii_digit());
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let runs = RUNNERS.contains(&one.name.as_str()) || RUNNERS.contains(&name);
    let program = one.argv.first().filter(|field| field.text.contains('/'));
    let script = one.operands().next().filter(|_| runs);
    // Without a script it reads one.
    let input = one.streams.iter().find_map(|stream| match stream {
        Stream::In(field) => Some(field),
        Stream::Out(_) => None,
    });
    let input = input
        .filter(|_| runs && matches!(script.map(|field| field.text.as_str()), None | Some("-")));
    let paths = [program, script, input].into_iter().flatten();
    paths
        .map(|field| places::absolute(&field.text, &one.cwd))
        .any(|path| files.contains(&path))
}

fn first_run(all: &[Invocation], made: impl Fn(&Invocation, &mut Vec<String>)) -> Option<Span> {
    /// More files than anybody writes in one command.
    const MAX_FILES: usize = 64;
    let mut files = Vec::new();
    for one in all {
        if !files.is_empty() && runs_one_of(one, &files) {
            return Some(one.span);
        }
        if files.len() < MAX_FILES {
            made(one, &mut files);
        }
    }
    None
}

pub(super) fn made_then_run(all: &[Invocation], _: &Surroundings) -> Option<Span> {
    first_run(all, |one, files| {
        if one.name != "chmod" {
            return;
        }
        let mut operands = one.operands();
        let executable = operands.next().is_some_and(|mode| {
            let digits = mode.text.trim_start_matches('0');
            mode.text.contains('x') && mode.text.contains(['+', '='])
                || digits.len() == 3
                    && digits.bytes().all(|digit| digit.is_ascii_digit())
                    && digits.contains(['7', '5', '1'])
        });
        if executable {
            files.extend(operands.map(|field| places::absolute(&field.text, &one.cwd)));
        }
    })
}

pub(super) fn fetched_then_run(all: &[Invocation], _: &Surroundings) -> Option<Span> {
    let address = |field: &Field| {
        let text = field.text.to_ascii_lowercase();
        text.starts_with("http://") || text.starts_with("https://")
    };
    let runs = |one: &&Invocation| one.name == "deno" && one.argument(0) == "run";
    let mut direct = all.iter().filter(runs);
    let direct = direct.find(|one| one.operands().nth(1).is_some_and(address));
    let run = first_run(all, fetched);
    run.or(direct.map(|one| one.span))
}

/// Adds the files that hold what came over the network after this program.
fn fetched(one: &Invocation, files: &mut Vec<String>) {
    let absolute = |text: &str| places::absolute(text, &one.cwd);
    let fed = match &one.input {
        Input::Piped { programs, .. } => programs
            .iter()
            .any(|name| FETCHERS.contains(&name.as_str())),
        Input::Nothing | Input::Here(_) => false,
    };
    let fetches = one.is(&FETCHERS);
    if fed || fetches {
        let redirected = one.streams.iter().filter_map(|stream| match stream {
            Stream::Out(field) => Some(field),
            Stream::In(_) => None,
        });
        files.extend(redirected.map(|field| absolute(&field.text)));
    }
    if fed && one.name == "tee" {
        files.extend(one.operands().map(|field| absolute(&field.text)));
    }
    if fetches {
        files.extend(saved(one).iter().map(|path| absolute(path)));
    }
    if one.is(&["mv", "cp", "install", "ln"]) {
        let moved = one
            .operands()
            .any(|field| files.contains(&absolute(&field.text)));
        files.extend(written(one).into_iter().filter(|_| moved));
    }
}

/// Where a program that fetches puts it: by an option, or under the name it has there.
fn saved(one: &Invocation) -> Vec<String> {
    let (file, directory): (&[&str], &[&str]) = match one.name.as_str() {
        "curl" => (&["-o", "--output"], &["--output-dir"]),
        "wget" => (&["-O", "--output-document"], &["-P", "--directory-prefix"]),
        _ => (&["-o", "-O", "--output", "--out"], &["-d", "--dir"]),
    };
    let named = one.values(file);
    let own_name = match one.name.as_str() {
        "curl" => one.short("O") || one.long("--remote-name") || one.long("--remote-name-all"),
        _ => named.is_empty(),
    };
    let mut paths: Vec<String> = named.into_iter().map(|field| field.text).collect();
    for url in one.operands().filter(|_| own_name) {
        let path = url.text.split(['?', '#']).next().unwrap_or_default();
        paths.extend(path.rsplit('/').next().map(str::to_owned));
    }
    // Both ways: a shortened option may mean another one that begins alike.
    if let Some(place) = one.value(directory) {
        let inside = paths.iter().map(|path| format!("{}/{path}", place.text));
        let inside: Vec<String> = inside.collect();
        paths.extend(inside);
    }
    paths
}

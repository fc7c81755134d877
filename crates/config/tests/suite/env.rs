//! `.env`: reading, repairing and writing. CL-8.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::PermissionsExt;

use hermes_config::{
    Config, DotEnv, EnvFault, EnvFile, EnvName, EnvNameError, Environment, KeyPath, Setting,
    VARIABLES, Variable, is_known_name,
};
use proptest::prelude::*;

use super::support::{TempHome, cases, json, recorded};

fn values(env: &DotEnv) -> BTreeMap<String, String> {
    env.names()
        .map(|name| (name.to_owned(), env.expose(name).unwrap().to_owned()))
        .collect()
}

/// What we read where the reference does otherwise.
fn intended(case: &str) -> Option<&'static [(&'static str, &'static str)]> {
    Some(match case {
        // An open quote costs its own line and no other.
        "04-quotes" => &[
            ("A", "double"),
            ("B", "single"),
            ("C", "with space"),
            ("D", "with space"),
            ("E", ""),
            ("F", ""),
            ("H", "ok"),
            ("J", "mid\"quote"),
            ("K", "a\"b\"c"),
        ],
        "05-escapes" => &[
            ("A", "say \"hi\""),
            ("B", "back\\slash"),
            ("C", "nl\nhere"),
            ("D", "tab\there"),
            ("E", "single ' escaped"),
            ("F", "no \\n escape"),
            ("G", "plain\\nraw"),
            ("H", "dollar \\$X"),
            ("I", "\\u00e9 \\x41"),
            ("J", "end\\"),
            ("K", "back\\slash"),
            ("L", "cr\rx\u{7}\u{8}\u{c}\u{b}"),
        ],
        // A byte order mark is no part of the first name.
        "06-bom" => &[("FIRST", "1"), ("SECOND", "2")],
        // The reference crashes.
        "10-utf32le" => &[],
        // Glued lines behind `export` are taken apart as well.
        "24-glued-export" => &[("OPENAI_API_KEY", "a"), ("ANTHROPIC_API_KEY", "b")],
        // Single quotes keep `${…}` as it is.
        "41-interpolation" => &[
            ("BASE", "one"),
            ("A", "one/two"),
            ("B", "$BASE/two"),
            ("C", "${BASE}"),
            ("D", "one"),
            ("E", ""),
            ("F", "fallback"),
            ("G", "shellval"),
            ("H", ""),
            ("LATER", "z"),
            ("I", "\\one"),
        ],
        // Quotes around a name are a mistake.
        "43-odd-names" => &[("1ABC", "x"), ("A-B", "1"), ("A.B", "2"), ("Ä", "4")],
        _ => return None,
    })
}

// CL-8
#[test]
fn recorded_files_give_the_same_variables() {
    for (name, folder) in cases("env") {
        if name == "write" {
            continue;
        }
        let before = fs::read_to_string(folder.join("process_env")).unwrap_or_default();
        let outer: Environment = before
            .lines()
            .filter_map(|line| line.split_once('='))
            .collect();
        let bytes = fs::read(folder.join("input.env")).unwrap();
        let (env, _) = DotEnv::parse(&bytes, &outer);
        let wanted: BTreeMap<String, String> = match intended(&name) {
            Some(pairs) => pairs
                .iter()
                .map(|(a, b)| ((*a).into(), (*b).into()))
                .collect(),
            None => serde_json::from_value(json(&folder.join("expected.json"))).unwrap(),
        };
        assert_eq!(values(&env), wanted, "{name}");
    }
}

/// What we write where the reference does otherwise: `export`, indentation, line ends, marks and
/// comments stay, the line that counts is the one that changes, and no character is lost.
fn intended_text(case: &str) -> Option<&'static str> {
    Some(match case {
        "05-update-export-form" => "export GITHUB_TOKEN=new\nX=1\n",
        "13-newline-removed" => "A=1\nP=\"one\\ntwo\\r\\nthree\"\n",
        "16-dollar" => "A=1\nP='$HOME/${X}'\n",
        "17-non-ascii-any-key" => "A=1\nCITY=Zürich\n",
        "18-duplicate-lines" => "A=1\nB=2\nA=9\n",
        "20-space-before-equals" => "A =2\n",
        "22-crlf-before" => "A=1\r\nB=3\r\n",
        "23-indented-before" => "   A=3\n\tB=2   \n",
        "24-bom-before" => "\u{feff}A=2\n",
        "25-export-multi-space" => "export   A=2\n",
        "26-inline-comment-lost" => "A=2 # note\n",
        _ => return None,
    })
}

// CL-8
#[test]
fn recorded_writes_give_the_same_file() {
    for (name, folder) in cases("env/write") {
        let home = TempHome::new();
        let path = home.home.env_file();
        if let Ok(before) = fs::read(folder.join("before.env")) {
            fs::write(&path, before).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        }
        let arguments = json(&folder.join("args.json"));
        let result = json(&folder.join("result.json"));
        let key = arguments["key"].as_str().unwrap();
        let variable = EnvName::new(key);
        assert_eq!(variable.is_ok(), result["ok"] == true, "{name}");
        if let Ok(variable) = variable {
            let mut file = EnvFile::read(&path).unwrap().unwrap();
            match arguments["value"].as_str() {
                Some(value) => file.set(&variable, value),
                None => {
                    file.remove(&variable);
                }
            }
            file.write(&path).unwrap();
        }
        let wanted = fs::read_to_string(folder.join("after.env")).unwrap();
        let wanted = intended_text(&name).unwrap_or(&wanted);
        assert_eq!(home.env_text(), wanted, "{name}");
        let mode = fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        // The reference keeps a mode that lets others read; a name that is refused writes nothing.
        let wanted = match result["ok"] == true {
            true => "600",
            false => result["mode"].as_str().unwrap(),
        };
        assert_eq!(format!("{mode:o}"), wanted, "{name}");
    }
}

// CL-8
#[test]
fn recorded_names_are_known_and_denied() {
    for name in json(&recorded("env/known_keys.json")).as_array().unwrap() {
        assert!(is_known_name(name.as_str().unwrap()), "{name}");
    }
    for name in json(&recorded("env/denied_names.json")).as_array().unwrap() {
        let denied = EnvName::new(name.as_str().unwrap());
        assert!(matches!(denied, Err(EnvNameError::Denied { .. })), "{name}");
    }
}

// CL-6
#[test]
fn every_variable_that_stands_for_a_setting_names_one() {
    let shape = Config::shape();
    for variable in VARIABLES {
        if let Some(key) = variable.key() {
            assert!(shape.at(&key).is_some(), "{} means {key}", variable.name);
        }
    }
    for (key, name) in json(&recorded("env/terminal_map.json"))
        .as_object()
        .unwrap()
    {
        let filled = Variable::filling(&KeyPath::of(["terminal", key])).unwrap();
        assert_eq!(filled.name, name.as_str().unwrap());
    }
}

// CL-6
#[test]
fn a_variable_that_does_not_fit_is_reported_and_one_that_is_not_text_is_noted() {
    let home = TempHome::new();
    let loaded = home.load_with(&[
        ("TERMINAL_TIMEOUT", "soon"),
        ("TERMINAL_DOCKER_VOLUMES", "[\"a:/b\"]"),
    ]);
    assert_eq!(loaded.config.terminal.docker_volumes, ["a:/b"]);
    let problem = loaded.problems.first().unwrap();
    assert_eq!(problem.key.to_string(), "terminal.timeout");
    assert!(problem.fault.is_error());

    let odd = OsString::from_vec(vec![0xff]);
    let environment: Environment = [(OsString::from("ODD"), odd)].into_iter().collect();
    assert_eq!(
        (environment.get_named("ODD"), environment.unreadable()),
        (None, &["ODD".to_owned()][..])
    );
}

// CL-8
#[test]
fn what_is_odd_is_reported_with_its_line_and_without_values() {
    let text = "A=1\njunk\nB=\"open\nOPENAI_API_KEY=s3cretANTHROPIC_API_KEY=t0ken\nX_TOKEN=sé\nC=${NOPE}\n";
    let home = TempHome::new().env(text);
    let (env, problems) = DotEnv::read(&home.home.env_file(), &Environment::default()).unwrap();
    let found: Vec<_> = problems
        .iter()
        .map(|problem| (problem.line, problem.fault.clone()))
        .collect();
    let name = |name: &str| name.to_owned();
    assert_eq!(
        found,
        [
            (2, EnvFault::Malformed),
            (3, EnvFault::OpenQuote { name: name("B") }),
            (
                4,
                EnvFault::Glued {
                    names: vec![name("OPENAI_API_KEY"), name("ANTHROPIC_API_KEY")]
                }
            ),
            (
                5,
                EnvFault::NotAscii {
                    name: name("X_TOKEN")
                }
            ),
            (
                6,
                EnvFault::Unset {
                    name: name("C"),
                    wanted: name("NOPE")
                }
            ),
        ]
    );
    let everything = format!("{problems:?}{env:?}{}", problems[2]);
    assert!(!everything.contains("s3cret") && !everything.contains("t0ken"));
    assert_eq!(home.env_text(), text, "reading changed the file");
}

// CL-8
#[test]
fn a_file_that_cannot_be_read_is_an_error_and_a_missing_one_is_empty() {
    let home = TempHome::new();
    let nothing = Environment::default();
    assert!(
        DotEnv::read(&home.home.env_file(), &nothing)
            .unwrap()
            .0
            .is_empty()
    );
    fs::create_dir(home.home.env_file()).unwrap();
    let error = DotEnv::read(&home.home.env_file(), &nothing).unwrap_err();
    assert_eq!(error.path(), home.home.env_file());
}

// CL-8
#[test]
fn a_new_file_is_private_and_a_link_stays_a_link() {
    let home = TempHome::new();
    let path = home.home.env_file();
    let target = home.outside().join("elsewhere");
    fs::write(&target, "A=1\n").unwrap();
    std::os::unix::fs::symlink(&target, &path).unwrap();
    let mut file = EnvFile::read(&path).unwrap().unwrap();
    file.set(&EnvName::new("B").unwrap(), "2");
    file.write(&path).unwrap();
    assert!(fs::symlink_metadata(&path).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(&target).unwrap(), "A=1\nB=2\n");
    let leftovers = fs::read_dir(home.outside()).unwrap().count();
    assert_eq!(leftovers, 2, "a temporary file was left behind");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    // CL-8
    #[test]
    fn no_bytes_make_the_reader_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        text in "([A-Z_]{0,4}|OPENAI_API_KEY|export |[ =\"'#$\\{\\}\\\\\\n\\r]){0,30}",
    ) {
        for bytes in [bytes.as_slice(), text.as_bytes()] {
            let _ = DotEnv::parse(bytes, &Environment::default());
            if let Some(mut file) = EnvFile::from_bytes(bytes) {
                file.set(&EnvName::new("OPENAI_API_KEY").unwrap(), "x");
                file.repair();
                file.remove(&EnvName::new("OPENAI_API_KEY").unwrap());
            }
        }
    }

    // CL-8
    #[test]
    fn a_written_value_reads_back_and_other_lines_stay(
        before in "(# [a-z ]{0,5}\n|[A-Z]{1,3}=[a-z #'\"]{0,6}\n|\n){0,6}",
        value in any::<String>().prop_map(|text| text.replace('\0', "")),
        plain in "[a-z \\\\\"'#$\\{\\}=]{0,10}",
    ) {
        for value in [value, plain] {
            let name = EnvName::new("THE_NAME").unwrap();
            let mut file = EnvFile::from_bytes(before.as_bytes()).unwrap();
            file.set(&name, "first");
            file.set(&name, &value);
            let (env, _) = DotEnv::parse(file.expose().as_bytes(), &Environment::default());
            if !before.contains(['"', '\'']) {
                prop_assert_eq!(env.expose("THE_NAME"), Some(value.as_str()));
                prop_assert!(file.expose().starts_with(&before));
            }
        }
    }
}

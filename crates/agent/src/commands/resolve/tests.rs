use super::*;

struct Own {
    skills: Vec<String>,
    bundles: Vec<String>,
    quick: Vec<String>,
}

fn own() -> Own {
    let strings = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    Own {
        skills: strings(&[
            "code_review",
            "deploy",
            "writing",
            "a-b",
            "c",
            "d",
            "e",
            "f",
            "new",
            "shared",
        ]),
        bundles: strings(&["research", "shared"]),
        quick: strings(&["gs", "Deploy-All"]),
    }
}

impl Own {
    fn known(&self) -> Known<'_> {
        Known {
            skills: &self.skills,
            bundles: &self.bundles,
            quick: &self.quick,
        }
    }
}

/// What a line means, in a few words.
fn meaning(line: &str, at: Surface) -> String {
    let own = own();
    let resolved = resolve(line, &own.known(), at, |word| {
        word == "/tmp" || word == "/etc/hosts"
    });
    match resolved {
        Resolved::Message => "message".to_owned(),
        Resolved::BuiltIn { command, arguments } => format!("{}({arguments})", command.name),
        Resolved::Quick { name, arguments } => format!("quick {name}({arguments})"),
        Resolved::Bundle { name, text } => format!("bundle {name}({text})"),
        Resolved::Skills { names, text } => format!("skills {}({text})", names.join("+")),
        Resolved::Elsewhere { command } => format!("elsewhere {}", command.name),
        Resolved::Ambiguous { names } => format!("ambiguous {}", names.join(",")),
        Resolved::Unknown { typed, nearest } => format!("unknown {typed} {nearest:?}"),
    }
}

fn check(cases: &[(&str, &str)]) {
    for (line, expected) in cases {
        assert_eq!(meaning(line, Surface::Terminal), *expected, "{line}");
    }
}

// CL-21
#[test]
fn names_are_found_whatever_their_capitals_and_dashes() {
    check(&[
        ("/new", "new()"),
        ("  /NEW  my   name ", "new(my   name)"),
        ("/reset", "new()"),
        ("/Reload_MCP now", "reload-mcp(now)"),
        (
            "/code-review this\nand that",
            "skills code_review(this\nand that)",
        ),
        ("/deploy_all x", "quick Deploy-All(x)"),
        ("/model\tbig", "model(big)"),
    ]);
}

// CL-21
#[test]
fn what_comes_first_wins() {
    check(&[
        ("/new", "new()"),
        ("/shared text", "bundle shared(text)"),
        ("/gs", "quick gs()"),
        ("/research topic", "bundle research(topic)"),
    ]);
}

// CL-21
#[test]
fn the_beginning_of_a_name_is_enough_when_one_is_the_shortest() {
    check(&[
        ("/pers", "personality()"),
        ("/sta", "status()"),
        ("/compr topic", "compress(topic)"),
        ("/co", "copy()"),
        ("/re", "ambiguous reset,retry"),
        ("/wri go", "skills writing(go)"),
        ("/shar", "bundle shared()"),
        ("/depl", "skills deploy()"),
        ("/g", "quick gs()"),
    ]);
}

// CL-21
#[test]
fn up_to_five_skills_can_stand_in_front_of_a_message() {
    check(&[
        ("/deploy /writing do it", "skills deploy+writing(do it)"),
        ("/deploy /deploy do it", "skills deploy(do it)"),
        (
            "/a_b /c /d /e /f /deploy text",
            "skills a-b+c+d+e+f(/deploy text)",
        ),
        ("/deploy /unknown text", "skills deploy(/unknown text)"),
        ("/deploy /etc/hosts", "skills deploy(/etc/hosts)"),
    ]);
}

// CL-21
#[test]
fn a_message_may_begin_with_a_path() {
    check(&[
        ("/tmp what is in there", "message"),
        ("/etc/hosts explain", "message"),
        ("/no/such/file", "message"),
        ("hello /new", "message"),
        ("/", "message"),
        ("/ new", "message"),
        ("", "message"),
    ]);
}

#[test]
fn commands_of_another_surface_say_so() {
    assert_eq!(meaning("/sethome", Surface::Terminal), "elsewhere sethome");
    assert_eq!(meaning("/sethome", Surface::Messaging), "sethome()");
    assert_eq!(meaning("/clear", Surface::Messaging), "elsewhere clear");
    assert_eq!(meaning("/stat", Surface::Messaging), "status()");
    assert_eq!(meaning("/appr", Surface::Terminal), "unknown appr None");
}

#[test]
fn slips_of_the_keyboard_get_a_hint() {
    check(&[
        ("/modle", "unknown modle Some(\"model\")"),
        ("/writng", "unknown writng Some(\"writing\")"),
        ("/xyzzy", "unknown xyzzy None"),
    ]);
}

//! Files and variables that skills declare, as the commands of a session see them.

use hermes_testkit::clouds::ModalGateway;
use hermes_testkit::model_server::{ModelServer, Scenario, text, tool_call};
use serde_json::{Value as Json, json};

use super::chat::with_model;
use super::hands::{Run, run_in, terminal};
use super::program::Program;
use super::skills::skill;

const FIELDS: &str = "required_credential_files: [token.json, keys/deep.pem, auth.json, ../outside, link]\n\
                      required_environment_variables: [REPORT_KEY, OPENROUTER_API_KEY]\n";
/// What is asked for by the name of a master key needs a person's yes, so the names are listed instead.
const LOOK: &str = "cd \"$HERMES_HOME\"; ls -Am | tr -d '\\n'; echo; \
                    cat token.json keys/deep.pem 2>/dev/null; echo; \
                    echo ${#REPORT_KEY} ${#OPENROUTER_API_KEY}; \
                    { echo more >> token.json; } 2>/dev/null && echo written; true";

fn prepare(program: &Program) {
    skill(program, "report", "Reports", FIELDS, "Do it.");
    skill(program, "other", "Other things", "", "Do that.");
    program.home.write("token.json", "TOKEN-TEXT").unwrap();
    program.home.write("keys/deep.pem", "DEEP-TEXT").unwrap();
    program.home.write("auth.json", "{\"mine\": 1}").unwrap();
    std::fs::write(program.home.user_home().join("outside"), "OUT").unwrap();
    std::os::unix::fs::symlink("auth.json", program.home.path().join("link")).unwrap();
    program
        .home
        .write_env("REPORT_KEY=plain-enough\nOPENROUTER_API_KEY=or-key-123456\n")
        .unwrap();
}

fn calls(more: &str, calls: &[(&str, Json)]) -> Run {
    let prepare = |program: Program, _: &mut Vec<(&'static str, String)>| {
        prepare(&program);
        program
    };
    run_in(prepare, more, calls, &[])
}

fn view(name: &str) -> (&'static str, Json) {
    ("skill_view", json!({ "name": name }))
}

// LN-29
#[test]
fn commands_see_the_files_and_variables_that_skills_of_the_session_declare() {
    let script = "import os\nhome = os.environ['HERMES_HOME']\n\
                  print(len(os.environ.get('REPORT_KEY', '')), open(home + '/token.json').read())\n\
                  print([name for name in ('auth.json', '.env', 'link') if os.path.exists(home + '/' + name)])\n";
    let run = calls(
        "",
        &[
            terminal(LOOK),
            view("other"),
            terminal(LOOK),
            view("report"),
            terminal(LOOK),
            ("execute_code", json!({ "code": script })),
        ],
    );
    let said = |at: usize| run.results[at]["output"].as_str().unwrap().to_owned();
    for before in [0, 2] {
        let seen = said(before);
        assert!(seen.trim_end().ends_with("\n0 0"), "{seen}");
        assert!(
            !seen.contains("token.json") && !seen.contains("TEXT"),
            "{seen}"
        );
    }
    let seen = said(4);
    assert!(
        seen.contains("\nTOKEN-TEXTDEEP-TEXT\n12 0"),
        "{}",
        run.results[4]
    );
    let names = seen.lines().next().unwrap();
    assert!(
        names.contains("keys") && names.contains("token.json"),
        "{names}"
    );
    for kept in ["auth.json", ".env", "link", "config.yaml"] {
        assert!(!names.contains(kept), "master keys stay: {names}");
    }
    assert!(
        !seen.contains("written"),
        "a credential is read, not changed: {seen}"
    );
    assert_eq!(run.program.home.read("token.json").unwrap(), "TOKEN-TEXT");
    assert_eq!(said(5), "12 TOKEN-TEXT\n[]", "{}", run.results[5]);
}

// LN-29
#[test]
fn another_session_does_not_see_them() {
    let scenario = Scenario::new()
        .reply(tool_call("skill_view", json!({"name": "report"})))
        .reply(text("read"))
        .reply(tool_call("terminal", json!({ "command": LOOK })))
        .reply(text("looked"));
    let server = ModelServer::start(scenario).unwrap();
    let program = with_model(&server.base_url());
    prepare(&program);
    program.run(&["-z", "one"]).ok();
    program.run(&["-z", "two"]).ok();
    let last = server.requests().pop().unwrap();
    let seen = last.expect_json()["messages"].to_string();
    assert!(
        seen.contains("0 0") && !seen.contains("TOKEN-TEXT"),
        "{seen}"
    );
}

// EX-28, LN-29: on an account of somebody else's a skill's files stay here, and it is told that they are missing.
#[test]
fn files_of_skills_do_not_go_to_a_sandbox_on_another_account() {
    let gateway = ModalGateway::start().unwrap();
    let url = gateway.url();
    let prepare = |program: Program, environment: &mut Vec<(&'static str, String)>| {
        prepare(&program);
        environment.push(("MODAL_GATEWAY_URL", url));
        environment.push(("TOOL_GATEWAY_USER_TOKEN", gateway.token().to_owned()));
        program
    };
    let look =
        "ls -A ~/.hermes | tr '\\n' ' '; cat ~/.hermes/token.json ~/.hermes/keys/deep.pem; true";
    let calls = [view("report"), terminal(look)];
    let settings = "terminal: {backend: modal, modal_mode: managed}\n";
    let run = run_in(prepare, settings, &calls, &[]);
    let [viewed, looked] = &run.results[..] else {
        panic!("{:?}", run.results);
    };
    assert_eq!(viewed["readiness_status"], "setup_needed", "{viewed}");
    let missing = viewed["missing_credential_files"].to_string();
    for name in ["token.json", "keys/deep.pem"] {
        assert!(missing.contains(name), "{viewed}");
    }
    assert_eq!(
        looked["backend"]
            .as_str()
            .map(|kind| kind.starts_with("modal")),
        Some(true)
    );
    let seen = looked["output"].as_str().unwrap();
    assert!(seen.contains("skills "), "{looked}");
    assert!(
        !seen.contains("TEXT") && !seen.contains("token.json "),
        "{looked}"
    );
}

// EX-12, LN-29: a skill does not get the key of a provider by asking for the variable it is in.
#[test]
fn a_skill_that_declares_the_key_of_a_provider_does_not_get_it() {
    let prepare = |program: Program, environment: &mut Vec<(&'static str, String)>| {
        let fields = "required_environment_variables: [REPORT_KEY, MY_LLM_KEY, MY_OLD_KEY, LAB_KEY, ACME_WORD]\n";
        skill(&program, "report", "Reports", fields, "Do it.");
        program
            .home
            .write_env("REPORT_KEY=plain-enough\nMY_LLM_KEY=mine-1234567\n")
            .unwrap();
        environment.push(("MY_OLD_KEY", "old-1234567".to_owned()));
        environment.push(("LAB_KEY", "lab-1234567".to_owned()));
        environment.push(("ACME_WORD", "acme-1234567".to_owned()));
        let profile = "id: acme\nname: Acme\nprotocol: chat_completions\nbase_url: http://127.0.0.1:9/v1\nkey_env: [ACME_WORD]\n";
        let place = "plugins/model-providers/acme/profile.yaml";
        program.home.write(place, profile).unwrap();
        program
    };
    let settings = "providers:\n\
                    \x20 mine: {base_url: 'http://127.0.0.1:9/v1', key_env: MY_LLM_KEY}\n\
                    \x20 old: {base_url: 'http://127.0.0.1:9/v1', apiKeyEnv: MY_OLD_KEY}\n\
                    \x20 lab: {base_url: 'http://127.0.0.1:9/v1', api_key: '${LAB_KEY}'}\n";
    let look =
        terminal("echo ${#REPORT_KEY} ${#MY_LLM_KEY} ${#MY_OLD_KEY} ${#LAB_KEY} ${#ACME_WORD}");
    let run = run_in(prepare, settings, &[view("report"), look], &[]);
    assert_eq!(run.results[1]["output"], "12 0 0 0 0", "{:?}", run.results);
}

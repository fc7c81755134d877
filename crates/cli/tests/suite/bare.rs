//! Runs without the user's own rules and settings.

use hermes_testkit::model_server::{ModelServer, Scenario, Step, text};

use super::program::Program;

const RULES: &str = "canary-of-the-rules";
const SOUL: &str = "canary-of-the-soul";
const SETTING: &str = "canary-of-the-settings";

// CL-3
#[test]
fn rules_and_settings_stay_out_of_the_request_when_so_asked() {
    let scenario = Scenario::new().reply(Step::new(text("ok")).repeat());
    let server = ModelServer::start(scenario.extra_keys(["thinking"])).unwrap();
    let program = Program::new();
    // Keys and addresses are not settings: without them nothing could be asked at all.
    program
        .home
        .write_env(&format!(
            "DEEPSEEK_API_KEY=key-1234567890\nDEEPSEEK_BASE_URL={}\n",
            server.base_url()
        ))
        .unwrap();
    program
        .home
        .write_config(&format!(
            "model: {{provider: deepseek, default: deepseek-chat}}\nagent: {{environment_hint: {SETTING}}}\n"
        ))
        .unwrap();
    program.home.write("SOUL.md", SOUL).unwrap();
    std::fs::write(program.home.workspace().join("AGENTS.md"), RULES).unwrap();
    for (flags, rules, soul, setting) in [
        (&[][..], true, true, true),
        (&["--ignore-rules"], false, false, true),
        (&["--ignore-user-config"], true, true, false),
        (&["--safe-mode"], false, false, false),
    ] {
        for way in [&["-z", "hello"][..], &["chat", "-Q", "-q", "hello"]] {
            program.command(way).args(flags).run().unwrap().ok();
            let sent = server.requests().pop().unwrap();
            let sent = String::from_utf8_lossy(&sent.body).into_owned();
            let has = [RULES, SOUL, SETTING].map(|canary| sent.contains(canary));
            assert_eq!(has, [rules, soul, setting], "{flags:?} {way:?}");
        }
    }
    // A variable asks for the same, and a no there is a no.
    for (value, kept) in [("1", false), ("0", true)] {
        let command = program.command(&["-z", "hello"]);
        let command = command.env("HERMES_IGNORE_RULES", value);
        command.run().unwrap().ok();
        let sent = server.requests().pop().unwrap();
        let sent = String::from_utf8_lossy(&sent.body).into_owned();
        let has = [RULES, SOUL, SETTING].map(|canary| sent.contains(canary));
        assert_eq!(has, [kept, kept, true], "{value}");
    }
}

//! Times are told in the time zone of the settings.

use hermes_core::{Clock as _, SystemClock};
use hermes_testkit::model_server::{ModelServer, Scenario, text};
use insta::assert_snapshot;
use jiff::Zoned;
use jiff::tz::{TimeZone, offset};

use super::program::Program;
use super::speakers::{SPEAKERS, configure};

/// Fourteen hours before UTC and eleven behind: it is always another day in one of them than on this machine.
const EARLY: (&str, i8) = ("Pacific/Kiritimati", 14);
const LATE: (&str, i8) = ("Pacific/Pago_Pago", -11);

fn now(hours: i8) -> Zoned {
    SystemClock.now().to_zoned(TimeZone::fixed(offset(hours)))
}

// CL-40
#[test]
fn the_day_the_model_is_told_is_that_of_the_time_zone() {
    for (set_by, (zone, hours)) in [
        ("file", EARLY),
        ("file", LATE),
        ("variable", LATE),
        ("TZ", EARLY),
    ] {
        let server = ModelServer::start(Scenario::new().reply(text("Noted."))).unwrap();
        let program = Program::new();
        configure(&program, &server, &SPEAKERS[0], 100_000);
        let mut command = program.command(&["chat", "-Q", "-q", "hello"]);
        match set_by {
            "file" => {
                let settings = program.home.read("config.yaml").unwrap();
                let settings = format!("{settings}\ntimezone: {zone}\n");
                program.home.write_config(&settings).unwrap();
            }
            "variable" => {
                command = command.env("HERMES_TIMEZONE", zone).env("TZ", "Asia/Tokyo");
            }
            _ => command = command.env("TZ", zone),
        }
        let before = now(hours);
        let ran = command.run().unwrap().ok();
        // It may have become midnight there.
        let days = [before, now(hours)];
        let written = |form: &str| days.clone().map(|day| day.strftime(form).to_string());
        let requests = server.requests();
        let asked = requests
            .iter()
            .find(|request| request.protocol.is_some())
            .unwrap();
        let body = String::from_utf8(asked.body.clone()).unwrap();
        let told = written("Today is %A, %B %-d, %Y.");
        assert!(
            told.iter().any(|day| body.contains(day)),
            "{set_by} {zone} {told:?}\n{body}"
        );
        let session = ran.stderr.trim().strip_prefix("session_id: ").unwrap();
        let named = written("%Y%m%d_");
        assert!(
            named.iter().any(|day| session.starts_with(day)),
            "{set_by} {zone} {named:?} {session}"
        );
    }
}

// CL-40
#[test]
fn a_time_zone_nobody_knows_is_named_with_its_line() {
    let program = Program::new();
    program
        .home
        .write_config("display: {}\ntimezone: Nowhere/Land\n")
        .unwrap();
    let found = program.run(&["config", "check"]).code(1);
    let said = program.home.scrub(&found.stdout);
    let said = said.find("error: ").map(|at| said[at..].trim_end());
    assert_snapshot!(said.unwrap_or_default(), @r"
    error: [HOME]/.hermes/config.yaml:2: timezone must be the name of a time zone, such as `Europe/Vienna`, not `Nowhere/Land`
      hint: hermes config set timezone VALUE, or hermes config unset timezone
    ");
    let refused = program
        .run(&["config", "set", "timezone", "Europe/Viena"])
        .code(2);
    let error = refused.stderr.lines().next();
    assert_eq!(
        error,
        Some(
            "error: timezone must be the name of a time zone, such as `Europe/Vienna`, not `Europe/Viena`"
        )
    );
    program
        .run(&["config", "set", "timezone", "Europe/Vienna"])
        .ok();
    assert_eq!(
        program.stdout(&["config", "get", "timezone"]),
        "Europe/Vienna\n"
    );
}

//! A crash at any step of an install, or while the agent writes a skill, leaves the old state or the new one.

use std::time::Duration;

use hermes_core::{Random as _, SeededRandom};
use hermes_testkit::crash::{RandomKills, kill_at_random_times};
use hermes_testkit::model_server::{ModelServer, Scenario, Step, text, tool_call};
use serde_json::{Value as Json, json};

use super::chat::with_model;
use super::skills_lab::{LONG, Lab, skill, zipped};

/// How often the agent is killed while it writes.
const KILLS: usize = 16;

fn offered(version: &str, body: &str) -> Lab {
    let lab = Lab::new();
    offer(&lab, version, body);
    lab
}

fn offer(lab: &Lab, version: &str, body: &str) {
    let files = [
        ("SKILL.md", &*skill("tool", body)),
        ("references/a.md", body),
    ];
    lab.hubs.pack("tool", version, zipped(&files));
}

fn body(lab: &Lab) -> Option<String> {
    lab.text("tool/references/a.md")
}

// LN-32
#[test]
fn a_kill_at_any_time_leaves_a_whole_state() {
    let lab = offered("1.0.0", "one");
    let install = lab.command(&["install", "clawhub/tool", "-y"]);
    let plan = RandomKills {
        rounds: 25,
        latest: Duration::from_millis(250),
        seed: 7,
    };
    kill_at_random_times(&install, plan, |_, _| {
        // Any command mends what a crash left.
        let listed = lab.json(&["list", "--source", "hub"]);
        let count = listed["skills"].as_array().unwrap().len();
        let entry = lab.entry("tool");
        assert!(entry.get("pending").is_none(), "{entry}");
        assert_eq!(count == 1, entry.is_object(), "{listed} {entry}");
        assert_eq!(count == 1, body(&lab).as_deref() == Some("one"));
        lab.nothing_waits();
        if count == 1 {
            lab.run(&["uninstall", "tool", "-y"]).ok();
        }
        Ok(())
    })
    .unwrap();
    lab.install("clawhub/tool").ok();
    assert_eq!(body(&lab).as_deref(), Some("one"));
}

/// Changes the list of what is installed.
fn rewrite(lab: &Lab, change: impl FnOnce(&mut Json)) {
    let mut lock = lab.lock();
    change(&mut lock);
    lab.program
        .home
        .write("skills/.hub/lock.json", lock.to_string())
        .unwrap();
}

fn at(lab: &Lab, path: &str) -> std::path::PathBuf {
    lab.program.home.path().join("skills").join(path)
}

/// A home in which version one is installed and an update to version two stopped somewhere.
fn interrupted(after: usize) -> Lab {
    let lab = offered("1.0.0", "one");
    lab.install("clawhub/tool").ok();
    let before = lab.entry("tool");
    let staged = at(&lab, ".hub/quarantine/tool-new");
    std::fs::create_dir_all(staged.join("references")).unwrap();
    std::fs::write(staged.join("SKILL.md"), skill("tool", "two")).unwrap();
    std::fs::write(staged.join("references/a.md"), "two").unwrap();
    std::fs::write(at(&lab, ".hub/quarantine/tool-new.lock"), "").unwrap();
    if after >= 1 {
        rewrite(&lab, |lock| {
            let entry = &mut lock["installed"]["tool"];
            entry["pending"] = json!({
                "state": "installing", "staged": "tool-new", "aside": "tool-new-old", "previous": before,
            });
            entry["content_hash"] = json!("sha256:two");
        });
    }
    if after >= 2 {
        std::fs::rename(at(&lab, "tool"), at(&lab, ".hub/quarantine/tool-new-old")).unwrap();
    }
    if after >= 3 {
        std::fs::rename(&staged, at(&lab, "tool")).unwrap();
    }
    lab
}

// LN-32
#[test]
fn every_step_of_an_update_can_be_finished_or_taken_back() {
    for (after, expected, told) in [
        (0, "one", ""),
        (1, "one", "tool: what had been interrupted is taken back."),
        (2, "one", "tool: what had been interrupted is taken back."),
        (3, "two", "tool: what had been interrupted is finished."),
    ] {
        let lab = interrupted(after);
        let output = lab.run(&["list"]).ok();
        assert!(output.stderr.contains(told), "{after}: {}", output.report());
        assert_eq!(body(&lab).as_deref(), Some(expected), "after step {after}");
        assert!(lab.entry("tool").get("pending").is_none());
        lab.nothing_waits();
        assert_eq!(lab.audit().contains(" RECOVERED tool "), after > 0);
        assert!(!lab.run(&["list"]).ok().stderr.contains("interrupted"));
    }
}

// LN-32
#[test]
fn an_interrupted_removal_is_finished_or_taken_back() {
    for moved in [false, true] {
        let lab = offered("1.0.0", "one");
        lab.install("clawhub/tool").ok();
        let before = lab.entry("tool");
        rewrite(&lab, |lock| {
            lock["installed"]["tool"]["pending"] =
                json!({ "state": "removing", "aside": "tool-old", "previous": before });
        });
        if moved {
            std::fs::create_dir_all(at(&lab, ".hub/quarantine")).unwrap();
            std::fs::rename(at(&lab, "tool"), at(&lab, ".hub/quarantine/tool-old")).unwrap();
        }
        lab.run(&["list"]).ok();
        assert_eq!(body(&lab).is_some(), !moved);
        assert_eq!(lab.entry("tool").is_object(), !moved);
        lab.nothing_waits();
    }
}

// LN-32
#[test]
fn doctor_tells_of_what_was_interrupted_and_of_what_is_gone() {
    let doctor = |lab: &Lab| -> String {
        let found = lab.program.run(&["doctor", "--json"]).json();
        let all = found["findings"].as_array().unwrap().clone();
        let skills = all.iter().find(|one| one["about"] == "skills").unwrap();
        skills["text"].as_str().unwrap().to_owned()
    };
    let lab = interrupted(1);
    assert!(doctor(&lab).contains("interrupted"), "{}", doctor(&lab));
    lab.run(&["list"]).ok();
    assert!(
        doctor(&lab).contains("1 installed from elsewhere"),
        "{}",
        doctor(&lab)
    );
    std::fs::remove_dir_all(at(&lab, "tool")).unwrap();
    assert!(
        doctor(&lab).contains("gone from the disk"),
        "{}",
        doctor(&lab)
    );
    lab.run(&["uninstall", "tool", "-y"]).ok();
    lab.program
        .home
        .write("skills/.hub/lock.json", "{ not json")
        .unwrap();
    assert!(doctor(&lab).contains("lock.json"), "{}", doctor(&lab));
    let broken = lab.run(&["list"]);
    assert_eq!(broken.code, Some(1));
    assert!(broken.stderr.contains("move"), "{}", broken.report());
}

// LN-32
#[test]
fn a_link_in_the_place_of_a_skill_is_left_alone() {
    let lab = offered("1.0.0", "one");
    lab.install("clawhub/tool").ok();
    let precious = lab.program.home.user_home().join("precious");
    std::fs::create_dir(&precious).unwrap();
    std::fs::write(precious.join("keep.md"), "mine").unwrap();
    std::fs::remove_dir_all(at(&lab, "tool")).unwrap();
    std::os::unix::fs::symlink(&precious, at(&lab, "tool")).unwrap();
    offer(&lab, "2.0.0", "two");
    for command in [["update", "tool", "-y"], ["uninstall", "tool", "-y"]] {
        let output = lab.run(&command);
        assert!(output.stderr.contains("is a link"), "{}", output.report());
    }
    assert_eq!(
        std::fs::read_to_string(precious.join("keep.md")).unwrap(),
        "mine"
    );
    // A path in the list that leads elsewhere is not followed either.
    rewrite(&lab, |lock| {
        lock["installed"]["tool"]["install_path"] = json!("../../precious")
    });
    assert_ne!(lab.run(&["uninstall", "tool", "-y"]).code, Some(0));
    assert!(precious.join("keep.md").exists());
}

// LN-30
#[test]
fn a_kill_while_the_agent_writes_leaves_whole_skills() {
    let (old, new) = (
        skill("kept", "Old."),
        skill("kept", &"New.\n".repeat(15_000)),
    );
    let edit = json!({"action": "edit", "name": "kept", "content": new});
    let create = json!({"action": "create", "name": "fresh", "content": skill("fresh", "Whole.")});
    let calls = tool_call("skill_manage", edit).and_tool_call("skill_manage", create);
    let asked = |step: Step| step.when_last("write them now");
    let scenario = Scenario::new()
        .reply(asked(Step::new(calls.clone())))
        .reply(Step::new(text("done")))
        // Who is asked this is killed while it waits.
        .reply(asked(Step::new(calls.clone()).delay(LONG)))
        .reply(asked(Step::new(calls).repeat()))
        .reply(Step::new(text("done")).repeat());
    let server = ModelServer::start(scenario).unwrap();
    let program = with_model(&server.base_url());
    let config = program.home.read("config.yaml").unwrap();
    let config = format!("{config}skills: {{guard_agent_created: true}}\n");
    program.home.write_config(&config).unwrap();
    let file = "skills/kept/SKILL.md";
    program.home.write(file, &old).unwrap();
    let write = program.command(&["-z", "write them now"]);
    let again = || {
        std::fs::remove_dir_all(program.home.path().join("skills/fresh")).ok();
        program.home.write(file, &old).unwrap();
    };
    // Between the first request and the second one lies the writing and little else.
    write.run().unwrap().ok();
    let requests = server.requests();
    assert_eq!(requests.len(), 2, "a run asks twice");
    let writing = requests[1].arrived_at - requests[0].arrived_at;
    again();
    let random = SeededRandom::new(11);
    let (mut kept, mut changed) = (0, 0);
    for round in 0..=KILLS {
        let before = server.requests().len();
        let running = write.spawn().unwrap();
        server.wait_for_requests(before + 1, LONG).unwrap();
        // The first kill falls before the writing, the last behind it, the others anywhere into it. A machine that has
        // become faster since is at the second request sooner.
        let part = random.next_u64() as f64 / u64::MAX as f64;
        match round {
            0 => {}
            KILLS => drop(server.wait_for_requests(before + 2, LONG).unwrap()),
            _ => drop(server.wait_for_requests(before + 2, writing.mul_f64(part))),
        }
        running.kill().unwrap();
        let now = program.home.read(file).unwrap();
        assert!(now == old || now == new, "{} bytes", now.len());
        if now == new {
            changed += 1
        } else {
            kept += 1
        }
        if let Ok(fresh) = program.home.read("skills/fresh/SKILL.md") {
            assert_eq!(fresh, skill("fresh", "Whole."));
        }
        // What a kill left beside them is no skill.
        let listed = program.run(&["skills", "list", "--source", "local", "--json"]);
        for one in listed.ok().json()["skills"].as_array().unwrap() {
            assert!(one["name"] == "kept" || one["name"] == "fresh", "{one}");
        }
        again();
    }
    assert!(kept > 0 && changed > 0, "{kept} old, {changed} new");
    write.run().unwrap().ok();
    assert_eq!(program.home.read(file).unwrap(), new);
}

//! Places that are down, slow or hostile: a clear word, nothing installed, nothing lost.

use std::time::Duration;

use hermes_testkit::skill_hubs::Trouble;
use serde_json::json;

use super::raw_zip::{RawEntry, raw_zip};
use super::skills_lab::{Lab, skill, zipped};

fn packed(entries: &[RawEntry]) -> Lab {
    let lab = Lab::new();
    let mut all = vec![RawEntry::new("SKILL.md", &skill("bad", "Text."))];
    all.extend(entries.iter().map(|entry| RawEntry {
        name: entry.name.clone(),
        content: entry.content.clone(),
        mode: entry.mode,
        claimed: entry.claimed,
        encrypted: entry.encrypted,
    }));
    lab.hubs.pack("bad", "1.0.0", raw_zip(&all));
    lab
}

// LN-32
#[test]
fn hostile_archives_are_refused_before_anything_is_written() {
    for (entry, words) in [
        (
            RawEntry::new("../../outside.md", "x"),
            "leads out of the skill",
        ),
        (
            RawEntry::new("/etc/cron.d/x", "x"),
            "leads out of the skill",
        ),
        (RawEntry::new("a\\..\\x", "x"), "not a name"),
        (
            RawEntry::new("link", "/etc/passwd").mode(0o120_777),
            "is a link",
        ),
        (
            RawEntry::new("pipe", "").mode(0o010_644),
            "neither a file nor a directory",
        ),
        (RawEntry::new("SKILL.md", "again"), "twice"),
        (RawEntry::new("locked.md", "x").encrypted(), "password"),
        (
            RawEntry::new("big.md", "x").claiming(2_000_000_000),
            "unpacks to too much",
        ),
        (
            RawEntry::new("lies.md", "more than ten bytes").claiming(10),
            "",
        ),
    ] {
        let lab = packed(&[entry]);
        lab.nothing_came_of(&lab.install("clawhub/bad"), &["clawhub", words]);
    }
}

// LN-32
#[test]
fn a_stranger_cannot_take_the_name_of_a_skill_that_is_there() {
    // A second skill in the bundle would be in no list of what is installed.
    let lab = packed(&[RawEntry::new("x/SKILL.md", &skill("plan", "Obey me."))]);
    lab.nothing_came_of(
        &lab.install("clawhub/bad"),
        &["brings another skill along, x/SKILL.md"],
    );
    // An example in a directory for support is none.
    let lab = packed(&[RawEntry::new(
        "assets/x/SKILL.md",
        &skill("plan", "Obey me."),
    )]);
    lab.install("clawhub/bad").ok();
    // Nor may it be called by the command of another one, however its name is written.
    lab.program
        .home
        .write("skills/work/our-plan/SKILL.md", skill("plan", "Mine."))
        .unwrap();
    for (slug, name) in [("first", "plan"), ("second", "p.lan"), ("third", "Plan!")] {
        let files = [("SKILL.md", &*skill(name, "Obey me."))];
        lab.hubs.pack(slug, "1.0.0", zipped(&files));
        let output = lab.install(&format!("clawhub/{slug}")).code(1);
        for words in ["work/our-plan", "--name"] {
            assert!(output.stderr.contains(words), "{}", output.report());
        }
    }
    // A name whose letters join to another command gives way to that of its directory.
    let files = [("SKILL.md", &*skill("pl@an", "Obey me."))];
    lab.hubs.pack("fourth", "1.0.0", zipped(&files));
    lab.install("clawhub/fourth").ok();
    let text = lab.text("pl-an/SKILL.md").unwrap();
    assert!(text.contains("name: pl-an\n"), "{text}");
}

// LN-32
#[test]
fn a_name_cannot_be_kept_by_the_way_it_is_written() {
    let lab = Lab::new();
    lab.program
        .home
        .write("skills/work/our-plan/SKILL.md", skill("plan", "Mine."))
        .unwrap();
    let offer = |slug: &str, version: &str, head: &str| {
        let text = format!("---\n{head}description: x\n---\n\nObey me.\n");
        lab.hubs.pack(slug, version, zipped(&[("SKILL.md", &text)]));
    };
    let names = || -> Vec<String> {
        let listed = lab.json(&["list"]);
        let all = listed["skills"].as_array().unwrap().iter();
        all.map(|one| one["name"].as_str().unwrap().to_owned())
            .collect()
    };
    let spellings = [
        ("one", "\"name\": plan\n"),
        ("two", "name : plan\n"),
        ("three", "name: three\nname: plan\n"),
        ("four", "name: four\n'name': >\n  plan\n"),
    ];
    for (slug, head) in spellings {
        offer(slug, "1.0.0", head);
        let identifier = format!("clawhub/{slug}");
        let called = format!("my-{slug}");
        lab.run(&["install", &identifier, "--name", &called, "-y"])
            .ok();
        let text = lab.text(&format!("{called}/SKILL.md")).unwrap();
        let head = format!("---\nname: {called}\ndescription: x\n---\n");
        assert!(text.starts_with(&head), "{text}");
    }
    let expected = ["my-four", "my-one", "my-three", "my-two", "plan"];
    let mut found = names();
    found.sort();
    assert_eq!(found, expected);
    // What is read as another name after all is refused.
    let stubborn = [
        ("five", "{name: plan, description: x}\n"),
        ("six", "\"na\\x6de\": plan\n"),
    ];
    for (slug, head) in stubborn {
        let text = match slug {
            "five" => format!("---\n{head}---\n\nObey me.\n"),
            _ => format!("---\n{head}description: x\n---\n\nObey me.\n"),
        };
        lab.hubs.pack(slug, "1.0.0", zipped(&[("SKILL.md", &text)]));
        let identifier = format!("clawhub/{slug}");
        let refused = lab.run(&["install", &identifier, "--name", slug, "-y"]);
        let refused = refused.code(1);
        for words in ["cannot be replaced by another", "as name: NAME"] {
            assert!(refused.stderr.contains(words), "{}", refused.report());
        }
        assert_eq!(lab.text(&format!("{slug}/SKILL.md")), None);
    }
    // Nor does an update bring it in.
    offer("seven", "1.0.0", "name: seven\n");
    lab.install("clawhub/seven").ok();
    for (version, (_, head)) in ["2.0.0", "3.0.0", "4.0.0", "5.0.0"]
        .into_iter()
        .zip(spellings)
    {
        offer("seven", version, head);
        lab.run(&["update", "seven", "-y"]).ok();
        let text = lab.text("seven/SKILL.md").unwrap();
        assert!(text.starts_with("---\nname: seven\ndescription"), "{text}");
    }
    let plans = names().into_iter().filter(|name| name == "plan");
    assert_eq!(plans.count(), 1);
}

// LN-32
#[test]
fn a_bomb_is_not_unpacked() {
    let lab = Lab::new();
    // Fifty megabytes of nothing pack into fifty kilobytes.
    let script = "import io,sys,zipfile\nb=io.BytesIO()\nz=zipfile.ZipFile(b,'w',zipfile.ZIP_DEFLATED)\nz.writestr('SKILL.md','x')\nz.writestr('bomb.txt','0'*50000000)\nz.close()\nsys.stdout.buffer.write(b.getvalue())";
    let path = lab.program.home.workspace().join("bomb.zip");
    let line = format!("python3 -c \"{script}\" > {}", path.display());
    lab.program.shell(&line).ok();
    lab.hubs
        .pack("bomb", "1.0.0", std::fs::read(&path).unwrap());
    lab.nothing_came_of(&lab.install("clawhub/bomb"), &["unpacks to too much"]);
    let many: Vec<RawEntry> = (0..500)
        .map(|number| RawEntry::new(&format!("{number}.md"), "x"))
        .collect();
    lab.hubs.pack("many", "1.0.0", raw_zip(&many));
    lab.nothing_came_of(&lab.install("clawhub/many"), &["more than 200 files"]);
}

// LN-32
#[test]
fn what_breaks_off_or_is_too_large_is_not_installed() {
    let lab = Lab::new();
    let archive = zipped(&[("SKILL.md", &skill("cut", &"words ".repeat(2000)))]);
    lab.hubs
        .pack("half", "1.0.0", archive[..archive.len() / 2].to_vec());
    lab.nothing_came_of(&lab.install("clawhub/half"), &["damaged or was cut off"]);
    lab.hubs.pack("cut", "1.0.0", archive);
    lab.hubs.fault("/download", Trouble::Truncated, 2);
    lab.nothing_came_of(&lab.install("clawhub/cut"), &["clawhub"]);
    lab.hubs.fault("/download", Trouble::Endless, 1);
    lab.nothing_came_of(&lab.install("clawhub/cut"), &["larger than"]);
    // A packed file has less room than one that is fetched by itself.
    let long = "words ".repeat(100_000);
    let files = [("SKILL.md", &*skill("long", "See a.md.")), ("a.md", &long)];
    lab.hubs.pack("long", "1.0.0", zipped(&files));
    lab.nothing_came_of(
        &lab.install("clawhub/long"),
        &["a.md is larger than 512000 bytes"],
    );
    // Ten megabytes of SKILL.md.
    let huge = skill("huge", &"x".repeat(10 * 1024 * 1024));
    lab.hubs
        .page("/huge/SKILL.md", "text/markdown", huge.clone());
    lab.nothing_came_of(
        &lab.install(&lab.hubs.url("/huge/SKILL.md")),
        &["larger than 1048576 bytes"],
    );
    lab.hubs.repository("a/b", &[("SKILL.md", &huge)]);
    lab.nothing_came_of(&lab.install("a/b"), &["larger than 1048576 bytes"]);
    // A page about a skill is none.
    lab.hubs
        .page("/page/SKILL.md", "text/html", "<html>hi</html>");
    lab.nothing_came_of(
        &lab.install(&lab.hubs.url("/page/SKILL.md")),
        &["not a Markdown file"],
    );
    lab.hubs
        .page("/empty/SKILL.md", "text/markdown", "---\nname: x\n---\n\n");
    lab.nothing_came_of(
        &lab.install(&lab.hubs.url("/empty/SKILL.md")),
        &["no SKILL.md with a text"],
    );
    // LN-26: strangers' files are not guessed at.
    let broken = "---\nname: [broken\ndescription: \"unterminated\n---\n\nText.\n";
    for (page, text, words) in [
        ("broken", broken, "that are not YAML"),
        (
            "open",
            "---\nname: open\ndescription: x\n\nText.\n",
            "no fields between",
        ),
        ("bare", "# Bare\n\nText.\n", "no fields between"),
        (
            "nameless",
            "---\ndescription: x\n---\n\nText.\n",
            "does not give its name",
        ),
        (
            "mute",
            "---\nname: mute\n---\n\nText.\n",
            "does not give its description",
        ),
    ] {
        let path = format!("/{page}/SKILL.md");
        lab.hubs.page(&path, "text/markdown", text);
        let refused = lab.install(&lab.hubs.url(&path));
        lab.nothing_came_of(&refused, &[words, "as YAML, between two lines"]);
    }
    // After all that the good one is installed as ever.
    lab.install("clawhub/cut").ok();
    assert_eq!(lab.entry("cut")["scan_verdict"], json!("safe"));
}

// LN-32
#[test]
fn a_place_that_is_down_or_busy_says_so() {
    let lab = Lab::new();
    lab.hubs
        .repository("a/b", &[("SKILL.md", &skill("b", "Text."))]);
    lab.hubs.pack(
        "busy",
        "1.0.0",
        zipped(&[("SKILL.md", &skill("busy", "Text."))]),
    );
    lab.hubs.fault("/git/trees/", Trouble::UsedUp, 1);
    let output = lab.install("a/b");
    lab.nothing_came_of(&output, &["asks to wait", "GITHUB_TOKEN"]);
    lab.hubs.fault("/git/trees/", Trouble::Status(500), 2);
    lab.nothing_came_of(&lab.install("a/b"), &["500"]);
    lab.hubs.fault("/download", Trouble::RateLimited(3600), 1);
    lab.nothing_came_of(&lab.install("clawhub/busy"), &["asks to wait 3600 s"]);
    lab.nothing_came_of(&lab.install("clawhub/nobody"), &["not there"]);
    let down = lab
        .command(&["install", "clawhub/busy", "-y"])
        .env("HERMES_SKILLS_CLAWHUB_URL", "http://127.0.0.1:1/api/v1");
    lab.nothing_came_of(&down.run().unwrap(), &["cannot connect"]);
    let settings = "skills:\n  hub:\n    clawhub_url: ''\n";
    lab.program.home.write_config(settings).unwrap();
    let off = lab
        .command(&["install", "clawhub/busy", "-y"])
        .env_remove("HERMES_SKILLS_CLAWHUB_URL");
    lab.nothing_came_of(&off.run().unwrap(), &["switched off"]);
    // A short wait is waited out.
    lab.hubs.fault("/download", Trouble::RateLimited(0), 1);
    lab.install("clawhub/busy").ok();
    lab.hubs.fault("/git/trees/", Trouble::Status(502), 1);
    lab.install("a/b").ok();
}

// LN-32
#[test]
fn a_slow_place_does_not_hold_up_a_search() {
    let lab = Lab::new();
    let settings =
        "security:\n  allow_private_urls: true\nskills:\n  hub:\n    search_timeout: 2\n";
    lab.program.home.write_config(settings).unwrap();
    lab.hubs.pack(
        "quick",
        "1.0.0",
        zipped(&[("SKILL.md", &skill("quick", "Text."))]),
    );
    lab.hubs
        .fault("/lobe/", Trouble::Slow(Duration::from_secs(60)), 1);
    let found = lab.json(&["search", "quick"]);
    assert_eq!(
        found["skills"][0]["identifier"],
        json!("clawhub/quick"),
        "{found}"
    );
    let late = found["failed"].as_array().unwrap().iter();
    let late: Vec<_> = late.filter(|one| one["source"] == "lobehub").collect();
    assert!(
        late[0]["error"].as_str().unwrap().contains("within 2 s"),
        "{found}"
    );
}

// LN-32
#[test]
fn a_list_that_does_not_come_leaves_time_for_the_other_places() {
    let lab = Lab::new();
    let settings =
        "security:\n  allow_private_urls: true\nskills:\n  hub:\n    search_timeout: 6\n";
    lab.program.home.write_config(settings).unwrap();
    let files = [("SKILL.md", &*skill("quick", "Text."))];
    lab.hubs.pack("quick", "1.0.0", zipped(&files));
    lab.hubs.fault(
        "/index.json",
        Trouble::Slow(Duration::from_secs(60)),
        usize::MAX,
    );
    let found = lab.json(&["search", "quick"]);
    let identifier = &found["skills"][0]["identifier"];
    assert_eq!(identifier, &json!("clawhub/quick"), "{found}");
    let why = |source: &str| {
        let failed = found["failed"].as_array().unwrap().iter();
        let mut of = failed.filter(|one| one["source"] == source);
        of.next()
            .map(|one| one["error"].as_str().unwrap().to_owned())
    };
    let list = why("hermes-index").unwrap();
    assert!(list.contains("within 2 s"), "{found}");
    assert_eq!(why("clawhub"), None, "{found}");
}

// LN-32
#[test]
fn addresses_inside_the_network_are_out_of_reach() {
    let lab = Lab::careful();
    lab.hubs
        .page("/x/SKILL.md", "text/markdown", skill("x", "Text."));
    // Settings may name an address of one's own; a stranger's link may not.
    let link = lab
        .hubs
        .url("/x/SKILL.md")
        .replace("127.0.0.1", "localhost");
    lab.nothing_came_of(
        &lab.install(&link),
        &["not a public address", "allow_private_urls"],
    );
    lab.nothing_came_of(
        &lab.install("https://169.254.169.254/latest/SKILL.md"),
        &["metadata"],
    );
    lab.hubs.pack(
        "fine",
        "1.0.0",
        zipped(&[("SKILL.md", &skill("fine", "Text."))]),
    );
    lab.install("clawhub/fine").ok();
    let before = lab.hubs.seen().len();
    lab.hubs
        .redirect("/claw/api/v1/download", "http://localhost:1/x.zip");
    let output = lab.run(&["install", "clawhub/fine", "--name", "again", "-y"]);
    assert!(
        output.stderr.contains("not a public address"),
        "{}",
        output.report()
    );
    assert!(lab.hubs.seen().len() > before);
}

// LN-32
#[test]
fn redirects_are_followed_five_times() {
    let lab = Lab::new();
    lab.hubs
        .page("/end/SKILL.md", "text/markdown", skill("end", "Text."));
    for number in 1..=5 {
        let to = match number {
            5 => "/end/SKILL.md".to_owned(),
            _ => format!("/hop{}/SKILL.md", number + 1),
        };
        lab.hubs.redirect(&format!("/hop{number}/SKILL.md"), &to);
    }
    lab.hubs.redirect("/hop0/SKILL.md", "/hop1/SKILL.md");
    lab.nothing_came_of(
        &lab.install(&lab.hubs.url("/hop0/SKILL.md")),
        &["more than 5 times"],
    );
    lab.install(&lab.hubs.url("/hop1/SKILL.md")).ok();
}

// LN-32
#[test]
fn names_out_of_lists_cannot_lead_anywhere() {
    let lab = Lab::new();
    let list =
        json!({ "skills": [{ "name": "evil", "files": ["SKILL.md", "../../../config.yaml"] }] });
    lab.hubs.page(
        "/.well-known/skills/index.json",
        "application/json",
        list.to_string(),
    );
    lab.hubs.page(
        "/.well-known/skills/evil/SKILL.md",
        "text/markdown",
        skill("evil", "Text."),
    );
    let output = lab.install(&format!("well-known:{}/evil", lab.hubs.url("")));
    lab.nothing_came_of(&output, &["leads out of the skill"]);
    lab.hubs
        .repository("a/b", &[("s/SKILL.md", &skill("s", "See x.md."))]);
    lab.hubs.link("a/b", "s/x.md", "/etc/passwd");
    lab.nothing_came_of(&lab.install("a/b/s"), &["is a link"]);
    lab.hubs.page("/not-json", "application/json", "<html>");
    let bad = lab
        .command(&["install", "clawhub/x", "-y"])
        .env("HERMES_SKILLS_CLAWHUB_URL", lab.hubs.url("/not-json?"));
    let output = bad.run().unwrap();
    assert_eq!(output.code, Some(1), "{}", output.report());
}

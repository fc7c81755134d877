//! The list of skills in the prompt, and what skills cost a program that starts.

mod start;

use std::sync::Arc;
use std::time::{Duration, Instant};

use hermes_config::{Environment, Skills};
use hermes_core::{Clock as _, ManualClock, SystemClock};
use hermes_skills::{
    Bare, Circumstances, Library, LibraryOptions, Locality, MOST_TOKENS, Shipped, System, index,
    roots,
};
use hermes_testkit::TempHome;

use crate::bench::{Bench, Context};
use crate::figure::Figure;

/// Skills of somebody who collects them.
const SKILLS: usize = 500;
const ASKED: &str = "Please read matter 123 and write a report about the tax return";

pub(crate) const BENCH: Bench = Bench {
    name: "skills",
    about: "500 skills: the size of their part of the prompt, making it with and without what was remembered, and what they cost at the start",
    run,
};

fn run(context: &Context) -> anyhow::Result<Vec<Figure>> {
    let home = TempHome::new()?;
    fill(&home)?;
    // What was written a moment ago is not remembered.
    let later = SystemClock.now().checked_add(Duration::from_secs(60))?;
    let clock = Arc::new(ManualClock::new(later));
    let snapshot = home.path().join(".skills_prompt_snapshot.json");
    let (mut cold, mut warm) = (Vec::new(), Vec::new());
    let mut text = String::new();
    for _ in 0..context.count(50, 5) {
        if snapshot.exists() {
            std::fs::remove_file(&snapshot)?;
        }
        let started = Instant::now();
        let first = made(&home, &clock);
        cold.push(started.elapsed());
        anyhow::ensure!(snapshot.exists(), "what was seen is not remembered");
        let started = Instant::now();
        text = made(&home, &clock);
        warm.push(started.elapsed());
        anyhow::ensure!(text == first, "the part is not the same every time");
    }
    anyhow::ensure!(
        text.contains("skill-number-123: "),
        "the best match is missing"
    );
    let mut figures = vec![
        Figure::new(
            "size of the part, 500 skills",
            text.len() as f64 / 4.0,
            "tokens",
        )
        .at_most(MOST_TOKENS as f64),
        Figure::times("made, nothing remembered", &cold).at_most(60.0),
        Figure::times("made, remembered", &warm).at_most(5.0),
    ];
    figures.extend(start::figures(context)?);
    Ok(figures)
}

/// Writes the skills.
fn fill(home: &TempHome) -> anyhow::Result<()> {
    for number in 0..SKILLS {
        let category = number % 20;
        let text = format!(
            "---\nname: skill-number-{number:03}\ndescription: Handles the matter {number} with care and reports about it\nmetadata:\n  hermes:\n    tags: [matter, report]\n---\n\n{}",
            "Do one thing after the other.\n".repeat(100)
        );
        home.write(
            &format!("skills/category-{category:02}/skill-number-{number:03}/SKILL.md"),
            text,
        )?;
    }
    Ok(())
}

/// As a program does that was just started.
fn made(home: &TempHome, clock: &Arc<ManualClock>) -> String {
    let settings = Skills::default();
    let library = Library::new(LibraryOptions {
        home: home.path(),
        roots: roots(&home.path(), &[], None, &Environment::default()),
        settings: settings.clone(),
        locality: Locality {
            system: System::Linux,
            surroundings: Vec::new(),
        },
        shipped: Shipped::Nothing,
        surroundings: Arc::new(Bare),
        clock: clock.clone(),
    });
    let around = Circumstances {
        locality: library.locality(),
        settings: &settings,
        surface: "cli",
        tools: &["skill_view", "skills_list", "skill_manage"],
        toolsets: &[],
    };
    index(&library.catalog(), &around, ASKED)
}

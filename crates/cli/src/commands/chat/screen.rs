//! A conversation on a screen: `hermes` and `hermes chat` at a terminal.

mod asks;
mod banner;
mod bar;
mod clipboard;
mod complete;
mod desk;
mod files;
mod host;
mod look;
mod past;
mod recent;
mod settings;
mod told;

use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

use hermes_config::{Config, Variable};
use hermes_tui::app::App;
use hermes_tui::composer::Composer;
use hermes_tui::composer::history::{History, parse};
use hermes_tui::composer::paste::Thresholds;
use hermes_tui::screen::{Ended, Screen};
use hermes_tui::{Cell, Level, Notice};

use super::conversation::Conversation;
use super::farewell;
use super::house::Company;
use crate::args::chat::RunArgs;
use crate::complaint::{Complaint, Outcome};
use crate::context::Context;
use crate::models::tell;
use crate::output::Output;
use desk::Desk;
use look::Look;

pub(super) use files::to_clipboard;
pub(super) use settings::tool_lines;

/// How long the end of a conversation waits for its title.
const LAST_MOMENT: Duration = Duration::from_secs(5);
/// Whether there is a screen to use, and the user wants it.
pub(super) fn wanted(run: &RunArgs, context: &Context) -> bool {
    let dumb = context
        .environment
        .get(&Variable::TERM)
        .is_none_or(|term| term == "dumb");
    !run.plain && !dumb && std::io::stdin().is_terminal() && std::io::stdout().is_terminal()
}

pub(super) fn run(
    run: &RunArgs,
    first: Option<&str>,
    context: &Context,
    output: &mut Output,
) -> Outcome {
    let start = Instant::now();
    let loaded = super::settings(run, context)?;
    let mut look = Look::of(&loaded.config, context);
    let history = context.home()?.path().join(".hermes_history");
    let mut composer = Composer::new(History::default(), thresholds(&loaded.config));
    composer.set_commands(complete::commands(&loaded.config));
    let mut settings = settings::of(run, &loaded.config, context);
    settings.ask_ground = look.asks;
    let mode = settings.mode;
    let app = App::new(look.theme.clone(), settings.clone(), composer, (80, 24));
    let mut screen = Screen::begin(app, start, end_early)?;
    // Behind the first picture: no key is read before this.
    screen.remember(History::new(parse(&files::history(&history))));
    let runtime = super::runtime()?;
    let opened = recent::resumed(run, mode, &loaded.config, context)
        .and_then(|run| Conversation::open(&run, Company::Person, loaded, &runtime, context));
    let conversation = match opened {
        Ok(conversation) => conversation,
        Err(complaint) => {
            screen.abandon()?;
            return Err(complaint);
        }
    };
    let left: Outcome<_> = runtime.block_on(async {
        conversation.house.hands.recover().await;
        if let Some(background) = screen.background().await
            && look.stand_on(background)
        {
            let config = &conversation.house.models.loaded.config;
            look.dress(&config.display.skin, context);
            screen.dress(look.theme.clone());
        }
        let desk = Desk::new(&conversation, context, &look, settings, history)?;
        if let Some(line) = first {
            desk.begin_with(line).await?;
        }
        let opened = desk.opened().await?;
        let ended = screen.run(&desk, opened).await;
        let goodbye = desk.words().goodbye;
        drop(desk);
        tokio::select! {
            () = conversation.house.settle(LAST_MOMENT) => {}
            // Who does not want to wait for a title need not.
            _ = tokio::signal::ctrl_c() => {}
        }
        let farewell = farewell::of(&conversation, context).await;
        let wished = conversation.put_back.take();
        tell(conversation.close().await.as_slice());
        if let Some(farewell) = farewell? {
            farewell.print(output)?;
        }
        match ended? {
            Ended::Left => output.line(goodbye)?,
            Ended::Terminated(code) => return Err(Complaint::Code(code)),
        }
        Ok(wished)
    });
    super::put_back(left?, runtime, context, output)
}

/// Ends the process before there is a conversation: what is being opened cannot be left halfway, and nothing is lost.
fn end_early(code: u8) {
    #[expect(
        clippy::disallowed_methods,
        reason = "the thread that would return the code waits for what is being opened"
    )]
    std::process::exit(i32::from(code));
}

fn thresholds(config: &Config) -> Thresholds {
    Thresholds {
        newlines: config.paste_collapse_threshold as usize,
        characters: config.paste_collapse_char_threshold as usize,
    }
}

/// What is said below it at first.
fn greeting(conversation: &Conversation) -> Vec<Cell> {
    let warning = conversation.warning.iter();
    let warning = warning.map(|warning| notice(Level::Warn, warning));
    let notes = conversation.notes.iter();
    let notes = notes.map(|note| notice(Level::Info, note));
    let mut greeting: Vec<Cell> = warning.chain(notes).collect();
    if conversation.house.course.route().is_embedded() {
        greeting.push(notice(
            Level::Warn,
            "This is a tiny model that runs inside Hermes, for trying things out. It knows little and uses no \
             tools. For real work choose a model: hermes model",
        ));
    }
    greeting
}

fn notice(level: Level, text: &str) -> Cell {
    Cell::Notice(Notice {
        level,
        text: text.to_owned(),
    })
}

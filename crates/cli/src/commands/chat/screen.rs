//! A conversation on a screen: `hermes` and `hermes chat` at a terminal.

mod complete;
mod desk;
mod look;

use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

use hermes_config::{BusyMode, Config};
use hermes_tui::app::{App, Opened, Settings, WhileBusy};
use hermes_tui::composer::Composer;
use hermes_tui::composer::history::{History, parse};
use hermes_tui::composer::paste::Thresholds;
use hermes_tui::model_label;
use hermes_tui::screen::{Ended, Screen};
use hermes_tui::{Banner, Cell, Context as Filling, Cost, Form, Level, Mcp, Notice, StatusLine};

use super::open::Conversation;
use crate::args::chat::RunArgs;
use crate::complaint::{Complaint, Outcome};
use crate::context::Context;
use crate::output::Output;
use desk::Desk;
use look::Look;

/// How long the end of a conversation waits for its title.
const LAST_MOMENT: Duration = Duration::from_secs(5);
/// What a shell says of a process that was asked to end.
const TERMINATED: u8 = 143;

/// Whether there is a screen to use, and the user wants it.
pub(super) fn wanted(run: &RunArgs, context: &Context) -> bool {
    let dumb = context
        .environment
        .get("TERM")
        .is_none_or(|term| term == "dumb");
    !run.plain && !dumb && std::io::stdin().is_terminal() && std::io::stdout().is_terminal()
}

pub(super) fn run(run: &RunArgs, context: &Context, output: &mut Output) -> Outcome {
    let start = Instant::now();
    let loaded = super::settings(run, context)?;
    let look = Look::of(&loaded.config, context)?;
    let history = context.home()?.path().join(".hermes_history");
    let mut composer = Composer::new(
        History::new(parse(&std::fs::read(&history).unwrap_or_default())),
        thresholds(&loaded.config),
    );
    composer.set_commands(complete::commands());
    let app = App::new(
        look.theme.clone(),
        settings(&loaded.config),
        composer,
        (80, 24),
    );
    let screen = Screen::begin(app, start)?;
    let runtime = super::runtime()?;
    let conversation = match Conversation::open(run, true, loaded, &runtime, context) {
        Ok(conversation) => conversation,
        Err(complaint) => {
            screen.abandon()?;
            return Err(complaint);
        }
    };
    let opened = opened(&conversation, &look);
    runtime.block_on(async {
        conversation.hands.recover().await;
        let desk = Desk::new(&conversation, context, &look, history)?;
        let ended = screen.run(&desk, opened).await;
        let said = desk.session_if_talked();
        conversation.settle(LAST_MOMENT).await;
        conversation.close().await;
        if let Some(id) = said {
            output.line(format!("Go on with: hermes chat --resume {id}"))?;
        }
        match ended? {
            Ended::Left => Ok(()),
            Ended::Terminated => Err(Complaint::Code(TERMINATED)),
        }
    })
}

fn thresholds(config: &Config) -> Thresholds {
    Thresholds {
        newlines: config.paste_collapse_threshold as usize,
        characters: config.paste_collapse_char_threshold as usize,
    }
}

fn settings(config: &Config) -> Settings {
    Settings {
        busy: match config.display.busy_input_mode {
            BusyMode::Interrupt => WhileBusy::Interrupt,
            BusyMode::Queue => WhileBusy::Queue,
            BusyMode::Steer => WhileBusy::Steer,
        },
        show_reasoning: config.display.show_reasoning && config.display.reasoning_full,
        show_usage: false,
        ring: config.display.bell_on_complete,
    }
}

/// What is shown when the conversation is there.
fn opened(conversation: &Conversation, look: &Look) -> Opened {
    let banner = Banner {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        model: model_label(&conversation.model, None),
        vendor: conversation.provider.clone(),
        directory: conversation.directory.display().to_string(),
        session: conversation.session.id().to_string(),
        warning: (!conversation.asks).then(|| "risky commands run without asking".to_owned()),
        ..Banner::default()
    };
    let mut greeting: Vec<Cell> = conversation
        .notes
        .iter()
        .map(|note| notice(Level::Info, note))
        .collect();
    if conversation.embedded {
        greeting.push(notice(
            Level::Warn,
            "This is a tiny model that runs inside Hermes, for trying things out. It knows little and uses no \
             tools. For real work choose a model: hermes model",
        ));
    }
    let columns = crossterm::terminal::size().map_or(80, |(columns, _)| usize::from(columns));
    Opened {
        banner: banner.lines(Form::Compact, columns, &look.theme),
        greeting,
        status: standing(conversation),
    }
}

pub(super) fn notice(level: Level, text: &str) -> Cell {
    Cell::Notice(Notice {
        level,
        text: text.to_owned(),
    })
}

fn standing(conversation: &Conversation) -> StatusLine {
    let limits = conversation.course.route().limits;
    StatusLine {
        model: model_label(&conversation.model, None),
        context: Some(Filling {
            used: 0,
            limit: u64::from(limits.window),
        }),
        compressions: 0,
        prompts: 0,
        processes: 0,
        subagents: 0,
        session: Duration::ZERO,
        turn: None,
        idle: None,
        cost: Cost::Hidden,
        mcp: Mcp::default(),
        warning: (!conversation.asks).then(|| "YOLO".to_owned()),
    }
}

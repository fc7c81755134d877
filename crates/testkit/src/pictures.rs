//! Pictures for the documents: the real program plays a short scene in a terminal, and the screen is drawn.
//!
//! What differs from run to run (where it ran, when, under which id, how long it took) is replaced, so that the
//! same program draws the same bytes.

mod tidy;

use std::path::Path;
use std::time::Duration;

use serde_json::json;

use crate::home::TempHome;
use crate::model_server::{ModelServer, Scenario, text, tool_call};
use crate::pty::{Paper, Screen, Terminal};
use tidy::Tidy;

const LIMIT: Duration = Duration::from_secs(60);
const COLUMNS: u16 = 92;
const ROWS: u16 = 40;
/// Columns of the list of sessions.
const LIST: u16 = 30;
const READY: &str = "ask anything";
/// What the agent changes.
const PLAN: &str =
    "# Garden\n\n- Tomatoes: water every day\n- Beans: water every day\n- Herbs: trim on Sundays\n";

/// A scene to be drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scene {
    /// A question, an edit with its diff, and an answer.
    Conversation,
    /// The same in a light terminal, with a skin for it.
    Light,
    /// A command that needs a yes.
    Approval,
    /// What can be typed.
    Help,
    /// The same conversation with all of the terminal and the list of sessions.
    Full,
    /// What a start looks like, with all that is told then.
    Banner,
}

impl Scene {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Conversation,
        Self::Light,
        Self::Approval,
        Self::Help,
        Self::Full,
        Self::Banner,
    ];

    /// The name of its file, without the ending.
    pub fn name(self) -> &'static str {
        match self {
            Self::Conversation => "conversation",
            Self::Light => "light",
            Self::Approval => "approval",
            Self::Help => "help",
            Self::Full => "full",
            Self::Banner => "banner",
        }
    }

    /// How it is started, behind `hermes chat`.
    fn flag(self) -> Option<&'static str> {
        (self == Self::Full).then_some("--tui")
    }

    fn columns(self) -> u16 {
        match self {
            // The list stands beside the conversation, which keeps its width.
            Self::Full => COLUMNS + LIST,
            _ => COLUMNS,
        }
    }

    fn paper(self) -> Paper {
        match self {
            Self::Light => Paper::Light,
            _ => Paper::Dark,
        }
    }

    fn skin(self) -> &'static str {
        match self {
            Self::Light => "daylight",
            _ => "default",
        }
    }

    fn scenario(self) -> Scenario {
        let scenario = Scenario::new();
        match self {
            Self::Conversation | Self::Light | Self::Full => scenario
                .reply(tool_call(
                    "patch",
                    json!({
                        "path": "plan.md",
                        "old_string": "- Beans: water every day",
                        "new_string": "- Beans: water every other day",
                    }),
                ))
                .reply(text(
                    "Done: the beans are watered **every other day** now. The tomatoes still want it daily, \
                     so Wednesday looks like this:\n\n\
                     1. Tomatoes, early\n2. Herbs, a look\n\n\
                     ```sh\ngrep -c water plan.md   # 2\n```",
                )),
            Self::Approval => scenario.reply(tool_call(
                "terminal",
                json!({"command": "rm -r old-plans && git commit -am 'Clear the shed'"}),
            )),
            Self::Help | Self::Banner => scenario,
        }
    }

    /// Types until there is something to see.
    fn play(self, terminal: &Terminal) -> anyhow::Result<Screen> {
        match self {
            Self::Conversation | Self::Light | Self::Full => {
                terminal.send("Water the beans every other day, please.\r")?;
                terminal.wait_for_text("grep -c water", LIMIT)?;
                terminal.wait_for_text(READY, LIMIT)
            }
            Self::Approval => {
                terminal.send("Clear away the old plans.\r")?;
                terminal.wait_for_text("Allow once", LIMIT)
            }
            Self::Help => {
                terminal.send("/help\r")?;
                terminal.wait_for_text("Esc closes", LIMIT)
            }
            Self::Banner => terminal.wait_for_text("╭─ ⚕", LIMIT),
        }
    }
}

/// What a scene looks like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// The drawing.
    pub svg: String,
    /// What stands in it, row by row.
    pub text: String,
}

/// Plays a scene with the program at this path.
pub fn draw(hermes: &Path, scene: Scene) -> anyhow::Result<Picture> {
    let server = ModelServer::start(scene.scenario().lenient())?;
    let home = TempHome::new()?;
    home.write_config(&format!(
        "model: {{default: sample-model, provider: custom, base_url: '{}', context_length: 200000, api_key: none-needed}}\n\
         auxiliary: {{title_generation: {{enabled: false}}}}\n\
         approvals: {{mode: manual}}\n\
         display: {{skin: {}, compact: {}}}\n",
        server.base_url(),
        scene.skin(),
        scene != Scene::Banner
    ))?;
    home.write_work("plan.md", PLAN)?;
    home.write_work("old-plans/2019.md", "# Garden\n")?;
    let theme = match scene.paper() {
        Paper::Dark => "dark",
        Paper::Light => "light",
    };
    let command = home
        .command(hermes)
        .arg("chat")
        .args(scene.flag())
        .env("TERM", "xterm-256color")
        .env("COLORTERM", "truecolor")
        .env("HERMES_TUI_THEME", theme);
    let terminal = Terminal::spawn(&command, scene.columns(), ROWS)?;
    terminal.wait_for_text(READY, LIMIT)?;
    let screen = scene.play(&terminal)?;
    let tidy = Tidy::new(home.workspace());
    let rows = screen.rows();
    let rows = rows.iter().map(|row| tidy.row(row).trim_end().to_owned());
    let text: Vec<String> = rows.collect();
    Ok(Picture {
        svg: screen.svg(scene.paper(), |row| tidy.row(row)),
        text: text.join("\n").trim_end().to_owned(),
    })
}

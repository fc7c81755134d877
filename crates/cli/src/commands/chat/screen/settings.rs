//! What the settings say about the screen.

use std::sync::Arc;
use std::time::Duration;

use hermes_config::{
    BusyMode, Config, DetailsMode, Interface, MarkdownMode, MouseTracking, StatusBar as Bar,
    StatusIndicator, ToolProgress, Variable,
};
use hermes_core::Clock;
use hermes_tui::Marks;
use hermes_tui::app::{
    Details, Indicator, Labels, Mode, Mouse, Preview, Sections, Settings, Stamps, StatusBar,
    Thoughts, ToolLines, WhileBusy,
};

use super::desk::BUSY_HINT;
use super::files;
use crate::args::chat::RunArgs;
use crate::context::Context;

/// A picture of the passing time more often than this is no use to anybody.
const OFTENEST: Duration = Duration::from_millis(100);

/// How long a window of tmux must rest before it is drawn. Its size is told every quarter of a second at most.
const REST_IN_TMUX: Duration = Duration::from_millis(300);

/// How the screen behaves.
pub(super) fn of(run: &RunArgs, config: &Config, context: &Context) -> Settings {
    let display = &config.display;
    let mode = mode(run, config, context);
    let usual = Settings::default();
    // The whole screen is drawn anew anyway, and leaves nothing behind.
    let rest = match mode {
        Mode::Inline if in_tmux(context) => REST_IN_TMUX,
        Mode::Inline | Mode::Full => usual.rest,
    };
    Settings {
        mode,
        rest,
        busy: match display.busy_input_mode {
            BusyMode::Interrupt => WhileBusy::Interrupt,
            BusyMode::Queue => WhileBusy::Queue,
            BusyMode::Steer => WhileBusy::Steer,
        },
        thoughts: thoughts(config),
        show_cost: display.show_cost,
        ring: display.bell_on_complete,
        explain_busy: !config.onboarding.seen.contains_key(BUSY_HINT),
        status: match display.tui_statusbar {
            Some(Bar::Top) => StatusBar::Top,
            Some(Bar::Bottom) | None => StatusBar::Bottom,
            Some(Bar::Off) => StatusBar::Off,
        },
        mouse: mouse(display.mouse_tracking),
        marks: marks(config),
        tools: tool_lines(display.tool_progress),
        labels: match display.friendly_tool_labels {
            true => Labels::Friendly,
            false => Labels::Names,
        },
        tool_preview: Some(display.tool_preview_length as usize).filter(|length| *length > 0),
        preview: Preview {
            first: display.user_message_preview.first_lines as usize,
            last: display.user_message_preview.last_lines as usize,
        },
        keep_prompts: display.persist_prompts,
        diffs: display.inline_diffs,
        sections: sections(config),
        timestamps: display.timestamps,
        stamps: Some(stamps(context.clock(), &display.timestamp_format)),
        paste_names: files::paste_names(context),
        paste_texts: files::paste_texts(context),
        burst: config.paste_collapse_threshold_fallback as usize,
        streaming: display.streaming,
        commentary: display.show_commentary,
        explain: display.turn_completion_explainer,
        indicator: indicator(display.tui_status_indicator),
        refresh: Some(display.cli_refresh_interval)
            .filter(|every| !every.is_zero())
            .map(|every| every.max(OFTENEST)),
        kept_lines: match display.persistent_output {
            true => display.persistent_output_max_lines as usize,
            false => 0,
        },
        title: mode == Mode::Full,
        ..usual
    }
}

/// Also at the other end of ssh, where only the terminal's kind tells.
fn in_tmux(context: &Context) -> bool {
    let filled = |variable| context.environment.filled(variable);
    let kind = filled(&Variable::TERM).unwrap_or_default();
    filled(&Variable::TMUX).is_some() || kind.starts_with("tmux") || kind.starts_with("screen")
}

/// What moves in the bar while the agent works.
fn indicator(set: StatusIndicator) -> Indicator {
    match set {
        StatusIndicator::Kaomoji => Indicator::Kaomoji,
        StatusIndicator::Emoji => Indicator::Emoji,
        StatusIndicator::Unicode => Indicator::Unicode,
        StatusIndicator::Ascii => Indicator::Ascii,
    }
}

/// Which movements of the mouse the terminal tells.
fn mouse(tracking: Option<MouseTracking>) -> Mouse {
    match tracking {
        Some(MouseTracking::All) => Mouse::All,
        Some(MouseTracking::Buttons) => Mouse::Buttons,
        Some(MouseTracking::Wheel) => Mouse::Wheel,
        Some(MouseTracking::Off) => Mouse::Off,
        None => Mouse::default(),
    }
}

/// What becomes of the marks in answers.
fn marks(config: &Config) -> Marks {
    match config.display.final_response_markdown {
        MarkdownMode::Render => Marks::Render,
        MarkdownMode::Strip => Marks::Strip,
        MarkdownMode::Raw => Marks::Keep,
    }
}

/// How much of the terminal is used: what the command line, the environment and the settings say, in this order.
fn mode(run: &RunArgs, config: &Config, context: &Context) -> Mode {
    let asked = context.environment.filled(&Variable::HERMES_TUI);
    let full = match (run.tui, run.cli) {
        (true, _) => true,
        (_, true) => false,
        _ => match asked {
            Some(value) => value != "0",
            None => config.display.interface == Interface::Tui,
        },
    };
    match full {
        true => Mode::Full,
        false => Mode::Inline,
    }
}

/// How much is shown of what the model thinks.
fn thoughts(config: &Config) -> Thoughts {
    Thoughts {
        hidden: !config.display.show_reasoning,
        whole: config.display.reasoning_full,
    }
}

fn sections(config: &Config) -> Sections {
    let details = |mode: &DetailsMode| match mode {
        DetailsMode::Hidden => Details::Hidden,
        DetailsMode::Collapsed => Details::Collapsed,
        DetailsMode::Expanded => Details::Expanded,
    };
    let display = &config.display;
    let thoughts = thoughts(config);
    let mut sections = match &display.details_mode {
        Some(mode) => Sections::all(details(mode)),
        None => Sections {
            thinking: thoughts.details(),
            ..Sections::default()
        },
    };
    if thoughts.hidden {
        sections.thinking = Details::Hidden;
    }
    for (name, mode) in &display.sections {
        if let Some(section) = sections.named(name) {
            *section = details(mode);
        }
    }
    sections
}

/// Times of day, counted from now.
fn stamps(clock: &Arc<dyn Clock>, form: &str) -> Stamps {
    let (start, form) = (clock.local(), form.to_owned());
    Stamps::new(move |since: Duration| {
        let time = start.checked_add(since).unwrap_or_else(|_| start.clone());
        // A form that cannot be written is a setting with a fault, not a reason to stop.
        jiff::fmt::strtime::format(&form, &time).unwrap_or_default()
    })
}

/// What is shown of calls.
pub(in crate::commands::chat) fn tool_lines(progress: ToolProgress) -> ToolLines {
    match progress {
        ToolProgress::All => ToolLines::All,
        ToolProgress::New => ToolLines::New,
        ToolProgress::Verbose => ToolLines::Verbose,
        ToolProgress::Log | ToolProgress::Off => ToolLines::Off,
    }
}

//! The table of variables the program reads.

use crate::value::KeyPath;

/// A variable the program reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Variable {
    pub name: &'static str,
    pub about: &'static str,
    pub role: Role,
}

/// What a variable stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Read by the program itself; no setting of that meaning exists.
    Process,
    /// Stands above the files, for one run.
    Override(&'static str),
    /// Fills in what no file says.
    Fallback(&'static str),
}

impl Variable {
    const fn new(name: &'static str, about: &'static str, role: Role) -> Self {
        Self { name, about, role }
    }

    /// The setting it stands for.
    pub fn key(&self) -> Option<KeyPath> {
        match self.role {
            Role::Process => None,
            Role::Override(key) | Role::Fallback(key) => KeyPath::parse(key),
        }
    }

    /// The variable that fills in a setting, such as `TERMINAL_TIMEOUT` for `terminal.timeout`.
    pub fn filling(key: &KeyPath) -> Option<&'static Self> {
        VARIABLES.iter().find(|variable| match variable.role {
            Role::Fallback(name) => KeyPath::parse(name).as_ref() == Some(key),
            Role::Process | Role::Override(_) => false,
        })
    }
}

/// Every variable the program reads, besides the keys of providers and services.
pub const VARIABLES: &[Variable] = &[
    Variable::new(
        "HERMES_HOME",
        "Home directory of the program",
        Role::Process,
    ),
    Variable::new("HOME", "Home directory of the user", Role::Process),
    Variable::new(
        "SUDO_USER",
        "User who called sudo, whose profiles are looked at",
        Role::Process,
    ),
    Variable::new(
        "HERMES_MANAGED",
        "Says that a package manager owns the installation",
        Role::Process,
    ),
    Variable::new(
        "HERMES_MANAGED_DIR",
        "Directory of the settings an administrator fixed",
        Role::Process,
    ),
    Variable::new(
        "HERMES_IGNORE_USER_CONFIG",
        "Leaves config.yaml out for one run",
        Role::Process,
    ),
    Variable::new("NO_COLOR", "Turns colours off", Role::Process),
    Variable::new(
        "HERMES_IGNORE_RULES",
        "Leaves AGENTS.md, SOUL.md and what is remembered out for one run",
        Role::Process,
    ),
    Variable::new(
        "HERMES_YOLO_MODE",
        "Asks for no approvals; hard blocks still hold",
        Role::Process,
    ),
    Variable::new(
        "HERMES_SESSION_SOURCE",
        "What conversations are filed under where --source says nothing",
        Role::Process,
    ),
    Variable::new(
        "HERMES_TUI",
        "Uses the whole screen for a conversation; 0 does not",
        Role::Process,
    ),
    Variable::new(
        "HERMES_TUI_THEME",
        "light or dark: what the terminal's text stands on",
        Role::Process,
    ),
    Variable::new(
        "HERMES_TUI_RESUME",
        "Begins the whole screen with the latest conversation, or the one it names; 0 does not",
        Role::Process,
    ),
    Variable::new(
        "HERMES_DUMP_REQUESTS",
        "Writes every request to a model into cache/requests, with known secrets masked",
        Role::Process,
    ),
    Variable::new(
        "HERMES_API_TIMEOUT",
        "Seconds one call to a model may take",
        Role::Process,
    ),
    Variable::new(
        "HERMES_STREAM_STALE_TIMEOUT",
        "Seconds a model may be silent in the middle of an answer",
        Role::Process,
    ),
    Variable::new(
        "HERMES_STREAM_READ_TIMEOUT",
        "Seconds a connection to a model may carry nothing at all",
        Role::Process,
    ),
    Variable::new(
        "HERMES_API_CALL_STALE_TIMEOUT",
        "Seconds to wait for an answer that comes as a whole, where a provider cannot stream",
        Role::Process,
    ),
    Variable::new(
        "HERMES_STREAM_STALE_GIVEUP",
        "Silent answers in a row after which a model is not asked again; 0 is never",
        Role::Process,
    ),
    Variable::new(
        "HERMES_STREAM_RETRIES",
        "Further calls after one that broke off before it said anything",
        Role::Process,
    ),
    Variable::new(
        "HERMES_CONCURRENT_TOOL_TIMEOUT_S",
        "Seconds tools may run side by side, all together; 0 is no limit",
        Role::Process,
    ),
    Variable::new(
        "HERMES_PORTAL_BASE_URL",
        "Where to sign in to Nous",
        Role::Process,
    ),
    Variable::new(
        "HERMES_INFERENCE_MODEL",
        "Model for one run",
        Role::Override("model.default"),
    ),
    Variable::new(
        "HERMES_INFERENCE_PROVIDER",
        "Provider for one run",
        Role::Override("model.provider"),
    ),
    Variable::new("HERMES_TIMEZONE", "Time zone", Role::Override("timezone")),
    Variable::new(
        "HERMES_LANGUAGE",
        "Language of the interface",
        Role::Override("display.language"),
    ),
    Variable::new(
        "HERMES_REDACT_SECRETS",
        "Hides secrets in output",
        Role::Override("security.redact_secrets"),
    ),
    Variable::new(
        "HERMES_ALLOW_PRIVATE_URLS",
        "Lets web tools reach private addresses",
        Role::Override("security.allow_private_urls"),
    ),
    Variable::new(
        "TIRITH_ENABLED",
        "Has commands checked by Tirith",
        Role::Override("security.tirith_enabled"),
    ),
    Variable::new(
        "TIRITH_BIN",
        "Program of Tirith",
        Role::Override("security.tirith_path"),
    ),
    Variable::new(
        "TIRITH_TIMEOUT",
        "Seconds Tirith may take",
        Role::Override("security.tirith_timeout"),
    ),
    Variable::new(
        "TIRITH_FAIL_OPEN",
        "Lets commands run when Tirith gives no answer",
        Role::Override("security.tirith_fail_open"),
    ),
    Variable::new(
        "HERMES_ACCEPT_HOOKS",
        "Runs shell hooks without asking",
        Role::Override("hooks_auto_accept"),
    ),
    Variable::new(
        "HERMES_EPHEMERAL_SYSTEM_PROMPT",
        "Text added to the system prompt",
        Role::Override("agent.system_prompt"),
    ),
    Variable::new(
        "HERMES_PREFILL_MESSAGES_FILE",
        "File with messages every session starts with",
        Role::Override("prefill_messages_file"),
    ),
    Variable::new(
        "HERMES_VERIFY_ON_STOP",
        "Sends the model back to run a check after it changed code",
        Role::Override("agent.verify_on_stop"),
    ),
    Variable::new(
        "HERMES_ENVIRONMENT_HINT",
        "What the model should know of the machine",
        Role::Override("agent.environment_hint"),
    ),
    Variable::new(
        "HERMES_OPENROUTER_CACHE",
        "Lets OpenRouter answer a repeated request from its cache",
        Role::Override("openrouter.response_cache"),
    ),
    Variable::new(
        "HERMES_OPENROUTER_CACHE_TTL",
        "Seconds such an answer is kept",
        Role::Override("openrouter.response_cache_ttl"),
    ),
    Variable::new(
        "HERMES_MODEL",
        "Model when no file names one",
        Role::Fallback("model.default"),
    ),
    Variable::new(
        "HERMES_MAX_TOKENS",
        "Most tokens of one answer",
        Role::Fallback("model.max_tokens"),
    ),
    Variable::new(
        "HERMES_MAX_ITERATIONS",
        "Most model calls in one turn",
        Role::Fallback("agent.max_turns"),
    ),
    Variable::new(
        "HERMES_TOOL_PROGRESS_MODE",
        "How much of tool calls is shown",
        Role::Fallback("display.tool_progress"),
    ),
    Variable::new(
        "TERMINAL_ENV",
        "Where commands run",
        Role::Fallback("terminal.backend"),
    ),
    Variable::new(
        "TERMINAL_MODAL_MODE",
        "Whose account Modal sandboxes run on",
        Role::Fallback("terminal.modal_mode"),
    ),
    Variable::new(
        "TERMINAL_CWD",
        "Directory commands start in",
        Role::Fallback("terminal.cwd"),
    ),
    Variable::new(
        "TERMINAL_TIMEOUT",
        "Seconds a command may run",
        Role::Fallback("terminal.timeout"),
    ),
    Variable::new(
        "TERMINAL_MAX_FOREGROUND_TIMEOUT",
        "Most seconds the model may ask for in the foreground",
        Role::Fallback("terminal.max_foreground_timeout"),
    ),
    Variable::new(
        "TERMINAL_LIFETIME_SECONDS",
        "Seconds a sandbox may be idle",
        Role::Fallback("terminal.lifetime_seconds"),
    ),
    Variable::new(
        "TERMINAL_DOCKER_IMAGE",
        "Image of Docker containers",
        Role::Fallback("terminal.docker_image"),
    ),
    Variable::new(
        "TERMINAL_DOCKER_FORWARD_ENV",
        "Variables handed into Docker containers",
        Role::Fallback("terminal.docker_forward_env"),
    ),
    Variable::new(
        "TERMINAL_SINGULARITY_IMAGE",
        "Image of Singularity containers",
        Role::Fallback("terminal.singularity_image"),
    ),
    Variable::new(
        "TERMINAL_MODAL_IMAGE",
        "Image of Modal sandboxes",
        Role::Fallback("terminal.modal_image"),
    ),
    Variable::new(
        "TERMINAL_DAYTONA_IMAGE",
        "Image of Daytona sandboxes",
        Role::Fallback("terminal.daytona_image"),
    ),
    Variable::new(
        "TERMINAL_SSH_HOST",
        "Host of the SSH backend",
        Role::Fallback("terminal.ssh_host"),
    ),
    Variable::new(
        "TERMINAL_SSH_USER",
        "User of the SSH backend",
        Role::Fallback("terminal.ssh_user"),
    ),
    Variable::new(
        "TERMINAL_SSH_PORT",
        "Port of the SSH backend",
        Role::Fallback("terminal.ssh_port"),
    ),
    Variable::new(
        "TERMINAL_SSH_KEY",
        "Key file of the SSH backend",
        Role::Fallback("terminal.ssh_key"),
    ),
    Variable::new(
        "TERMINAL_CONTAINER_CPU",
        "Processors of a container",
        Role::Fallback("terminal.container_cpu"),
    ),
    Variable::new(
        "TERMINAL_CONTAINER_MEMORY",
        "Megabytes of memory of a container",
        Role::Fallback("terminal.container_memory"),
    ),
    Variable::new(
        "TERMINAL_CONTAINER_DISK",
        "Megabytes of disk of a container",
        Role::Fallback("terminal.container_disk"),
    ),
    Variable::new(
        "TERMINAL_CONTAINER_PERSISTENT",
        "Keeps the files of a container",
        Role::Fallback("terminal.container_persistent"),
    ),
    Variable::new(
        "TERMINAL_DOCKER_VOLUMES",
        "Volumes of Docker containers, as a JSON list",
        Role::Fallback("terminal.docker_volumes"),
    ),
    Variable::new(
        "TERMINAL_DOCKER_ENV",
        "Variables set in Docker containers, as JSON",
        Role::Fallback("terminal.docker_env"),
    ),
    Variable::new(
        "TERMINAL_DOCKER_MOUNT_CWD_TO_WORKSPACE",
        "Mounts the start directory into the container",
        Role::Fallback("terminal.docker_mount_cwd_to_workspace"),
    ),
    Variable::new(
        "TERMINAL_DOCKER_NETWORK",
        "Lets Docker containers reach the network",
        Role::Fallback("terminal.docker_network"),
    ),
    Variable::new(
        "TERMINAL_DOCKER_EXTRA_ARGS",
        "More arguments of docker run, as a JSON list",
        Role::Fallback("terminal.docker_extra_args"),
    ),
    Variable::new(
        "TERMINAL_DOCKER_RUN_AS_HOST_USER",
        "Runs as your own user in Docker containers",
        Role::Fallback("terminal.docker_run_as_host_user"),
    ),
    Variable::new(
        "TERMINAL_DOCKER_PERSIST_ACROSS_PROCESSES",
        "Keeps a Docker container for the next process",
        Role::Fallback("terminal.docker_persist_across_processes"),
    ),
    Variable::new(
        "TERMINAL_DOCKER_ORPHAN_REAPER",
        "Removes Docker containers nobody owns",
        Role::Fallback("terminal.docker_orphan_reaper"),
    ),
    Variable::new(
        "TERMINAL_SANDBOX_DIR",
        "Directory of sandboxes",
        Role::Fallback("terminal.sandbox_dir"),
    ),
    Variable::new(
        "TERMINAL_HOME_MODE",
        "Home directory that commands get: auto, real or profile",
        Role::Fallback("terminal.home_mode"),
    ),
    Variable::new(
        "TERMINAL_ENV_PASSTHROUGH",
        "Variables that commands see, as a JSON list",
        Role::Fallback("terminal.env_passthrough"),
    ),
    Variable::new(
        "TERMINAL_CREDENTIAL_FILES",
        "Files of the home that sandboxes may read, as a JSON list",
        Role::Fallback("terminal.credential_files"),
    ),
    Variable::new(
        "TERMINAL_SHELL_INIT_FILES",
        "Files a shell reads when it starts, as a JSON list",
        Role::Fallback("terminal.shell_init_files"),
    ),
    Variable::new(
        "TERMINAL_AUTO_SOURCE_BASHRC",
        "Reads the user's shell files at the start",
        Role::Fallback("terminal.auto_source_bashrc"),
    ),
    Variable::new(
        "TERMINAL_DAEMON_TERM_GRACE_SECONDS",
        "Seconds a process in the background gets to end before it is killed",
        Role::Fallback("terminal.daemon_term_grace_seconds"),
    ),
    Variable::new(
        "TERMINAL_PERSISTENT_SHELL",
        "Keeps one shell for all commands",
        Role::Fallback("terminal.persistent_shell"),
    ),
    Variable::new(
        "AUXILIARY_VISION_PROVIDER",
        "Provider of the vision helper",
        Role::Fallback("auxiliary.vision.provider"),
    ),
    Variable::new(
        "AUXILIARY_VISION_MODEL",
        "Model of the vision helper",
        Role::Fallback("auxiliary.vision.model"),
    ),
    Variable::new(
        "AUXILIARY_VISION_BASE_URL",
        "Address of the vision helper",
        Role::Fallback("auxiliary.vision.base_url"),
    ),
    Variable::new(
        "AUXILIARY_VISION_API_KEY",
        "Key of the vision helper",
        Role::Fallback("auxiliary.vision.api_key"),
    ),
    Variable::new(
        "AUXILIARY_WEB_EXTRACT_PROVIDER",
        "Provider of the web_extract helper",
        Role::Fallback("auxiliary.web_extract.provider"),
    ),
    Variable::new(
        "AUXILIARY_WEB_EXTRACT_MODEL",
        "Model of the web_extract helper",
        Role::Fallback("auxiliary.web_extract.model"),
    ),
    Variable::new(
        "AUXILIARY_WEB_EXTRACT_BASE_URL",
        "Address of the web_extract helper",
        Role::Fallback("auxiliary.web_extract.base_url"),
    ),
    Variable::new(
        "AUXILIARY_WEB_EXTRACT_API_KEY",
        "Key of the web_extract helper",
        Role::Fallback("auxiliary.web_extract.api_key"),
    ),
    Variable::new(
        "AUXILIARY_APPROVAL_PROVIDER",
        "Provider of the approval helper",
        Role::Fallback("auxiliary.approval.provider"),
    ),
    Variable::new(
        "AUXILIARY_APPROVAL_MODEL",
        "Model of the approval helper",
        Role::Fallback("auxiliary.approval.model"),
    ),
    Variable::new(
        "AUXILIARY_APPROVAL_BASE_URL",
        "Address of the approval helper",
        Role::Fallback("auxiliary.approval.base_url"),
    ),
    Variable::new(
        "AUXILIARY_APPROVAL_API_KEY",
        "Key of the approval helper",
        Role::Fallback("auxiliary.approval.api_key"),
    ),
    Variable::new(
        "OSV_ENDPOINT",
        "Address of the list of malicious packages that MCP servers are checked against",
        Role::Process,
    ),
    Variable::new(
        "HERMES_BUNDLED_SKILLS",
        "Directory of skills in place of those that come with the program",
        Role::Process,
    ),
    Variable::new(
        "HERMES_BUNDLES_DIR",
        "Directory of bundles of skills",
        Role::Process,
    ),
    Variable::new(
        "HERMES_KANBAN_TASK",
        "Task on the board this run works on",
        Role::Process,
    ),
    Variable::new(
        "TERMUX_VERSION",
        "Set on telephones, where other skills work",
        Role::Process,
    ),
    Variable::new(
        "HERMES_SKILLS_INDEX_URL",
        "Address of the list of skills",
        Role::Override("skills.hub.index_url"),
    ),
    Variable::new(
        "HERMES_SKILLS_SH_URL",
        "Address of skills.sh",
        Role::Override("skills.hub.skills_sh_url"),
    ),
    Variable::new(
        "HERMES_SKILLS_GITHUB_URL",
        "Address of GitHub's API for skills",
        Role::Override("skills.hub.github_url"),
    ),
    Variable::new(
        "HERMES_SKILLS_CLAWHUB_URL",
        "Address of ClawHub",
        Role::Override("skills.hub.clawhub_url"),
    ),
    Variable::new(
        "HERMES_SKILLS_LOBEHUB_URL",
        "Address of LobeHub",
        Role::Override("skills.hub.lobehub_url"),
    ),
    Variable::new(
        "HERMES_SKILLS_BROWSE_SH_URL",
        "Address of browse.sh",
        Role::Override("skills.hub.browse_sh_url"),
    ),
    Variable::new(
        "HERMES_OPTIONAL_SKILLS",
        "Directory of the official skills that are not installed from the start",
        Role::Process,
    ),
    Variable::new(
        "BROWSER",
        "Programs that open a login page, separated by colons",
        Role::Process,
    ),
    Variable::new(
        "DISPLAY",
        "Says that a desktop is there to open a login page on",
        Role::Process,
    ),
    Variable::new("WAYLAND_DISPLAY", "The same for Wayland", Role::Process),
    Variable::new(
        "SSH_CONNECTION",
        "Says that the desktop is elsewhere",
        Role::Process,
    ),
    Variable::new("SSH_CLIENT", "The same", Role::Process),
    Variable::new("SSH_TTY", "The same", Role::Process),
];

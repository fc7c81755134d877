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
    /// Read by the program itself, from the environment alone; no setting of that meaning exists.
    Process,
    /// As `Process`, and `.env` may hold it too.
    Kept,
    /// Stands above the files, for one run.
    Override(&'static str),
    /// Fills in what no file says.
    Fallback(&'static str),
}

impl Variable {
    /// The setting it stands for.
    pub fn key(&self) -> Option<KeyPath> {
        match self.role {
            Role::Process | Role::Kept => None,
            Role::Override(key) | Role::Fallback(key) => KeyPath::parse(key),
        }
    }

    /// The variable that fills in a setting, such as `TERMINAL_TIMEOUT` for `terminal.timeout`.
    pub fn filling(key: &KeyPath) -> Option<&'static Self> {
        VARIABLES.iter().find(|variable| match variable.role {
            Role::Fallback(name) => KeyPath::parse(name).as_ref() == Some(key),
            Role::Process | Role::Kept | Role::Override(_) => false,
        })
    }
}

/// Declares each as a constant of `Variable`, by which alone it can be read, and puts all into one table.
macro_rules! variables {
    ($( $constant:ident $([$name:literal])? $role:ident $(($key:literal))? : $about:literal; )*) => {
        impl Variable {
            $(
                #[doc = $about]
                pub const $constant: Self = Self {
                    name: variables!(@name $constant $($name)?),
                    about: $about,
                    role: Role::$role $(($key))?,
                };
            )*
        }

        /// Every variable the program reads, besides the keys and addresses of providers and services that it knows
        /// by tables of their own.
        pub const VARIABLES: &[Variable] = &[ $( Variable::$constant ),* ];
    };
    (@name $constant:ident) => { stringify!($constant) };
    (@name $constant:ident $name:literal) => { $name };
}

variables! {
    HERMES_HOME Process: "Home directory of the program";
    HOME Process: "Home directory of the user";
    PATH Process: "Directories that programs are found in";
    TMPDIR Process: "Directory for files that nobody keeps";
    TZ Process: "Time zone where `timezone` names none";
    USER Process: "Name of the user";
    SUDO_USER Process: "User who called sudo, whose profiles are looked at";
    HERMES_MANAGED Process: "Says that a package manager owns the installation";
    HERMES_MANAGED_DIR Process: "Directory of the settings an administrator fixed";
    HERMES_IGNORE_USER_CONFIG Process: "Leaves config.yaml out for one run";
    NO_COLOR Process: "Turns colours off";
    HERMES_IGNORE_RULES Process: "Leaves AGENTS.md, SOUL.md and what is remembered out for one run";
    HERMES_SAFE_MODE Process: "Leaves out the user's own settings, rules and servers for one run";
    HERMES_YOLO_MODE Process: "Asks for no approvals; hard blocks still hold";
    HERMES_SESSION_SOURCE Process: "What conversations are filed under where --source says nothing";
    HERMES_TUI Process: "Uses the whole screen for a conversation; 0 does not";
    HERMES_TUI_THEME Process: "light or dark: what the terminal's text stands on";
    HERMES_TUI_RESUME Process: "Begins the whole screen with the latest conversation, or the one it names; 0 does not";
    TERM Process: "What the terminal can show";
    TMUX Process: "Inside tmux a window that is resized is drawn a little later";
    COLORTERM Process: "truecolor: the terminal shows all colours";
    COLORFGBG Process: "Colours of the terminal, of which the last tells whether it is light or dark";
    COLUMNS Process: "Width of what `insights` prints";
    VISUAL Process: "Editor for settings and long messages";
    EDITOR Process: "The same where `VISUAL` names none";
    HERMES_DUMP_REQUESTS Process: "Writes every request to a model into cache/requests, with known secrets masked";
    HERMES_API_TIMEOUT Kept: "Seconds one call to a model may take";
    HERMES_STREAM_STALE_TIMEOUT Kept: "Seconds a model may be silent in the middle of an answer";
    HERMES_STREAM_READ_TIMEOUT Kept: "Seconds a connection to a model may carry nothing at all";
    HERMES_API_CALL_STALE_TIMEOUT Kept: "Seconds to wait for an answer that comes as a whole, where a provider cannot stream";
    HERMES_STREAM_STALE_GIVEUP Kept: "Silent answers in a row after which a model is not asked again; 0 is never";
    HERMES_STREAM_RETRIES Kept: "Further calls after one that broke off before it said anything";
    HERMES_CONCURRENT_TOOL_TIMEOUT_S Kept: "Seconds tools may run side by side, all together; 0 is no limit";
    HERMES_PORTAL_BASE_URL Kept: "Where to sign in to Nous";
    HERMES_INFERENCE_MODEL Override("model.default"): "Model for one run";
    HERMES_INFERENCE_PROVIDER Override("model.provider"): "Provider for one run";
    HERMES_TIMEZONE Override("timezone"): "Time zone";
    HERMES_LANGUAGE Override("display.language"): "Language of the interface";
    HERMES_REDACT_SECRETS Override("security.redact_secrets"): "Hides secrets in output";
    HERMES_ALLOW_PRIVATE_URLS Override("security.allow_private_urls"): "Lets web tools reach private addresses";
    TIRITH_ENABLED Override("security.tirith_enabled"): "Has commands checked by Tirith";
    TIRITH_BIN Override("security.tirith_path"): "Program of Tirith";
    TIRITH_TIMEOUT Override("security.tirith_timeout"): "Seconds Tirith may take";
    TIRITH_FAIL_OPEN Override("security.tirith_fail_open"): "Lets commands run when Tirith gives no answer";
    HERMES_ACCEPT_HOOKS Override("hooks_auto_accept"): "Runs shell hooks without asking";
    HERMES_EPHEMERAL_SYSTEM_PROMPT Override("agent.system_prompt"): "Text added to the system prompt";
    HERMES_PREFILL_MESSAGES_FILE Override("prefill_messages_file"): "File with messages every session starts with";
    HERMES_VERIFY_ON_STOP Override("agent.verify_on_stop"): "Sends the model back to run a check after it changed code";
    HERMES_ENVIRONMENT_HINT Override("agent.environment_hint"): "What the model should know of the machine";
    HERMES_OPENROUTER_CACHE Override("openrouter.response_cache"): "Lets OpenRouter answer a repeated request from its cache";
    HERMES_OPENROUTER_CACHE_TTL Override("openrouter.response_cache_ttl"): "Seconds such an answer is kept";
    HERMES_MODEL Fallback("model.default"): "Model when no file names one";
    HERMES_MAX_TOKENS Fallback("model.max_tokens"): "Most tokens of one answer";
    HERMES_MAX_ITERATIONS Fallback("agent.max_turns"): "Most model calls in one turn";
    HERMES_TOOL_PROGRESS Kept: "Older spelling of that, which `hermes config migrate` takes over";
    HERMES_TOOL_PROGRESS_MODE Fallback("display.tool_progress"): "How much of tool calls is shown";
    TERMINAL_ENV Fallback("terminal.backend"): "Where commands run";
    TERMINAL_MODAL_MODE Fallback("terminal.modal_mode"): "Whose account Modal sandboxes run on";
    TERMINAL_CWD Fallback("terminal.cwd"): "Directory commands start in";
    TERMINAL_TIMEOUT Fallback("terminal.timeout"): "Seconds a command may run";
    TERMINAL_MAX_FOREGROUND_TIMEOUT Fallback("terminal.max_foreground_timeout"): "Most seconds the model may ask for in the foreground";
    TERMINAL_LIFETIME_SECONDS Fallback("terminal.lifetime_seconds"): "Seconds a sandbox may be idle";
    TERMINAL_DOCKER_IMAGE Fallback("terminal.docker_image"): "Image of Docker containers";
    TERMINAL_DOCKER_FORWARD_ENV Fallback("terminal.docker_forward_env"): "Variables handed into Docker containers";
    TERMINAL_SINGULARITY_IMAGE Fallback("terminal.singularity_image"): "Image of Singularity containers";
    TERMINAL_MODAL_IMAGE Fallback("terminal.modal_image"): "Image of Modal sandboxes";
    TERMINAL_DAYTONA_IMAGE Fallback("terminal.daytona_image"): "Image of Daytona sandboxes";
    TERMINAL_SSH_HOST Fallback("terminal.ssh_host"): "Host of the SSH backend";
    TERMINAL_SSH_USER Fallback("terminal.ssh_user"): "User of the SSH backend";
    TERMINAL_SSH_PORT Fallback("terminal.ssh_port"): "Port of the SSH backend";
    TERMINAL_SSH_KEY Fallback("terminal.ssh_key"): "Key file of the SSH backend";
    TERMINAL_CONTAINER_CPU Fallback("terminal.container_cpu"): "Processors of a container";
    TERMINAL_CONTAINER_MEMORY Fallback("terminal.container_memory"): "Megabytes of memory of a container";
    TERMINAL_CONTAINER_DISK Fallback("terminal.container_disk"): "Megabytes of disk of a container";
    TERMINAL_CONTAINER_PERSISTENT Fallback("terminal.container_persistent"): "Keeps the files of a container";
    TERMINAL_DOCKER_VOLUMES Fallback("terminal.docker_volumes"): "Volumes of Docker containers, as a JSON list";
    TERMINAL_DOCKER_ENV Fallback("terminal.docker_env"): "Variables set in Docker containers, as JSON";
    TERMINAL_DOCKER_MOUNT_CWD_TO_WORKSPACE Fallback("terminal.docker_mount_cwd_to_workspace"): "Mounts the start directory into the container";
    TERMINAL_DOCKER_NETWORK Fallback("terminal.docker_network"): "Lets Docker containers reach the network";
    TERMINAL_DOCKER_EXTRA_ARGS Fallback("terminal.docker_extra_args"): "More arguments of docker run, as a JSON list";
    TERMINAL_DOCKER_RUN_AS_HOST_USER Fallback("terminal.docker_run_as_host_user"): "Runs as your own user in Docker containers";
    TERMINAL_DOCKER_PERSIST_ACROSS_PROCESSES Fallback("terminal.docker_persist_across_processes"): "Keeps a Docker container for the next process";
    TERMINAL_DOCKER_ORPHAN_REAPER Fallback("terminal.docker_orphan_reaper"): "Removes Docker containers nobody owns";
    TERMINAL_SANDBOX_DIR Fallback("terminal.sandbox_dir"): "Directory of sandboxes";
    TERMINAL_HOME_MODE Fallback("terminal.home_mode"): "Home directory that commands get: auto, real or profile";
    TERMINAL_ENV_PASSTHROUGH Fallback("terminal.env_passthrough"): "Variables that commands see, as a JSON list";
    TERMINAL_CREDENTIAL_FILES Fallback("terminal.credential_files"): "Files of the home that sandboxes may read, as a JSON list";
    TERMINAL_SHELL_INIT_FILES Fallback("terminal.shell_init_files"): "Files a shell reads when it starts, as a JSON list";
    TERMINAL_AUTO_SOURCE_BASHRC Fallback("terminal.auto_source_bashrc"): "Reads the user's shell files at the start";
    TERMINAL_DAEMON_TERM_GRACE_SECONDS Fallback("terminal.daemon_term_grace_seconds"): "Seconds a process in the background gets to end before it is killed";
    TERMINAL_PERSISTENT_SHELL Fallback("terminal.persistent_shell"): "Keeps one shell for all commands";
    AUXILIARY_VISION_PROVIDER Fallback("auxiliary.vision.provider"): "Provider of the vision helper";
    AUXILIARY_VISION_MODEL Fallback("auxiliary.vision.model"): "Model of the vision helper";
    AUXILIARY_VISION_BASE_URL Fallback("auxiliary.vision.base_url"): "Address of the vision helper";
    AUXILIARY_VISION_API_KEY Fallback("auxiliary.vision.api_key"): "Key of the vision helper";
    AUXILIARY_WEB_EXTRACT_PROVIDER Fallback("auxiliary.web_extract.provider"): "Provider of the web_extract helper";
    AUXILIARY_WEB_EXTRACT_MODEL Fallback("auxiliary.web_extract.model"): "Model of the web_extract helper";
    AUXILIARY_WEB_EXTRACT_BASE_URL Fallback("auxiliary.web_extract.base_url"): "Address of the web_extract helper";
    AUXILIARY_WEB_EXTRACT_API_KEY Fallback("auxiliary.web_extract.api_key"): "Key of the web_extract helper";
    AUXILIARY_APPROVAL_PROVIDER Fallback("auxiliary.approval.provider"): "Provider of the approval helper";
    AUXILIARY_APPROVAL_MODEL Fallback("auxiliary.approval.model"): "Model of the approval helper";
    AUXILIARY_APPROVAL_BASE_URL Fallback("auxiliary.approval.base_url"): "Address of the approval helper";
    AUXILIARY_APPROVAL_API_KEY Fallback("auxiliary.approval.api_key"): "Key of the approval helper";
    OSV_ENDPOINT Kept: "Address of the list of malicious packages that MCP servers are checked against";
    HERMES_BUNDLED_SKILLS Process: "Directory of skills in place of those that come with the program";
    HERMES_BUNDLES_DIR Process: "Directory of bundles of skills";
    HERMES_KANBAN_TASK Process: "Task on the board this run works on";
    TERMUX_VERSION Process: "Set on telephones, where other skills work";
    HERMES_SKILLS_INDEX_URL Override("skills.hub.index_url"): "Address of the list of skills";
    HERMES_SKILLS_SH_URL Override("skills.hub.skills_sh_url"): "Address of skills.sh";
    HERMES_SKILLS_GITHUB_URL Override("skills.hub.github_url"): "Address of GitHub's API for skills";
    HERMES_SKILLS_CLAWHUB_URL Override("skills.hub.clawhub_url"): "Address of ClawHub";
    HERMES_SKILLS_LOBEHUB_URL Override("skills.hub.lobehub_url"): "Address of LobeHub";
    HERMES_SKILLS_BROWSE_SH_URL Override("skills.hub.browse_sh_url"): "Address of browse.sh";
    HERMES_OPTIONAL_SKILLS Process: "Directory of the official skills that are not installed from the start";
    BROWSER Process: "Programs that open a login page, separated by colons";
    DISPLAY Process: "Says that a desktop is there to open a login page on";
    WAYLAND_DISPLAY Process: "The same for Wayland";
    SSH_CONNECTION Process: "Says that the desktop is elsewhere";
    SSH_CLIENT Process: "The same";
    SSH_TTY Process: "The same";
    HERMES_WRITE_SAFE_ROOT Process: "Directories, separated by colons, outside of which the file tools write nothing";
    VIRTUAL_ENV Process: "Python environment that scripts run in";
    CONDA_PREFIX Process: "The same of Conda";
    SUDO_PASSWORD Kept: "Password for sudo in commands, where no setting has one";
    DOCKER_HOST Process: "Address of the container engine";
    CONTAINER_HOST Process: "The same of Podman; its socket is hidden from commands";
    SSH_AUTH_SOCK Process: "Socket of the agent with your keys, which is hidden from commands";
    GPG_AGENT_INFO Process: "The same of GnuPG";
    DBUS_SESSION_BUS_ADDRESS Process: "The desktop's bus, which is hidden from commands";
    XDG_RUNTIME_DIR Process: "Directory that sockets of container engines are looked for in";
    TERMINAL_SCRATCH_DIR Process: "Directory where Apptainer keeps what is large";
    DAYTONA_API_KEY Kept: "Key of Daytona";
    DAYTONA_API_URL Kept: "Address of Daytona";
    DAYTONA_TARGET Kept: "Region of Daytona that sandboxes are made in";
    DAYTONA_ORGANIZATION_ID Kept: "Organisation of Daytona that sandboxes belong to";
    MODAL_TOKEN_ID Kept: "First half of the token of Modal";
    MODAL_TOKEN_SECRET Kept: "Second half of it";
    MODAL_CONFIG_PATH Kept: "File with tokens of Modal, in place of ~/.modal.toml";
    MODAL_PROFILE Kept: "Profile in that file";
    MODAL_SERVER_URL Kept: "Address of Modal";
    MODAL_ENVIRONMENT Kept: "Environment of Modal that sandboxes are made in";
    MODAL_GATEWAY_URL Kept: "Address of the gateway that makes sandboxes of Modal";
    TOOL_GATEWAY_USER_TOKEN Kept: "Token for that gateway";
    TOOL_GATEWAY_SCHEME Kept: "http or https: how that gateway is reached";
    TOOL_GATEWAY_DOMAIN Kept: "Domain of that gateway";
    HERMES_CA_BUNDLE Kept: "File with certificates to trust beside the usual ones";
    SSL_CERT_FILE Kept: "The same where `HERMES_CA_BUNDLE` names none";
    REQUESTS_CA_BUNDLE Kept: "The same where neither does";
    HTTPS_PROXY Kept: "Proxy for https";
    LOWER_HTTPS_PROXY ["https_proxy"] Kept: "The same";
    HTTP_PROXY Kept: "Proxy for http";
    LOWER_HTTP_PROXY ["http_proxy"] Kept: "The same, which counts first";
    ALL_PROXY Kept: "Proxy where those name none";
    LOWER_ALL_PROXY ["all_proxy"] Kept: "The same";
    NO_PROXY Kept: "Hosts that are reached without a proxy";
    LOWER_NO_PROXY ["no_proxy"] Kept: "The same";
    GITHUB_TOKEN Kept: "Key for GitHub";
    GH_TOKEN Kept: "The same";
    GITHUB_APP_ID Kept: "App that signs in to GitHub";
    GITHUB_APP_INSTALLATION_ID Kept: "Installation of that app";
    GITHUB_APP_PRIVATE_KEY_PATH Kept: "File with the key of that app";
    CLAWHUB_TOKEN Kept: "Key for publishing on ClawHub";
    HERMES_HONCHO_HOST Kept: "Entry of honcho.json that counts";
    AWS_ACCESS_KEY_ID Kept: "First half of a key pair of AWS";
    AWS_SECRET_ACCESS_KEY Kept: "Second half of it";
    AWS_SESSION_TOKEN Kept: "Token of a key pair that ends";
    AWS_PROFILE Kept: "Profile in the files of AWS";
    AWS_REGION Kept: "Region of AWS";
    AWS_DEFAULT_REGION Kept: "The same where `AWS_REGION` names none";
    AWS_SHARED_CREDENTIALS_FILE Kept: "File with key pairs, in place of ~/.aws/credentials";
    AWS_CONFIG_FILE Kept: "File with profiles, in place of ~/.aws/config";
    AWS_ROLE_ARN Kept: "Role that is taken on with a web identity";
    AWS_ROLE_SESSION_NAME Kept: "What its use is called in the records of AWS";
    AWS_WEB_IDENTITY_TOKEN_FILE Kept: "File with the token of that identity";
    AWS_CONTAINER_CREDENTIALS_FULL_URI Kept: "Where a container asks for its role";
    AWS_CONTAINER_CREDENTIALS_RELATIVE_URI Kept: "The same, as a path";
    AWS_CONTAINER_AUTHORIZATION_TOKEN Kept: "Token it shows there";
    AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE Kept: "File with that token";
    AWS_EC2_METADATA_DISABLED Kept: "true: a machine of AWS is not asked for its role";
    AWS_EC2_METADATA_SERVICE_ENDPOINT Kept: "Where such a machine is asked";
    AWS_ENDPOINT_URL_STS Kept: "Address of the service that lends roles";
    AWS_ENDPOINT_URL_SSO Kept: "Address of the service for single sign-on";
    AZURE_TENANT_ID Kept: "Tenant of Microsoft Entra";
    AZURE_CLIENT_ID Kept: "Application or identity of Microsoft Entra";
    AZURE_CLIENT_SECRET Kept: "Secret of that application";
    AZURE_FEDERATED_TOKEN_FILE Kept: "File with the token of a workload";
    AZURE_AUTHORITY_HOST Kept: "Address of Microsoft Entra";
    AZURE_POD_IDENTITY_AUTHORITY_HOST Kept: "Where a machine of Azure is asked for its identity";
    IDENTITY_ENDPOINT Kept: "Where an app of Azure asks for its identity";
    IDENTITY_HEADER Kept: "What it shows there";
    VERTEX_CREDENTIALS_PATH Kept: "File with credentials for Vertex AI";
    GOOGLE_APPLICATION_CREDENTIALS Kept: "The same where `VERTEX_CREDENTIALS_PATH` names none";
    VERTEX_PROJECT_ID Kept: "Project of Vertex AI";
    GOOGLE_CLOUD_PROJECT Kept: "The same where nothing else names one";
    VERTEX_REGION Kept: "Region of Vertex AI";
    CLOUDSDK_CONFIG Kept: "Directory of gcloud, in place of ~/.config/gcloud";
    GCE_METADATA_HOST Kept: "Where a machine of Google is asked for its account";
}

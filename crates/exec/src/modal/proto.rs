//! The messages of Modal's gRPC services, as far as they are needed. Numbers are the vendor's.

use std::collections::HashMap;

use prost::{Message, Oneof};

/// `ObjectCreationType`: make it if it is not there.
pub(super) const CREATE_IF_MISSING: i32 = 1;
/// `GenericStatus`: nothing known yet, and all is well.
pub(super) const STATUS_UNKNOWN: i32 = 0;
pub(super) const STATUS_SUCCESS: i32 = 1;
/// `TaskExecStdoutConfig` and `TaskExecStderrConfig`: to be read.
pub(super) const PIPE: i32 = 1;
/// `TaskExecStdioFileDescriptor`.
pub(super) const STDOUT: i32 = 0;
pub(super) const STDERR: i32 = 1;
/// `NetworkAccessType`: everything.
pub(super) const OPEN: i32 = 1;
/// `PTYType`: a shell's terminal.
pub(super) const PTY_SHELL: i32 = 2;

#[derive(Clone, PartialEq, Message)]
pub(super) struct AppGetOrCreateRequest {
    #[prost(string, tag = "1")]
    pub(super) app_name: String,
    #[prost(string, tag = "2")]
    pub(super) environment_name: String,
    #[prost(int32, tag = "3")]
    pub(super) object_creation_type: i32,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct AppGetOrCreateResponse {
    #[prost(string, tag = "1")]
    pub(super) app_id: String,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct EnvironmentGetOrCreateRequest {
    #[prost(string, tag = "1")]
    pub(super) deployment_name: String,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct EnvironmentGetOrCreateResponse {
    #[prost(message, optional, tag = "2")]
    pub(super) metadata: Option<EnvironmentMetadata>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct EnvironmentMetadata {
    #[prost(message, optional, tag = "2")]
    pub(super) settings: Option<EnvironmentSettings>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct EnvironmentSettings {
    #[prost(string, tag = "1")]
    pub(super) image_builder_version: String,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Image {
    #[prost(string, repeated, tag = "6")]
    pub(super) dockerfile_commands: Vec<String>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct ImageGetOrCreateRequest {
    #[prost(message, optional, tag = "2")]
    pub(super) image: Option<Image>,
    #[prost(string, tag = "4")]
    pub(super) app_id: String,
    #[prost(string, tag = "9")]
    pub(super) builder_version: String,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct ImageGetOrCreateResponse {
    #[prost(string, tag = "1")]
    pub(super) image_id: String,
    #[prost(message, optional, tag = "2")]
    pub(super) result: Option<GenericResult>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct GenericResult {
    #[prost(int32, tag = "1")]
    pub(super) status: i32,
    #[prost(string, tag = "2")]
    pub(super) exception: String,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct ImageJoinStreamingRequest {
    #[prost(string, tag = "1")]
    pub(super) image_id: String,
    #[prost(float, tag = "2")]
    pub(super) timeout: f32,
    #[prost(string, tag = "3")]
    pub(super) last_entry_id: String,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct ImageJoinStreamingResponse {
    #[prost(message, optional, tag = "1")]
    pub(super) result: Option<GenericResult>,
    #[prost(message, repeated, tag = "2")]
    pub(super) task_logs: Vec<TaskLogs>,
    #[prost(string, tag = "3")]
    pub(super) entry_id: String,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct TaskLogs {
    #[prost(string, tag = "1")]
    pub(super) data: String,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Resources {
    #[prost(uint32, tag = "2")]
    pub(super) memory_mb: u32,
    #[prost(uint32, tag = "3")]
    pub(super) milli_cpu: u32,
    #[prost(uint32, tag = "6")]
    pub(super) ephemeral_disk_mb: u32,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct NetworkAccess {
    #[prost(int32, tag = "1")]
    pub(super) network_access_type: i32,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Sandbox {
    #[prost(string, repeated, tag = "1")]
    pub(super) entrypoint_args: Vec<String>,
    #[prost(string, tag = "3")]
    pub(super) image_id: String,
    #[prost(message, optional, tag = "5")]
    pub(super) resources: Option<Resources>,
    #[prost(uint32, tag = "7")]
    pub(super) timeout_secs: u32,
    #[prost(message, optional, tag = "22")]
    pub(super) network_access: Option<NetworkAccess>,
    #[prost(uint32, optional, tag = "33")]
    pub(super) idle_timeout_secs: Option<u32>,
    #[prost(bool, tag = "34")]
    pub(super) direct_sandbox_commands_enabled: bool,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct SandboxTag {
    #[prost(string, tag = "1")]
    pub(super) tag_name: String,
    #[prost(string, tag = "2")]
    pub(super) tag_value: String,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct SandboxCreateRequest {
    #[prost(string, tag = "1")]
    pub(super) app_id: String,
    #[prost(message, optional, tag = "2")]
    pub(super) definition: Option<Sandbox>,
    #[prost(message, repeated, tag = "4")]
    pub(super) tags: Vec<SandboxTag>,
}

/// Requests and answers that are only a sandbox's id.
#[derive(Clone, PartialEq, Message)]
pub(super) struct SandboxId {
    #[prost(string, tag = "1")]
    pub(super) sandbox_id: String,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct SandboxGetTaskIdRequest {
    #[prost(string, tag = "1")]
    pub(super) sandbox_id: String,
    #[prost(float, optional, tag = "2")]
    pub(super) timeout: Option<f32>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct SandboxGetTaskIdResponse {
    #[prost(string, optional, tag = "1")]
    pub(super) task_id: Option<String>,
    #[prost(message, optional, tag = "2")]
    pub(super) task_result: Option<GenericResult>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct SandboxListRequest {
    #[prost(string, tag = "1")]
    pub(super) app_id: String,
    #[prost(double, tag = "2")]
    pub(super) before_timestamp: f64,
    #[prost(message, repeated, tag = "5")]
    pub(super) tags: Vec<SandboxTag>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct SandboxListResponse {
    #[prost(message, repeated, tag = "1")]
    pub(super) sandboxes: Vec<SandboxInfo>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct SandboxInfo {
    #[prost(string, tag = "1")]
    pub(super) id: String,
    #[prost(double, tag = "3")]
    pub(super) created_at: f64,
    #[prost(message, repeated, tag = "6")]
    pub(super) tags: Vec<SandboxTag>,
    #[prost(string, tag = "8")]
    pub(super) image_id: String,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct SandboxSnapshotFsRequest {
    #[prost(string, tag = "1")]
    pub(super) sandbox_id: String,
    #[prost(float, tag = "2")]
    pub(super) timeout: f32,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct TaskGetCommandRouterAccessRequest {
    #[prost(string, tag = "1")]
    pub(super) task_id: String,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct TaskGetCommandRouterAccessResponse {
    #[prost(string, tag = "1")]
    pub(super) jwt: String,
    #[prost(string, tag = "2")]
    pub(super) url: String,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct PtyInfo {
    #[prost(bool, tag = "1")]
    pub(super) enabled: bool,
    #[prost(uint32, tag = "2")]
    pub(super) winsz_rows: u32,
    #[prost(uint32, tag = "3")]
    pub(super) winsz_cols: u32,
    #[prost(string, tag = "4")]
    pub(super) env_term: String,
    #[prost(int32, tag = "7")]
    pub(super) pty_type: i32,
    #[prost(bool, tag = "8")]
    pub(super) no_terminate_on_idle_stdin: bool,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct TaskExecStartRequest {
    #[prost(string, tag = "1")]
    pub(super) task_id: String,
    #[prost(string, tag = "2")]
    pub(super) exec_id: String,
    #[prost(string, repeated, tag = "3")]
    pub(super) command_args: Vec<String>,
    #[prost(int32, tag = "4")]
    pub(super) stdout_config: i32,
    #[prost(int32, tag = "5")]
    pub(super) stderr_config: i32,
    #[prost(message, optional, tag = "9")]
    pub(super) pty_info: Option<PtyInfo>,
    #[prost(map = "string, string", tag = "12")]
    pub(super) env: HashMap<String, String>,
}

/// An answer that says nothing.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Nothing {}

#[derive(Clone, PartialEq, Message)]
pub(super) struct TaskExecStdinWriteRequest {
    #[prost(string, tag = "1")]
    pub(super) task_id: String,
    #[prost(string, tag = "2")]
    pub(super) exec_id: String,
    #[prost(uint64, tag = "3")]
    pub(super) offset: u64,
    #[prost(bytes = "vec", tag = "4")]
    pub(super) data: Vec<u8>,
    #[prost(bool, tag = "5")]
    pub(super) eof: bool,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct TaskExecStdioReadRequest {
    #[prost(string, tag = "1")]
    pub(super) task_id: String,
    #[prost(string, tag = "2")]
    pub(super) exec_id: String,
    #[prost(uint64, tag = "3")]
    pub(super) offset: u64,
    #[prost(int32, tag = "4")]
    pub(super) file_descriptor: i32,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct TaskExecStdioReadResponse {
    #[prost(bytes = "vec", tag = "1")]
    pub(super) data: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct TaskExecWaitRequest {
    #[prost(string, tag = "1")]
    pub(super) task_id: String,
    #[prost(string, tag = "2")]
    pub(super) exec_id: String,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct TaskExecWaitResponse {
    #[prost(oneof = "Ended", tags = "1, 2")]
    pub(super) ended: Option<Ended>,
}

/// How a program ended.
#[derive(Clone, Copy, PartialEq, Oneof)]
pub(super) enum Ended {
    #[prost(int32, tag = "1")]
    Code(i32),
    #[prost(int32, tag = "2")]
    Signal(i32),
}

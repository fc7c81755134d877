//! The messages of the two services, as far as the server needs them. Numbers are the vendor's.

use prost::Message;

/// Everything whose first field is an id, or a name, and nothing else matters.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Id {
    #[prost(string, tag = "1")]
    pub(super) id: String,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Nothing {}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Environment {
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
pub(super) struct ImageRequest {
    #[prost(message, optional, tag = "2")]
    pub(super) image: Option<Image>,
    #[prost(string, tag = "9")]
    pub(super) builder_version: String,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct ImageAnswer {
    #[prost(string, tag = "1")]
    pub(super) image_id: String,
    #[prost(message, optional, tag = "2")]
    pub(super) result: Option<Outcome>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Outcome {
    #[prost(int32, tag = "1")]
    pub(super) status: i32,
    #[prost(string, tag = "2")]
    pub(super) exception: String,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct JoinRequest {
    #[prost(string, tag = "1")]
    pub(super) image_id: String,
    #[prost(string, tag = "3")]
    pub(super) last_entry_id: String,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct JoinAnswer {
    #[prost(message, optional, tag = "1")]
    pub(super) result: Option<Outcome>,
    #[prost(message, repeated, tag = "2")]
    pub(super) task_logs: Vec<TaskLog>,
    #[prost(string, tag = "3")]
    pub(super) entry_id: String,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct TaskLog {
    #[prost(string, tag = "1")]
    pub(super) data: String,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Resources {
    #[prost(uint32, tag = "2")]
    pub(super) memory_mb: u32,
    #[prost(uint32, tag = "3")]
    pub(super) milli_cpu: u32,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Sandbox {
    #[prost(string, repeated, tag = "1")]
    pub(super) entrypoint_args: Vec<String>,
    #[prost(string, tag = "3")]
    pub(super) image_id: String,
    #[prost(message, optional, tag = "5")]
    pub(super) resources: Option<Resources>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct SandboxTag {
    #[prost(string, tag = "1")]
    pub(super) tag_name: String,
    #[prost(string, tag = "2")]
    pub(super) tag_value: String,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct CreateRequest {
    #[prost(message, optional, tag = "2")]
    pub(super) definition: Option<Sandbox>,
    #[prost(message, repeated, tag = "4")]
    pub(super) tags: Vec<SandboxTag>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct TaskAnswer {
    #[prost(string, optional, tag = "1")]
    pub(super) task_id: Option<String>,
    #[prost(message, optional, tag = "2")]
    pub(super) task_result: Option<Outcome>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct ListRequest {
    #[prost(double, tag = "2")]
    pub(super) before_timestamp: f64,
    #[prost(message, repeated, tag = "5")]
    pub(super) tags: Vec<SandboxTag>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct ListAnswer {
    #[prost(message, repeated, tag = "1")]
    pub(super) sandboxes: Vec<Info>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Info {
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
pub(super) struct Access {
    #[prost(string, tag = "1")]
    pub(super) jwt: String,
    #[prost(string, tag = "2")]
    pub(super) url: String,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Pty {
    #[prost(bool, tag = "1")]
    pub(super) enabled: bool,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct StartRequest {
    #[prost(string, tag = "1")]
    pub(super) task_id: String,
    #[prost(string, tag = "2")]
    pub(super) exec_id: String,
    #[prost(string, repeated, tag = "3")]
    pub(super) command_args: Vec<String>,
    #[prost(message, optional, tag = "9")]
    pub(super) pty_info: Option<Pty>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct WriteRequest {
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
pub(super) struct ReadRequest {
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
pub(super) struct Data {
    #[prost(bytes = "vec", tag = "1")]
    pub(super) data: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Code {
    #[prost(int32, optional, tag = "1")]
    pub(super) code: Option<i32>,
}

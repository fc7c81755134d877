//! Settings of Hermes: the home directory, `config.yaml`, `.env` and profiles.
//!
//! What a setting does is up to whoever reads it. The environment is handed in, and nothing here asks, prints or
//! reaches the network.

mod coerce;
mod disclosed;
mod dotenv;
mod environment;
mod expand;
mod files;
mod home;
mod key_names;
mod layers;
mod legacy;
mod load;
mod macros;
mod managed;
mod migrate;
mod problem;
mod profiles;
mod programs;
mod project;
mod reference;
mod root;
mod sections;
mod setting;
mod settings;
mod shape;
mod source;
mod suspicion;
mod value;
mod yaml;
mod zone;

pub use disclosed::names_secret;
pub use dotenv::{DotEnv, EnvFault, EnvFile, EnvName, EnvNameError, EnvProblem, inspect_env_file};
pub use environment::{
    Environment, PROVIDER_KEYS, ProviderKey, Role, VARIABLES, Variable, is_known_name,
};
pub use files::{
    FileError, FileLock, create_directory, destination as file_destination, keep_copy, lock_file,
    read as read_file, replace as replace_file, replace_secret as replace_secret_file,
};
pub use home::{ChosenBy, Home, HomeError, ProfileName, ProfileNameError, extract_profile_flag};
pub use load::{LoadError, Loaded, Request, load};
pub use managed::{FoundScope, IgnoredFile, ManagedScope, Owner};
pub use migrate::{
    CURRENT_VERSION, EnvChange, MigrateError, Plan, Report, Version, Warning,
    pending as pending_migration,
};
pub use problem::{Fault, Idle, Problem};
pub use profiles::{
    ArchiveError, BundledSkills, ConfigFile, Contents, Distribution, DistributionError,
    EnvRequirement, Exported, Imported, LARGEST_ARCHIVE_FILE, Made, MemberFault, NewProfile, Note,
    Payload, ProfileError, Profiles, Renamed, Staging, WrapperError, Wrappers, can_be_wrapper,
};
pub use programs::{is_program, program_in, program_on};
pub use reference::{json_schema, reference_page};
pub use root::Config;
pub use sections::*;
pub use setting::{Either, Reader, SecretText, Setting, nearest};
pub use settings::{Change, Edit, SetError, Settings, Shown, UnknownKey};
pub use shape::{Choice, Field, Section, Shape};
pub use source::ReadError;
pub use suspicion::Suspicion;
pub use value::{KeyPath, Layer, Map, NoSuchItem, Node, Origin, Value};
pub use yaml::{Document, EditError, ParseCause, ParseError, parse, to_yaml};
pub use zone::Zone;

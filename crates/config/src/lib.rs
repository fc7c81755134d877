//! Settings of Hermes: the home directory, `config.yaml`, `.env` and profiles.

mod dotenv;
mod environment;
mod files;
mod macros;
mod problem;
mod reference;
mod root;
mod sections;
mod setting;
mod shape;
mod value;
mod yaml;

pub use dotenv::{DotEnv, EnvFault, EnvFile, EnvName, EnvNameError, EnvProblem};
pub use environment::{
    Environment, PROVIDER_KEYS, ProviderKey, Role, VARIABLES, Variable, is_known_name,
};
pub use files::{FileError, create_directory, read as read_file, replace as replace_file};
pub use problem::{Fault, Problem};
pub use reference::{json_schema, reference_page};
pub use root::Config;
pub use sections::*;
pub use setting::{Either, Reader, SecretText, Setting, nearest};
pub use shape::{Choice, Field, Section, Shape};
pub use value::{KeyPath, Layer, Map, NoSuchItem, Node, Origin, Value};
pub use yaml::{Document, EditError, ParseError, parse, to_yaml};

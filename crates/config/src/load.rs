//! All layers of settings, read once and merged once.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::coerce;
use crate::dotenv::{DotEnv, EnvProblem};
use crate::environment::{Environment, Role, VARIABLES};
use crate::expand;
use crate::files::FileError;
use crate::home::Home;
use crate::key_names;
use crate::layers;
use crate::legacy;
use crate::managed::{IgnoredFile, ManagedScope};
use crate::migrate;
use crate::problem::{Fault, Idle, Problem};
use crate::project;
use crate::root::Config;
use crate::setting::{Reader, Setting};
use crate::source::{self, ReadError, SourceError};
use crate::value::{KeyPath, Layer, Node, Value};

/// What to load, and for whom.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    pub home: &'a Home,
    pub environment: &'a Environment,
    /// The directory the program was started in, whose `.hermes/config.yaml` counts a little.
    pub project: Option<&'a Path>,
    /// Settings from the command line.
    pub flags: &'a [(KeyPath, Value)],
    /// Leaves `config.yaml` out, as `--ignore-user-config` asks.
    pub ignore_file: bool,
}

/// The settings in force and everything worth telling about them.
///
/// There is no `Debug`: keys may stand in plain sight in the tree.
pub struct Loaded {
    pub config: Config,
    /// The settings in force with the origin of each; keys that nothing reads are in it too.
    pub tree: Node,
    /// What is wrong, file and line filled in. `fault.is_error()` marks values that could not be used.
    pub problems: Vec<Problem>,
    /// What is set although nothing reads it, which is nothing wrong.
    pub idle: Vec<Idle>,
    /// The values of `.env`, the administrator's on top.
    pub secrets: DotEnv,
    pub env_problems: Vec<EnvProblem>,
    /// The environment with those values on top, as `${NAME}` sees it.
    pub environment: Environment,
    pub managed: ManagedScope,
    /// Files of others that had to be left out.
    pub ignored: Vec<IgnoredFile>,
    /// Variables that `config.yaml` refers to; when one changes, load again.
    pub referenced: BTreeSet<String>,
    /// Variables that hold keys of providers the user described: for nobody but us.
    pub key_names: BTreeSet<String>,
}

/// Why there are no settings. A running process keeps the ones it has.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    #[error("{}: {source}", path.display())]
    Unparsable {
        path: PathBuf,
        #[source]
        source: ReadError,
    },
    #[error(transparent)]
    File(#[from] FileError),
}

impl LoadError {
    /// The line and column that are wrong, counted from 1; zero where it cannot be told.
    pub fn place(&self) -> (u32, u32) {
        match self {
            Self::Unparsable { source, .. } => source.place(),
            Self::File(_) => (0, 0),
        }
    }

    /// What the user can do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Unparsable { path, .. } => format!(
                "mend {}, or set HERMES_IGNORE_USER_CONFIG=1 for one run",
                path.display()
            ),
            Self::File(error) => error.hint().to_owned(),
        }
    }
}

impl From<SourceError> for LoadError {
    fn from(error: SourceError) -> Self {
        match error {
            SourceError::File(error) => Self::File(error),
            SourceError::Content { path, source } => Self::Unparsable { path, source },
        }
    }
}

/// Reads and merges every layer, weakest first: defaults, variables that fill in, `config.yaml`, the
/// project, variables that override, flags, the administrator.
pub fn load(request: &Request<'_>) -> Result<Loaded, LoadError> {
    let (mut secrets, mut env_problems) =
        DotEnv::read(&request.home.env_file(), request.environment)?;
    let managed = ManagedScope::find(request.environment);
    secrets.overlay(managed.scope.secrets());
    env_problems.extend(managed.env_problems);
    let environment = request.environment.with(&secrets);
    let mut problems = Vec::new();
    let said = from_variables(&environment, Layer::EnvironmentDefault, &mut problems);
    let mut gathered = Gathered {
        environment: &environment,
        said,
        problems,
        ignored: managed.ignored,
        referenced: BTreeSet::new(),
        key_names: BTreeSet::new(),
    };
    if !request.ignore_file {
        gathered.add_file(&request.home.config_file())?;
    }
    if let Some(directory) = request.project {
        gathered.add_project(directory);
    }
    gathered.add_overrides();
    gathered.add_flags(request.flags);
    let fixed = managed.scope.settings().clone();
    gathered.add_fixed(fixed, managed.problems, &managed.file);

    let (config, mut tree, (found, mut idle)) = settle(gathered.said);
    let file_of = |layer| match layer {
        Layer::File => Some(request.home.config_file()),
        Layer::Project => request.project.map(project::file_in),
        Layer::Managed => Some(managed.file.clone()),
        Layer::Default | Layer::EnvironmentDefault | Layer::Environment | Layer::Flag => None,
    };
    let found = found.into_iter().map(|problem| Problem {
        file: file_of(problem.origin.layer),
        ..problem
    });
    gathered.problems.extend(found);
    for one in &mut idle {
        one.file = file_of(one.origin.layer);
    }
    tree.origin.layer = Layer::Default;
    gathered.key_names.extend(key_names::named(&tree));
    Ok(Loaded {
        config,
        tree,
        problems: gathered.problems,
        idle,
        secrets,
        env_problems,
        managed: managed.scope,
        ignored: gathered.ignored,
        referenced: gathered.referenced,
        key_names: gathered.key_names,
        environment,
    })
}

/// The layers so far, merged.
struct Gathered<'a> {
    environment: &'a Environment,
    said: Node,
    problems: Vec<Problem>,
    ignored: Vec<IgnoredFile>,
    referenced: BTreeSet<String>,
    key_names: BTreeSet<String>,
}

impl Gathered<'_> {
    /// Adds the user's file.
    fn add_file(&mut self, path: &Path) -> Result<(), LoadError> {
        let mut file = source::read(path, Layer::File)?;
        self.key_names.extend(key_names::put_in(&file.node));
        self.referenced = expand::expand(&mut file.node, self.environment);
        migrate::read_as_current(&mut file.node);
        legacy::normalise(&mut file.node, &mut file.problems);
        self.problems.extend(in_file(file.problems, path));
        layers::merge(&mut self.said, file.node);
        Ok(())
    }

    /// Adds what a project may say.
    fn add_project(&mut self, directory: &Path) {
        let path = project::file_in(directory);
        match source::read(&path, Layer::Project) {
            Ok(mut file) => {
                legacy::normalise(&mut file.node, &mut file.problems);
                let kept = project::harmless(file.node, &mut file.problems);
                self.problems.extend(in_file(file.problems, &path));
                layers::merge(&mut self.said, kept);
            }
            Err(error) => self.ignored.push(error.into()),
        }
    }

    /// Adds the variables that count more than files.
    fn add_overrides(&mut self) {
        let overrides = from_variables(self.environment, Layer::Environment, &mut self.problems);
        layers::merge(&mut self.said, overrides);
    }

    /// Adds what the command line says.
    fn add_flags(&mut self, flags: &[(KeyPath, Value)]) {
        for (key, value) in flags {
            let mut flag = Node::default();
            if flag.set(key, Node::new(value.clone(), Layer::Flag)).is_ok() {
                layers::merge(&mut self.said, flag);
            }
        }
    }

    /// Adds what the administrator fixed.
    fn add_fixed(&mut self, mut fixed: Node, mut problems: Vec<Problem>, file: &Path) {
        self.key_names.extend(key_names::put_in(&fixed));
        self.referenced
            .extend(expand::expand(&mut fixed, self.environment));
        legacy::normalise(&mut fixed, &mut problems);
        self.problems.extend(in_file(problems, file));
        layers::merge(&mut self.said, fixed);
    }
}

/// The typed settings of a merged tree, the tree with defaults filled in, and what there is to say about both.
fn settle(said: Node) -> (Config, Node, (Vec<Problem>, Vec<Idle>)) {
    let mut reader = Reader::default();
    let config = Config::read(&said, &mut reader).unwrap_or_default();
    let (problems, idle) = reader.into_found();
    let refused: BTreeSet<_> = problems
        .iter()
        .filter(|problem| problem.fault.is_error())
        .map(|problem| problem.key.clone())
        .collect();
    let used = Node::from(config.to_value());
    let mut tree = said;
    if tree.value == Value::Null {
        tree.map_mut();
    }
    layers::settle(&mut tree, &used, &|path| refused.contains(path));
    for path in refused.iter().filter(|path| used.at(path).is_none()) {
        tree.remove(path);
    }
    (config, tree, (problems, idle))
}

fn in_file(problems: Vec<Problem>, path: &Path) -> impl Iterator<Item = Problem> {
    problems.into_iter().map(|problem| Problem {
        file: Some(path.to_owned()),
        ..problem
    })
}

/// The settings that variables of one kind stand for.
fn from_variables(environment: &Environment, layer: Layer, problems: &mut Vec<Problem>) -> Node {
    // Describing every setting takes longer than reading most files, so only when a variable is set.
    let mut described = None;
    let mut tree = Node::new(Value::Null, layer);
    for variable in VARIABLES {
        let wanted = match variable.role {
            Role::Process | Role::Kept => false,
            Role::Fallback(_) => layer == Layer::EnvironmentDefault,
            Role::Override(_) => layer == Layer::Environment,
        };
        let Some(raw) = environment.filled(variable).filter(|_| wanted) else {
            continue;
        };
        let Some(key) = variable.key() else { continue };
        let shape = described.get_or_insert_with(Config::shape);
        let Some(shape) = shape.at(&key) else {
            continue;
        };
        match coerce::coerce(&shape, raw) {
            // Every key of the table leads through sections, which can be made on the way.
            Ok(value) => {
                let _ = tree.set(&key, Node::new(value, layer));
            }
            Err(unfit) => problems.push(Problem {
                key,
                origin: Node::new(Value::Null, layer).origin,
                file: None,
                fault: Fault::NotAccepted {
                    expected: unfit.expected,
                    found: format!("what {} says", variable.name),
                },
            }),
        }
    }
    tree
}

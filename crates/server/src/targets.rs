//! Targets: those that clients save (a name and a URL without secrets, in a file next to the job
//! store), and those that the server is started with. Passwords of clients are kept in memory only.
//! Other secrets of the host are used only for targets that the server is started with, never for
//! URLs given by a client.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use serde::{Deserialize, Serialize};
use triphammer_core::SpecError;
use triphammer_core::small_file::read_text;
use triphammer_core::text::steers;
use triphammer_drivers::AnyDatabase;
use triphammer_drivers::target::{ConnectSettings, DataFolder, Reach, Secret, TargetUrl};
use triphammer_runner::requests::is_own;
use triphammer_settings::target::Secrets;
use triphammer_settings::{Settings, Source};
use utoipa::ToSchema;

use crate::error::ApiError;

/// Maximum length of a name, in characters.
const NAME_MAX: usize = 64;
/// Maximum number of saved targets.
const TARGETS_MAX: usize = 500;
/// Maximum size of a file with targets, in bytes.
const TARGETS_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// A target in the file of saved targets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TargetForm {
    /// URL of the database. A password in it is removed and kept in memory only. It must not name a
    /// path of the server's host, except an SQLite file in the server's data directory.
    #[schema(example = "postgres://bench@db1:5432/tpcc")]
    pub url: String,
    /// Database schema to use; the user's default schema when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
}

/// A target in the file of saved targets, which is edited by hand, too.
#[derive(Debug, Deserialize)]
struct StoredTarget {
    url: String,
    #[serde(default)]
    schema: Option<String>,
}

/// A target without its secrets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SavedTarget {
    /// Name of the target.
    pub name: String,
    /// URL of the database, without secrets.
    pub url: String,
    /// Database schema to use; the user's default schema when absent.
    pub schema: Option<String>,
    /// Whether the server has a password for it, kept in memory or given at the start.
    pub has_password: bool,
    /// Whether the server was started with it; then it can be neither changed nor deleted.
    pub fixed: bool,
}

/// A target that the server is started with: only these may use files, unix sockets and passwords
/// of the host, because the operator of the server chose where they go.
#[derive(Clone, Debug)]
pub struct FixedTarget {
    url: String,
    password: Option<Secret>,
    schema: Option<String>,
    password_file: Option<String>,
    password_variable: Option<String>,
}

/// A target in the file that the server is started with.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct FixedForm {
    url: String,
    schema: Option<String>,
    password_file: Option<String>,
    password_variable: Option<String>,
}

impl FixedTarget {
    /// Reads a file of targets: one table per target, with `url` and optionally `schema`,
    /// `password-file` or `password-variable`.
    ///
    /// # Errors
    /// When the file cannot be read, or one of its targets is invalid. Messages contain nothing of
    /// its text.
    pub fn read_all(file: &Path) -> Result<BTreeMap<String, Self>, SpecError> {
        let shown = file.display();
        let text = read_text(file, TARGETS_BYTES_MAX).map_err(|error| {
            SpecError::new(format!("cannot read the targets file {shown}: {error}"))
        })?;
        let forms: BTreeMap<String, FixedForm> = toml::from_str(&text).map_err(|error| {
            let line = error.span().map_or(1, |span| text[..span.start].lines().count().max(1));
            SpecError::new(format!(
                "invalid line {line} in the targets file {shown}: expected a table for each \
                 target, such as [bench], with url = \"…\" and optionally schema, password-file or \
                 password-variable"
            ))
        })?;
        let read = |(name, form): (String, FixedForm)| {
            let about = |error: SpecError| {
                SpecError::new(format!("the targets file {shown}, [{name}]: {error}"))
            };
            check_name(&name).map_err(|error| about(SpecError::new(error.message)))?;
            let target = Self::new(form).map_err(about)?;
            Ok((name, target))
        };
        forms.into_iter().map(read).collect()
    }

    fn new(form: FixedForm) -> Result<Self, SpecError> {
        let (url, password) = without_password(&form.url)?;
        AnyDatabase::open(&url, &ConnectSettings::default())?;
        let FixedForm { schema, password_file, password_variable, .. } = form;
        Ok(Self { url, password, schema, password_file, password_variable })
    }

    fn has_password(&self) -> bool {
        self.password.is_some() || self.password_file.is_some() || self.password_variable.is_some()
    }
}

/// Splits a URL into the URL without its password, and the password.
fn without_password(url: &str) -> Result<(String, Option<Secret>), SpecError> {
    let mut url = TargetUrl::parse(url)?;
    let password = url.password.take();
    if url.has_password() {
        return Err(SpecError::new(
            "a password belongs before the host of a URL, not among its parameters",
        ));
    }
    Ok((url.redacted(), password))
}

/// The saved targets.
#[derive(Debug)]
pub struct Targets {
    file: PathBuf,
    fixed: BTreeMap<String, FixedTarget>,
    /// Access of the clients' targets to this host.
    reach: Reach,
    /// Whether clients may run scripts on them.
    allow_scripts: bool,
    held: Mutex<TargetsState>,
}

#[derive(Debug, Default)]
struct TargetsState {
    saved: BTreeMap<String, TargetForm>,
    passwords: BTreeMap<String, Secret>,
}

impl Targets {
    /// Loads the targets in the file next to the job store `store`; `fixed` are those that the
    /// server is started with, and `data` is the directory of the SQLite files of clients.
    ///
    /// # Errors
    /// When an existing file cannot be read, or the data directory does not exist.
    pub fn open(
        store: &Path,
        data: &Path,
        fixed: BTreeMap<String, FixedTarget>,
        allow_scripts: bool,
    ) -> Result<Self, ApiError> {
        let file = store.with_extension("targets.json");
        let cannot = |what: &dyn std::fmt::Display| {
            ApiError::invalid(format!("reading the saved targets {}: {what}", file.display()))
        };
        let stored: BTreeMap<String, StoredTarget> = match read_text(&file, TARGETS_BYTES_MAX) {
            Ok(text) => serde_json::from_str(&text).map_err(|error| cannot(&error))?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => BTreeMap::new(),
            Err(error) => return Err(cannot(&error)),
        };
        // A password may have been written into the file by hand.
        let form = |stored: StoredTarget| {
            let url = TargetUrl::parse(&stored.url).ok()?.redacted();
            Some(TargetForm { url, schema: stored.schema })
        };
        let saved = stored.into_iter().filter_map(|(name, one)| Some((name, form(one)?))).collect();
        let reach = Reach::Folder(folder(data, store)?);
        let held = Mutex::new(TargetsState { saved, passwords: BTreeMap::new() });
        Ok(Self { file, fixed, reach, allow_scripts, held })
    }

    /// The targets of the owner alone: clients see no saved ones, and save none.
    ///
    /// # Errors
    /// When the current directory cannot be found.
    pub fn of_owner(store: &Path, fixed: BTreeMap<String, FixedTarget>) -> Result<Self, ApiError> {
        let reach = Reach::Folder(folder(Path::new(""), store)?);
        let held = Mutex::default();
        Ok(Self { file: PathBuf::new(), fixed, reach, allow_scripts: false, held })
    }

    /// Rejects scripts of clients, unless the server was started to accept them.
    ///
    /// # Errors
    /// When the workload is a client's own.
    pub fn refuse_scripts(&self, workload: Option<&str>) -> Result<(), ApiError> {
        if self.allow_scripts || !workload.is_some_and(is_own) {
            return Ok(());
        }
        let message = "this server does not run scripts and workload files, which can do anything \
                       that a target's database user may; start it with --allow-scripts";
        Err(ApiError::invalid(message).about("workload"))
    }

    /// Returns all targets, sorted by name.
    pub fn list(&self) -> Vec<SavedTarget> {
        let held = self.lock();
        let saved = held.saved.iter().filter(|(name, _)| !self.fixed.contains_key(*name));
        let fixed = self.fixed.iter().map(|(name, target)| shown_fixed(name, target, &held));
        let mut all: Vec<_> =
            saved.map(|(name, form)| shown(name, form, &held)).chain(fixed).collect();
        all.sort_by(|a, b| a.name.cmp(&b.name));
        all
    }

    /// Returns the target with this name.
    ///
    /// # Errors
    /// When there is no target with that name.
    pub fn get(&self, name: &str) -> Result<SavedTarget, ApiError> {
        self.shown(name, &self.lock())
    }

    fn shown(&self, name: &str, held: &TargetsState) -> Result<SavedTarget, ApiError> {
        if let Some(target) = self.fixed.get(name) {
            return Ok(shown_fixed(name, target, held));
        }
        let form = held.saved.get(name).ok_or_else(|| absent(name))?;
        Ok(shown(name, form, held))
    }

    fn refuse_fixed(&self, name: &str) -> Result<(), ApiError> {
        if !self.fixed.contains_key(name) {
            return Ok(());
        }
        let message = format!(
            "the target `{name}` comes from the --targets file: change that file and restart the \
             server"
        );
        Err(ApiError::conflict(message).about("name"))
    }

    /// Creates or changes a target. A password kept for it is retained only if nothing else
    /// changes.
    ///
    /// # Errors
    /// When the name or URL is invalid, or the file cannot be written.
    pub fn put(&self, name: &str, mut form: TargetForm) -> Result<SavedTarget, ApiError> {
        check_name(name)?;
        self.refuse_fixed(name)?;
        let about = |error: SpecError| ApiError::from(error).about("url");
        let (url, password) = without_password(&form.url).map_err(about)?;
        form.url = url;
        let connect = ConnectSettings { reach: self.reach.clone(), ..ConnectSettings::default() };
        AnyDatabase::open(&form.url, &connect).map_err(about)?;
        if form.schema.as_deref().is_some_and(|schema| schema.contains(steers)) {
            let message = "the schema contains a control character; remove it";
            return Err(ApiError::invalid(message).about("schema"));
        }
        let mut held = self.lock();
        if held.saved.len() >= TARGETS_MAX && !held.saved.contains_key(name) {
            return Err(ApiError::conflict(format!(
                "{TARGETS_MAX} targets are already saved; delete \
                                                   one first"
            )));
        }
        // A password is never sent to a server other than the one it was given for.
        if held.saved.get(name).is_none_or(|before| *before != form) {
            held.passwords.remove(name);
        }
        let mut saved = held.saved.clone();
        saved.insert(name.to_owned(), form);
        self.write(&saved)?;
        held.saved = saved;
        if let Some(password) = password {
            held.passwords.insert(name.to_owned(), password);
        }
        Ok(shown(name, &held.saved[name], &held))
    }

    /// Deletes a target.
    ///
    /// # Errors
    /// When there is no target with that name, or the file cannot be written.
    pub fn delete(&self, name: &str) -> Result<(), ApiError> {
        self.refuse_fixed(name)?;
        let mut held = self.lock();
        let mut saved = held.saved.clone();
        saved.remove(name).ok_or_else(|| absent(name))?;
        self.write(&saved)?;
        held.saved = saved;
        held.passwords.remove(name);
        Ok(())
    }

    /// Keeps a password for a target until the server stops, or discards it.
    ///
    /// # Errors
    /// When there is no target with that name.
    pub fn hold(&self, name: &str, password: Option<Secret>) -> Result<SavedTarget, ApiError> {
        let mut held = self.lock();
        self.shown(name, &held)?;
        match password {
            Some(password) => held.passwords.insert(name.to_owned(), password),
            None => held.passwords.remove(name),
        };
        self.shown(name, &held)
    }

    /// Secrets for the default SQLite file: none of the host's.
    pub fn no_keys(&self) -> Keys {
        Keys { password: None, variable: None, reach: self.reach.clone() }
    }

    /// Adds a target and its settings to the settings, and returns its secrets.
    ///
    /// # Errors
    /// When there is no target with that name.
    pub fn apply(&self, name: &str, settings: &mut Settings) -> Result<Keys, ApiError> {
        let held = self.lock();
        let password = held.passwords.get(name).cloned();
        if let Some(target) = self.fixed.get(name) {
            return Ok(apply_fixed(target, password, settings));
        }
        let form = held.saved.get(name).ok_or_else(|| absent(name).about("target"))?;
        settings.set("target", form.url.clone(), Source::Request);
        if let Some(schema) = &form.schema {
            settings.set("schema", schema.clone(), Source::Request);
        }
        Ok(Keys { password, ..self.no_keys() })
    }

    fn write(&self, saved: &BTreeMap<String, TargetForm>) -> Result<(), ApiError> {
        let cannot = |error: std::io::Error| {
            let message = format!("saving the targets in {}: {error}", self.file.display());
            ApiError::new(axum::http::StatusCode::INTERNAL_SERVER_ERROR, "system", message)
        };
        let text = serde_json::to_vec_pretty(saved).expect("targets are plain data");
        let next = self.file.with_extension("json.new");
        let mut file = private(&next).map_err(cannot)?;
        file.write_all(&text).and_then(|()| file.sync_all()).map_err(cannot)?;
        std::fs::rename(&next, &self.file).map_err(cannot)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, TargetsState> {
        self.held.lock().expect("no thread panics while it holds the lock")
    }
}

/// The directory of the files that clients may use.
fn folder(data: &Path, store: &Path) -> Result<DataFolder, ApiError> {
    DataFolder::new(data.to_owned(), store.to_owned()).map_err(|error| {
        let shown = data.display();
        ApiError::invalid(format!("cannot use the data directory {shown}: {error}")).about("data")
    })
}

/// Creates a file that only its owner can read.
fn private(path: &Path) -> std::io::Result<std::fs::File> {
    let mut options = std::fs::File::options();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn shown(name: &str, form: &TargetForm, held: &TargetsState) -> SavedTarget {
    SavedTarget {
        name: name.to_owned(),
        url: form.url.clone(),
        schema: form.schema.clone(),
        has_password: held.passwords.contains_key(name),
        fixed: false,
    }
}

fn shown_fixed(name: &str, target: &FixedTarget, held: &TargetsState) -> SavedTarget {
    SavedTarget {
        name: name.to_owned(),
        url: target.url.clone(),
        schema: target.schema.clone(),
        has_password: held.passwords.contains_key(name) || target.has_password(),
        fixed: true,
    }
}

/// A password given by a client overrides that of the file.
fn apply_fixed(target: &FixedTarget, held: Option<Secret>, settings: &mut Settings) -> Keys {
    settings.set("target", target.url.clone(), Source::Request);
    if let Some(schema) = &target.schema {
        settings.set("schema", schema.clone(), Source::Request);
    }
    let password = held.or_else(|| target.password.clone());
    if let (Some(file), None) = (&target.password_file, &password) {
        settings.set("password-file", file.clone(), Source::Request);
    }
    Keys { password, variable: target.password_variable.clone(), reach: Reach::Process }
}

fn absent(name: &str) -> ApiError {
    let shown: String = name.chars().take(NAME_MAX).collect();
    ApiError::not_found(format!("unknown target `{shown}`"))
}

fn check_name(name: &str) -> Result<(), ApiError> {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | ' ');
    if name.trim().is_empty() || name.chars().count() > NAME_MAX || !name.chars().all(plain) {
        let message = "a name must have 1 to 64 characters: letters, digits, spaces or any of -_.";
        return Err(ApiError::invalid(message).about("name"));
    }
    Ok(())
}

/// The secrets of a target, for the runner.
#[derive(Clone, Debug)]
pub struct Keys {
    password: Option<Secret>,
    variable: Option<String>,
    reach: Reach,
}

impl Secrets for Keys {
    /// The runner reads only TRIPHAMMER_PASSWORD. The server's own variable is used only for
    /// targets that name it.
    fn variable(&self, _: &str) -> Option<String> {
        let held = self.password.as_ref().map(|password| password.reveal().to_owned());
        let read = || std::env::var(self.variable.as_deref()?).ok();
        held.or_else(read).filter(|text| !text.is_empty())
    }

    fn reach(&self) -> Reach {
        self.reach.clone()
    }

    fn is_of_client(&self) -> bool {
        true
    }

    fn prompt(&self, _: &str) -> Result<String, SpecError> {
        Err(SpecError::new("the server cannot ask for a password"))
    }
}

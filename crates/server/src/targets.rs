//! Saved targets: a name, a URL without secrets, and where its password comes from, in a file beside the job
//! store. A password itself is in memory only, and goes with the server.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use serde::{Deserialize, Serialize};
use triphammer_core::SpecError;
use triphammer_drivers::target::{Secret, TargetUrl};
use triphammer_runner::settings::{Settings, Source};
use triphammer_runner::target::Secrets;
use utoipa::ToSchema;

use crate::error::ApiError;

/// Longest name.
const NAME_MAX: usize = 64;
/// Most targets.
const TARGETS_MAX: usize = 500;

/// A target as it is saved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TargetForm {
    /// URL of the database. A password in it is taken out, and held in memory only.
    #[schema(example = "postgres://bench@db1:5432/tpcc")]
    pub url: String,
    /// Schema in the database to work in; the user's own when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    /// File on the server's host that holds the password on its first line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub password_file: Option<String>,
    /// Environment variable of the server that holds the password: `TRIPHAMMER_PASSWORD` or one that begins so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub password_variable: Option<String>,
}

/// A saved target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SavedTarget {
    /// Its name.
    pub name: String,
    /// URL without secrets.
    pub url: String,
    /// Schema to work in; the user's own when absent.
    pub schema: Option<String>,
    /// File on the server's host that holds the password.
    pub password_file: Option<String>,
    /// Environment variable of the server that holds the password.
    pub password_variable: Option<String>,
    /// Whether the server holds a password for it in memory.
    pub has_password: bool,
}

/// The saved targets.
#[derive(Debug)]
pub struct Targets {
    file: PathBuf,
    held: Mutex<Held>,
}

#[derive(Debug, Default)]
struct Held {
    saved: BTreeMap<String, TargetForm>,
    passwords: BTreeMap<String, Secret>,
}

impl Targets {
    /// The targets in the file beside a job store.
    ///
    /// # Errors
    /// When there is a file that cannot be read.
    pub fn open(store: &Path) -> Result<Self, ApiError> {
        let file = store.with_extension("targets.json");
        let cannot = |what: &dyn std::fmt::Display| {
            ApiError::invalid(format!("reading the saved targets {}: {what}", file.display()))
        };
        let saved = match std::fs::read_to_string(&file) {
            Ok(text) => serde_json::from_str(&text).map_err(|error| cannot(&error))?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => BTreeMap::new(),
            Err(error) => return Err(cannot(&error)),
        };
        let held = Mutex::new(Held { saved, passwords: BTreeMap::new() });
        Ok(Self { file, held })
    }

    /// All, by name.
    pub fn list(&self) -> Vec<SavedTarget> {
        let held = self.lock();
        held.saved.iter().map(|(name, form)| shown(name, form, &held)).collect()
    }

    /// One.
    ///
    /// # Errors
    /// When there is none of that name.
    pub fn get(&self, name: &str) -> Result<SavedTarget, ApiError> {
        let held = self.lock();
        let form = held.saved.get(name).ok_or_else(|| absent(name))?;
        Ok(shown(name, form, &held))
    }

    /// Saves one, new or changed. A password that was held for it stays only when URL and all stay.
    ///
    /// # Errors
    /// When the name or URL cannot be, or the file cannot be written.
    pub fn put(&self, name: &str, mut form: TargetForm) -> Result<SavedTarget, ApiError> {
        check_name(name)?;
        let mut url = TargetUrl::parse(&form.url).map_err(|e| ApiError::from(e).about("url"))?;
        let password = url.password.take();
        if url.has_password() {
            return Err(ApiError::invalid(
                "a password among the parameters of a URL would be saved with it; give it as `password`",
            )
            .about("url"));
        }
        form.url = url.redacted();
        if let Some(variable) = &form.password_variable
            && !variable.starts_with("TRIPHAMMER_PASSWORD")
        {
            return Err(ApiError::invalid(
                "the variable of a password is TRIPHAMMER_PASSWORD or begins so, so that no other \
                 secret of the server's environment can be sent anywhere",
            )
            .about("password_variable"));
        }
        let mut held = self.lock();
        if held.saved.len() >= TARGETS_MAX && !held.saved.contains_key(name) {
            return Err(ApiError::conflict(format!("{TARGETS_MAX} targets are saved; delete one")));
        }
        // A password never goes to another server than the one it was given for.
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

    /// Forgets one.
    ///
    /// # Errors
    /// When there is none of that name, or the file cannot be written.
    pub fn delete(&self, name: &str) -> Result<(), ApiError> {
        let mut held = self.lock();
        let mut saved = held.saved.clone();
        saved.remove(name).ok_or_else(|| absent(name))?;
        self.write(&saved)?;
        held.saved = saved;
        held.passwords.remove(name);
        Ok(())
    }

    /// Holds a password for one as long as the server lives, or forgets it.
    ///
    /// # Errors
    /// When there is none of that name.
    pub fn hold(&self, name: &str, password: Option<Secret>) -> Result<SavedTarget, ApiError> {
        let mut held = self.lock();
        let form = held.saved.get(name).ok_or_else(|| absent(name))?.clone();
        match password {
            Some(password) => held.passwords.insert(name.to_owned(), password),
            None => held.passwords.remove(name),
        };
        Ok(shown(name, &form, &held))
    }

    /// Says a target and its settings, and gives the secrets that go with it.
    ///
    /// # Errors
    /// When there is none of that name.
    pub fn say(&self, name: &str, settings: &mut Settings) -> Result<Keys, ApiError> {
        let held = self.lock();
        let form = held.saved.get(name).ok_or_else(|| absent(name).about("target"))?;
        settings.say("target", form.url.clone(), Source::Request);
        if let Some(schema) = &form.schema {
            settings.say("schema", schema.clone(), Source::Request);
        }
        let password = held.passwords.get(name).cloned();
        if let (Some(file), None) = (&form.password_file, &password) {
            settings.say("password-file", file.clone(), Source::Request);
        }
        Ok(Keys { password, variable: form.password_variable.clone() })
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

    fn lock(&self) -> std::sync::MutexGuard<'_, Held> {
        self.held.lock().expect("nobody panics with it")
    }
}

/// A new file that its owner alone reads.
fn private(path: &Path) -> std::io::Result<std::fs::File> {
    let mut options = std::fs::File::options();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn shown(name: &str, form: &TargetForm, held: &Held) -> SavedTarget {
    SavedTarget {
        name: name.to_owned(),
        url: form.url.clone(),
        schema: form.schema.clone(),
        password_file: form.password_file.clone(),
        password_variable: form.password_variable.clone(),
        has_password: held.passwords.contains_key(name),
    }
}

fn absent(name: &str) -> ApiError {
    let shown: String = name.chars().take(NAME_MAX).collect();
    ApiError::not_found(format!("no target is called `{shown}`"))
}

fn check_name(name: &str) -> Result<(), ApiError> {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | ' ');
    if name.trim().is_empty() || name.chars().count() > NAME_MAX || !name.chars().all(plain) {
        let message = "a name has 1 to 64 letters, digits, blanks or any of -_.";
        return Err(ApiError::invalid(message).about("name"));
    }
    Ok(())
}

/// The secrets of a target, for the runner.
#[derive(Clone, Debug, Default)]
pub struct Keys {
    password: Option<Secret>,
    variable: Option<String>,
}

impl Secrets for Keys {
    /// The runner asks for TRIPHAMMER_PASSWORD only. The server's own one is not for every target: it goes
    /// where the target says so.
    fn variable(&self, _: &str) -> Option<String> {
        let held = self.password.as_ref().map(|password| password.reveal().to_owned());
        let read = || std::env::var(self.variable.as_deref()?).ok();
        held.or_else(read).filter(|text| !text.is_empty())
    }

    fn prompt(&self, _: &str) -> Result<String, SpecError> {
        Err(SpecError::new("the server has no terminal to ask for a password at"))
    }
}

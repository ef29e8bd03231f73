//! Commands of this host's shell that a user has a job run: the faults of a drill, and what restores a database before a
//! run.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use triphammer_core::clock::{Clock, wall};
use triphammer_document::redacted::mask_secrets;
use triphammer_settings::handle::Handle;

/// Time between two looks at a running command.
const COMMAND_POLL: Duration = Duration::from_millis(20);
/// The last bytes of a command's output that are reported.
const OUTPUT_BYTES_MAX: u64 = 2_000;

/// Runs a command of the host's shell, with these variables in its environment, to its end or to that of the job on
/// request. Returns how it ended and the last of what it wrote.
///
/// # Errors
/// The same, when it cannot be started, fails, or is killed after `limit`.
pub(crate) fn run(
    command: &str,
    variables: &[(String, String)],
    limit: Duration,
    handle: &Handle,
) -> Result<String, String> {
    let begun = || -> io::Result<(Child, File)> {
        // A file: what the command starts in the background would keep a pipe open.
        let output = unnamed_file()?;
        let child = shell(command)
            .envs(variables.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(output.try_clone()?)
            .stderr(output.try_clone()?)
            .spawn()?;
        Ok((child, output))
    };
    let (mut child, output) = begun().map_err(|error| format!("cannot be started: {error}"))?;
    let ended = wait(&mut child, limit, handle).map_err(|error| error.to_string())?;
    let printed = last_of(output).unwrap_or_default();
    let printed = mask_secrets(printed.trim());
    let with = |what: String| match printed.as_str() {
        "" => what,
        printed => format!("{what}: {printed}"),
    };
    match ended {
        CommandEnd::Itself(status) if status.success() => Ok(with("exit code 0".to_owned())),
        CommandEnd::Itself(status) => Err(with(status.to_string())),
        CommandEnd::OnRequest => Err(with("was ended, as the job was".to_owned())),
        CommandEnd::Late => {
            Err(with(format!("did not end within {} s and was killed", limit.as_secs())))
        }
    }
}

/// Creates a file without a name, which is gone with its last user.
fn unnamed_file() -> io::Result<File> {
    static FILES: AtomicU32 = AtomicU32::new(0);
    let number = FILES.fetch_add(1, Ordering::Relaxed);
    let name = format!("triphammer-command-{}-{}-{number}", std::process::id(), wall().0);
    let path = std::env::temp_dir().join(name);
    let file = File::options().read(true).write(true).create_new(true).open(&path)?;
    // Some systems cannot remove an open file; then it stays in the folder of temporary files.
    let _ = std::fs::remove_file(path);
    Ok(file)
}

#[cfg(unix)]
fn shell(command: &str) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", command]);
    // A group of its own: what the command starts can be ended with it, and Ctrl-C at the terminal is for the job.
    std::os::unix::process::CommandExt::process_group(&mut shell, 0);
    shell
}

#[cfg(not(unix))]
fn shell(command: &str) -> Command {
    let mut shell = Command::new("cmd");
    shell.args(["/C", command]);
    shell
}

/// How a command ended.
enum CommandEnd {
    Itself(ExitStatus),
    OnRequest,
    Late,
}

/// Waits for a command, and kills it after the limit or when the job is to end.
fn wait(child: &mut Child, limit: Duration, handle: &Handle) -> io::Result<CommandEnd> {
    let clock = Clock::start();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(CommandEnd::Itself(status));
        }
        let is_late = clock.now().duration() > limit;
        if is_late || handle.is_stopped() {
            kill(child)?;
            child.wait()?;
            return Ok(if is_late { CommandEnd::Late } else { CommandEnd::OnRequest });
        }
        std::thread::sleep(COMMAND_POLL);
    }
}

/// Kills a shell and what it has started.
#[cfg(unix)]
fn kill(child: &mut Child) -> io::Result<()> {
    let group = rustix::process::Pid::from_child(child);
    Ok(rustix::process::kill_process_group(group, rustix::process::Signal::KILL)?)
}

#[cfg(not(unix))]
fn kill(child: &mut Child) -> io::Result<()> {
    child.kill()
}

/// The last part of a command's output.
fn last_of(mut output: File) -> io::Result<String> {
    let length = output.seek(SeekFrom::End(0))?;
    output.seek(SeekFrom::Start(length.saturating_sub(OUTPUT_BYTES_MAX)))?;
    let mut bytes = Vec::new();
    output.take(OUTPUT_BYTES_MAX).read_to_end(&mut bytes)?;
    Ok(triphammer_core::text::message(&String::from_utf8_lossy(&bytes)))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(300);

    #[test]
    fn a_command_reports_its_exit_code_and_output() {
        let run = |command: &str| run(command, &[], LIMIT, &Handle::default());
        assert_eq!(run("echo done; true").unwrap(), "exit code 0: done");
        let failed = run("echo no such server >&2; exit 3").unwrap_err();
        assert!(failed.contains('3') && failed.ends_with("no such server"), "{failed}");
        // What it leaves in the background holds its output open.
        assert_eq!(
            run("sleep 60 & echo started $!; kill $!").unwrap()[..20],
            *"exit code 0: started"
        );
    }

    #[test]
    fn a_command_ends_with_the_job_and_leaves_nothing() {
        let handle = Handle::default();
        handle.stop();
        let ended = run("sleep 600", &[], LIMIT, &handle).unwrap_err();
        assert_eq!(ended, "was ended, as the job was");
        let (reader, mut writer) = io::pipe().unwrap();
        let mut shell = shell("sleep 600 & wait");
        let mut child = shell.stdout(writer.try_clone().unwrap()).spawn().unwrap();
        io::Write::write_all(&mut writer, b"x").unwrap();
        drop((shell, writer));
        assert!(matches!(wait(&mut child, LIMIT, &handle).unwrap(), CommandEnd::OnRequest));
        // The pipe ends when no process has it any more.
        assert_eq!(io::read_to_string(reader).unwrap(), "x");
    }

    #[test]
    fn a_command_has_its_variables() {
        let variables = [("CELL_VUS".to_owned(), "8".to_owned())];
        let ran = run("echo vus=$CELL_VUS", &variables, LIMIT, &Handle::default());
        assert_eq!(ran.unwrap(), "exit code 0: vus=8");
    }
}

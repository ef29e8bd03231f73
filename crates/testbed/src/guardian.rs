//! The guardian: the shell that starts a server, and stops it when the test process ends.

use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::TestbedError;

/// Arguments: folder to remove, file for the server's process id, log, a first command as shell
/// text (may be empty), the server's command. Its standard input says when to stop: the word `keep`
/// preserves the folder, the end of the input does not. A server that has just started still
/// ignores QUIT, as everything does that a shell starts in the background; it ends on TERM.
const SCRIPT: &str = r#"
folder=$1 pid_file=$2 log=$3 first=$4
shift 4
if [ -n "$first" ] && ! eval "$first" </dev/null >>"$log" 2>&1; then
    echo failed >"$pid_file"
    read -r word
    [ "$word" = keep ] || rm -rf "$folder"
    exit 1
fi
"$@" </dev/null >>"$log" 2>&1 &
server=$!
echo "$server" >"$pid_file.new"
mv "$pid_file.new" "$pid_file"
read -r word
kill -CONT "$server" 2>/dev/null
kill -TERM "$server" 2>/dev/null
kill -QUIT "$server" 2>/dev/null
wait "$server"
[ "$word" = keep ] || rm -rf "$folder"
"#;

/// Interval at which killed processes are checked to be gone.
const DEATH_POLL: Duration = Duration::from_millis(5);
const DEATH_POLLS_MAX: u32 = 12_000;

/// A running guardian process.
pub struct Guardian {
    child: Child,
    server: Option<Pid>,
}

/// Commands and paths of a guardian.
pub struct GuardianPlan<'a> {
    /// Folder that is removed when the guardian ends.
    pub folder: &'a Path,
    /// File for the output of the commands.
    pub log: &'a Path,
    /// A command to run first, such as creating the data folder; may be empty.
    pub first: &'a [String],
    /// The command that starts the server.
    pub server: &'a [String],
}

impl Guardian {
    /// Starts a guardian and its commands.
    pub fn start(plan: &GuardianPlan<'_>) -> Result<Self, TestbedError> {
        let pid_file = plan.folder.join("server.pid");
        // Left over from an earlier start in this folder.
        let _ = std::fs::remove_file(&pid_file);
        let child = attendant(SCRIPT)
            .arg(plan.folder)
            .arg(&pid_file)
            .arg(plan.log)
            .arg(shell_text(plan.first))
            .args(plan.server)
            .spawn()
            .map_err(TestbedError::io("starting sh"))?;
        Ok(Self { child, server: None })
    }

    /// The server's process id once it has one.
    ///
    /// # Errors
    /// When the first command failed.
    pub fn server(&mut self, folder: &Path) -> Result<Option<Pid>, TestbedError> {
        if self.server.is_none() {
            let text = std::fs::read_to_string(folder.join("server.pid")).unwrap_or_default();
            if text.trim() == "failed" {
                return Err(TestbedError::Failed("the data folder could not be created".into()));
            }
            self.server = text.trim().parse().ok().and_then(Pid::from_raw);
        }
        Ok(self.server)
    }

    /// Whether the server has ended on its own.
    pub fn has_ended(&self) -> bool {
        self.server.is_some_and(|pid| !is_alive(pid))
    }

    /// Stops the server and waits for it; preserves the folder if `keep`.
    pub fn stop(mut self, keep: bool) {
        self.end(keep);
    }

    fn end(&mut self, keep: bool) {
        if let Some(mut stdin) = self.child.stdin.take()
            && keep
        {
            // A guardian that has ended needs no message.
            let _ = stdin.write_all(b"keep\n");
        }
        let _ = self.child.wait();
    }

    /// Sends a signal to the server and to the processes it has started.
    pub fn signal(&self, signal: Signal) {
        let Some(server) = self.server else { return };
        // A process that has just ended is not a failure.
        let _ = kill_process(server, signal);
        for child in children(server) {
            let _ = kill_process(child, signal);
        }
    }

    /// Kills the server and the processes it has started, and waits until they are gone. The server
    /// is paused first, so that it starts no others and its children can still be found.
    pub fn kill(&self) {
        let Some(server) = self.server else { return };
        let _ = kill_process(server, Signal::STOP);
        let mut family = children(server);
        family.push(server);
        for process in &family {
            let _ = kill_process(*process, Signal::KILL);
        }
        for _ in 0..DEATH_POLLS_MAX {
            if !family.iter().any(|process| is_alive(*process)) {
                return;
            }
            std::thread::sleep(DEATH_POLL);
        }
    }
}

/// A shell that outlives the test process, whose end it sees as that of its standard input.
pub(crate) fn attendant(script: &str) -> Command {
    use std::os::unix::process::CommandExt as _;
    let mut shell = Command::new("sh");
    shell
        .args(["-c", script, "attendant"])
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        // Ctrl-C at the terminal is meant for the test process; its end is what counts here.
        .process_group(0);
    shell
}

/// Quotes a command for a shell.
fn shell_text(words: &[String]) -> String {
    let quoted = words.iter().map(|word| format!("'{}'", word.replace('\'', "'\\''")));
    quoted.collect::<Vec<_>>().join(" ")
}

impl Drop for Guardian {
    fn drop(&mut self) {
        self.end(false);
    }
}

/// Whether a process is running; a zombie is not.
fn is_alive(pid: Pid) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero()));
    stat.is_ok_and(|stat| stat_field(&stat, 0) != Some("Z"))
}

/// Field of `/proc/PID/stat`, counted from the state, which follows the name in parentheses.
fn stat_field(stat: &str, index: usize) -> Option<&str> {
    stat.rsplit_once(')')?.1.split_whitespace().nth(index)
}

/// The child processes of a process.
fn children(parent: Pid) -> Vec<Pid> {
    let wanted = parent.as_raw_nonzero().to_string();
    let Ok(processes) = std::fs::read_dir("/proc") else { return Vec::new() };
    processes
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok())
        .filter(|pid| {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"));
            stat.is_ok_and(|stat| stat_field(&stat, 1) == Some(wanted.as_str()))
        })
        .filter_map(Pid::from_raw)
        .collect()
}

//! The first answer of a database after a pause without connections (`--pause`).

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use triphammer_core::clock::{DurationText, format_duration};
use triphammer_core::login::LoginTimes;
use triphammer_core::recorder::Login;
use triphammer_settings::format::{counted, seconds};

/// When a database answered first after a time in which triphammer had no connection to it. All of
/// this is before the load, and in none of its figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FirstAnswer {
    /// How long there was no connection.
    #[serde(with = "DurationText")]
    pub pause: Duration,
    /// Time from the beginning of the first attempt to log in to the answer, in seconds.
    #[schemars(range(min = 0.0))]
    pub answer_s: f64,
    /// Time of the login that succeeded, in seconds, and below its phases.
    #[schemars(range(min = 0.0))]
    pub login_s: f64,
    /// Time to the connection, in seconds; `None` if the driver cannot tell it, and likewise below.
    pub connect_s: Option<f64>,
    /// Time for TLS, in seconds; `None` without TLS, too.
    pub tls_s: Option<f64>,
    /// Time for authentication, in seconds.
    pub authentication_s: Option<f64>,
    /// Time for setting up the session, in seconds.
    pub setup_s: Option<f64>,
    /// Time of the statement, in seconds: the smallest one that the database has, such as SELECT 1.
    #[schemars(range(min = 0.0))]
    pub statement_s: f64,
    /// Number of attempts that failed before.
    pub failed: u64,
    /// Error of the first of them; `None` if none failed.
    pub error: Option<String>,
    /// All of it in words.
    pub words: String,
}

/// What was measured of a first answer.
#[derive(Clone, Debug)]
pub struct AnswerTimes {
    /// How long there was no connection.
    pub pause: Duration,
    /// From the first attempt to the answer.
    pub answer: Duration,
    /// The login that succeeded.
    pub login: Login,
    /// The statement.
    pub statement: Duration,
    /// Number of attempts that failed before.
    pub failed: u64,
    /// Error of the first of them.
    pub error: Option<String>,
}

impl FirstAnswer {
    /// The first answer, with its words.
    #[must_use]
    pub fn new(times: AnswerTimes) -> Self {
        let AnswerTimes { pause, answer, login: Login { took, phases }, statement, failed, error } =
            times;
        let LoginTimes { connect, tls, authentication } = phases;
        let in_seconds = |time: Option<Duration>| time.map(|time| time.as_secs_f64());
        let mut all = Self {
            pause,
            answer_s: answer.as_secs_f64(),
            login_s: took.as_secs_f64(),
            connect_s: in_seconds(connect),
            tls_s: in_seconds(tls),
            authentication_s: in_seconds(authentication),
            setup_s: in_seconds(phases.rest(took)),
            statement_s: statement.as_secs_f64(),
            failed,
            error,
            words: String::new(),
        };
        all.words = all.in_words();
        all
    }

    /// Formats `first answer after a pause of 10m: 1.200 s (login 1.100 s: TCP 1.050 s, authentication
    /// 0.050 s; statement 0.100 s)`.
    fn in_words(&self) -> String {
        let phases = [
            ("TCP", self.connect_s),
            ("TLS", self.tls_s),
            ("authentication", self.authentication_s),
            ("set-up", self.setup_s),
        ];
        let phase = |(name, time): (&str, Option<f64>)| Some(format!("{name} {}", seconds(time?)));
        let phases: Vec<String> = phases.into_iter().filter_map(phase).collect();
        let login = match phases.is_empty() {
            true => format!("login {},", seconds(self.login_s)),
            false => format!("login {}: {};", seconds(self.login_s), phases.join(", ")),
        };
        let failed = match &self.error {
            Some(error) => format!(
                "after {} that failed in {}, the first with: {error}; ",
                counted(self.failed, "logins"),
                seconds((self.answer_s - self.login_s - self.statement_s).max(0.0))
            ),
            None => String::new(),
        };
        format!(
            "first answer after a pause of {}: {} ({failed}{login} statement {})",
            format_duration(self.pause),
            seconds(self.answer_s),
            seconds(self.statement_s)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_first_answer_has_the_phases_that_are_known_and_what_failed_before() {
        let ms = Duration::from_millis;
        let times = AnswerTimes {
            pause: Duration::from_secs(600),
            answer: ms(1_200),
            login: Login { took: ms(1_100), phases: LoginTimes::default() },
            statement: ms(100),
            failed: 0,
            error: None,
        };
        assert_eq!(
            FirstAnswer::new(times.clone()).words,
            "first answer after a pause of 10m: 1.200 s (login 1.100 s, statement 0.100 s)"
        );
        let phases =
            LoginTimes { connect: Some(ms(50)), tls: None, authentication: Some(ms(1_000)) };
        let found = FirstAnswer::new(AnswerTimes {
            answer: ms(5_200),
            login: Login { took: ms(1_100), phases },
            failed: 3,
            error: Some("the database system is starting up".to_owned()),
            ..times
        });
        assert_eq!(
            found.words,
            "first answer after a pause of 10m: 5.200 s (after 3 logins that failed in 4.000 s, the \
             first with: the database system is starting up; login 1.100 s: TCP 0.050 s, \
             authentication 1.000 s, set-up 0.050 s; statement 0.100 s)"
        );
        assert_eq!((found.tls_s, found.setup_s), (None, Some(0.05)));
    }
}

//! Declarations of checks, and the lines that they give.

use triphammer_document::doctor::{Cost, Goal, Group, Line, SetupVerdict};
use triphammer_settings::files::Files;

/// What a check found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reading {
    /// The judgement.
    pub verdict: SetupVerdict,
    /// The value, for people.
    pub value: String,
    /// The only goal that the judgement is about; `None` for all goals of the check.
    pub goal: Option<Goal>,
}

impl Reading {
    /// A value that is as it should be if `is_fine`, else one to look at.
    pub(super) fn look_unless(is_fine: bool, value: impl Into<String>) -> Self {
        Self::of(if is_fine { SetupVerdict::Fine } else { SetupVerdict::Look }, value)
    }

    pub(super) fn of(verdict: SetupVerdict, value: impl Into<String>) -> Self {
        Self { verdict, value: value.into(), goal: None }
    }

    /// A value to look at for one goal: it serves the other.
    pub(super) fn look_for(goal: Goal, value: impl Into<String>) -> Self {
        Self { goal: Some(goal), ..Self::of(SetupVerdict::Look, value) }
    }
}

/// How a check's fact is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The command or setting, for all goals of the check.
    One(&'static str),
    /// Each goal needs the opposite of the other.
    Opposite {
        /// For the highest speed.
        speed: &'static str,
        /// For comparable runs.
        comparable: &'static str,
    },
}

impl Change {
    /// The command for one goal, or in words for all.
    #[must_use]
    pub fn words(self, goal: Option<Goal>) -> String {
        match (self, goal) {
            (Self::One(change), _) => change.to_owned(),
            (Self::Opposite { speed, .. }, Some(Goal::Speed)) => speed.to_owned(),
            (Self::Opposite { comparable, .. }, Some(Goal::Comparable)) => comparable.to_owned(),
            (Self::Opposite { speed, comparable }, None) => {
                let [first, second] = [Goal::Speed, Goal::Comparable].map(Goal::words);
                format!("for {first}: {speed}; for {second}: {comparable}")
            }
        }
    }
}

/// A published measurement of what a setting is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CostDeclaration {
    /// The figure, with what it was measured on.
    pub figure: &'static str,
    /// Author and title of the source.
    pub source: &'static str,
    /// Address of the source.
    pub url: &'static str,
}

/// How a check's setting is read and written, in files of `/sys` and `/proc/sys`.
#[derive(Clone, Copy, Debug)]
pub struct Knob {
    /// Its places: the first of which the host has a file is used.
    pub places: &'static [KnobPlace],
    /// The advised value; of a check whose goals need the opposite, that for speed.
    pub advised: &'static str,
    /// What is compared where the host has the advised value already; `None` if it depends on the
    /// host.
    pub other: Option<&'static str>,
}

/// A place of a setting.
#[derive(Clone, Copy, Debug)]
pub struct KnobPlace {
    /// Files below the root: `*` stands for a number, and `DISK` for the queue of each disk with the
    /// data.
    pub files: &'static str,
    /// Names of values, with what the files contain: `=FILE` is the contents of another file beside
    /// it. A value without a name is written as it is.
    pub words: &'static [(&'static str, &'static str)],
    /// Whether a file belongs to the setting, given its path.
    pub has: fn(&Files, &str) -> bool,
}

impl KnobPlace {
    /// A place whose values have no other names.
    pub(super) const fn of(files: &'static str) -> Self {
        Self::named(files, &[])
    }

    /// A place whose values have names.
    pub(super) const fn named(
        files: &'static str,
        words: &'static [(&'static str, &'static str)],
    ) -> Self {
        Self { files, words, has: |_, _| true }
    }

    /// Restricts the files to those that belong to the setting.
    pub(super) const fn only(self, has: fn(&Files, &str) -> bool) -> Self {
        Self { has, ..self }
    }
}

/// What is declared about a check.
#[derive(Clone, Copy, Debug)]
pub struct CheckDeclaration {
    /// Name in reports and documents.
    pub name: &'static str,
    /// What it is about.
    pub group: Group,
    /// The goals that it serves; empty for checks of network and database.
    pub goals: &'static [Goal],
    /// Why it matters.
    pub why: &'static str,
    /// What the setting is worth; `None` if no published measurement is known.
    pub cost: Option<CostDeclaration>,
    /// How it is changed.
    pub change: Change,
    /// How `--prove` changes it; `None` if it cannot.
    pub knob: Option<Knob>,
}

impl CheckDeclaration {
    pub(super) fn line(&self, reading: Reading) -> Line {
        let cost = self.cost.map(|CostDeclaration { figure, source, url }| Cost {
            figure: figure.to_owned(),
            source: source.to_owned(),
            url: url.to_owned(),
        });
        Line {
            group: self.group,
            name: self.name.to_owned(),
            value: reading.value,
            verdict: reading.verdict,
            goals: reading.goal.map_or_else(|| self.goals.to_vec(), |goal| vec![goal]),
            why: self.why.to_owned(),
            cost,
            change: self.change.words(reading.goal),
        }
    }
}

/// A check of facts `F`.
pub(super) struct Check<F> {
    pub declared: CheckDeclaration,
    /// Reads its fact; `None` if that is not possible or does not apply.
    pub read: fn(&F) -> Option<Reading>,
    /// Whether the value varies from moment to moment, so that a run neither warns of it nor keeps it.
    pub is_momentary: bool,
}

impl<F> Check<F> {
    /// Marks a check whose value varies from moment to moment.
    pub const fn momentary(mut self) -> Self {
        self.is_momentary = true;
        self
    }

    /// Adds how `--prove` changes the setting: the advised value, what is compared where the host has
    /// it already, and the places.
    pub const fn set_in(
        mut self,
        advised: &'static str,
        other: Option<&'static str>,
        places: &'static [KnobPlace],
    ) -> Self {
        self.declared.knob = Some(Knob { places, advised, other });
        self
    }

    /// Adds what somebody measured and published: the figure, author and title, and the address.
    pub const fn costs(
        mut self,
        figure: &'static str,
        source: &'static str,
        url: &'static str,
    ) -> Self {
        self.declared.cost = Some(CostDeclaration { figure, source, url });
        self
    }
}

//! Values that the server made, such as ids: where a recording uses them, and what the replayed server made instead.
//!
//! A recorded value is known with the column that it was made for, its *domain*. An argument uses a domain if its column has
//! the name of the domain's, or if all values that it shares with the domain were made before it used them: an argument that
//! has nothing to do with the domain would meet a value too early sooner or later. Small numbers of two columns meet in the same
//! order nevertheless, where both begin with 1. So the name of the column must allow it (`naming`), and if the column is unknown, all
//! of the argument's values must be the domain's.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::{PoisonError, RwLock};

use triphammer_capture::Argument;
use triphammer_capture::recording::Recording;

use super::facts::{ArgumentColumn, StatementFacts};
use super::naming::{DomainName, is_named, may_use};
use super::timeline::Timeline;

/// Different values that an argument must share with a domain to use it, if their names do not say so: small numbers, such as
/// quantities, meet those of new rows by chance.
const SHARED_MIN: usize = 10;
/// Of texts, one is enough if it has so many characters: two such do not meet by chance.
const TEXT_MIN: usize = 12;
/// Of values that are shared by name, at most this share may be met before they are made.
const EARLY_SHARE: f64 = 0.1;

/// Number of a domain.
pub type Domain = u16;

/// Where values come from that the server makes, and where they are used.
#[derive(Debug, Default)]
pub struct Ids {
    /// By statement, and by place in its made rows, their domains.
    made: Vec<Vec<Domain>>,
    /// By statement and argument, the domains whose values it uses.
    uses: Vec<Vec<Box<[Domain]>>>,
    /// By domain and value, the transaction that makes it. A value that several make is left out.
    makers: HashMap<(Domain, Argument), u32>,
    /// Arguments that use a value before it is made in a domain, by the number of their statement among all: it was another
    /// one then.
    early: HashSet<(usize, usize, Domain)>,
}

/// A made value: its domain, and the place of its making in the timeline.
#[derive(Clone, Copy, Debug)]
struct Making {
    domain: Domain,
    order: usize,
}

/// How an argument and a domain meet.
#[derive(Debug, Default)]
struct Meeting {
    /// Different values that were made before they were used.
    values: BTreeSet<usize>,
    hits: usize,
    /// Uses of a value before it was made.
    early: usize,
    is_long: bool,
}

/// How arguments and domains meet.
#[derive(Debug, Default)]
struct Meetings {
    /// By statement, argument and domain.
    met: BTreeMap<(usize, usize, Domain), Meeting>,
    /// By statement and argument, how often it had a value.
    had: HashMap<(usize, usize), usize>,
}

impl Meeting {
    /// Whether an argument with the name of the domain uses it.
    fn is_use_by_name(&self) -> bool {
        #[expect(clippy::cast_precision_loss, reason = "numbers of statements")]
        let early = self.early as f64 / (self.hits + self.early).max(1) as f64;
        self.hits > 0 && early <= EARLY_SHARE
    }

    /// Whether an argument with another name uses it, that had a value so many times.
    fn is_use_by_value(&self, column: &ArgumentColumn, had: usize) -> bool {
        let is_likely = self.values.len() >= SHARED_MIN || self.is_long && self.hits > 0;
        self.early == 0 && is_likely && (column.column.is_some() || self.hits == had)
    }
}

impl Ids {
    /// Finds made values and their uses.
    /// `firsts` are the numbers of the first statements of transactions among all.
    pub fn of(
        recording: &Recording,
        facts: &[StatementFacts],
        timeline: &Timeline,
        firsts: &[usize],
    ) -> Self {
        let mut ids = Self::default();
        let mut names: Vec<DomainName> = Vec::new();
        let makings = ids.find_made(recording, facts, timeline, &mut names);
        if makings.is_empty() {
            return ids;
        }
        let Meetings { met, had } = ids.meetings(recording, timeline, &makings, firsts);
        let widest = |statement: usize| facts[statement].columns.len();
        ids.uses = (0..facts.len()).map(|one| vec![Box::default(); widest(one)]).collect();
        let tables: BTreeSet<&str> = facts.iter().map(|of| of.table.as_str()).collect();
        let mut by_place: BTreeMap<(usize, usize), Vec<(Domain, &Meeting)>> = BTreeMap::new();
        for ((statement, argument, domain), meeting) in &met {
            by_place.entry((*statement, *argument)).or_default().push((*domain, meeting));
        }
        for ((statement, argument), found) in by_place {
            let Some(column) = facts[statement].columns.get(argument) else { continue };
            let name = |domain: Domain| &names[usize::from(domain)];
            let named: Vec<Domain> = found
                .iter()
                .filter(|(domain, met)| {
                    is_named(name(*domain), column, &tables) && met.is_use_by_name()
                })
                .map(|(domain, _)| *domain)
                .collect();
            let had = had.get(&(statement, argument)).copied().unwrap_or_default();
            let may = |domain: Domain| may_use(name(domain), &facts[statement], column, &tables);
            let by_value = || {
                let used = found
                    .iter()
                    .filter(|(domain, met)| met.is_use_by_value(column, had) && may(*domain));
                used.map(|(domain, _)| *domain).collect()
            };
            let domains: Vec<Domain> = if named.is_empty() { by_value() } else { named };
            if let Some(place) = ids.uses[statement].get_mut(argument) {
                *place = domains.into();
            }
        }
        ids
    }

    /// The makings by value; sets domains and makers.
    fn find_made(
        &mut self,
        recording: &Recording,
        facts: &[StatementFacts],
        timeline: &Timeline,
        names: &mut Vec<DomainName>,
    ) -> HashMap<Argument, (usize, Vec<Making>)> {
        let mut makings: HashMap<Argument, (usize, Vec<Making>)> = HashMap::new();
        let mut ambiguous = HashSet::new();
        // Values that a session's inserts made: those that it reads again are not new.
        let mut of_session: HashSet<(usize, Argument)> = HashSet::new();
        self.made = vec![Vec::new(); facts.len()];
        for (order, moment) in timeline.moments.iter().enumerate() {
            let transaction = &recording.transactions[moment.transaction as usize];
            let step = &transaction.steps[moment.step as usize];
            let Some(answer) = step.answer.as_ref().filter(|_| facts[step.shape].makes) else {
                continue;
            };
            let made = facts[step.shape].all_made(&answer.made, answer.changed);
            for (place, value) in made.iter().flat_map(|row| row.iter().enumerate()) {
                let Some(domain) = self.domain(step.shape, place, &facts[step.shape], names) else {
                    continue;
                };
                let in_session = (transaction.session, value.clone());
                let reads = !facts[step.shape].inserts() && !facts[step.shape].calls_sequence();
                let is_read_again = reads && of_session.contains(&in_session);
                if *value == Argument::Null || is_read_again {
                    continue;
                }
                if facts[step.shape].inserts() {
                    of_session.insert(in_session);
                }
                let made = (domain, value.clone());
                let maker = *self.makers.entry(made.clone()).or_insert(moment.transaction);
                if maker != moment.transaction {
                    ambiguous.insert(made);
                }
                let next = makings.len();
                let (_, of_value) =
                    makings.entry(value.clone()).or_insert_with(|| (next, Vec::new()));
                if of_value.iter().all(|known| known.domain != domain) {
                    of_value.push(Making { domain, order });
                }
            }
        }
        for twice in ambiguous {
            self.makers.remove(&twice);
            if let Some((_, of_value)) = makings.get_mut(&twice.1) {
                of_value.retain(|making| making.domain != twice.0);
            }
        }
        makings
    }

    /// The number of the domain of a value that a statement makes; `None` if there are too many.
    fn domain(
        &mut self,
        statement: usize,
        place: usize,
        facts: &StatementFacts,
        names: &mut Vec<DomainName>,
    ) -> Option<Domain> {
        while self.made[statement].len() <= place {
            let at = self.made[statement].len();
            let name = match facts.returned.get(at) {
                Some(column) if column != "*" => (facts.table.clone(), column.clone()),
                // The key is the first column, nearly always.
                Some(_) if at == 0 => (facts.table.clone(), "id".to_owned()),
                // The last id of an INSERT of MySQL.
                _ if facts.returned.is_empty() && facts.inserts() => {
                    (facts.table.clone(), "id".to_owned())
                }
                _ => (format!("statement {statement}"), at.to_string()),
            };
            let number = names.iter().position(|known| *known == name).unwrap_or_else(|| {
                names.push(name);
                names.len() - 1
            });
            self.made[statement].push(Domain::try_from(number).ok()?);
        }
        self.made[statement].get(place).copied()
    }

    /// Number of values that the recorded server made.
    pub fn count(&self) -> usize {
        self.makers.len()
    }

    /// The domains that an argument of a statement uses.
    pub fn used(&self, statement: usize, argument: usize) -> &[Domain] {
        self.uses.get(statement).and_then(|of| of.get(argument)).map_or(&[], |domains| domains)
    }

    /// The domains of the values that a statement makes, by place in a row.
    pub fn made_by(&self, statement: usize) -> &[Domain] {
        self.made.get(statement).map_or(&[], Vec::as_slice)
    }

    /// The domains from which a statement, whose number among all is given, has the value of an argument, each with the
    /// transaction that makes it.
    pub fn origins<'a>(
        &'a self,
        number: usize,
        shape: usize,
        (argument, value): (usize, &'a Argument),
    ) -> impl Iterator<Item = (Domain, u32)> + 'a {
        self.used(shape, argument).iter().filter_map(move |domain| {
            // The key is owned: a value is looked up once per use.
            let maker = self.makers.get(&(*domain, value.clone()))?;
            let is_early = self.early.contains(&(number, argument, *domain));
            (!is_early).then_some((*domain, *maker))
        })
    }
}

impl Ids {
    /// How arguments and domains meet; notes the uses that are too early.
    fn meetings(
        &mut self,
        recording: &Recording,
        timeline: &Timeline,
        makings: &HashMap<Argument, (usize, Vec<Making>)>,
        firsts: &[usize],
    ) -> Meetings {
        let Meetings { mut met, mut had } = Meetings::default();
        for (order, moment) in timeline.moments.iter().enumerate() {
            let transaction = &recording.transactions[moment.transaction as usize];
            let step = &transaction.steps[moment.step as usize];
            for (argument, value) in step.arguments.iter().enumerate() {
                let is_value = usize::from(*value != Argument::Null);
                *had.entry((step.shape, argument)).or_default() += is_value;
                let Some((number, of_value)) = makings.get(value) else { continue };
                for making in of_value {
                    let meeting = met.entry((step.shape, argument, making.domain)).or_default();
                    let length = matches!(value, Argument::Text(text) if text.len() >= TEXT_MIN);
                    meeting.is_long |= length;
                    if making.order < order {
                        meeting.hits += 1;
                        if meeting.values.len() < SHARED_MIN {
                            meeting.values.insert(*number);
                        }
                    } else {
                        meeting.early += 1;
                        let first = firsts[moment.transaction as usize];
                        let statement = first + moment.step as usize;
                        self.early.insert((statement, argument, making.domain));
                    }
                }
            }
        }
        Meetings { met, had }
    }
}

/// What the replayed server made in place of recorded values.
#[derive(Debug, Default)]
pub struct ReplayedValues {
    by_value: RwLock<HashMap<(Domain, Argument), Argument>>,
    back: RwLock<Back>,
}

/// By a text that was made here, the recorded ones in its place, by domain; where they differ.
pub type Back = HashMap<Vec<u8>, Vec<(Domain, Vec<u8>)>>;

impl ReplayedValues {
    /// Notes what was made in place of a recorded value.
    pub fn add(&self, domain: Domain, recorded: &Argument, made: Argument) {
        if let (Some(here), Some(there)) = (text(&made), text(recorded))
            && here != there
        {
            let mut back = self.back.write().unwrap_or_else(PoisonError::into_inner);
            let known = back.entry(here).or_default();
            known.retain(|(of, _)| *of != domain);
            known.push((domain, there));
        }
        let mut values = self.by_value.write().unwrap_or_else(PoisonError::into_inner);
        values.insert((domain, recorded.clone()), made);
    }

    /// What was made in place of a value of a domain.
    pub fn get(&self, domain: Domain, recorded: &Argument) -> Option<Argument> {
        let values = self.by_value.read().unwrap_or_else(PoisonError::into_inner);
        values.get(&(domain, recorded.clone())).cloned()
    }

    /// Calls a function with what leads back from texts that were made here to the recorded ones, if they differ.
    pub fn with_back(&self, read: impl FnOnce(Option<&Back>)) {
        let back = self.back.read().unwrap_or_else(PoisonError::into_inner);
        read(Some(&*back).filter(|back| !back.is_empty()));
    }
}

fn text(value: &Argument) -> Option<Vec<u8>> {
    match value {
        Argument::Null => None,
        Argument::Int(number) => Some(number.to_string().into_bytes()),
        Argument::Number(text) | Argument::Text(text) => Some(text.clone().into_bytes()),
    }
}

//! Values that the server made, such as ids: where a recording uses them, and what the replayed server made instead.
//!
//! A recorded value is known with the column that it was made for, its *domain*. An argument uses a domain if its column has
//! the name of the domain's, or if all values that it shares with the domain were made before it used them: an argument that
//! has nothing to do with the domain would meet a value too early sooner or later. Small numbers of two columns meet in the same
//! order nevertheless, where both begin with 1. So the name of the column must allow it (`naming`), and if the column is unknown, all
//! of the argument's values must be the domain's. Where the rows of a table are inserted with a key that another one has, as
//! the tables of subclasses do, the column is *inherited*: other statements on it use that domain, too.
//!
//! Values that a client computes from those of a sequence count as made with them (`blocks`).
//!
//! The elements of PostgreSQL's arrays, as in `id = ANY(?)`, are values like arguments that are none.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::{PoisonError, RwLock};

use triphammer_capture::array::{array, elements};
use triphammer_capture::recording::Recording;
use triphammer_capture::sql::Syntax;
use triphammer_capture::{Argument, Step};
use triphammer_core::session::ColumnSource;

use super::blocks::{Block, BlockUses, Sequence, block};
use super::facts::{ArgumentColumn, StatementFacts};
use super::naming::{DomainName, is_key, is_named, may_use};
use super::timeline::Timeline;

/// Different values that an argument must share with a domain to use it, if their names do not say so: small numbers, such as
/// quantities, meet those of new rows by chance.
const SHARED_MIN: usize = 10;
/// Most statements between the row of a table and that of a table that has its key.
const NEAR_MAX: usize = 100;
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
    /// Arguments that use a value before it is made in a domain: it was another one then.
    early: HashSet<(Use, Domain)>,
    /// Number of values that the recorded server made.
    count: usize,
    /// By statement that returns all columns of inserted rows, the place of their key.
    star_keys: HashMap<usize, usize>,
    /// The domains of sequences.
    of_sequences: BTreeSet<Domain>,
    /// How a client computes values from those of a domain.
    blocks: BTreeMap<Domain, Block>,
    /// Whether arguments may be arrays.
    has_arrays: bool,
    names: Vec<DomainName>,
    /// By table and column, the domains of other tables whose values are inserted there.
    inherited: BTreeMap<DomainName, BTreeSet<Domain>>,
    /// The tables of all statements.
    tables: BTreeSet<String>,
}

/// Which domains the values of a column of a result may be of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnDomains {
    /// Of these: the column has their name.
    Named(Box<[Domain]>),
    /// Of these, as far as the values say so.
    Possible(Box<[Domain]>),
    /// Of any: the column is not known.
    Any,
}

impl ColumnDomains {
    /// Whether the values of a domain are in the column for sure.
    pub fn are_named(&self, domain: Domain) -> bool {
        matches!(self, Self::Named(named) if named.contains(&domain))
    }

    /// Whether they may be.
    pub fn may_be(&self, domain: Domain) -> bool {
        match self {
            Self::Named(_) => false,
            Self::Possible(domains) => domains.contains(&domain),
            Self::Any => true,
        }
    }
}

/// Where a value is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Use {
    /// The number of the statement among all.
    statement: usize,
    argument: usize,
    /// The place in an array; 0 without one.
    element: usize,
}

/// A made value: its domain, and the place of its making in the timeline.
#[derive(Clone, Copy, Debug)]
struct Making {
    domain: Domain,
    order: usize,
}

/// The makings of each value, with its number among the values.
type Makings = HashMap<Argument, (usize, Vec<Making>)>;

/// How an argument and a domain meet.
#[derive(Debug, Default)]
struct Meeting {
    /// Different values that were made before they were used.
    values: BTreeSet<usize>,
    hits: usize,
    /// Those of these in the session that made the value, soon after.
    own: usize,
    /// Uses of a value before it was made.
    early: usize,
    /// Statements between the makings and the uses, in all.
    gap: usize,
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
    /// Adds a use of a value with this number, at this place in the timeline; returns whether that is too early.
    fn add(
        &mut self,
        (number, value): (usize, &Argument),
        making: &Making,
        order: usize,
        is_own: bool,
    ) -> bool {
        self.is_long |= matches!(value, Argument::Text(text) if text.len() >= TEXT_MIN);
        if making.order >= order {
            self.early += 1;
            return true;
        }
        self.hits += 1;
        self.own += usize::from(is_own);
        self.gap += order - making.order;
        if self.values.len() < SHARED_MIN {
            self.values.insert(number);
        }
        false
    }

    /// Whether an argument with the name of the domain uses it.
    fn is_use_by_name(&self) -> bool {
        #[expect(clippy::cast_precision_loss, reason = "numbers of statements")]
        let early = self.early as f64 / (self.hits + self.early).max(1) as f64;
        self.hits > 0 && early <= EARLY_SHARE
    }

    /// Whether a table can have its key from the domain, which is of another table or, if `is_of_sequence`, of none: every row
    /// has it, and beside the row of the other table. Of a sequence, a block may have begun before the recording.
    fn is_key_of_rows(&self, had: usize, is_of_sequence: bool) -> bool {
        let is_most = |part: usize, whole: usize| part * 10 >= whole * 9;
        match is_of_sequence {
            true => is_most(self.hits, had),
            false => self.hits == had && is_most(self.own, self.hits),
        }
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
        let has_arrays = recording.syntax == Some(Syntax::Postgres);
        let mut ids = Self { has_arrays, ..Self::default() };
        let mut names: Vec<DomainName> = Vec::new();
        let mut makings = ids.find_made(recording, facts, timeline, &mut names);
        ids.count = ids.makers.len();
        if makings.is_empty() {
            return ids;
        }
        ids.add_blocks(recording, facts, timeline, &mut makings);
        let Meetings { met, had } = ids.meetings(recording, timeline, &makings, firsts);
        let widest = |statement: usize| facts[statement].columns.len();
        let mut uses: Vec<Vec<Box<[Domain]>>> =
            (0..facts.len()).map(|one| vec![Box::default(); widest(one)]).collect();
        ids.names = names;
        ids.tables = facts.iter().map(|of| of.table.clone()).collect();
        let tables = ids.tables.clone();
        let tables: BTreeSet<&str> = tables.iter().map(String::as_str).collect();
        let mut by_place: BTreeMap<(usize, usize), Vec<(Domain, &Meeting)>> = BTreeMap::new();
        for ((statement, argument, domain), meeting) in &met {
            by_place.entry((*statement, *argument)).or_default().push((*domain, meeting));
        }
        // First those that insert: they say which columns are inherited.
        for inserts in [true, false] {
            let of_pass = by_place.iter().filter(|((of, _), _)| facts[*of].inserts() == inserts);
            for ((statement, argument), found) in of_pass {
                let had = had.get(&(*statement, *argument)).copied().unwrap_or_default();
                let domains = ids.domains_of((&facts[*statement], *argument), found, had, &tables);
                if let Some(place) = uses[*statement].get_mut(*argument) {
                    *place = domains.into();
                }
            }
        }
        ids.uses = uses;
        ids
    }

    /// The domains that an argument of a statement uses, among those that it meets; it had a value so many times.
    fn domains_of(
        &mut self,
        (facts, argument): (&StatementFacts, usize),
        found: &[(Domain, &Meeting)],
        had: usize,
        tables: &BTreeSet<&str>,
    ) -> Vec<Domain> {
        let Some(column) = facts.columns.get(argument) else { return Vec::new() };
        let those = |is_one: &dyn Fn(Domain, &Meeting) -> bool| -> Vec<Domain> {
            let used = found.iter().filter(|(domain, met)| is_one(*domain, met));
            used.map(|(domain, _)| *domain).collect()
        };
        let name = |domain: Domain| &self.names[usize::from(domain)];
        let named = those(&|domain, met| {
            self.names_of(domain).any(|name| is_named(name, column, tables)) && met.is_use_by_name()
        });
        if !named.is_empty() {
            return named;
        }
        let is_own_key = |domain: Domain| {
            let column = column.column.as_deref();
            facts.inserts() && (column == Some("id") || column == Some(&*name(domain).1))
        };
        let mut by_value = those(&|domain, met| {
            met.is_use_by_value(column, had)
                && may_use(name(domain), facts, column, tables)
                && (!is_own_key(domain) || met.is_key_of_rows(had, self.is_of_sequence(domain)))
        });
        // Of several sequences that explain all values, it is the one that was asked last.
        let of_sequences = found.iter().filter(|(domain, met)| {
            by_value.contains(domain) && self.is_of_sequence(*domain) && met.hits == had
        });
        if let Some((nearest, _)) = of_sequences.min_by_key(|(_, met)| met.gap) {
            by_value.retain(|domain| domain == nearest || !self.is_of_sequence(*domain));
        }
        let place = column.column.clone().map(|name| (column.table.clone(), name));
        if let Some(place) = place.filter(|_| facts.inserts() && !by_value.is_empty()) {
            self.inherited.entry(place).or_default().extend(&by_value);
        }
        by_value
    }

    /// The names of a domain: its own, and the columns that inherit it.
    fn names_of(&self, domain: Domain) -> impl Iterator<Item = &DomainName> {
        let inherited = self.inherited.iter().filter(move |(_, domains)| domains.contains(&domain));
        std::iter::once(&self.names[usize::from(domain)]).chain(inherited.map(|(place, _)| place))
    }

    /// Whether the values of a domain are those of a sequence, which no INSERT made.
    fn is_of_sequence(&self, domain: Domain) -> bool {
        self.of_sequences.contains(&domain)
    }

    /// The makings by value; sets domains and makers.
    fn find_made(
        &mut self,
        recording: &Recording,
        facts: &[StatementFacts],
        timeline: &Timeline,
        names: &mut Vec<DomainName>,
    ) -> Makings {
        let mut makings = Makings::new();
        let mut ambiguous = HashSet::new();
        // Values that a session's inserts made: those that it reads again are not new.
        let mut of_session: HashSet<(usize, Argument)> = HashSet::new();
        self.made = vec![Vec::new(); facts.len()];
        self.star_keys = star_keys(recording, facts);
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
                let is_given = facts[step.shape].gives(place);
                if *value == Argument::Null || is_read_again || is_given {
                    continue;
                }
                if facts[step.shape].inserts() {
                    of_session.insert(in_session);
                }
                let made = (domain, value.clone());
                let maker = *self.makers.entry(made.clone()).or_insert(moment.transaction);
                // Of a row that exists already, it returns what another transaction has made.
                if maker != moment.transaction && !facts[step.shape].may_find() {
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
                Some(_) | None if self.star_keys.get(&statement) == Some(&at) => {
                    (facts.table.clone(), "id".to_owned())
                }
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

    /// The domains of a column of a statement's result that has this source.
    pub fn of_column(
        &self,
        facts: &StatementFacts,
        source: Option<&ColumnSource>,
    ) -> ColumnDomains {
        let Some(source) = source else { return ColumnDomains::Any };
        let column = ArgumentColumn {
            column: Some(source.column.to_lowercase()),
            table: source.table.to_lowercase(),
            is_qualified: true,
        };
        let tables: BTreeSet<&str> = self.tables.iter().map(String::as_str).collect();
        let domains = |is_one: &dyn Fn(Domain, &DomainName) -> bool| -> Box<[Domain]> {
            let all = (0..).zip(&self.names);
            all.filter(|(one, name)| is_one(*one, name)).map(|(one, _)| one).collect()
        };
        let named = domains(&|domain, _| {
            self.names_of(domain).any(|name| is_named(name, &column, &tables))
        });
        match named.is_empty() {
            false => ColumnDomains::Named(named),
            true => {
                ColumnDomains::Possible(domains(&|_, name| may_use(name, facts, &column, &tables)))
            }
        }
    }

    /// Number of values that the recorded server made.
    pub fn count(&self) -> usize {
        self.count
    }

    /// How a client computes values from those of a domain.
    pub fn block(&self, domain: Domain) -> Option<Block> {
        self.blocks.get(&domain).copied()
    }

    /// The domains that an argument of a statement uses.
    pub fn used(&self, statement: usize, argument: usize) -> &[Domain] {
        self.uses.get(statement).and_then(|of| of.get(argument)).map_or(&[], |domains| domains)
    }

    /// The domains of the values that a statement makes, by place in a row.
    pub fn made_by(&self, statement: usize) -> &[Domain] {
        self.made.get(statement).map_or(&[], Vec::as_slice)
    }

    /// The values of an argument: those of an array, or itself.
    fn values<'a>(&self, argument: &'a Argument) -> Cow<'a, [Argument]> {
        match argument {
            Argument::Text(text) if self.has_arrays && text.starts_with('{') => {
                elements(text).map_or(Cow::Borrowed(std::slice::from_ref(argument)), Cow::Owned)
            }
            _ => Cow::Borrowed(std::slice::from_ref(argument)),
        }
    }

    /// The domains from which a use has a value, each with the transaction that makes it.
    fn origins(
        &self,
        shape: usize,
        place: Use,
        value: &Argument,
    ) -> impl Iterator<Item = (Domain, u32)> {
        self.used(shape, place.argument).iter().filter_map(move |domain| {
            // The key is owned: a value is looked up once per use.
            let maker = self.makers.get(&(*domain, value.clone()))?;
            (!self.early.contains(&(place, *domain))).then_some((*domain, *maker))
        })
    }

    /// The transactions that make the values of a statement's arguments; the statement has this number among all.
    pub fn makers(&self, statement: usize, step: &Step) -> Vec<u32> {
        let mut found = Vec::new();
        for (argument, value) in step.arguments.iter().enumerate() {
            if self.used(step.shape, argument).is_empty() {
                continue;
            }
            for (element, value) in self.values(value).iter().enumerate() {
                let place = Use { statement, argument, element };
                let maker = self.origins(step.shape, place, value).next().map(|(_, maker)| maker);
                found.extend(maker.filter(|maker| !found.contains(maker)));
            }
        }
        found
    }

    /// The arguments of a statement with what was made here in place of their values, as far as that differs; the statement has
    /// this number among all.
    pub fn replaced(
        &self,
        statement: usize,
        step: &Step,
        made: &ReplayedValues,
    ) -> ReplacedArguments {
        let mut found = ReplacedArguments::default();
        for (argument, value) in step.arguments.iter().enumerate() {
            if self.used(step.shape, argument).is_empty() {
                continue;
            }
            let mut values = self.values(value);
            let mut is_replaced = false;
            for element in 0..values.len() {
                let (place, value) = (Use { statement, argument, element }, &values[element]);
                let mut origins = self.origins(step.shape, place, value).map(|(domain, _)| domain);
                let Some(first) = origins.next() else { continue };
                let mut domains = std::iter::once(first).chain(origins);
                let here = domains.find_map(|domain| made.get(domain, value));
                drop(domains);
                match here {
                    Some(here) => {
                        values.to_mut()[element] = here;
                        is_replaced = true;
                        found.replaced += 1;
                    }
                    None => found.missing += 1,
                }
            }
            if !is_replaced {
                continue;
            }
            let is_array = matches!(value, Argument::Text(text) if text.starts_with('{'));
            found.arguments.push(match values.into_owned() {
                mut one if !is_array => (argument, one.swap_remove(0)),
                all => (argument, Argument::Text(array(&all))),
            });
        }
        found
    }
}

/// By statement that returns all columns of the rows that it inserts (`RETURNING *`), which of them is the key: it is none of the
/// values that were given, and a number rather than a text.
fn star_keys(recording: &Recording, facts: &[StatementFacts]) -> HashMap<usize, usize> {
    // By place, the rows whose value cannot be a key, and those whose value is a text.
    let mut places: HashMap<usize, Vec<[usize; 2]>> = HashMap::new();
    for step in recording.transactions.iter().flat_map(|transaction| &transaction.steps) {
        let is_star = facts[step.shape].returned.iter().eq(["*"]);
        let Some(answer) = step.answer.as_ref().filter(|_| is_star) else { continue };
        for row in &answer.made {
            let known = places.entry(step.shape).or_default();
            known.resize(known.len().max(row.len()), [0; 2]);
            for ([no_key, is_text], value) in known.iter_mut().zip(row) {
                let is_time = |text: &str| text.contains(':') || text.len() < TEXT_MIN;
                *no_key += usize::from(match value {
                    Argument::Null => true,
                    Argument::Text(text) => is_time(text) || step.arguments.contains(value),
                    _ => step.arguments.contains(value),
                });
                *is_text += usize::from(!matches!(value, Argument::Int(_)));
            }
        }
    }
    let best = |known: &Vec<[usize; 2]>| (0..known.len()).min_by_key(|place| known[*place]);
    places.iter().filter_map(|(statement, known)| Some((*statement, best(known)?))).collect()
}

/// Arguments with values that were made here in place of recorded ones.
#[derive(Debug, Default)]
pub struct ReplacedArguments {
    /// By their places.
    pub arguments: Vec<(usize, Argument)>,
    /// Number of values that were replaced.
    pub replaced: u64,
    /// Number of values for which nothing was made here.
    pub missing: u64,
}

impl Ids {
    /// Finds the sequences from whose values a client computes others, and adds those to the makings.
    fn add_blocks(
        &mut self,
        recording: &Recording,
        facts: &[StatementFacts],
        timeline: &Timeline,
        makings: &mut Makings,
    ) {
        self.of_sequences = (self.made.iter().zip(facts))
            .filter(|(_, facts)| facts.calls_sequence() && !facts.inserts())
            .flat_map(|(made, _)| made.iter().copied())
            .collect();
        let mut sequences: BTreeMap<Domain, Sequence> = BTreeMap::new();
        for (value, (_, of_value)) in &*makings {
            let Argument::Int(value) = value else { continue };
            for making in of_value.iter().filter(|of| self.is_of_sequence(of.domain)) {
                sequences.entry(making.domain).or_default().add(*value, making.order);
            }
        }
        let known = sequences.into_iter().filter_map(|(of, all)| Some((of, all.increment()?, all)));
        let known: Vec<(Domain, i64, Sequence)> = known.collect();
        if known.is_empty() {
            return;
        }
        // By sequence, and by statement and argument that inserts.
        let mut uses: Vec<BTreeMap<(usize, usize), BlockUses>> = Vec::new();
        uses.resize_with(known.len(), BTreeMap::new);
        for (order, moment) in timeline.moments.iter().enumerate() {
            let transaction = &recording.transactions[moment.transaction as usize];
            let step = &transaction.steps[moment.step as usize];
            let facts = &facts[step.shape];
            let of_keys = facts.columns.iter().map(|of| of.column.as_deref().is_none_or(is_key));
            let values = step.arguments.iter().zip(of_keys).enumerate();
            for (argument, (value, is_key)) in values.filter(|_| facts.inserts()) {
                let Argument::Int(value) = value else { continue };
                for ((_, increment, sequence), uses) in
                    known.iter().zip(&mut uses).filter(|_| is_key)
                {
                    let uses = uses.entry((step.shape, argument)).or_default();
                    sequence.used(*value, *increment, order, uses);
                }
            }
        }
        let blocks = known.iter().zip(&uses).filter_map(|((domain, increment, _), uses)| {
            Some((*domain, block(*increment, uses.values())?))
        });
        self.blocks = blocks.collect();
        self.add_computed(makings);
    }

    /// Adds the values that a client computes from those of its sequences: they are made with them.
    fn add_computed(&mut self, makings: &mut Makings) {
        let mut computed = Vec::new();
        for (value, (_, of_value)) in &*makings {
            for making in of_value {
                let (Argument::Int(whole), Some(block)) = (value, self.block(making.domain)) else {
                    continue;
                };
                let Some(maker) = self.makers.get(&(making.domain, value.clone())) else {
                    continue;
                };
                let values = block.offsets().filter_map(|offset| whole.checked_add(offset));
                computed.extend(values.map(|value| (Argument::Int(value), *making, *maker)));
            }
        }
        for (value, making, maker) in computed {
            let next = makings.len();
            let (_, of_value) = makings.entry(value.clone()).or_insert_with(|| (next, Vec::new()));
            if of_value.iter().all(|known| known.domain != making.domain) {
                of_value.push(making);
                self.makers.insert((making.domain, value), maker);
            }
        }
    }

    /// How arguments and domains meet; notes the uses that are too early.
    fn meetings(
        &mut self,
        recording: &Recording,
        timeline: &Timeline,
        makings: &Makings,
        firsts: &[usize],
    ) -> Meetings {
        let Meetings { mut met, mut had } = Meetings::default();
        for (order, moment) in timeline.moments.iter().enumerate() {
            let transaction = &recording.transactions[moment.transaction as usize];
            let step = &transaction.steps[moment.step as usize];
            let statement = firsts[moment.transaction as usize] + moment.step as usize;
            for (argument, values) in step.arguments.iter().enumerate() {
                for (element, value) in self.values(values).iter().enumerate() {
                    let is_value = usize::from(*value != Argument::Null);
                    *had.entry((step.shape, argument)).or_default() += is_value;
                    let Some((number, of_value)) = makings.get(value) else { continue };
                    for making in of_value {
                        let key = (step.shape, argument, making.domain);
                        let maker = timeline.moments[making.order].transaction;
                        let maker = recording.transactions[maker as usize].session;
                        let is_own = maker == transaction.session
                            && order.saturating_sub(making.order) <= NEAR_MAX;
                        let meeting = met.entry(key).or_default();
                        let is_early = meeting.add((*number, value), making, order, is_own);
                        if is_early {
                            let place = Use { statement, argument, element };
                            self.early.insert((place, making.domain));
                        }
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
    /// Notes what was made in place of a recorded value, and what a client computes from it.
    pub fn add(&self, domain: Domain, block: Option<Block>, recorded: &Argument, made: Argument) {
        if let (Some(block), Argument::Int(there), Argument::Int(here)) = (block, recorded, &made) {
            for offset in block.offsets() {
                let computed = |of: &i64| of.checked_add(offset).map(Argument::Int);
                if let (Some(there), Some(here)) = (computed(there), computed(here)) {
                    self.add_one(domain, &there, here);
                }
            }
        }
        self.add_one(domain, recorded, made);
    }

    fn add_one(&self, domain: Domain, recorded: &Argument, made: Argument) {
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
        Argument::Bytes(bytes) => Some(bytes.clone()),
        other => other.written().map(|text| text.into_owned().into_bytes()),
    }
}

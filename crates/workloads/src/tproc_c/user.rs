//! A virtual user: its warehouse and district, and its next transaction. Plain data.

use triphammer_core::mix::Mix;
use triphammer_core::random::Rng;

use super::population::Stream;
use super::schema::DISTRICTS;
use super::settings::{Routines, Settings};

/// State of one virtual user.
#[derive(Clone, Debug)]
pub struct User {
    home: Home,
    deck: Deck,
    /// Whether types are dealt from the deck, rather than drawn independently as HammerDB does.
    deals: bool,
}

impl User {
    /// Creates user `id` of `users` in the run with this seed.
    #[must_use]
    pub fn new(id: u32, users: u32, run_seed: u64, settings: &Settings) -> Self {
        Self {
            home: Home::new(id, users, run_seed, settings),
            deck: Deck::new(&settings.mix),
            deals: settings.routines == Routines::Triphammer,
        }
    }

    /// The index of the next transaction type.
    pub fn next(&mut self, mix: &Mix, rng: &mut Rng) -> usize {
        self.deck.follow(mix);
        if self.deals { self.deck.next(rng) } else { self.deck.draw(rng) }
    }

    /// Becomes the user of an arrival: at any terminal of any warehouse, with a transaction type
    /// drawn according to the mix. Returns the type.
    pub fn arrive(&mut self, mix: &Mix, rng: &mut Rng) -> usize {
        self.deck.follow(mix);
        self.home.anywhere(rng);
        self.deck.draw(rng)
    }

    /// Warehouse and district of the next transaction.
    pub fn terminal(&self, rng: &mut Rng) -> Terminal {
        self.home.terminal(rng)
    }
}

/// Warehouse and district of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terminal {
    /// Number of the warehouse.
    pub w_id: i32,
    /// The district of Stock-Level, which never changes.
    pub d_id: i32,
}

/// The warehouses of a user. User u of a run works at (start + u) mod W, so that users are spread
/// evenly. Ten users of one warehouse are its ten terminals, one per district.
#[derive(Clone, Debug)]
struct Home {
    first: u32,
    step: u32,
    /// Number of the user's warehouses: first, first + step, …
    share: u32,
    warehouses: u32,
    d_id: i32,
}

impl Home {
    fn new(id: u32, users: u32, run_seed: u64, settings: &Settings) -> Self {
        let warehouses = settings.warehouses.unsigned_abs();
        let draw = |stream: Stream, keys: &[u64], bound: u32| {
            u32::try_from(stream.rng(run_seed, keys).below(bound.into())).expect("below 32 bits")
        };
        let first = if settings.routines == Routines::Hammerdb && !settings.all_warehouses {
            // Drawn for each user, so that some share one: the contention that HammerDB's users
            // have.
            draw(Stream::Start, &[id.into()], warehouses)
        } else {
            (draw(Stream::Start, &[], warehouses) + id % warehouses) % warehouses
        };
        let districts = DISTRICTS.unsigned_abs();
        let first_district = draw(Stream::Terminal, &[first.into()], districts);
        let district = (first_district + id / warehouses) % districts;
        let share = if settings.all_warehouses && id < warehouses {
            (warehouses - id).div_ceil(users.max(1))
        } else {
            1
        };
        Self {
            first,
            step: users,
            share,
            warehouses,
            d_id: i32::try_from(district + 1).expect("one of ten"),
        }
    }

    fn anywhere(&mut self, rng: &mut Rng) {
        let warehouse = rng.below(self.warehouses.into());
        self.first = u32::try_from(warehouse).expect("below a million");
        self.share = 1;
        self.d_id = rng.between32(1, DISTRICTS);
    }

    fn terminal(&self, rng: &mut Rng) -> Terminal {
        let mut warehouse = u64::from(self.first);
        if self.share > 1 {
            warehouse += rng.below(self.share.into()) * u64::from(self.step);
            warehouse %= u64::from(self.warehouses);
        }
        let w_id = i32::try_from(warehouse + 1).expect("at most a million warehouses");
        Terminal { w_id, d_id: self.d_id }
    }
}

/// A deck of transaction types (clause 5.2.4.2): shuffled, dealt to its end, and shuffled again, so
/// that every user keeps the mix exactly.
#[derive(Clone, Debug)]
struct Deck {
    cards: Vec<u8>,
    dealt: usize,
    /// Version of the mix that the cards are of.
    version: u64,
}

impl Deck {
    fn new(mix: &[u32]) -> Self {
        let cards: Vec<u8> =
            (0u8..).zip(mix).flat_map(|(card, count)| (0..*count).map(move |_| card)).collect();
        Self { dealt: cards.len(), cards, version: 0 }
    }

    /// Takes another deck if the mix has changed.
    #[inline]
    fn follow(&mut self, mix: &Mix) {
        let version = mix.version();
        if version != self.version {
            *self = Self { version, ..Self::new(&mix.weights()) };
        }
    }

    /// Draws any card without removing it from the deck.
    fn draw(&self, rng: &mut Rng) -> usize {
        let place = usize::try_from(rng.below(self.cards.len() as u64)).expect("below a usize");
        usize::from(self.cards[place])
    }

    fn next(&mut self, rng: &mut Rng) -> usize {
        if self.dealt == self.cards.len() {
            rng.shuffle(&mut self.cards);
            self.dealt = 0;
        }
        self.dealt += 1;
        usize::from(self.cards[self.dealt - 1])
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use triphammer_core::workload::{TransactionDef, WorkloadSettings};

    use super::super::transactions::{DELIVERY, STOCK_LEVEL, TRANSACTION_COUNT, transactions};
    use super::*;

    fn settings(scale: u32, all: bool) -> Settings {
        let options = [("all-warehouses".to_owned(), all.to_string())].into();
        Settings::new(&WorkloadSettings {
            scale: scale.into(),
            options,
            ..WorkloadSettings::default()
        })
        .unwrap()
    }

    #[test]
    fn each_deck_holds_exactly_the_mix_in_an_order_of_its_own() {
        let mut rng = Rng::of(1, &[]);
        let mut deck = Deck::new(&[10, 10, 1, 1, 1]);
        let mut orders = HashSet::new();
        for _ in 0..20 {
            let dealt: Vec<_> = (0..23).map(|_| deck.next(&mut rng)).collect();
            let count = |card| dealt.iter().filter(|c| **c == card).count();
            assert_eq!([0, 1, 2, 3, 4].map(count), [10, 10, 1, 1, 1]);
            orders.insert(dealt);
        }
        assert_eq!(orders.len(), 20);
    }

    #[test]
    fn a_deck_of_one_type_deals_only_that() {
        let mut deck = Deck::new(&[0, 0, 0, 1, 0]);
        let mut rng = Rng::of(1, &[]);
        assert!((0..10).all(|_| deck.next(&mut rng) == 3));
    }

    #[test]
    fn users_take_another_deck_when_the_mix_changes() {
        let settings = settings(7, false);
        let mix = TransactionDef::mix(&transactions(), settings.mix);
        let mut user = User::new(0, 1, 5, &settings);
        let mut rng = Rng::of(1, &[]);
        user.next(&mix, &mut rng);
        mix.change("delivery=2,stock_level=1").unwrap();
        let dealt = [0; 3].map(|_| user.next(&mix, &mut rng));
        assert_eq!(dealt.iter().filter(|of| **of == DELIVERY).count(), 2, "{dealt:?}");
        assert_eq!(dealt.iter().filter(|of| **of == STOCK_LEVEL).count(), 1, "{dealt:?}");
        assert!([DELIVERY, STOCK_LEVEL].contains(&user.arrive(&mix, &mut rng)));
    }

    #[test]
    fn users_spread_over_warehouses_from_a_start_that_the_seed_gives() {
        let settings = settings(7, false);
        let mut rng = Rng::of(1, &[]);
        let homes: Vec<_> =
            (0..14).map(|u| User::new(u, 14, 5, &settings).terminal(&mut rng).w_id).collect();
        for (u, home) in homes.iter().enumerate() {
            assert_eq!(*home, (homes[0] - 1 + i32::try_from(u).unwrap()) % 7 + 1);
        }
        let starts: HashSet<_> =
            (0..50).map(|s| User::new(0, 1, s, &settings).terminal(&mut rng).w_id).collect();
        assert_eq!(starts.len(), 7);
    }

    #[test]
    fn who_arrives_is_anywhere_and_keeps_the_mix_in_the_mean() {
        let settings = settings(7, false);
        let mix = TransactionDef::mix(&transactions(), settings.mix);
        let mut user = User::new(0, 1, 5, &settings);
        let mut rng = Rng::of(1, &[]);
        let (mut types, mut places) = ([0u32; TRANSACTION_COUNT], HashSet::new());
        for _ in 0..23_000 {
            types[user.arrive(&mix, &mut rng)] += 1;
            let terminal = user.terminal(&mut rng);
            places.insert((terminal.w_id, terminal.d_id));
        }
        assert!(types[..2].iter().all(|n| (9_600..10_400).contains(n)), "{types:?}");
        assert!(types[2..].iter().all(|n| (850..1_150).contains(n)), "{types:?}");
        assert_eq!(places.len(), 70);
        let again = |user: &mut User| {
            let mut rng = Rng::of(9, &[]);
            (user.arrive(&mix, &mut rng), user.terminal(&mut rng))
        };
        assert_eq!(
            again(&mut user),
            again(&mut User::new(3, 9, 5, &settings)),
            "whoever was before"
        );
    }

    #[test]
    fn ten_users_of_a_warehouse_have_a_district_each() {
        let settings = settings(3, false);
        let mut rng = Rng::of(1, &[]);
        let terminals: HashSet<_> = (0..30)
            .map(|u| User::new(u, 30, 9, &settings).terminal(&mut rng))
            .map(|t| (t.w_id, t.d_id))
            .collect();
        assert_eq!(terminals.len(), 30);
        assert!(terminals.iter().all(|(w, d)| (1..=3).contains(w) && (1..=10).contains(d)));
    }

    #[test]
    fn with_all_warehouses_the_shares_cover_each_warehouse_once() {
        let settings = settings(10, true);
        let mut rng = Rng::of(1, &[]);
        let mut seen = Vec::new();
        for u in 0..3 {
            let user = User::new(u, 3, 2, &settings);
            let share: HashSet<_> = (0..200).map(|_| user.terminal(&mut rng).w_id).collect();
            seen.extend(share);
        }
        seen.sort_unstable();
        assert_eq!(seen, (1..=10).collect::<Vec<_>>());
    }

    #[test]
    fn by_hammerdbs_rules_homes_and_types_are_drawn() {
        let options = [("routines".to_owned(), "hammerdb".to_owned())].into();
        let given = WorkloadSettings { scale: 10.into(), options, ..WorkloadSettings::default() };
        let settings = Settings::new(&given).unwrap();
        let mut rng = Rng::of(1, &[]);
        let users = (0..10).map(|id| User::new(id, 10, 5, &settings));
        let homes: HashSet<_> = users.map(|user| user.terminal(&mut rng).w_id).collect();
        assert!((3..10).contains(&homes.len()), "ten even draws of ten meet: {homes:?}");
        let mix = TransactionDef::mix(&transactions(), settings.mix);
        let mut user = User::new(0, 10, 5, &settings);
        let decks = (0..200).map(|_| (0..23).filter(|_| user.next(&mix, &mut rng) == 0).count());
        assert!(decks.collect::<HashSet<_>>().len() > 3, "not ten of each 23");
    }

    #[test]
    fn more_users_than_warehouses_share_them() {
        let settings = settings(2, true);
        let mut rng = Rng::of(1, &[]);
        let homes: Vec<_> =
            (0..4).map(|u| User::new(u, 4, 2, &settings).terminal(&mut rng).w_id).collect();
        assert_eq!((homes[0], homes[1]), (homes[2], homes[3]));
        assert_ne!(homes[0], homes[1]);
    }
}

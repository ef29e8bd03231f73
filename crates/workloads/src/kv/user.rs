//! Users and arrivals: which rows they insert and delete. Keys are unique over all users and
//! arrivals without any coordination, and depend on nothing but their numbers:
//!
//! - Insert operation n of user u of U has position n × U + u.
//! - An open load deals its operations from a deck: a shuffled list of as many cards as the weights
//!   add up to, again and again. So the number of an arrival determines how many inserts and deletes
//!   came before it, and the position of its own.
//!
//! Position p of operations on B keys stands for the keys p × B + 1 to p × B + B after the last key at
//! the start of the run.

use triphammer_core::random::Rng;

use super::mix::{Mix, OPERATION_COUNT};
use super::operations::{DELETE, INSERT};

/// Purpose of the random stream that shuffles the deck.
const DECK: u64 = 0x6465_636B;

/// A virtual user, or an arrival: how many operations of its kind came before.
#[derive(Clone, Debug)]
pub struct User {
    lane: i64,
    lanes: i64,
    inserts: i64,
    deletes: i64,
}

impl User {
    /// User `id` of `users`.
    pub fn new(id: u32, users: u32) -> Self {
        Self { lane: id.into(), lanes: users.max(1).into(), inserts: 0, deletes: 0 }
    }

    /// The position of the user's next insert.
    pub fn insert(&mut self) -> i64 {
        self.inserts += 1;
        self.position(self.inserts - 1)
    }

    /// The position of the user's oldest insert that it has not deleted; `None` without one.
    pub fn delete(&mut self) -> Option<i64> {
        if self.deletes >= self.inserts {
            return None;
        }
        self.deletes += 1;
        Some(self.position(self.deletes - 1))
    }

    /// The position of the user's newest insert; others are as far, as far as it knows. Negative
    /// before the first one.
    pub fn newest(&self) -> i64 {
        if self.inserts == 0 { -1 } else { self.position(self.inserts - 1) }
    }

    fn position(&self, nth: i64) -> i64 {
        nth.saturating_mul(self.lanes).saturating_add(self.lane)
    }
}

/// The operations of an open load, in the order of their arrivals.
#[derive(Debug)]
pub struct Deck {
    cards: Box<[Card]>,
    inserts: i64,
    deletes: i64,
}

#[derive(Clone, Copy, Debug)]
struct Card {
    operation: u8,
    /// Inserts and deletes among the earlier cards.
    inserts: u16,
    deletes: u16,
}

impl Deck {
    /// Shuffles the operations of a mix.
    pub fn new(mix: &Mix, seed: u64) -> Self {
        let divisor = mix.weights.iter().fold(0, |a, b| gcd(a, *b)).max(1);
        let mut operations = Vec::new();
        for (operation, weight) in (0..).zip(mix.weights) {
            operations.extend((0..weight / divisor).map(|_| operation));
        }
        Rng::of(seed, &[DECK]).shuffle(&mut operations);
        let mut before = [0; OPERATION_COUNT];
        let card = |operation: u8| {
            let card = Card { operation, inserts: before[INSERT], deletes: before[DELETE] };
            before[usize::from(operation)] += 1;
            card
        };
        let cards = operations.into_iter().map(card).collect();
        Self { cards, inserts: before[INSERT].into(), deletes: before[DELETE].into() }
    }

    /// The operation of arrival `number`, and its user.
    pub fn arrival(&self, number: u64) -> (usize, User) {
        let size = self.cards.len() as u64;
        let (round, place) = (number / size, number % size);
        let card = self.cards[usize::try_from(place).expect("an index")];
        let round = i64::try_from(round).unwrap_or(i64::MAX);
        let user = User {
            lane: 0,
            lanes: 1,
            inserts: round.saturating_mul(self.inserts).saturating_add(card.inserts.into()),
            deletes: round.saturating_mul(self.deletes).saturating_add(card.deletes.into()),
        };
        (card.operation.into(), user)
    }
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

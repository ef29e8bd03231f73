//! The mix of a run: how often each transaction type is drawn, as weights that can change while the
//! run is in progress.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::name::Name;
use crate::random::Rng;

/// Largest weight of a type: users have decks of as many cards.
const WEIGHT_MAX: u32 = 1_000;

/// Weights of the transaction types, by index.
#[derive(Debug)]
pub struct Mix {
    names: Box<[Name]>,
    /// Those of the start of the run: sessions have prepared only these types.
    first: Box<[u32]>,
    weights: Box<[AtomicU32]>,
    version: AtomicU64,
}

impl Mix {
    /// The mix at the start of a run: types with their weights.
    #[must_use]
    pub fn new(types: impl IntoIterator<Item = (Name, u32)>) -> Arc<Self> {
        let (names, first): (Vec<Name>, Vec<u32>) = types.into_iter().unzip();
        Arc::new(Self {
            names: names.into(),
            weights: first.iter().copied().map(AtomicU32::new).collect(),
            first: first.into(),
            version: AtomicU64::new(0),
        })
    }

    /// Draws a type. A mix of one type draws no random number.
    #[inline]
    pub fn draw(&self, rng: &mut Rng) -> Option<usize> {
        if self.weights.len() == 1 {
            return Some(0);
        }
        loop {
            let weights =
                self.weights.iter().map(|weight| u64::from(weight.load(Ordering::Relaxed)));
            // A change in between may leave no weights for a moment, or fewer than their sum was.
            if let Some(place) = rng.weighted(weights) {
                return Some(place);
            }
            std::hint::spin_loop();
        }
    }

    /// The weights now.
    #[must_use]
    pub fn weights(&self) -> Vec<u32> {
        self.weights.iter().map(|weight| weight.load(Ordering::Relaxed)).collect()
    }

    /// Number of changes so far.
    #[inline]
    #[must_use]
    pub fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    /// The mix for people, in the form that [`Mix::change`] reads: `new_order=10,payment=10`.
    #[must_use]
    pub fn words(&self) -> String {
        let types = self.names.iter().zip(self.weights());
        let types = types.filter(|(_, weight)| *weight > 0);
        types.map(|(name, weight)| format!("{name}={weight}")).collect::<Vec<_>>().join(",")
    }

    /// Changes the weights: `10,10,1,1,1`, or `new_order=10,payment=10` with 0 for the others.
    ///
    /// # Errors
    /// Says what is wrong with the text. Types that the run does not have cannot be added, because
    /// its sessions have not prepared them.
    pub fn change(&self, text: &str) -> Result<(), String> {
        let weights = self.check(text)?;
        for (now, weight) in self.weights.iter().zip(weights) {
            now.store(weight, Ordering::Relaxed);
        }
        self.version.fetch_add(1, Ordering::Release);
        Ok(())
    }

    /// Reads the weights of a change, and changes nothing.
    ///
    /// # Errors
    /// As [`Mix::change`].
    pub fn check(&self, text: &str) -> Result<Vec<u32>, String> {
        let weights = self.parse(text)?;
        let mut types = self.names.iter().zip(&self.first).zip(&weights);
        if let Some(((name, _), _)) =
            types.find(|((_, first), weight)| **first == 0 && **weight > 0)
        {
            return Err(format!(
                "the run began without {name}, which its sessions have not prepared: begin it with a \
                 weight of at least 1"
            ));
        }
        Ok(weights)
    }

    fn parse(&self, text: &str) -> Result<Vec<u32>, String> {
        let parts: Vec<&str> = text.split(',').map(str::trim).collect();
        let mut weights = vec![0; self.names.len()];
        if !text.contains('=') && parts.len() != weights.len() {
            let (types, given) = (weights.len(), parts.len());
            return Err(format!("the mix has {types} types, and `{text}` has {given} weights"));
        }
        for (place, part) in parts.into_iter().enumerate() {
            let (place, weight) = match part.split_once('=') {
                Some((name, weight)) => (self.place(name.trim())?, weight.trim()),
                None if text.contains('=') => return Err(format!("`{part}` is not NAME=WEIGHT")),
                None => (place, part),
            };
            let read = weight.parse().ok().filter(|weight| *weight <= WEIGHT_MAX);
            weights[place] = read.ok_or_else(|| {
                format!("a weight is a whole number from 0 to {WEIGHT_MAX}, got `{weight}`")
            })?;
        }
        if weights.iter().all(|weight| *weight == 0) {
            return Err("all weights are 0: give a type that is to run".to_owned());
        }
        Ok(weights)
    }

    /// The index of a type.
    fn place(&self, name: &str) -> Result<usize, String> {
        self.names.iter().position(|known| known == name).ok_or_else(|| {
            let known = self.names.iter().map(|name| &**name).collect::<Vec<_>>().join(", ");
            format!("there is no transaction type `{name}`: the types are {known}")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mix(weights: &[u32]) -> Arc<Mix> {
        let names = ["a", "b", "c"].map(Name::new_static);
        Mix::new(names.into_iter().zip(weights.iter().copied()))
    }

    fn counts(mix: &Mix) -> [u32; 3] {
        let mut rng = Rng::of(1, &[]);
        let mut counts = [0; 3];
        (0..6_000).for_each(|_| counts[mix.draw(&mut rng).unwrap()] += 1);
        counts
    }

    #[test]
    fn types_are_drawn_by_the_weights_of_the_moment() {
        let mix = mix(&[1, 1, 0]);
        let [a, b, c] = counts(&mix);
        assert!(a.abs_diff(b) < 400 && c == 0, "{a} {b} {c}");
        mix.change("b=2, a=1").unwrap();
        let [a, b, _] = counts(&mix);
        assert!((1_850..2_150).contains(&a) && a + b == 6_000, "{a} {b}");
        mix.change("5,0,0").unwrap();
        assert_eq!(counts(&mix), [6_000, 0, 0]);
        assert_eq!((mix.words(), mix.version()), ("a=5".to_owned(), 2));
    }

    #[test]
    fn one_type_draws_no_random_number() {
        let (mut rng, mut same) = (Rng::of(1, &[]), Rng::of(1, &[]));
        assert_eq!(mix(&[1]).draw(&mut rng), Some(0));
        assert_eq!(rng.bits(), same.bits());
    }

    #[test]
    fn what_is_no_mix_of_the_run_is_refused_and_changes_nothing() {
        let mix = mix(&[1, 1, 0]);
        for (text, why) in [
            ("1,2", "has 3 types, and `1,2` has 2 weights"),
            ("", "has 1 weights"),
            ("x=1", "no transaction type `x`: the types are a, b, c"),
            ("a=1,2", "`2` is not NAME=WEIGHT"),
            ("a=-1", "got `-1`"),
            ("a=1001", "from 0 to 1000"),
            ("0,0,0", "all weights are 0"),
            ("a=1,c=1", "began without c"),
        ] {
            let error = mix.change(text).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
        assert_eq!((mix.weights(), mix.version()), (vec![1, 1, 0], 0));
    }

    #[test]
    fn who_draws_during_changes_gets_a_type_of_one_of_the_mixes() {
        let mix = mix(&[1, 1, 1]);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..2_000 {
                    mix.change("1,0,0").unwrap();
                    mix.change("0,1,1").unwrap();
                }
            });
            let mut rng = Rng::of(3, &[]);
            assert!((0..20_000).all(|_| mix.draw(&mut rng).is_some()));
        });
    }
}

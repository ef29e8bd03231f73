//! The pool of 300 MiB of text that `dbgen` cuts all comments from, in 50 MB: the text consists of some 250 words, so a
//! byte per word is enough, with a mark every 128 characters to find one's way.

use std::sync::LazyLock;

use tpchgen::distribution::{Distribution, Distributions};
use tpchgen::random::RowRandomInt;

/// Characters of the pool.
pub const CHARACTERS: i32 = 300 * 1024 * 1024;
/// Characters from one mark to the next.
const BLOCK: usize = 128;
/// Most bytes of a unit.
const UNIT_BYTES: usize = 24;
/// Bits of a mark that say by how many characters its unit begins before its block.
const LAG_BITS: u32 = 5;
/// About how many units there are; memory that is not used is not touched either.
const UNITS: usize = 48 << 20;
/// Where `dbgen` starts its random numbers for the pool.
const SEED: i64 = 933_588_178;

/// The pool. It is made when it is first asked for, which takes about a second.
pub fn text_pool() -> &'static TextPool {
    static POOL: LazyLock<TextPool> =
        LazyLock::new(|| TextPool::new(Distributions::static_default()));
    &POOL
}

/// Text as a sequence of units: a space and a word, with what always follows the word, or the end of a sentence. So the
/// units together have one space more than the text, at its start.
pub struct TextPool {
    texts: Vec<Unit>,
    /// Indexes of `texts`.
    units: Vec<u8>,
    /// Of each block of characters: the unit in which it begins, and by how much that unit begins before the block.
    marks: Vec<u32>,
}

#[derive(Clone, Copy)]
struct Unit {
    bytes: [u8; UNIT_BYTES],
    len: u8,
}

impl Unit {
    fn new(text: &str) -> Self {
        let mut bytes = [0; UNIT_BYTES];
        bytes[..text.len()].copy_from_slice(text.as_bytes());
        Self { bytes, len: u8::try_from(text.len()).expect("at most UNIT_BYTES") }
    }

    const fn len(&self) -> usize {
        self.len as usize
    }
}

impl TextPool {
    fn new(known: &'static Distributions) -> Self {
        let mut writer = Writer::new(known);
        let end = usize::try_from(CHARACTERS).expect("positive") + 1;
        while writer.at < end {
            writer.sentence();
        }
        writer.pool
    }

    /// Appends `length` characters from character `offset` on.
    pub fn put(&self, offset: usize, length: usize, out: &mut Vec<u8>) {
        let start = offset + 1;
        let mark = self.marks[start / BLOCK];
        let lag = mark & ((1 << LAG_BITS) - 1);
        let mut units = self.units[(mark >> LAG_BITS) as usize..].iter();
        let mut next =
            || self.texts[usize::from(*units.next().expect("comments end before the pool"))];
        let mut at = start / BLOCK * BLOCK - lag as usize;
        let mut unit = next();
        while at + unit.len() <= start {
            at += unit.len();
            unit = next();
        }
        let end = out.len() + length;
        out.extend_from_slice(&unit.bytes[start - at..unit.len()]);
        while out.len() < end {
            unit = next();
            // All its bytes are copied, because a fixed number is faster, and the surplus is cut off.
            out.extend_from_slice(&unit.bytes);
            out.truncate(out.len() - UNIT_BYTES + unit.len());
        }
        out.truncate(end);
    }
}

/// Every value of a distribution as often as its weight says.
struct Choice<T>(Vec<T>);

impl<T: Copy> Choice<T> {
    /// `value` makes the values from the words of the distribution.
    fn new(known: &'static Distribution, mut value: impl FnMut(&'static str) -> T) -> Self {
        let mut values = Vec::new();
        for (place, word) in known.get_values().iter().enumerate() {
            let upto = usize::try_from(known.get_weight(place)).expect("weights are positive");
            values.resize(upto, value(word));
        }
        Self(values)
    }

    fn draw(&self, random: &mut RowRandomInt) -> T {
        let last = i32::try_from(self.0.len()).expect("weights are small") - 1;
        self.0[usize::try_from(random.next_int(0, last)).expect("not negative")]
    }
}

/// Writes the pool by the grammar of clause 4.2.2.14.
struct Writer {
    pool: TextPool,
    /// Characters so far, with the space at the start.
    at: usize,
    random: RowRandomInt,
    sentences: Choice<&'static str>,
    noun_phrases: Choice<&'static str>,
    verb_phrases: Choice<&'static str>,
    nouns: Choice<u8>,
    verbs: Choice<u8>,
    adverbs: Choice<u8>,
    articles: Choice<u8>,
    auxiliaries: Choice<u8>,
    adjectives: Choice<u8>,
    /// Adjectives with a comma.
    listed_adjectives: Choice<u8>,
    prepositions: Choice<u8>,
    terminators: Choice<u8>,
}

impl Writer {
    fn new(known: &'static Distributions) -> Self {
        let mut texts = Vec::new();
        let mut units = |words: &'static Distribution, before: &str, after: &str| {
            Choice::new(words, |word| {
                texts.push(Unit::new(&format!("{before}{word}{after}")));
                u8::try_from(texts.len() - 1).expect("at most 256 units")
            })
        };
        Self {
            at: 0,
            random: RowRandomInt::new(SEED, i32::MAX),
            sentences: Choice::new(known.grammar(), |syntax| syntax),
            noun_phrases: Choice::new(known.noun_phrase(), |syntax| syntax),
            verb_phrases: Choice::new(known.verb_phrase(), |syntax| syntax),
            nouns: units(known.nouns(), " ", ""),
            verbs: units(known.verbs(), " ", ""),
            adverbs: units(known.adverbs(), " ", ""),
            articles: units(known.articles(), " ", ""),
            auxiliaries: units(known.auxiliaries(), " ", ""),
            adjectives: units(known.adjectives(), " ", ""),
            listed_adjectives: units(known.adjectives(), " ", ","),
            prepositions: units(known.prepositions(), " ", " the"),
            terminators: units(known.terminators(), "", ""),
            pool: TextPool { texts, units: Vec::with_capacity(UNITS), marks: Vec::new() },
        }
    }

    fn sentence(&mut self) {
        for part in self.sentences.draw(&mut self.random).split(' ') {
            match part {
                "N" => self.noun_phrase(),
                "V" => self.verb_phrase(),
                "P" => {
                    let preposition = self.prepositions.draw(&mut self.random);
                    self.push(preposition);
                    self.noun_phrase();
                }
                "T" => {
                    let terminator = self.terminators.draw(&mut self.random);
                    self.push(terminator);
                }
                other => unreachable!("{other} is no part of a sentence"),
            }
        }
    }

    fn noun_phrase(&mut self) {
        for part in self.noun_phrases.draw(&mut self.random).split(' ') {
            let words = match part {
                "A" => &self.articles,
                "J" => &self.adjectives,
                "J," => &self.listed_adjectives,
                "D" => &self.adverbs,
                "N" => &self.nouns,
                other => unreachable!("{other} is no part of a noun phrase"),
            };
            let word = words.draw(&mut self.random);
            self.push(word);
        }
    }

    fn verb_phrase(&mut self) {
        for part in self.verb_phrases.draw(&mut self.random).split(' ') {
            let words = match part {
                "D" => &self.adverbs,
                "V" => &self.verbs,
                "X" => &self.auxiliaries,
                other => unreachable!("{other} is no part of a verb phrase"),
            };
            let word = words.draw(&mut self.random);
            self.push(word);
        }
    }

    fn push(&mut self, unit: u8) {
        let TextPool { texts, units, marks } = &mut self.pool;
        let end = self.at + texts[usize::from(unit)].len();
        if marks.len() * BLOCK < end {
            let lag = marks.len() * BLOCK - self.at;
            let mark = units.len() << LAG_BITS | lag;
            marks.push(u32::try_from(mark).expect("units have 27 bits"));
        }
        units.push(unit);
        self.at = end;
    }
}

#[cfg(test)]
mod tests {
    use triphammer_core::random::Rng;

    use super::*;

    #[test]
    fn every_part_of_the_pool_is_that_of_the_generator() {
        let (ours, theirs) = (text_pool(), tpchgen::text::TextPool::get_or_init_default());
        assert_eq!(theirs.size(), CHARACTERS);
        let mut rng = Rng::of(1, &[]);
        let mut found = Vec::new();
        // The ends, and places of all lengths that comments have.
        let drawn =
            (0..200_000).map(|_| (rng.between32(0, CHARACTERS - 198), rng.between32(0, 198)));
        for (offset, length) in [(0, 198), (CHARACTERS - 198, 198), (0, 0)].into_iter().chain(drawn)
        {
            found.clear();
            let [place, count] = [offset, length].map(|n| usize::try_from(n).unwrap());
            ours.put(place, count, &mut found);
            let expected = theirs.text(offset, offset + length);
            assert_eq!(std::str::from_utf8(&found).unwrap(), expected, "{length} from {offset}");
        }
    }

    #[test]
    fn the_pool_is_small() {
        let pool = text_pool();
        let bytes = pool.units.len() + pool.marks.capacity() * 4;
        assert!(bytes < 70_000_000 && pool.units.len() < UNITS, "{bytes}");
    }
}

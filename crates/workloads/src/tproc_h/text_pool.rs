//! The pool of 300 MiB of text that `dbgen` cuts all comments from, in 79 MB: the text consists of some 250 words, so a
//! byte per word is enough. 256 characters of text have a line of 64 bytes, which a comment reads from memory at once.

use std::sync::LazyLock;

use tpchgen::distribution::{Distribution, Distributions};
use tpchgen::random::RowRandomInt;

/// Characters of the pool.
pub const CHARACTERS: i32 = 300 * 1024 * 1024;
/// Characters of a line.
const LINE: usize = 256;
/// Bytes of a line: by how many characters its first unit begins before it, and its units.
const LINE_BYTES: usize = 64;
/// Most bytes of a unit.
const UNIT_BYTES: usize = 24;
/// Where `dbgen` starts its random numbers for the pool.
const SEED: i64 = 933_588_178;

/// Returns the pool, which the first call creates in about a second.
pub fn text_pool() -> &'static TextPool {
    static POOL: LazyLock<TextPool> =
        LazyLock::new(|| TextPool::new(Distributions::static_default()));
    &POOL
}

/// Text as a sequence of units: a space and a word, with what always follows the word, or the end of a sentence. So the
/// units together have one space more than the text, at its start.
pub struct TextPool {
    texts: [[u8; UNIT_BYTES]; 256],
    lengths: [u8; 256],
    lines: Vec<Line>,
}

/// A line of the pool, which is one of the processor's cache.
#[repr(align(64))]
struct Line([u8; LINE_BYTES]);

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
        let (mut start, end) = (offset + 1, offset + 1 + length);
        while start < end {
            let line_end = (start / LINE + 1) * LINE;
            self.put_of_line(start, end.min(line_end), out);
            start = line_end;
        }
    }

    /// Appends the characters from `start` to `end`, which lie in one line.
    fn put_of_line(&self, start: usize, end: usize, out: &mut Vec<u8>) {
        let Line([lag, units @ ..]) = &self.lines[start / LINE];
        // Places count from the start of the first unit.
        let first = start % LINE + usize::from(*lag);
        let last = first + (end - start);
        let mut text = [0; LINE + 3 * UNIT_BYTES];
        let mut place = 0;
        for unit in units {
            // All bytes of the unit, because copying a fixed number is faster; the next overwrites the surplus.
            text[place..place + UNIT_BYTES].copy_from_slice(&self.texts[usize::from(*unit)]);
            place += usize::from(self.lengths[usize::from(*unit)]);
            if place >= last {
                break;
            }
        }
        out.extend_from_slice(&text[first..last]);
    }
}

/// Every value of a distribution as often as its weight says.
struct Choice<T>(Vec<T>);

impl<T: Copy> Choice<T> {
    /// `value` creates the values from the words of the distribution.
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
    /// Bytes of the last line that are in use.
    used: usize,
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
        let lines = usize::try_from(CHARACTERS).expect("positive") / LINE + 2;
        let (mut texts, mut lengths, mut count) = ([[0; UNIT_BYTES]; 256], [0; 256], 0);
        let mut units = |words: &'static Distribution, before: &str, after: &str| {
            Choice::new(words, |word| {
                let text = format!("{before}{word}{after}");
                texts[count][..text.len()].copy_from_slice(text.as_bytes());
                lengths[count] = u8::try_from(text.len()).expect("at most UNIT_BYTES");
                count += 1;
                u8::try_from(count - 1).expect("at most 256 units")
            })
        };
        Self {
            at: 0,
            used: 0,
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
            pool: TextPool { texts, lengths, lines: Vec::with_capacity(lines) },
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
        let TextPool { lengths, lines, .. } = &mut self.pool;
        let end = self.at + usize::from(lengths[usize::from(unit)]);
        if self.at < lines.len() * LINE {
            let line = lines.last_mut().expect("characters lie in lines");
            line.0[self.used] = unit;
            self.used += 1;
        }
        if lines.len() * LINE < end {
            let lag = u8::try_from(lines.len() * LINE - self.at).expect("less than a unit");
            let mut line = [0; LINE_BYTES];
            [line[0], line[1]] = [lag, unit];
            lines.push(Line(line));
            self.used = 2;
        }
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
}

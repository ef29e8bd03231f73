//! The pool of 300 MiB of text that `dbgen` cuts all comments from, in 79 MB: the text consists of some 250 words, so a
//! byte per word is enough. 256 characters of text have a line of 64 bytes, which a comment reads from memory at once.

use std::sync::LazyLock;

use tpchgen::distribution::{Distribution, Distributions};

use super::random::{Choice, Random};

/// Characters of the pool.
pub const CHARACTERS: i32 = 300 * 1024 * 1024;
/// Characters of a line.
const LINE: usize = 256;
/// Bytes of a line: by how many characters its first unit begins before it, and its units.
const LINE_BYTES: usize = 64;
/// Most bytes of a unit.
const UNIT_BYTES: usize = 24;
/// Where `dbgen` starts its random numbers for the pool.
const SEED: u64 = 933_588_178;

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

    /// Reads the lines that these characters are in: one after another, so that the processor waits for memory once for all
    /// of them.
    pub fn touch(&self, offsets: impl Iterator<Item = usize>) {
        let first_byte = |offset: usize| self.lines[(offset + 1) / LINE].0[0];
        std::hint::black_box(offsets.map(first_byte).fold(0, u8::wrapping_add));
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
        let length = |unit: u8| usize::from(self.lengths[usize::from(unit)]);
        // Characters of the next unit before the first one that is wanted.
        let mut before = start % LINE + usize::from(*lag);
        let mut first = 0;
        while length(units[first]) <= before {
            before -= length(units[first]);
            first += 1;
        }
        let mut text = [0; LINE + 3 * UNIT_BYTES];
        let (mut place, wanted) = (0, end - start);
        for unit in &units[first..] {
            // All bytes of the unit, because copying a fixed number is faster; the next overwrites the surplus.
            text[place..place + UNIT_BYTES].copy_from_slice(&self.texts[usize::from(*unit)]);
            place += length(*unit);
            if place >= before + wanted {
                break;
            }
        }
        out.extend_from_slice(&text[before..before + wanted]);
    }
}

/// A part of a sentence or a phrase.
#[derive(Clone, Copy)]
enum Part {
    NounPhrase,
    VerbPhrase,
    /// A preposition and a noun phrase.
    Preposition,
    /// A word, or the end of a sentence: its place in [`Writer::words`].
    Word(usize),
}

/// Places in [`Writer::words`].
const NOUN: usize = 0;
const VERB: usize = 1;
const ADVERB: usize = 2;
const ARTICLE: usize = 3;
const AUXILIARY: usize = 4;
const ADJECTIVE: usize = 5;
/// Adjectives with a comma.
const LISTED_ADJECTIVE: usize = 6;
const PREPOSITION: usize = 7;
const TERMINATOR: usize = 8;

/// Phrases of a grammar, each a list of parts.
type Phrases = Choice<&'static [Part]>;

/// Reads the phrases of a grammar: `part` knows its letters.
fn phrases(known: &'static Distribution, part: fn(&str) -> Option<Part>) -> Phrases {
    Choice::new(known, |syntax| {
        let parts = syntax.split(' ').map(|letter| part(letter).expect("a known part"));
        let parts: Vec<Part> = parts.collect();
        // Kept for the only pool of the process.
        &*parts.leak()
    })
}

fn part_of_sentence(letter: &str) -> Option<Part> {
    Some(match letter {
        "N" => Part::NounPhrase,
        "V" => Part::VerbPhrase,
        "P" => Part::Preposition,
        "T" => Part::Word(TERMINATOR),
        _ => return None,
    })
}

fn part_of_noun_phrase(letter: &str) -> Option<Part> {
    Some(Part::Word(match letter {
        "A" => ARTICLE,
        "J" => ADJECTIVE,
        "J," => LISTED_ADJECTIVE,
        "D" => ADVERB,
        "N" => NOUN,
        _ => return None,
    }))
}

fn part_of_verb_phrase(letter: &str) -> Option<Part> {
    Some(Part::Word(match letter {
        "D" => ADVERB,
        "V" => VERB,
        "X" => AUXILIARY,
        _ => return None,
    }))
}

/// Writes the pool by the grammar of clause 4.2.2.14.
struct Writer {
    pool: TextPool,
    /// Characters so far, with the space at the start.
    at: usize,
    /// Bytes of the last line that are in use.
    used: usize,
    random: Random,
    sentences: Phrases,
    noun_phrases: Phrases,
    verb_phrases: Phrases,
    words: [Choice<u8>; 9],
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
        let words = [
            units(known.nouns(), " ", ""),
            units(known.verbs(), " ", ""),
            units(known.adverbs(), " ", ""),
            units(known.articles(), " ", ""),
            units(known.auxiliaries(), " ", ""),
            units(known.adjectives(), " ", ""),
            units(known.adjectives(), " ", ","),
            units(known.prepositions(), " ", " the"),
            units(known.terminators(), "", ""),
        ];
        Self {
            at: 0,
            used: 0,
            random: Random::new(SEED),
            sentences: phrases(known.grammar(), part_of_sentence),
            noun_phrases: phrases(known.noun_phrase(), part_of_noun_phrase),
            verb_phrases: phrases(known.verb_phrase(), part_of_verb_phrase),
            words,
            pool: TextPool { texts, lengths, lines: Vec::with_capacity(lines) },
        }
    }

    fn sentence(&mut self) {
        for part in self.sentences.draw(&mut self.random) {
            match part {
                Part::NounPhrase => self.noun_phrase(),
                Part::VerbPhrase => {
                    let parts = self.verb_phrases.draw(&mut self.random);
                    self.phrase(parts);
                }
                Part::Preposition => {
                    self.word(PREPOSITION);
                    self.noun_phrase();
                }
                Part::Word(of) => self.word(*of),
            }
        }
    }

    fn noun_phrase(&mut self) {
        let parts = self.noun_phrases.draw(&mut self.random);
        self.phrase(parts);
    }

    fn phrase(&mut self, parts: &[Part]) {
        for part in parts {
            if let Part::Word(of) = part {
                self.word(*of);
            }
        }
    }

    fn word(&mut self, of: usize) {
        let unit = self.words[of].draw(&mut self.random);
        self.push(unit);
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

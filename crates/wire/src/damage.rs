//! Damages conversations, for tests: neither may a reader panic, nor may its memory fill.

use triphammer_core::Rng;

/// Who sends a message.
#[derive(Clone, Copy, PartialEq)]
pub enum From {
    Client,
    Server,
}

/// A conversation in which a few bytes or messages are changed, cut, added, lost or out of order.
pub fn damaged(conversation: &[(From, Vec<u8>)], seed: u64) -> Vec<(From, Vec<u8>)> {
    let mut random = Rng::of(seed, &[]);
    let mut draw = |bound: usize| usize::try_from(random.below(bound as u64)).unwrap();
    let mut damaged = conversation.to_vec();
    for _ in 0..=draw(3) {
        let place = draw(damaged.len());
        let bytes = &mut damaged[place].1;
        if bytes.is_empty() {
            continue;
        }
        let at = draw(bytes.len());
        match draw(5) {
            0 => bytes[at] = u8::try_from(draw(256)).unwrap(),
            1 => bytes.truncate(at),
            2 => bytes.insert(at, u8::try_from(draw(256)).unwrap()),
            3 => drop(damaged.remove(place)),
            _ => {
                let other = draw(damaged.len());
                damaged.swap(place, other);
            }
        }
    }
    damaged
}

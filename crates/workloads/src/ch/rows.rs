//! The rows of the added tables. They depend only on the seed.

use triphammer_core::random::Rng;
use triphammer_core::rows::Rows;
use triphammer_core::session::RowSource;

use super::schema::SUPPLIERS;
use crate::BATCH_BYTES;
use crate::tproc_c::population::a_string;

/// Purposes of random streams, apart from those of TPROC-C. The numbers are part of the data's definition.
const REGION: u64 = 101;
const NATION: u64 = 102;
const SUPPLIER: u64 = 103;

/// Names of the regions, whose keys count from 1.
const REGIONS: [&str; 5] = ["Africa", "America", "Asia", "Australia", "Europe"];

const AFRICA: u8 = 1;
const AMERICA: u8 = 2;
const ASIA: u8 = 3;
const AUSTRALIA: u8 = 4;
const EUROPE: u8 = 5;

/// First character of the states of a nation, its name, and the key of its region.
#[rustfmt::skip]
const NATIONS: [(u8, &str, u8); 62] = [
    (b'0', "Australia", AUSTRALIA), (b'1', "Belgium", EUROPE), (b'2', "Cameroon", AFRICA),
    (b'3', "Denmark", EUROPE), (b'4', "Ecuador", AMERICA), (b'5', "France", EUROPE),
    (b'6', "Germany", EUROPE), (b'7', "Hungary", EUROPE), (b'8', "Italy", EUROPE), (b'9', "Japan", ASIA),
    (b'A', "Kenya", AFRICA), (b'B', "Lithuania", EUROPE), (b'C', "Mexico", AMERICA),
    (b'D', "Netherlands", EUROPE), (b'E', "Oman", AFRICA), (b'F', "Portugal", EUROPE),
    (b'G', "Qatar", AFRICA), (b'H', "Rwanda", AFRICA), (b'I', "Serbia", EUROPE), (b'J', "Togo", AFRICA),
    (b'K', "United States", AMERICA), (b'L', "Vietnam", ASIA), (b'M', "Singapore", ASIA),
    (b'N', "Cambodia", ASIA), (b'O', "Yemen", AFRICA), (b'P', "Zimbabwe", AFRICA),
    (b'Q', "Argentina", AMERICA), (b'R', "Bolivia", AMERICA), (b'S', "Canada", AMERICA),
    (b'T', "Dominican Republic", AMERICA), (b'U', "Egypt", AFRICA), (b'V', "Finland", EUROPE),
    (b'W', "Ghana", AFRICA), (b'X', "Haiti", AMERICA), (b'Y', "India", ASIA), (b'Z', "Jamaica", AUSTRALIA),
    (b'a', "Kazakhstan", ASIA), (b'b', "Luxembourg", EUROPE), (b'c', "Morocco", AFRICA),
    (b'd', "Norway", EUROPE), (b'e', "Poland", EUROPE), (b'f', "Peru", AMERICA),
    (b'g', "Nicaragua", AMERICA), (b'h', "Romania", EUROPE), (b'i', "South Africa", AFRICA),
    (b'j', "Thailand", ASIA), (b'k', "United Kingdom", EUROPE), (b'l', "Venezuela", AMERICA),
    (b'm', "Liechtenstein", EUROPE), (b'n', "Austria", EUROPE), (b'o', "Laos", ASIA),
    (b'p', "Zambia", AFRICA), (b'q', "Switzerland", EUROPE), (b'r', "China", ASIA),
    (b's', "Papua New Guinea", AUSTRALIA), (b't', "East Timor", AUSTRALIA), (b'u', "Bulgaria", EUROPE),
    (b'v', "Brazil", AMERICA), (b'w', "Albania", EUROPE), (b'x', "Andorra", EUROPE),
    (b'y', "Belize", AMERICA), (b'z', "Botswana", AFRICA),
];

/// Rows of an added table; `None` for a table of TPROC-C.
pub fn rows(table: &str, seed: u64) -> Option<Box<dyn RowSource>> {
    Some(match table {
        "region" => Box::new(regions(seed)),
        "nation" => Box::new(nations(seed)),
        "supplier" => Box::new(suppliers(seed)),
        _ => return None,
    })
}

fn regions(seed: u64) -> impl RowSource {
    let mut rng = Rng::of(seed, &[REGION]);
    batches(REGIONS.into_iter().zip(1..), move |(name, key), rows| {
        rows.int(key);
        rows.text(name);
        a_string(&mut rng, rows, 31, 115);
    })
}

fn nations(seed: u64) -> impl RowSource {
    let mut rng = Rng::of(seed, &[NATION]);
    batches(NATIONS.into_iter(), move |(state, name, region), rows| {
        rows.int(state.into());
        rows.text(name);
        rows.int(region.into());
        a_string(&mut rng, rows, 31, 114);
    })
}

fn suppliers(seed: u64) -> impl RowSource {
    let mut rng = Rng::of(seed, &[SUPPLIER]);
    batches(0..SUPPLIERS, move |key, rows| {
        let nation = NATIONS[usize::try_from(rng.below(62)).expect("below 62")].0;
        rows.int(key);
        rows.text_with(|out| out.extend_from_slice(format!("Supplier#{key:09}").as_bytes()));
        a_string(&mut rng, rows, 20, 40);
        rows.int(nation.into());
        rows.text_with(|out| rng.digits(15, out));
        rows.decimal(rng.between(-99_999, 999_999), 2);
        a_string(&mut rng, rows, 51, 101);
    })
}

/// A source of one row for each item.
fn batches<T>(items: impl Iterator<Item = T>, mut row: impl FnMut(T, &mut Rows)) -> impl RowSource {
    let mut items = items.peekable();
    move |rows: &mut Rows| {
        while rows.bytes() < BATCH_BYTES
            && let Some(item) = items.next()
        {
            row(item, rows);
        }
        items.peek().is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_character_of_a_state_has_its_nation() {
        let mut states: Vec<u8> = NATIONS.iter().map(|(state, ..)| *state).collect();
        states.sort_unstable();
        let expected = [b'0'..=b'9', b'A'..=b'Z', b'a'..=b'z'].into_iter().flatten();
        assert_eq!(states, expected.collect::<Vec<_>>());
        for wanted in ["Germany", "Cambodia"] {
            assert!(NATIONS.iter().any(|(_, name, _)| *name == wanted));
        }
        let mut names: Vec<_> = NATIONS.iter().map(|(_, name, _)| *name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), 62);
    }
}

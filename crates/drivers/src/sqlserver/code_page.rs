//! The code page Windows-1252: which texts are in it, and their characters.

use super::types::TypeInfo;

/// The characters of Windows-1252 from 0x80 to 0x9f.
const WINDOWS_1252: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}',
    '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];
/// Locales of Western Europe and America, whose code page is Windows-1252: Catalan, Danish, German,
/// English, Spanish, Finnish, French, Icelandic, Italian, Dutch, Norwegian, Portuguese, Swedish, and
/// their variants by country.
const LATIN: [u8; 13] =
    [0x03, 0x06, 0x07, 0x09, 0x0a, 0x0b, 0x0c, 0x0f, 0x10, 0x13, 0x14, 0x16, 0x1d];

/// Whether the code page of a collation is Windows-1252. That of an old collation (`SQL_…`) follows
/// from the number of its order instead of its locale: `SQL_Latin1_General_CP850_CI_AS` is English.
pub(super) fn is_latin(info: TypeInfo) -> bool {
    match info.collation {
        [locale, _, _, _, 0] => LATIN.contains(&locale),
        [.., order] => matches!(order, 50..=54 | 71..=75 | 183..=186 | 210..=217),
    }
}

/// Decodes text in Windows-1252.
pub(super) fn windows_1252(data: &[u8]) -> String {
    let read = |byte: &u8| match byte {
        0x80..=0x9f => WINDOWS_1252[usize::from(byte - 0x80)],
        other => char::from(*other),
    };
    data.iter().map(read).collect()
}

/// Encodes text in Windows-1252; `None` if it has other characters.
pub(super) fn to_windows_1252(text: &str) -> Option<Vec<u8>> {
    let write = |c: char| match u32::from(c) {
        code @ (0..=0x7f | 0xa0..=0xff) => u8::try_from(code).ok(),
        _ => {
            let place = WINDOWS_1252.iter().position(|known| *known == c)?;
            u8::try_from(place + 0x80).ok()
        }
    };
    text.chars().map(write).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_of_the_code_page_are_written_and_read_and_others_are_not() {
        assert_eq!(to_windows_1252("ä€").unwrap(), [0xe4, 0x80]);
        assert_eq!(windows_1252(&[0xe4, 0x80]), "ä€");
        assert_eq!(to_windows_1252("日"), None);
    }

    #[test]
    fn a_collation_has_its_code_page_by_its_order_if_it_has_one() {
        for (collation, is) in [
            ([0x09, 0x04, 0xd0, 0x00, 0x34], true),
            ([0x09, 0x04, 0xd0, 0x00, 0x00], true),
            ([0x06, 0x04, 0xd0, 0x00, 183], true),
            // SQL_Latin1_General_CP850_CI_AS, …_CP437_CI_AS, …_CP1251_CI_AS; Greek_CI_AS.
            ([0x09, 0x04, 0xd0, 0x00, 42], false),
            ([0x09, 0x04, 0xd0, 0x00, 32], false),
            ([0x09, 0x04, 0xd0, 0x00, 106], false),
            ([0x08, 0x04, 0xd0, 0x00, 0x00], false),
        ] {
            let info = TypeInfo { collation, ..TypeInfo::of(super::super::types::id::VARCHAR) };
            assert_eq!(is_latin(info), is, "{collation:?}");
        }
    }
}

//! Key bindings.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// Action of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Nothing, except perhaps a redraw.
    None,
    /// Stop and wait for transactions in flight.
    Stop,
    /// The same as Ctrl-C without the view.
    Interrupt,
    /// Abort: abandon transactions in flight.
    Abort,
    /// Leave the view; the run continues.
    Leave,
    /// Change the load of the run.
    Change(Direction),
}

/// Where to change a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// A higher rate, or more users.
    More,
    /// A lower rate, or fewer users.
    Less,
}

/// State of the keys pressed before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Keys {
    /// `a` was pressed once.
    pub asks_to_abort: bool,
    /// The help is shown.
    pub help: bool,
}

impl Keys {
    /// Handles a key.
    pub fn press(&mut self, key: KeyEvent) -> Action {
        if key.kind == KeyEventKind::Release {
            return Action::None;
        }
        let before = std::mem::take(self);
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Char('c') if control => Action::Interrupt,
            KeyCode::Char('s') if !control => Action::Stop,
            KeyCode::Char('a') if !control && before.asks_to_abort => Action::Abort,
            KeyCode::Char('a') if !control => {
                self.asks_to_abort = true;
                Action::None
            }
            KeyCode::Char('q') if !control => Action::Leave,
            // On many keyboards + is = with Shift.
            KeyCode::Char('+' | '=') if !control => Action::Change(Direction::More),
            KeyCode::Char('-') if !control => Action::Change(Direction::Less),
            KeyCode::Char('?' | 'h') => {
                self.help = !before.help;
                Action::None
            }
            _ => Action::None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pressed(keys: &mut Keys, text: &str) -> Vec<Action> {
        let press = |key| keys.press(KeyEvent::new(KeyCode::Char(key), KeyModifiers::NONE));
        text.chars().map(press).collect()
    }

    #[test]
    fn aborting_takes_the_key_twice_in_a_row() {
        let mut keys = Keys::default();
        assert_eq!(pressed(&mut keys, "a"), [Action::None]);
        assert!(keys.asks_to_abort);
        assert_eq!(pressed(&mut keys, "xa"), [Action::None, Action::None]);
        assert_eq!(pressed(&mut keys, "a"), [Action::Abort]);
    }

    #[test]
    fn each_key_has_its_meaning() {
        let mut keys = Keys::default();
        assert_eq!(pressed(&mut keys, "sqx"), [Action::Stop, Action::Leave, Action::None]);
        let control_c = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
        assert_eq!(keys.press(control_c), Action::Interrupt);
        let [more, less] = [Direction::More, Direction::Less].map(Action::Change);
        assert_eq!(pressed(&mut keys, "+=-"), [more, more, less]);
        pressed(&mut keys, "?");
        assert!(keys.help);
        pressed(&mut keys, "?");
        assert!(!keys.help);
    }
}

// Light or dark: follows the system until the user chooses. The browser stores the choice.

export type Theme = 'light' | 'dark';

const KEY = 'triphammer-theme';
const system = () => matchMedia('(prefers-color-scheme: dark)');

function chosen(): Theme | null {
  try {
    const kept = localStorage.getItem(KEY);
    return kept === 'light' || kept === 'dark' ? kept : null;
  } catch {
    return null; // a page opened from disk may have no storage
  }
}

/** The current theme. */
export function theme(): Theme {
  return chosen() ?? (system().matches ? 'dark' : 'light');
}

function apply(shown: Theme): void {
  document.documentElement.dataset.theme = shown;
  dispatchEvent(new Event('themechange'));
}

/** Applies the theme, and follows the system from now on. Paper is white: a page is printed in light colours. */
export function start(): void {
  apply(theme());
  system().addEventListener('change', () => apply(theme()));
  addEventListener('beforeprint', () => apply('light'));
  addEventListener('afterprint', () => apply(theme()));
}

/** Switches to the other theme, and stores that. */
export function toggle(): void {
  const next: Theme = theme() === 'dark' ? 'light' : 'dark';
  try {
    localStorage.setItem(KEY, next);
  } catch {
    // shown, but not kept
  }
  apply(next);
}

/** Returns a colour of the theme, for canvases: `colour('s1')`. */
export function colour(role: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${role}`).trim();
}

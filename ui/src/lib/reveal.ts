// Jumps to a part of a page, which may be in a section that is closed.

/** Opens the sections around the element with this id, and shows it. */
export function reveal(id: string): void {
  const element = document.getElementById(id);
  for (let around: Element | null = element; around; around = around.parentElement) {
    if (around instanceof HTMLDetailsElement) around.open = true;
  }
  element?.scrollIntoView({ behavior: 'smooth' });
}

// Sorts and filters the tables of a board, which are complete without it. What is chosen is in the address, so that a view
// can be linked.
'use strict';

const form = document.getElementById('filters');
const rows = [...document.querySelectorAll('table.results tbody tr:not(.class)')];

/** What the value of a cell can be compared within: a currency, a kind of source. */
const groupOf = (row, column) => row.cells[column].dataset.group ?? '';

/** The value by which a cell is sorted; null if it is empty, which is last in either direction. */
function valueOf(row, column, kind) {
  const cell = row.cells[column];
  if (kind === 'number') {
    const text = cell.dataset.value ?? '';
    return text === '' ? null : Number(text);
  }
  return cell.textContent.trim() || null;
}

function compare(a, b) {
  return typeof a === 'number' ? a - b : a.localeCompare(b, undefined, { numeric: true });
}

/** Sorts each class of a table by itself: results of two classes cannot be compared. */
function sort(table, column, kind, down) {
  for (const body of table.tBodies) {
    const keyed = [...body.rows].filter((row) => !row.classList.contains('class')).map((row) => ({ row, value: valueOf(row, column, kind), group: groupOf(row, column) }));
    keyed.sort((a, b) => {
      if (a.value === null || b.value === null) return (a.value === null) - (b.value === null);
      if (a.group !== b.group) return compare(a.group, b.group);
      return down ? compare(b.value, a.value) : compare(a.value, b.value);
    });
    body.append(...keyed.map((one) => one.row));
  }
}

for (const table of document.querySelectorAll('table[data-sorts]')) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'sort';
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener('click', () => {
      const sorted = head.getAttribute('aria-sort');
      const down = sorted === null ? 'down' in head.dataset : sorted === 'ascending';
      heads.forEach((other) => other.removeAttribute('aria-sort'));
      head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
      sort(table, column, head.dataset.sort, down);
    });
  });
}

/** What a row must have to be shown. */
function tests() {
  const given = new FormData(form);
  const all = [];
  for (const [name, value] of given) {
    if (value === '') continue;
    if (name === 'text') {
      const words = value.toLowerCase().split(/\s+/);
      all.push((row) => words.every((word) => row.textContent.toLowerCase().includes(word)));
    } else if (name === 'price' || name === 'energy') {
      all.push((row) => row.dataset[name] !== undefined && Number(row.dataset[name]) <= Number(value));
    } else {
      all.push((row) => row.dataset[name] === value);
    }
  }
  return all;
}

/** A limit applies within a currency or kind of source only: if there are several, once one is chosen. */
function limit() {
  for (const field of form.querySelectorAll('[data-within]')) {
    const within = form.elements.namedItem(field.dataset.within);
    field.disabled = within !== null && within.value === '';
    // A phone shows no title.
    field.placeholder = field.disabled ? `choose: ${within.previousElementSibling.textContent.toLowerCase()}` : '';
  }
}

function filter() {
  limit();
  const all = tests();
  let shown = 0;
  for (const row of rows) {
    row.hidden = !all.every((test) => test(row));
    if (!row.hidden) shown += 1;
  }
  for (const body of document.querySelectorAll('table.results tbody')) {
    body.hidden = [...body.rows].every((row) => row.hidden || row.classList.contains('class'));
  }
  for (const section of document.querySelectorAll('section:has(> .scroll > table.results)')) {
    section.hidden = all.length > 0 && [...section.querySelectorAll('tbody')].every((body) => body.hidden);
  }
  document.getElementById('nothing').hidden = all.length === 0 || shown > 0;
  form.elements.count.textContent = all.length > 0 ? `${shown} of ${rows.length} results` : '';
  const query = new URLSearchParams([...new FormData(form)].filter(([, value]) => value !== '')).toString();
  if (query !== location.hash.slice(1)) history.replaceState(null, '', query ? `#${query}` : location.pathname + location.search);
}

if (form) {
  for (const [name, value] of new URLSearchParams(location.hash.slice(1))) {
    const field = form.elements.namedItem(name);
    if (!field || name === 'count') continue;
    if (field.type === 'checkbox') field.checked = value === '1';
    else field.value = value;
  }
  form.addEventListener('input', filter);
  form.addEventListener('submit', (event) => event.preventDefault());
  form.addEventListener('reset', () => setTimeout(filter));
  form.hidden = false;
  filter();
}

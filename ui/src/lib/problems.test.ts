import { expect, test } from 'vitest';
import { ApiError } from './http';
import { plain, problems, type Form, plainHelp } from './problems';

const form = (settings: Record<string, string>): Form => ({ command: 'run', target: null, other: null, settings });
const about = (field: string | undefined, message: string) => new ApiError(422, 'invalid', message, field);

/** A server that reports one problem at a time. */
const server = (bad: Record<string, string>) => async (asked: Form) => {
  const found = Object.keys(asked.settings).find((name) => bad[name]);
  if (found) throw about(found, bad[found]!);
  return 'fine';
};

test('all problems of a form are found, though the server names one at a time', async () => {
  const asked = form({ vus: '0', duration: '5', label: 'x' });
  const found = await problems(asked, server({ vus: '--vus from the request: needs at least one virtual user', duration: '--duration: add a unit' }));
  expect(found.fields).toEqual({ vus: 'Needs at least one virtual user', duration: 'Add a unit' });
  expect(found.preview).toBeNull();
  expect(found.without).toBe('fine');
});

test('a form without a problem has a preview, and what is about no field is shown by itself', async () => {
  expect(await problems(form({ vus: '8' }), server({}))).toEqual({ preview: 'fine', without: 'fine', fields: {}, other: null });
  const found = await problems(form({}), async () => Promise.reject(about(undefined, 'nothing is built')));
  expect(found.other?.message).toBe('nothing is built');
});

test('messages lose what only a command line needs', () => {
  expect(plain('--vus from the request: `x` cannot be read')).toBe('“x” cannot be read');
  expect(plain('--rampup goes by time; --transactions has none', { rampup: 'Ramp-up', transactions: 'Transactions per user' })).toBe('“Ramp-up” goes by time; “Transactions per user” has none');
  expect(plain('nothing is built')).toBe('Nothing is built');
});

test('help names fields instead of flags, and leaves out exit codes', () => {
  const titles = { 'until-ci': 'End when this precise', vus: 'Virtual users' };
  expect(plainHelp('Timed window, the longest with --until-ci', titles)).toBe('Timed window, the longest with “End when this precise”');
  expect(plainHelp('Highest level that `--vus auto` tries', titles)).toBe('Highest level that “Virtual users” auto tries');
  expect(plainHelp('End the run early above this: 50%/10s. The run is stored, and the exit code is 1', titles)).toBe('End the run early above this: 50%/10s');
  expect(plainHelp('Such as `failures < 0.1%`; several with commas, or the flag again. When one fails the exit code is 1', titles)).toBe('Such as “failures < 0.1%”; several with commas');
  expect(plainHelp('10s and 5s in `capacity`', titles, false)).toBe('10s and 5s in “capacity”');
});

test('a required setting that is missing does not hide the errors of the others', async () => {
  const wrong: Record<string, string> = { vus: '--vus must be 1 or more', limit: "capacity needs a response time limit, such as --limit 'new_order.p95 < 50ms'" };
  const ask = (form: Form) => {
    const field = !form.settings.limit ? 'limit' : form.settings.vus === '0' ? 'vus' : null;
    return field ? Promise.reject(new ApiError(422, 'invalid', wrong[field]!, field)) : Promise.resolve('fine');
  };
  const form = { command: 'capacity', target: null, other: null, settings: { vus: '0' } };
  const found = await problems(form, ask);
  expect(found.preview).toBeNull();
  expect(Object.keys(found.fields).sort()).toEqual(['limit', 'vus']);
  expect(found.fields.limit).toBe("Capacity needs a response time limit, such as 'new_order.p95 < 50ms'");
  expect((await problems({ ...form, settings: {} }, ask)).preview).toBeNull();
});

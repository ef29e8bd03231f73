// The page in a real browser against the real server, SQLite and PostgreSQL. tools/test-ui.py starts them and
// says where they are: BASE and TOKEN, POSTGRES (URL without password), PASSWORD, and SHOTS for pictures to look at.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after, afterEach, before, test } from 'node:test';
import { open } from './browser.mjs';

const { BASE, TOKEN, POSTGRES, PASSWORD, SHOTS } = process.env;
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
// How long any one step waits for what it names: much more than it needs, also on two busy cores.
const PATIENCE_MS = 120_000;
let browser;
let context;
let page;
const trouble = [];
const elsewhere = [];
const leaks = [];

before(async () => {
  browser = await open();
  // Scripts of the test's own, such as axe, are no part of the page and not bound by its policy.
  context = await browser.newContext({ viewport: { width: 1280, height: 900 }, acceptDownloads: true, bypassCSP: true });
  context.setDefaultTimeout(PATIENCE_MS);
  watch((page = await context.newPage()));
  // The link that the server prints.
  await page.goto(`${BASE}/?token=${TOKEN}`);
  assert.equal(page.url(), `${BASE}/`, 'the token leaves the address');
});

after(async () => {
  await browser?.close();
});

// What a failed test was looking at.
afterEach(async (t) => {
  if (t.passed === false) await picture(`failed-${t.name.replace(/\W+/g, '-').slice(0, 40)}`).catch(() => {});
});

/** Every page must be quiet in the console, ask only its own server what is there, and never be told the password. */
function watch(tab) {
  tab.on('pageerror', (error) => trouble.push(error.message));
  tab.on('console', (message) => message.type() === 'error' && !/status of 4\d\d/.test(message.text()) && trouble.push(message.text()));
  tab.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(BASE) && !/^(data|blob|file):/.test(url)) elsewhere.push(url);
  });
  tab.on('response', async (response) => {
    // A history of nothing is asked for on purpose.
    const expected = response.url().includes('label=no+such+label');
    if (response.request().method() === 'GET' && response.status() >= 400 && !expected) trouble.push(`${response.status()} ${response.url()}`);
    if (!/json|html|javascript/.test(response.headers()['content-type'] ?? '')) return;
    const text = await response.text().catch(() => '');
    if (text.includes(PASSWORD)) leaks.push(response.url());
  });
}

async function go(path) {
  await page.goto(`${BASE}/#/${path}`);
}

async function picture(name) {
  await page.screenshot({ path: `${SHOTS}/${name}.png`, fullPage: true });
}

/** No serious finding of axe, in both colours, and no sideways scrolling on a phone. */
async function readable(name) {
  await page.evaluate(axe);
  for (const theme of ['light', 'dark']) {
    await page.evaluate((to) => {
      document.documentElement.dataset.theme = to;
      dispatchEvent(new Event('themechange'));
    }, theme);
    const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
    const serious = found.violations.filter((v) => ['serious', 'critical'].includes(v.impact));
    assert.deepEqual(serious.map((v) => `${v.id}: ${v.nodes.map((n) => n.target).join(' ')}`), [], `${name} in ${theme}`);
    await picture(`${name}-${theme}`);
  }
  await page.evaluate(() => {
    document.documentElement.dataset.theme = 'light';
    dispatchEvent(new Event('themechange'));
  });
  await page.setViewportSize({ width: 390, height: 844 });
  await page.waitForTimeout(300);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  // Rows that became blocks are whole: nothing of them is left outside.
  const cut = await page.evaluate(() => [...document.querySelectorAll('.scroll:has(table.stack)')].filter((it) => it.checkVisibility() && it.scrollWidth > it.clientWidth + 1).map((it) => it.innerText.slice(0, 80)));
  await picture(`${name}-phone`);
  await page.setViewportSize({ width: 3840, height: 2160 });
  await page.waitForTimeout(300);
  await page.screenshot({ path: `${SHOTS}/${name}-wide.png` });
  await page.setViewportSize({ width: 1280, height: 900 });
  assert.equal(wide, 0, `${name} scrolls sideways on a phone`);
  assert.deepEqual(cut, [], `${name} has rows that a phone cuts`);
}

/** Starts what a form says, once the server has said what it comes to. */
async function start(query, button, shown) {
  await go(`new?${query}`);
  await page.getByText(shown).first().waitFor();
  await page.getByRole('button', { name: button }).click();
}

/** A run of ten minutes: its tab is closed, another finds it going on, and it is stopped by the keyboard. */
async function watchedLeftAndStopped(query, name) {
  await start(`${query}&vus=2&rampup=1s&duration=10m&label=${name}`, 'Start the run', /--duration 10m/);
  await page.getByText('Throughput by type').waitFor();
  const live = page.url();
  await page.close();
  watch((page = await context.newPage()));
  await page.goto(live);
  await page.getByText('Elapsed').waitFor();
  await page.waitForFunction(() => /0:0[5-9]|0:[1-9]\d|[1-9]:\d\d/.test(document.querySelector('.tiles')?.textContent ?? ''));
  await readable(`live-${name}`);
  await page.getByRole('button', { name: 'Stop', exact: true }).focus();
  await page.keyboard.press('Enter');
  await job();
  await page.getByText('interrupted').first().waitFor();
}

/** A short run that ends by itself; gives the number of its job. */
async function short(query, label) {
  await start(`${query}&vus=1&duration=5s&rampup=1s&label=${label}`, 'Start the run', /--duration 5s/);
  return job();
}

/** Downloads the report of the job that is shown, and reads it from disk without any network. */
async function opensFromDisk(name, texts) {
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: 'html', exact: true }).click()]);
  const file = `${SHOTS}/${name}.html`;
  await download.saveAs(file);
  assert.ok(!readFileSync(file, 'utf8').includes(PASSWORD));
  const disk = await browser.newContext({ viewport: { width: 1280, height: 900 }, offline: true, bypassCSP: true });
  disk.setDefaultTimeout(PATIENCE_MS);
  const site = page;
  try {
    page = await disk.newPage();
    const asked = [];
    page.on('request', (request) => asked.push(request.url()));
    page.on('console', (message) => message.type() === 'error' && trouble.push(`${name}: ${message.text()}`));
    page.on('pageerror', (error) => trouble.push(`${name}: ${error.message}`));
    await page.goto(`file://${file}`);
    for (const text of texts) await page.getByText(text).first().waitFor();
    await readable(name);
    assert.deepEqual(asked.filter((url) => !/^(data|blob):/.test(url)), [`file://${file}`]);
  } finally {
    page = site;
    await disk.close();
  }
}

async function job() {
  await page.getByRole('link', { name: /Open job/ }).click();
  await page.getByText('Transactions in the timed window').waitFor();
  return Number(page.url().split('/').pop());
}

test('an empty store says what to do', async () => {
  await go('');
  await page.getByText('No jobs yet.').waitFor();
  await readable('empty');
});

test('a target is saved and tested, and its password stays on the server', async () => {
  await go('targets');
  await page.getByLabel('Name').fill('pg');
  await page.getByLabel('URL').fill(POSTGRES);
  await page.locator('input[type=password]').fill(PASSWORD);
  await page.getByRole('button', { name: 'Save and test' }).click();
  await page.getByText(/PostgreSQL \d+.*connected in/).waitFor();
  await page.getByText('held in memory', { exact: true }).waitFor();
  await readable('targets');
});

test('a run where nothing is built says what to do, before it begins', async () => {
  await go('new?target=pg');
  await page.getByText(/triphammer build/).waitFor();
});

test('a build shows its progress', async () => {
  await go('new?command=build&target=pg&scale=1');
  await page.getByText(/triphammer build '?postgres:/).waitFor();
  await page.getByRole('button', { name: 'Start the build' }).click();
  await page.getByRole('link', { name: /Open job/ }).waitFor();
  assert.ok((await page.locator('progress').count()) > 0);
  await readable('build');
});

test('a bad value is refused at its field, in the words of the command line', async () => {
  await go('new?target=pg&vus=0');
  await page.getByText(/at least one virtual user/).first().waitFor();
  assert.equal(await page.locator('#setting-vus').getAttribute('aria-invalid'), 'true');
});

test('all that is wrong with a form is shown at once, beside its fields', async () => {
  await go('new?target=pg&vus=0&duration=5');
  await page.getByText(/2 fields need a change: /).waitFor();
  for (const name of ['vus', 'duration']) assert.equal(await page.locator(`#setting-${name}`).getAttribute('aria-invalid'), 'true', name);
  const shown = await page.locator('form').innerText();
  assert.ok(!/from the request/.test(shown), shown);
});

test('a load model is chosen by fields', async () => {
  await go('new?target=pg');
  await page.getByLabel('Load model').selectOption('rate');
  await page.getByLabel('Arrivals per second').fill('50');
  await page.getByText(/triphammer run .*--load rate:50\/s/).waitFor();
  await page.getByText(/with arrivals at 50 per second over/).waitFor();
  await page.getByLabel('Maximum backlog').waitFor();
  for (const help of await page.locator('form small').allInnerTexts()) assert.ok(!/--[a-z]|`/.test(help), help);
});

test('the form shows what it comes to as a command to copy', async () => {
  await go('new?target=pg&vus=2&duration=10m');
  await page.getByText(/triphammer run .*--duration 10m/).waitFor();
  await readable('start');
});

test('a run on PostgreSQL is watched, left, found again, and stopped', () => watchedLeftAndStopped('target=pg', 'stopped'));

test('a run on SQLite needs no target and ends in a job with all figures', async () => {
  await short('', 'embedded');
  await page.getByText('Response time by percentile').waitFor();
  await page.getByText('Response times over the run').waitFor();
  await readable('job');
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: 'json', exact: true }).click()]);
  const document = JSON.parse(readFileSync(await download.path(), 'utf8'));
  assert.equal(document.label, 'embedded');
});

test('the report of a job opens from disk, without any network', () =>
  opensFromDisk('report', ['Transactions in the timed window', 'Response time by percentile', 'To repeat it', /triphammer run .*--duration 5s/]));

test('a run on SQLite is watched, left, found again, and stopped', () => watchedLeftAndStopped('', 'left'));

test('a run on PostgreSQL ends in a job', () => short('target=pg', 'served'));

test('the set-up of a target is examined before a run, and the examination can be cancelled', async () => {
  await go('new?target=pg');
  await page.getByRole('button', { name: 'Check the set-up' }).click();
  const card = page.getByRole('region', { name: 'Set-up' });
  // The private server has fsync off.
  const row = card.getByRole('row').filter({ hasText: 'fsync' });
  await row.waitFor();
  assert.match(await row.innerText(), /wrong[\s\S]*off[\s\S]*Without it commits do not wait[\s\S]*ALTER SYSTEM SET fsync = on/);
  await card.getByText(/checks? (is|are) fine/).waitFor();
  await readable('set-up');
  // This one does not end before it is cancelled.
  let cancelled;
  const cancel = new Promise((done) => (cancelled = done));
  await page.route('**/api/v1/doctor', async (route) => {
    await cancel;
    await route.continue().catch(() => {});
  });
  await card.getByRole('button', { name: 'Check again' }).click();
  await card.getByRole('button', { name: 'Cancel' }).click();
  await card.getByRole('button', { name: 'Check again' }).waitFor();
  cancelled();
  await page.unroute('**/api/v1/doctor');
});

test('figures of the database and its host are drawn on the axis of a run, chosen, and compared with the rest', async () => {
  await start('target=pg&vus=2&duration=20s&rampup=2s&label=figures', 'Start the run', /--duration 20s/);
  const figures = page.getByRole('region', { name: 'Figures of the database and its hosts' });
  // The store has them a few seconds after they were measured.
  await figures.locator('figcaption', { hasText: 'WAL generated' }).waitFor();
  await job();
  await figures.locator('figcaption', { hasText: 'WAL generated' }).waitFor();
  await figures.locator('figcaption', { hasText: 'CPU' }).waitFor();
  // All axes are as wide as that of the throughput.
  const lefts = await page.evaluate(() => [...document.querySelectorAll('.u-over')].map((it) => Math.round(it.getBoundingClientRect().left - it.closest('.u-wrap').getBoundingClientRect().left)));
  assert.equal(new Set(lefts).size, 1, `charts begin at ${lefts}`);
  await figures.getByText('Choose figures').click();
  await figures.getByLabel('Commits', { exact: true }).check();
  await figures.locator('figcaption', { hasText: 'Commits' }).waitFor();
  await readable('figures');
  await figures.getByRole('button', { name: 'Default figures' }).click();
  await figures.locator('figcaption', { hasText: 'Commits' }).waitFor({ state: 'detached' });
  const chart = await figures.locator('.u-over').first().boundingBox();
  await page.mouse.move(chart.x + chart.width * 0.4, chart.y + 20);
  await page.mouse.down();
  await page.mouse.move(chart.x + chart.width * 0.7, chart.y + 20);
  await page.mouse.up();
  await figures.getByText(/Figures from 0:\d\d to 0:\d\d, compared with the rest/).waitFor();
  await figures.getByRole('row').filter({ hasText: '/s' }).first().waitFor();
  await picture('figures-part');
  const observed = page.getByRole('region', { name: 'Observed in the timed window' });
  await observed.getByText('Load profile of the database').click();
  assert.match(await observed.getByRole('row').filter({ hasText: 'Commits' }).first().innerText(), /Commits\s+[\d,.]+\/s\s+[\d.]+/);
  await page.getByRole('region', { name: 'Set-up' }).getByRole('row').filter({ hasText: 'fsync' }).waitFor();
});

test('a profile tells its runs and ends in a curve', async () => {
  await start('command=profile&vus=1,2,3&repeats=1&rampup=0s&duration=2s&settle=0s', 'Start the profile', /triphammer profile/);
  // Any of them: the first may be over before it is shown.
  await page.getByText(/^[1-3] of 3$/).waitFor();
  await readable('live-profile');
  await page.getByRole('link', { name: /Open job/ }).click();
  await page.getByText(/over virtual users/).first().waitFor();
  await readable('profile');
});

test('a comparison makes its runs in pairs, is judged, and is handed over', async () => {
  await go('new?command=compare');
  await page.getByLabel('Target of B').selectOption('pg');
  await go('new?command=compare&target=pg&b=mode%3Dstatements&pairs=2&vus=2&rampup=0s&duration=2s&settle=0s&cool-down=1s');
  await page.getByText(/triphammer compare .*--ab .*--b mode=statements/).waitFor();
  await readable('start-compare');
  await page.getByRole('button', { name: 'Start the comparison' }).click();
  await page.getByText('Throughput by type').waitFor();
  await page.getByText(/^[1-4] of 4$/).waitFor();
  await readable('live-compare');
  await page.getByRole('link', { name: /Open job/ }).click();
  await page.getByText('B over A, 95 % interval').first().waitFor();
  await readable('compare-job');
  await opensFromDisk('report-compare', ['B over A, 95 % interval', 'What differed', /triphammer compare .*--b mode=statements/]);
});

test('a run in which everything fails says so first, with the error, and what was required is judged', async () => {
  const url = 'null:?fail=constraint:100%';
  await page.evaluate((body) => fetch('/api/v1/targets/failing', { method: 'PUT', headers: { 'content-type': 'application/json' }, body }), JSON.stringify({ url }));
  await start(`target=failing&vus=1&duration=8s&rampup=1s&label=failing&max-failures=0.5`, 'Start the run', /--duration 8s/);
  await page.getByRole('alert').filter({ hasText: /^NOPM 0, 100 % failed: .+ failed: / }).waitFor();
  await readable('live-failing');
  await page.getByRole('link', { name: /Open job/ }).click();
  await page.getByRole('alert').filter({ hasText: /^NOPM 0, 100 % failed: / }).waitFor();
  await readable('failing');
  await go('?search=failing');
  await page.getByRole('row').filter({ hasText: 'complete, too many failures' }).waitFor();
  await start('vus=1&duration=3s&rampup=0s&label=required&require=nopm+%3E%3D+1000000000', 'Start the run', /--require/);
  await page.getByRole('link', { name: /Open job/ }).click();
  await page.getByText('complete, requirements failed').first().waitFor();
  await page.getByText('✗ not met').waitFor();
  await readable('required');
  await go('?search=required');
  await page.getByRole('row').filter({ hasText: 'complete, requirements failed' }).waitFor();
});

test('the load of a run is changed on its page', async () => {
  const url = 'null:?service=1ms';
  await page.evaluate((body) => fetch('/api/v1/targets/steered', { method: 'PUT', headers: { 'content-type': 'application/json' }, body }), JSON.stringify({ url }));
  await start('target=steered&vus=2&duration=10m&rampup=0s&load=rate%3A50%2Fs', 'Start the run', /--duration 10m/);
  const form = page.getByRole('form', { name: 'Load' });
  await form.getByText('arrivals per second').waitFor();
  assert.equal(await form.getByRole('spinbutton').inputValue(), '50');
  await form.getByRole('spinbutton').fill('400');
  await form.getByRole('button', { name: 'Change' }).click();
  await page.getByRole('status').filter({ hasText: /^50 → 400 from 0:\d\d on$/ }).waitFor();
  await page.getByText(/the rate changed from 50 to 400 per second/i).first().waitFor();
  await readable('live-steered');
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  await job();
});

test('an outage is shown while it goes on, and a load that changes is not called drifting', async () => {
  const url = 'null:?service=5ms&stall=6s/8s';
  await page.evaluate((body) => fetch('/api/v1/targets/stalling', { method: 'PUT', headers: { 'content-type': 'application/json' }, body }), JSON.stringify({ url }));
  await start('target=stalling&vus=2&duration=15s&rampup=0s&load=ramp%3A50..100%2F15s', 'Start the run', /with arrivals rising from 50 to 100 per second/);
  await page.getByRole('alert').filter({ hasText: /^No service since 0:\d\d/ }).waitFor();
  await readable('live-outage');
  await page.getByRole('link', { name: /Open job/ }).click();
  await page.getByText('The load itself changes').waitFor();
  await readable('ramp');
});

test('a search for the capacity is drawn while it goes on, and is never called interrupted then', async () => {
  await start('command=capacity&limit=all.p95+%3C+200ms&vus=1&rampup=0s&duration=4s&settle=0s', 'Start the search', /triphammer capacity/);
  await page.getByText(/The search is still running after \d+ probes?/).waitFor();
  assert.ok(!/interrupted/i.test(await page.locator('main').innerText()));
  await readable('live-capacity');
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  await page.getByRole('link', { name: /Open job/ }).click();
  await page.getByText('Throughput over the rate').waitFor();
  await readable('capacity');
});

test('a job is not compared with itself', async () => {
  await go('compare?jobs=1,1');
  await page.getByText('Job 1 cannot be compared with itself.').waitFor();
});

test('a check shows that every condition holds', async () => {
  await start('command=check', 'Start the check', /triphammer check/);
  await page.getByText(/All \d+ conditions hold/).waitFor();
  await page.getByRole('link', { name: /Open job/ }).click();
  await page.getByText(/All \d+ conditions hold/).waitFor();
  await readable('check');
});

test('jobs are found by their label, and two are judged', async () => {
  await go('');
  await page.getByLabel('Search').fill('stopped');
  await page.getByText(/^1 of 1$/).waitFor();
  await page.getByLabel('Search').fill('');
  await page.getByText('embedded', { exact: true }).waitFor();
  await readable('jobs');
  for (const label of ['embedded', 'served']) await page.getByRole('row').filter({ hasText: label }).getByRole('checkbox').check();
  await page.getByRole('link', { name: 'Compare 2 jobs' }).click();
  await page.getByText('B over A').first().waitFor();
  await page.getByText('What differed').waitFor();
  await page.getByRole('row', { name: /product.*SQLite.*PostgreSQL/ }).waitFor();
  await readable('compare');
});

test('the history of runs is drawn and told in words', async () => {
  await go('history?on=postgres');
  await page.getByText(/NOPM of the runs/).waitFor();
  await page.getByRole('columnheader', { name: '95 % interval' }).waitFor();
  await readable('history');
  await page.getByLabel('Label').fill('no such label');
  await page.getByText(/No complete run matches/).waitFor();
});

test('nothing was asked of another host, no page had an error, and no answer held the password', () => {
  assert.deepEqual(elsewhere, []);
  assert.deepEqual(trouble, []);
  assert.deepEqual(leaks, []);
});

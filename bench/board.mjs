// A board at BASE in Chromium: milliseconds to the first paint and to the whole table, with and without JavaScript, and to a
// filter and a sort. Prints a line of JSON for each. PICTURES is a folder for what is seen at three widths, light and dark.
import { open } from '../ui/e2e/browser.mjs';

const { BASE, ROUNDS, PICTURES } = process.env;
const SIZES = { phone: [390, 844], laptop: [1366, 768], projector: [2560, 1440] };

const browser = await open();
const show = (what, unit, values, wanted) => console.log(JSON.stringify({ what, unit, values, wanted }));

async function visit(javaScriptEnabled) {
  const context = await browser.newContext({ viewport: { width: 1366, height: 768 }, javaScriptEnabled });
  const page = await context.newPage();
  const network = await context.newCDPSession(page);
  await network.send('Performance.enable');
  const begun = performance.now();
  await page.goto(`${BASE}/index.html`, { waitUntil: 'load' });
  const loaded = performance.now() - begun;
  const rows = await page.locator('table.results tbody tr:not(.class)').count();
  return { context, page, loaded, rows };
}

const paints = [];
const loads = [];
const plain = [];
const filters = [];
const sorts = [];
for (let round = 0; round < Number(ROUNDS); round += 1) {
  const { context, page, loaded } = await visit(true);
  await page.waitForFunction(() => performance.getEntriesByName('first-contentful-paint').length > 0);
  paints.push(await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0].startTime));
  loads.push(loaded);
  const measured = (act) =>
    page.evaluate(
      (act) =>
        new Promise((done) => {
          const begun = performance.now();
          if (act === 'filter') {
            document.querySelector('[name=text]').value = 'postgresql';
            document.getElementById('filters').dispatchEvent(new Event('input'));
          } else {
            document.querySelectorAll('th button.sort')[3].click();
          }
          requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - begun)));
        }),
      act,
    );
  filters.push(await measured('filter'));
  sorts.push(await measured('sort'));
  await context.close();
  const without = await visit(false);
  plain.push(without.loaded);
  if (without.rows === 0) throw new Error('no rows without JavaScript');
  await without.context.close();
}
show('first paint', 'ms', paints, '(at most 1,000)');
show('loaded', 'ms', loads, '');
show('loaded without JavaScript', 'ms', plain, '');
show('filtered and shown', 'ms', filters, '');
show('sorted and shown', 'ms', sorts, '');

if (PICTURES) {
  for (const [name, [width, height]] of Object.entries(SIZES)) {
    for (const colorScheme of ['light', 'dark']) {
      const context = await browser.newContext({ viewport: { width, height }, colorScheme });
      const page = await context.newPage();
      const wrong = [];
      page.on('console', (message) => message.type() === 'error' && wrong.push(message.text()));
      page.on('pageerror', (error) => wrong.push(error.message));
      await page.goto(`${BASE}/index.html`);
      await page.screenshot({ path: `${PICTURES}/index-${name}-${colorScheme}.png` });
      const link = await page.locator('table.results tbody th a').first().getAttribute('href');
      await page.goto(`${BASE}/${link}`);
      await page.screenshot({ path: `${PICTURES}/result-${name}-${colorScheme}.png`, fullPage: true });
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      await page.goto(`${BASE}/${link.replace('index.html', 'report.html')}`);
      await page.waitForTimeout(1500);
      await page.screenshot({ path: `${PICTURES}/report-${name}-${colorScheme}.png` });
      if (wide > 0 || wrong.length > 0) console.error(`${name} ${colorScheme}: ${wide} px too wide; ${wrong.join('; ')}`);
      await context.close();
    }
  }
}
await browser.close();

// The cost of a long job's page in Chromium, at BASE and JOB. Prints one line of JSON: milliseconds to the
// page with all its charts, bytes of the page and of its data as transferred, milliseconds until a part is compared
// with the rest, frames per second while moving over the run, and the longest wait between two frames.
import { open } from '../ui/e2e/browser.mjs';

const { BASE, TOKEN, JOB, SHOT } = process.env;
const MOVES_MS = 4000;

const browser = await open();
const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
const page = await context.newPage();
const network = await context.newCDPSession(page);
const bytes = { page: 0, data: 0 };
const urls = new Map();
await network.send('Network.enable');
network.on('Network.responseReceived', ({ requestId, response }) => urls.set(requestId, response.url));
network.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
  bytes[urls.get(requestId)?.includes('/api/') ? 'data' : 'page'] += encodedDataLength;
});

// The page is drawn when series, observed figures, percentiles and heat map are on their canvases and a frame with them
// was shown.
const FIGURES = '[aria-label="Figures of the database and its hosts"]';
const begun = performance.now();
// Opens the page by its link, in a context authorised by the token.
await page.request.get(`${BASE}/?token=${TOKEN}`);
await page.goto(`${BASE}/#/jobs/${JOB}`);
await page.waitForFunction((of) => document.querySelectorAll(`${of} canvas`).length >= 4 && document.querySelectorAll('.u-wrap canvas').length >= 10 && document.querySelector('figure > div > canvas'), FIGURES, { polling: 'raf' });
await page.evaluate(() => new Promise((shown) => requestAnimationFrame(() => requestAnimationFrame(shown))));
const drawn = performance.now() - begun;
const first = { ...bytes };
const timings = await page.evaluate(() => performance.getEntriesByType('resource').filter((r) => r.name.includes('/jobs/')).map((r) => [r.name.split('/jobs/')[1], Math.round(r.duration)]));
if (SHOT) await page.screenshot({ path: SHOT, fullPage: true });

// The map of 64 CPUs, drawn from another figure: until a frame with it was shown.
const CORES = 'figure[aria-label="CPUs of this host over time"]';
const cores = await page.evaluate(async (of) => {
  const select = document.querySelector(`${of} select`);
  const begun = performance.now();
  select.value = 'soft';
  select.dispatchEvent(new Event('change', { bubbles: true }));
  await new Promise((shown) => requestAnimationFrame(() => requestAnimationFrame(shown)));
  return performance.now() - begun;
}, CORES);
if (SHOT) await page.locator(CORES).screenshot({ path: SHOT.replace('.png', '-cores.png') });

// A part of it, compared with the rest.
const asked = performance.now();
await page.getByRole('button', { name: 'Closer' }).click();
await page.waitForFunction((of) => document.querySelector(`${of} h3 + .scroll table`), FIGURES, { polling: 'raf' });
const compared = performance.now() - asked;
if (SHOT) await page.screenshot({ path: SHOT.replace('.png', '-part.png'), fullPage: true });

// Zooms in first, so that there is room to move; then Shift and drag, back and forth, at the pace of the mouse.
for (let times = 0; times < 2; times += 1) await page.getByRole('button', { name: 'Closer' }).click();
await page.waitForTimeout(1000);
await page.evaluate(() => {
  window.frames_ = [];
  const frame = (at) => (window.frames_.push(at), requestAnimationFrame(frame));
  requestAnimationFrame(frame);
});
const box = await page.locator('.u-over').first().boundingBox();
const [left, y] = [box.x, box.y + box.height / 2];
await page.mouse.move(left + box.width / 2, y);
await page.keyboard.down('Shift');
await page.mouse.down();
await page.evaluate(() => (window.frames_.length = 0));
const until = performance.now() + MOVES_MS;
for (let step = 0; performance.now() < until; step += 1) {
  await page.mouse.move(left + box.width * (0.5 + 0.45 * Math.sin(step / 20)), y);
}
const frames = await page.evaluate(() => window.frames_);
await page.mouse.up();
await page.keyboard.up('Shift');
const gaps = frames.slice(1).map((at, i) => at - frames[i]).sort((a, b) => a - b);
const fps = (1000 * gaps.length) / (frames.at(-1) - frames[0]);
if (SHOT) await page.screenshot({ path: SHOT.replace('.png', '-moved.png'), fullPage: true });
await browser.close();
console.log(JSON.stringify({ drawn, ...first, cores, compared, fps, p95_ms: gaps[Math.floor(gaps.length * 0.95)], longest_ms: gaps.at(-1), timings }));

// Access control, in a real browser: the token, its cookie, TLS, and pages of other origins. Starts servers of its own
// from the binary TRIPHAMMER, on every address of the host, with a store that goes when the test ends.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { open } from './browser.mjs';

const { TRIPHAMMER, SHOTS } = process.env;
const folder = mkdtempSync(join(tmpdir(), 'triphammer-guarded-'));
const servers = [];
let browser;

before(async () => {
  browser = await open();
});

after(async () => {
  await browser?.close();
  for (const { child, over } of servers) {
    child.kill();
    await over;
  }
  rmSync(folder, { recursive: true });
});

/** A server that anyone may reach: where it is, its token, and all that it has written. */
async function serve(...options) {
  const child = spawn(TRIPHAMMER, ['serve', '--listen', '0.0.0.0:0', ...options], {
    env: { ...process.env, TRIPHAMMER_STORE: join(folder, `${servers.length}.sqlite`), TRIPHAMMER_TOKEN: '' },
  });
  const server = { child, said: '', over: new Promise((ended) => child.on('exit', ended)) };
  servers.push(server);
  const line = await new Promise((found, failed) => {
    const hear = (some) => {
      server.said += some;
      const heard = /listening on (\S+?)\/\?token=(\S+)\n/.exec(server.said);
      if (heard) found(heard);
    };
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    child.on('exit', () => failed(new Error(server.said)));
  });
  return Object.assign(server, { base: line[1], token: line[2] });
}

/** A certificate for the loopback address that its own key has signed. */
function certificate() {
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  const about = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', ...about, '-keyout', key, '-out', cert], { stdio: 'ignore' });
  return ['--tls-cert', cert, '--tls-key', key];
}

/** Shows the token on the page that asks for it. */
async function logIn(page, token) {
  await page.getByLabel('Token').fill(token);
  await page.getByRole('button', { name: 'Log in' }).click();
}

test('a page asks for the token, says when it is wrong, and goes where one wanted when it is right', async () => {
  const server = await serve();
  assert.equal(server.said.split(server.token).length, 2, 'the token is printed once');
  assert.match(server.said, /use --tls-cert and --tls-key/);
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`${server.base}/#/targets`);
  await page.waitForURL(/\/login/);
  await logIn(page, 'not-the-token-at-all');
  await page.getByText('wrong token').waitFor();
  await page.screenshot({ path: `${SHOTS}/login-wrong.png` });
  assert.deepEqual(await context.cookies(), []);
  await logIn(page, server.token);
  await page.getByRole('heading', { name: 'Targets' }).waitFor();
  await page.getByRole('status').getByText('live', { exact: true }).waitFor();

  const [cookie, ...others] = await context.cookies();
  assert.deepEqual(others, []);
  assert.deepEqual([cookie.httpOnly, cookie.sameSite, cookie.secure], [true, 'Strict', false]);
  assert.ok(!cookie.value.includes(server.token) && !(await page.content()).includes(server.token));
  const kept = await page.evaluate(() => JSON.stringify([document.cookie, { ...localStorage }, { ...sessionStorage }]));
  assert.ok(!kept.includes(server.token) && !kept.includes(cookie.value), kept);

  await page.reload();
  await page.getByRole('heading', { name: 'Targets' }).waitFor();
  await page.getByRole('button', { name: 'Log out' }).click();
  await page.waitForURL(/\/login/);
  assert.deepEqual(await context.cookies(), []);
  const old = await fetch(`${server.base}/api/v1/about`, { headers: { cookie: `${cookie.name}=${cookie.value}` } });
  assert.equal(old.status, 401, 'a cookie of one who has logged out is worth nothing');
  assert.equal(server.said.split(server.token).length, 2, 'nor is the token printed later');
  await context.close();
});

test('with a certificate the page comes by https, and its cookie goes nowhere else', async () => {
  const server = await serve(...certificate());
  assert.match(server.base, /^https:/);
  assert.doesNotMatch(server.said, /without --tls-cert/);
  const context = await browser.newContext({ ignoreHTTPSErrors: true });
  const page = await context.newPage();
  await page.goto(server.base);
  await logIn(page, server.token);
  await page.getByText('No jobs yet.').waitFor();
  await page.getByRole('status').getByText('live', { exact: true }).waitFor();
  const [cookie] = await context.cookies();
  assert.deepEqual([cookie.httpOnly, cookie.sameSite, cookie.secure], [true, 'Strict', true]);
  await assert.rejects(fetch(`${server.base.replace('https', 'http')}/api/v1/session`), 'nothing is said without TLS');
  await context.close();
  const strict = await (await browser.newContext()).newPage();
  await assert.rejects(strict.goto(server.base), /ERR_CERT/);
});

test('a page of another origin reads nothing and starts nothing, though its visitor is logged in', async () => {
  const server = await serve();
  const elsewhere = createServer((_, response) => response.setHeader('content-type', 'text/html').end('<p>elsewhere</p>'));
  await new Promise((ready) => elsewhere.listen(0, '127.0.0.1', ready));
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(server.base);
  await logIn(page, server.token);
  await page.getByText('No jobs yet.').waitFor();

  // Another port of the same host is the same site for cookies: they go with these requests.
  const other = await context.newPage();
  await other.goto(`http://127.0.0.1:${elsewhere.address().port}/`);
  const outcomes = await other.evaluate(async (base) => {
    const body = JSON.stringify({ command: 'run', settings: { duration: '1s' } });
    const credentials = 'include';
    const tries = [
      fetch(`${base}/api/v1/jobs`, { credentials }),
      fetch(`${base}/api/v1/jobs`, { credentials, mode: 'no-cors' }),
      fetch(`${base}/api/v1/activities`, { credentials, method: 'POST', body, headers: { 'content-type': 'application/json' } }),
      fetch(`${base}/api/v1/activities`, { credentials, method: 'POST', body, mode: 'no-cors' }),
    ];
    return (await Promise.allSettled(tries)).map((tried) => (tried.status === 'fulfilled' ? tried.value.type : 'refused'));
  }, server.base);
  assert.deepEqual(outcomes, ['refused', 'refused', 'refused', 'refused']);
  await other.evaluate((base) => {
    const frame = document.body.appendChild(document.createElement('iframe'));
    frame.src = base;
    return new Promise((loaded) => frame.addEventListener('load', loaded));
  }, server.base);
  assert.ok(other.frames().every((frame) => !frame.url().startsWith(server.base)), 'nor is the page shown in a frame');

  const begun = await page.evaluate(async () => (await fetch('/api/v1/activities')).json());
  assert.deepEqual(begun.activities, []);
  await context.close();
  elsewhere.close();
});

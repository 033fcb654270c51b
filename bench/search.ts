// `node bench/search.ts [--requests 1000000] [--out FILE]`: measures what people wait for in a store with
// many requests: the list, a filter, a count, and searches for words that are rare, frequent or absent. Each
// is measured over HTTP, as a ratio to the list, and in a browser until the first rows. Also prints the size
// of the search index and how long it takes to build. Prints Markdown, and exits with code 1 when a search,
// the overview or the memory misses its budget. The median of nine rounds counts.

import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createRandom } from '../src/language/value/random.ts';
import { createRequestId } from '../src/service/requests/record/id.ts';
import type { RequestRow } from '../src/service/store/contract/records.ts';
import { openStore } from '../src/service/store/open.ts';
import { addAgent, type Service, startService } from '../test/e2e/acceptance/service.ts';
import { launchBrowser, type Page, signInAs, sizes } from '../test/e2e/browser/browser.ts';
import { firstAdmin, password, signedIn } from '../test/service/http/person-client.ts';

const { values } = parseArgs({
  options: { requests: { type: 'string', default: '1000000' }, out: { type: 'string' } },
});
const count = Number(values.requests);
const rounds = 9;
const budgets = { searchMs: 300, overviewMs: 1_000, memoryMegabytes: 600 } as const;

const policies = join(import.meta.dirname, '../policies/payments');
const data = mkdtempSync(join(tmpdir(), 'writ-search-'));
const lines: string[] = [];
const missed: string[] = [];

/**
 * Fills the store with requests of one shape with many vendors, notes and amounts. One in 200,000 has a word
 * that no other request has. Returns the email address of the first admin.
 */
async function fill(): Promise<string> {
  const path = join(data, 'writ.db');
  const empty = await openStore({ path });
  const { email } = await firstAdmin({ store: empty } as Parameters<typeof firstAdmin>[0]);
  await empty.close();
  const key = await addAgent(data, 'buyer');
  const service = await startService({ policies, data });
  const payload = { amount: 120, currency: 'USD', vendor: 'Staples', description: 'paper' };
  const reply = await fetch(`${service.url}/v1/authorize`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-agent-api-key': key },
    body: JSON.stringify({ action_key: 'payment.create', payload }),
  });
  const { request_id: id } = (await reply.json()) as { request_id: string };
  await service.end('SIGTERM');
  const store = await openStore({ path });
  const row = await store.requests.find(id);
  if (row === null) throw new Error('the request is there');
  const random = createRandom(7);
  const words = Array.from({ length: 20_000 }, (_, at) => `${wordOf(at)}`);
  const word = () => words[Math.floor(words.length * (random.below(1_000_000) / 1_000_000) ** 3)] ?? '';
  const record = JSON.parse(row.recordJson);
  const firstMs = Date.now() - count * 500;
  for (let from = 0; from < count; from += 2_000) {
    const copies = Array.from({ length: Math.min(2_000, count - from) }, (_, at): RequestRow => {
      const createdAtMs = firstMs + (from + at) * 500;
      const isDenied = (from + at) % 5_000 === 77;
      const isRare = (from + at) % 200_000 === 99_999;
      const description = `${word()} ${word()} ${word()}${isRare ? ' zebrafish' : ''}`;
      const payload = { amount: random.below(5_000), currency: 'USD', vendor: word(), description };
      const decision = isDenied
        ? { ...record.decision, outcome: 'DENY', matchedPolicy: 'default_deny', reason: 'No rule allows it' }
        : record.decision;
      return {
        ...row,
        id: createRequestId(createdAtMs),
        createdAtMs,
        expiresAtMs: createdAtMs + 300_000,
        ...(isDenied ? { outcome: 'DENY', status: 'rejected' as const } : {}),
        recordJson: JSON.stringify({ ...record, payload, decision }),
      };
    });
    await Promise.all(copies.map((copy) => store.requests.append(copy, { openMax: 1 })));
  }
  await store.close();
  return email;
}

function wordOf(at: number): string {
  const syllables = ['ba', 'ke', 'li', 'mo', 'nu', 'pra', 'sti', 'tor', 'ver', 'wen'];
  return [...String(at)].map((digit) => syllables[Number(digit)]).join('');
}

async function measure(service: Service, email: string): Promise<void> {
  const person = await signedIn(service, email);
  const get = async (path: string) => (await person.send(path)).body;
  const begun = performance.now();
  const early = await get('/v1/requests?text=zebrafish');
  const firstAnswerMs = performance.now() - begun;
  lines.push(
    `${cpus()[0]?.model}, ${cpus().length} processors, Node ${process.version}; SQLite. One shape of requests, a year of 20,000 words.`,
    '',
    `A store without an index answers its first search after ${ms(firstAnswerMs)}, and says that ${early.unsearched.toLocaleString('en')} records are not searched yet.`,
  );
  for (;;) {
    const { unsearched } = await get('/v1/requests?text=zebrafish&limit=1');
    if (unsearched === 0) break;
    await sleep(200);
  }
  const fileMb = (name: string) => statSync(join(data, name)).size / 1e6;
  lines.push(
    `Searched again and again, the index is whole after ${((performance.now() - begun) / 1_000).toFixed(0)} s; it holds ${fileMb('writ.db.search').toFixed(0)} MB beside ${fileMb('writ.db').toFixed(0)} MB of records.`,
    '',
    '| what | over HTTP | worst | to the list | found | in a browser, to rows |',
    '| --- | --- | --- | --- | --- | --- |',
  );
  const browser = await launchBrowser();
  const context = await browser.newContext({ baseURL: service.url, viewport: sizes.laptop });
  await signInAs(context, { url: service.url } as Parameters<typeof signInAs>[1], { email, password });
  const page = await context.newPage();
  let listMs = 0;
  for (const [name, query, isSearch] of cases) {
    const times: number[] = [];
    let found = '';
    for (let round = 0; round < rounds; round += 1) {
      const from = performance.now();
      const body = await get(query);
      times.push(performance.now() - from);
      found =
        body.items === undefined ? `${body.count}${body.is_complete ? '' : '+'}` : String(body.items.length);
    }
    const middle = middleOf(times);
    if (listMs === 0) listMs = middle;
    const shown = query.startsWith('/v1/requests?') ? await rowsMs(page, query) : null;
    lines.push(
      `| ${name} | ${ms(middle)} | ${ms(Math.max(...times))} | ${(middle / listMs).toFixed(1)} | ${found} | ${shown === null ? '' : ms(shown)} |`,
    );
    if (isSearch && middle > budgets.searchMs) missed.push(`${name}: ${ms(middle)}`);
    if (isSearch && shown !== null && shown > budgets.searchMs)
      missed.push(`${name}, in a browser: ${ms(shown)}`);
  }
  const overview = [];
  for (let round = 0; round < rounds; round += 1) overview.push(await timed(() => get('/v1/overview')));
  if (middleOf(overview) > budgets.overviewMs) missed.push(`overview: ${ms(middleOf(overview))}`);
  await browser.close();
  const status = readFileSync(`/proc/${service.process.pid}/status`, 'utf8');
  const memory = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1]) / 1_024;
  lines.push(
    '',
    `Overview: ${ms(middleOf(overview))}. Memory of the service: ${memory('VmRSS').toFixed(0)} MB, ${memory('VmHWM').toFixed(0)} MB at most.`,
  );
  if (memory('VmHWM') > budgets.memoryMegabytes) missed.push(`memory: ${memory('VmHWM').toFixed(0)} MB`);
}

const cases: readonly (readonly [name: string, path: string, isSearch: boolean])[] = [
  ['list', '/v1/requests?limit=50', false],
  ['filter: status rejected', '/v1/requests?limit=50&status=rejected', false],
  ['filter: decision DENY', '/v1/requests?limit=50&decision=DENY', false],
  ['search: a rare word', '/v1/requests?limit=50&text=zebrafish', true],
  ['search: a word of all', '/v1/requests?limit=50&text=payment', true],
  ['search: the beginning of words of all', '/v1/requests?limit=50&text=p', true],
  ['search: two words', '/v1/requests?limit=50&text=kelimo+usd', true],
  ['search: in quotes, of all', '/v1/requests?limit=50&text=%22payment+create%22', true],
  ['search: nothing found', '/v1/requests?limit=50&text=nowhere', true],
  [
    'search: a word of all, with a filter that few fit',
    '/v1/requests?limit=50&text=payment&status=rejected',
    true,
  ],
  ['count: a rare word', '/v1/requests/count?text=zebrafish', false],
  ['count: a word of all', '/v1/requests/count?text=payment', false],
  ['count: all', '/v1/requests/count', false],
];

/**
 * Milliseconds from the change of the address to the first rows, or to the message that no request matches;
 * the median of five.
 */
async function rowsMs(page: Page, path: string): Promise<number> {
  const query = new URLSearchParams(path.slice(path.indexOf('?') + 1));
  const times: number[] = [];
  for (let round = 0; round < 5; round += 1) {
    await page.goto('/requests?policy=no_such_policy&from=2100-01-01T00:00:00Z');
    await page.getByText('No requests match').waitFor();
    query.delete('limit');
    const address = `/requests?${query}`;
    times.push(
      Number(
        await page.evaluate(`(async () => {
          const begun = performance.now();
          history.pushState(null, '', ${JSON.stringify(address)});
          window.dispatchEvent(new PopStateEvent('popstate'));
          await new Promise((resolve) => {
            const look = () => {
              const busy = document.querySelector('.requests-rows[aria-busy=false]');
              if (busy !== null && performance.now() - begun > 5 && (busy.querySelector('a[data-row]') || /No requests/.test(busy.textContent))) resolve();
              else requestAnimationFrame(look);
            };
            setTimeout(look, 20);
          });
          return performance.now() - begun;
        })()`),
      ),
    );
  }
  return middleOf(times);
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  await work();
  return performance.now() - from;
}

function middleOf(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;
}

function ms(value: number): string {
  return `${value < 10 ? value.toFixed(1) : value.toFixed(0)} ms`;
}

try {
  const email = await fill();
  const service = await startService({ policies, data });
  try {
    await measure(service, email);
  } finally {
    await service.end('SIGTERM');
  }
} finally {
  rmSync(data, { recursive: true, force: true });
}
const text = `# Search over ${count.toLocaleString('en')} requests\n\n${lines.join('\n')}\n`;
console.log(text);
if (values.out !== undefined) writeFileSync(values.out, text);
for (const one of missed) console.error(`missed: ${one}`);
process.exitCode = missed.length === 0 ? 0 : 1;

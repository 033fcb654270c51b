// `node bench/dashboard.ts [--out FILE]`: measures what each page of the dashboard costs a person who opens
// it for the first time: bytes, requests, elements and times. A browser with an empty cache loads the pages
// from a service with a week of data, with a processor four times slower and the network of a telephone (1.6
// Mbit/s, 150 ms). Prints Markdown with the budgets and exits with code 1 when a budget is missed. Times
// depend on the machine; the median of three runs counts.

import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { type Demo, openDemo } from '../src/packaging/demo/demo.ts';
import {
  type Browser,
  type CDPSession,
  launchBrowser,
  type Page,
  signInAs,
  sizes,
} from '../test/e2e/browser/browser.ts';
import {
  chunksOf,
  firstLoadBytesMax,
  type Manifest,
  pageKeys,
  readManifest,
  scriptsAmong,
  stylesAmong,
  type Weight,
  weightOf,
} from './dashboard/bytes.ts';

const budgets = {
  scriptBytes: firstLoadBytesMax,
  /** The limits that Lighthouse and Core Web Vitals call good. */
  largestPaintMs: 2_500,
  blockingMs: 200,
  layoutShift: 0.1,
  elements: 1_400,
  requests: 40,
} as const;

const throttling = {
  processor: 4,
  latencyMs: 150,
  downBytesPerSecond: 1.6e6 / 8,
  upBytesPerSecond: 750e3 / 8,
};
const runsOfPage = 3;

interface Load {
  readonly largestPaintMs: number;
  readonly blockingMs: number;
  readonly layoutShift: number;
  readonly elements: number;
  readonly requests: number;
  /** The files of the dashboard's build that the page loaded. */
  readonly files: readonly string[];
}

/** A script that collects paint, layout and task times; it runs before the page's own scripts. */
const watch = `
  window.writSeen = { paint: 0, firstPaint: 0, shift: 0, tasks: [] };
  const follow = (type, take) => new PerformanceObserver((list) => list.getEntries().forEach(take)).observe({ type, buffered: true });
  follow('largest-contentful-paint', (entry) => { writSeen.paint = entry.startTime; });
  follow('paint', (entry) => { if (entry.name === 'first-contentful-paint') writSeen.firstPaint = entry.startTime; });
  follow('layout-shift', (entry) => { if (!entry.hadRecentInput) writSeen.shift += entry.value; });
  follow('longtask', (entry) => writSeen.tasks.push([entry.startTime, entry.duration]));
`;

interface Seen {
  readonly paint: number;
  readonly firstPaint: number;
  readonly shift: number;
  readonly tasks: readonly (readonly [startMs: number, durationMs: number])[];
}

async function load(browser: Browser, demo: Demo, address: string): Promise<Load> {
  const context = await browser.newContext({
    baseURL: demo.server.url,
    viewport: sizes.laptop,
    locale: 'en-GB',
  });
  await signInAs(context, demo.server, demo.account);
  const page = await context.newPage();
  const paths: string[] = [];
  page.on('request', (request) => paths.push(new URL(request.url()).pathname));
  await page.addInitScript(watch);
  const session = await context.newCDPSession(page);
  await slowDown(session);
  await page.goto(address);
  await settle(page);
  const seen = (await page.evaluate('writSeen')) as Seen;
  const elements = Number(await page.evaluate('document.getElementsByTagName("*").length'));
  await context.close();
  return {
    largestPaintMs: seen.paint,
    layoutShift: seen.shift,
    elements,
    requests: paths.length,
    blockingMs: seen.tasks
      .filter(([startMs]) => startMs >= seen.firstPaint)
      .reduce((sum, [, durationMs]) => sum + Math.max(0, durationMs - 50), 0),
    files: paths.filter((path) => /^\/(assets\/|theme-early)/.test(path)).map((path) => path.slice(1)),
  };
}

async function slowDown(session: CDPSession): Promise<void> {
  const { processor, latencyMs, downBytesPerSecond, upBytesPerSecond } = throttling;
  await session.send('Emulation.setCPUThrottlingRate', { rate: processor });
  await session.send('Network.enable');
  await session.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: latencyMs,
    downloadThroughput: downBytesPerSecond,
    uploadThroughput: upBytesPerSecond,
  });
}

/**
 * Waits until the page's own placeholders are gone and no further file is loaded. The event stream never ends,
 * so the network never falls silent.
 */
async function settle(page: Page): Promise<void> {
  await page.locator('h1').waitFor();
  while ((await page.locator('.loading').count()) > 0) await page.waitForTimeout(100);
  let count = -1;
  const countOf = async () => Number(await page.evaluate('performance.getEntriesByType("resource").length'));
  for (let next = await countOf(); next !== count; next = await countOf()) {
    count = next;
    await page.waitForTimeout(1_000);
  }
}

function middle(loads: readonly Load[]): Load {
  const [first] = loads;
  if (first === undefined) throw new Error('nothing was measured');
  const of = (pick: (load: Load) => number): number =>
    loads.map(pick).toSorted((a, b) => a - b)[Math.floor(loads.length / 2)] ?? Number.NaN;
  return {
    files: first.files,
    elements: of((load) => load.elements),
    requests: of((load) => load.requests),
    largestPaintMs: of((load) => load.largestPaintMs),
    blockingMs: of((load) => load.blockingMs),
    layoutShift: of((load) => load.layoutShift),
  };
}

function addressesOf({ shown }: Demo): readonly string[] {
  return [
    ...['/overview', '/requests', `/requests/${shown.request}`, '/approvals', `/approvals/${shown.approval}`],
    ...['/agents', `/agents/${shown.agent}`, '/agents/new', '/policies'],
    '/policies/file?path=payments%2Fpayments.policy',
    '/playground',
    '/access',
    '/audit',
    '/account',
  ];
}

const rowTitles = [
  'page',
  'JS gzip (br)',
  'JS right after',
  'CSS gzip (br)',
  'LCP',
  'TBT',
  'CLS',
  'elements',
  'requests',
  '',
];

function rowOf(
  address: string,
  one: Load,
): { readonly cells: readonly string[]; readonly missed: readonly string[] } {
  const later = scriptsAmong(one.files).filter((file) => partsLoadedLate.has(file));
  const scripts = weightOf(scriptsAmong(one.files).filter((file) => !later.includes(file)));
  const missed = [
    ...(scripts.gzip > budgets.scriptBytes ? ['JS'] : []),
    ...(one.largestPaintMs > budgets.largestPaintMs ? ['LCP'] : []),
    ...(one.blockingMs > budgets.blockingMs ? ['TBT'] : []),
    ...(one.layoutShift > budgets.layoutShift ? ['CLS'] : []),
    ...(one.elements > budgets.elements ? ['elements'] : []),
    ...(one.requests > budgets.requests ? ['requests'] : []),
  ];
  const name = address.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/, '{id}').replace(/\?.*/, '');
  const cells = [
    ...[
      name,
      sizeText(scripts),
      later.length === 0 ? '' : sizeText(weightOf(later)),
      sizeText(weightOf(stylesAmong(one.files))),
    ],
    ...[msText(one.largestPaintMs), msText(one.blockingMs), one.layoutShift.toFixed(3)],
    ...[
      String(one.elements),
      String(one.requests),
      missed.length === 0 ? 'met' : `not met: ${missed.join(', ')}`,
    ],
  ];
  return { cells, missed };
}

function sizeText({ gzip, brotli }: Weight): string {
  return `${kilobytes(gzip)} (${kilobytes(brotli)})`;
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1024).toFixed(1)} KB`;
}

function msText(ms: number): string {
  return `${Math.round(ms)} ms`;
}

function table(rows: readonly (readonly string[])[]): string {
  const [head = [], ...rest] = rows;
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rest.map(line)].join('\n');
}

function chunkTable(manifest: Manifest): string {
  const rows = chunksOf(manifest)
    .map((chunk) => ({ ...chunk, weight: weightOf([chunk.file]) }))
    .toSorted((a, b) => b.weight.gzip - a.weight.gzip)
    .map(({ source, isLoadedLate, weight }) => [
      source.replace(/^(\.\.\/)+node_modules\//, ''),
      isLoadedLate ? 'when asked for' : 'with what needs it',
      kilobytes(weight.gzip),
      kilobytes(weight.brotli),
    ]);
  return table([['part', 'loads', 'gzip', 'br'], ...rows]);
}

const { values: options } = parseArgs({ options: { out: { type: 'string' } } });
const manifest = readManifest();
/** Scripts that load after their page is there, such as the plots and the editor. */
const partsLoadedLate = new Set(
  chunksOf(manifest)
    .filter(({ source, isLoadedLate }) => isLoadedLate && !pageKeys(manifest).includes(source))
    .map(({ file }) => file),
);
const demo = await openDemo({ port: '0', count: 1_400, isLive: false, isMarked: false });
if (demo === null) process.exit(1);
// Weighs all files now. The service keeps the build of its start in memory, but another build may overwrite
// the files during the measurement.
weightOf(['theme-early.js', ...Object.values(manifest).flatMap(({ file, css = [] }) => [file, ...css])]);
const browser = await launchBrowser();
try {
  const rows: (readonly string[])[] = [];
  for (const address of addressesOf(demo)) {
    const loads: Load[] = [];
    for (let run = 0; run < runsOfPage; run += 1) loads.push(await load(browser, demo, address));
    const { cells, missed } = rowOf(address, middle(loads));
    rows.push(cells);
    if (missed.length > 0) process.exitCode = 1;
  }
  const { processor, latencyMs } = throttling;
  const budget = [
    ...['budget', `≤ ${kilobytes(budgets.scriptBytes)}`, '', '', `≤ ${msText(budgets.largestPaintMs)}`],
    ...[`≤ ${msText(budgets.blockingMs)}`, `≤ ${budgets.layoutShift}`, `≤ ${budgets.elements}`],
    ...[`≤ ${budgets.requests}`, ''],
  ];
  const text = [
    '# The dashboard, opened for the first time',
    `${cpus()[0]?.model ?? 'unknown processor'}, ${browser.browserType().name()} ${browser.version()}; processor ${processor} times slower, 1.6 Mbit/s, ${latencyMs} ms, nothing cached, the middle of ${runsOfPage} runs.`,
    table([rowTitles, budget, ...rows]),
    '## Parts of the build',
    chunkTable(manifest),
  ].join('\n\n');
  console.log(text);
  if (options.out !== undefined) writeFileSync(options.out, `${text}\n`);
} finally {
  await browser.close();
  await demo.server.stop();
}

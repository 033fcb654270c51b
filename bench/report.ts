// Turns the results of one run into a page of Markdown, for the terminal and for the folder of results.

import { cpus } from 'node:os';
import { duration } from '../src/measure/figure.ts';
import type { Results } from './targets.ts';
import { readyText, targets, withSpread } from './targets.ts';
import { headlineRows, waterfallRows } from './waterfall.ts';
import { workloadNames } from './workloads.ts';

export interface Run {
  readonly results: Results;
  /** Versions of the peers' packages by name. */
  readonly versions: Readonly<Record<string, string>>;
  readonly minutes: number;
}

export function report({ results, versions, minutes }: Run): string {
  const sections = [
    heading(versions, minutes),
    section('What a request does', headlineRows(results)),
    section('What each promise costs, in process', waterfallRows(results.promises)),
    section('What each promise costs, at the service', waterfallRows(results.served?.steps ?? [])),
    `## What Writ must reach\n\n${targetTable(results)}`,
    ...workloadNames.map((name) =>
      section(`${name}: median per request, and per decision`, decisionTable(results, name)),
    ),
    section('Example policies, on the cases of their tests', packTable(results)),
    section('Worst cases: one decision, and how it grows with the payload', worstTable(results)),
    section('Hardest policies: one decision, and how it grows with the rules', hardestTable(results)),
    section('Meters: a reading, a reservation and a grant', meterTable(results)),
    section('A start with many requests in the window of a meter', startTable(results)),
    section('From text to ready', readyTable(results)),
    section('From the model to ready', modelTable(results)),
  ];
  return `${sections.filter((text) => text !== '').join('\n\n')}\n`;
}

/** Returns an empty text when nothing was measured. */
function section(title: string, rows: readonly string[]): string {
  return rows.length === 0 ? '' : `## ${title}\n\n${rows.join('\n')}`;
}

function heading(versions: Run['versions'], minutes: number): string {
  const peers = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  return [
    '# Benchmarks',
    `${cpus()[0]?.model ?? 'unknown processor'}, ${cpus().length} cores, Node ${process.version}, ${new Date().toISOString().slice(0, 10)}, ${Math.round(minutes)} minutes.`,
    'Processor time of the deciding thread, on the clock for text to ready; medians with the smallest and the largest round behind them; only ratios within one run mean anything. Decisions are checked equal before anything is timed. `Writ, a request` is what a request does: the payload checked, decided, every rule traced. `Writ` is the bare decision, for programs that embed it; it is what the peers do, which check no payload and trace nothing. Up to 10,000 policies are compiled from text, more from the model that the checker makes of the same text, but where text is what is measured.',
    'OPA is measured as WebAssembly, which is what its package runs; its native build is not among the peers.',
    `Peers: ${peers.join(', ')}.`,
  ].join('\n\n');
}

function targetTable(results: Results): string {
  const rows = targets(results).map(({ what, must, figure, beside, isMet }) => {
    const verdict = isMet === null ? '-' : isMet ? 'yes' : '**no**';
    return row([what, must, figure, beside, verdict]);
  });
  return [...head(['', 'must', 'figure', 'measured', 'met']), ...rows].join('\n');
}

function decisionTable({ decisions }: Results, workload: string): readonly string[] {
  const own = decisions.filter((one) => one.workload === workload);
  if (own.length === 0) return [];
  const sizes = [...new Set(own.map(({ policies }) => policies))];
  const names = [...new Set(own.map(({ name }) => name))];
  const rows = names.map((name) => {
    const cells = sizes.map((policies) => {
      const one = own.find((candidate) => candidate.name === name && candidate.policies === policies);
      return one === undefined ? '' : withSpread(one.figure);
    });
    return row([name.startsWith('Writ') ? `**${name}**` : name, ...cells]);
  });
  return [...head(['engine', ...sizes.map((policies) => policies.toLocaleString('en'))]), ...rows];
}

function packTable({ packs }: Results): readonly string[] {
  if (packs.length === 0) return [];
  const rows = packs.map(({ pack, rules, requests, fast, traced, definition }) =>
    row([pack, String(rules), String(requests), ...[fast, traced, definition].map(withSpread)]),
  );
  return [...head(['policies', 'rules', 'requests', 'decision', 'with trace', 'definition']), ...rows];
}

function worstTable({ worst }: Results): readonly string[] {
  if (worst.length === 0) return [];
  const rows = worst
    .toSorted((a, b) => b.exponent - a.exponent)
    .map(({ name, points, exponent }) => {
      const { bytes, min, max } = points.at(-1)!;
      return row([
        name,
        `${Math.round(bytes / 1_000)} kB`,
        `${duration(min)}..${duration(max)}`,
        exponent.toFixed(2),
      ]);
    });
  return [...head(['case', 'largest payload', 'one decision', 'exponent']), ...rows];
}

function hardestTable({ hardest }: Results): readonly string[] {
  if (hardest.length === 0) return [];
  const rows = hardest.map(({ name, points, exponent }) => {
    const cells = points.map(({ figure, tried }) => `${withSpread(figure)}, ${tried} tried`);
    return row([name, ...cells, exponent.toFixed(2)]);
  });
  const sizes = hardest[0]!.points.map(({ rules }) => `${rules.toLocaleString('en')} rules`);
  return [...head(['case', ...sizes, 'exponent']), ...rows];
}

function meterTable({ meters }: Results): readonly string[] {
  if (meters.length === 0) return [];
  const rows = meters.map(({ grants, figure }) => row([grants.toLocaleString('en'), withSpread(figure)]));
  return [...head(['grants in the window', 'together']), ...rows];
}

function startTable({ starts }: Results): readonly string[] {
  if (starts.length === 0) return [];
  const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;
  const rows = starts.map(({ requests, hasSnapshots, decidedMs, readyMs, missing }) =>
    row([
      requests.toLocaleString('en'),
      hasSnapshots ? 'yes' : 'no',
      seconds(decidedMs),
      seconds(readyMs),
      missing ?? 'nothing',
    ]),
  );
  const columns = ['requests', 'snapshots', 'a guarded request decided', 'ready', 'missing before'];
  return [...head(columns), ...rows];
}

function readyTable({ ready }: Results): readonly string[] {
  if (ready.length === 0) return [];
  const rows = ready.map((one) => {
    const { workload, policies, engine, name, bytes } = one;
    const kept = bytes === null ? '' : spreadOf(bytes);
    return row([
      workload,
      policies.toLocaleString('en'),
      engine === 'writ' ? '**Writ**' : name,
      readyText(one),
      kept,
    ]);
  });
  return [...head(['workload', 'policies', 'engine', 'ready', 'bytes kept a policy']), ...rows];
}

function modelTable({ models }: Results): readonly string[] {
  if (models.length === 0) return [];
  const rows = models.map(({ workload, policies, planMs, linkMs, bytesPerPolicy, linkedBytesPerPolicy }) =>
    row([
      workload,
      policies.toLocaleString('en'),
      duration(planMs.median * 1e6),
      duration(linkMs.median * 1e6),
      spreadOf(bytesPerPolicy),
      spreadOf(linkedBytesPerPolicy),
    ]),
  );
  const columns = [
    'workload',
    'policies',
    'program',
    'functions',
    'bytes kept a policy',
    'beside the program',
  ];
  return [...head(columns), ...rows];
}

function spreadOf({
  median,
  min,
  max,
}: {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}): string {
  return `${Math.round(median)} (${Math.round(min)}..${Math.round(max)})`;
}

function head(cells: readonly string[]): readonly string[] {
  return [row(cells), `|${cells.map(() => '---|').join('')}`];
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}

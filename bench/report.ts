// The results of one run as a page of Markdown, for the terminal and for the folder of results.

import { cpus } from 'node:os';
import { digits, duration } from './figure.ts';
import type { PackFigures } from './packs.ts';
import { type Results, targets, withSpread } from './targets.ts';
import { workloadNames } from './workloads.ts';

export interface AllResults extends Results {
  readonly packs: readonly PackFigures[];
  readonly versions: Readonly<Record<string, string>>;
}

export function report(results: AllResults): string {
  const sections = [
    heading(results),
    `## What Writ must reach\n\n${targetTable(results)}`,
    ...workloadNames.map((name) => `## ${name}: median per decision\n\n${decisionTable(results, name)}`),
    `## Example policies\n\n${packTable(results.packs)}`,
    `## From policies to ready\n\n${compileTable(results)}`,
  ];
  return `${sections.join('\n\n')}\n`;
}

function heading({ versions }: AllResults): string {
  const peers = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  return [
    '# Benchmarks',
    `${cpus()[0]?.model ?? 'unknown processor'}, ${cpus().length} cores, Node ${process.version}, ${new Date().toISOString().slice(0, 10)}.`,
    'Processor time of the deciding thread; medians with the smallest and the largest round behind them; only ratios within one run mean anything. Up to 100 policies are compiled from text, more from the model that the checker makes of the same text.',
    `Peers: ${peers.join(', ')}.`,
  ].join('\n\n');
}

function targetTable(results: AllResults): string {
  const rows = targets(results).map(({ what, must, figure, beside, isMet }) => {
    const verdict = isMet === null ? '-' : isMet ? 'yes' : '**no**';
    return `| ${[what, must, figure, beside, verdict].join(' | ')} |`;
  });
  return ['| | must | figure | measured | met |', '|---|---|---|---|---|', ...rows].join('\n');
}

function decisionTable({ decisions }: AllResults, workload: string): string {
  const own = decisions.filter((one) => one.workload === workload);
  const sizes = [...new Set(own.map(({ policies }) => policies))];
  const names = [...new Set(own.map(({ name }) => name))];
  const rows = names.map((name) => {
    const cells = sizes.map((policies) => {
      const one = own.find((candidate) => candidate.name === name && candidate.policies === policies);
      return one === undefined ? '' : withSpread(one.figure);
    });
    return `| ${[name === 'Writ' ? '**Writ**' : name, ...cells].join(' | ')} |`;
  });
  const head = `| engine | ${sizes.map((policies) => policies.toLocaleString('en')).join(' | ')} |`;
  return [head, `|---${'|---'.repeat(sizes.length)}|`, ...rows].join('\n');
}

function packTable(packs: readonly PackFigures[]): string {
  const rows = packs.map(({ pack, rules, requests, fast, traced, definition }) => {
    const times = [fast, traced, definition].map(withSpread);
    return `| ${[pack, rules, requests, ...times].join(' | ')} |`;
  });
  return [
    '| policies | rules | on | decision | and trace | definition |',
    '|---|---|---|---|---|---|',
    ...rows,
  ].join('\n');
}

function compileTable({ models, texts }: AllResults): string {
  const fromText = texts.map(
    ({ workload, policies, textBytes, readyMs, changedMs }) =>
      `| ${[workload, policies.toLocaleString('en'), `${digits(textBytes / 1e6)} MB`, duration(readyMs * 1e6), duration(changedMs * 1e6)].join(' | ')} |`,
  );
  const fromModel = models.map(
    ({ workload, policies, planMs, linkMs, bytesPerPolicy, linkedBytesPerPolicy }) =>
      `| ${[workload, policies.toLocaleString('en'), duration(planMs * 1e6), duration(linkMs * 1e6), Math.round(bytesPerPolicy), Math.round(linkedBytesPerPolicy)].join(' | ')} |`,
  );
  return [
    '| from text | policies | text | ready | one file changed |',
    '|---|---|---|---|---|',
    ...fromText,
    '',
    '| from the model | policies | program | functions | bytes kept a policy | beside the program |',
    '|---|---|---|---|---|---|',
    ...fromModel,
  ].join('\n');
}

// Cases of the laws as files, so that a failure that was found once is tested for ever: a policy set with its
// list files, and the facts of a request. Exact numbers are written as text.

import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SourceText } from '../../src/language/diagnostic/span.ts';
import type { Facts, MeterReading } from '../../src/language/model/request.ts';
import { formatDecimal, parseDecimal, zero } from '../../src/language/value/decimal.ts';

export interface CaseFiles {
  readonly files: readonly SourceText[];
  /** Text of the list files by path. */
  readonly lists: Readonly<Record<string, string>>;
}

export interface Case extends CaseFiles {
  /** How the case failed when it was found. */
  readonly problem: string;
  /** The facts of the request; null when the set itself must compile and did not. */
  readonly facts: Facts | null;
}

const folder = join(import.meta.dirname, 'cases');

export function caseNames(): readonly string[] {
  return globSync('*.json', { cwd: folder }).sort();
}

export function readCase(name: string): Case {
  const written: Case = JSON.parse(readFileSync(join(folder, name), 'utf8'));
  const { facts } = written;
  return { ...written, facts: facts === null ? null : { ...facts, meters: readings(facts.meters, readOne) } };
}

/** Writes the case; returns the path of the file. */
export function writeCase(name: string, { files, lists, problem, facts }: Case): string {
  const path = join(folder, `${name}.json`);
  const plain = facts === null ? null : { ...facts, meters: readings(facts.meters, writeOne) };
  mkdirSync(folder, { recursive: true });
  writeFileSync(path, `${JSON.stringify({ problem, files, lists, facts: plain }, null, 2)}\n`);
  return path;
}

type Written = readonly [string, string];

function writeOne({ low, high }: MeterReading): Written {
  return [formatDecimal(low), formatDecimal(high)];
}

function readOne(written: unknown): MeterReading {
  const [low, high] = written as Written;
  return { low: parseDecimal(low) ?? zero, high: parseDecimal(high) ?? zero };
}

function readings<From, To>(
  meters: Readonly<Record<string, From>>,
  change: (reading: From) => To,
): Readonly<Record<string, To>> {
  return Object.fromEntries(Object.entries(meters).map(([name, reading]) => [name, change(reading)]));
}

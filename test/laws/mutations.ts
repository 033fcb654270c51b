// Whatever a policy file holds, it compiles to a set or to at least one error, quickly and without a throw.
// Every request to a set that compiles is decided, traced and explained without a throw. Tried on files whose
// bytes are mutated, and on types and conditions of any kind.

import fc from 'fast-check';
import { hasErrors } from '../../src/language/diagnostic/diagnostic.ts';
import { fileBytesMax } from '../../src/language/syntax/parse.ts';
import { createRandom, type RandomSource } from '../../src/language/value/random.ts';
import { anyApprover, anyCondition, conditionText } from './any-condition.ts';
import { anyFacts } from './any-facts.ts';
import { anyType, typeText } from './any-type.ts';
import type { Case, CaseFiles } from './cases.ts';
import { corpus } from './corpus.ts';
import { compileSet, differenceOn, ruleIdsOf } from './differential.ts';

export interface FilesRun {
  /** How many files were tried. */
  readonly count: number;
  /** How many files compiled to a set. */
  readonly sound: number;
  readonly requests: number;
  readonly slowestMs: number;
  readonly findings: readonly Case[];
}

/** The longest time that one file may take from its text to a function, in milliseconds. */
export const compileMsMax = 1_000;
const requestsPerFile = 5;
const findingsMax = 5;

/** Tries files of the corpus with some of their bytes changed. */
export function tryMutations(count: number, seed: number): FilesRun {
  const random = createRandom(seed);
  const sets = corpus();
  return tryFiles(count, random, () => mutated(random.pick(sets), sets, random));
}

/** Tries files with types and conditions that the grammar takes, most of which say nothing sensible. */
export function tryAnyTexts(count: number, seed: number): FilesRun {
  const text = fc.oneof(
    fc.tuple(anyType, anyType, anyType).map(typeText),
    fc.tuple(anyCondition, anyApprover).map(conditionText),
  );
  const texts = fc.sample(text, { numRuns: count, seed });
  return tryFiles(count, createRandom(seed), (at) => ({
    files: [{ path: 'any.policy', text: texts[at]! }],
    lists: {},
  }));
}

function tryFiles(wanted: number, random: RandomSource, fileAt: (at: number) => CaseFiles): FilesRun {
  const findings: Case[] = [];
  let [count, sound, requests, slowestMs] = [0, 0, 0, 0];
  for (; count < wanted && findings.length < findingsMax; count++) {
    const one = fileAt(count);
    const started = performance.now();
    const problem = compileProblem(one);
    const elapsedMs = performance.now() - started;
    slowestMs = Math.max(slowestMs, elapsedMs);
    if (problem !== null) findings.push({ ...one, problem, facts: null });
    else if (elapsedMs > compileMsMax)
      findings.push({ ...one, problem: `took ${Math.round(elapsedMs)} ms`, facts: null });
    else {
      const asked = tryRequests(one, random, findings);
      if (asked > 0) sound++;
      requests += asked;
    }
  }
  return { count, sound, requests, slowestMs, findings };
}

/** Why a file breaks the law; null when it compiles or is properly refused. */
function compileProblem(file: CaseFiles): string | null {
  try {
    const { set, engine, diagnostics } = compileSet(file);
    const isRefused = hasErrors(diagnostics);
    if (isRefused === (set === null) && isRefused === (engine === null)) return null;
    return isRefused ? 'has errors and a set' : 'has neither a set nor an error';
  } catch (error) {
    return `throws ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
  }
}

function tryRequests(file: CaseFiles, random: RandomSource, findings: Case[]): number {
  const compiled = compileSet(file);
  const { set } = compiled;
  if (set === null) return 0;
  const ruleIds = ruleIdsOf(set);
  for (let i = 0; i < requestsPerFile; i++) {
    const facts = anyFacts(random, set, ruleIds);
    const problem = differenceOn(compiled, facts);
    if (problem !== null) findings.push({ ...file, problem, facts });
  }
  return requestsPerFile;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** One to three changes of the bytes of a file. */
function mutated({ files, lists }: CaseFiles, sets: readonly CaseFiles[], random: RandomSource): CaseFiles {
  let bytes = encoder.encode(files[0]?.text ?? '');
  for (let i = 0; i <= random.below(3); i++) {
    const other = encoder.encode(random.pick(sets).files[0]?.text ?? '');
    bytes = random.pick(changes)(bytes, other, random);
  }
  return { files: [{ path: 'mutant.policy', text: decoder.decode(bytes.slice(0, fileBytesMax)) }], lists };
}

type Bytes = Uint8Array<ArrayBuffer>;
type Change = (bytes: Bytes, other: Bytes, random: RandomSource) => Bytes;

const flip: Change = (bytes, _, random) => {
  const changed = bytes.slice();
  if (changed.length > 0) changed[random.below(changed.length)]! ^= 1 << random.below(8);
  return changed;
};

const drop: Change = (bytes, _, random) => {
  const start = random.below(bytes.length + 1);
  return joined(bytes.slice(0, start), bytes.slice(start + 1 + random.below(spanMax(random))));
};

const repeat: Change = (bytes, _, random) => {
  const start = random.below(bytes.length + 1);
  const piece = bytes.slice(start, start + 1 + random.below(spanMax(random)));
  return joined(bytes.slice(0, start), piece, piece, bytes.slice(start + piece.length));
};

const splice: Change = (bytes, other, random) => {
  const start = random.below(bytes.length + 1);
  const from = random.below(other.length + 1);
  const piece = other.slice(from, from + 1 + random.below(spanMax(random)));
  return joined(bytes.slice(0, start), piece, bytes.slice(start + random.below(piece.length + 1)));
};

/**
 * Replaces words by other words of the file. The file stays well formed more often than when bytes are
 * changed.
 */
const exchange: Change = (bytes, other, random) => {
  const text = decoder.decode(bytes);
  const words = [...text.matchAll(/[\w.]+|"[^"\n]*"|[<>=!]+/g)];
  const donors = [
    ...decoder.decode(random.chance(0.5) ? bytes : other).matchAll(/[\w.]+|"[^"\n]*"|[<>=!]+/g),
  ];
  if (words.length === 0 || donors.length === 0) return bytes;
  const { index, 0: word } = random.pick(words);
  return encoder.encode(text.slice(0, index) + random.pick(donors)[0] + text.slice(index + word.length));
};

const changes: readonly Change[] = [flip, drop, repeat, splice, exchange, exchange];

function spanMax(random: RandomSource): number {
  return random.pick([1, 8, 60, 600]);
}

function joined(...parts: readonly Bytes[]): Bytes {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const all = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

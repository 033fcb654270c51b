// function = definition: the compiled function and the definition decide, trace and explain random policy
// sets and requests alike; so do the other ways to run a program, if wanted. A difference is shrunk and returned
// with all that is needed to reproduce it.

import { type Diagnostic, hasErrors } from '../../src/language/diagnostic/diagnostic.ts';
import { renderDiagnostics } from '../../src/language/diagnostic/render.ts';
import { createFunctionCache } from '../../src/language/emit/cache.ts';
import { interpret } from '../../src/language/emit/interpret/interpret.ts';
import { link } from '../../src/language/emit/link.ts';
import type { PolicyEngine } from '../../src/language/model/active-policies.ts';
import { type Decision, gates } from '../../src/language/model/decision.ts';
import type { PolicySet } from '../../src/language/model/policy.ts';
import type { Facts } from '../../src/language/model/request.ts';
import { authorize } from '../../src/language/spec/authorize.ts';
import { explain } from '../../src/language/spec/explain-rule.ts';
import { createRandom } from '../../src/language/value/random.ts';
import { type CompileResult, compile } from '../../src/pipeline.ts';
import type { Case, CaseFiles } from './cases.ts';
import { randomSet } from './policies.ts';
import { createReached, type Reached } from './reached.ts';
import { randomFacts } from './requests.ts';
import { shrink } from './shrink.ts';

export interface Finding extends Case {
  readonly seed: number;
}

export interface Run {
  readonly pairs: number;
  /** The number of policy sets; each has a seed of its own. */
  readonly sets: number;
  readonly reached: Reached;
  /** The first few differences. */
  readonly findings: readonly Finding[];
}

/** How a run spends its time. Deciding a pair twice costs little compared with examining its parts. */
export interface Pace {
  readonly requestsPerSet: number;
  /** One pair in this many is also traced and explained. */
  readonly tracedEvery: number;
  /** One pair in this many is examined part by part, to record what was reached. */
  readonly lookedIntoEvery: number;
}

export const thorough: Pace = { requestsPerSet: 25, tracedEvery: 2, lookedIntoEvery: 2 };
/** A pace that reaches every construct soon: most sets have constructs that the sets before did not have. */
export const brief: Pace = { requestsPerSet: 10, tracedEvery: 3, lookedIntoEvery: 2 };
/** A pace for as many pairs as possible. */
export const swift: Pace = { requestsPerSet: 200, tracedEvery: 20, lookedIntoEvery: 50 };
const findingsMax = 5;

/**
 * Tries at least `pairs` pairs, from `seed` on; stops after a few findings. Adds what was reached to
 * `reached`.
 */
export function compareReadings(
  pairs: number,
  seed: number,
  {
    reached = createReached(),
    pace = thorough,
    isOfAllReadings = false,
  }: { reached?: Reached; pace?: Pace; isOfAllReadings?: boolean } = {},
): Run {
  const find = isOfAllReadings ? findProblemOfAll : findProblem;
  const findings: Finding[] = [];
  let [done, setSeed] = [0, seed];
  for (; done < pairs && findings.length < findingsMax; setSeed++) {
    const random = createRandom(setSeed);
    const generated = randomSet(random);
    const { files, lists } = generated;
    const compiled = compileSet(generated);
    if (compiled.set === null || compiled.engine === null) {
      findings.push({
        seed: setSeed,
        ...shrink({ files, lists, problem: problemOf(compiled), facts: null }, find),
      });
      continue;
    }
    reached.countFiles(compiled.files);
    const ruleIds = ruleIdsOf(compiled.set);
    const others = isOfAllReadings ? otherReadings(compiled) : [];
    for (let i = 0; i < pace.requestsPerSet; i++, done++) {
      const facts = randomFacts(random, generated, ruleIds);
      const isTraced = i % pace.tracedEvery === 0;
      const problem = differenceOn(compiled, facts, isTraced) ?? otherDifference(compiled, others, facts);
      if (problem === null) {
        if (i % pace.lookedIntoEvery !== 0) continue;
        const decision = authorize(compiled.set, facts);
        reached.countDecision(compiled.set, decision);
        if (!isRefusedByGate(decision)) reached.countValues(compiled.set, facts);
        continue;
      }
      findings.push({ seed: setSeed, ...shrink({ files, lists, problem, facts }, find) });
      break;
    }
  }
  return { pairs: done, sets: setSeed - seed, reached, findings };
}

export function compileSet({ files, lists }: CaseFiles): CompileResult {
  return compile({
    files,
    readListFile: (path) => {
      const text = Object.hasOwn(lists, path) ? lists[path] : undefined;
      return text === undefined
        ? { code: 'list-file-missing', message: `\`${path}\` does not exist` }
        : { text };
    },
  });
}

/**
 * What is wrong with a case: why its set has errors, or how the readings of its request differ; null when
 * nothing is wrong.
 */
export function findProblem(one: CaseFiles & { readonly facts: Facts | null }): string | null {
  const compiled = compileSet(one);
  if (compiled.set === null) return problemOf(compiled);
  return one.facts === null ? null : differenceOn(compiled, one.facts);
}

/** As `findProblem`, with every way to run the program. */
function findProblemOfAll(one: CaseFiles & { readonly facts: Facts | null }): string | null {
  const problem = findProblem(one);
  if (problem !== null || one.facts === null) return problem;
  const compiled = compileSet(one);
  return otherDifference(compiled, otherReadings(compiled), one.facts);
}

interface OtherReading {
  readonly name: string;
  readonly engine: Pick<PolicyEngine, 'decide'>;
}

/** The ways to run a program beside the function: by the index, and interpreted. */
function otherReadings({ program }: CompileResult): readonly OtherReading[] {
  if (program === null) return [];
  return [
    { name: 'index', engine: link(program, createFunctionCache(), 'indexed') },
    { name: 'interpreter', engine: link(program, createFunctionCache(interpret)) },
    { name: 'interpreted index', engine: link(program, createFunctionCache(interpret), 'indexed') },
  ];
}

function otherDifference(
  { engine }: CompileResult,
  others: readonly OtherReading[],
  facts: Facts,
): string | null {
  for (const { name, engine: other } of others) {
    const difference = firstDifference(other.decide(facts), engine!.decide(facts));
    if (difference !== null) return `${name}: ${difference}`;
  }
  return null;
}

/** The first error alone, which a smaller set must still show. */
function problemOf({ diagnostics }: CompileResult): string {
  const errors: readonly Diagnostic[] = diagnostics.filter((diagnostic) => hasErrors([diagnostic]));
  return renderDiagnostics(errors.slice(0, 1), () => null, { color: false });
}

/** How the function differs from the definition; null when they agree. A throw of both is a problem, too. */
export function differenceOn({ set, engine }: CompileResult, facts: Facts, isTraced = true): string | null {
  if (set === null || engine === null) return null;
  try {
    const defined = authorize(set, facts);
    const difference = firstDifference(engine.decide(facts), defined);
    if (difference !== null || !isTraced || isRefusedByGate(defined)) return difference;
    return tracedDifference({ set, engine }, facts);
  } catch (error) {
    return `throws ${error instanceof Error ? error.message : String(error)}`;
  }
}

function firstDifference(fast: Decision, defined: Decision): string | null {
  for (const key of Object.keys(defined) as (keyof Decision)[]) {
    const [a, b] = [JSON.stringify(fast[key]), JSON.stringify(defined[key])];
    if (a !== b) return `${key}: the function says ${a}, the definition ${b}`;
  }
  return null;
}

/** Compares the result of each rule in the trace with the definition's explanation. */
function tracedDifference(
  { set, engine }: { readonly set: PolicySet; readonly engine: NonNullable<CompileResult['engine']> },
  facts: Facts,
): string | null {
  const traced = new Map(engine.trace(facts).map(({ rule, truth }) => [rule, truth]));
  for (const { rule, truth } of explain(set, facts)) {
    if (traced.get(rule) !== truth) return `${rule}: traced as ${traced.get(rule)}, explained as ${truth}`;
  }
  return null;
}

function isRefusedByGate({ by }: Decision): boolean {
  return by !== 'default_deny' && (gates as readonly string[]).includes(by);
}

/** The ids of a set's rules, for tests that draw from them. */
export function ruleIdsOf(set: PolicySet): readonly string[] {
  return set.policies.flatMap(({ rules }) => rules.map(({ id }) => id));
}

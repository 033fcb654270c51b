// Suggests changes for the requests of test files that the policies do not allow, and judges each suggestion anew: the
// changed texts are compiled, decided and compared by themselves. Every n-th request is taken, so a small count covers
// all files.

import { readFileSync } from 'node:fs';
import { createSuggester, type Suggester, type Suggestion } from '../../src/analysis/suggest/suggest.ts';
import { canonicalMeaning } from '../../src/language/model/canonical.ts';
import { isRefusedByGate, outcomes } from '../../src/language/model/decision.ts';
import { type Facts, nothingSatisfied } from '../../src/language/model/request.ts';
import { authorize } from '../../src/language/spec/authorize.ts';
import { refutation } from '../../src/language/spec/guarantee-clause.ts';
import { compile } from '../../src/pipeline.ts';
import { diffPolicies } from '../../src/reasoning/diff/diff.ts';
import { randomRequest, requestSource } from '../../src/reasoning/guarantees/request.ts';
import { readPaths } from '../../src/service/policies/read-policies.ts';
import { findTests } from '../../src/testing/find-test-files.ts';
import { readTestFile } from '../../src/testing/read-test-file.ts';
import { caseFacts } from '../../src/testing/sequence.ts';

export interface SuggestedCases {
  /** Requests for which guarantees leave something to suggest. */
  open: number;
  /** Open requests with a suggestion. */
  found: number;
  /** Requests that a guarantee forbids to allow; none of them has a suggestion that allows it. */
  forbidden: number;
  suggestions: number;
  readonly missing: string[];
  readonly breaches: string[];
}

interface StoppedCase {
  readonly name: string;
  readonly suggester: Suggester;
  readonly facts: Facts;
}

/** Judges about `wanted` requests of the test files under the folders. */
export async function suggestForCases(folders: readonly string[], wanted: number): Promise<SuggestedCases> {
  const cases = await stoppedCases(folders);
  const every = Math.max(1, Math.floor(cases.length / wanted));
  const result: SuggestedCases = {
    open: 0,
    found: 0,
    forbidden: 0,
    suggestions: 0,
    missing: [],
    breaches: [],
  };
  for (const one of cases.filter((_, at) => at % every === 0)) judge(one, result);
  return result;
}

async function stoppedCases(folders: readonly string[]): Promise<readonly StoppedCase[]> {
  const cases: StoppedCase[] = [];
  const suggesters = new Map<string, Suggester | null>();
  for (const path of await findTests(folders)) {
    const file = readTestFile({ path, text: readFileSync(path, 'utf8') });
    const key = file.policies.join();
    if (!suggesters.has(key)) suggesters.set(key, createSuggester((await readPaths(file.policies)).sources));
    const suggester = suggesters.get(key) ?? null;
    if (suggester === null) continue;
    for (const test of file.cases) {
      const facts = caseFacts(test, suggester.base, () => undefined);
      if (facts !== null && isStopped(suggester, facts))
        cases.push({ name: `${path}: ${test.name}`, suggester, facts });
    }
  }
  return cases;
}

function isStopped({ base }: Suggester, facts: Facts): boolean {
  const decision = authorize(base.set, facts);
  return decision.outcome !== 'ALLOW' && !isRefusedByGate(decision);
}

function judge({ name, suggester, facts }: StoppedCase, result: SuggestedCases): void {
  const { decision, goal, suggestions } = suggester.suggest(facts, { suggestionsMax: 2 });
  if (goal === null) {
    result.forbidden += 1;
    return;
  }
  result.open += 1;
  if (suggestions.length === 0) result.missing.push(`${name}: ${decision.outcome} by ${decision.by}`);
  else result.found += 1;
  for (const one of suggestions) {
    result.suggestions += 1;
    const fault = faultOf(one, { suggester, facts, wanted: goal });
    if (fault !== null) result.breaches.push(`${name}: ${one.text}: ${fault}`);
  }
}

interface JudgedRequest {
  readonly suggester: Suggester;
  readonly facts: Facts;
  readonly wanted: string;
}

/** What is wrong with a suggestion; null when it does what it says and nothing else. */
function faultOf({ files, diff }: Suggestion, { suggester, facts, wanted }: JudgedRequest): string | null {
  const { sources, set: before } = suggester.base;
  const texts = new Map(files.map(({ path, after }) => [path, after]));
  const { set, engine } = compile({
    files: sources.files.map((file) => ({ ...file, text: texts.get(file.path) ?? file.text })),
    readListFile: (path) => (texts.has(path) ? { text: texts.get(path)! } : sources.readListFile(path)),
  });
  if (set === null || engine === null) return 'it does not compile';
  if (engine.decide(facts).outcome !== wanted || authorize(set, facts).outcome !== wanted)
    return `it is not ${wanted}`;
  if (canonicalMeaning(set.guarantees) !== canonicalMeaning(before.guarantees))
    return 'a guarantee has changed';
  const anew = diffPolicies(before, set);
  if (anew.limits.length > 0 || anew.findings.length !== diff.findings.length)
    return 'the diff is not complete';
  if (!anew.findings.some((finding) => finding.isMetBy({ before: facts, after: facts })))
    return 'no finding has it';
  return faultOnSamples({ suggester, facts, wanted }, { set, diff });
}

const samples = 200;

/** Tries random requests: each that changes belongs to a finding, none is stricter, and no claim is broken anew. */
function faultOnSamples(
  { suggester, facts }: JudgedRequest,
  { set, diff }: Pick<Suggestion, 'diff'> & { readonly set: Suggester['base']['set'] },
): string | null {
  const before = suggester.base.set;
  const source = requestSource(set, 7);
  const action = set.actions.get(facts.action)!;
  const claims = set.guarantees
    .filter(({ actions }) => actions.includes(facts.action))
    .flatMap((one) => one.claims);
  for (let at = 0; at < samples; at += 1) {
    const drawn = { ...randomRequest(source, action), satisfied: nothingSatisfied };
    // Readings fit the payload that a meter has counted.
    const { payload, meters } = facts;
    const request = at % 2 === 0 ? { ...drawn, payload, meters } : drawn;
    const [old, now] = [authorize(before, request), authorize(set, request)];
    if (outcomes.indexOf(now.outcome) > outcomes.indexOf(old.outcome)) return 'a decision is stricter';
    const isFound = diff.findings.some((one) => one.isMetBy({ before: request, after: request }));
    if (old.outcome !== now.outcome && !isFound) return 'the diff lacks a decision';
    const isBroken = claims.some(
      (claim) => refutation(set, claim, request) !== null && refutation(before, claim, request) === null,
    );
    if (isBroken) return 'a claim is broken';
  }
  return null;
}

// The laws of the language over random sets: an unknown fact never opens the gate, one more guard never does
// either, and no order of what is written changes a decision. Each law returns what broke it, in the form of
// a case.

import type { Decision, Outcome } from '../../src/language/model/decision.ts';
import { outcomes } from '../../src/language/model/decision.ts';
import type { Facts } from '../../src/language/model/request.ts';
import { authorize } from '../../src/language/spec/authorize.ts';
import { parse } from '../../src/language/syntax/parse.ts';
import { printFile } from '../../src/language/syntax/print/print.ts';
import type { Declaration, PolicyFile } from '../../src/language/syntax/tree/tree.ts';
import { add, fromNumber } from '../../src/language/value/decimal.ts';
import { createRandom, type RandomSource } from '../../src/language/value/random.ts';
import type { CaseFiles } from './cases.ts';
import { compileSet, ruleIdsOf } from './differential.ts';
import { type RandomSet, randomGuard, randomSet } from './policies.ts';
import { randomFacts } from './requests.ts';

export interface Breach {
  readonly seed: number;
  readonly problem: string;
  readonly files: CaseFiles['files'];
  readonly facts: Facts;
}

export interface LawRun {
  /** Pairs of decisions that were compared. */
  readonly compared: number;
  /** How many of them differed, as the law permits. */
  readonly stricter: number;
  readonly breaches: readonly Breach[];
}

type Decide = (facts: Facts) => Decision;

/** One random set, ready to decide, with a source of requests. */
interface Subject {
  readonly seed: number;
  readonly random: RandomSource;
  readonly generated: RandomSet;
  readonly decide: Decide;
  readonly facts: () => Facts;
}

/** (a) A fact that is removed, or known less exactly, never weakens the decision. */
export function unknownNeverOpens(sets: number, seed: number): LawRun {
  return overSets(sets, seed, (subject, compare) => {
    for (let i = 0; i < 20; i++) {
      const facts = subject.facts();
      const before = subject.decide(facts).outcome;
      for (const { name, facts: less } of lessKnown(facts))
        compare(before, subject.decide(less).outcome, { name, facts });
    }
  });
}

/** (b) One more `deny`, `reauth` or `escalate` never weakens the decision on equal facts. */
export function guardsNeverOpen(sets: number, seed: number): LawRun {
  return overSets(sets, seed, (subject, compare) => {
    const { generated, random } = subject;
    for (let i = 0; i < 4; i++) {
      const guard = randomGuard(random, generated.actions);
      const files = [...generated.files, { path: 'guard.policy', text: guard }];
      const guarded = compileSet({ ...generated, files }).set;
      // A guard that does not compile would not test the law.
      if (guarded === null) throw new Error(`the guard does not compile: ${guard}`);
      for (let j = 0; j < 10; j++) {
        const facts = subject.facts();
        compare(subject.decide(facts).outcome, authorize(guarded, facts).outcome, { name: guard, facts });
      }
    }
  });
}

/** (c) No order of files, declarations, rules, fields, entries or payload keys changes anything in the decision. */
export function orderNeverMatters(sets: number, seed: number): LawRun {
  const breaches: Breach[] = [];
  let compared = 0;
  for (let at = 0; at < sets; at++) {
    const subject = subjectOf(seed + at);
    const files = rearranged(subject);
    const { set, engine } = compileSet({ ...subject.generated, files });
    for (let i = 0; i < 10; i++, compared++) {
      const facts = subject.facts();
      const straight = JSON.stringify(subject.decide(facts));
      const shuffled = {
        ...facts,
        payload: Object.fromEntries(shuffle(Object.entries(facts.payload), subject.random)),
      };
      const decisions =
        set === null || engine === null ? [] : [authorize(set, shuffled), engine.decide(shuffled)];
      if (decisions.length > 0 && decisions.every((decision) => JSON.stringify(decision) === straight))
        continue;
      const problem = `${straight} became ${JSON.stringify(decisions)}`;
      breaches.push({ seed: subject.seed, problem, files, facts });
    }
  }
  return { compared, stricter: 0, breaches };
}

type Compare = (
  before: Outcome,
  after: Outcome,
  change: { readonly name: string; readonly facts: Facts },
) => void;

function overSets(sets: number, seed: number, tryOne: (subject: Subject, compare: Compare) => void): LawRun {
  const breaches: Breach[] = [];
  let [compared, stricter] = [0, 0];
  for (let at = 0; at < sets; at++) {
    const subject = subjectOf(seed + at);
    tryOne(subject, (before, after, { name, facts }) => {
      compared++;
      const step = outcomes.indexOf(after) - outcomes.indexOf(before);
      if (step > 0) stricter++;
      if (step >= 0) return;
      const problem = `${before} became ${after} with ${name}`;
      breaches.push({ seed: subject.seed, problem, files: subject.generated.files, facts });
    });
  }
  return { compared, stricter, breaches };
}

function subjectOf(seed: number): Subject {
  const random = createRandom(seed);
  const generated = randomSet(random);
  const { set } = compileSet(generated);
  if (set === null) throw new Error(`the random set of seed ${seed} does not compile`);
  const ruleIds = ruleIdsOf(set);
  return {
    seed,
    random,
    generated,
    decide: (facts) => authorize(set, facts),
    facts: () => randomFacts(random, generated, ruleIds),
  };
}

/** The facts with one of them unknown, or with a wider meter reading. */
export function* lessKnown(facts: Facts): Generator<{ readonly name: string; readonly facts: Facts }> {
  for (const part of ['agent', 'request', 'meters'] as const) {
    for (const key of Object.keys(facts[part]).filter((name) => name !== 'chain')) {
      const rest = Object.fromEntries(Object.entries(facts[part]).filter(([name]) => name !== key));
      yield { name: `${part}.${key} unknown`, facts: { ...facts, [part]: rest } };
    }
  }
  for (const [name, { low, high }] of Object.entries(facts.meters)) {
    const wider = { low: add(low, fromNumber(-1)) ?? low, high: add(high, fromNumber(5)) ?? high };
    yield { name: `meters.${name} wider`, facts: { ...facts, meters: { ...facts.meters, [name]: wider } } };
  }
}

/** The set printed again in another order, split over another number of files. */
function rearranged({ generated, random }: Subject): CaseFiles['files'] {
  const trees = generated.files.map((file) => parse(file).file);
  const declarations = shuffle(
    trees.flatMap((tree) => tree.declarations).map((each) => shuffledWithin(each, random)),
    random,
  );
  const count = 1 + random.below(3);
  return Array.from({ length: count }, (_, index) => {
    const dealt: PolicyFile = {
      ...trees[0]!,
      comments: [],
      declarations: declarations.filter((_, at) => at % count === index),
    };
    return { path: `dealt-${index}.policy`, text: printFile(dealt) };
  });
}

function shuffledWithin(declaration: Declaration, random: RandomSource): Declaration {
  switch (declaration.kind) {
    case 'policy': {
      const { rules, patterns, except } = declaration;
      return {
        ...declaration,
        rules: shuffle(rules, random),
        patterns: shuffle(patterns, random),
        except: shuffle(except, random),
      };
    }
    case 'action': {
      const { body, keys, groups } = declaration;
      const fields = shuffle(body.fields, random);
      return {
        ...declaration,
        body: { ...body, fields },
        keys: shuffle(keys, random),
        groups: shuffle(groups, random),
      };
    }
    case 'list': {
      const { source } = declaration;
      if (source.kind === 'entries')
        return { ...declaration, source: { ...source, entries: shuffle(source.entries, random) } };
      if (source.kind === 'join')
        return { ...declaration, source: { ...source, lists: shuffle(source.lists, random) } };
      return declaration;
    }
    case 'hours':
      return { ...declaration, spans: shuffle(declaration.spans, random) };
    default:
      return declaration;
  }
}

function shuffle<T>(items: readonly T[], random: RandomSource): readonly T[] {
  return items
    .map((item) => ({ item, key: random.below(1_000_000) }))
    .toSorted((a, b) => a.key - b.key)
    .map(({ item }) => item);
}

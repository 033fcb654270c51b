// The index of rules finds what trying all rules finds, in the same order: among the rules about all actions
// of a rule, those that its condition implies. A rule that first requires certain texts counts only beside a
// rule that names such a text.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { implies, type Statement, statementOf } from '../../../src/language/check/logic/implication.ts';
import {
  createIndexCache,
  indexStatements,
  triedMax,
} from '../../../src/language/check/warnings/engine/statement-index.ts';
import { setOf } from './trees.ts';

interface Indexed {
  readonly name: string;
  readonly actions: readonly string[];
  readonly statement: Statement;
}

/**
 * The definition: tries every rule, those without texts first, then by the texts in the order in which the
 * premise names them.
 */
function followingByTrial(rules: readonly Indexed[], premise: Indexed): readonly Indexed[] {
  const named =
    premise.statement.branches.length > 0
      ? null
      : [...premise.statement.left].flatMap(([key, values]) => {
          const [text] = values.kind === 'texts' && !values.isComplement ? values.texts : [];
          return text === undefined ? [] : [JSON.stringify([key, text])];
        });
  const rankOf = (one: Indexed): number | null => {
    const texts = firstTexts(one.statement);
    if (named === null || texts.length === 0) return -1;
    const at = named.findIndex((mark) => texts.includes(mark));
    return at < 0 ? null : at;
  };
  return rules
    .filter((one) => one !== premise && premise.actions.every((key) => one.actions.includes(key)))
    .filter((one) => rankOf(one) !== null && implies(premise.statement, one.statement))
    .toSorted((a, b) => rankOf(a)! - rankOf(b)!);
}

function firstTexts({ goals }: Statement): readonly string[] {
  const first = goals.find(({ denial, ways }) => {
    const [only, ...others] = denial;
    return (
      only?.values.kind === 'texts' && only.values.isComplement && others.length === 0 && ways.length === 0
    );
  });
  const [atom] = first?.denial ?? [];
  return atom?.values.kind === 'texts'
    ? [...atom.values.texts].map((text) => JSON.stringify([atom.key, text]))
    : [];
}

const digit = fc.integer({ min: 0, max: 6 });
const test = fc.oneof(
  digit.map((at) => `payload.vendor == "v${at}"`),
  fc.tuple(digit, digit).map(([a, b]) => `payload.vendor in ["v${a}", "v${b}"]`),
  digit.map((at) => `payload.vendor != "v${at}"`),
  fc.tuple(digit, digit).map(([low, size]) => `payload.amount in ${low}..${low + size}`),
  fc
    .tuple(fc.constantFrom('<', '<=', '>', '>=', '==', '!='), digit)
    .map(([operator, bound]) => `payload.amount ${operator} ${bound}`),
  fc
    .tuple(fc.constantFrom('==', '!='), fc.constantFrom('a', 'b'))
    .map(([o, kind]) => `payload.kind ${o} "${kind}"`),
  fc.constantFrom('payload.flag', 'not payload.flag', 'payload.vendor contains "v"', 'few', 'either'),
  fc.constantFrom('(payload.kind == "a" or payload.amount > 3)', '(payload.flag or payload.vendor == "v1")'),
);
const condition = fc.array(test, { minLength: 1, maxLength: 3 }).map((tests) => tests.join(' and '));

describe('the index of statements', () => {
  it('finds what trying them all finds', () => {
    let found = 0;
    const sets = fc.array(fc.tuple(condition, fc.constantFrom('a.b', 'a.b', 'a.*')), {
      minLength: 12,
      maxLength: 40,
    });
    fc.assert(
      fc.property(sets, (drawn) => {
        const set = setOf(`
          action a.b, a.c { vendor: string, amount: number, kind: "a" | "b" | "c", flag: boolean }
          let few = payload.amount < 3
          let either = payload.amount < 2 or payload.flag
          ${drawn.map(([when, on], at) => `policy p${at} on ${on} { deny r when ${when} }`).join('\n')}`);
        const valueOfLet = (id: string) => set.lets.get(id)?.expression;
        const rules = set.policies.map(({ name, actions, rules: [rule] }) => ({
          name,
          actions,
          statement: statementOf(rule!.condition, valueOfLet),
        }));
        const following = indexStatements(rules);
        for (const rule of rules) {
          const names = following(rule).map(({ name }) => name);
          found += names.length;
          expect(names).toEqual(followingByTrial(rules, rule).map(({ name }) => name));
        }
      }),
      { numRuns: 150 },
    );
    expect(found).toBeGreaterThan(500);
  }, 60_000);
});

function rulesFor(conditions: readonly string[], from: number): readonly Indexed[] {
  const set = setOf(`
    action a.b, a.c { vendor: string, amount: number, kind: "a" | "b" | "c", flag: boolean }
    let few = payload.amount < 3
    let either = payload.amount < 2 or payload.flag
    ${conditions.map((when, at) => `policy p${from + at} on a.b { deny r when ${when} }`).join('\n')}`);
  const valueOfLet = (id: string) => set.lets.get(id)?.expression;
  return set.policies.map(({ name, rules: [rule] }) => ({
    name,
    actions: oneAction,
    statement: statementOf(rule!.condition, valueOfLet),
  }));
}

const oneAction = ['a.b'];

describe('an index with memory', () => {
  it('finds what a new one finds, whatever has come and gone', () => {
    const [drawnSets, takenOut] = [fc.array(condition, { minLength: 14, maxLength: 40 }), fc.array(fc.nat())];
    let found = 0;
    fc.assert(
      fc.property(
        drawnSets,
        fc.array(fc.tuple(fc.array(condition), takenOut), { size: 'small' }),
        (drawn, edits) => {
          const memory = createIndexCache<Indexed>();
          let rules = rulesFor(drawn, 0);
          let made = drawn.length;
          for (const [more, fewer] of [[[], []] as const, ...edits]) {
            const gone = new Set(fewer.map((at) => rules[at % Math.max(1, rules.length)]));
            rules = [...rules.filter((one) => !gone.has(one)), ...rulesFor(more, made)];
            made += more.length;
            const [remembered, fresh] = [indexStatements(rules, memory), indexStatements(rules)];
            // Sometimes only a part of the set is looked up.
            for (const rule of rules.slice(made % 3)) {
              const names = remembered(rule).map(({ name }) => name);
              found += names.length;
              expect(names).toEqual(fresh(rule).map(({ name }) => name));
            }
          }
        },
      ),
      { numRuns: 120 },
    );
    expect(found).toBeGreaterThan(500);
  }, 60_000);

  it('does not look at a rule for which too many would have to be tried', () => {
    const conditions = Array.from({ length: triedMax + 1 }, (_, at) => `payload.amount > ${at}`);
    const memory = createIndexCache<Indexed>();
    const few = rulesFor(conditions.slice(0, -1), 0);
    const last = few.find(({ name }) => name === `p${triedMax - 1}`)!;
    expect(indexStatements(few, memory)(last)).toHaveLength(triedMax - 1);
    const many = [...few, ...rulesFor(['payload.amount > -1'], triedMax)];
    expect(indexStatements(many, memory)(last)).toEqual([]);
    expect(indexStatements(many)(last)).toEqual([]);
    expect(indexStatements(few, memory)(last)).toHaveLength(triedMax - 1);
  });
});

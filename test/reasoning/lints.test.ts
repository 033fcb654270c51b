// Rules that are proved to be needless: every such finding is true, tried on random requests, and every rule
// that is made needless on purpose is found.

import { beforeAll, describe, expect, it } from 'vitest';
import type { Diagnostic } from '../../src/language/diagnostic/diagnostic.ts';
import type { Expression } from '../../src/language/model/expression.ts';
import type { Effect, Policy, PolicySet, Rule } from '../../src/language/model/policy.ts';
import { type Facts, nothingSatisfied } from '../../src/language/model/request.ts';
import { booleanType } from '../../src/language/model/type.ts';
import { authorize } from '../../src/language/spec/authorize.ts';
import { evaluateCondition } from '../../src/language/spec/evaluate.ts';
import { checkPayload, resolveFacts } from '../../src/language/spec/payload.ts';
import type { SpecTruth } from '../../src/language/spec/truth.ts';
import { compileToProgram } from '../../src/pipeline.ts';
import { randomRequest, requestSource } from '../../src/reasoning/guarantees/request.ts';
import { readsConstantLet } from '../../src/reasoning/lints/conditions.ts';
import { type FindingWithExample, findingsOfAction } from '../../src/reasoning/lints/findings.ts';
import { withLints } from '../../src/reasoning/lints/lint.ts';
import { lawSets, type Named } from '../laws/proofs.ts';
import { third, tries } from '../support/tries.ts';

let sets: readonly Named[] = [];

beforeAll(async () => {
  sets = await lawSets(tries(8));
});

const ordersFile = 'id,class\no-1,open\n';

function compiled(text: string) {
  const texts = [{ path: 'a.policy', text }];
  const { set, ...others } = compileToProgram({
    files: texts,
    readListFile: (path) =>
      path === 'orders.csv' ? { text: ordersFile } : { code: 'list-file-missing', message: path },
  });
  if (set === null) throw new Error(JSON.stringify(others.diagnostics));
  return { ...others, set, texts };
}

function lintsOf(text: string): readonly Diagnostic[] {
  return withLints(compiled(text)).diagnostics;
}

const start = `
approvers boss  "Boss"
approvers board "Board"
action order.place { count: integer 0.., vendor: string, site: url, note?: string }
`;

function inPolicy(rules: string): string {
  return `${start}policy orders on order.place {\n${rules}\n}\n`;
}

function codesOf(rules: string): readonly string[] {
  return lintsOf(inPolicy(rules))
    .filter(({ code }) => !code.startsWith('allow-') && code !== 'unused-declaration')
    .map(({ code, span, message }) => `${code} ${inPolicy(rules).slice(span.start, span.end)}: ${message}`);
}

it('does not depend on the rows of files, which change without the policies', () => {
  const table = (rows: string): string => `${start}table orders ${rows}
policy orders_by_class on order.place {
  allow open when orders[payload.vendor].class == "open"
  allow closed when orders[payload.vendor].class == "closed" and payload.count < 5
  deny large when payload.vendor == "o-2" and payload.vendor in orders and payload.count > 9
}`;
  const codes = (text: string): readonly string[] =>
    lintsOf(text).flatMap(({ code }) => (code.startsWith('unused') ? [] : [code]));
  const columns = 'key id: string { class: "open" | "closed" }';
  expect(codes(table(`from "orders.csv" ${columns}`))).toEqual([]);
  expect(codes(table(`pushed by "shop" ${columns}`))).toEqual([]);
});

describe('what is needless', () => {
  it.each([
    [
      'a guard that no allow meets, by values',
      'allow small when payload.count <= 5\n escalate large to boss when payload.count > 7 or payload.count == 6',
      ['guard-without-allow large: `large` guards nothing: no `allow` grants a request that it is about'],
    ],
    [
      'no refusal of all requests with a reason of its own',
      'deny people_only because "orders are placed only by people"',
      [],
    ],
    [
      'no refusal with a reason of what no allow grants',
      'allow small when payload.count <= 5\n deny large when payload.count > 7 because "too many"',
      [],
    ],
    [
      'a guard that two denials leave nothing',
      'allow small when payload.count <= 9\n deny a when payload.count > 5\n deny b when payload.vendor == "x"\n escalate c to boss when payload.count > 7 or payload.vendor == "x"',
      [
        'rule-never-decides c: `c` never decides: every request that it is about is denied by `orders/a` or `orders/b`',
      ],
    ],
    [
      'a denial with a reason of what no allow grants, beside another denial',
      'allow known when payload.vendor == "x"\n deny stranger when payload.vendor != "x" because "not known"\n deny big when payload.count > 5 because "too many"',
      [],
    ],
    [
      'an allow that two others cover',
      'allow a when payload.count <= 5\n allow b when payload.count > 5\n allow c when payload.vendor == "x"',
      [
        'rule-implied c: `c` adds nothing: of every request that it is about, `orders/a` or `orders/b` says as much',
      ],
    ],
    [
      'two rules that say the same in other words',
      'allow all\n deny a when payload.vendor like "a*"\n deny b when payload.vendor starts with "a"',
      ['rule-duplicated b: `b` says the same as `orders/a`'],
    ],
    [
      'texts that exclude each other',
      'allow all\n deny a when payload.vendor like "*.txt" and payload.vendor ends with ".pdf"',
      [
        'never-true payload.vendor like "*.txt" and payload.vendor ends with ".pdf": this is true of no request',
      ],
    ],
    [
      'points that are not enough',
      'allow all\n risk a +30 when payload.count > 5\n risk b +30 when payload.count <= 5\n escalate c to boss when risk >= 60',
      ['never-true risk >= 60: this is true of no request'],
    ],
    [
      'a part that is always true',
      'allow a when payload.count > 3 and (payload.vendor like "a*" or not (payload.vendor starts with "a"))',
      [
        'always-true payload.vendor like "a*" or not (payload.vendor starts with "a"): this is true of every request',
      ],
    ],
  ])('%s', (_, rules, expected) => {
    expect(codesOf(rules)).toEqual(expected);
  });

  it('a `not in` is one: what nothing is in, everything is not in', () => {
    const rules = 'allow a when payload.count > 3 and payload.vendor not in nothing';
    const found = lintsOf(`${inPolicy(rules)}list nothing = [] may be empty\n`);
    expect(found.map(({ code }) => code)).toContain('always-true');
    expect(found.map(({ code }) => code)).not.toContain('never-true');
  });

  it.each([
    [
      'another group',
      'allow all\n escalate a to boss when payload.count > 5\n escalate b to board when payload.count > 5',
    ],
    [
      'more people',
      'allow all\n escalate a to boss when payload.count > 5\n escalate b to boss needs 2 when payload.count > 7',
    ],
    ['points', 'allow all\n deny a when payload.count > 5\n deny b when payload.count > 7 risk +10'],
    ['a shorter grant', 'allow a\n allow b for 1m when payload.count > 5'],
    [
      'what is guessed',
      'allow all\n deny a when payload.count * payload.count > 5 and payload.count * payload.count <= 5',
    ],
  ])('is not what adds %s', (_, rules) => {
    const text = inPolicy(rules);
    const codes = lintsOf(text).map(({ code }) => code);
    expect(codes.filter((code) => /^(?:rule|guard)-|^never/.test(code))).toEqual([]);
  });

  it('is not what a switch makes so', () => {
    const text = `let frozen = false\n${inPolicy('allow all\n deny a when frozen\n deny b when not frozen')}`;
    const { set } = compiled(text);
    expect([...findingsOfAction(set, 'order.place').rules.values()]).toEqual([]);
  });

  it('is shown by a request', () => {
    const [found] = lintsOf(
      inPolicy(
        'allow all\n deny a when payload.vendor like "a*"\n deny b when payload.vendor starts with "a"',
      ),
    ).filter(({ code }) => code === 'rule-duplicated');
    expect(found?.related?.at(-1)?.message).toMatch(
      /^for example \{"action":"order.place","payload":\{"count":.*\}, which is DENY by `orders\/a`$/,
    );
  });

  it('is taken off by a comment, which is called unused where nothing is needless', () => {
    const comment = '# writ: allow rule-duplicated because the names are told apart in reports\n ';
    const needless = `allow all\n deny a when payload.vendor like "a*"\n ${comment}deny b when payload.vendor starts with "a"`;
    expect(codesOf(needless)).toEqual([]);
    expect(codesOf(needless.replace('starts with "a"', 'starts with "b"'))[0]).toMatch(/^silence-unused/);
  });
});

interface Judging {
  readonly set: PolicySet;
  readonly facts: Facts;
}

function truthOf({ set, facts: asked }: Judging, condition: Expression): SpecTruth {
  const facts = resolveFacts(set, asked);
  return evaluateCondition(condition, { set, facts, risk: authorize(set, asked).risk, variables: new Map() });
}

function acts(judging: Judging, { effect, condition }: Rule): boolean {
  const truth = truthOf(judging, condition);
  return effect === 'allow' ? truth === true : truth !== false;
}

function isGranted(judging: Judging): boolean {
  return rulesOf(judging.set, judging.facts.action).some(
    (rule) => rule.effect === 'allow' && acts(judging, rule),
  );
}

function rulesOf({ policies }: PolicySet, action: string): readonly Rule[] {
  return policies
    .filter(({ actions }) => actions.includes(action))
    .flatMap(({ rules }) => rules.filter(({ isShadow }) => !isShadow));
}

/** Whether the request shows that the finding is wrong. */
function isWrong({ kind, rule, by }: FindingWithExample, judging: Judging): boolean {
  if (!acts(judging, rule)) return false;
  if (kind === 'never-true') return true;
  if (rule.effect !== 'allow' && !isGranted(judging)) return false;
  return kind === 'guard-without-allow' || !by.some((other) => acts(judging, other));
}

function without({ policies, ...set }: PolicySet, rule: Rule): PolicySet {
  const left = policies.map((policy) => ({ ...policy, rules: policy.rules.filter((one) => one !== rule) }));
  return { ...set, policies: left };
}

describe('findings', () => {
  it('hold for random requests, and a rule that is found can go', { timeout: 240_000 }, () => {
    const counts = new Map<string, number>();
    for (const { set, name } of sets) {
      const source = requestSource(set, 5);
      for (const action of set.actions.values()) {
        const found = findingsOfAction(set, action.key);
        const { rules, constants } = found;
        const fixed = [...constants].filter(([, constant]) => constant !== null);
        for (const { kind } of rules.values()) counts.set(kind, (counts.get(kind) ?? 0) + 1);
        for (const [, constant] of fixed)
          counts.set(`part ${constant}`, (counts.get(`part ${constant}`) ?? 0) + 1);
        if (rules.size + fixed.length === 0) continue;
        for (let drawn = 0; drawn < 30; drawn += 1) {
          const facts = { ...randomRequest(source, action), satisfied: nothingSatisfied };
          if (checkPayload(action.shape, facts.payload).length > 0) continue;
          const judging = { set, facts };
          const wrong = [...rules.values()].filter((finding) => isWrong(finding, judging));
          expect(wrong.map(({ kind, rule }) => `${name} ${kind} ${rule.id}`)).toEqual([]);
          for (const { rule } of [...rules.values()].filter((one) => one.rule.points === 0))
            expect(authorize(without(set, rule), facts).outcome, rule.id).toBe(authorize(set, facts).outcome);
          for (const [part, constant] of fixed)
            expect(truthOf(judging, part) === true, JSON.stringify(part.span)).toBe(
              constant === 'always-true',
            );
        }
      }
    }
    expect([...counts.keys()].toSorted()).toEqual(
      expect.arrayContaining(['never-true', 'part never-true', 'rule-implied', 'rule-never-decides']),
    );
  });
});

/** The set with one more rule, last by name. */
function withRule(
  set: PolicySet,
  action: string,
  rule: Partial<Rule> & Pick<Rule, 'effect' | 'condition'>,
): PolicySet {
  const added: Rule = {
    id: 'zz_added/zz',
    policy: 'zz_added',
    name: 'zz',
    isShadow: false,
    conditionText: '',
    points: 0,
    readsRisk: false,
    reason: null,
    validForSeconds: null,
    requirement: null,
    doc: null,
    span: { file: 'added', start: 0, end: 1 },
    ...rule,
  };
  const policy: Policy = {
    name: 'zz_added',
    actions: [action],
    owner: null,
    tags: [],
    links: [],
    doc: null,
    rules: [added],
    span: added.span,
  };
  return { ...set, policies: [...set.policies, policy] };
}

const asking = { kind: 'approval', groups: ['owner'], needs: 1, except: [], withinSeconds: 3600 } as const;

function joined(kind: 'and' | 'or', operands: readonly Expression[]): Expression {
  return { kind, operands, type: booleanType, span: operands[0]!.span };
}

function negated(operand: Expression): Expression {
  return { kind: 'not', operand, type: booleanType, span: operand.span };
}

/** Rules that have no effect beside the other rules of the action. */
function* needlessRules(
  rules: readonly Rule[],
): Generator<Partial<Rule> & Pick<Rule, 'effect' | 'condition'>> {
  const allows = rules.filter(({ effect }) => effect === 'allow');
  const guard: Effect = 'escalate';
  for (const { effect, condition, requirement, validForSeconds } of rules.slice(0, 3)) {
    const all = { effect, requirement, validForSeconds };
    if (effect !== 'risk') {
      yield { ...all, condition };
      yield { ...all, condition: joined('and', [condition, rules[0]!.condition]) };
      yield { ...all, condition: joined('and', [condition, rules.at(-1)!.condition]) };
    }
    if (effect === 'deny') yield { effect: guard, requirement: asking, condition };
    if (effect === 'deny') yield { effect: 'allow', condition };
    yield { effect: 'allow', condition: joined('and', [condition, negated(condition)]) };
  }
  if (allows.length === 0) return;
  const granting = joined(
    'or',
    allows.map(({ condition }) => condition),
  );
  yield { effect: 'deny', condition: negated(granting) };
  yield { effect: guard, requirement: asking, condition: negated(granting) };
}

describe('a rule that is made needless', () => {
  it('is found in every set', { timeout: 240_000 }, () => {
    let made = 0;
    for (const [at, { set, name }] of sets.entries()) {
      for (const { key } of [...set.actions.values()].slice(0, 1)) {
        const rules = rulesOf(set, key);
        if (rules.length === 0 || rules.some(({ condition }) => readsConstantLet(set, condition))) continue;
        // Each set tries another third of the kinds.
        for (const needless of [...needlessRules(rules)].filter((_, kind) => (kind + at) % 3 === 0)) {
          const mutant = withRule(set, key, needless);
          const found = [...findingsOfAction(mutant, key).rules.values()].map(({ rule }) => rule.name);
          made += 1;
          expect(
            found,
            `${name} ${key} ${needless.effect} ${JSON.stringify(needless.condition.span)}`,
          ).toContain('zz');
        }
      }
    }
    expect(made).toBeGreaterThan(130);
  });
});

describe('a condition of very many parts', () => {
  const chain = (count: number, operator = 'or'): string => {
    const sign = operator === 'or' ? '==' : '!=';
    const tests = Array.from({ length: count }, (_, at) => `payload.name ${sign} "v${at}"`);
    return `action box.open { name: string }
policy boxes on box.open { allow few when ${tests.join(` ${operator} `)} }`;
  };
  /** The processor's time in microseconds, which other work on the machine changes less, and what was left out. */
  const lint = (text: string) => {
    const set = compiled(text);
    const before = process.cpuUsage();
    const { leftOut } = withLints(set);
    const { user, system } = process.cpuUsage(before);
    return { cost: user + system, leftOut };
  };

  it.each(third(['or', 'and']))(
    'takes no more than twice the time for twice the parts, and is named when not all were asked about: %s',
    (operator) => {
      expect(lint(chain(100, operator)).leftOut).toEqual([]);
      // Quadratic time would be four times as long, and eight thousand parts took minutes.
      const [half, whole] = [lint(chain(1_000, operator)), lint(chain(2_000, operator))];
      expect(whole.cost / half.cost).toBeLessThan(2.9);
      expect([half.leftOut, whole.leftOut]).toEqual([['box.open'], ['box.open']]);
    },
    120_000,
  );
});

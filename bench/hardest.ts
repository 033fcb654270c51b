// Measures policies written to make Writ slow: no index helps with them, and the requests meet them. Each
// case grows with the number of its rules; the time of a decision may grow no faster than that number.

import { isDeepStrictEqual } from 'node:util';
import type { LinkedFunctions } from '../src/language/emit/link.ts';
import { type Facts, nothingSatisfied } from '../src/language/model/request.ts';
import { authorize } from '../src/language/spec/authorize.ts';
import { rotate, timeCalls } from '../src/measure/clock.ts';
import { type Figure, growthExponent } from '../src/measure/figure.ts';
import { compile } from '../src/pipeline.ts';

export interface HardFigures {
  readonly name: string;
  /** The figures by number of rules. */
  readonly points: readonly { readonly rules: number; readonly tried: number; readonly figure: Figure }[];
  /** The exponent with which the time grows with the number of rules, over the larger half of the sizes. */
  readonly exponent: number;
}

interface HardCase {
  readonly name: string;
  readonly rule: (at: number, rules: number) => string;
  /** Further fields of the action's payload, as policy text. */
  readonly more?: string;
  readonly facts: (at: number, rules: number) => Partial<Facts>;
}

const note = 'a'.repeat(500);
const payload = { amount: 500, vendor: 'V', note, unit: 'u1', weight: 7.5 };
const normal = () => ({ payload });

export const hardCases: readonly HardCase[] = [
  {
    name: 'all on the same value',
    rule: (at) => `deny r${at} when payload.vendor == "V" and payload.note contains "b${at}"`,
    facts: normal,
  },
  {
    name: 'ranges that all hold',
    rule: (at, rules) => `risk r${at} +1 when payload.amount in ${at}..${1_000_000 - rules + at}`,
    facts: (_, rules) => ({ payload: { ...payload, amount: rules } }),
  },
  {
    name: 'beginnings of each other',
    rule: (at) => `deny r${at} when payload.note starts with "${'a'.repeat(1 + (at % 499))}b${at}"`,
    facts: normal,
  },
  {
    name: 'nothing to file under',
    rule: (at) => `deny r${at} when payload.amount * ${at + 2} == payload.weight + ${at}`,
    facts: normal,
  },
  {
    name: 'every guard unknown',
    rule: (at) => `deny r${at} when agent.name == "a${at}"`,
    facts: () => ({ payload, agent: {} }),
  },
  {
    name: 'everything unknown but one value',
    rule: (at) =>
      `deny r${at} when agent.name == "a${at}" and agent.id == "i${at}" and payload.amount > ${at}`,
    facts: (_, rules) => ({ payload: { ...payload, amount: 2 * rules }, agent: {} }),
  },
  {
    name: 'a score that all read',
    rule: (at) =>
      at % 2 === 0
        ? `risk r${at} +1 when payload.amount >= ${at % 100}`
        : `deny r${at} when risk >= ${90 + (at % 10)}`,
    facts: normal,
  },
  {
    name: 'a field of its own for each',
    more: Array.from({ length: 40 }, (_, at) => `f${at}?: string ..20`).join(', '),
    rule: (at) => `deny r${at} when payload has f${at % 40} and payload.f${at % 40} == "v${at}"`,
    facts: (at) => ({ payload: { ...payload, [`f${at % 40}`]: 'v' } }),
  },
];

const requestsDrawn = 20;
/** Milliseconds of one round. */
const roundMs = 100;

export function measureHardest(sizes: readonly number[], rounds: number): readonly HardFigures[] {
  return hardCases.map((one) => {
    const points = sizes.map((rules) => measureCase(one, rules, rounds));
    const larger = points.slice(Math.floor((points.length - 1) / 2));
    const exponent = growthExponent(larger.map(({ rules, figure }) => [rules, figure.median] as const));
    return { name: one.name, points, exponent };
  });
}

function measureCase(one: HardCase, rules: number, rounds: number): HardFigures['points'][number] {
  const { engine, requests } = prepareHardest(one, rules);
  const { decide } = rotate(
    {
      decide: () =>
        timeCalls(
          () => {
            for (const request of requests) engine.decide(request);
          },
          requests.length,
          roundMs,
        ),
    },
    rounds,
  );
  return { rules, tried: engine.tried(requests[0]!).length, figure: decide };
}

/**
 * Returns the engine and the requests. Throws when the first decision differs from that of the definition
 * (`src/language/spec`).
 */
export function prepareHardest(
  one: HardCase,
  rules: number,
): { readonly engine: LinkedFunctions; readonly requests: readonly Facts[] } {
  const { set, engine, diagnostics } = compile({
    files: [{ path: 'a.policy', text: policyText(one, rules) }],
    readListFile: () => ({ code: 'list-file-missing', message: 'there are no list files' }),
  });
  if (set === null || engine === null) {
    const [first] = diagnostics.filter(({ severity }) => severity === 'error');
    throw new Error(`${one.name}: ${first?.message}`);
  }
  const requests = Array.from({ length: requestsDrawn }, (_, at): Facts => {
    return { ...facts, ...one.facts(at, rules) };
  });
  const [first] = requests;
  if (!isDeepStrictEqual(engine.decide(first!), authorize(set, first!))) {
    throw new Error(`${one.name}: the readings differ`);
  }
  return { engine, requests };
}

function policyText(one: HardCase, rules: number): string {
  const more = one.more === undefined ? '' : `, ${one.more}`;
  const written = Array.from({ length: rules }, (_, at) => `policy p${at} on a.b { ${one.rule(at, rules)} }`);
  return `action a.b { amount: number 0.., weight: number, vendor: string 1..20, unit: string 1..20, note: string ..500${more} }
policy open on a.b { allow all }
${written.join('\n')}
`;
}

const facts: Facts = {
  action: 'a.b',
  payload,
  agent: { id: 'agt-1', name: 'buyer', risk_tier: 'low', control_owner: 'ops@example.com', tags: [] },
  request: { ip: '10.0.0.7', signed: false, session: 's-1' },
  nowMs: Date.UTC(2026, 2, 2, 15),
  meters: {},
  satisfied: nothingSatisfied,
};

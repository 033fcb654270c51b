// Turns a workload into Writ's policy text, as an operator would write it, and its requests into the facts of
// requests.

import type { SourceText } from '../src/language/diagnostic/span.ts';
import { type Facts, nothingSatisfied, type RiskTier } from '../src/language/model/request.ts';
import type { BenchRequest, BenchRule, BenchTest, Workload } from './workloads.ts';

/** Policies in one file, whose size is limited. */
const policiesInFile = 1_000;

const shape =
  '{ amount: number 0.., vendor: string 1..100, currency: "USD" | "EUR" | "GBP", description: string ..500 }';

export function policyFiles(workload: Workload, policiesPerFile = policiesInFile): readonly SourceText[] {
  const { rules, actions, name } = workload;
  const files: SourceText[] = [
    { path: 'actions.policy', text: actions.map((key) => `action ${key} ${shape}\n`).join('') },
  ];
  for (let from = 0; from < rules.length; from += policiesPerFile) {
    const text = rules
      .slice(from, from + policiesPerFile)
      .map((rule) => policyText(rule, name))
      .join('');
    files.push({ path: `policies-${from / policiesPerFile}.policy`, text });
  }
  return files.flatMap(splitLarge);
}

/**
 * Splits a file of more than 5,000 lines: the action declarations of 100,000 policies exceed the limit of one
 * file.
 */
function splitLarge(file: SourceText): readonly SourceText[] {
  const lines = file.text.split('\n');
  const size = 5_000;
  if (lines.length <= size) return [file];
  return Array.from({ length: Math.ceil(lines.length / size) }, (_, at) => ({
    path: `${at}-${file.path}`,
    text: lines.slice(at * size, (at + 1) * size).join('\n'),
  }));
}

function policyText({ name, action, effect, tests }: BenchRule, workload: Workload['name']): string {
  const pattern = workload === 'actions' ? action : 'payment.*';
  return `policy ${name} on ${pattern} { ${effect} r when ${tests.map(condition).join(' and ')} }\n`;
}

function condition(test: BenchTest): string {
  switch (test.kind) {
    case 'amount-between':
      return `payload.amount in ${test.low}..${test.high}`;
    case 'amount-from':
      return `payload.amount >= ${test.low}`;
    case 'vendor-in':
      return `payload.vendor in ${JSON.stringify(test.vendors)}`;
    case 'vendor-is':
      return `payload.vendor == ${JSON.stringify(test.vendor)}`;
    case 'currency-is':
      return `payload.currency == ${JSON.stringify(test.currency)}`;
    case 'tier-in':
      return `agent.risk_tier in ${JSON.stringify(test.tiers)}`;
    case 'description-contains':
      return `payload.description contains ${JSON.stringify(test.text)}`;
    case 'description-starts':
      return `payload.description starts with ${JSON.stringify(test.text)}`;
  }
}

export function toFacts({ action, payload, tier }: BenchRequest): Facts {
  return {
    action,
    payload: { ...payload },
    agent: {
      id: 'agt-1',
      name: 'buyer',
      risk_tier: tier as RiskTier,
      control_owner: 'ops@example.com',
      tags: [],
    },
    request: { ip: '10.0.0.7', signed: false, session: 's-1' },
    nowMs: Date.UTC(2026, 2, 2, 15),
    meters: {},
    satisfied: nothingSatisfied,
  };
}

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { engineOf, factsOf } from './engine.ts';

// Conditions over facts that are true, false or unknown, some of which are never unknown, compared with
// Kleene's tables.

type Tree =
  | string
  | { readonly not: Tree }
  | { readonly and: readonly Tree[] }
  | { readonly or: readonly Tree[] };

const leaves = { 'payload.yes': 2, 'payload.no': 0, known: 2, strange: 1, wrong: 0 } as const;
const leafText: Readonly<Record<keyof typeof leaves, string>> = {
  'payload.yes': 'payload.yes',
  'payload.no': 'payload.no',
  known: 'agent.name == "buyer"',
  strange: 'agent.control_owner == "x"',
  wrong: 'agent.name == "other"',
};

const { tree } = fc.letrec<{ tree: Tree }>((tie) => ({
  tree: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom(...Object.keys(leaves)),
    fc.record({ not: tie('tree') }),
    fc.record({ and: fc.array(tie('tree'), { minLength: 2, maxLength: 4 }) }),
    fc.record({ or: fc.array(tie('tree'), { minLength: 2, maxLength: 4 }) }),
  ),
}));

function textOf(node: Tree): string {
  if (typeof node === 'string') return leafText[node as keyof typeof leaves];
  if ('not' in node) return `not (${textOf(node.not)})`;
  return 'and' in node ? `(${node.and.map(textOf).join(' and ')})` : `(${node.or.map(textOf).join(' or ')})`;
}

function expected(node: Tree): number {
  if (typeof node === 'string') return leaves[node as keyof typeof leaves];
  if ('not' in node) return 2 - expected(node.not);
  return 'and' in node ? Math.min(...node.and.map(expected)) : Math.max(...node.or.map(expected));
}

describe('generated conditions', () => {
  it('follow the tables of Kleene', () => {
    fc.assert(
      fc.property(fc.array(tree, { minLength: 1, maxLength: 5 }), (trees) => {
        const rules = trees.map((node, at) => `deny rule_${at} when ${textOf(node)}`);
        const engine = engineOf(
          `action a.b {\n yes: boolean\n no: boolean\n}\npolicy p on a.b {\n${rules.join('\n')}\n}`,
        );
        const facts = factsOf({ yes: true, no: false }, { agent: { name: 'buyer' } });
        const truths = engine.trace(facts).map(({ truth }) => ['false', 'unknown', 'true'].indexOf(truth));
        expect(truths).toEqual(trees.map(expected));
      }),
      { numRuns: 150 },
    );
  });

  it('evaluates a shared let once, whatever it comes to', () => {
    const engine = engineOf(`
      action a.b { on: boolean }
      let strange = agent.name == "x" or agent.id == "y"
      policy p on a.b {
        deny one when strange
        deny two when not strange
        allow three unless strange
      }`);
    const unknown = engine.trace(factsOf({ on: true }, { agent: {} }));
    expect(unknown.map(({ truth }) => truth)).toEqual(['unknown', 'unknown', 'unknown']);
    const known = engine.trace(factsOf({ on: true }, { agent: { name: 'x' } }));
    expect(known.map(({ truth }) => truth)).toEqual(['true', 'false', 'false']);
  });
});

// The benchmarks measure what they claim: a workload's text and its model are the same policies, they decide
// like hand-written code, and the policies made to be slow decide as the definition does.

import { describe, expect, it } from 'vitest';
import { engine as byHand } from '../../bench/hand-written.ts';
import { hardCases, prepareHardest } from '../../bench/hardest.ts';
import { policySet } from '../../bench/policy-model.ts';
import { policyFiles, toFacts } from '../../bench/policy-text.ts';
import { createWorkload, workloadNames } from '../../bench/workloads.ts';
import { link } from '../../src/language/emit/link.ts';
import { compile } from '../../src/pipeline.ts';
import { opened } from '../language/program/programs.ts';

describe.each(workloadNames)('the workload %s', (name) => {
  const workload = createWorkload(name, 60);

  it('is the same from text and from the model', () => {
    const fromText = compile({
      files: policyFiles(workload, 7),
      readListFile: (path) => ({ code: 'list-file-missing', message: path }),
    });
    expect(fromText.diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
    const fromModel = link(opened(policySet(workload)));
    for (const facts of workload.requests.map(toFacts)) {
      expect(fromText.engine!.decide(facts)).toEqual(fromModel.decide(facts));
    }
  });

  it('decides as the hand-written function does, and neither always the same', () => {
    const engine = link(opened(policySet(workload)));
    const prepared = byHand.prepare(workload);
    if (prepared instanceof Promise) throw new Error('it is there at once');
    const outcomes = new Set<string>();
    for (const [at, request] of workload.requests.entries()) {
      const { outcome } = engine.decide(toFacts(request));
      expect(prepared.decide(at)).toMatchObject({ outcome });
      outcomes.add(outcome);
    }
    expect(outcomes).toEqual(new Set(['ALLOW', 'DENY']));
  });
});

describe('policies made to be slow', () => {
  it.each(hardCases.map((one) => [one.name, one] as const))('%s: decide as the definition says', (_, one) => {
    const { engine, requests } = prepareHardest(one, 25);
    expect(engine.decide(requests[0]!).by).not.toBe('invalid_payload');
  });
});

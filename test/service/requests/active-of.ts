// Active policies from the text of one file.

import type { ActivePolicies } from '../../../src/language/model/active-policies.ts';
import { chatLimitsOf } from '../../../src/language/model/approvers.ts';
import { withLastingMeters } from '../../../src/language/model/lasting-meters.ts';
import { compile } from '../../../src/pipeline.ts';
import { rulesWithRequirement } from '../../../src/service/policies/set-summary.ts';

export function activeOf(text: string): ActivePolicies {
  const { set, engine, diagnostics } = compile({
    files: [{ path: 'a.policy', text }],
    readListFile: () => ({ code: 'list-file-missing', message: 'there is none' }),
  });
  if (set === null || engine === null) throw new Error(diagnostics.map(({ message }) => message).join('\n'));
  const asks = new Map(set.policies.flatMap(rulesWithRequirement).map((asked) => [asked.rule, asked]));
  const { meters, entriesRecorded } = withLastingMeters(engine, () => asks);
  return {
    decide: engine.decide,
    decideTraced: engine.decideTraced,
    decideRecorded: engine.decideRecorded,
    trace: engine.trace,
    checkResult: engine.checkResult,
    checkRow: engine.checkRow,
    pushedTables: engine.pushedTables,
    readsPushed: engine.readsPushed,
    checkPayload: () => [],
    shapeOf: engine.shapeOf,
    resultShapeOf: engine.resultShapeOf,
    actions: engine.actions,
    possibility: engine.possibility,
    asks: () => asks,
    chatLimits: () => chatLimitsOf(set.approvers.values()),
    titleOf: (action) => set.actions.get(action)?.title ?? null,
    entries: engine.entries,
    entriesRecorded,
    meters,
    digest: 'digest',
    commit: null,
  };
}

// What a replay says of two decisions with the same outcome.

import { expect, test } from 'vitest';
import { changedRequirements } from '../../../src/analysis/replay/engine/requirement-changes.ts';
import type { Decision, Requirements } from '../../../src/language/model/decision.ts';

const finance = { group: 'finance', needs: 1, withinSeconds: 14_400 };
const reauth = { withinSeconds: 300 };

function decision(requires: Requirements | null, outcome: Decision['outcome'] = 'ESCALATE'): Decision {
  return { outcome, requires } as Decision;
}

const asking = (...approvals: Requirements['approvals']) => decision({ approvals, reauth: null });

/** Finance, with fallbacks. */
const then = (...later: readonly (readonly [seconds: number, group: string])[]) => ({
  ...finance,
  group: ['finance', ...later.map(([, group]) => group)].join(' then '),
  anyOf: [{ group: 'finance' }],
  fallbacks: later.map(([afterSeconds, group]) => ({ afterSeconds, anyOf: [{ group }] })),
});

test.each<[string, Decision, Decision, readonly string[]]>([
  ['nothing', asking(finance), asking(finance), []],
  ['another outcome', asking(finance), decision(null, 'ALLOW'), []],
  [
    'a group more',
    decision({ approvals: [], reauth }, 'REAUTH_REQUIRED'),
    decision({ approvals: [finance], reauth }, 'REAUTH_REQUIRED'),
    ['asks finance as well'],
  ],
  ['two of a group more', asking(), asking({ ...finance, needs: 2 }), ['asks 2 of finance as well']],
  [
    'another group',
    asking(finance),
    asking({ ...finance, group: 'owner' }),
    ['no longer asks finance', 'asks the control owner as well'],
  ],
  [
    'more people and less time',
    asking(finance),
    asking({ ...finance, needs: 2, withinSeconds: 3_600 }),
    ['asks 2 of finance instead of 1', 'gives finance 1h instead of 4h'],
  ],
  ['a fallback more', asking(finance), asking(then([7_200, 'security'])), ['asks security after 2h']],
  [
    'a fallback less, one later, and another order',
    asking(then([3_600, 'security'], [7_200, 'owner'], [9_000, 'legal'])),
    asking(then([7_200, 'legal'], [9_000, 'security'])),
    [
      'asks security after 150m instead of 1h',
      'no longer asks the control owner after 2h',
      'asks legal after 2h instead of 150m',
    ],
  ],
  [
    'excepted people',
    asking({ ...finance, except: ['payload.by'] }),
    asking({ ...finance, except: ['payload.to'] }),
    ['asks nobody of finance whom payload.to names', 'lets people of finance answer whom payload.by names'],
  ],
  [
    'a step-up more',
    asking(finance),
    decision({ approvals: [finance], reauth }),
    ['asks for a step-up as well'],
  ],
  [
    'a step-up less',
    decision({ approvals: [finance], reauth }),
    asking(finance),
    ['no longer asks for a step-up'],
  ],
  [
    'a stricter step-up',
    decision({ approvals: [], reauth }),
    decision({ approvals: [], reauth: { withinSeconds: null } }),
    ['accepts a step-up only for this request instead of a step-up of the last 5m'],
  ],
])('%s', (_, before, now, phrases) => {
  expect(changedRequirements(before, now)).toEqual(phrases);
});

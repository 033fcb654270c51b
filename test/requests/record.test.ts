// A decided request into its row: what is written in a hurry is what JSON.stringify would write.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type RequestRecord, requestRecord, requestRow } from '../../src/requests/record.ts';
import { engineVersions } from '../../src/requests/versions.ts';

const json = fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue({ noUnicodeString: false }), {
  noNullPrototype: true,
  maxKeys: 4,
});
const agents = ['a', 'b'].map((id) => ({
  ...{ id, name: `"${id}\\`, risk_tier: 'low' as const, control_owner: '\u2028', tags: ['é'] },
}));
const satisfied = { escalate: [], reauth: [] };
const meters = {};
const policySet = { digest: 'd', commit: null };

const record: fc.Arbitrary<RequestRecord> = fc.record({
  id: fc.uuid(),
  agentId: fc.string(),
  actionKey: fc.string(),
  createdAtMs: fc.nat(),
  idempotency: fc.constant(null),
  status: fc.constantFrom('auto_approved' as const, 'pending' as const),
  decidedAtMs: fc.option(fc.nat()),
  expiresAtMs: fc.nat(),
  payload: json as fc.Arbitrary<RequestRecord['payload']>,
  agent: fc.constantFrom(...agents),
  request: fc.record({ ip: fc.string(), signed: fc.boolean() }),
  meters: fc.constant(meters),
  satisfied: fc.constant(satisfied),
  decision: json.map((rest) => ({ ...rest, outcome: 'ALLOW' }) as unknown as RequestRecord['decision']),
  trace: fc.array(json) as unknown as fc.Arbitrary<RequestRecord['trace']>,
  policySet: fc.constantFrom(policySet, { digest: 'e', commit: 'c' }),
  engine: fc.constant(engineVersions),
  key: fc.record({ id: fc.string(), isReplaced: fc.boolean() }),
  isSigned: fc.boolean(),
  clientAddress: fc.string(),
  timing: fc.record({ decideMicroseconds: fc.nat() }),
});

test('law: the row holds what JSON.stringify would write of all that is not a column', () => {
  fc.assert(
    fc.property(record, (each) => {
      const { id, agentId, actionKey, createdAtMs, idempotency, status, decidedAtMs, expiresAtMs, ...kept } =
        each;
      const row = requestRow(each);
      expect(JSON.parse(row.recordJson)).toEqual(JSON.parse(JSON.stringify(kept)));
      expect(row.recordJson).toHaveLength(JSON.stringify(kept).length);
      expect(row).toMatchObject({
        id,
        agentId,
        actionKey,
        createdAtMs,
        idempotency,
        status,
        decidedAtMs,
        expiresAtMs,
      });
      expect(requestRecord(row)).toEqual(JSON.parse(JSON.stringify(each)));
    }),
  );
});

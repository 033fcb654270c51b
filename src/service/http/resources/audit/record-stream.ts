// GET /v1/audit/stream: how far a SIEM has the records, and what is wrong with the stream.

import { isoTime } from '../../../../language/value/iso-time.ts';
import type { RecordStream } from '../../../siem/record-stream.ts';
import { siemFormats } from '../../../siem/siem-settings.ts';
import type { SiemStatus } from '../../../siem/status.ts';
import type { JsonSchema } from '../../contract/operation.ts';
import { objectSchema, text, time, timeOrNull } from '../../contract/schemas.ts';
import { type Route, route } from '../../routing/route.ts';

interface RecordStreamDeps {
  readonly recordStream: Pick<RecordStream, 'status'> | null;
}

const count: JsonSchema = { type: 'integer', minimum: 0 };

function orNull(schema: ReturnType<typeof objectSchema>): JsonSchema {
  return { ...schema, type: ['object', 'null'] };
}

const streamSchema = orNull(
  objectSchema({
    name: { ...text(300), description: 'The name by which the service remembers the position.' },
    receiver: { ...text(300), description: 'The host of the receiver.' },
    format: { type: 'string', enum: siemFormats },
    sequence: {
      type: ['integer', 'null'],
      minimum: 0,
      description: 'The last record that the receiver has; null before the stream has begun.',
    },
    last_sequence: { ...count, description: 'The sequence number of the last record.' },
    lacking: { ...count, description: 'The number of records that the receiver does not have yet, at most.' },
    lacking_since: { ...timeOrNull, description: 'When the first of these was made.' },
    delivered_at: { ...timeOrNull, description: 'When the receiver last took records.' },
    failure: orNull(objectSchema({ reason: text(400), since: time })),
    refused: orNull(objectSchema({ sequence: count, reason: text(400), since: time })),
    gap: orNull(objectSchema({ first_sequence: count, last_sequence: count, at: time })),
  }),
);

const streamExample = {
  name: 'siem',
  receiver: 'siem.example.com',
  format: 'ocsf',
  sequence: 1_180,
  last_sequence: 1_200,
  lacking: 20,
  lacking_since: '2026-03-02T10:00:00.000Z',
  delivered_at: '2026-03-02T10:00:00.000Z',
  failure: null,
  refused: null,
  gap: null,
};

const getRecordStream = route<RecordStreamDeps>({
  method: 'GET',
  url: '/v1/audit/stream',
  access: 'audit.view',
  operation: {
    id: 'getRecordStream',
    summary: 'The stream of records to a SIEM: its position, and what is wrong',
    description: 'The stream is null when the settings name no receiver.',
    replies: {
      200: {
        description: 'The stream',
        schema: objectSchema({ stream: streamSchema }),
        example: { stream: streamExample },
      },
    },
  },
  handle: async ({ recordStream }) => ({
    stream: recordStream === null ? null : shown(await recordStream.status()),
  }),
});

function shown({ failure, refused, gap, ...status }: SiemStatus) {
  const at = (ms: number | null) => (ms === null ? null : isoTime(ms));
  return {
    name: status.name,
    receiver: status.receiver,
    format: status.format,
    sequence: status.sequence,
    last_sequence: status.lastSequence,
    lacking: status.lacking,
    lacking_since: at(status.lackingSinceMs),
    delivered_at: at(status.deliveredAtMs),
    failure: failure === null ? null : { reason: failure.reason, since: isoTime(failure.sinceMs) },
    refused:
      refused === null
        ? null
        : { sequence: refused.sequence, reason: refused.reason, since: isoTime(refused.sinceMs) },
    gap:
      gap === null
        ? null
        : { first_sequence: gap.firstSequence, last_sequence: gap.sequence, at: isoTime(gap.atMs) },
  };
}

export const recordStreamRoutes: readonly Route<RecordStreamDeps>[] = [getRecordStream];

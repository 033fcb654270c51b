// Compares the revocation messages that a receiver got with what was revoked and with the stored deliveries.

import type { Directory } from '../../../src/service/people/directory.ts';
import { type Delivery, listDeliveries } from '../../../src/service/webhooks/outbox.ts';
import type { Received } from '../../service/webhooks/service.ts';
import type { Stop } from './world.ts';

const messagesMax = 100_000;

interface Receiving {
  readonly webhookId: string;
  readonly received: readonly Received[];
  readonly stops: readonly Stop[];
}

export async function messageFaults(
  directory: Directory,
  { webhookId, received, stops }: Receiving,
): Promise<readonly string[]> {
  const page = { after: null, countMax: messagesMax };
  const messages = (await listDeliveries(directory, webhookId, page)).map(({ value }) => value);
  const about = Map.groupBy(messages, ({ body }) => subjectOf(body));
  const came = Map.groupBy(received, ({ headers }) => String(headers['webhook-id']));
  const revoked = stops.filter(({ kind }) => kind === 'revoked').map(({ subject }) => subject);
  return [
    ...revoked.flatMap((agent) => (about.has(agent) ? [] : [`nobody is told that ${agent} was revoked`])),
    ...[...about].flatMap(([agent, all]) =>
      all.length === 1 ? [] : [`${all.length} messages say that ${agent} was revoked`],
    ),
    ...messages.flatMap((message) => attemptFaults(message, came.get(message.id)?.length ?? 0)),
    ...[...came.keys()].flatMap((id) =>
      messages.some((message) => message.id === id) ? [] : [`message ${id} came and is not stored`],
    ),
  ];
}

function subjectOf(body: string): string {
  return (JSON.parse(body) as { readonly data: { readonly id: string } }).data.id;
}

/** Each attempt is claimed before it is made, so a message arrives at most as often as it was claimed. */
function attemptFaults({ id, attempts, status }: Delivery, count: number): readonly string[] {
  if (count > attempts) return [`message ${id} came ${count} times of ${attempts} attempts`];
  return status === 'delivered' && count === 0 ? [`message ${id} is delivered and did not come`] : [];
}

// The stream of records to the receiver that the settings name: what it sends, how it stands, and its life with the service.

import { randomUUID } from 'node:crypto';
import type { Shape } from '../../language/model/type.ts';
import type { Store } from '../store/contract/store.ts';
import { createDestination } from './destination.ts';
import { eventOf } from './events/event.ts';
import { allowedFields } from './events/payload-fields.ts';
import { createPusher, type Pusher, type PusherDeps } from './pusher.ts';
import type { SiemSettings } from './siem-settings.ts';
import { createSiemStatus, type ReadSiemStatus } from './status.ts';

export interface RecordStream extends Pick<Pusher, 'start' | 'counts' | 'close'> {
  readonly status: ReadSiemStatus;
}

export interface RecordStreamDeps {
  readonly settings: SiemSettings;
  readonly store: Pick<Store, 'chain' | 'documents' | 'replicas'>;
  readonly clock: () => number;
  /** The shape of an action's payload by the active policies; null when they do not declare the action. */
  readonly shapeOf: (action: string) => Shape | null;
  /** The version of Writ. */
  readonly version: string;
  /** The name of this machine. */
  readonly host: string;
  readonly log: PusherDeps['log'];
}

/** Throws an error of the system when a certificate cannot be read. */
export function createRecordStream(deps: RecordStreamDeps): RecordStream {
  const { settings, store, clock, shapeOf, version, host, log } = deps;
  const pusher = createPusher({
    ...settings,
    store,
    clock,
    destination: createDestination(settings, { version, host, now: clock }),
    eventOf: (record) =>
      eventOf(record, (action, payload) => allowedFields(payload, settings.payloadFields, shapeOf(action))),
    holder: randomUUID(),
    isShared: store.replicas !== null,
    log,
  });
  return {
    start: pusher.start,
    counts: pusher.counts,
    close: pusher.close,
    status: createSiemStatus(store, settings),
  };
}

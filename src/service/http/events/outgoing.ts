// Puts together all that the service sends by itself: webhooks, e-mail, and what feeds them. Sending begins
// when the service listens, and ends with the service.

import { createDirectory } from '../../people/directory.ts';
import type { PolicyHost } from '../../policies/policy-host.ts';
import type { RequestEvents } from '../../requests/record/request-events.ts';
import type { Store } from '../../store/contract/store.ts';
import { createDispatcher, type DeliveryTracing, type Dispatcher } from '../../webhooks/dispatch.ts';
import { createMailer, type MailCounts } from '../../webhooks/mail.ts';
import { followRevocations } from '../../webhooks/revocations.ts';
import type { AccessEvents } from './access-messages.ts';
import { type AssignmentEvents, createAssignmentEvents } from './assignment-messages.ts';
import { createEventMessages, type EventMessages } from './event-messages.ts';
import { createStandInEvents, type StandInEvents } from './stand-in-messages.ts';

export interface SmtpOptions {
  readonly url: string;
  readonly from: string;
}

export interface OutgoingDeps {
  readonly store: Store;
  readonly policies: Pick<PolicyHost, 'onChange'>;
  readonly requests: RequestEvents;
  readonly clock: () => number;
  readonly publicUrl: string;
  readonly arePrivateAddressesAllowed: boolean;
  readonly smtp: SmtpOptions | null;
  readonly log: { warn(fields: object, message: string): void };
  /** Traces deliveries; null when nothing is traced. */
  readonly tracing: DeliveryTracing | null;
}

export interface OutgoingMessages {
  readonly dispatcher: Dispatcher;
  readonly access: AccessEvents;
  readonly assignments: AssignmentEvents;
  readonly standIns: StandInEvents;
  readonly alertMessages: EventMessages['alertMessages'];
  readonly standingMessages: EventMessages['standingMessages'];
  /** Null without a mail server. */
  readonly mailCounts: (() => MailCounts) | null;
  start(): void;
  close(): Promise<void>;
}

export function createOutgoing(deps: OutgoingDeps): OutgoingMessages {
  const { store, clock, publicUrl, arePrivateAddressesAllowed, smtp, log } = deps;
  const directory = createDirectory(store.documents, clock);
  const onFailure = (err: unknown): void => log.warn({ err }, 'could not send a webhook message or e-mail');
  const dispatcher = createDispatcher({
    directory,
    masterKey: store.masterKey,
    arePrivateAddressesAllowed,
    onFailure,
    tracing: deps.tracing,
    follow: followRevocations({ directory, chain: store.chain, prepare: (one) => messages.revoked(one) }),
  });
  const mailer =
    smtp === null
      ? null
      : createMailer({ ...smtp, onFailure: (err) => log.warn({ err }, 'could not send an e-mail') });
  const messages = createEventMessages({
    directory,
    publicUrl,
    dispatcher,
    mailer,
    onFailure,
    controlOwnerOf: async (agentId) => (await store.agents.find(agentId))?.controlOwner ?? null,
  });
  messages.follow(deps.requests, deps.policies);
  return {
    dispatcher,
    access: messages,
    assignments: createAssignmentEvents({ publicUrl, mailer }),
    standIns: createStandInEvents({ directory, publicUrl, mailer, onFailure }),
    alertMessages: messages.alertMessages,
    standingMessages: messages.standingMessages,
    mailCounts: mailer?.counts ?? null,
    start: () => dispatcher.start(),
    close: async () => void (await Promise.all([dispatcher.close(), mailer?.close()])),
  };
}

// What the parts of the service use to send messages to the outside.

import type { Directory } from '../../people/directory.ts';
import type { Dispatcher } from '../../webhooks/dispatch.ts';
import type { Mailer } from '../../webhooks/mail.ts';

export interface NewsDeps {
  readonly directory: Directory;
  /** The address at which people reach the service, without a path. */
  readonly publicUrl: string;
  readonly dispatcher: Pick<Dispatcher, 'emit' | 'prepare'>;
  /** Sends mail; null when no mail server is configured. */
  readonly mailer: Pick<Mailer, 'post'> | null;
  readonly onFailure: (error: unknown) => void;
  /** E-mail address or id of the agent's control owner; null when there is no such agent. */
  readonly controlOwnerOf: (agentId: string) => Promise<string | null>;
}

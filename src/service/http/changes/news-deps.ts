// What everybody works with who tells the outside something.

import type { Directory } from '../../people/directory.ts';
import type { Dispatcher } from '../../webhooks/dispatch.ts';
import type { Mailer } from '../../webhooks/mail.ts';

export interface NewsDeps {
  readonly directory: Directory;
  /** Where people reach the service, without a path. */
  readonly publicUrl: string;
  readonly dispatcher: Pick<Dispatcher, 'emit' | 'prepare'>;
  /** Null where no server is configured. */
  readonly mailer: Pick<Mailer, 'post'> | null;
  readonly onFailure: (error: unknown) => void;
  /** Address or id of the agent's control owner; null where there is no such agent. */
  readonly controlOwnerOf: (agentId: string) => Promise<string | null>;
}

// Puts the proxy between clients and one server together from its parts.

import { randomUUID } from 'node:crypto';
import type { Server } from 'node:http';
import type { Readable, Writable } from 'node:stream';
import { type Authority, createServiceAuthority } from './calls/authority.ts';
import { type Conversation, createConversation } from './calls/conversation.ts';
import { createGate, type Gate, type GateSettings } from './calls/gate.ts';
import { createHttpFront } from './clients/http-front.ts';
import { serveStdio } from './clients/stdio-front.ts';
import type { Id, Message } from './protocol/messages.ts';
import { type Catalogue, createCatalogue } from './review/catalogue.ts';
import type { PossibleActions } from './review/lists.ts';
import { startServer } from './servers/child-upstream.ts';
import { connectServer } from './servers/http-upstream.ts';
import { type OpenUpstream, shareUpstream } from './servers/shared-upstream.ts';

/** How the server is reached: by a command that the proxy starts, or at an address. */
export type ServerPlace =
  | { readonly kind: 'command'; readonly command: readonly string[]; readonly environment: NodeJS.ProcessEnv }
  | { readonly kind: 'url'; readonly url: URL; readonly headers: Readonly<Record<string, string>> };

export interface ProxySettings extends GateSettings {
  /** The address of the service. */
  readonly service: string;
  /**
   * The agent that an enforcement point asks for, when the proxy's own key is that of an enforcement point;
   * null with an agent's key.
   */
  readonly agent: string | null;
  /** The session of all conversations; null when each conversation is a session of its own. */
  readonly session: string | null;
  readonly areReceiptsSent: boolean;
  readonly server: ServerPlace;
}

export interface StdioProxy {
  readonly settings: ProxySettings;
  /** The key of an agent, or of an enforcement point. */
  readonly key: string;
  readonly input: Readable;
  readonly output: Writable;
  readonly onEnd: () => void;
}

export function runStdioProxy({ settings, key, input, output, onEnd }: StdioProxy): void {
  const parts = { settings, gate: createGate(settings), open: openServer(settings.server, settings.warn) };
  const [authority, catalogue] = [
    authorityOf(settings, { key, agent: settings.agent }),
    createCatalogue(settings),
  ];
  serveStdio({
    input,
    output,
    onEnd,
    open: (toClient) => converse(parts, { authority, catalogue, caller: 'stdio', toClient, onEnd }),
  });
}

export interface HttpProxy {
  readonly settings: ProxySettings;
  /** The key for clients that bring none; null when each client has to bring its own. */
  readonly sharedKey: string | null;
  readonly origins: readonly string[];
  readonly hosts: readonly string[];
}

/** Makes the HTTP server of the proxy, which does not listen yet. */
export function createHttpProxy({ settings, ...front }: HttpProxy): Server {
  const gate = createGate(settings);
  const open = openServer(settings.server, settings.warn);
  const forAll = settings.server.kind === 'command' ? shareUpstream(open) : open;
  return createHttpFront({
    ...front,
    gate,
    warn: settings.warn,
    // A client with a key of its own asks as itself.
    authorityOf: (key) =>
      authorityOf(settings, { key, agent: key === front.sharedKey ? settings.agent : null }),
    openConversation: (options) =>
      converse({ settings, gate, open: options.era === 'sessions' ? open : forAll }, options),
  });
}

/** Returns a function that opens a connection to the server for each conversation. */
export function openServer(server: ServerPlace, warn: (line: string) => void): OpenUpstream {
  if (server.kind === 'command') return (events) => startServer({ ...events, ...server, warn });
  return (events, schemaOf) => connectServer({ ...server, schemaOf }, events);
}

interface ConverseParts {
  readonly settings: ProxySettings;
  readonly gate: Gate;
  readonly open: OpenUpstream;
}

interface ConverseOptions {
  readonly authority: Authority;
  readonly catalogue: Catalogue;
  readonly caller: string;
  readonly toClient: (message: Message, relatedTo: Id | null, status?: number) => void;
  readonly onEnd: () => void;
}

function converse({ settings, gate, open }: ConverseParts, options: ConverseOptions): Conversation {
  const { authority, catalogue, caller, toClient, onEnd } = options;
  const upstream = open(
    {
      onMessage: (message, relatedTo, status) => conversation.fromServer(message, relatedTo, status),
      onEnd(why) {
        conversation.serverEnded(why);
        onEnd();
      },
    },
    catalogue.schemaOf,
  );
  const conversation = createConversation({
    gate,
    caller: { id: caller, authority },
    catalogue,
    possible: possibleOf(settings, authority),
    upstream,
    toClient,
  });
  return conversation;
}

interface AskedWith {
  readonly key: string;
  readonly agent: string | null;
}

function authorityOf(settings: ProxySettings, { key, agent }: AskedWith): Authority {
  return createServiceAuthority({
    url: settings.service,
    credential: { key, ...(agent === null ? {} : { agent }) },
    session: settings.session ?? `mcp-${randomUUID()}`,
    receiptsFor: settings.areReceiptsSent ? settings.as : null,
  });
}

/**
 * Which actions are possible. A lock file may name actions outside of the server's prefix; then all actions
 * are fetched.
 */
function possibleOf({ as, locked }: ProxySettings, authority: Authority): PossibleActions {
  const actions = Object.values(locked?.tools ?? {}).map(({ action }) => action);
  const prefix = actions.every((action) => action.startsWith(`${as}.`)) ? `${as}.` : '';
  return async () => {
    const all = await authority.possible(prefix);
    return new Map(all.map(({ action, possible }) => [action, possible]));
  };
}

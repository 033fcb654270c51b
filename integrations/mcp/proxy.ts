// Puts the proxy between clients and one server together from its parts.

import type { Server } from 'node:http';
import type { Readable, Writable } from 'node:stream';
import type { KeySource } from '../typescript/credential.ts';
import { type Authority, createServiceAuthority, sessionOf } from './calls/authority.ts';
import { type Conversation, createConversation } from './calls/conversation.ts';
import { createGate, type Gate, type GateSettings } from './calls/gate.ts';
import { createHttpFront } from './clients/http-front.ts';
import { createSlotPool, type Slot, type SlotLimits, type SlotPool } from './clients/slot-pool.ts';
import { readLines } from './protocol/lines.ts';
import { type Id, type Message, readFromClient, writeMessage } from './protocol/messages.ts';
import { type Catalogue, createCatalogue } from './review/catalogue.ts';
import type { PossibleActions } from './review/lists.ts';
import { startServer } from './servers/child-upstream.ts';
import { connectServer } from './servers/http-upstream.ts';
import { withRestarts } from './servers/restarts.ts';
import { type OpenUpstream, type SharedUpstream, shareUpstream } from './servers/shared-upstream.ts';

/** How the server is reached: by a command that the proxy starts, or at an address. */
export type ServerTarget =
  | { readonly kind: 'command'; readonly command: readonly string[]; readonly environment: NodeJS.ProcessEnv }
  | {
      readonly kind: 'url';
      readonly url: URL;
      readonly headers: Readonly<Record<string, string>>;
      /** How long the server may send nothing while a request waits for its answer; ten minutes by default. */
      readonly silenceMsMax?: number;
    };

export interface ProxySettings extends GateSettings {
  /** The address of the service. */
  readonly service: string;
  /**
   * The agent that an enforcement point asks for, when the proxy's own key is that of an enforcement point;
   * null with an agent's key.
   */
  readonly agent: string | null;
  /** The session of all conversations; null when each caller has one session. */
  readonly session: string | null;
  readonly areReceiptsSent: boolean;
  readonly server: ServerTarget;
}

export interface StdioProxy {
  readonly settings: ProxySettings;
  /** The key of an agent or of an enforcement point, or the token of a workload. */
  readonly key: KeySource;
  readonly input: Readable;
  readonly output: Writable;
  /** Called when the client has ended, with null, or when the server has, with why. */
  readonly onEnd: (why: string | null) => void;
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
    onEnd: () => onEnd(null),
    open: (toClient) => converse(parts, { authority, catalogue, caller: 'stdio', toClient, onEnd }),
  });
}

export interface HttpProxy {
  readonly settings: ProxySettings;
  /** The key for clients that bring none; null when each client has to bring its own. */
  readonly sharedKey: string | null;
  readonly origins: readonly string[];
  readonly hosts: readonly string[];
  readonly limits: SlotLimits;
}

/** Makes the HTTP server of the proxy, which does not listen yet. */
export function createHttpProxy({ settings, limits, ...front }: HttpProxy): Server {
  const gate = createGate(settings);
  const slots = createSlotPool(limits);
  const servers = createServers(settings, slots);
  const server = createHttpFront({
    ...front,
    gate,
    slots,
    warn: settings.warn,
    // A client with a key of its own asks as itself.
    authorityOf: (key) =>
      authorityOf(settings, { key, agent: key === front.sharedKey ? settings.agent : null }),
    openConversation: (options) => converse({ settings, gate, open: servers.of(options) }, options),
  });
  server.on('close', servers.end);
  return server;
}

interface Servers {
  /** Opens connections to the server for one conversation of a caller. */
  of(conversation: { readonly caller: string; readonly era: 'sessions' | 'stateless' }): OpenUpstream;
  end(): void;
}

/**
 * The servers of all callers. A server that the proxy starts is started for one caller: once for each of its sessions,
 * and once for all its requests of the stateless era. So no caller meets what a server keeps of another.
 */
function createServers({ server, warn }: ProxySettings, slots: SlotPool): Servers {
  const ofCallers = new Map<string, { readonly own: OpenUpstream; readonly shared: SharedUpstream }>();
  const serversOf = (caller: string) => {
    const servers = ofCallers.get(caller);
    if (servers !== undefined) return servers;
    const dedicated = withRestarts(openServer(server, warn));
    let usedMs = Date.now();
    const slot: Slot = {
      caller,
      idleSinceMs: () => (shared.isBusy() ? null : usedMs),
      end: () => shared.end(),
    };
    const shared = shareUpstream(dedicated, {
      onStart: () => slots.take(slot),
      onUse() {
        usedMs = Date.now();
      },
      onEnd: () => slots.leave(slot),
    });
    const made = { own: dedicated, shared };
    ofCallers.set(caller, made);
    for (const [one, { shared: idle }] of ofCallers) {
      if (ofCallers.size <= callersMax) break;
      if (!idle.isRunning()) ofCallers.delete(one);
    }
    return made;
  };
  return {
    of({ caller, era }) {
      if (server.kind === 'url') return openServer(server, warn);
      const { own, shared } = serversOf(caller);
      return era === 'sessions' ? own : shared.open;
    },
    end() {
      for (const { shared } of ofCallers.values()) shared.end();
    },
  };
}

/** The most callers whose servers are remembered while they do not run. */
const callersMax = 1_000;

/** Returns a function that opens a connection to the server for each conversation. */
export function openServer(server: ServerTarget, warn: (line: string) => void): OpenUpstream {
  if (server.kind === 'command') return (events) => startServer({ ...events, ...server, warn });
  const { silenceMsMax = silenceMsMaxDefault } = server;
  return (events, schemaOf) => connectServer({ ...server, silenceMsMax, schemaOf }, events);
}

const silenceMsMaxDefault = 600_000;

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
  /** Called when the server has ended, with why. */
  readonly onEnd: (why: string) => void;
}

function converse({ settings, gate, open }: ConverseParts, options: ConverseOptions): Conversation {
  const { authority, catalogue, caller, toClient, onEnd } = options;
  const upstream = open(
    {
      onMessage: (message, relatedTo, status) => conversation.fromServer(message, relatedTo, status),
      onEnd(why) {
        conversation.serverEnded(why);
        onEnd(why);
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

interface CallerCredential {
  readonly key: KeySource;
  readonly agent: string | null;
}

function authorityOf(settings: ProxySettings, { key, agent }: CallerCredential): Authority {
  const credential = { key, ...(agent === null ? {} : { agent }) };
  return createServiceAuthority({
    url: settings.service,
    credential,
    session: settings.session ?? sessionOf(credential),
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
    return new Map(all.map(({ action, grant }) => [action, grant]));
  };
}

// Serves a client that has started this process and speaks over its standard streams: one conversation, until
// either side ends.

export interface StdioFront {
  readonly input: Readable;
  readonly output: Writable;
  /** Opens the conversation; called once, with a function that sends to the client. */
  readonly open: (toClient: (message: Message) => void) => Conversation;
  readonly onEnd: () => void;
}

function serveStdio({ input, output, open, onEnd }: StdioFront): void {
  const write = (message: Message) => {
    output.write(`${writeMessage(message)}\n`);
  };
  const conversation = open(write);
  output.on('error', onEnd);
  readLines(input, {
    onLine(line) {
      const read = readFromClient(line);
      if (read.ok) conversation.fromClient(read.message);
      else write(read.answer);
    },
    onEnd() {
      conversation.close();
      onEnd();
    },
  });
}

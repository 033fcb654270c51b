// Passes messages between one client and one server, with the gate between them. A request that is decided
// waits for its decision; all other messages pass in the order in which they came. INVARIANT: a request that
// is decided reaches the server through `forward` or `ask` alone, and each of them takes a grant.

import type { AllowedDecision } from '../../typescript/client.ts';
import {
  errorAnswer,
  errorCodes,
  type Id,
  isRequest,
  isResponse,
  type JsonObject,
  type Message,
  member,
  type RpcNotification,
  type RpcRequest,
  type RpcResponse,
} from '../protocol/messages.ts';
import { isForwarded } from '../protocol/targets.ts';
import type { Catalogue } from '../review/catalogue.ts';
import { filteredListing, type PossibleActions } from '../review/lists.ts';
import { type AnsweredCall, reportedResult } from './call-results.ts';
import { answerRequest, withoutProgress, withReceipt } from './client-requests.ts';
import type { Caller, Gate } from './gate.ts';
import type { CallSurroundings } from './guarded-call.ts';
import { createQuestions, type Questions } from './questions.ts';
import { withGrantState } from './resumed-calls.ts';
import { followTask } from './task-requests.ts';

/** The server's side of a conversation. */
export interface Upstream {
  /** Sends a message to the server. Throws when it is certain that nothing was sent. */
  send(message: Message): void;
  close(): void;
}

export interface ConversationParts {
  readonly gate: Gate;
  readonly caller: Caller;
  readonly catalogue: Catalogue;
  readonly possible: PossibleActions;
  readonly upstream: Upstream;
  /**
   * Sends a message to the client; `relatedTo` is the request that the message belongs to, or null when
   * unknown.
   */
  readonly toClient: (message: Message, relatedTo: Id | null, status?: number) => void;
}

export interface Conversation {
  /**
   * Takes a message of the client. `onBehalfOf` is the token of the person on whose behalf the client asks.
   */
  fromClient(message: Message, onBehalfOf?: string): void;
  /**
   * Takes a message of the server. `relatedTo` is the request that the message belongs to, or null when
   * unknown.
   */
  fromServer(message: Message, relatedTo: Id | null, status?: number): void;
  /** The client no longer waits for the answer to this request. */
  abandon(id: Id): void;
  /** The server is gone: each request that waits for its answer gets an error. */
  serverEnded(why: string): void;
  close(): void;
}

/** A request of the client that was sent to the server and has no answer yet. */
interface InFlight {
  readonly request: RpcRequest;
  readonly grant: AllowedDecision | null;
}

/** The inner state and operations of a conversation. */
export interface OpenConversation extends ConversationParts, CallSurroundings {
  readonly inFlight: Map<Id, InFlight>;
  /** Requests for which no message has been sent to the server yet. */
  readonly held: Map<Id, AbortController>;
  readonly toServerQuestions: Questions;
  readonly toClientQuestions: Questions;
  /** The capabilities that the client named when the session began. */
  initialized: JsonObject;
  /** Why the server is gone; null while it is there. */
  ended: string | null;
  askServer(method: string, params: JsonObject): Promise<RpcResponse>;
  /** Sends a request to the server without a decision, or under a grant from an earlier decision. */
  pass(request: RpcRequest, grant: AllowedDecision | null): void;
}

export function createConversation(parts: ConversationParts): Conversation {
  const open = openConversation(parts);
  const { gate, caller } = parts;
  return {
    fromClient(message, onBehalfOf) {
      if (isRequest(message)) answerRequest(open, message, onBehalfOf);
      else if (!gate.serverTasks.areOwn(caller.id, message)) return;
      else if (!isResponse(message)) passNotification(open, message);
      else if (!open.toClientQuestions.settle(message)) sendSilently(open, message);
    },
    fromServer(message, relatedTo, status) {
      if (!isResponse(message)) {
        if (!gate.serverTasks.areOwn(caller.id, message)) return refuseForeign(open, message);
        if (message.method === 'notifications/tools/list_changed') open.catalogue.forget();
        open.toClient(message, relatedTo);
      } else if (!open.toServerQuestions.settle(message)) void takeResponse(open, message, status);
    },
    abandon: (id) => stopWaiting(open, id),
    serverEnded: (why) => endServer(open, why),
    close() {
      for (const stop of open.held.values()) stop.abort();
      open.held.clear();
      for (const { grant } of open.inFlight.values()) void report(open, grant);
      open.upstream.close();
    },
  };
}

function openConversation(parts: ConversationParts): OpenConversation {
  const { gate, upstream } = parts;
  const { prefix } = gate.settings;
  const open: OpenConversation = {
    ...parts,
    inFlight: new Map(),
    held: new Map(),
    toServerQuestions: createQuestions(),
    toClientQuestions: createQuestions(),
    initialized: {},
    ended: null,
    answer(response) {
      if (response.id !== null) open.held.delete(response.id);
      open.toClient(response, response.id);
    },
    forward: (request, grant) => send(open, withReceipt(request, grant, prefix), grant),
    pass(request, grant) {
      try {
        send(open, request, grant);
      } catch (error) {
        open.answer(errorAnswer(request.id, errorCodes.internal, (error as Error).message));
      }
    },
    async ask(request, grant) {
      const { method, params = {} } = withReceipt(request, grant, prefix);
      try {
        const first = await open.askServer(method, withoutProgress(params));
        const response = await followTask(open.askServer, first, params);
        await report(open, grant, { request, response });
        return response;
      } catch (error) {
        void report(open, grant);
        throw error;
      }
    },
    askServer(method, params) {
      if (open.ended !== null) return Promise.reject(new Error(open.ended));
      return open.toServerQuestions.ask(upstream.send, method, params);
    },
    askClient: (method, params, relatedTo) =>
      open.toClientQuestions.ask((message) => open.toClient(message, relatedTo), method, params),
    notify: (method, params, relatedTo) => open.toClient({ jsonrpc: '2.0', method, params }, relatedTo),
  };
  return open;
}

function send(open: OpenConversation, request: RpcRequest, grant: AllowedDecision | null): void {
  if (open.ended !== null) throw new Error(open.ended);
  open.held.delete(request.id);
  open.inFlight.set(request.id, { request, grant });
  try {
    open.upstream.send(request);
  } catch (error) {
    open.inFlight.delete(request.id);
    throw error;
  }
}

/** Keeps a message of the server about another caller's task from the client. */
function refuseForeign(open: OpenConversation, message: Message): void {
  if (isRequest(message))
    sendSilently(open, errorAnswer(message.id, errorCodes.invalidParams, 'the client has no such task'));
}

function passNotification(open: OpenConversation, message: RpcNotification): void {
  const { method, params } = message;
  const abandoned = method === 'notifications/cancelled' ? member(params, 'requestId') : undefined;
  if (open.held.has(abandoned as Id)) {
    stopWaiting(open, abandoned as Id);
    return;
  }
  forgetSent(open, abandoned as Id);
  if (isForwarded(method) || open.gate.settings.pass.has(method)) sendSilently(open, message);
}

/** Forgets a sent request that nobody waits for any more; its answer may never come. */
function forgetSent(open: OpenConversation, id: Id): void {
  const sent = open.inFlight.get(id);
  if (sent === undefined) return;
  open.inFlight.delete(id);
  void report(open, sent.grant);
}

/** Ends the wait of a request. A client that has left gets no answer. */
function stopWaiting(open: OpenConversation, id: Id): void {
  open.held.get(id)?.abort();
  open.held.delete(id);
}

function sendSilently(open: OpenConversation, message: Message): void {
  try {
    open.upstream.send(message);
  } catch {
    // Nobody waits for a reply, so nobody needs to know of the error.
  }
}

async function takeResponse(open: OpenConversation, response: RpcResponse, status?: number): Promise<void> {
  const waiting = response.id === null ? undefined : open.inFlight.get(response.id);
  // A response without a waiting request is dropped.
  if (waiting === undefined || response.id === null) return;
  open.inFlight.delete(response.id);
  const { request, grant } = waiting;
  const { serverTasks } = open.gate;
  serverTasks.note(open.caller.id, request, response);
  if (request.method === 'tasks/list')
    return open.toClient(serverTasks.listed(open.caller.id, response), response.id, status);
  if (grant === null)
    return open.toClient(await filteredListing(response, request, open), response.id, status);
  const isAsking = response.result?.resultType === 'input_required';
  // A result that policies read is on record before the model sees it.
  if (!isAsking) await report(open, grant, { request, response });
  const reply = isAsking ? withGrantState(open.gate, open.caller, { request, grant, response }) : response;
  open.toClient(reply, response.id, status);
}

function endServer(open: OpenConversation, why: string): void {
  if (open.ended !== null) return;
  open.ended = why;
  for (const [id, { grant }] of open.inFlight) {
    void report(open, grant);
    const doubt = grant === null ? '' : ' while the call ran: whether it was carried out is not known';
    open.toClient(errorAnswer(id, errorCodes.internal, `${why}${doubt}`), id);
  }
  open.inFlight.clear();
  for (const [id, stop] of open.held) {
    stop.abort();
    open.toClient(errorAnswer(id, errorCodes.internal, `${why}: the call was not carried out`), id);
  }
  open.held.clear();
  open.toServerQuestions.end(why);
}

/**
 * Reports a grant as used: the call was sent, whatever came back. Resolves when a declared result is on
 * record or cannot be reported, and at once when none is declared.
 */
async function report(
  { caller, gate }: OpenConversation,
  grant: AllowedDecision | null,
  answered: AnsweredCall | null = null,
): Promise<void> {
  if (grant === null) return;
  const read = answered === null ? undefined : reportedResult(grant, answered, gate.settings);
  const result = read instanceof Promise ? await read : read;
  const reporting = caller.authority.report(grant.requestId, true, result);
  if (result !== undefined) await reporting;
}

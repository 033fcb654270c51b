// Handles each request of a client: decides it, answers it in the proxy, forwards it, or refuses it as
// unknown.

import type { AllowedDecision } from '../../typescript/client.ts';
import { abilitiesOf, eraOf } from '../protocol/eras.ts';
import {
  errorAnswer,
  errorCodes,
  isObject,
  type JsonObject,
  member,
  type RpcRequest,
  resultAnswer,
} from '../protocol/messages.ts';
import { isForwarded, subscribedUris, type Target, targetOf } from '../protocol/targets.ts';
import { reservedNames } from '../review/catalogue.ts';
import { listTools } from '../review/lists.ts';
import type { AskingOptions } from './authority.ts';
import type { OpenConversation } from './conversation.ts';
import { guardCall } from './guarded-call.ts';
import { answerPlan, planToolName } from './plan-call.ts';
import { unavailableAnswer, unknownToolAnswer } from './refusals.ts';
import { resumed } from './resumed-calls.ts';
import { answerTaskRequest, unknownTask } from './task-requests.ts';

export function answerRequest(
  open: OpenConversation,
  request: RpcRequest,
  onBehalfOf: string | undefined,
): void {
  const { id, method, params } = request;
  if (open.inFlight.has(id) || open.held.has(id)) {
    open.toClient(errorAnswer(id, errorCodes.invalidRequest, 'the id is in use'), id);
    return;
  }
  if (!open.gate.serverTasks.areOwn(open.caller.id, request)) {
    open.answer(unknownTask(request));
    return;
  }
  if (isPlan(open, request)) {
    whileHeld(open, request, (signal) => plan(open, request, { signal, onBehalfOf }));
    return;
  }
  const target = isRemoved(method, params) ? null : targetOf(method, params);
  if (typeof target === 'string') open.answer(errorAnswer(id, errorCodes.invalidParams, target));
  else if (target !== null) answerDecided(open, request, { target, onBehalfOf });
  else answerOther(open, request, onBehalfOf);
}

function isPlan({ gate }: OpenConversation, { method, params }: RpcRequest): boolean {
  const isOffered = gate.settings.arePlansOffered === true;
  return isOffered && method === 'tools/call' && member(params, 'name') === planToolName;
}

async function plan(
  open: OpenConversation,
  request: RpcRequest,
  asking: Omit<AskingOptions, 'waitMs'>,
): Promise<void> {
  const { params = {} } = request;
  const actionOfStep = (target: Target) => actionOf(open, target, params);
  const surroundings = { authority: open.caller.authority, actionOf: actionOfStep };
  open.answer(await answerPlan(request, surroundings, asking));
}

interface ToDecide {
  readonly target: Target;
  /** The token of the person on whose behalf the client asks. */
  readonly onBehalfOf: string | undefined;
}

function answerDecided(open: OpenConversation, request: RpcRequest, toDecide: ToDecide): void {
  const again = resumed(open.gate, open.caller, request);
  if (again === null) whileHeld(open, request, (signal) => decide(open, request, { ...toDecide, signal }));
  else open.pass(again.request, again.grant);
}

function answerOther(open: OpenConversation, request: RpcRequest, onBehalfOf: string | undefined): void {
  const { id, method, params } = request;
  const uris = method === 'subscriptions/listen' ? subscribedUris(params) : [];
  if (method === 'tools/list') whileHeld(open, request, () => tellTools(open, request));
  else if (uris.length > 0)
    whileHeld(open, request, (signal) => subscribe(open, request, { uris, signal, onBehalfOf }));
  else if (method.startsWith('tasks/') && answerTaskRequest(request, open)) return;
  else if (isRemoved(method, params) || !(isForwarded(method) || open.gate.settings.pass.has(method)))
    open.answer(errorAnswer(id, errorCodes.methodNotFound, `unknown method: ${method}`));
  else {
    const capabilities = member(params, 'capabilities');
    if (method === 'initialize' && isObject(capabilities)) open.initialized = capabilities;
    open.pass(request, null);
  }
}

/**
 * Methods that the stateless era no longer has. Each of them changes how the server treats its connection, which
 * several requests of the stateless era share.
 */
const removed: ReadonlySet<string> = new Set([
  'initialize',
  'logging/setLevel',
  'resources/subscribe',
  'resources/unsubscribe',
]);

function isRemoved(method: string, params: JsonObject | undefined): boolean {
  return removed.has(method) && eraOf(params) === 'stateless';
}

/** Runs `work` while the request is held; the client may leave meanwhile. */
function whileHeld(
  open: OpenConversation,
  request: RpcRequest,
  work: (signal: AbortSignal) => Promise<void>,
): void {
  const stop = new AbortController();
  open.held.set(request.id, stop);
  work(stop.signal).catch((error: Error) => {
    if (!stop.signal.aborted) open.answer(unavailableAnswer(request, error.message));
  });
}

interface DecisionContext extends ToDecide {
  readonly signal: AbortSignal;
}

async function decide(
  open: OpenConversation,
  request: RpcRequest,
  { target, onBehalfOf, signal }: DecisionContext,
): Promise<void> {
  const { params = {} } = request;
  const action = await actionOf(open, target, params);
  if (typeof action !== 'string') {
    open.answer(unknownToolAnswer(request, action.why));
    return;
  }
  const abilities = abilitiesOf(params, open.initialized);
  await guardCall({ request, action, payload: target.payload, abilities, signal, onBehalfOf }, open);
}

type NoAction = { readonly why: string };

/**
 * The action of a request. With a lock file, the reviewed tools decide which actions exist; otherwise the
 * service alone does.
 */
async function actionOf(
  open: OpenConversation,
  { kind, name }: Target,
  params: JsonObject,
): Promise<string | NoAction> {
  const { as, locked } = open.gate.settings;
  const isReserved = reservedNames.some((one) => one === name);
  if (kind === 'other' || (locked === null && !isReserved)) return `${as}.${name}`;
  if (isReserved) return { why: `unknown tool: ${name}` };
  const tool = await open.catalogue.find(open.askServer, ownParams(params), name);
  if (tool.kind === 'known') return tool.action;
  return { why: `${tool.kind === 'changed' ? 'changed since it was reviewed' : 'unknown tool'}: ${name}` };
}

async function tellTools(open: OpenConversation, request: RpcRequest): Promise<void> {
  const { id, params = {} } = request;
  if (params.cursor !== undefined) {
    open.answer(errorAnswer(id, errorCodes.invalidParams, 'there is one page'));
    return;
  }
  const listing = await open.catalogue.list(open.askServer, ownParams(params));
  open.answer(resultAnswer(id, await listTools(listing, open.possible, open.gate.settings)));
}

interface SubscriptionContext {
  readonly uris: readonly string[];
  readonly signal: AbortSignal;
  readonly onBehalfOf: string | undefined;
}

async function subscribe(
  open: OpenConversation,
  request: RpcRequest,
  { uris, ...asking }: SubscriptionContext,
): Promise<void> {
  const action = `${open.gate.settings.as}.resources.subscribe`;
  for (const uri of uris) {
    const decision = await open.caller.authority.decide(action, { uri }, { waitMs: 0, ...asking });
    if (decision.kind === 'allowed') continue;
    open.answer(errorAnswer(request.id, errorCodes.invalidParams, `not permitted: ${uri}`));
    return;
  }
  if (!asking.signal.aborted) open.pass(request, null);
}

/**
 * The parameters for a request of the proxy itself. About the client they hold only what every request of
 * that era must hold.
 */
function ownParams(params: JsonObject): JsonObject {
  const { _meta: meta } = withoutProgress(params);
  return eraOf(params) === 'sessions' || meta === undefined ? {} : { _meta: meta };
}

/** Adds the receipt, by which the server can check that this very call was granted. */
export function withReceipt(request: RpcRequest, { receipt }: AllowedDecision, prefix: string): RpcRequest {
  const { params = {} } = request;
  if (receipt === undefined) return request;
  const meta = isObject(params._meta) ? params._meta : {};
  return { ...request, params: { ...params, _meta: { ...meta, [`${prefix}writ-receipt`]: receipt } } };
}

/** Removes the progress token, because nobody follows the progress of the proxy's own requests. */
export function withoutProgress(params: JsonObject): JsonObject {
  if (!isObject(params._meta)) return params;
  const { progressToken: token, ...meta } = params._meta;
  return { ...params, _meta: meta };
}

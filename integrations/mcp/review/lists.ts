// Shows lists to the client without entries that the policies deny whatever the arguments are. INVARIANT: a
// tool is left out only when the service answers `never`, or does not know its action.

import type { PossibleAction } from '../../typescript/client.ts';
import type { Gate, GateSettings } from '../calls/gate.ts';
import { planTool } from '../calls/plan-call.ts';
import {
  errorAnswer,
  errorCodes,
  isObject,
  type JsonObject,
  member,
  type RpcRequest,
  type RpcResponse,
} from '../protocol/messages.ts';
import type { ToolListing } from './catalogue.ts';

/** Fetches what an agent can get, by action. */
export type PossibleActions = () => Promise<ReadonlyMap<string, PossibleAction['grant']>>;

export async function listTools(
  { envelope, tools }: ToolListing,
  possible: PossibleActions,
  settings: GateSettings,
): Promise<JsonObject> {
  const reach = await possible();
  const own = settings.arePlansOffered === true ? [planTool] : [];
  // A tool of the server with the name of the proxy's own cannot be called.
  const others = tools.filter(({ definition }) => own.every(({ name }) => name !== definition.name));
  const visible = others.flatMap(({ action, definition }) => {
    switch (reach.get(action)) {
      case 'possible':
        return [definition];
      case 'after_approval':
        return [asking(definition, settings.prefix)];
      default:
        return [];
    }
  });
  return { ...envelope, tools: [...visible, ...own] };
}

/** Marks a tool for which people will be asked, so that a planner can know. */
function asking(definition: JsonObject, prefix: string): JsonObject {
  const meta = isObject(definition._meta) ? definition._meta : {};
  return { ...definition, _meta: { ...meta, [`${prefix}writ-decision`]: { grant: 'after_approval' } } };
}

interface ListContext {
  readonly gate: Gate;
  readonly possible: PossibleActions;
}

/** For each list: the action that reads its entries, and the member that holds them. */
const otherLists: Readonly<Record<string, readonly [action: string, entries: string]>> = {
  'resources/list': ['resources.read', 'resources'],
  'resources/templates/list': ['resources.read', 'resourceTemplates'],
  'prompts/list': ['prompts.get', 'prompts'],
};

/** The server's response to a request that is not decided, in the form that the client may see. */
export async function filteredListing(
  response: RpcResponse,
  { method }: RpcRequest,
  parts: ListContext,
): Promise<RpcResponse> {
  const { result } = response;
  if (result === undefined) return response;
  if (method === 'initialize' || method === 'server/discover')
    return { ...response, result: introduced(result, parts.gate.settings) };
  const [action, entries] = otherLists[method] ?? [];
  if (action === undefined || entries === undefined) return response;
  try {
    const reach = (await parts.possible()).get(`${parts.gate.settings.as}.${action}`) ?? 'never';
    return reach === 'never' ? { ...response, result: { ...result, [entries]: [] } } : response;
  } catch (error) {
    const why = `authorization service unavailable: ${(error as Error).message}`;
    return errorAnswer(response.id, errorCodes.internal, why);
  }
}

/** Shows the reviewed instructions: a server's instructions to models are reviewed like its tools. */
function introduced(result: JsonObject, { locked, warn }: GateSettings): JsonObject {
  const live = member(result, 'instructions') ?? null;
  if (locked === null || live === locked.instructions) return result;
  warn('the instructions of the server have changed: the reviewed ones are shown');
  const { instructions, ...rest } = result;
  return locked.instructions === null ? rest : { ...rest, instructions: locked.instructions };
}

// What a server's tools are: read from the server, held against the lock file, and shown as they were reviewed. INVARIANT:
// where there is a lock file, no text of a definition reaches the client that does not stand in it.

import { isObject, type Json, type JsonObject, member, type RpcResponse } from '../protocol/messages.ts';
import { driftOf } from './definition.ts';
import type { LockedServer } from './lock.ts';

export type AskServer = (method: string, params: JsonObject) => Promise<RpcResponse>;

export type KnownTool =
  | { readonly kind: 'known'; readonly action: string; readonly definition: JsonObject }
  | { readonly kind: 'changed' }
  | { readonly kind: 'unknown' };

export interface Catalogue {
  /** The members of the server's answer beside the tools, and the tools as the client may see them. */
  list(ask: AskServer, params: JsonObject): Promise<Listing>;
  find(ask: AskServer, params: JsonObject, name: string): Promise<KnownTool>;
  /** The server has said that its tools are others now. */
  forget(): void;
  /** The input schema as the server gave it last; null where it is not known. */
  readonly schemaOf: (name: string) => JsonObject | null;
}

export interface Listing {
  readonly around: JsonObject;
  readonly tools: readonly { readonly action: string; readonly definition: JsonObject }[];
}

export interface CatalogueOptions {
  readonly as: string;
  readonly locked: LockedServer | null;
  /** Told once what differs from the review. */
  readonly warn: (line: string) => void;
}

/** What else is decided has these names behind the server's; a tool cannot have them. */
export const reservedNames = [
  'resources.read',
  'resources.subscribe',
  'prompts.get',
  'completion.complete',
] as const;

/** The server's answer could not be read as a list of tools. */
class UnreadableList extends Error {}

interface Live {
  readonly around: JsonObject;
  /** Null: a name that the list has twice. */
  readonly tools: ReadonlyMap<string, JsonObject | null>;
  readonly untilMs: number;
}

export function createCatalogue(options: CatalogueOptions): Catalogue {
  const { as, locked } = options;
  const warned = new Set<string>();
  const warn = (line: string) => {
    if (warned.size < warningsMax && !warned.has(line)) options.warn(line);
    warned.add(line);
  };
  let live: Live | null = null;
  let generation = 0;
  const read = async (ask: AskServer, params: JsonObject): Promise<Live> => {
    const begun = generation;
    const found = await readTools(ask, params);
    // A change that was told meanwhile makes the next one read again.
    live = begun === generation ? found : null;
    return found;
  };
  const classify = ({ tools }: Live, name: string): KnownTool => {
    const definition = tools.get(name);
    if (definition === undefined || reservedNames.some((one) => one === name)) return { kind: 'unknown' };
    if (definition === null) return { kind: 'changed' };
    if (locked === null) return { kind: 'known', action: `${as}.${name}`, definition };
    return held(locked, definition, name, warn);
  };
  return {
    async list(ask, params) {
      const all = await read(ask, params);
      const tools = [...all.tools.keys()].flatMap((name) => {
        const tool = classify(all, name);
        return tool.kind === 'known' ? [{ action: tool.action, definition: tool.definition }] : [];
      });
      return { around: all.around, tools };
    },
    async find(ask, params, name) {
      const known = live !== null && Date.now() < live.untilMs ? live : await read(ask, params);
      return classify(known, name);
    },
    forget() {
      generation += 1;
      live = null;
    },
    schemaOf(name) {
      const schema = live?.tools.get(name)?.inputSchema;
      return isObject(schema) ? schema : null;
    },
  };
}

const warningsMax = 1_000;
const toolsMax = 10_000;
const pagesMax = 1_000;

function held(
  locked: LockedServer,
  definition: JsonObject,
  name: string,
  warn: (line: string) => void,
): KnownTool {
  const reviewed = Object.hasOwn(locked.tools, name) ? locked.tools[name] : undefined;
  if (reviewed === undefined) {
    warn(`${name} is not in the lock file: it is not shown`);
    return { kind: 'unknown' };
  }
  const drift = driftOf(reviewed.definition, definition);
  if (drift === 'shape') {
    warn(`${name} has changed since it was reviewed: it is not shown, and calls are refused`);
    return { kind: 'changed' };
  }
  if (drift === 'texts') warn(`the server describes ${name} otherwise now: the reviewed text is shown`);
  return { kind: 'known', action: reviewed.action, definition: reviewed.definition };
}

/** All pages. What the first one says of itself is kept. */
export async function readTools(ask: AskServer, params: JsonObject): Promise<Live> {
  const tools = new Map<string, JsonObject | null>();
  let around: JsonObject | null = null;
  let cursor: Json | undefined;
  for (let pages = 0; pages < pagesMax; pages += 1) {
    const asked = cursor === undefined ? params : { ...params, cursor };
    const { tools: found, nextCursor, ...rest } = resultOf(await ask('tools/list', asked));
    around ??= rest;
    for (const definition of toolsIn(found)) {
      const name = String(definition.name);
      tools.set(name, tools.has(name) ? null : definition);
    }
    if (tools.size > toolsMax) break;
    cursor = nextCursor;
    if (cursor === undefined) {
      const ttlMs = member(around, 'ttlMs');
      return {
        around,
        tools,
        untilMs: typeof ttlMs === 'number' ? Date.now() + ttlMs : Number.POSITIVE_INFINITY,
      };
    }
  }
  throw new UnreadableList('the list of tools has no end');
}

function resultOf({ result, error }: RpcResponse): JsonObject {
  if (result === undefined) throw new UnreadableList(`the server does not list its tools: ${error?.message}`);
  return result;
}

function toolsIn(found: Json | undefined): readonly JsonObject[] {
  const isList = Array.isArray(found) && found.every((one) => typeof member(one, 'name') === 'string');
  if (!isList) throw new UnreadableList('the server lists something else than tools');
  return (found as readonly Json[]).filter(isObject);
}

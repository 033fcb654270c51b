// Reads the tools of a server, compares them with the lock file, and shows them as they were reviewed.
// INVARIANT: with a lock file, a client sees no text of a definition that is not in the file.

import { isObject, type Json, type JsonObject, member, type RpcResponse } from '../protocol/messages.ts';
import { driftOf } from './definition.ts';
import type { LockedServer } from './lock.ts';

export type AskServer = (method: string, params: JsonObject) => Promise<RpcResponse>;

export type ToolLookup =
  | { readonly kind: 'known'; readonly action: string; readonly definition: JsonObject }
  | { readonly kind: 'changed' }
  | { readonly kind: 'unknown' };

export interface Catalogue {
  /** The tools as the client may see them, and the other members of the server's answer. */
  list(ask: AskServer, params: JsonObject): Promise<ToolListing>;
  find(ask: AskServer, params: JsonObject, name: string): Promise<ToolLookup>;
  /** Forgets the tools, because the server has announced a change. */
  forget(): void;
  /** The input schema that the server last gave for a tool; null when it is not known. */
  readonly schemaOf: (name: string) => JsonObject | null;
}

export interface ToolListing {
  readonly envelope: JsonObject;
  readonly tools: readonly { readonly action: string; readonly definition: JsonObject }[];
}

export interface CatalogueOptions {
  readonly as: string;
  readonly locked: LockedServer | null;
  /** Writes a line about each difference from the review, once. */
  readonly warn: (line: string) => void;
}

/**
 * Names behind the server's own name for decided requests other than tool calls. No tool can have such a
 * name.
 */
export const reservedNames = [
  'resources.read',
  'resources.subscribe',
  'prompts.get',
  'completion.complete',
] as const;

/** The server's answer is not a readable list of tools. */
class UnreadableList extends Error {}

interface CachedListing {
  readonly envelope: JsonObject;
  /** The tools by name; null for a name that occurs twice in the list. */
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
  let live: CachedListing | null = null;
  let generation = 0;
  const read = async (ask: AskServer, params: JsonObject): Promise<CachedListing> => {
    const begun = generation;
    const listing = await readTools(ask, params);
    // If the server announced a change meanwhile, the next call reads the tools again.
    live = begun === generation ? listing : null;
    return listing;
  };
  const classify = ({ tools }: CachedListing, name: string): ToolLookup => {
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
      return { envelope: all.envelope, tools };
    },
    async find(ask, params, name) {
      const tools = live !== null && Date.now() < live.untilMs ? live : await read(ask, params);
      return classify(tools, name);
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
): ToolLookup {
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
  if (drift === 'texts') warn(`the server changed its description of ${name}: the reviewed text is shown`);
  return { kind: 'known', action: reviewed.action, definition: reviewed.definition };
}

/** Reads all pages. Other members are those of the first page. */
export async function readTools(ask: AskServer, params: JsonObject): Promise<CachedListing> {
  const tools = new Map<string, JsonObject | null>();
  let envelope: JsonObject | null = null;
  let cursor: Json | undefined;
  for (let pages = 0; pages < pagesMax; pages += 1) {
    const pageParams = cursor === undefined ? params : { ...params, cursor };
    const { tools: definitions, nextCursor, ...rest } = resultOf(await ask('tools/list', pageParams));
    envelope ??= rest;
    for (const definition of toolsIn(definitions)) {
      const name = String(definition.name);
      tools.set(name, tools.has(name) ? null : definition);
    }
    if (tools.size > toolsMax) break;
    cursor = nextCursor;
    if (cursor === undefined) {
      const ttlMs = member(envelope, 'ttlMs');
      return {
        envelope,
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

function toolsIn(json: Json | undefined): readonly JsonObject[] {
  const isList = Array.isArray(json) && json.every((one) => typeof member(one, 'name') === 'string');
  if (!isList) throw new UnreadableList('the server lists something else than tools');
  return (json as readonly Json[]).filter(isObject);
}

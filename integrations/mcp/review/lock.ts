// The lock file: what people have reviewed of each server, made to be read in a pull request. The proxy
// serves what the file holds, and never what a server tells now. INVARIANT: an incomplete file, or one that
// was edited without its digests, is refused.

import { isObject, type Json, type JsonObject, member } from '../protocol/messages.ts';
import { definitionDigest, driftOf } from './definition.ts';

/** Where the fields of a reported result are in what a tool returned: JSON pointers (RFC 6901), by field. */
export type ResultPointers = Readonly<Record<string, string>>;

export interface LockedTool {
  readonly action: string;
  /** Absent when all fields have their own names in the tool's structured content. */
  readonly result?: ResultPointers;
  /** The day of the review, in UTC. */
  readonly reviewed: string;
  readonly digest: string;
  readonly definition: JsonObject;
}

export interface LockedServer {
  /** The command that starts the server, or its address. */
  readonly source: readonly string[];
  /** The server's own name and version. */
  readonly server: JsonObject;
  /** The server's instructions to models; null when it gives none. */
  readonly instructions: string | null;
  readonly tools: Readonly<Record<string, LockedTool>>;
}

export interface Lock {
  readonly version: 1;
  readonly servers: Readonly<Record<string, LockedServer>>;
}

/** What a server tells about itself at one time. */
export interface LiveServer {
  readonly source: readonly string[];
  readonly server: JsonObject;
  readonly instructions: string | null;
  readonly tools: readonly JsonObject[];
}

export class LockFault extends Error {}

export function readLock(text: string): Lock {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new LockFault(`the lock file is not JSON: ${(error as Error).message}`);
  }
  const servers = member(value, 'servers');
  if (member(value, 'version') !== 1) throw new LockFault('the lock file has another version than 1');
  if (!isObject(servers)) throw new LockFault('the lock file has no `servers`');
  return {
    version: 1,
    servers: Object.fromEntries(Object.entries(servers).map(([as, one]) => [as, server(as, one)])),
  };
}

export function writeLock({ version, servers }: Lock): string {
  return `${JSON.stringify({ version, servers: sorted(servers) }, null, 2)}\n`;
}

/**
 * Records everything that a server tells now as reviewed. Keys of actions stay, and so does the day of review
 * of an unchanged tool.
 */
export function lockServer(
  as: string,
  live: LiveServer,
  before: LockedServer | undefined,
  today: string,
): LockedServer {
  const tools = live.tools.map((definition) => {
    const name = String(definition.name);
    const old = before?.tools[name];
    const digest = definitionDigest(definition);
    const isSame = old?.digest === digest;
    const action = old?.action ?? `${as}.${name}`;
    const result = old?.result ?? nestedPointers(definition);
    const mapped = result === null ? {} : { result };
    return [
      name,
      { action, ...mapped, reviewed: isSame ? old.reviewed : today, digest, definition },
    ] as const;
  });
  const { source, server: itself, instructions } = live;
  return { source, server: itself, instructions, tools: sorted(Object.fromEntries(tools)) };
}

export interface Difference {
  /** The name of the tool; null for a difference of the server as a whole. */
  readonly tool: string | null;
  readonly kind: 'new' | 'gone' | 'texts' | 'shape' | 'instructions';
}

export function differences(locked: LockedServer, live: LiveServer): readonly Difference[] {
  const changes: Difference[] = [];
  const names = new Set(live.tools.map(({ name }) => String(name)));
  if (locked.instructions !== live.instructions) changes.push({ tool: null, kind: 'instructions' });
  for (const definition of live.tools) {
    const tool = String(definition.name);
    const lockedTool = Object.hasOwn(locked.tools, tool) ? locked.tools[tool] : undefined;
    const kind = lockedTool === undefined ? 'new' : driftOf(lockedTool.definition, definition);
    if (kind !== 'none') changes.push({ tool, kind });
  }
  for (const tool of Object.keys(locked.tools)) if (!names.has(tool)) changes.push({ tool, kind: 'gone' });
  return changes;
}

function server(as: string, value: Json): LockedServer {
  const source = member(value, 'source');
  const tools = member(value, 'tools');
  const itself = member(value, 'server');
  const instructions = member(value, 'instructions');
  if (!isObject(tools) || !Array.isArray(source) || !isObject(itself))
    throw new LockFault(`the lock file does not say what ${as} is`);
  return {
    source: source.map(String),
    server: itself,
    instructions: typeof instructions === 'string' ? instructions : null,
    tools: Object.fromEntries(Object.entries(tools).map(([name, one]) => [name, tool(`${as}.${name}`, one)])),
  };
}

function tool(where: string, value: Json): LockedTool {
  const [action, reviewed, digest] = ['action', 'reviewed', 'digest'].map((name) => member(value, name));
  const definition = member(value, 'definition');
  if (typeof action !== 'string' || typeof reviewed !== 'string' || !isObject(definition))
    throw new LockFault(`the lock file does not say what ${where} is`);
  if (digest !== definitionDigest(definition))
    throw new LockFault(`the lock file was edited: the definition of ${where} does not have its digest`);
  const pointers = member(value, 'result');
  if (pointers === undefined) return { action, reviewed, digest, definition };
  if (!isObject(pointers) || !Object.values(pointers).every(isPointer))
    throw new LockFault(
      `the \`result\` of ${where} must map fields to JSON pointers, such as "/structuredContent/rows"`,
    );
  return { action, result: pointers as ResultPointers, reviewed, digest, definition };
}

function isPointer(value: Json): boolean {
  return typeof value === 'string' && value.startsWith('/');
}

/** The most fields that a mapping proposes. */
const proposedMax = 20;

/**
 * Proposes a mapping for fields that lie deeper in a tool's structured content, since those at the top need
 * none: `page.count` becomes `page_count`. Null when there are no such fields.
 */
function nestedPointers({ outputSchema }: JsonObject): ResultPointers | null {
  const fields = Object.entries(propertiesOf(outputSchema)).flatMap(([outer, schema]) =>
    Object.entries(propertiesOf(schema)).flatMap(([inner, value]) =>
      scalarTypes.has(String(member(value, 'type')))
        ? [[`${outer}_${inner}`, `/structuredContent/${pointerStep(outer)}/${pointerStep(inner)}`] as const]
        : [],
    ),
  );
  return fields.length === 0 ? null : Object.fromEntries(fields.slice(0, proposedMax));
}

const scalarTypes: ReadonlySet<string> = new Set(['string', 'number', 'integer', 'boolean']);

function propertiesOf(schema: Json | undefined): JsonObject {
  const properties = member(schema, 'properties');
  return isObject(properties) ? properties : {};
}

function pointerStep(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

function sorted<Value>(object: Readonly<Record<string, Value>>): Record<string, Value> {
  return Object.fromEntries(Object.entries(object).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

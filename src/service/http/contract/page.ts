// Turns `limit` and `cursor` into a page of a list, and a page into its items and the next cursor. A cursor
// is the place of the last item, and means nothing to a client.

import { setImmediate as pause } from 'node:timers/promises';
import type { ReadDocument } from '../../store/contract/collection.ts';
import type { JsonSchema, OperationReply, Parameter } from './operation.ts';
import { ProblemError } from './problem.ts';

export interface PageCursor {
  readonly createdAtMs: number;
  readonly id: string;
}

const limitDefault = 50;
const limitMax = 200;

export const pageParameters: readonly Parameter[] = [
  {
    name: 'limit',
    in: 'query',
    isRequired: false,
    description: `Items per page, at most ${limitMax}.`,
    schema: { type: 'integer', minimum: 1, maximum: limitMax, default: limitDefault },
    example: '50',
  },
  {
    name: 'cursor',
    in: 'query',
    isRequired: false,
    description: 'The `next_cursor` of the previous page.',
    schema: { type: 'string' },
    example: 'MTc3OTE5MjAwMDAwMDphYmM',
  },
];

export interface PageQuery {
  readonly countMax: number;
  readonly after: PageCursor | null;
}

export function readPage(query: Readonly<Record<string, string>>): PageQuery {
  const { limit = String(limitDefault), cursor } = query;
  const countMax = /^\d{1,3}$/.test(limit) ? Number(limit) : 0;
  if (countMax < 1 || countMax > limitMax) {
    throw new ProblemError('invalid_query', `\`limit\` must be a whole number from 1 to ${limitMax}`);
  }
  return { countMax, after: cursor === undefined ? null : readCursor(cursor) };
}

function readCursor(cursor: string): PageCursor {
  const match = /^(\d{1,15}):(.{1,1000})$/s.exec(Buffer.from(cursor, 'base64url').toString('utf8'));
  if (match === null) throw new ProblemError('invalid_query', '`cursor` is not from a reply of this list');
  return { createdAtMs: Number(match[1]), id: match[2] ?? '' };
}

/** So few items that looking through them delays no other work. */
const lookedAtOnce = 200;

/**
 * The first `countMax` items that match, however many have to be looked through; other work has its turn
 * between two stretches. `next` returns the items after a place, in order.
 */
export async function collect<T>(
  { countMax, after }: PageQuery,
  {
    next,
    positionOf,
    matches,
    atOnce = lookedAtOnce,
  }: {
    readonly next: (after: PageCursor | null, countMax: number) => Promise<readonly T[]>;
    readonly positionOf: (value: T) => PageCursor;
    readonly matches: (value: T) => boolean;
    readonly atOnce?: number;
  },
): Promise<readonly T[]> {
  const items: T[] = [];
  let cursor = after;
  for (;;) {
    const stretch = await next(cursor, atOnce);
    for (const value of stretch) {
      if (!matches(value)) continue;
      items.push(value);
      if (items.length === countMax) return items;
    }
    const last = stretch.at(-1);
    if (last === undefined || stretch.length < atOnce) return items;
    cursor = positionOf(last);
    await pause();
  }
}

/**
 * One page of items, each as `shown` returns it. `found` holds one more item than the page when there is a
 * next page.
 */
export function pageOf<T extends PageCursor, Shown>(
  documents: readonly ReadDocument<T>[],
  countMax: number,
  viewOf: (value: T) => Shown,
): { readonly items: readonly Shown[]; readonly next_cursor: string | null } {
  const items = documents.slice(0, countMax).map(({ value }) => value);
  const last = items.at(-1);
  const isMore = documents.length > countMax && last !== undefined;
  return { items: items.map(viewOf), next_cursor: isMore ? cursorOf(last) : null };
}

export function cursorOf({ createdAtMs, id }: PageCursor): string {
  return Buffer.from(`${createdAtMs}:${id}`).toString('base64url');
}

/** The description of a reply that is one page of items. */
export function pageReply(description: string, item: JsonSchema, example: unknown): OperationReply {
  return {
    description,
    schema: {
      type: 'object',
      required: ['items', 'next_cursor'],
      additionalProperties: false,
      properties: { items: { type: 'array', items: item }, next_cursor: { type: ['string', 'null'] } },
    },
    example: { items: [example], next_cursor: null },
  };
}

// A program as bytes: what the thread that compiles hands to the thread that serves, and all that is kept of
// an action until it is first needed. Every part is plain data over buffers of its own, so that a message can
// move it.
//
//   PackedProgram   texts | actions | lists | tables | hours | indexes   meters and the number of rules beside them
//   PackedBlocks    names ascending, each with [ content | pool | hash ]  a name is found by binary search
//   pool            numbers of the texts that a block names               a text stands in the program once
//   action          header | rule count | flags | rule ...                (`blocks.ts`)
//   rule            length [ head length [ flags, policy, name, points, reason, validity, requirement ] condition ]
//   value           a mark, then what it needs                            (`values.ts`)
//
// INVARIANT: a block's content hash covers its bytes and every text that they name, so that equal hashes are
// equal parts.

import type { MeterDefinition } from '../../model/metering.ts';

/** The texts that blocks name by number, each stored once. */
export interface PackedTexts {
  /** The UTF-16 code units of all texts, each unit as a variable-length integer. */
  readonly bytes: Uint8Array;
  /** Where each text ends: text `id` reaches from `ends[id - 1]` (0 for the first) up to `ends[id]`. */
  readonly ends: Uint32Array;
}

/** Parts that are found by name: actions by key; lists, tables and hours by name. */
export interface PackedBlocks {
  /** The name of each block, as the number of its text. Blocks are sorted by name, code unit by code unit. */
  readonly names: Uint32Array;
  /** Where the content of block `n` begins in `bytes`. A last entry says where the last content ends. */
  readonly starts: Uint32Array;
  /** Where the text numbers of block `n` begin in `pools`. A last entry says where all of them end. */
  readonly poolStarts: Uint32Array;
  /** The SHA-256 hash of each block, 32 bytes for each. */
  readonly hashes: Uint8Array;
  readonly bytes: Uint8Array;
  /** The text numbers of each block, each as its difference to the number before. */
  readonly pools: Uint8Array;
}

export interface PackedProgram {
  readonly texts: PackedTexts;
  readonly actions: PackedBlocks;
  readonly lists: PackedBlocks;
  readonly tables: PackedBlocks;
  readonly hours: PackedBlocks;
  /** The indexes of actions with many rules, ready to be searched. */
  readonly indexes: PackedBlocks;
  /** The meters that some action counts or reads, each definition once, by id. */
  readonly meters: readonly MeterDefinition[];
  /** The number of rules of all actions together. A rule for two actions counts twice. */
  readonly rules: number;
}

/**
 * Returns the buffers that a message with the program should move instead of copying. Afterwards the sender
 * can no longer use them.
 */
export function transferOf({ texts, actions, lists, tables, hours, indexes }: PackedProgram): ArrayBuffer[] {
  const views = [texts, actions, lists, tables, hours, indexes].flatMap(
    (part) => Object.values(part) as readonly ArrayBufferView[],
  );
  return [...new Set(views.map(({ buffer }) => buffer as ArrayBuffer))];
}

// A program as bytes: what a thread that compiles hands to the thread that serves, and all that is kept of an action
// until it is first asked for. Every part is plain data over buffers of their own, so that a message can move it.
//
//   PackedProgram   texts | actions | lists | tables | hours | indexes   meters and the number of rules beside them
//   PackedBlocks    names ascending, each with [ content | pool | hash ]  a name is found by binary search
//   pool            numbers of the texts that a block names               a text stands in the program once
//   action          header | rule count | flags | rule ...                (`blocks.ts`)
//   rule            length [ head length [ flags, policy, name, points, reason, validity, requirement ] condition ]
//   value           a mark, then what it needs                            (`values.ts`)
//
// INVARIANT: a block's content hash covers its bytes and every text that they name, so that equal hashes are equal parts.

import type { MeterDefinition } from '../../model/metering.ts';

/** The texts that blocks name by number, each once. */
export interface PackedTexts {
  /** UTF-16 code units, each as a variable-length integer. */
  readonly bytes: Uint8Array;
  /** Text `id` is from `ends[id - 1]` (0 for the first) up to `ends[id]`. */
  readonly ends: Uint32Array;
}

/** Parts that are found by name: actions by key, lists, tables and hours by name. */
export interface PackedBlocks {
  /** The name of each block, by number of its text; blocks are sorted by name, code unit by code unit. */
  readonly names: Uint32Array;
  /** Where the content of block `n` begins in `bytes`; one more entry says where the last one ends. */
  readonly starts: Uint32Array;
  /** Where the numbers of the texts that block `n` names begin in `pools`, and at last where all end. */
  readonly poolStarts: Uint32Array;
  /** SHA-256 of the content, 32 bytes a block. */
  readonly hashes: Uint8Array;
  readonly bytes: Uint8Array;
  /** Of each text its difference to the one before. */
  readonly pools: Uint8Array;
}

export interface PackedProgram {
  readonly texts: PackedTexts;
  readonly actions: PackedBlocks;
  readonly lists: PackedBlocks;
  readonly tables: PackedBlocks;
  readonly hours: PackedBlocks;
  /** Of actions with many rules, ready to be searched. */
  readonly indexes: PackedBlocks;
  /** That some action counts or reads, each definition once, by id. */
  readonly meters: readonly MeterDefinition[];
  /** Rules of all actions together: one that speaks of two actions counts twice. */
  readonly rules: number;
}

/** What a message that carries the program should move instead of copying; afterwards the sender has it no longer. */
export function transferOf({ texts, actions, lists, tables, hours, indexes }: PackedProgram): ArrayBuffer[] {
  const views = [texts, actions, lists, tables, hours, indexes].flatMap(
    (part) => Object.values(part) as readonly ArrayBufferView[],
  );
  return [...new Set(views.map(({ buffer }) => buffer as ArrayBuffer))];
}

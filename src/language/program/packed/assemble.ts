// Assembles blocks into a packed program. Texts are numbered across all blocks. A text keeps its number from
// one program to the next, so only new blocks have to be numbered. INVARIANT: what a program names depends on
// its blocks alone, and all texts are numbered again before unused numbers outweigh the used ones.

import type { MeterDefinition } from '../../model/metering.ts';
import { ByteWriter } from '../../value/table/bytes.ts';
import type { ActionBlock, Block } from './blocks.ts';
import type { PackedBlocks, PackedProgram, PackedTexts } from './packed.ts';
import { alignment } from './values.ts';

/** The blocks of one program, each by name. */
export interface ProgramParts {
  readonly actions: ReadonlyMap<string, ActionBlock>;
  readonly lists: ReadonlyMap<string, Block>;
  readonly tables: ReadonlyMap<string, Block>;
  readonly hours: ReadonlyMap<string, Block>;
  readonly indexes: ReadonlyMap<string, Block>;
}

/** Assembles programs, one after the other. */
export interface Assembly {
  assemble(parts: ProgramParts): PackedProgram;
}

/**
 * The margin for texts that no block names any more. Above twice the count of the first program plus this
 * margin, all texts are numbered again.
 */
const textsGivenUpMax = 20_000;

export function createAssembly(): Assembly {
  let numbering = createNumbering();
  return {
    assemble: (parts) => {
      const before = numbering.count;
      if (before > 2 * numbering.countAtFirst + textsGivenUpMax) numbering = createNumbering();
      const isFirst = numbering.count === 0;
      const assembled: Omit<PackedProgram, 'texts'> = {
        actions: toBlocks(parts.actions, numbering),
        lists: toBlocks(parts.lists, numbering),
        tables: toBlocks(parts.tables, numbering),
        hours: toBlocks(parts.hours, numbering),
        indexes: toBlocks(parts.indexes, numbering),
        meters: metersOf(parts.actions),
        rules: [...parts.actions.values()].reduce((sum, { rules }) => sum + rules, 0),
      };
      if (isFirst) numbering.countAtFirst = numbering.count;
      return { ...assembled, texts: numbering.take() };
    },
  };
}

function metersOf(actions: ProgramParts['actions']): readonly MeterDefinition[] {
  const byId = new Map<string, MeterDefinition>();
  for (const { definitions } of actions.values()) for (const one of definitions) byId.set(one.id, one);
  return [...byId.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
}

interface IdAllocator {
  readonly count: number;
  countAtFirst: number;
  idOf(text: string): number;
  /** Returns the numbers of the block's texts, in the form of `PackedBlocks.pools`. */
  poolOf(block: Block): Uint8Array;
  take(): PackedTexts;
}

function createNumbering(): IdAllocator {
  const ids = new Map<string, number>();
  const bytes = new ByteWriter(4_096);
  const ends: number[] = [];
  const pools = new WeakMap<Block, Uint8Array>();
  const scratch = new ByteWriter();

  const idOf = (text: string): number => {
    const cached = ids.get(text);
    if (cached !== undefined) return cached;
    bytes.units(text);
    ids.set(text, ends.length);
    return ends.push(bytes.length) - 1;
  };

  return {
    get count() {
      return ends.length;
    },
    countAtFirst: 0,
    idOf,
    poolOf: (block) => {
      const cached = pools.get(block);
      if (cached !== undefined) return cached;
      scratch.clear();
      let before = 0;
      for (const text of block.texts) {
        const id = idOf(text);
        scratch.signed(id - before);
        before = id;
      }
      const pool = scratch.take();
      pools.set(block, pool);
      return pool;
    },
    take: () => ({ bytes: bytes.take(), ends: Uint32Array.from(ends) }),
  };
}

function toBlocks(blocks: ReadonlyMap<string, Block>, numbering: IdAllocator): PackedBlocks {
  const sorted = [...blocks].sort(([a], [b]) => (a < b ? -1 : 1));
  // Some blocks contain numbers that are read in place, so contents are aligned.
  const contents = joined(
    sorted.map(([, { content }]) => content),
    alignment,
  );
  const pools = joined(
    sorted.map(([, block]) => numbering.poolOf(block)),
    1,
  );
  const hashes = new Uint8Array(32 * sorted.length);
  for (const [at, [, { hash }]] of sorted.entries()) hashes.set(hash, 32 * at);
  return {
    names: Uint32Array.from(sorted, ([name]) => numbering.idOf(name)),
    starts: contents.starts,
    bytes: contents.bytes,
    poolStarts: pools.starts,
    pools: pools.bytes,
    hashes,
  };
}

/** Joins the parts, each beginning at a multiple of `multiple`. */
function joined(
  parts: readonly Uint8Array[],
  multiple: number,
): { readonly bytes: Uint8Array; readonly starts: Uint32Array } {
  const starts = new Uint32Array(parts.length + 1);
  let end = 0;
  for (const [at, { length }] of parts.entries()) {
    starts[at] = Math.ceil(end / multiple) * multiple;
    end = starts[at] + length;
  }
  starts[parts.length] = end;
  const bytes = new Uint8Array(end);
  for (const [at, part] of parts.entries()) bytes.set(part, starts[at]);
  return { bytes, starts };
}

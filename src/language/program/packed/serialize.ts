// Turns a packed program into one run of bytes, and back. The list of its parts is kept separately, as plain
// data. INVARIANT: the result is the original, byte by byte.

import type { MeterDefinition } from '../../model/metering.ts';
import type { PackedBlocks, PackedProgram, PackedTexts } from './packed.ts';

/**
 * An array in the bytes: its part and name, the bytes of an element, and the number of elements. Arrays
 * follow one another in this order.
 */
type ArrayHeader = readonly [part: string, name: string, width: 1 | 4, length: number];

export interface SerializedProgram {
  readonly arrays: readonly ArrayHeader[];
  readonly meters: readonly MeterDefinition[];
  readonly rules: number;
}

const parts = ['texts', 'actions', 'lists', 'tables', 'hours', 'indexes'] as const;

export function wholeOf(packed: PackedProgram): {
  readonly whole: SerializedProgram;
  readonly bytes: Uint8Array;
} {
  const arrays = parts
    .flatMap((part) =>
      Object.entries(packed[part] as PackedTexts | PackedBlocks).map(
        ([name, array]) => [part, name, array as Uint8Array | Uint32Array] as const,
      ),
    )
    // Arrays of numbers come first, so that they are read in place when the run begins at a multiple of their
    // size.
    .toSorted(([, , a], [, , b]) => b.BYTES_PER_ELEMENT - a.BYTES_PER_ELEMENT);
  const bytes = new Uint8Array(arrays.reduce((sum, [, , { byteLength }]) => sum + byteLength, 0));
  let at = 0;
  const places = arrays.map(([part, name, array]): ArrayHeader => {
    bytes.set(new Uint8Array(array.buffer, array.byteOffset, array.byteLength), at);
    at += array.byteLength;
    return [part, name, array.BYTES_PER_ELEMENT as 1 | 4, array.length];
  });
  return { whole: { arrays: places, meters: packed.meters, rules: packed.rules }, bytes };
}

/**
 * Returns the packed program in these bytes and shares their memory. The bytes must be complete; they are not
 * checked.
 */
export function deserialize({ arrays, meters, rules }: SerializedProgram, bytes: Uint8Array): PackedProgram {
  const made: Record<string, Record<string, Uint8Array | Uint32Array>> = {};
  let at = 0;
  for (const [part, name, width, length] of arrays) {
    const slice = bytes.subarray(at, at + width * length);
    at += width * length;
    made[part] ??= {};
    made[part][name] = width === 4 ? numbersIn(slice) : slice;
  }
  // The parts have the same names as in `wholeOf`.
  return { ...(made as unknown as Omit<PackedProgram, 'meters' | 'rules'>), meters, rules };
}

const numberBytes = Uint32Array.BYTES_PER_ELEMENT;

function numbersIn(bytes: Uint8Array): Uint32Array {
  const { buffer, byteOffset, byteLength } = bytes.byteOffset % numberBytes === 0 ? bytes : bytes.slice();
  return new Uint32Array(buffer, byteOffset, byteLength / numberBytes);
}

// Turns a pattern into the program that the definition runs. The library re2js compiles the pattern, and its
// instructions are stepped in this file, one code point at a time. Only this file depends on the library's
// program, which is not part of its public API. A test compares the result with the library's own.

import { RE2JS } from 're2js';
import { memo } from '../../language/value/memo.ts';

/** The position of a program in its run: a sorted list of instructions. */
export type ProgramPosition = readonly number[];

export interface PatternProgram {
  readonly start: ProgramPosition;
  /**
   * The position after one more code point; `before` is the code point before that one, null at the
   * beginning.
   */
  readonly step: (position: ProgramPosition, before: number | null, codePoint: number) => ProgramPosition;
  /** Whether the text may end at the position. */
  readonly accepts: (position: ProgramPosition, before: number | null) => boolean;
  /** The instructions that read a code point. */
  readonly readers: readonly CodePointReader[];
}

export interface CodePointReader {
  readonly reads: (codePoint: number) => boolean;
  /** Code points at which the answer of `reads` may change, and the code point after each. */
  readonly edges: readonly number[];
}

interface Instruction {
  readonly op: number;
  readonly out: number;
  readonly arg: number;
  readonly runes: ArrayLike<number>;
  matchRune(codePoint: number): boolean;
}

const operations = {
  alternative: 1,
  alternativeMatch: 2,
  capture: 3,
  emptyWidth: 4,
  match: 6,
  nothing: 7,
  rune: 8,
  oneRune: 9,
  any: 10,
  anyButNewline: 11,
} as const;

const neighbours = {
  lineStart: 1,
  lineEnd: 2,
  textStart: 4,
  textEnd: 8,
  wordBoundary: 16,
  noWordBoundary: 32,
} as const;

const newline = 10;

/**
 * The program of a match against a whole text. Null if the pattern is invalid, or holds instructions that
 * cannot be stepped.
 */
export function programOf(pattern: string): PatternProgram | null {
  const compiled = compile(pattern);
  if (compiled === null || compiled.inst.some(({ op }) => op > operations.anyButNewline)) return null;
  const { inst, start } = compiled;
  // Readers by position and by the flags of what surrounds it. All code points together have only a few such
  // flags.
  const readersAt = new WeakMap<ProgramPosition, (readonly Instruction[])[]>();
  const readersOf = (position: ProgramPosition, flags: number): readonly Instruction[] => {
    const readers = memo(readersAt, position, () => []);
    readers[flags] ??= closure(inst, position, flags)
      .map((at) => inst[at]!)
      .filter(isReader);
    return readers[flags];
  };
  return {
    start: [start],
    step: (position, before, codePoint) => {
      const next = new Set<number>();
      for (const instruction of readersOf(position, flagsAt(before, codePoint)))
        if (readsCodePoint(instruction, codePoint)) next.add(instruction.out);
      return [...next].sort((a, b) => a - b);
    },
    accepts: (position, before) =>
      closure(inst, position, flagsAt(before, null)).some((at) => inst[at]!.op === operations.match),
    readers: inst
      .filter(({ op }) => op === operations.rune || op === operations.oneRune)
      .map((instruction) => ({
        reads: (codePoint) => instruction.matchRune(codePoint),
        edges: edgesOf(instruction),
      })),
  };
}

/** The source of a pattern that matches every text, line feeds included. */
export const anyTextPattern = '(?s:.*)';

/** The source of a pattern that matches exactly the text. */
export function quotedForProgram(text: string): string {
  return RE2JS.quote(text);
}

export function isWordCharacter(codePoint: number): boolean {
  const isDigit = codePoint >= 0x30 && codePoint <= 0x39;
  const letter = codePoint | 0x20;
  return isDigit || codePoint === 0x5f || (codePoint < 0x80 && letter >= 0x61 && letter <= 0x7a);
}

interface RegexProgram {
  readonly inst: readonly Instruction[];
  readonly start: number;
}

/** Compiles the pattern as `value/regex.ts` does; null if it is invalid. */
function compile(pattern: string): RegexProgram | null {
  try {
    const regex = RE2JS.compile(pattern) as unknown as { re2Input: { prog: RegexProgram } };
    return regex.re2Input.prog;
  } catch {
    return null;
  }
}

/** All instructions that can be reached from a position without reading a code point. */
function closure(
  instructions: readonly Instruction[],
  position: ProgramPosition,
  flags: number,
): readonly number[] {
  const reached = new Set<number>();
  const open = [...position];
  while (open.length > 0) {
    const at = open.pop()!;
    if (reached.has(at)) continue;
    reached.add(at);
    open.push(...exitsOf(instructions[at]!, flags));
  }
  return [...reached];
}

function exitsOf({ op, out, arg }: Instruction, flags: number): readonly number[] {
  switch (op) {
    case operations.alternative:
    case operations.alternativeMatch:
      return [out, arg];
    case operations.capture:
    case operations.nothing:
      return [out];
    case operations.emptyWidth:
      return (arg & ~flags) === 0 ? [out] : [];
    default:
      return [];
  }
}

function isReader({ op }: Instruction): boolean {
  return op >= operations.rune;
}

function readsCodePoint(instruction: Instruction, codePoint: number): boolean {
  if (instruction.op === operations.any) return true;
  if (instruction.op === operations.anyButNewline) return codePoint !== newline;
  return instruction.matchRune(codePoint);
}

function flagsAt(before: number | null, after: number | null): number {
  const isWordBefore = before !== null && isWordCharacter(before);
  const isWordAfter = after !== null && isWordCharacter(after);
  let flags: number = isWordBefore === isWordAfter ? neighbours.noWordBoundary : neighbours.wordBoundary;
  if (before === null) flags |= neighbours.textStart;
  if (before === null || before === newline) flags |= neighbours.lineStart;
  if (after === null) flags |= neighbours.textEnd;
  if (after === null || after === newline) flags |= neighbours.lineEnd;
  return flags;
}

/**
 * The code points at which an instruction's answer may change. A single code point may stand for all code
 * points that fold to it; in a set, those are written out.
 */
function edgesOf(instruction: Instruction): readonly number[] {
  const { runes } = instruction;
  if (runes.length !== 1) return Array.from(runes, (edge, at) => (at % 2 === 0 ? edge : edge + 1));
  const only = runes[0]!;
  const folded =
    only < 0x80 ? asciiVariants(only) : casedCodePoints().filter((one) => instruction.matchRune(one));
  return [only, ...folded].flatMap((one) => [one, one + 1]);
}

/**
 * The code points that may fold to an ASCII one. The Kelvin sign folds to `k` and the long s to `s`; no other
 * letter beyond ASCII folds to an ASCII letter.
 */
function asciiVariants(codePoint: number): readonly number[] {
  const text = String.fromCodePoint(codePoint);
  return [text.toLowerCase().charCodeAt(0), text.toUpperCase().charCodeAt(0), 0x17f, 0x212a];
}

let cased: readonly number[] | null = null;
const casedCodePointMax = 0x1ffff;

/** Every code point that has another case. */
function casedCodePoints(): readonly number[] {
  cased ??= Array.from({ length: casedCodePointMax }, (_, at) => at).filter((one) => {
    const text = String.fromCodePoint(one);
    return text.toLowerCase() !== text || text.toUpperCase() !== text;
  });
  return cased;
}

// Reads the arguments of a program by a table of the options that are known of it, as getopt_long(3) does, but
// without abbreviations. INVARIANT: when arguments are read, every option among them is in the table, under the
// name and with the value that the program itself takes.

/** The options that are known of a program. */
export interface OptionTable {
  /** Letters as in getopt(3): `n:` has a value, `U::` may have one right behind it. */
  readonly short?: string;
  /** Names without dashes, separated by blanks: `lines:` has a value, `color::` may have one behind a `=`. */
  readonly long?: string;
  /** Whole arguments that are options as well, such as `-20` of `head`. */
  readonly also?: RegExp;
  /** Options that name a file to read: letters and names. */
  readonly files?: string;
  /** The program takes no option behind its first operand. */
  readonly isLeading?: boolean;
  /** A value of a long option stands behind `=`, as git has it. */
  readonly isJoined?: boolean;
}

/** The arguments of a program, taken apart. */
export interface Arguments {
  /** Options in order; `value` is null where there is none. Arguments of `also` have their text as name. */
  readonly options: readonly { readonly name: string; readonly value: string | null }[];
  readonly operands: readonly string[];
  /** Operands from here on stand behind `--`; the number of operands when there is no `--`. */
  readonly dashesAt: number;
}

type Arity = 'none' | 'maybe' | 'one';

/** A table in a form that is fast to ask. */
interface OptionReader {
  readonly table: OptionTable;
  readonly arities: ReadonlyMap<string, Arity>;
}

/** The options that are known of a program, and conditions on its arguments. */
export interface ArgumentTable extends OptionTable {
  /** The greatest number of operands. */
  readonly operandsMax?: number;
  /** A further condition. */
  readonly holds?: (args: Arguments) => boolean;
}

export interface ParsedArguments extends Arguments {
  /** The values of the options that name files to read. */
  readonly named: readonly string[];
}

export type ArgumentReader = (args: readonly string[]) => ParsedArguments | null;

/**
 * Returns a function that takes arguments apart; it returns null for arguments that are not known, or do not
 * meet the conditions of the table. The table is prepared at the first call.
 */
export function argumentReader(table: ArgumentTable): ArgumentReader {
  const operandsMax = table.operandsMax ?? Number.POSITIVE_INFINITY;
  let reader: OptionReader | null = null;
  return (args) => {
    reader ??= optionReader(table);
    const read = readArguments(reader, args);
    if (read === null || table.holds?.(read) === false || read.operands.length > operandsMax) return null;
    return { ...read, named: namedFiles(reader, read) };
  };
}

function optionReader(table: OptionTable): OptionReader {
  const arities = new Map<string, Arity>();
  const letters = (table.short ?? '').matchAll(/([^:])(:{0,2})/g);
  const names = (table.long ?? '').matchAll(/([^\s:]+)(:{0,2})/g);
  for (const [, name = '', colons = ''] of [...letters, ...names]) {
    arities.set(name, colons === '' ? 'none' : colons === ':' ? 'one' : 'maybe');
  }
  return { table, arities };
}

/** A value that could be taken for an option by another version of the program is not read. */
const separateValue = /^(?!-)|^-(?:\d+)?$/;

/** Takes the arguments apart; null when one of them is not known. */
function readArguments({ table, arities }: OptionReader, args: readonly string[]): Arguments | null {
  const options: { name: string; value: string | null }[] = [];
  const operands: string[] = [];
  let dashesAt = -1;
  let isOver = false;
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at]!;
    if (isOver || arg === '-' || !arg.startsWith('-')) {
      operands.push(arg);
      if (table.isLeading === true) isOver = true;
      // Where operands end the options, a later `-x` is an operand that nobody means.
      if (table.isLeading === true && dashesAt < 0 && args.slice(at + 1).some((next) => /^-./s.test(next)))
        return null;
      continue;
    }
    if (arg === '--') {
      dashesAt = operands.length;
      isOver = true;
      continue;
    }
    if (table.also?.test(arg) === true) {
      options.push({ name: arg, value: null });
      continue;
    }
    if (arg.startsWith('--')) {
      const [, name = '', value] = /^--([^=]*)(?:=(.*))?$/s.exec(arg)!;
      const arity = name.length > 1 ? arities.get(name) : undefined;
      if (arity === undefined || (arity === 'none' && value !== undefined)) return null;
      if (value !== undefined || arity !== 'one') options.push({ name, value: value ?? null });
      else {
        const next = args[at + 1];
        if (table.isJoined === true || next === undefined || !separateValue.test(next)) return null;
        options.push({ name, value: next });
        at += 1;
      }
      continue;
    }
    for (let index = 1; index < arg.length; index += 1) {
      const name = arg[index]!;
      const rest = arg.slice(index + 1);
      const arity = arities.get(name);
      if (arity === undefined) return null;
      if (arity === 'none') options.push({ name, value: null });
      else if (rest !== '' || arity === 'maybe') options.push({ name, value: rest === '' ? null : rest });
      else {
        const next = args[at + 1];
        if (next === undefined || !separateValue.test(next)) return null;
        options.push({ name, value: next });
        at += 1;
      }
      if (arity !== 'none') break;
    }
  }
  return { options, operands, dashesAt: dashesAt < 0 ? operands.length : dashesAt };
}

function namedFiles({ table }: OptionReader, { options }: Arguments): readonly string[] {
  const names = table.files?.split(' ') ?? [];
  return options.flatMap(({ name, value }) => (names.includes(name) && value !== null ? [value] : []));
}

/** Whether one of the options is there. */
export function hasOption({ options }: Arguments, ...names: readonly string[]): boolean {
  return options.some(({ name }) => names.includes(name));
}

// What rules read of tables, for traces. Separate code evaluates the key and reads the cell, in the same way
// as the code of the rules. A key that depends on the element of a quantifier has no single value for a
// request and is left out; the list and the policy set show what was read.

import type { Json } from '../model/json.ts';
import type { Facts } from '../model/request.ts';
import type { TraceValue } from '../model/trace.ts';
import { conditionChildren } from '../program/children.ts';
import { printColumn, printTerm } from '../program/print.ts';
import type { ActionProgram, Condition, Program, TableRead, Term } from '../program/program.ts';
import { emitTableReads } from './code/emit.ts';
import type { Lists } from './code/writer.ts';
import type { Run } from './run.ts';
import { safeText, showRuntimeValue } from './runtime/show.ts';
import { clearLets, createState, type State } from './runtime/state.ts';
import { clearTextCaches } from './runtime/text-cache.ts';

/** What the code is made from, besides the action. */
export interface ReadingSource {
  readonly program: Program;
  readonly lists: Lists;
  readonly run: Run;
}

/**
 * Returns the path of a table read as people read it; null when the key depends on an element of a
 * quantifier.
 */
export function tablePath(read: TableRead, lets: ActionProgram['lets']): string | null {
  const key = withoutLets(read.kind === 'column' ? read.key : read.subject, lets);
  if (readsElement(key)) return null;
  return read.kind === 'column' ? printColumn(read, printTerm(key)) : `${printTerm(key)} in ${read.table}`;
}

/** Replaces each let by the expression that it stands for. */
function withoutLets<T>(part: T, lets: ActionProgram['lets']): T {
  if (Array.isArray(part)) return part.map((one) => withoutLets(one, lets)) as T;
  if (typeof part !== 'object' || part === null) return part;
  const node = part as Partial<Term>;
  if (node.kind === 'let' && 'index' in node) return withoutLets(lets[node.index!]!.value, lets) as T;
  return Object.fromEntries(Object.entries(part).map(([name, one]) => [name, withoutLets(one, lets)])) as T;
}

function readsElement(node: Condition | Term): boolean {
  if (node.kind === 'read') return node.read.root !== 'payload';
  return conditionChildren(node).some(readsElement);
}

type ReadTables = (facts: Facts, state: State) => readonly unknown[];

/**
 * Reads tables for the traces of one action. One text covers all reads; it is made at the first request and
 * runs once for each request.
 */
export class TableReadings {
  readonly #lets: ActionProgram['lets'];
  readonly #source: ReadingSource;
  readonly #reads: TableRead[] = [];
  readonly #state: State;
  #code: ReadTables | null = null;
  #facts: Facts | null = null;
  #values: readonly unknown[] = [];

  constructor({ lets }: Pick<ActionProgram, 'lets'>, source: ReadingSource) {
    this.#lets = lets;
    this.#source = source;
    this.#state = createState({ lets });
  }

  /** Adds a read. Returns a function that gives its shown value for a request. */
  add(read: TableRead): (facts: Facts) => TraceValue {
    const at = this.#reads.push(read) - 1;
    return (facts) => {
      if (facts !== this.#facts) this.#readAll(facts);
      const value = this.#values[at];
      return value == null ? 'unknown' : [shown(value, read)];
    };
  }

  #readAll(facts: Facts): void {
    const { program, lists, run } = this.#source;
    const code =
      this.#code ?? run<ReadTables>(emitTableReads(program, { lets: this.#lets, reads: this.#reads }, lists));
    this.#code = code;
    clearTextCaches();
    clearLets(this.#state);
    this.#facts = facts;
    this.#values = code(facts, this.#state);
  }
}

/** The most elements of a list that are shown. */
const shownElementsMax = 20;

function shown(value: unknown, read: TableRead): Json {
  if (typeof value === 'boolean' || typeof value === 'number') return shownNumber(value, read);
  if (typeof value === 'string') return safeText(value);
  if (!Array.isArray(value))
    return showRuntimeValue(value, read.kind === 'column' ? read.sort : 'boolean', null);
  const sort = (read.kind === 'column' ? read.element?.sort : null) ?? 'text';
  return value.slice(0, shownElementsMax).map((element) => showRuntimeValue(element, sort, null));
}

/** Shows numbers as numbers, and days and seconds as the dates and times that they stand for. */
function shownNumber(value: boolean | number, read: TableRead): Json {
  const isNumber = read.kind !== 'column' || read.sort === 'number' || read.sort === 'integer';
  return typeof value === 'boolean' || isNumber ? value : showRuntimeValue(value, read.sort, null);
}

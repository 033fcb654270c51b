// Finds what the enforced rules of a set need that an installation may lack: the person behind an agent,
// enforcement points by their names, and people whom tables name as approvers. The result is plain data and
// small.

import { approversOf } from '../../language/model/approvers.ts';
import { childrenOf, literalTexts } from '../../language/model/children.ts';
import type { Expression } from '../../language/model/expression.ts';
import type { Policy, PolicySet } from '../../language/model/policy.ts';
import { memo } from '../../language/value/memo.ts';
import { findCell, rowKeys, type TableRows } from '../../language/value/table/rows.ts';

export interface SetNeeds {
  /** The ids of rules that read `request.user`, directly, through a let, or through a meter. */
  readonly user: readonly string[];
  /** The names that rules compare with `request.point`, with the ids of those rules. */
  readonly points: readonly NeededName[];
  /** The addresses and ids by which rows of the set name approvers; at most `peopleMax`. */
  readonly people: readonly NeededName[];
  /** The columns of pushed tables that name approvers. */
  readonly columns: readonly (NeededName & { readonly table: string })[];
}

/** A name, with the ids of the rules that need it. */
interface NeededName {
  readonly name: string;
  readonly rules: readonly string[];
}

const peopleMax = 1_000;

/** What one expression reads, apart from what its lets and meters read. */
interface Reads {
  readonly user: boolean;
  readonly points: readonly string[];
  readonly lets: readonly string[];
  readonly meters: readonly string[];
}

export function setNeedsOf(set: PolicySet): SetNeeds {
  const readsByRule = new Map<string, Reads>();
  const user: string[] = [];
  const points = new Map<string, string[]>();
  for (const { rule, reads } of set.policies.flatMap((policy) => memo(readsByPolicy, policy, readsOfRules))) {
    const all = reachedReads(set, reads, readsByRule);
    if (all.some((one) => one.user)) user.push(rule);
    for (const name of new Set(all.flatMap((one) => one.points)))
      points.set(name, [...(points.get(name) ?? []), rule]);
  }
  return { user, points: [...points].map(([name, rules]) => ({ name, rules })), ...namedApprovers(set) };
}

/** People whom the rows of the set name alone as approvers, and the columns of pushed tables that do so. */
function namedApprovers(set: PolicySet): Pick<SetNeeds, 'people' | 'columns'> {
  const people = new Map<string, string[]>();
  const columns = new Map<
    string,
    { readonly table: string; readonly name: string; readonly rules: string[] }
  >();
  for (const { id, isShadow, requirement } of set.policies.flatMap(({ rules }) => rules)) {
    if (isShadow || requirement?.kind !== 'approval') continue;
    const approvers = (requirement.choices ?? [])
      .map(approversOf)
      .flatMap((all) => (all.length === 1 ? all : []));
    for (const one of approvers) {
      if (one.kind !== 'named' || one.groups !== null) continue;
      const { names, pushed } = namesIn(set, one.value);
      for (const name of new Set(names))
        if (people.size < peopleMax || people.has(name))
          addRule(
            memo(people, name, () => []),
            id,
          );
      for (const { table, column } of pushed)
        addRule(
          memo(columns, JSON.stringify([table, column]), () => ({ table, name: column, rules: [] })).rules,
          id,
        );
    }
  }
  const sorted = [...people].toSorted(([one], [other]) => (one < other ? -1 : 1));
  return { people: sorted.map(([name, rules]) => ({ name, rules })), columns: [...columns.values()] };
}

function addRule(rules: string[], id: string): void {
  if (!rules.includes(id)) rules.push(id);
}

interface NamesInTables {
  readonly names: readonly string[];
  readonly pushed: readonly { readonly table: string; readonly column: string }[];
}

/** The texts that an expression may take from rows, and the columns of pushed tables that it reads. */
function namesIn(set: PolicySet, expression: Expression): NamesInTables {
  switch (expression.kind) {
    case 'literal':
      return { names: typeof expression.value === 'string' ? [expression.value] : [], pushed: [] };
    case 'let': {
      const declared = set.lets.get(expression.id);
      return declared === undefined ? noNames : namesIn(set, declared.expression);
    }
    case 'if':
      return joinedNames([expression.whenTrue, expression.otherwise].map((one) => namesIn(set, one)));
    case 'column': {
      const { table: name, column } = expression;
      const table = set.tables.get(name);
      if (table === undefined) return noNames;
      if (table.rows === null) return { names: [], pushed: [{ table: name, column }] };
      const at = table.columns.findIndex((one) => one.name === column);
      return { names: textsOfColumn(table.rows, at), pushed: [] };
    }
    default:
      return noNames;
  }
}

const noNames: NamesInTables = { names: [], pushed: [] };

function joinedNames(all: readonly NamesInTables[]): NamesInTables {
  return { names: all.flatMap(({ names }) => names), pushed: all.flatMap(({ pushed }) => pushed) };
}

/** Rows never change, and a compilation keeps those of a table that has not changed. */
const textsByRows = new WeakMap<TableRows, Map<number, readonly string[]>>();

/** The first different texts in a column. */
function textsOfColumn(rows: TableRows, column: number): readonly string[] {
  const byColumn = memo(textsByRows, rows, () => new Map<number, readonly string[]>());
  return memo(byColumn, column, () => {
    const texts = new Set<string>();
    for (const key of rowKeys(rows)) {
      const cell = findCell(rows, key, column);
      if (typeof cell === 'string') texts.add(cell);
      if (texts.size >= peopleMax) break;
    }
    return [...texts];
  });
}

interface RuleReads {
  readonly rule: string;
  readonly reads: Reads;
}

/** Compiling keeps the object of a policy whose text has not changed. */
const readsByPolicy = new WeakMap<Policy, readonly RuleReads[]>();

/** The reads of the enforced rules that read anything of interest. */
function readsOfRules({ rules }: Policy): readonly RuleReads[] {
  return rules
    .filter(({ isShadow }) => !isShadow)
    .map(({ id, condition }) => ({ rule: id, reads: readsOf([condition]) }))
    .filter(
      ({ reads: { user, points, lets, meters } }) => user || points.length + lets.length + meters.length > 0,
    );
}

/** The reads of an expression, and of all lets and meters that it reaches. */
function reachedReads(set: PolicySet, first: Reads, readsByRule: Map<string, Reads>): readonly Reads[] {
  const reached = new Map<string, Reads>();
  const reach = (key: string, make: () => Reads): void => {
    if (reached.has(key)) return;
    const reads = readsByRule.get(key) ?? make();
    readsByRule.set(key, reads);
    reached.set(key, reads);
    follow(reads);
  };
  const follow = ({ lets, meters }: Reads): void => {
    for (const id of lets)
      reach(`let ${id}`, () => readsOf([set.lets.get(id)?.expression].filter((one) => one !== undefined)));
    for (const name of meters) reach(`meter ${name}`, () => readsOfMeter(set, name));
  };
  follow(first);
  return [first, ...reached.values()];
}

/** A meter per user counts nothing while the user is unknown. */
function readsOfMeter({ meters }: PolicySet, name: string): Reads {
  const meter = meters.get(name);
  if (meter === undefined) return readsOf([]);
  const reads = readsOf([meter.when, meter.argument].filter((one) => one !== null));
  return { ...reads, user: reads.user || meter.per.some(({ kind }) => kind === 'user') };
}

function readsOf(expressions: readonly Expression[]): Reads {
  const lets: string[] = [];
  const meters: string[] = [];
  const points: string[] = [];
  let user = false;
  const visit = (one: Expression): void => {
    switch (one.kind) {
      case 'fact':
        user ||= one.fact.startsWith('request.user.');
        return;
      case 'let':
        lets.push(one.id);
        return;
      case 'meter':
        meters.push(one.meter);
        return;
      // Thousands of constant texts read nothing.
      case 'text-list':
        return;
      case 'compare':
        if (isPoint(one.left)) points.push(...textsOf(one.right));
        if (isPoint(one.right)) points.push(...textsOf(one.left));
        break;
      case 'in-elements':
        if (isPoint(one.subject)) points.push(...textsOf(one.elements));
        break;
      default:
        break;
    }
    for (const child of childrenOf(one)) visit(child);
  };
  for (const expression of expressions) visit(expression);
  return { user, points, lets, meters };
}

function isPoint(one: Expression): boolean {
  return one.kind === 'fact' && one.fact === 'request.point';
}

function textsOf(one: Expression): readonly string[] {
  if (one.kind === 'text-list') return one.texts;
  return literalTexts([one]) ?? [];
}

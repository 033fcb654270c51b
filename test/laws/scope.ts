// What a random condition may read at one place of a policy: which fields are certainly present, which lets
// fit, and in which direction risk may be compared.

import type { RandomSource } from '../../src/language/value/random.ts';
import { elementParts, type FieldKind, type Form, type ListSort, type Part, type Sort } from './fields.ts';

export interface Scope {
  readonly random: RandomSource;
  readonly readables: readonly Readable[];
  /** Texts of the readables that may be missing and are known to be present. */
  readonly present: ReadonlySet<string>;
  readonly lets: readonly ScopedLet[];
  readonly meters: readonly { readonly name: string; readonly currency: string | null }[];
  readonly actionKeys: readonly string[];
  /** The comparisons of risk that are allowed: those that become true while risk rises, or while it falls. */
  readonly risk: 'rise' | 'fall' | 'none';
  /** The variables of the enclosing quantifiers, outermost first. */
  readonly variables: readonly string[];
  /** Conditions in a meter cannot read time, meters or lets. */
  readonly isMeter: boolean;
  /** How many conditional values enclose this place; none when absent. */
  readonly conditionals?: number;
  /** Makes the conditions inside of terms: the filter of a count, the bodies of quantifiers. */
  readonly condition: (scope: Scope, depth: number) => string;
}

export interface Readable {
  readonly text: string;
  readonly sort: Sort;
  /** The test that the value is present; null when `has` cannot test it. */
  readonly has: string | null;
  readonly canMiss: boolean;
  readonly isNullable: boolean;
  readonly isSecret: boolean;
  /** An enforcement point signs the value, whichever action is asked for. */
  readonly isVouched: boolean;
  readonly values: readonly string[];
}

export interface ScopedLet {
  readonly name: string;
  readonly sort: Sort;
  /** Readables that must be known to be present. */
  readonly needs: ReadonlySet<string>;
  /** The let reads risk, and becomes true while risk rises. */
  readonly readsRisk: boolean;
}

/** A field as one action declares it. */
export interface DeclaredField {
  readonly kind: FieldKind;
  readonly form: Form;
  readonly isOptional: boolean;
  readonly isSigned: boolean;
  /** The enforcement point that has to sign the field; the agent when absent. */
  readonly signer?: string;
  readonly isSecret: boolean;
  /** The group that declares the field for all of its actions. */
  readonly group?: string;
}

/**
 * The readables of a policy over several actions: optional when optional or missing in any of the actions.
 */
export function readablesOf(actions: readonly (readonly DeclaredField[])[]): readonly Readable[] {
  const kinds = new Map(actions.flat().map(({ kind }) => [kind.key, kind]));
  return [...kinds.values()].flatMap((kind) => {
    const declared = actions.flatMap((fields) => fields.filter((field) => field.kind.key === kind.key));
    const isOptional = declared.length < actions.length || declared.some((field) => field.isOptional);
    const isNullable = declared.some(({ form }) => form.isNullable === true);
    const values = declared.flatMap(({ form }) => form.good.filter((value) => typeof value === 'string'));
    const isSecret = declared.some((field) => field.isSecret);
    const isVouched = declared.every((field) => field.isSigned && field.signer !== undefined);
    return kind.parts.map((part) =>
      readable(part, {
        root: `payload.${kind.written ?? kind.key}`,
        has: `payload has ${kind.written ?? kind.key}`,
        isOptional,
        isNullable,
        isSecret,
        isVouched,
        values: [...new Set(values)],
      }),
    );
  });
}

/** The readables of a quantifier's variable over lists of this sort. */
export function elementReadables(variable: string, sort: ListSort): readonly Readable[] {
  return elementParts[sort].map((part) =>
    readable(part, {
      root: variable,
      has: part.steps === '' ? null : `${variable} has `,
      isOptional: false,
      isNullable: false,
      isSecret: false,
      isVouched: false,
      values: [],
    }),
  );
}

interface Around {
  readonly root: string;
  readonly has: string | null;
  readonly isOptional: boolean;
  readonly isNullable: boolean;
  readonly isSecret: boolean;
  readonly isVouched: boolean;
  readonly values: readonly string[];
}

function readable(part: Part, around: Around): Readable {
  const isWhole = part.steps === '';
  const isCertain = !around.isOptional && (isWhole || !around.isNullable);
  const steps = around.has?.endsWith(' ') ? part.steps.slice(1) : part.steps;
  return {
    text: around.root + part.steps,
    sort: part.sort,
    has: around.has === null ? null : around.has + steps,
    canMiss: around.isOptional || around.isNullable || part.canMiss === true,
    isNullable: isCertain && (part.isNullable === true || (isWhole && around.isNullable)),
    isSecret: around.isSecret || part.isSecret === true,
    isVouched: around.isVouched,
    values: part.values ?? around.values,
  };
}

/** What is readable of a record by another name of it. */
export function renamedReadables(
  readables: readonly Readable[],
  record: string,
  name: string,
): readonly Readable[] {
  const renamed = (text: string): string => `${name}${text.slice(record.length)}`;
  return readables
    .filter(({ text }) => text.startsWith(`${record}.`))
    .map((one) => ({
      ...one,
      text: renamed(one.text),
      has: one.has === null ? null : `${name} has ${one.text.slice(record.length + 1)}`,
    }));
}

/** Readables of these sorts whose value may be read at this place. */
export function readableHere(scope: Scope, sorts: readonly Sort[]): readonly Readable[] {
  return scope.readables.filter(
    (one) => sorts.includes(one.sort) && !one.isSecret && (!one.canMiss || scope.present.has(one.text)),
  );
}

/** Readables of these sorts that may be missing at this place, for `else`. */
export function missingHere(scope: Scope, sorts: readonly Sort[]): readonly Readable[] {
  return scope.readables.filter((one) => sorts.includes(one.sort) && !one.isSecret && one.canMiss);
}

/** Lets of the sort that fit at this place. */
export function letsHere(scope: Scope, sort: Sort): readonly ScopedLet[] {
  if (scope.isMeter) return [];
  return scope.lets.filter(
    (one) =>
      one.sort === sort &&
      (!one.readsRisk || scope.risk === 'rise') &&
      [...one.needs].every((text) => scope.present.has(text)),
  );
}

/** The scope in which these readables are known to be present. */
export function withPresent(scope: Scope, texts: readonly string[]): Scope {
  return { ...scope, present: new Set([...scope.present, ...texts]) };
}

/** The scope in which nothing may compare risk. */
export function withoutRisk(scope: Scope): Scope {
  return { ...scope, risk: 'none' };
}

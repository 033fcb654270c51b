// What a random condition may read at one place of a policy: which fields are there for sure, which lets fit, and in
// which direction risk may be compared.

import type { Random } from '../../src/language/value/random.ts';
import { elementParts, type FieldKind, type Form, type ListSort, type Part, type Sort } from './fields.ts';

export interface Scope {
  readonly random: Random;
  readonly readables: readonly Readable[];
  /** Texts of the readables that may be missing and are known to be there. */
  readonly present: ReadonlySet<string>;
  readonly lets: readonly ScopedLet[];
  readonly meters: readonly { readonly name: string; readonly currency: string | null }[];
  readonly actionKeys: readonly string[];
  /** Comparisons of risk that may stand here: such as come true while it rises, or while it falls. */
  readonly risk: 'rise' | 'fall' | 'none';
  /** Variables of the quantifiers around, outermost first. */
  readonly variables: readonly string[];
  /** In a meter neither time nor meters nor lets can be read. */
  readonly isMeter: boolean;
  /** Makes the conditions inside of terms: what is counted, the bodies of quantifiers. */
  readonly condition: (scope: Scope, depth: number) => string;
}

export interface Readable {
  readonly text: string;
  readonly sort: Sort;
  /** The test that it is there; null where `has` cannot ask. */
  readonly has: string | null;
  readonly canMiss: boolean;
  readonly isNullable: boolean;
  readonly isSecret: boolean;
  readonly values: readonly string[];
}

export interface ScopedLet {
  readonly name: string;
  readonly sort: Sort;
  /** Readables that must be known to be there. */
  readonly needs: ReadonlySet<string>;
  /** Risk is read: comes true while it rises. */
  readonly readsRisk: boolean;
}

/** A field as one action declares it. */
export interface DeclaredField {
  readonly kind: FieldKind;
  readonly form: Form;
  readonly isOptional: boolean;
  readonly isSigned: boolean;
  /** The enforcement point that has to vouch; the agent where it is left out. */
  readonly signer?: string;
  readonly isSecret: boolean;
  /** That declares it for all of its actions. */
  readonly group?: string;
}

/** What a policy over several actions can read: optional where it is optional or missing in any of them. */
export function readablesOf(actions: readonly (readonly DeclaredField[])[]): readonly Readable[] {
  const kinds = new Map(actions.flat().map(({ kind }) => [kind.key, kind]));
  return [...kinds.values()].flatMap((kind) => {
    const declared = actions.flatMap((fields) => fields.filter((field) => field.kind.key === kind.key));
    const isOptional = declared.length < actions.length || declared.some((field) => field.isOptional);
    const isNullable = declared.some(({ form }) => form.isNullable === true);
    const values = declared.flatMap(({ form }) => form.good.filter((value) => typeof value === 'string'));
    const isSecret = declared.some((field) => field.isSecret);
    return kind.parts.map((part) =>
      readable(part, {
        root: `payload.${kind.written ?? kind.key}`,
        has: `payload has ${kind.written ?? kind.key}`,
        isOptional,
        isNullable,
        isSecret,
        values: [...new Set(values)],
      }),
    );
  });
}

/** What the variable of a quantifier over lists of this sort can read. */
export function elementReadables(variable: string, sort: ListSort): readonly Readable[] {
  return elementParts[sort].map((part) =>
    readable(part, {
      root: variable,
      has: part.steps === '' ? null : `${variable} has `,
      isOptional: false,
      isNullable: false,
      isSecret: false,
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
    values: part.values ?? around.values,
  };
}

/** Those of the sort whose value may be read here. */
export function readableHere(scope: Scope, sorts: readonly Sort[]): readonly Readable[] {
  return scope.readables.filter(
    (one) => sorts.includes(one.sort) && !one.isSecret && (!one.canMiss || scope.present.has(one.text)),
  );
}

/** Those of the sort that may be missing here, for `else`. */
export function missingHere(scope: Scope, sorts: readonly Sort[]): readonly Readable[] {
  return scope.readables.filter((one) => sorts.includes(one.sort) && !one.isSecret && one.canMiss);
}

/** Lets of the sort that fit here. */
export function letsHere(scope: Scope, sort: Sort): readonly ScopedLet[] {
  if (scope.isMeter) return [];
  return scope.lets.filter(
    (one) =>
      one.sort === sort &&
      (!one.readsRisk || scope.risk === 'rise') &&
      [...one.needs].every((text) => scope.present.has(text)),
  );
}

/** The scope in which these are known to be there. */
export function withPresent(scope: Scope, texts: readonly string[]): Scope {
  return { ...scope, present: new Set([...scope.present, ...texts]) };
}

/** Where nothing may compare risk. */
export function withoutRisk(scope: Scope): Scope {
  return { ...scope, risk: 'none' };
}

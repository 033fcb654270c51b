// Compares a value with the payload profile of its agent and action, in words. INVARIANT: a value is called
// unusual only if the profile shows that it is.

/** The usual values in the granted payloads of an agent for an action. */
export interface PayloadProfile {
  /** The number of grants that were looked at. */
  readonly count: number;
  readonly fields: readonly ProfileField[];
}

/** A number with its range, or a value with those that were sent most often. */
export interface ProfileField {
  readonly path: string;
  readonly kind: string;
  readonly min?: number;
  readonly p50?: number;
  readonly max?: number;
  readonly common?: readonly { readonly value: unknown; readonly count: number }[];
  readonly distinct?: number;
}

export interface ProfileNote {
  readonly isUnusual: boolean;
  readonly words: string;
}

/** The most fields that the service's profile covers; nothing is known of further fields. */
const fieldsMax = 100;
const textLengthMax = 100;
const commonShown = 3;
/** With fewer grants, nothing counts as usual. */
export const grantsMin = 10;

/** Returns null when there is nothing to compare with. */
export function profileNoteOf(
  { count, fields }: PayloadProfile,
  path: string,
  value: unknown,
): ProfileNote | null {
  if (count < grantsMin) return null;
  const field = fields.find((one) => one.path === path);
  if (field === undefined) {
    return fields.length < fieldsMax ? { isUnusual: true, words: 'never sent before' } : null;
  }
  return field.kind === 'number' ? numberNote(field, value) : commonNote(field, value);
}

function numberNote({ min = 0, p50 = 0, max = 0 }: ProfileField, value: unknown): ProfileNote {
  const range = min === max ? `always ${min}` : `${min} to ${max}, median ${p50}`;
  if (typeof value !== 'number') return { isUnusual: true, words: `not a number; so far ${range}` };
  if (value > max) return { isUnusual: true, words: `higher than ever: so far ${range}` };
  if (value < min) return { isUnusual: true, words: `lower than ever: so far ${range}` };
  return { isUnusual: false, words: `usual: ${range}` };
}

function commonNote({ common = [], distinct = 0 }: ProfileField, value: unknown): ProfileNote | null {
  const same = common.find((one) => one.value === (typeof value === 'string' ? cut(value) : value));
  if (same !== undefined)
    return same.count === 1 ? null : { isUnusual: false, words: `usual: ${same.count} times so far` };
  if (common.length > 0 && distinct > common.length && common[0]?.count === 1) return null;
  const listed = common.slice(0, commonShown).map((one) => `${JSON.stringify(one.value)} (${one.count}x)`);
  const isComplete = distinct <= common.length;
  const rest = distinct - listed.length;
  const valuesText = [...listed, ...(rest > 0 ? [`${rest} others`] : [])].join(', ');
  return isComplete
    ? { isUnusual: true, words: `new; so far ${valuesText}` }
    : { isUnusual: false, words: `not one of the most frequent: ${valuesText}` };
}

/** Cuts a text to the length that the service's profile uses. */
function cut(text: string): string {
  return text.length <= textLengthMax ? text : `${text.slice(0, textLengthMax - 1)}…`;
}

// Finds names in all files of a set, test files included.

import { type Occurrence, occurrenceAt, occurrencesOf } from '../../language/assist/names.ts';
import type { DocumentPlace } from './places.ts';
import { namesInTests } from './test-names.ts';
import type { SetSnapshot } from './workspace.ts';

/** The innermost name at a place; null when there is none. */
export function nameAt({ snapshot, file, offset }: Omit<DocumentPlace, 'document'>): Occurrence | null {
  const test = snapshot.tests.get(file);
  if (test === undefined) return occurrenceAt(snapshot.files, file, offset);
  return namesInTests(test).findLast(({ span }) => span.start <= offset && offset <= span.end) ?? null;
}

/** The declaration and all uses of a name. */
export function sameNames(snapshot: SetSnapshot, { kind, name }: Occurrence): readonly Occurrence[] {
  const inTests = [...snapshot.tests.values()].flatMap((test) => namesInTests(test));
  return [...occurrencesOf(snapshot.files), ...inTests].filter(
    (one) => one.kind === kind && one.name === name,
  );
}

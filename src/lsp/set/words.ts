// Makes the vocabulary of a set, once for each snapshot.

import { vocabularyOf } from '../../analysis/vocabulary.ts';
import type { Vocabulary } from '../../language/assist/vocabulary.ts';
import type { PolicySet } from '../../language/model/policy.ts';
import type { SetSnapshot } from './workspace.ts';

const noSet = {
  actions: new Map(),
  lists: new Map(),
  tables: new Map(),
  hours: new Map(),
  lets: new Map(),
  meters: new Map(),
  approvers: new Map(),
  policies: [],
  guarantees: [],
} satisfies PolicySet;

const known = new WeakMap<SetSnapshot, Vocabulary>();

/** The vocabulary, with the actions of the last set without an error, if there was one. */
export function setWords(snapshot: SetSnapshot): Vocabulary {
  const made = known.get(snapshot) ?? vocabularyOf(snapshot.lastSet ?? noSet, snapshot.files);
  known.set(snapshot, made);
  return made;
}

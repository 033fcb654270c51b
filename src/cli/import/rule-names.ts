// Makes names of rules from the entries of settings: `git_push` for `Bash(git push:*)`. INVARIANT: names of one policy differ.

import { reservedWords } from '../../language/syntax/parse/tokens.ts';

const lengthMax = 40;

/** Words that the clauses of a rule begin with. */
const clauseWords = ['for', 'after', 'to', 'except', 'needs', 'within', 'standing', 'owner'];
const unfit: ReadonlySet<string> = new Set([...reservedWords, ...clauseWords]);

/** Gives each rule of a policy a name of its own. */
export function createNames(): (wanted: string) => string {
  const taken = new Set<string>();
  return (wanted) => {
    const base = nameOf(wanted);
    let name = base;
    for (let at = 2; taken.has(name); at += 1) name = `${base}_${at}`;
    taken.add(name);
    return name;
  };
}

function nameOf(entry: string): string {
  const inner = /^\w+\((?<inner>.*\w.*)\)$/s.exec(entry)?.groups?.inner ?? entry;
  const words = inner
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replace(/^_+/, '')
    .slice(0, lengthMax)
    .replace(/_+$/, '');
  const name = /^[a-z]/.test(words) ? words : `entry_${words}`.replace(/_$/, '');
  return unfit.has(name) ? `${name}_entry` : name;
}

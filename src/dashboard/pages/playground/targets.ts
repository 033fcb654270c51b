// Moves the policy editor to a diagnostic or a rule of a file, as soon as the text of the file is loaded.

import { useEffect, useState } from 'preact/hooks';
import { type LinePlace, rangeOf } from '../../editor/text-places.ts';
import { findRule } from './find-rule.ts';

/** A place to move to; a new object with the same place moves there again. */
export interface Target {
  readonly at: number;
}

export type Wanted = { readonly place: LinePlace } | { readonly rule: string };

export function useTargets(path: string, text: string | null) {
  const [wanted, setWanted] = useState<{ readonly path: string; readonly what: Wanted } | null>(null);
  const [target, setTarget] = useState<(Target & { readonly path: string }) | null>(null);
  useEffect(() => {
    if (wanted === null || wanted.path !== path || text === null) return;
    const { what } = wanted;
    const at = 'rule' in what ? findRule(text, what.rule) : rangeOf(text, what.place).from;
    setTarget(at === null ? null : { at, path });
    setWanted(null);
  }, [wanted, path, text]);
  return {
    target: target?.path === path ? target : null,
    goTo: (to: string, what: Wanted): void => setWanted({ path: to, what }),
  };
}

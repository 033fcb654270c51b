// Runs the rules that find what is legal and probably not meant: one file a rule, in the order of this list.

import type { PolicySet } from '../../model/policy.ts';
import type { PolicyFile } from '../../syntax/tree.ts';
import type { Environment } from '../environment.ts';
import { unusedDeclarations } from './unused-declarations.ts';

/** What a rule looks at: a set without errors, the trees that it comes from, and where to report to. */
export interface Checked {
  readonly set: PolicySet;
  readonly files: readonly PolicyFile[];
  readonly env: Environment;
}

const rules: readonly ((checked: Checked) => void)[] = [unusedDeclarations];

export function warn(set: PolicySet, files: readonly PolicyFile[], env: Environment): void {
  for (const rule of rules) rule({ set, files, env });
}

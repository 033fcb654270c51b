// A workload's model, which the checker makes of its text, into a program: sizes at which compiling from text takes too
// long for what is measured. Loaded only where it is wanted, as another revision may plan in another way.

import { type OpenProgram, unpack } from '../src/language/program/packed/unpack.ts';
import { pack } from '../src/language/program/plan/incremental.ts';
import { plan } from '../src/language/program/plan/plan.ts';
import { sha256 } from '../src/pipeline.ts';
import { type ModelWorkload, policySet } from './policy-model.ts';

export function programOf(workload: ModelWorkload): OpenProgram {
  return unpack(pack(plan(policySet(workload), sha256), sha256));
}

// A workload's model, which the checker makes of its text, into a program: sizes at which compiling from text takes too
// long for what is measured. Loaded only where it is wanted, as another revision may plan in another way.

import { sha256 } from '../src/pipeline.ts';
import { type OpenProgram, unpack } from '../src/program/packed/unpack.ts';
import { pack } from '../src/program/plan/incremental.ts';
import { plan } from '../src/program/plan/plan.ts';
import { type ModelWorkload, policySet } from './policy-model.ts';

export function programOf(workload: ModelWorkload): OpenProgram {
  return unpack(pack(plan(policySet(workload), sha256), sha256));
}

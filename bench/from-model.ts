// Turns a workload's model, as the checker would make it from text, into a program: compiling from text takes
// too long at the sizes measured. The file is loaded only when needed, because another revision may plan in
// another way.

import { type OpenProgram, unpack } from '../src/language/program/packed/unpack.ts';
import { pack } from '../src/language/program/plan/incremental.ts';
import { plan } from '../src/language/program/plan/plan.ts';
import { sha256 } from '../src/pipeline.ts';
import { type ModelWorkload, policySet } from './policy-model.ts';

export function programOf(workload: ModelWorkload): OpenProgram {
  return unpack(pack(plan(policySet(workload), sha256), sha256));
}

// Turns policy sets into programs, with the digest that compiling passes in.

import type { PolicySet } from '../../../src/language/model/policy.ts';
import type { PackedProgram } from '../../../src/language/program/packed/packed.ts';
import { type OpenProgram, unpack } from '../../../src/language/program/packed/unpack.ts';
import { pack as packWith } from '../../../src/language/program/plan/incremental.ts';
import { plan as planWith } from '../../../src/language/program/plan/plan.ts';
import type { Program } from '../../../src/language/program/program.ts';
import { sha256 } from '../../../src/pipeline.ts';

export function plan(set: PolicySet): Program {
  return planWith(set, sha256);
}

export function pack(program: Program): PackedProgram {
  return packWith(program, sha256);
}

/** The set planned, packed and ready to be linked. */
export function opened(set: PolicySet): OpenProgram {
  return unpack(pack(plan(set)));
}

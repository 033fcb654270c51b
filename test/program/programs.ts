// Policy sets into programs with the digest that compiling hands in.

import type { PolicySet } from '../../src/model/policy.ts';
import { sha256 } from '../../src/pipeline.ts';
import { pack as packWith } from '../../src/program/incremental.ts';
import type { PackedProgram } from '../../src/program/packed.ts';
import { plan as planWith } from '../../src/program/plan.ts';
import type { Program } from '../../src/program/program.ts';
import { type OpenProgram, unpack } from '../../src/program/unpack.ts';

export function plan(set: PolicySet): Program {
  return planWith(set, sha256);
}

export function pack(program: Program): PackedProgram {
  return packWith(program, sha256);
}

/** Planned, packed and ready to be linked. */
export function opened(set: PolicySet): OpenProgram {
  return unpack(pack(plan(set)));
}

// Writ itself, from policy text to the function that decides.

import { createFunctionCache } from '../src/emit/cache.ts';
import { type Linked, link, type Realisation } from '../src/emit/link.ts';
import { type Compiled, compile, sha256 } from '../src/pipeline.ts';
import { type OpenProgram, unpack } from '../src/program/packed/unpack.ts';
import { pack } from '../src/program/plan/incremental.ts';
import { plan } from '../src/program/plan/plan.ts';
import { type Engine, type Prepared, unlimited } from './engine.ts';
import { type ModelWorkload, policySet } from './policy-model.ts';
import { policyFiles, toFacts } from './policy-text.ts';
import type { Workload } from './workloads.ts';

export const engine: Engine = {
  name: 'Writ',
  policiesMax: unlimited,
  prepare: (workload) => prepared(engineOf(workload), workload),
  prepareFromText: (workload) => {
    const { engine } = compileText(workload);
    if (engine === null) throw new Error('the policies have errors');
    return prepared(engine, workload);
  },
};

function prepared(engine: Linked, { requests }: Workload): Prepared {
  const facts = requests.map(toFacts);
  return { decide: (at) => engine.decideChecked(facts[at]!) };
}

/** From text; null where the checker refuses it. */
export function compileText(workload: Workload): Compiled {
  const readListFile = () => ({ code: 'list-file-missing', message: 'there are no list files' }) as const;
  return compile({ files: policyFiles(workload), readListFile });
}

/** Up to this size the whole way from text is gone. */
const policiesFromTextMax = 100;

export function engineOf(workload: Workload, realisation: Realisation = 'by size'): Linked {
  const fromText = workload.policies <= policiesFromTextMax ? compileText(workload).program : null;
  return link(fromText ?? programOf(workload), createFunctionCache(), realisation);
}

/** From the model, without text. */
export function programOf(workload: ModelWorkload): OpenProgram {
  return unpack(pack(plan(policySet(workload), sha256), sha256));
}

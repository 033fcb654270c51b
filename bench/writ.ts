// Writ itself as an engine, from policy text to the function that decides. One engine does what a request
// does (payload check, decision, trace), the other makes the bare decision, as a program that embeds Writ
// can.

import { type LinkedFunctions, link } from '../src/language/emit/link.ts';
import { type CompileResult, compile, createCompileCache, findErrors } from '../src/pipeline.ts';
import { type Decided, type Engine, type Prepared, unlimited } from './engine.ts';
import { policyFiles, toFacts } from './policy-text.ts';
import type { Workload } from './workloads.ts';

type Facts = ReturnType<typeof toFacts>;

/** Makes the bare decision, for a payload whose shape is known to be right; the peers do the same. */
export const engine = engineBy('Writ', (linked) => linked.decideChecked);

/** Checks the payload, decides, and traces every rule of the action as the record needs it. */
export const requestEngine = engineBy('Writ, a request', (linked) => {
  return (facts) => linked.decideTraced(facts).decision;
});

function engineBy(name: string, decideOf: (linked: LinkedFunctions) => (facts: Facts) => Decided): Engine {
  const prepared = (linked: LinkedFunctions, { requests }: Workload): Prepared => {
    const facts = requests.map(toFacts);
    const decide = decideOf(linked);
    return { decide: (at) => decide(facts[at]!) };
  };
  return {
    name,
    policiesMax: unlimited,
    prepare: async (workload) => prepared(await engineOf(workload), workload),
    prepareFromText: (workload) => prepared(fromText(workload), workload),
  };
}

/** Compiles from text, as a service does at its start; `engine` is null when the policies have errors. */
function compileText(workload: Workload): CompileResult {
  const readListFile = () => ({ code: 'list-file-missing', message: 'there are no list files' }) as const;
  return compile({ files: policyFiles(workload), readListFile }, createCompileCache(), findErrors);
}

function fromText(workload: Workload): LinkedFunctions {
  const { engine } = compileText(workload);
  if (engine === null) throw new Error('the policies have errors');
  return engine;
}

/** Up to this size policies are compiled from text, which works with every revision. */
const policiesFromTextMax = 10_000;

export async function engineOf(workload: Workload): Promise<LinkedFunctions> {
  if (workload.policies <= policiesFromTextMax) return fromText(workload);
  const { programOf } = await import('./from-model.ts');
  return link(programOf(workload));
}

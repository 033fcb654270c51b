// Writ itself, from policy text to the function that decides: what a request does (payload check, decision, trace), and
// the bare decision, which a program that embeds Writ may ask for alone.

import { type Linked, link } from '../src/language/emit/link.ts';
import { type Compiled, compile, createCompileCache, findErrors } from '../src/pipeline.ts';
import { type Decided, type Engine, type Prepared, unlimited } from './engine.ts';
import { policyFiles, toFacts } from './policy-text.ts';
import type { Workload } from './workloads.ts';

type Facts = ReturnType<typeof toFacts>;

/** The bare decision, for a payload that is known to be of its shape: what the peers do. */
export const engine = engineBy('Writ', (linked) => linked.decideChecked);

/** The payload checked, decided, and every rule of the action traced as the record has it. */
export const requestEngine = engineBy('Writ, a request', (linked) => {
  return (facts) => linked.decideTraced(facts).decision;
});

function engineBy(name: string, decideOf: (linked: Linked) => (facts: Facts) => Decided): Engine {
  const prepared = (linked: Linked, { requests }: Workload): Prepared => {
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

/** From text, as a service does at its start; null where the checker refuses it. */
function compileText(workload: Workload): Compiled {
  const readListFile = () => ({ code: 'list-file-missing', message: 'there are no list files' }) as const;
  return compile({ files: policyFiles(workload), readListFile }, createCompileCache(), findErrors);
}

function fromText(workload: Workload): Linked {
  const { engine } = compileText(workload);
  if (engine === null) throw new Error('the policies have errors');
  return engine;
}

/** Up to this size the whole way from text is gone, which every revision can go. */
const policiesFromTextMax = 10_000;

export async function engineOf(workload: Workload): Promise<Linked> {
  if (workload.policies <= policiesFromTextMax) return fromText(workload);
  const { programOf } = await import('./from-model.ts');
  return link(programOf(workload));
}

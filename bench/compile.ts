// Measures compilation from policies to a function that is ready: what one changed file costs, the stages
// behind the checker, and the memory that stays in use. `process.ts` measures the whole way from text,
// together with the peers.

import type { SourceText } from '../src/language/diagnostic/span.ts';
import { link } from '../src/language/emit/link.ts';
import { unpack } from '../src/language/program/packed/unpack.ts';
import { createPlanCache, planPacked } from '../src/language/program/plan/incremental.ts';
import { heapBytes } from '../src/measure/measure.ts';
import { compile, createCompileCache, findErrors, sha256 } from '../src/pipeline.ts';
import { policySet } from './policy-model.ts';
import { policyFiles, toFacts } from './policy-text.ts';
import { createWorkload, type WorkloadName } from './workloads.ts';

export interface ChangedFigures {
  readonly files: number;
  /** Milliseconds from a changed text to functions, a figure a round; each round changes another file. */
  readonly changedMs: readonly number[];
}

export interface ModelFigures {
  readonly planMs: number;
  readonly linkMs: number;
  /** Heap bytes that program and functions keep after requests have been decided. */
  readonly bytesPerPolicy: number;
  /** The share of `bytesPerPolicy` that the functions keep besides the program. */
  readonly linkedBytesPerPolicy: number;
}

const policiesPerFile = 50;

export function measureChanged(workload: WorkloadName, policies: number, rounds: number): ChangedFigures {
  const files = [...policyFiles(createWorkload(workload, policies), policiesPerFile)];
  const readListFile = () => ({ code: 'list-file-missing', message: 'there are no list files' }) as const;
  const memory = createCompileCache();
  const compileAll = (): number => {
    const started = performance.now();
    if (compile({ files: [...files], readListFile }, memory, findErrors).engine === null) {
      throw new Error('does not compile');
    }
    return performance.now() - started;
  };
  compileAll();
  const changedMs: number[] = [];
  // Round -1 is not counted: it warms up code that only a second compilation runs.
  for (let round = -1; round < rounds; round += 1) {
    const at = files.length - 2 - round;
    files[at] = withOneChange(files[at]!);
    const took = compileAll();
    if (round >= 0) changedMs.push(took);
  }
  return { files: files.length, changedMs };
}

/** Returns the file with the effect of its first rule reversed. Throws when the file has no such rule. */
function withOneChange({ path, text }: SourceText): SourceText {
  const changed = text.replace(/\b(allow|deny) r\b/, (_, effect) =>
    effect === 'allow' ? 'deny r' : 'allow r',
  );
  if (changed === text) throw new Error(`${path} has no rule to change`);
  return { path, text: changed };
}

export function measureModel(name: WorkloadName, policies: number): ModelFigures {
  const workload = createWorkload(name, policies);
  const set = policySet(workload);
  const facts = workload.requests.map(toFacts);
  const before = heapBytes();
  const started = performance.now();
  const program = planPacked(set, createPlanCache(sha256));
  const planned = performance.now();
  const programBytes = heapBytes() - before;
  const linking = performance.now();
  const engine = link(unpack(program));
  const linked = performance.now();
  for (const one of facts) engine.decide(one);
  const bytes = heapBytes() - before;
  // Uses the engine once more, so that the garbage collector cannot have freed it before the heap was
  // measured.
  engine.decide(facts[0]!);
  return {
    planMs: planned - started,
    linkMs: linked - linking,
    bytesPerPolicy: bytes / policies,
    linkedBytesPerPolicy: (bytes - programBytes) / policies,
  };
}

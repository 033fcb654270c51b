// From policies to a function that is ready: time by stage and memory kept. Run with --expose-gc.

import { createFunctionCache, link } from '../src/emit/link.ts';
import { compile } from '../src/pipeline.ts';
import { plan } from '../src/program/plan.ts';
import { policySet } from './policy-model.ts';
import { policyFiles, toFacts } from './policy-text.ts';
import { createWorkload, type WorkloadName } from './workloads.ts';

export interface TextFigures {
  readonly workload: WorkloadName;
  readonly policies: number;
  readonly textBytes: number;
  /** From text to ready. */
  readonly readyMs: number;
  /** The same again with one file changed and the functions of before. */
  readonly changedMs: number;
}

export interface ModelFigures {
  readonly workload: WorkloadName;
  readonly policies: number;
  readonly planMs: number;
  readonly linkMs: number;
  /** Kept by program and functions together, once requests have been decided. */
  readonly bytesPerPolicy: number;
  /** Of these, what the functions keep beside the program. */
  readonly linkedBytesPerPolicy: number;
}

export function measureText(workload: WorkloadName, policies: number): TextFigures {
  const files = policyFiles(createWorkload(workload, policies));
  const textBytes = files.reduce((sum, { text }) => sum + text.length, 0);
  const readListFile = () => ({ code: 'list-file-missing', message: 'there are no list files' }) as const;
  const cache = createFunctionCache();
  const compileAll = (own: typeof files): number => {
    const started = performance.now();
    if (compile({ files: own, readListFile }, cache).engine === null) throw new Error('does not compile');
    return performance.now() - started;
  };
  const readyMs = compileAll(files);
  const changed = files.map((file, at) =>
    at === files.length - 1 ? { ...file, text: `# changed\n${file.text}` } : file,
  );
  return { workload, policies, textBytes, readyMs, changedMs: compileAll(changed) };
}

export function measureModel(name: WorkloadName, policies: number): ModelFigures {
  const workload = createWorkload(name, policies);
  const set = policySet(workload);
  const facts = workload.requests.map(toFacts);
  const before = heapUsed();
  const started = performance.now();
  const program = plan(set);
  const planned = performance.now();
  const engine = link(program);
  const linked = performance.now();
  const programBytes = heapUsed() - before;
  for (const one of facts) engine.decide(one);
  const bytes = heapUsed() - before;
  const withoutLink = program.actions.size === 0 ? 0 : heapOf(() => plan(set));
  return {
    workload: name,
    policies,
    planMs: planned - started,
    linkMs: linked - planned,
    bytesPerPolicy: Math.max(bytes, programBytes) / policies,
    linkedBytesPerPolicy: (bytes - withoutLink) / policies,
  };
}

function heapOf(make: () => unknown): number {
  const before = heapUsed();
  const made = make();
  const bytes = heapUsed() - before;
  return made === null ? 0 : bytes;
}

function heapUsed(): number {
  if (globalThis.gc === undefined) throw new Error('run with --expose-gc');
  globalThis.gc();
  const { heapUsed: used, arrayBuffers } = process.memoryUsage();
  return used + arrayBuffers;
}

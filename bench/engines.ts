// The engines by the short names under which processes are told of them; each is loaded where it is measured. Adapters of
// peers are found by name: their packages are installed for the benchmarks alone.

import type { Engine } from './engine.ts';

export const engineKeys = [
  'writ-request',
  'map',
  'hand-written',
  'hand-written-request',
  'writ',
  'json-logic',
  'casl',
  'cel',
  'casbin',
  'json-rules-engine',
  'cedar',
  'opa',
] as const;
export type EngineKey = (typeof engineKeys)[number];

export async function loadEngine(key: EngineKey): Promise<Engine> {
  switch (key) {
    case 'map':
      return (await import('./map-look-up.ts')).engine;
    case 'hand-written':
      return (await import('./hand-written.ts')).engine;
    case 'hand-written-request':
      return (await import('./hand-written.ts')).requestEngine;
    case 'writ-request':
      return (await import('./writ.ts')).requestEngine;
    case 'writ':
      return (await import('./writ.ts')).engine;
    case 'json-logic':
    case 'casl':
    case 'cel':
    case 'casbin':
    case 'json-rules-engine':
    case 'cedar':
    case 'opa': {
      const adapter = new URL(`peers/${key}.ts`, import.meta.url).href;
      return ((await import(adapter)) as { readonly engine: Engine }).engine;
    }
  }
}

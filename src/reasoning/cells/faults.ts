// Faults that tests cause on purpose, one maker of cells at a time, to see that the tests would notice such a
// fault.

export const faultNames = [
  'numbers-lack-a-constant',
  'numbers-lack-the-last-gap',
  'texts-lack-a-constant',
  'texts-lack-the-rest',
  'texts-lack-a-vector',
  'addresses-lack-an-edge',
  'times-lack-boundaries',
  'absent-is-forgotten',
  'null-is-forgotten',
  'unknown-is-forgotten',
  'lists-have-one-element',
  'readings-lack-others',
  'windows-are-turned-around',
  'sums-lack-their-constant',
  'sums-lack-their-rest',
  'lines-lack-an-edge',
  'lookups-lack-a-row',
  'months-have-no-days',
] as const;

export type Fault = (typeof faultNames)[number];
export type Faults = ReadonlySet<Fault>;

export const noFaults: Faults = new Set();

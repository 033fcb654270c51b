// Cuts addresses into cells at the ends of networks and at constants. The first address of a stretch stands
// for all of the stretch.

import type { Cidr, Ip } from '../../language/value/ip.ts';
import type { Faults } from './faults.ts';
import type { LeafAtom } from './leaf.ts';

const widths = { 4: 32, 6: 128 } as const;

export function addressCells(atoms: readonly LeafAtom[], faults: Faults): readonly Ip[] {
  const starts: Ip[] = [
    { family: 4, bits: 0n },
    { family: 6, bits: 0n },
    ...atoms.flatMap(({ understood }) => startsOf(understood)),
  ];
  const inside = starts.filter(({ family, bits }) => bits >> BigInt(widths[family]) === 0n);
  const cells = [...new Map(inside.map((ip) => [`${ip.family} ${ip.bits}`, ip])).values()];
  return faults.has('addresses-lack-an-edge') ? cells.slice(0, -1) : cells;
}

function startsOf(understood: LeafAtom['understood']): readonly Ip[] {
  if (understood.kind === 'network') return [understood.cidr, after(understood.cidr)];
  if (understood.kind !== 'values') return [];
  return (understood.values as readonly Ip[]).flatMap((ip) => [ip, { ...ip, bits: ip.bits + 1n }]);
}

function after({ family, bits, prefix }: Cidr): Ip {
  return { family, bits: bits + (1n << BigInt(widths[family] - prefix)) };
}

// Collects the constants of a policy set by kind. Decisions change at constants, so useful test requests are
// made of them.

import { descendants } from '../../language/model/children.ts';
import type { Expression } from '../../language/model/expression.ts';
import type { PolicySet } from '../../language/model/policy.ts';
import type { Quantity, Type } from '../../language/model/type.ts';
import type { Money, Value } from '../../language/model/value.ts';
import type { Decimal } from '../../language/value/decimal.ts';

export interface Constants {
  readonly texts: readonly string[];
  readonly currencies: readonly string[];
  /** The numbers of each kind; amounts of money are under `number`. */
  readonly quantities: Readonly<Record<Quantity, readonly Decimal[]>>;
}

const entriesMax = 50;

export function constantsOf(set: PolicySet): Constants {
  const texts = new Set<string>();
  const currencies = new Set<string>();
  const quantities: Record<Quantity, Decimal[]> = {
    number: [],
    integer: [],
    duration: [],
    date: [],
    timestamp: [],
    datetime: [],
  };
  const keep = (type: Type, value: Value): void => {
    if (typeof value === 'string') texts.add(value);
    else if (type.kind === 'money') {
      const { amount, currency } = value as Money;
      quantities.number.push(amount);
      if (currency !== null) currencies.add(currency);
    } else if (type.kind in quantities) quantities[type.kind as Quantity].push(value as Decimal);
  };
  for (const expression of expressionsOf(set)) {
    for (const part of descendants(expression)) {
      if (part.kind === 'literal') keep(part.type, part.value);
      // The pattern once with each star removed, and once with a letter in its place.
      if (part.kind === 'like')
        texts.add(part.pattern.replaceAll('*', '')).add(part.pattern.replaceAll('*', 'x'));
    }
  }
  for (const { type, entries } of set.lists.values()) {
    for (const entry of entries.slice(0, entriesMax)) keep(type, entry);
  }
  // Conditions compare numbers with integers, so both kinds share their constants.
  const numbers = [...quantities.number, ...quantities.integer];
  quantities.number = numbers;
  quantities.integer = numbers;
  return { texts: [...texts], currencies: [...currencies], quantities };
}

function expressionsOf(set: PolicySet): readonly Expression[] {
  return [
    ...set.policies.flatMap(({ rules }) => rules.map(({ condition }) => condition)),
    ...[...set.lets.values()].map(({ expression }) => expression),
    ...set.guarantees.flatMap(({ claims }) => claims.flatMap(({ when }) => when ?? [])),
  ];
}

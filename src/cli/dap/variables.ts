// Turns a decision under way into the variables that an editor shows: the parts of a condition with their
// values, the request, the agent, meters, and unknown facts. INVARIANT: the value of a secret is never shown.

import { randomBytes } from 'node:crypto';
import type { DecisionStep } from '../../analysis/decision-steps.ts';
import type { MeterReading } from '../../language/model/request.ts';
import { compare, formatDecimal } from '../../language/value/decimal.ts';
import { createSecretHider } from '../../service/requests/record/secrets.ts';
import type { LaunchResult } from './launch.ts';
import type { DapScope, DapVariable } from './protocol.ts';
import { partsOfStep } from './walk-cursor.ts';

/** A value that an editor shows; null is a value, too. */
export type VariableValue =
  | { readonly [name: string]: VariableValue }
  | readonly VariableValue[]
  | string
  | number
  | boolean
  | null;

/** The facts as an editor shows them, by name: `payload`, `agent`, `request`, `meters`, `now`. */
export type VariableValues = Readonly<Record<string, VariableValue>>;

/**
 * The key is random, because nobody compares the text in place of a secret with the text for the same secret
 * elsewhere.
 */
const hideSecrets = createSecretHider(randomBytes(32));

export function factVariables({ walked: { facts, set, decision } }: LaunchResult): VariableValues {
  const shape = set.actions.get(facts.action)?.shape ?? null;
  const isWellShaped = decision.by !== 'invalid_payload';
  return {
    payload: hideSecrets(facts.payload, { shape, isWellShaped }) as VariableValue,
    agent: facts.agent as unknown as VariableValue,
    request: facts.request as unknown as VariableValue,
    meters: Object.fromEntries(
      Object.entries(facts.meters).map(([name, reading]) => [name, readingText(reading)]),
    ),
    now: new Date(facts.nowMs).toISOString(),
  };
}

function readingText({ low, high }: MeterReading): string {
  return compare(low, high) === 0 ? formatDecimal(low) : `${formatDecimal(low)} to ${formatDecimal(high)}`;
}

/** Gives a number to each value that has parts; an editor asks for the parts by that number. */
export class DebugVariables {
  readonly #groups: (() => readonly DapVariable[])[] = [];

  scopes(launched: LaunchResult, at: number): readonly DapScope[] {
    const { steps, walked } = launched;
    const facts = factVariables(launched);
    const step = steps[at]!;
    const parts = [...(step.kind === 'condition' ? [step] : []), ...partsOfStep(steps, at)];
    const unknown = walked.unknown.map(({ name, why }): DapVariable => this.#plain(name, why));
    const scope = (name: string, group: () => readonly DapVariable[]): DapScope => ({
      name,
      variablesReference: this.#add(group),
      expensive: false,
    });
    return [
      ...(parts.length === 0
        ? []
        : [
            {
              ...scope('Condition', () => parts.map((part) => this.#part(part))),
              presentationHint: 'locals' as const,
            },
          ]),
      scope('So far', () => this.#soFar(steps.slice(0, at + 1), launched)),
      ...Object.entries(facts).flatMap(([name, value]) =>
        typeof value === 'object' && value !== null
          ? [scope(titles[name] ?? name, () => this.#within(value, name))]
          : [],
      ),
      scope('Unknown', () => unknown),
    ];
  }

  variables(reference: number): readonly DapVariable[] {
    return this.#groups[reference - 1]?.() ?? [];
  }

  /** A value as the answer to an expression that a person evaluates. */
  show(name: string, value: VariableValue): DapVariable {
    return this.#shown(name, value, name);
  }

  #add(group: () => readonly DapVariable[]): number {
    this.#groups.push(group);
    return this.#groups.length;
  }

  #plain(name: string, value: string): DapVariable {
    return { name, value, variablesReference: 0 };
  }

  #part({ text, truth, value, why }: DecisionStep): DapVariable {
    const partValue = truth ?? value ?? '';
    return { ...this.#plain(text, why === null ? partValue : `${partValue}: ${why}`), evaluateName: text };
  }

  #soFar(steps: readonly DecisionStep[], { walked }: LaunchResult): readonly DapVariable[] {
    const last = steps.at(-1)!;
    const rules = steps
      .filter(({ kind, rule }) => kind === 'outcome' && rule !== null)
      .map(({ rule, truth }) => this.#plain(rule!.id, truth ?? 'unknown'));
    const { outcome, by, reason, risk } = walked.decision;
    if (last.kind !== 'decision') return rules;
    const score = risk.low === risk.high ? String(risk.high) : `${risk.low} to ${risk.high}`;
    return [
      this.#plain('decision', outcome),
      this.#plain('by', by),
      this.#plain('reason', reason),
      this.#plain('risk', score),
      ...rules,
    ];
  }

  #within(
    value: Exclude<VariableValue, string | number | boolean | null>,
    path: string,
  ): readonly DapVariable[] {
    return Object.entries(value).map(([name, part]) =>
      this.#shown(name, part as VariableValue, Array.isArray(value) ? null : `${path}.${name}`),
    );
  }

  #shown(name: string, value: VariableValue, path: string | null): DapVariable {
    const evaluateName = path === null ? {} : { evaluateName: path };
    if (typeof value !== 'object' || value === null)
      return { name, value: JSON.stringify(value), variablesReference: 0, ...evaluateName };
    const count = Object.keys(value).length;
    const reference = count === 0 ? 0 : this.#add(() => this.#within(value, path ?? name));
    return { name, value: JSON.stringify(value), variablesReference: reference, ...evaluateName };
  }
}

const titles: Readonly<Record<string, string>> = {
  payload: 'Payload',
  agent: 'Agent',
  request: 'Request',
  meters: 'Meters',
};

// The rules of one action by way of templates, placed in one array: for each rule the shared function, where the next
// rule begins, and the constants. Rules that differ in constants alone run the same code, so that a hundred thousand of
// them need no more code than ten, and what one decision reads stands together.

import type { OpenProgram } from '../program/packed/unpack.ts';
import type { ActionProgram, Condition, RuleHead, Term } from '../program/program.ts';
import {
  type Constant,
  conditionTemplate,
  type ProgramTemplate,
  reasonTemplate,
  termTemplate,
} from '../program/template.ts';
import type { CacheSession } from './cache.ts';
import {
  type EmittedTemplate,
  emitCondition,
  emitReason,
  emitTerm,
  type TemplateSource,
} from './code/emit.ts';
import type { CodeSlot, ConstantContext } from './code/writer.ts';
import type { TextSets } from './runtime/membership.ts';
import type { SharedLet } from './runtime/runtime.ts';
import type { ReasonCode, RuleCode } from './runtime/state.ts';

/** A template, ready to be used by every rule that has it. */
export interface ReadyTemplate {
  readonly text: string;
  readonly code: RuleCode<unknown>;
  readonly slots: readonly CodeSlot[];
}

/** Where shared code comes from, for all actions of a program. */
export interface SharedSource {
  readonly program: OpenProgram;
  readonly session: CacheSession;
  readonly textSets: TextSets;
  /** Turns text into a function. */
  readonly run: (emitted: EmittedTemplate) => RuleCode<unknown>;
}

/**
 * The rules of an action as shared functions, each placed in the layout when it is wanted. A class, as there is one for each of
 * perhaps many thousand actions, and methods take no room in them.
 */
export class SharedRules {
  readonly #source: SharedSource;
  readonly #lets: SharedLet[] = [];
  #reasons: Map<string, ReasonCode> | null = null;
  /** See `digits`. Rules stand here in the order in which they have been placed, behind the lets. */
  readonly layout: unknown[] = [];

  constructor(lets: ActionProgram['lets'], source: SharedSource) {
    this.#source = source;
    for (const [index, { value }] of lets.entries()) {
      this.#lets.push({ index, layout: this.layout, base: this.#place(letTemplate(value, source)) });
    }
  }

  /** Returns where the constants of the rule with this condition begin. */
  placeRule(condition: Condition): number {
    return this.#place(ruleTemplate(condition, this.#source));
  }

  /** The rule's reason where it shows values. */
  reason(rule: RuleHead): ReasonCode {
    this.#reasons ??= new Map();
    const known = this.#reasons.get(rule.id) ?? this.#createReason(rule);
    this.#reasons.set(rule.id, known);
    return known;
  }

  #createReason({ reason }: RuleHead): ReasonCode {
    const { layout } = this;
    const base = this.#place(reasonCode(reason, this.#source));
    const code = layout[base - 2] as RuleCode<string>;
    return (facts, state) => code(facts, state, layout, base);
  }

  #place({ template, ready }: Placed): number {
    const { layout } = this;
    const { program, session, textSets } = this.#source;
    const letAt = (index: number): SharedLet | undefined => this.#lets[index];
    const ctx: ConstantContext = { program, lists: session.lists, textSets, letAt };
    const base = layout.length + 2;
    layout.push(ready.code, base + ready.slots.length + 2);
    for (const { place, make } of ready.slots) layout.push(make(template.constants[place] as Constant, ctx));
    return base;
  }
}

/** The text that rules with this condition share. */
export function ruleText(condition: Condition, source: SharedSource): string {
  return ruleTemplate(condition, source).ready.text;
}

/** A template with the constants of one rule, and the function of all that have it. */
interface Placed {
  readonly template: ProgramTemplate;
  readonly ready: ReadyTemplate;
}

function ruleTemplate(condition: Condition, source: SharedSource): Placed {
  const template = conditionTemplate(condition, source.program.lists);
  return readyTemplate('rule', template, source, (from) => emitCondition(condition, from));
}

function letTemplate(value: Term, source: SharedSource): Placed {
  const template = termTemplate(value, source.program.lists);
  return readyTemplate('let', template, source, (from) => emitTerm(value, from));
}

function reasonCode(reason: RuleHead['reason'], source: SharedSource): Placed {
  const template = reasonTemplate(reason, source.program.lists);
  return readyTemplate('reason', template, source, (from) => emitReason(reason, from));
}

function readyTemplate(
  kind: string,
  template: ProgramTemplate,
  { program, session, run }: SharedSource,
  emit: (from: TemplateSource) => EmittedTemplate,
): Placed {
  const ready = session.shared(`${kind} ${template.key}`, (): ReadyTemplate => {
    const emitted = emit({ program, lists: session.lists, template });
    return { text: emitted.text, code: run(emitted), slots: emitted.slots };
  });
  return { template, ready };
}

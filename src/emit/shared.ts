// The rules of one action by way of templates, laid out in one array: for each rule the shared function, where the next
// rule begins, and the constants. Rules that differ in constants alone run the same code, so that a hundred thousand of
// them need no more code than ten, and what one decision reads stands together.

import type { ActionProgram, PlannedRule, Program } from '../program/program.ts';
import {
  type Constant,
  conditionTemplate,
  reasonTemplate,
  type Template,
  termTemplate,
} from '../program/template.ts';
import type { CacheSession } from './cache.ts';
import type { ReasonCode, RuleCode } from './decide.ts';
import { type EmittedTemplate, emitCondition, emitReason, emitTerm } from './emit.ts';
import type { SharedLet } from './runtime.ts';
import type { ConstantContext, Slot } from './writer.ts';

/** A template, ready to be used by every rule that has it. */
export interface ReadyTemplate {
  readonly text: string;
  readonly code: RuleCode<unknown>;
  readonly slots: readonly Slot[];
}

/** The rules of an action as shared functions. */
export interface SharedRules {
  /** See `layout`; rules that do not read risk come first, by place, then those that do. */
  readonly layout: readonly unknown[];
  /** Where the constants of each rule begin, by its place. */
  readonly bases: Int32Array;
  /** The rule's reason where it shows values. */
  readonly reason: (rule: PlannedRule) => ReasonCode;
  /** The templates in use. */
  readonly templates: ReadonlySet<ReadyTemplate>;
}

/** Where shared code comes from and what it is made for. */
export interface SharedSource {
  readonly program: Program;
  readonly session: CacheSession;
  /** Turns text into a function. */
  readonly run: (emitted: EmittedTemplate) => RuleCode<unknown>;
}

export function createSharedRules(action: ActionProgram, source: SharedSource): SharedRules {
  const { program, session } = source;
  const { lists } = session;
  const templates = new Set<ReadyTemplate>();
  const layout: unknown[] = [];
  const lets: SharedLet[] = [];
  const ctx: ConstantContext = { program, lists, letAt: (index) => lets[index] };

  /** Lays out one function with its constants; returns where these begin. */
  const lay = (kind: string, template: Template, emit: () => EmittedTemplate): number => {
    const ready = session.template(`${kind} ${template.key}`, () => {
      const emitted = emit();
      return { text: emitted.text, code: source.run(emitted), slots: emitted.slots };
    });
    templates.add(ready);
    const base = layout.length + 2;
    layout.push(ready.code, base + ready.slots.length + 2);
    for (const { place, make } of ready.slots) {
      layout.push(session.same(make(template.constants[place] as Constant, ctx)));
    }
    return base;
  };

  const bases = new Int32Array(action.rules.length);
  const layRules = (readsRisk: boolean): void => {
    for (const [place, rule] of action.rules.entries()) {
      if (rule.readsRisk !== readsRisk) continue;
      const template = conditionTemplate(rule.condition, program.lists);
      const from = { program, lists, template };
      bases[place] = lay('rule', template, () => emitCondition(rule.condition, from));
    }
  };

  // Rules find lets by their place, which is laid out behind them but known before.
  for (const index of action.lets.keys()) lets.push({ index, layout, base: 0 });
  layRules(false);
  layRules(true);
  for (const [index, { value }] of action.lets.entries()) {
    const template = termTemplate(value, program.lists);
    const from = { program, lists, template };
    lets[index]!.base = lay('let', template, () => emitTerm(value, from));
  }

  const reasons = new Map<PlannedRule, ReasonCode>();
  const createReason = ({ reason }: PlannedRule): ReasonCode => {
    const template = reasonTemplate(reason, program.lists);
    const from = { program, lists, template };
    const base = lay('reason', template, () => emitReason(reason, from));
    const code = layout[base - 2] as RuleCode<string>;
    return (facts, state) => code(facts, state, layout, base);
  };

  return {
    templates,
    layout,
    bases,
    reason: (rule) => {
      const known = reasons.get(rule) ?? createReason(rule);
      reasons.set(rule, known);
      return known;
    },
  };
}

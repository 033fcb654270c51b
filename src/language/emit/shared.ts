// The rules of one action as templates in one array, the layout. Each rule has the shared function, the start
// of the next rule, and its constants. Rules that differ only in constants run the same code, so a hundred
// thousand of them need no more code than ten, and the data that one decision reads is close together.

import type { NamedApprover } from '../model/policy.ts';
import type { OpenProgram } from '../program/packed/unpack.ts';
import type { ActionProgram, Condition, RuleHead, Term } from '../program/program.ts';
import {
  approverTemplate,
  type Constant,
  conditionTemplate,
  type ProgramTemplate,
  reasonTemplate,
  termTemplate,
} from '../program/template.ts';
import type { CacheSession } from './cache.ts';
import {
  type EmittedTemplate,
  emitApprover,
  emitCondition,
  emitReason,
  emitTerm,
  type TemplateSource,
} from './code/emit.ts';
import type { CodeSlot, ConstantContext } from './code/writer.ts';
import type { TextSets } from './runtime/membership.ts';
import type { SharedLet } from './runtime/runtime.ts';
import type { ApproverCode, ReasonCode, RuleCode } from './runtime/state.ts';

/** A template that is ready for every rule that has it. */
export interface ReadyTemplate {
  readonly text: string;
  readonly code: RuleCode<unknown>;
  readonly slots: readonly CodeSlot[];
}

/** What shared code is made from, for all actions of a program. */
export interface SharedSource {
  readonly program: OpenProgram;
  readonly session: CacheSession;
  readonly textSets: TextSets;
  /** Turns generated text into a function. */
  readonly run: (emitted: EmittedTemplate) => RuleCode<unknown>;
}

/**
 * The rules of an action as shared functions, each added to the layout when it is needed. A class, because
 * there may be many thousands of actions, and methods take no memory in each of them.
 */
export class SharedRules {
  readonly #source: SharedSource;
  readonly #lets: SharedLet[] = [];
  #reasons: Map<string, ReasonCode> | null = null;
  /** By the text of the approver, which means the same wherever it stands. */
  #approvers: Map<string, ApproverCode> | null = null;
  /** The layout; see `digitsOf`. Rules follow the lets, in the order in which they were added. */
  readonly layout: unknown[] = [];

  constructor(lets: ActionProgram['lets'], source: SharedSource) {
    this.#source = source;
    for (const [index, { value }] of lets.entries()) {
      this.#lets.push({ index, layout: this.layout, base: this.#place(letTemplate(value, source)) });
    }
  }

  /** Adds a rule with this condition to the layout and returns where its constants begin. */
  placeRule(condition: Condition): number {
    return this.#place(ruleTemplate(condition, this.#source));
  }

  /** Returns the function that makes the rule's reason, for a reason that shows values. */
  reason(rule: RuleHead): ReasonCode {
    this.#reasons ??= new Map();
    const cached = this.#reasons.get(rule.id) ?? this.#createReason(rule);
    this.#reasons.set(rule.id, cached);
    return cached;
  }

  /** Returns the function that reads the name of an approver. */
  approver(approver: NamedApprover<Term>): ApproverCode {
    this.#approvers ??= new Map();
    const known = this.#approvers.get(approver.text) ?? this.#createApprover(approver);
    this.#approvers.set(approver.text, known);
    return known;
  }

  #createApprover(approver: NamedApprover<Term>): ApproverCode {
    const { layout } = this;
    const base = this.#place(approverCode(approver, this.#source));
    const code = layout[base - 2] as RuleCode<ReturnType<ApproverCode>>;
    return (facts, state) => code(facts, state, layout, base);
  }

  #createReason({ reason }: RuleHead): ReasonCode {
    const { layout } = this;
    const base = this.#place(reasonCode(reason, this.#source));
    const code = layout[base - 2] as RuleCode<string>;
    return (facts, state) => code(facts, state, layout, base);
  }

  #place({ template, ready }: TemplateInstance): number {
    const { layout } = this;
    const { program, session, textSets } = this.#source;
    const letAt = (index: number): SharedLet | undefined => this.#lets[index];
    const ctx: ConstantContext = { program, lists: session.lists, textSets, letAt };
    const base = layout.length + 2;
    layout.push(ready.code, base + ready.slots.length + 2);
    for (const { index: place, make } of ready.slots)
      layout.push(make(template.constants[place] as Constant, ctx));
    return base;
  }
}

/** Returns the text that all rules with a condition of this form share. */
export function ruleText(condition: Condition, source: SharedSource): string {
  return ruleTemplate(condition, source).ready.text;
}

/** A template with the constants of one rule, and the function that all rules of the template share. */
interface TemplateInstance {
  readonly template: ProgramTemplate;
  readonly ready: ReadyTemplate;
}

function ruleTemplate(condition: Condition, source: SharedSource): TemplateInstance {
  const template = conditionTemplate(condition, source.program.lists);
  return readyTemplate('rule', template, source, (from) => emitCondition(condition, from));
}

function letTemplate(value: Term, source: SharedSource): TemplateInstance {
  const template = termTemplate(value, source.program.lists);
  return readyTemplate('let', template, source, (from) => emitTerm(value, from));
}

function reasonCode(reason: RuleHead['reason'], source: SharedSource): TemplateInstance {
  const template = reasonTemplate(reason, source.program.lists);
  return readyTemplate('reason', template, source, (from) => emitReason(reason, from));
}

function approverCode(approver: NamedApprover<Term>, source: SharedSource): TemplateInstance {
  const template = approverTemplate(approver, source.program.lists);
  return readyTemplate('approver', template, source, (from) => emitApprover(approver, from));
}

function readyTemplate(
  kind: string,
  template: ProgramTemplate,
  { program, session, run }: SharedSource,
  emit: (from: TemplateSource) => EmittedTemplate,
): TemplateInstance {
  const ready = session.shared(`${kind} ${template.key}`, (): ReadyTemplate => {
    const emitted = emit({ program, lists: session.lists, template });
    return { text: emitted.text, code: run(emitted), slots: emitted.slots };
  });
  return { template, ready };
}

// A trace as a tree: policies, their rules with how each condition turned out, and under each rule the values
// it read and, if known, the parts of its condition. When there are many rules, those that do not hold are
// folded and their number is shown.

import { useState } from 'preact/hooks';
import { Badge } from '../layout/badge.tsx';
import { Button } from '../layout/button.tsx';
import './condition-tree.css';
import { Icon, type IconName } from '../layout/icon.tsx';
import { PlainPieces, PlainText } from '../text/plain-text.tsx';
import { SourceText } from './source-text.tsx';
import {
  missingText,
  type TraceEntry,
  type TraceRead,
  type TraceRule,
  type Truth,
  tracePolicies,
  traceRules,
} from './trace.ts';

interface ConditionTreeProps {
  /** The trace of `GET /v1/requests/{id}`, or of a decision that was tried. */
  readonly trace: readonly TraceEntry[];
  /** Number of further rules of the action, none of which took part. */
  readonly others?: number;
  /** Id of the rule that decided (`policy/rule`); null or absent when it is not known. */
  readonly decidedBy?: string | null;
  /** Texts of rules by rule id, as far as they are known. */
  readonly sources?: ReadonlyMap<string, RuleSource>;
  /** The conditions of rules part by part, if the decision was explained again. */
  readonly conditions?: readonly Condition[];
}

/** A condition in the reply of `GET /v1/requests/{id}/explain`. */
export interface Condition {
  readonly rule: string;
  readonly truth: string;
  readonly lines: readonly ConditionLine[];
}

interface ConditionLine {
  readonly depth: number;
  readonly text: string;
  readonly value: string;
  /** Null for a part that is a value. */
  readonly truth: Truth | null;
}

export interface RuleSource {
  readonly file: string;
  readonly line: number;
  readonly text: string;
}

/** With more rules than this, those that do not hold are folded. */
const rulesShownMax = 8;

const noSources: ReadonlyMap<string, RuleSource> = new Map();

function othersText(named: number, others: number): string {
  if (named === 0) return `None of the action's ${others.toLocaleString()} rules took part.`;
  return others === 1
    ? "One more rule of the action didn't take part."
    : `${others.toLocaleString()} more rules of the action didn't take part.`;
}

export function ConditionTree({
  trace,
  others = 0,
  decidedBy = null,
  sources = noSources,
  conditions = [],
}: ConditionTreeProps) {
  const [areAllShown, setAllShown] = useState(false);
  const rules = traceRules(trace);
  const isFoldable = rules.length > rulesShownMax;
  const shown =
    isFoldable && !areAllShown
      ? rules.filter(({ truth, id }) => truth !== 'false' || id === decidedBy)
      : rules;
  const hidden = rules.length - shown.length;
  if (rules.length === 0 && others === 0)
    return <p>No rule was evaluated: the request was refused earlier.</p>;
  return (
    <div class="tree">
      {tracePolicies(shown, decidedBy).map(({ name, rules: own }) => (
        <div class="tree-policy" key={name}>
          <h3>
            policy <PlainText text={name} isShort />
          </h3>
          <ul class="tree-rules">
            {own.map((rule) => (
              <Rule
                key={rule.id}
                rule={rule}
                isDeciding={rule.id === decidedBy}
                source={sources.get(rule.id) ?? null}
                lines={linesOf(rule, conditions)}
              />
            ))}
          </ul>
        </div>
      ))}
      {others > 0 && <p>{othersText(rules.length, others)}</p>}
      {isFoldable && (
        <div>
          <Button aria-expanded={areAllShown} onClick={() => setAllShown(!areAllShown)}>
            {areAllShown
              ? 'Hide rules that are false'
              : `Show ${hidden.toLocaleString()} ${hidden === 1 ? 'rule' : 'rules'} that ${hidden === 1 ? 'is' : 'are'} false`}
          </Button>
        </div>
      )}
    </div>
  );
}

const truths: Readonly<Record<Truth, { readonly icon: IconName; readonly word: string }>> = {
  true: { icon: 'check', word: 'holds' },
  false: { icon: 'close', word: 'does not hold' },
  unknown: { icon: 'unknown', word: 'unknown' },
};

interface RuleProps {
  readonly rule: TraceRule;
  readonly isDeciding: boolean;
  readonly source: RuleSource | null;
  readonly lines: readonly ConditionLine[];
}

/** Empty when the explanation found another truth for the rule: it does not explain a decision made later. */
function linesOf({ id, truth }: TraceRule, conditions: readonly Condition[]): readonly ConditionLine[] {
  const condition = conditions.find(({ rule }) => rule === id);
  return condition?.truth === truth ? condition.lines : [];
}

function Rule({ rule, isDeciding, source, lines }: RuleProps) {
  const { truth, effect, name, points, isShadow, isSatisfied } = rule;
  // Reads that the parts of the condition already show are left out.
  const reads = rule.reads.filter(({ path }) => !lines.some((line) => line.text === path));
  const [isSourceShown, setSourceShown] = useState(false);
  const { icon, word } = truths[truth];
  return (
    <li class={`tree-rule tree-rule-${truth}`}>
      <div class="tree-head">
        <span class="tree-truth">
          <Icon name={icon} size={14} /> {word}
        </span>
        <div class="tree-rule-name">
          <span class="tree-effect">{effect}</span>
          <span class="tree-name">
            <PlainText text={name} isShort />
          </span>
          {isDeciding && <Badge tone={effectTones[effect] ?? 'unknown'}>decides</Badge>}
          {isSatisfied && <Badge tone="allow">met by people</Badge>}
          {isShadow && <Badge tone="unknown">shadow: only watched</Badge>}
          {points !== 0 && <span class="tree-effect">risk {pointsText(points)}</span>}
          {source !== null && (
            <button
              type="button"
              class="tree-toggle"
              aria-expanded={isSourceShown}
              onClick={() => setSourceShown(!isSourceShown)}
            >
              source<span class="visually-hidden"> of {name}</span>
            </button>
          )}
        </div>
      </div>
      {source !== null && isSourceShown && (
        <div class="tree-source">
          <SourceText {...source} />
        </div>
      )}
      {lines.length > 0 && (
        <ul class="tree-lines">
          {lines.map((line, index) => (
            <PartLine key={index} line={line} />
          ))}
        </ul>
      )}
      {reads.length > 0 && (
        <ul class="tree-reads">
          {reads.map((read) => (
            <ReadLine key={read.path} read={read} />
          ))}
        </ul>
      )}
    </li>
  );
}

const effectTones: Readonly<Record<string, 'allow' | 'deny' | 'escalate' | 'reauth'>> = {
  allow: 'allow',
  deny: 'deny',
  escalate: 'escalate',
  reauth: 'reauth',
};

export function pointsText(points: number): string {
  return points > 0 ? `+${points}` : `−${-points}`;
}

/** Deeper parts are not indented further than this, so that they fit a narrow screen. */
const depthMax = 8;

function PartLine({ line: { depth, text, value, truth } }: { readonly line: ConditionLine }) {
  return (
    <li
      class={`tree-part tree-part-${truth ?? 'value'}`}
      style={{ paddingInlineStart: `${Math.min(depth, depthMax) * 1.1}rem` }}
    >
      {truth === null ? (
        <span class="tree-part-sign" />
      ) : (
        <span class="tree-part-sign">
          <Icon name={truths[truth].icon} size={13} />
          <span class="visually-hidden">{truths[truth].word}: </span>
        </span>
      )}
      <span>
        <code>
          <PlainText text={text} />
        </code>
        {truth === null && (
          <span class="tree-value">
            {' = '}
            <PlainText text={value} />
          </span>
        )}
      </span>
    </li>
  );
}

function ReadLine({ read: { path, value, missing } }: { readonly read: TraceRead }) {
  return (
    <li class="tree-read">
      <code>
        <PlainPieces text={path} />
      </code>
      {missing === null ? (
        <span class="tree-value">
          = <PlainText text={valueText(value)} />
        </span>
      ) : (
        <span class="tree-missing">{missingText(missing)}</span>
      )}
    </li>
  );
}

/** The trace's texts are already escaped; quotes show where a text begins and ends. */
function valueText(value: unknown): string {
  return typeof value === 'string' ? `"${value}"` : (JSON.stringify(value) ?? '');
}

// Turns Cedar policies into a policy file and the list of what became of each policy. Each Cedar policy is one policy of Writ,
// with one rule, or several where the kinds of requests differ. INVARIANT: a policy that permits is carried as strictly or
// stricter, or not at all; one that forbids is always carried.

import { parse } from '../../../language/syntax/parse.ts';
import { printFile } from '../../../language/syntax/print/print.ts';
import { SettingsError } from '../host-settings.ts';
import { createNames } from '../rule-names.ts';
import type { ImportedEntry, WrittenPolicies } from '../write-policies.ts';
import type { CedarPolicy } from './cedar-policies.ts';
import type { CedarPolicyJson } from './cedar-wasm.ts';
import { type Condition, conditionText, isConstant } from './condition.ts';
import { type Declarations, declarationsOf, type Environment, idField } from './environment.ts';
import { plain, text, visible } from './texts.ts';
import { translatePolicy } from './translate-policy.ts';

/** A rule with the actions of the same condition. */
export interface WrittenRule {
  readonly name: string;
  readonly effect: CedarPolicyJson['effect'];
  readonly keys: readonly string[];
  readonly condition: Condition;
}

interface WrittenPolicy {
  readonly policy: CedarPolicy;
  readonly rules: readonly WrittenRule[];
  readonly reasons: readonly string[];
}

/** Names that the policies must not have, besides those of types. */
const taken = ['enforcement_point', 'requests_to_compare'];

export interface CedarSource {
  readonly policies: readonly CedarPolicy[];
  readonly environments: readonly Environment[];
  /** The enforcement point that sends the requests. */
  readonly point: string;
  /** The fact that the principal has to be; null for none. */
  readonly principal: PrincipalFact | null;
}

/** Who the principal is in Writ: the person on whose behalf an agent asks, or the agent. */
export const principalFacts = ['user', 'agent'] as const;
export type PrincipalFact = (typeof principalFacts)[number];

const factPaths: Readonly<Record<PrincipalFact, string>> = { user: 'request.user.id', agent: 'agent.name' };

export interface WrittenCedar extends WrittenPolicies {
  readonly rules: readonly WrittenRule[];
}

export function writeCedarPolicies(source: CedarSource): WrittenCedar {
  const { environments, policies } = source;
  if (environments.length === 0)
    throw new SettingsError('the schema has no action that applies to something');
  // An entity that a later policy opens is a record for an earlier one, too.
  let written: readonly { readonly policy: CedarPolicy; readonly parts: readonly TranslatedPart[] }[] = [];
  for (let opened = -1; opened !== countOpened(environments); ) {
    opened = countOpened(environments);
    written = policies.map((policy) => ({ policy, parts: partsOf(policy, environments) }));
  }
  const declarations = declarationsOf(environments);
  const names = createNames();
  for (const name of [...taken, ...declarations.types.map((one) => one.name)]) names(name);
  const all = written.map(({ policy, parts }) => writtenPolicy(policy, parts, names));
  return {
    policy: policyText(source, declarations, all),
    entries: all.map(importedEntry),
    rules: all.flatMap(({ rules }) => rules),
  };
}

function countOpened(environments: readonly Environment[]): number {
  return environments.reduce((sum, { opened }) => sum + opened.size, 0);
}

interface TranslatedPart {
  readonly key: string;
  readonly condition: Condition;
  readonly reasons: readonly string[];
}

/** The condition for each kind of request that the policy may meet. */
function partsOf({ json }: CedarPolicy, environments: readonly Environment[]): readonly TranslatedPart[] {
  return environments.map((env) => ({ key: env.key, ...translatePolicy(env, json) }));
}

function writtenPolicy(
  policy: CedarPolicy,
  parts: readonly TranslatedPart[],
  names: (wanted: string) => string,
): WrittenPolicy {
  const met = parts.filter(({ condition }) => !isConstant(condition, false));
  const groups = Map.groupBy(met, ({ condition }) => conditionText(condition));
  const wanted = policy.name ?? `${policy.file.replace(/\.cedar$/, '')} ${policy.line}`;
  const rules = [...groups.values()].map((group) => ({
    name: names(wanted),
    effect: policy.json.effect,
    keys: group.map(({ key }) => key),
    condition: group[0]!.condition,
  }));
  return { policy, rules, reasons: [...new Set(parts.flatMap(({ reasons }) => reasons))] };
}

function policyText(
  { environments, point, principal }: CedarSource,
  { types, actions }: Declarations,
  written: readonly WrittenPolicy[],
): string {
  const source = [
    '# Cedar policies, imported by `writ import`. The report beside this file lists what became of each policy.\n',
    ...types.map(({ name, type }) => `type ${name} = ${type}\n`),
    ...actions.map(({ key, title, payload }) => `action ${key} ${text(title)} { ${payload} }\n`),
    '# The attributes of the payload count only from the program that asked Cedar.',
    `policy enforcement_point on ${environments.map(({ key }) => key).join(', ')} {`,
    `deny direct unless request.point == ${text(point)} because ${text(`Only ${plain(point)} may ask`)}`,
    ...(principal === null ? [] : [otherPrincipalText(principal)]),
    '}\n',
    ...written.flatMap(({ policy, rules }) => rules.map((rule) => ruleText(policy, rule))),
  ].join('\n');
  const { file, diagnostics } = parse({ path: 'cedar.policy', text: source });
  const [error] = diagnostics.filter(({ severity }) => severity === 'error');
  if (error !== undefined) throw new SettingsError(`a policy cannot be written: ${error.message}`);
  return printFile(file);
}

function otherPrincipalText(principal: PrincipalFact): string {
  return `deny other_principal unless payload.principal.${idField} == ${factPaths[principal]} because "The principal is another ${principal}"`;
}

function ruleText(policy: CedarPolicy, { name, keys, condition }: WrittenRule): string {
  const { effect } = policy.json;
  const when = isConstant(condition, true) ? '' : ` when ${bare(condition)}`;
  const reason = `because ${text(`Forbidden by ${plain(policy.name ?? `${policy.file}:${policy.line}`)}`)}`;
  const rule = effect === 'permit' ? `allow permit${when}` : `deny forbid${when} ${reason}`;
  return [
    `# ${entryText(policy)} in ${policy.file}:${policy.line}`,
    `policy ${name} on ${keys.join(', ')} {`,
    rule,
    '}\n',
  ].join('\n');
}

/** Without the parentheses around the whole. */
function bare(condition: Condition): string {
  return condition.kind === 'and' || condition.kind === 'or'
    ? conditionText(condition).slice(1, -1)
    : conditionText(condition);
}

/** The effect with the name of the policy. */
export function entryText({ name, json }: Pick<CedarPolicy, 'name' | 'json'>): string {
  return name === null ? json.effect : `${json.effect} ${visible(name)}`;
}

function importedEntry({ policy, rules, reasons }: WrittenPolicy): ImportedEntry {
  const { effect } = policy.json;
  const because = reasons.join('; ');
  return {
    list: `${policy.file}:${policy.line}`,
    text: entryText(policy),
    rules: rules.map(({ name }) => `${name}/${effect}`),
    reason: rules.length > 0 ? null : because === '' ? 'no request of the schema can meet it' : because,
    stricter: rules.length > 0 && because !== '' ? because : null,
  };
}

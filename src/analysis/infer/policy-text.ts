// Turns what was learned about actions into the text of policy files and list files. The text goes through the
// parser and the formatter. INVARIANT: texts of requests occur only as quoted constants and list entries.

import { hasErrors } from '../../language/diagnostic/diagnostic.ts';
import { parse } from '../../language/syntax/parse.ts';
import { printFile } from '../../language/syntax/print/print.ts';
import { escapeControls } from '../../language/value/text.ts';
import { type FieldLesson, type Guard, snakeCase } from './guards.ts';
import { isOneOf, type MembershipTest } from './value-classes.ts';

export interface InferredList {
  readonly name: string;
  readonly entries: readonly string[];
}

/** What is written about one action. */
export interface ActionText {
  readonly key: string;
  readonly policy: string;
  /** The declaration of the action; null if the existing policies have it. */
  readonly declaration: string | null;
  /** The rule that allows what was seen; null if the existing policies allow it. */
  readonly allow: { readonly condition: string | null; readonly silence: string | null } | null;
  readonly guards: readonly Guard[];
  readonly fields: readonly FieldLesson[];
  /** What the policy rests on, in one sentence. */
  readonly basis: string;
}

export interface InferredFile {
  /** The path in the folder of the inferred files. */
  readonly path: string;
  readonly text: string;
}

/** The group that is asked about rare requests. */
export interface InferredApprovers {
  readonly name: string;
  /** Whether the existing policies declare it. */
  readonly isDeclared: boolean;
  /** Whether nobody named it, so that it has to be renamed or filled. */
  readonly isPlaceholder: boolean;
}

export interface InferredTexts {
  readonly actions: readonly ActionText[];
  readonly lists: readonly InferredList[];
  readonly approvers: InferredApprovers;
}

/** The policy files, and the list files that they name. */
export function filesOf({ actions, lists, approvers }: InferredTexts): readonly InferredFile[] {
  const written = actions.filter(({ guards, allow }) => guards.length > 0 || allow !== null);
  const asks = written.some(({ guards }) => guards.some(({ effect }) => effect === 'escalate'));
  const byArea = [...Map.groupBy(written, ({ key }) => snakeCase(key.split('.')[0]!))];
  const used = lists.filter((list) => written.some((action) => isUsed(list, action)));
  const firstUse = new Map(used.map((list) => [list, written.find((action) => isUsed(list, action))]));
  const listsOf = (action: ActionText): readonly InferredList[] =>
    used.filter((list) => firstUse.get(list) === action);
  return [
    ...byArea.map(([area, own]) => areaFile(area, own, { listsOf, approvers: approvers.name })),
    ...(asks && !approvers.isDeclared ? [approversFile(approvers)] : []),
    ...used.map(listFile),
  ];
}

const header =
  '# Inferred from recorded requests by `writ infer`. Review each rule before you use this file.\n';

interface AreaContext {
  /** The lists that are declared before the policy of an action. */
  readonly listsOf: (action: ActionText) => readonly InferredList[];
  readonly approvers: string;
}

function areaFile(
  area: string,
  actions: readonly ActionText[],
  { listsOf, approvers }: AreaContext,
): InferredFile {
  const path = `${area}.policy`;
  const parts = actions.flatMap((action) => [
    ...(action.declaration === null ? [] : [action.declaration]),
    ...listsOf(action).map((list) => `list ${list.name} from "${listPath(list)}"`),
    policyText(action, approvers),
  ]);
  return { path, text: formatted(path, `${header}\n${parts.join('\n\n')}\n`) };
}

function isUsed({ name }: InferredList, { guards, allow }: ActionText): boolean {
  const use = new RegExp(`\\bin ${name}\\b`);
  return [...guards.map(({ clause }) => clause), allow?.condition ?? ''].some((text) => use.test(text));
}

function policyText({ key, policy, allow, guards, fields, basis }: ActionText, approvers: string): string {
  const free = fields.filter(({ isRestricted }) => !isRestricted);
  const openText = free
    .map(({ field, basis: why }) => `${escapeControls(field.replace(/^payload\./, ''))} (${why})`)
    .join(', ');
  const rules = [
    ...(allow === null ? [] : [allowText(allow)]),
    ...guards.map((guard) => guardText(guard, approvers)),
  ];
  const open = free.length === 0 ? '' : `# Not restricted: ${openText}.\n`;
  return `# ${basis}\n${open}policy ${policy} on ${key} {\n${rules.join('\n\n')}\n}`;
}

function allowText({ condition, silence }: NonNullable<ActionText['allow']>): string {
  const note = silence === null ? '' : `  # writ: allow allow-unconditional because ${silence}\n`;
  const when = condition === null ? '' : `\n    when ${condition}`;
  return `${note}  allow seen${when}\n    because "Like the recorded requests"`;
}

function guardText({ name, effect, clause, reason, basis }: Guard, approvers: string): string {
  const to = effect === 'escalate' ? ` to ${approvers}` : '';
  const because = reason === null ? '' : `\n    because ${reason}`;
  return `  # ${escapeControls(basis)}\n  ${effect} ${name}${to}\n    ${clause}${because}`;
}

function approversFile({ name, isPlaceholder }: InferredApprovers): InferredFile {
  const path = 'approvers.policy';
  const note = isPlaceholder
    ? '# A placeholder: nobody can approve until people are in this group. Rename it to one of your groups, or infer\n# again with `--approvers`.'
    : '# The group that `--approvers` named. Nobody can approve until people are in it.';
  const text = `${header}\n${note}\napprovers ${name} "Reviewers of rare requests"\n`;
  return { path, text: formatted(path, text) };
}

/** Throws for a text that cannot be parsed, which would be a bug of this folder. */
function formatted(path: string, text: string): string {
  const { file, diagnostics } = parse({ path, text });
  if (hasErrors(diagnostics))
    throw new Error(`the inferred text cannot be parsed: ${JSON.stringify(diagnostics[0])}\n${text}`);
  return printFile(file);
}

function listFile(list: InferredList): InferredFile {
  const { entries } = list;
  const text = isPlain(list) ? `${entries.join('\n')}\n` : `${JSON.stringify(entries, null, 1)}\n`;
  return { path: listPath(list), text };
}

function listPath(list: InferredList): string {
  return `lists/${list.name}.${isPlain(list) ? 'txt' : 'json'}`;
}

/** Whether each entry is a line of its own that a reader of lines takes unchanged. */
function isPlain({ entries }: InferredList): boolean {
  return entries.every((entry) => !/^\s*$|^# |[\p{Cc}\p{Cf}]/u.test(entry));
}

/** The most texts that a condition lists itself, and their length in UTF-16 code units. */
const inlineMax = 8;
const inlineCodeUnitsMax = 90;

/** Collects list files; equal lists are one. A class because each list needs a name of its own. */
export class ListFiles {
  readonly #taken: Set<string>;
  readonly lists: InferredList[] = [];
  readonly #byEntries = new Map<string, InferredList>();

  constructor(taken: Set<string>) {
    this.#taken = taken;
  }

  /** Membership tests of a place; the names of their lists begin with `name`. */
  membershipOf(name: string): MembershipTest {
    return (subject, texts, use) => {
      const isShort = texts.length <= inlineMax && texts.join('').length <= inlineCodeUnitsMax;
      if (isShort || texts.length === 1) return (own) => isOneOf(subject(own), texts);
      const list = this.#listOf(use === 'seen' ? name : `${name}_rare`, texts);
      return (own) => `${subject(own)} in ${list.name}`;
    };
  }

  #listOf(name: string, entries: readonly string[]): InferredList {
    const key = JSON.stringify(entries);
    const known = this.#byEntries.get(key);
    if (known !== undefined) return known;
    const list = { name: uniqueName(name, this.#taken), entries };
    this.#byEntries.set(key, list);
    this.lists.push(list);
    return list;
  }
}

/** The name, with a number if it is taken; takes the name. */
export function uniqueName(name: string, taken: Set<string>): string {
  let unique = name;
  for (let number = 2; taken.has(unique); number += 1) unique = `${name}_${number}`;
  taken.add(unique);
  return unique;
}

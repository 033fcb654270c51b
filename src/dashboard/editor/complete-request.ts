// Completes a request that is tried, which is written as JSON: names of its parts, fields of its action, and
// values of types with few values.

import type { CompletionList, CompletionOption } from '../../language/assist/completion-list.ts';
import type { Vocabulary } from '../../language/assist/vocabulary.ts';

const parts: readonly CompletionOption[] = [
  { label: 'action_key', info: 'the action of the request' },
  { label: 'payload', info: 'the payload of the request', apply: '"payload": {' },
  { label: 'agent', info: 'facts about the agent from the registry', apply: '"agent": {' },
  { label: 'at', info: 'the time of the request, with an offset (default: now)' },
  { label: 'session', info: 'the session from X-Agent-Session' },
  { label: 'point', info: 'the enforcement point that sends the request' },
  { label: 'chain', info: 'the names of the delegations by which a sub-agent asks', apply: '"chain": [' },
  { label: 'address', info: 'the IP address of the client' },
  { label: 'signed', info: 'whether the request has a valid signature' },
  { label: 'user', info: 'the person for whom the agent acts', apply: '"user": {' },
  { label: 'meters', info: 'the reading of each meter', apply: '"meters": {' },
  { label: 'tables', info: 'rows of pushed tables, by table and key', apply: '"tables": {' },
];
const tiers = ['low', 'medium', 'high', 'critical'];
const agentParts: readonly CompletionOption[] = [
  { label: 'risk_tier', detail: tiers.join(' | ') },
  { label: 'tags', detail: 'list of texts' },
  { label: 'name', detail: 'text' },
  { label: 'id', detail: 'text' },
  { label: 'control_owner', detail: 'text' },
];

const userParts: readonly CompletionOption[] = [
  { label: 'id', detail: 'text' },
  { label: 'email', detail: 'text' },
  { label: 'roles', detail: 'list of texts' },
  { label: 'groups', detail: 'list of texts' },
];

export function completeRequest(
  vocabulary: Vocabulary,
  text: string,
  { at, isAsked }: { readonly at: number; readonly isAsked: boolean },
): CompletionList | null {
  const position = jsonPlaceAt(text.slice(0, at));
  if (position === null || (!isAsked && !position.hasBegun)) return null;
  const action = /"action_key"\s*:\s*"([^"\\]*)"/.exec(text)?.[1];
  const options = position.isName
    ? names(vocabulary, position.path, action).map((offer) => ({ apply: `"${offer.label}": `, ...offer }))
    : values(vocabulary, position.path, action);
  const free = options.filter(({ label }) => !position.isName || !position.namesBefore.has(label));
  return free.length === 0
    ? null
    : { from: position.from, options: free.map((one) => closed(one, text, at)) };
}

/** An editor closes quotes by itself, so an offer before such a quote ends there. */
function closed(offer: CompletionOption, text: string, at: number): CompletionOption {
  const { apply } = offer;
  if (apply === undefined || text.charAt(at) !== '"') return offer;
  return { ...offer, apply: apply.replace(/^("(?:[^"\\]|\\.)*)".*$/, '$1') };
}

function names(
  { actions, names: { meters } }: Vocabulary,
  path: string,
  action: string | undefined,
): readonly CompletionOption[] {
  if (path === '') return parts;
  if (path === '/agent') return agentParts;
  if (path === '/user') return userParts;
  if (path === '/meters') return meters.map((label) => ({ label, detail: 'meter' }));
  const base = path.slice(1).replaceAll(/\/\d+/g, '[]').replaceAll('/', '.');
  const fields = actions.find(({ key }) => key === action)?.fields ?? [];
  return fields.flatMap(({ path: field, type }) => {
    const name = field.startsWith(`${base}.`) ? field.slice(base.length + 1) : '';
    const isOwn = /^(?:\w+|"(?:[^"\\]|\\.)*")$/.test(name);
    return isOwn ? [{ label: name.replace(/^"(.*)"$/, '$1'), detail: type }] : [];
  });
}

function values(
  { actions }: Vocabulary,
  path: string,
  action: string | undefined,
): readonly CompletionOption[] {
  if (path === '/action_key') return actions.map(({ key }) => ({ label: key, apply: JSON.stringify(key) }));
  if (path === '/agent/risk_tier') return tiers.map((tier) => ({ label: tier, apply: JSON.stringify(tier) }));
  if (path === '/signed') return [{ label: 'true' }, { label: 'false' }];
  const field = path.slice(1).replaceAll(/\/\d+/g, '[]').replaceAll('/', '.');
  const type =
    actions.find(({ key }) => key === action)?.fields.find((one) => one.path === field)?.type ?? '';
  if (/^boolean\b/.test(type)) return [{ label: 'true' }, { label: 'false' }];
  const texts = /^(?:secret |signed )*("(?:[^"\\]|\\.)*"(?: \| )?)+/.exec(type)?.[0] ?? '';
  return [...texts.matchAll(/"(?:[^"\\]|\\.)*"/g)].map(([written]) => ({
    label: written.slice(1, -1),
    apply: written,
  }));
}

interface JsonPosition {
  /** JSON pointer: for a name to the object, else to the value itself. */
  readonly path: string;
  readonly isName: boolean;
  /** Offset at which the unfinished name or value begins, its quote included. */
  readonly from: number;
  readonly hasBegun: boolean;
  readonly namesBefore: ReadonlySet<string>;
}

interface OpenPart {
  readonly kind: 'object' | 'list';
  /** Name or index of the part that is being written. */
  step: string;
  /** Whether a name comes next; only in an object. */
  awaitsName: boolean;
  readonly names: Set<string>;
}

/** Returns null after a complete part, where neither a name nor a value may begin. */
function jsonPlaceAt(before: string): JsonPosition | null {
  const open: OpenPart[] = [];
  let isComplete = false;
  const tokens = [...before.matchAll(/"(?:[^"\\]|\\.)*"?|[{}[\],:]|[^\s{}[\],:"]+/g)];
  const last = tokens.at(-1);
  const endsInToken = last !== undefined && (last.index ?? 0) + last[0].length === before.length;
  const unfinished = endsInToken && isUnfinished(last[0]) ? last : null;
  for (const token of unfinished === null ? tokens : tokens.slice(0, -1)) {
    const [text] = token;
    const part = open.at(-1);
    if (text === '{' || text === '[') {
      const kind = text === '{' ? 'object' : 'list';
      open.push({ kind, step: kind === 'list' ? '0' : '', awaitsName: kind === 'object', names: new Set() });
      isComplete = false;
    } else if (text === '}' || text === ']') {
      open.pop();
      isComplete = true;
    } else if (text === ',') {
      if (part?.kind === 'list') part.step = String(Number(part.step) + 1);
      else if (part !== undefined) part.awaitsName = true;
      isComplete = false;
    } else if (text === ':') isComplete = false;
    else if (part?.awaitsName === true) {
      part.step = text.replace(/^"|"$/g, '');
      part.names.add(part.step);
      part.awaitsName = false;
      isComplete = true;
    } else isComplete = true;
  }
  const part = open.at(-1);
  if (part === undefined || isComplete) return null;
  const parentPath = open
    .slice(0, -1)
    .map(({ step }) => `/${step}`)
    .join('');
  return {
    path: part.awaitsName ? parentPath : `${parentPath}/${part.step}`,
    isName: part.awaitsName,
    from: unfinished?.index ?? before.length,
    hasBegun: unfinished !== null,
    namesBefore: part.names,
  };
}

/** An open text or a word; a number cannot be completed. */
function isUnfinished(token: string): boolean {
  return /^"(?:[^"\\]|\\.)*$/.test(token) || /^[A-Za-z]/.test(token);
}

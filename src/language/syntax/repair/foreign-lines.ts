// Whole lines and rules in the order of other languages → what to write here. They are left out of what is read.

import { isAnyWord, retype, sign, type Token, tokenEnd, word, wordTypes } from '../parse/tokens.ts';
import { type Foreign, instead, lookaheadMax, writtenText } from './foreign-form.ts';
import { entryTypes } from './foreign-relations.ts';
import type { Repair, RepairState } from './problem.ts';

const oneSet = 'remove it: all files of a directory are one policy set';

const lines: Readonly<Record<string, Pick<Foreign, 'message' | 'help'>>> = {
  import: { message: 'files are not imported', help: oneSet },
  include: { message: 'files are not included', help: oneSet },
  use: { message: 'files are not imported', help: oneSet },
  package: { message: 'files belong to no package', help: oneSet },
  namespace: { message: 'files belong to no namespace', help: oneSet },
  module: { message: 'files belong to no module', help: oneSet },
  default: {
    message: 'nothing is declared as the default',
    help: 'remove it: what no `allow` grants is refused',
  },
};

/** `import data.orders` and `default allow = false` outside of declarations. */
export function repairForeignLine(index: number, state: RepairState): Repair | null {
  const { tokens, braces } = state;
  const token = tokens[index]!;
  if (braces > 0 || !Object.hasOwn(lines, token.image) || !startsLine(index, state)) return null;
  const end = endOfLine(index, state);
  const rest = tokens.slice(index + 1, end);
  const isOther = rest.some(({ tokenType }) => tokenType === sign.openCurly || tokenType === word.on);
  if (rest.length === 0 || isOther) return null;
  const isAllowed = token.image === 'default' && rest.some(({ image }) => image === 'true');
  const foreign = { ...lines[token.image]!, write: isAllowed ? null : '' };
  return instead({ index, taken: end - index }, foreign, [], state);
}

function startsLine(index: number, state: RepairState): boolean {
  const [before, token] = [state.tokens[index - 1], state.tokens[index]!];
  return before === undefined || isLineBetween(before, token, state);
}

function endOfLine(index: number, state: RepairState): number {
  let end = index + 1;
  while (end < state.tokens.length && !isLineBetween(state.tokens[end - 1]!, state.tokens[end]!, state))
    end++;
  return end;
}

function isLineBetween(first: Token, second: Token, { reader }: RepairState): boolean {
  return /[\r\n]/.test(reader.source.text.slice(tokenEnd(first), second.startOffset));
}

const effects = wordTypes('allow', 'deny', 'escalate', 'reauth');
const endsSearch: ReadonlySet<unknown> = new Set([
  ...effects,
  word.when,
  word.unless,
  sign.closeCurly,
  word.policy,
]);

/** `when c then deny x` and `if c { deny x }` where a rule begins. */
export function repairConditionFirst(index: number, state: RepairState): Repair | null {
  const { tokens } = state;
  if (state.braces !== 1 || state.declaration !== word.policy) return null;
  let at = index + 1;
  while (at < Math.min(tokens.length, index + lookaheadMax) && !endsCondition(at, state)) at++;
  const [effect, name, close] = [tokens[at + 1], tokens[at + 2], tokens[at + 3]];
  const isThen = tokens[at]?.image === 'then';
  const isBlock = tokens[at]?.tokenType === sign.openCurly && close?.tokenType === sign.closeCurly;
  if (at === index + 1 || !effects.has(effect?.tokenType) || !(isThen || isBlock) || !isAnyWord(name))
    return null;
  const condition = writtenText(tokens[index + 1]!, tokens[at - 1]!, state);
  const write = `${effect!.image} ${name!.image} when ${condition}`;
  const foreign = {
    message: 'a rule begins with its effect and its name',
    help: `write \`${write}\``,
    write,
  };
  return instead({ index, taken: at + (isThen ? 3 : 4) - index }, foreign, [], state);
}

function endsCondition(at: number, { tokens }: RepairState): boolean {
  const { tokenType, image } = tokens[at]!;
  return image === 'then' || tokenType === sign.openCurly || endsSearch.has(tokenType);
}

/** A list with a dash before each entry. */
export function repairDashedList(index: number, state: RepairState): Repair | null {
  const { tokens, reader } = state;
  if (tokens[index - 2]?.tokenType !== word.list) return null;
  const entries: Token[] = [];
  let at = index + 1;
  while (tokens[at]?.tokenType === sign.minus && entryTypes.has(tokens[at + 1]?.tokenType)) {
    if (!isLineBetween(tokens[at - 1]!, tokens[at]!, state)) break;
    entries.push(tokens[at + 1]!);
    at += 2;
  }
  const [first, last] = [entries[0], entries.at(-1)];
  if (first === undefined || last === undefined) return null;
  const write = `[${entries.map(({ image }) => image).join(', ')}]`;
  const hasComment = reader.source.text.slice(first.startOffset, last.startOffset).includes('#');
  const foreign = { message: 'a list stands in square brackets', help: `write \`${write}\`` };
  const run = { index: index + 1, taken: at - index - 1 };
  instead(run, { ...foreign, write: hasComment ? null : write }, [], state);
  const better = entries.flatMap((entry, place) => {
    const dash = tokens[index + 1 + 2 * place]!;
    return [place === 0 ? retype(dash, sign.openSquare, '[') : retype(dash, sign.comma, ','), entry];
  });
  const close = {
    ...retype(last, sign.closeSquare, ']'),
    startOffset: tokenEnd(last),
    endOffset: tokenEnd(last) - 1,
  };
  return { taken: at - index, tokens: [tokens[index]!, ...better, close] };
}

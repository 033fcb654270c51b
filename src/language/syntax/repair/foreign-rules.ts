// Whole lines, rules and groups in the order of other languages → what to write here. Most are left out of what is read.

import { isAnyWord, isReservedToken, NameToken, sign, word } from '../parse/tokens.ts';
import { type Cursor, granting, lookaheadMax, type Repair } from './cursor.ts';

const oneSet = 'remove it: all files of a directory are one policy set';
const noDefault = 'remove it: what no `allow` grants is refused';
const imported = { message: 'files are not imported', help: oneSet };

const lines = new Map<string, { readonly message: string; readonly help: string }>([
  ['import', imported],
  ['use', imported],
  ['include', { message: 'files are not included', help: oneSet }],
  ['package', { message: 'files belong to no package', help: oneSet }],
  ['namespace', { message: 'files belong to no namespace', help: oneSet }],
  ['module', { message: 'files belong to no module', help: oneSet }],
  ['default', { message: 'nothing is declared as the default', help: noDefault }],
]);

/** `import data.orders` and `default allow = false` outside of declarations. */
export function repairForeignLine(here: Cursor): Repair | null {
  const { image } = here.token;
  const foreign = here.braces > 0 ? undefined : lines.get(image);
  if (foreign === undefined || !here.beginsLine(0)) return null;
  let to = 0;
  while (!here.beginsLine(to + 1)) to++;
  const rest = here.tokens.slice(here.index + 1, here.index + to + 1);
  const isOther = rest.some(({ tokenType }) => tokenType === sign.openCurly || tokenType === word.on);
  if (rest.length === 0 || isOther) return null;
  const isAllowed = image === 'default' && rest.some((token) => token.image === 'true');
  return { to, ...foreign, write: isAllowed ? undefined : '', read: [] };
}

const endsSearch: ReadonlySet<unknown> = new Set([
  ...granting,
  ...[word.when, word.unless, word.policy, sign.openCurly, sign.closeCurly],
]);

/** `when c then deny x` and `if c { deny x }` where a rule begins. */
export function repairConditionFirst(here: Cursor): Repair | null {
  if (here.braces !== 1 || here.declaration !== word.policy) return null;
  if (here.type(0) !== word.when && here.token.image !== 'if') return null;
  let at = 1;
  while (at < lookaheadMax && here.at(at) && !endsSearch.has(here.type(at)) && here.at(at)!.image !== 'then')
    at++;
  const [effect, name] = [here.at(at + 1), here.at(at + 2)];
  const isThen = here.at(at)?.image === 'then';
  const isNamed = isAnyWord(name) && !isReservedToken(name);
  const last = at + (isNamed ? 2 : 1);
  const isBlock = here.type(at) === sign.openCurly && here.type(last + 1) === sign.closeCurly;
  if (at === 1 || !granting.has(effect?.tokenType) || !(isThen || isBlock)) return null;
  const write = `${effect!.image} ${isNamed ? name!.image : 'NAME'} when ${here.text(1, at - 1)}`;
  return {
    to: isThen ? last : last + 1,
    message: 'a rule begins with its effect and its name',
    ...(isNamed ? { write } : { help: `write \`${write}\` with a name of your own` }),
    read: [],
  };
}

/** `else deny` behind a rule. */
export function repairElse(here: Cursor): Repair | null {
  if (!granting.has(here.type(1))) return null;
  const isNamed = here.type(2) === NameToken;
  const write = isNamed || here.type(1) !== word.deny ? undefined : '';
  const help =
    'remove it: what no `allow` grants is refused; another case is a rule of its own with its own `when`';
  return { to: isNamed ? 0 : 1, message: 'rules have no `else`', help, write, read: [] };
}

/** `to finance, security` asks both groups. */
export function repairGroupComma(here: Cursor): Repair | null {
  let at = 0;
  while ((here.type(at) === sign.comma || here.type(at) === word.and) && isAnyWord(here.at(at - 1))) at -= 2;
  const isAsked = at < 0 && (here.type(at) === word.to || here.type(at) === word.by);
  if (!isAsked) return null;
  const message = '`,` is written `and` here';
  return { code: 'foreign-operator', message, write: ' and', read: here.readAs('and') };
}

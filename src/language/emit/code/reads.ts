// Turns reads of the payload and of elements into JavaScript: the path to the JSON, and its conversion into a
// value. A step whose name every object inherits goes through `own`.

import { agentSigner, signersOf } from '../../model/signers.ts';
import type { CurrencyRead, Element, ReadFrom, ReadTerm, Sort, Term } from '../../program/program.ts';
import type { RuntimeName } from '../runtime/runtime.ts';
import { type Js, joinJs, js } from './js.ts';
import { use, type Writer } from './writer.ts';

/** The code of a value that is read; undefined or null when there is none. */
export function readCode(writer: Writer, term: ReadTerm): Js {
  const raw = rawCode(writer, term.read);
  // A loop has already turned its elements into values.
  return boundedCode(writer, term, isElementItself(term.read) ? raw : fieldValue(writer, term, raw));
}

/**
 * The code of a value. Within quantifiers, a text is unknown when it is too long to go through in every
 * round.
 */
export function boundedCode(writer: Writer, { sort }: Term, code: Js): Js {
  if (sort !== 'text' || writer.variables.size === 0) return code;
  return js`${use(writer, 'boundedText')}(${code}, s.rounds)`;
}

/**
 * The code of a value that is read, or of the fallback when the value is absent or null. A value that lacks
 * its required signature stays unknown.
 */
export function elseCode(writer: Writer, subject: ReadTerm, fallback: Js): Js {
  const { read } = subject;
  const chain = chainCode(writer, read);
  const missing = isElementItself(read) ? js`${chain} === null` : js`${chain} == null`;
  const value = isElementItself(read) ? chain : valuesOf(writer, subject, fieldValue(writer, subject, chain));
  const bounded = boundedCode(writer, subject, value);
  const chosen = js`(${missing} ? ${fallback} : ${bounded})`;
  return read.isSigned ? signedCode(writer, read, chosen) : chosen;
}

/**
 * The code of the list that a loop goes through: empty when absent or null, undefined when a required
 * signature is missing.
 */
export function listCode(writer: Writer, read: ReadFrom): Js {
  const empty = writer.unit.bindings.bind('no elements', () => Object.freeze([]));
  const chain = chainCode(writer, read);
  const list = read.mayBeAbsent ? js`(${chain} ?? ${empty})` : chain;
  return read.isSigned ? signedCode(writer, read, list) : list;
}

/** The code of the JSON at a place, whether or not a signature is required; undefined when there is none. */
export function chainCode(writer: Writer, read: ReadFrom): Js {
  if (!read.isDeclared) return js`undefined`;
  const variable = writer.variables.get(read.root);
  let code = variable ?? (read.root === 'result' ? js`f.result` : js`p`);
  let mayBeMissing = (variable !== undefined || read.root === 'result') && read.mayBeAbsent;
  for (const step of read.steps) {
    if (step in Object.prototype) code = js`${use(writer, 'own')}(${code}, ${step})`;
    else code = mayBeMissing ? js`${code}?.[${step}]` : js`${code}[${step}]`;
    mayBeMissing = read.mayBeAbsent;
  }
  return code;
}

/** The code of a list with its elements as values, not as JSON. */
export function valuesOf(writer: Writer, term: Term, list: Js): Js {
  const { element } = term;
  if (element === null || element.encoding === 'value') return list;
  const reader = readers[element.sort];
  return reader === undefined ? list : js`${use(writer, 'readAll')}(${list}, ${use(writer, reader)})`;
}

/** The code that turns one element of a list into the value of a variable. */
export function elementCode(writer: Writer, element: Element | null, raw: Js): Js {
  return element === null || element.encoding === 'value' ? raw : convert(writer, element.sort, raw);
}

/** The reader of each sort whose JSON has to be parsed before it can be compared. */
const readers: Partial<Record<Sort, RuntimeName>> = {
  date: 'readDate',
  timestamp: 'readTimestamp',
  datetime: 'readDatetime',
  ip: 'readIp',
};

function fieldValue(writer: Writer, { sort, currency }: ReadTerm, raw: Js): Js {
  if (sort !== 'money') return convert(writer, sort, raw);
  return js`${use(writer, 'readMoney')}(${raw}, ${currencyCode(writer, currency)})`;
}

function convert(writer: Writer, sort: Sort, raw: Js): Js {
  const reader = readers[sort];
  return reader === undefined ? raw : js`${use(writer, reader)}(${raw})`;
}

/** The code of a currency as text; undefined when there is none, or when a required signature is missing. */
function currencyCode(writer: Writer, currency: CurrencyRead | null): Js {
  if (currency === null) return js`undefined`;
  return currency.known === null ? rawCode(writer, currency.read) : js`${currency.known}`;
}

/** The code of the JSON at a place; undefined when absent, or when a required signature is missing. */
export function rawCode(writer: Writer, read: ReadFrom): Js {
  const chain = chainCode(writer, read);
  return read.isSigned ? signedCode(writer, read, chain) : chain;
}

function signedCode(writer: Writer, read: ReadFrom, code: Js): Js {
  return js`((${isSignedCode(writer, read)}) ? ${code} : undefined)`;
}

/**
 * The code of a test: whether every required signature is there or, for a read of the result, whether the
 * result is known.
 */
export function isSignedCode(writer: Writer, read: ReadFrom): Js {
  if (read.root === 'result' && !writer.variables.has(read.root)) return js`f.result !== undefined`;
  const tests = signersOf(read).map((signer) =>
    signer === agentSigner ? js`f.request.signed === true` : js`f.request.point === ${signer}`,
  );
  return joinJs(tests, js` && `);
}

function isElementItself(read: ReadFrom): boolean {
  return read.root !== 'payload' && read.steps.length === 0;
}

// Turns the operations of a PATCH (RFC 7644, section 3.5.2) into assignments, one attribute each, however a
// client writes them: with a path, with an object of several attributes, with the URN of the schema before a
// name, `op` in whatever case.

import { ScimError } from './scim-error.ts';
import { memberOf, objectOf } from './scim-values.ts';

export interface Assignment {
  readonly op: 'add' | 'replace' | 'remove';
  /** The path of the attribute in lower case, without the schema's URN and without a filter in brackets. */
  readonly path: string;
  /** The filter in brackets; null when there is none. */
  readonly filter: string | null;
  readonly value: unknown;
}

const coreUrn = /^urn:ietf:params:scim:schemas:core:2\.0:(?:user|group):/i;
const operationsMax = 1_000;

export function assignmentsOf(body: unknown): readonly Assignment[] {
  const operations = memberOf(objectOf(body, 'the body'), 'Operations');
  if (!Array.isArray(operations) || operations.length === 0 || operations.length > operationsMax) {
    const detail = `\`Operations\` must be a list of 1 to ${operationsMax}`;
    throw new ScimError(400, detail, 'invalidSyntax');
  }
  return operations.flatMap(assignmentsIn);
}

function assignmentsIn(given: unknown): readonly Assignment[] {
  const operation = objectOf(given, 'an operation');
  const op = String(memberOf(operation, 'op')).toLowerCase();
  if (op !== 'add' && op !== 'replace' && op !== 'remove') {
    throw new ScimError(400, '`op` must be one of add, replace, remove', 'invalidSyntax');
  }
  const [path, value] = [memberOf(operation, 'path'), memberOf(operation, 'value')];
  if (typeof path === 'string') return [assignment(op, path, value)];
  if (op === 'remove') throw new ScimError(400, '`remove` needs a `path`', 'invalidPath');
  return Object.entries(objectOf(value, '`value` without a `path`')).map(([name, one]) =>
    assignment(op, name, one),
  );
}

function assignment(op: Assignment['op'], text: string, value: unknown): Assignment {
  const [, head = '', filter, tail = ''] =
    /^([^[\]]*)(?:\[([^\]]*)\])?([^[\]]*)$/.exec(text.replace(coreUrn, '')) ?? [];
  if (head === '') throw new ScimError(400, `there is no attribute \`${text.slice(0, 100)}\``, 'invalidPath');
  return { op, path: `${head}${tail}`.toLowerCase(), filter: filter ?? null, value };
}

/** The attribute and value of a filter of the form `ATTRIBUTE eq "VALUE"`; null for any other filter. */
export function equalTo(filter: string): { readonly name: string; readonly value: string } | null {
  const [, name, quoted] = /^\s*([\w.:[\]" -]+?)\s+eq\s+("(?:[^"\\]|\\.)*")\s*$/i.exec(filter) ?? [];
  if (name === undefined || quoted === undefined) return null;
  try {
    return { name: name.replace(coreUrn, '').toLowerCase(), value: String(JSON.parse(quoted)) };
  } catch {
    return null;
  }
}

// `writ types`: prints TypeScript types for the payloads of the declared actions, for users of the client.

import type { Command } from 'commander';
import type { Action } from '../../language/model/policy.ts';
import type { Field, Shape, Slot, TextType, Type } from '../../language/model/type.ts';
import { type ExitCode, exitCodes, print } from '../output/output.ts';
import { defaultPath, loadWorking } from '../support/load-policies.ts';

export function defineTypes(command: Command, finish: (code: ExitCode) => void): void {
  command
    .argument('[path]', 'a policy directory, or one file (default: ./policies, else the current directory)')
    .addHelpText('after', '\nExamples:\n  writ types > src/actions.ts\n  writ types policies/payments | less')
    .action(async (path: string | undefined) => {
      finish(await types(path ?? defaultPath()));
    });
}

async function types(path: string): Promise<ExitCode> {
  const working = await loadWorking(path);
  if (working === null) return exitCodes.wrong;
  const actions = [...working.set.actions.values()];
  print(typesText(actions.toSorted((a, b) => (a.key < b.key ? -1 : 1))));
  return exitCodes.ok;
}

/**
 * Turns declared actions into TypeScript: an interface with the payload of each action. A call that the gate
 * would refuse for its shape then does not compile. Limits, patterns and forms of texts are left to the gate.
 */
export function typesText(actions: readonly Action[]): string {
  const members = actions.map(({ key, doc, shape }) => {
    const comment =
      doc === null ? '' : `  /** ${doc.replaceAll('*/', '* /').replaceAll(/\s+/g, ' ').trim()} */\n`;
    return `${comment}  readonly ${quoted(key)}: ${shapeText(shape, '  ')};\n`;
  });
  return `// Written by \`writ types\` from the policies: write it again when they change.\n\nexport interface Actions {\n${members.join('')}}\n`;
}

function shapeText({ fields, isOpen }: Shape, indent: string): string {
  const inner = `${indent}  `;
  const lines = fields.map((field) => `${inner}${fieldText(field, inner)};\n`);
  // An open shape may hold fields that are not declared; no policy sees them.
  if (isOpen) lines.push(`${inner}readonly [name: string]: unknown;\n`);
  return lines.length === 0 ? '{ readonly [name: string]: never }' : `{\n${lines.join('')}${indent}}`;
}

function fieldText(field: Field, indent: string): string {
  const name = /^[A-Za-z_]\w*$/.test(field.name) ? field.name : quoted(field.name);
  return `readonly ${name}${field.isOptional ? '?' : ''}: ${slotText(field, indent)}`;
}

function slotText({ type, isNullable }: Slot, indent: string): string {
  return `${typeText(type, indent)}${isNullable ? ' | null' : ''}`;
}

function typeText(type: Type, indent: string): string {
  switch (type.kind) {
    case 'boolean':
      return 'boolean';
    case 'text':
      return textText(type);
    case 'number':
    case 'integer':
    case 'money':
      return 'number';
    case 'date':
    case 'timestamp':
    case 'datetime':
    case 'duration':
    case 'ip':
      return 'string';
    case 'list': {
      const element = slotText(type.element, indent);
      return `readonly ${element.includes(' | ') ? `(${element})` : element}[]`;
    }
    case 'record':
      return shapeText(type.shape, indent);
    case 'any':
      return 'unknown';
  }
}

/** The type of a text; for an enumeration, its values. */
function textText({ values }: TextType): string {
  if (values === null || values.length === 0) return 'string';
  return values.map(quoted).join(' | ');
}

function quoted(text: string): string {
  return JSON.stringify(text);
}

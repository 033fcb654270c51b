// The type of the elements of `commands(...)`: a record for each command of a shell line.

import type { ShellCommand } from '../value/shell/command.ts';
import { anyText, booleanType, type Field, listOf, type Type } from './type.ts';

const types = {
  program: anyText,
  subcommand: anyText,
  words: listOf(anyText),
  args: listOf(anyText),
  options: listOf(anyText),
  files: listOf(anyText),
  only_reads: booleanType,
} as const satisfies Record<keyof ShellCommand, Type>;

export const shellCommandType: Type = {
  kind: 'record',
  shape: { fields: Object.entries(types).map(([name, type]) => fieldOfCommand(name, type)), isOpen: false },
};

function fieldOfCommand(name: string, type: Type): Field {
  return { name, type, isOptional: false, isNullable: false, isSecret: false, isSigned: false };
}

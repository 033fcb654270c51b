// `writ completion`: prints a shell script that completes commands, options and the values of options. The
// script is made from the command definitions, as the text of `--help` is.

import { Argument, type Command, type Option } from 'commander';
import { type ExitCode, exitCodes, print } from '../output/output.ts';

const shells = ['bash', 'zsh', 'fish'] as const;

type Shell = (typeof shells)[number];

/** Defines the command. `command.parent` is the program, which holds all commands. */
export function defineCompletion(command: Command, finish: (code: ExitCode) => void): void {
  command
    .addArgument(new Argument('<shell>', 'the shell').choices(shells))
    .addHelpText('after', examples)
    .action((shell: Shell) => {
      const positions = placesOf(command.parent ?? command, []);
      print(scripts[shell](positions));
      finish(exitCodes.ok);
    });
}

const examples = `
Examples:
  . <(writ completion bash)                                        in ~/.bashrc
  . <(writ completion zsh)                                         in ~/.zshrc, after compinit
  writ completion fish > ~/.config/fish/completions/writ.fish
`;

/** A command and the words that can follow it. */
interface CommandContext {
  /** The words of the command, without the program's name. */
  readonly path: readonly string[];
  readonly commands: readonly Command[];
  readonly options: readonly Option[];
  /** The values of the first argument, when they are a fixed choice. */
  readonly values: readonly string[];
}

function placesOf(command: Command, path: readonly string[]): readonly CommandContext[] {
  const help = command.createHelp();
  const commands = help.visibleCommands(command);
  const visibleOptions = [...defaultOf(command), command].flatMap((one) => help.visibleOptions(one));
  const options = [...new Map(visibleOptions.map((option) => [option.long, option])).values()];
  const here: CommandContext = {
    path,
    commands,
    options,
    values: command.registeredArguments[0]?.argChoices ?? [],
  };
  const below = commands
    .filter((one) => command.commands.includes(one))
    .flatMap((one) => [one.name(), ...one.aliases()].flatMap((name) => placesOf(one, [...path, name])));
  return [here, ...below];
}

/** The command that runs when its word is left out: its options may follow the word before it, too. */
function defaultOf(command: Command): readonly Command[] {
  const name: unknown = Reflect.get(command, '_defaultCommandName');
  return command.commands.filter((one) => one.name() === name);
}

const scripts: Readonly<Record<Shell, (positions: readonly CommandContext[]) => string>> = {
  bash: (positions) => `# Completes writ in bash: . <(writ completion bash)\n${bashScript(positions)}`,
  zsh: (places) =>
    `# Completes writ in zsh: . <(writ completion zsh)\nautoload -U +X bashcompinit && bashcompinit\n${bashScript(places)}`,
  fish: (places) => `# Completes writ in fish: writ completion fish | source\n${fishScript(places)}`,
};

/**
 * A completion script for bash, which zsh can read, too. `*` stands for a value that the script does not
 * know, such as a file.
 */
function bashScript(places: readonly CommandContext[]): string {
  const commands = places.map(({ path, commands: all }) => [
    pathText(path),
    all.flatMap((one) => [one.name(), ...one.aliases()]),
  ]);
  const options = places.map(({ path, options: all, values }) => [
    pathText(path),
    [...values, ...all.flatMap(flagsOf)],
  ]);
  const values = places.flatMap(({ path, options: all }) =>
    all
      .filter(takesValue)
      .flatMap((option) =>
        flagsOf(option).map((flag) => [`${pathText(path)} ${flag}`, option.argChoices ?? ['*']]),
      ),
  );
  return [
    bashTable('_writ_commands', commands),
    bashTable('_writ_options', options),
    bashTable('_writ_values', values),
    bashFunction,
  ].join('');
}

const bashFunction = `_writ() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD-1]}" at=writ word known
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case " $(_writ_commands "$at") " in *" $word "*) at="$at $word" ;; esac
  done
  known="$(_writ_values "$at $prev")"
  if [ "$known" = '*' ]; then
    COMPREPLY=()
    return
  fi
  [ -n "$known" ] || known="$(_writ_commands "$at") $(_writ_options "$at")"
  COMPREPLY=($(compgen -W "$known" -- "$cur"))
}
complete -o default -F _writ writ
`;

function bashTable(name: string, rows: readonly (readonly unknown[])[]): string {
  const lines = rows
    .map(([key, words]) => [String(key), (words as readonly string[]).join(' ')] as const)
    .filter(([, words]) => words !== '')
    .map(([key, words]) => `    ${quoted(key)}) echo ${quoted(words)} ;;\n`);
  return `${name}() {\n  case "$1" in\n${lines.join('')}  esac\n}\n`;
}

function fishScript(positions: readonly CommandContext[]): string {
  return positions
    .flatMap(({ path, commands, options, values }) => {
      const seen = path.map((word) => `__fish_seen_subcommand_from ${word}`).join('; and ');
      const others = commands.map((one) => one.name()).join(' ');
      const when = quoted(path.length === 0 ? '__fish_use_subcommand' : seen);
      const first = quoted(
        path.length === 0
          ? '__fish_use_subcommand'
          : `${seen}; and not __fish_seen_subcommand_from ${others}`,
      );
      return [
        ...commands.map(
          (one) =>
            `complete -c writ -n ${first} -f -a ${one.name()} -d ${quoted(one.summary() || one.description())}`,
        ),
        ...values.map((value) => `complete -c writ -n ${when} -f -a ${quoted(value)}`),
        ...options.map((option) => `complete -c writ -n ${when} ${fishOption(option)}`),
      ];
    })
    .map((line) => `${line}\n`)
    .join('');
}

function fishOption(option: Option): string {
  const { long, short, argChoices, description } = option;
  return [
    ...(short === undefined ? [] : [`-s ${short.slice(1)}`]),
    ...(long === undefined ? [] : [`-l ${long.slice(2)}`]),
    ...(argChoices === undefined
      ? takesValue(option)
        ? ['-r']
        : ['-f']
      : ['-x', `-a ${quoted(argChoices.join(' '))}`]),
    `-d ${quoted(description)}`,
  ].join(' ');
}

function pathText(path: readonly string[]): string {
  return ['writ', ...path].join(' ');
}

function flagsOf({ long, short }: Option): readonly string[] {
  return [long, short].filter((flag) => flag !== undefined);
}

function takesValue({ required, optional }: Option): boolean {
  return required || optional;
}

/** Quotes the text as one word for bash, zsh and fish. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

// `writ completion`: prints a shell script that completes commands, options and the values of options. The
// script is made from the command definitions, as the text of `--help` is.

import { Argument, type Command, type Option } from 'commander';
import { type ExitCode, exitCodes, print } from '../output/output.ts';

const shells = ['bash', 'zsh', 'fish', 'powershell'] as const;

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
  writ completion powershell | Out-String | Invoke-Expression      in $PROFILE
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
  zsh: (positions) =>
    `# Completes writ in zsh: . <(writ completion zsh)\nautoload -U +X bashcompinit && bashcompinit\n${bashScript(positions)}`,
  fish: (positions) => `# Completes writ in fish: writ completion fish | source\n${fishScript(positions)}`,
  powershell: (positions) =>
    `# Completes writ in PowerShell: writ completion powershell | Out-String | Invoke-Expression\n${powershellScript(positions)}`,
};

/** The words that can follow a command or an option, by what is before them. */
type WordTable = readonly (readonly [before: string, words: readonly string[]])[];

/** `*` stands for a value that the script does not know, such as a file. */
interface WordTables {
  readonly commands: WordTable;
  readonly options: WordTable;
  readonly values: WordTable;
}

function wordTables(positions: readonly CommandContext[]): WordTables {
  const withWords = (rows: WordTable): WordTable => rows.filter(([, words]) => words.length > 0);
  return {
    commands: withWords(
      positions.map(({ path, commands }) => [
        pathText(path),
        commands.flatMap((one) => [one.name(), ...one.aliases()]),
      ]),
    ),
    options: withWords(
      positions.map(({ path, options, values }) => [
        pathText(path),
        [...values, ...options.flatMap(flagsOf)],
      ]),
    ),
    values: positions.flatMap(({ path, options }) =>
      options
        .filter(takesValue)
        .flatMap((option) =>
          flagsOf(option).map((flag) => [`${pathText(path)} ${flag}`, option.argChoices ?? ['*']] as const),
        ),
    ),
  };
}

/** A completion script for bash, which zsh can read, too. */
function bashScript(positions: readonly CommandContext[]): string {
  const { commands, options, values } = wordTables(positions);
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

function bashTable(name: string, rows: WordTable): string {
  const lines = rows.map(([before, words]) => `    ${quoted(before)}) echo ${quoted(words.join(' '))} ;;\n`);
  return `${name}() {\n  case "$1" in\n${lines.join('')}  esac\n}\n`;
}

function powershellScript(positions: readonly CommandContext[]): string {
  const { commands, options, values } = wordTables(positions);
  return `Register-ArgumentCompleter -Native -CommandName writ -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
${powershellTable('commands', commands)}${powershellTable('options', options)}${powershellTable('values', values)}${powershellBody}}
`;
}

function powershellTable(name: string, rows: WordTable): string {
  const text = (word: string): string => `'${word.replaceAll("'", "''")}'`;
  const lines = rows.map(([before, words]) => `    ${text(before)} = @(${words.map(text).join(', ')})\n`);
  return `  $${name} = @{\n${lines.join('')}  }\n`;
}

const powershellBody = `  $at = 'writ'
  $previous = ''
  foreach ($element in ($commandAst.CommandElements | Select-Object -Skip 1)) {
    if ($element.Extent.EndOffset -ge $cursorPosition) { break }
    $previous = $element.Extent.Text
    if ($commands[$at] -contains $previous) { $at = "$at $previous" }
  }
  $known = $values["$at $previous"]
  if ($known -contains '*') { return }
  if (-not $known) { $known = @($commands[$at]) + @($options[$at]) }
  $known | Where-Object { $_ -and $_.StartsWith($wordToComplete) } | ForEach-Object {
    [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_)
  }
`;

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

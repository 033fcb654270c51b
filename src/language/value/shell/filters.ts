// Says which scripts of sed, awk and jq do nothing but turn their input into their output: no program is
// started, no file is named, no variable of the environment is read. INVARIANT: a script that any version of
// these programs may read otherwise is refused.

/** One part of a script of sed at a position, each without choice, so that reading is linear. */
const sedParts = {
  between: /[;\s]*/y,
  address: /(?:\d+(?:~\d+)?|\$|\/(?:[^/\\\n[\]]|\\[^\n]|\[\^?[^\]/\\\n[]+\])*\/I?)/y,
  range: /[ ]*,[ ]*(?:[+~]\d+)?/y,
  not: /[ ]*!?[ ]*/y,
  /** Commands without arguments: they print, delete, and move text between buffers. */
  command: /[pdqQ=nNgGhHxlDPz{]/y,
  label: /(?::[ ]?|[bt][ ]?(?=[A-Za-z]|[;}\n]|$))[A-Za-z]*/y,
  flags: /[gpiIM0-9]*/y,
  end: /[ \t]*(?=[;}\n]|$)/y,
} as const;

/** Whether the script of sed only edits what it prints. */
export function isPlainSed(script: string): boolean {
  let at = 0;
  const take = (part: RegExp): string | null => {
    part.lastIndex = at;
    const text = part.exec(script)?.[0] ?? null;
    at += text?.length ?? 0;
    return text;
  };
  for (take(sedParts.between); at < script.length; take(sedParts.between)) {
    if (script[at] === '}') {
      at += 1;
      continue;
    }
    if (take(sedParts.address) !== null) {
      const range = take(sedParts.range);
      if (range !== null && !/\d/.test(range) && take(sedParts.address) === null) return false;
    }
    take(sedParts.not);
    if (script[at] === 's' || script[at] === 'y') {
      const behind = behindSubstitution(script, at + 1);
      if (behind === null) return false;
      at = behind;
      take(sedParts.flags);
    } else {
      const command = take(sedParts.command);
      if (command === '{') continue;
      if (command === null && take(sedParts.label) === null) return false;
    }
    if (take(sedParts.end) === null) return false;
  }
  return true;
}

/** The position behind both parts of `s/a/b/`; null where versions of sed could find another end. */
function behindSubstitution(script: string, start: number): number | null {
  const sign = script[start] ?? '';
  if (!/[/|#,@:!%_+]/.test(sign)) return null;
  let left = 2;
  for (let at = start + 1; at < script.length; at += 1) {
    const character = script[at];
    if (character === '\n') return null;
    if (character === '\\') {
      at += 1;
      // An escaped delimiter, or a delimiter within brackets, is read in different ways.
      if (script[at] === '\n' || (script[at] === sign && sign !== '/')) return null;
    } else if (character === '[' && left === 2) {
      const brackets = /\[\^?\]?[^\]\n\\]*\]/y;
      brackets.lastIndex = at;
      const text = brackets.exec(script)?.[0];
      if (text === undefined || text.includes(sign)) return null;
      at += text.length - 1;
    } else if (character === sign && --left === 0) return at + 1;
  }
  return null;
}

const awkToken =
  /\s+|#[^\n]*|"(?:[^"\\\n]|\\[^\n])*"|\d[\w.]*|\.\d+|([A-Za-z_]\w*)|&&|\|\||==|!=|<=|>=|\+\+|--|[-+*/%^]=|[-+*%^!~<>=?:;,(){}[\]$]|(\/)/y;
const awkRegex = /\/(?:[^/\\\n[\]"]|\\[^\n"]|\[\^?\]?[^\]/\\\n["]*\])+\//y;
/** What an operand follows; here a slash begins a regular expression in every awk. */
const beforeOperand = new Set(['', '{', '}', ';', '\n', '(', ',', '!', '~', '&&', '||']);
/** Names through which an awk program reaches files, programs, the environment or other code. */
const awkForbidden = new Set(
  `system getline close fflush ENVIRON PROCINFO ARGV ARGC ARGIND SYMTAB FUNCTAB function func srand
  BEGINFILE ENDFILE nextfile include load namespace eval`.split(/\s+/),
);
const awkFunctions = new Set(
  `length substr index split sub gsub gensub match sprintf tolower toupper int sqrt exp log sin cos atan2 rand
  print printf if while for in else do and or return exit next delete strftime systime asort asorti`.split(
    /\s+/,
  ),
);

/** Whether the program of awk only reads its input and prints. */
export function isPlainAwk(program: string): boolean {
  let before = '';
  let parentheses = 0;
  let braces = 0;
  for (let at = 0; at < program.length; ) {
    awkToken.lastIndex = at;
    const match = awkToken.exec(program);
    if (match === null) return false;
    let [token = ''] = match;
    const [, word, slash] = match;
    if (slash !== undefined && beforeOperand.has(before)) {
      awkRegex.lastIndex = at;
      token = awkRegex.exec(program)?.[0] ?? '';
      if (token === '') return false;
    } else if (slash !== undefined && !/^(?:\d[\w.]*|[A-Z]+)$/.test(before)) return false;
    at += token.length;
    if (word !== undefined) {
      const isCalled = /^\s*\(/.test(program.slice(at, at + 20));
      if (awkForbidden.has(word) || (isCalled && !awkFunctions.has(word))) return false;
      if (/^\s*\/(?!\/)/.test(program.slice(at, at + 20)) && !/^[A-Z]+$/.test(word)) return false;
    }
    // In an action, `>` outside of parentheses writes a file.
    if (token === '>' && parentheses === 0 && braces > 0) return false;
    if (token === '(') parentheses += 1;
    if (token === ')') parentheses -= 1;
    if (token === '{') braces += 1;
    if (token === '}') braces -= 1;
    if (parentheses < 0 || braces < 0) return false;
    if (token.startsWith('#')) continue;
    if (/\S/.test(token)) before = token;
    else if (token.includes('\n')) before = '\n';
  }
  return parentheses === 0 && braces === 0;
}

/** Words of jq that read the environment, other files or modules, unless they are names of fields. */
const jqReaching =
  /(?<!(?<!\.)\.)(?<![A-Za-z0-9_])(?:env|import|include|modulemeta|input_filename|get_search_list|debug|stderr|halt_error)(?![A-Za-z0-9_])|ENV\b|\$__/;

/** Whether the filter of jq looks at its input alone. */
export function isPlainJq(filter: string): boolean {
  return !jqReaching.test(filter);
}

/** Whether the expression of yq is a path into its input. */
export function isPlainYq(expression: string): boolean {
  return /^\.(?:[A-Za-z0-9_.[\]"-]|\| *keys|\| *length| )*$/.test(expression);
}

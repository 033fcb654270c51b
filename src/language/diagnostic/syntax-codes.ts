/** Codes of errors that keep a text from being a policy. */
const syntaxErrors = {
  'unexpected-character': 'a character that no token begins with',
  'unexpected-token': 'the text does not follow the grammar here',
  'bidi-control': 'a character that changes the text direction',
  'control-character': 'a control character other than tab and line break',
  'nesting-too-deep': 'brackets or prefix operators are nested more than 64 deep',
  'expression-too-deep': 'an expression combines more than 500 operators one inside the other',
  'too-many-problems': 'a file has more than 200 problems and the rest is not listed',
  'unterminated-text': 'a text has no closing quote on its line',
  'bad-escape': 'a backslash sequence that JSON does not know',
  'escape-in-pattern': 'a backslash sequence that would not reach the pattern as written',
  'unclosed-placeholder': 'a `{` in a reason or a title has no `}`',
  'malformed-number': 'a number runs into a word',
  'money-spelling': 'an amount of money is not written as a number, a blank and three capitals',
  'duration-spelling': 'a duration is not written as one whole number and one unit without a blank',
  'instant-without-offset': 'an instant does not say its offset from UTC',
  'points-without-sign': 'risk points have neither `+` nor `-`',
  'foreign-operator': 'an operator of another language',
  'foreign-form': 'a form that means something in another language',
  'assignment-for-equality': '`=` is used where `==` compares',
  'chained-comparison': 'a comparison is compared again',
  'value-as-condition': 'a value is used where `or` or `and` takes a condition',
  'open-range': 'a range in an expression lacks an end or does not follow `in`',
  'has-without-path': '`has` after something other than a path',
  'name-style': 'a declared name is not in snake_case',
  'reserved-word': 'a word of the language is used as a declared name',
  'key-shape': 'an action key is not two or more segments joined by dots',
  'misplaced-wildcard': 'a `*` in a pattern is neither first nor last, or is repeated',
  'missing-separator': 'two fields on one line have no comma between them',
  'unknown-declaration': 'a word that begins no declaration',
  'unknown-effect': 'a word that begins no rule',
  'clause-twice': 'a rule has a clause twice',
  'clause-not-allowed': 'a clause that the effect does not take',
  'clause-missing': 'a clause that the effect needs is missing',
} as const;

/** Codes of warnings about text that is valid but not written in the usual way. */
export const syntaxWarnings = {
  'clause-order': 'clauses of a rule are not in the usual order',
} as const;

/** All codes of the parser and the tree builder. */
export const syntaxCodes = { ...syntaxErrors, ...syntaxWarnings } as const;

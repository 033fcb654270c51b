// Finds a rule in a text that may have mistakes, by the words with which a policy and a rule begin.

/** The offset of the rule's name (`policy/rule`); null when the text does not have the rule. */
export function findRule(text: string, id: string): number | null {
  const [policy = '', rule = ''] = id.split('/');
  if (!/^\w+$/.test(policy) || !/^\w+$/.test(rule)) return null;
  const start = new RegExp(`^(?:shadow\\s+)?policy\\s+${policy}\\b`, 'm').exec(text);
  if (start === null) return null;
  const rest = text.slice(start.index + start[0].length);
  const next = /^(?:shadow\s+)?policy\s+\w/m.exec(rest);
  const own = next === null ? rest : rest.slice(0, next.index);
  const pattern = new RegExp(`^(\\s*(?:shadow\\s+)?(?:allow|deny|escalate|reauth|risk)\\s+)${rule}\\b`, 'm');
  const match = pattern.exec(own);
  return match === null ? null : start.index + start[0].length + match.index + (match[1]?.length ?? 0);
}

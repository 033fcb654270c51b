// The words for what a standing approval covers.

interface StandingKey {
  readonly key: string;
  readonly value: string | number | boolean;
}

/** Such as "vendor Staples in this session". */
export function standingWords(per: readonly StandingKey[]): string {
  const fields = per.flatMap(({ key, value }) =>
    key.startsWith('payload.') ? [`${key.slice('payload.'.length)} ${value}`] : [],
  );
  const user = per.flatMap(({ key, value }) => (key === 'user' ? [`for user ${value}`] : []));
  const session = per.some(({ key }) => key === 'session') ? ['in this session'] : [];
  const words = [...(fields.length === 0 ? [] : [fields.join(', ')]), ...user, ...session];
  return words.length === 0 ? 'all requests of the agent' : words.join(' ');
}

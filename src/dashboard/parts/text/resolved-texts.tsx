// The texts of a payload that rules see in another form than they were sent: paths, URLs, hosts and e-mail
// addresses in their canonical form, each with its place.

import type { Operations } from '../../../api/operations.ts';
import { Facts } from '../layout/page.tsx';
import { PlainText } from './plain-text.tsx';

type ResolvedText = Operations['getRequest']['reply']['resolved'];

export function ResolvedTexts({ resolved }: { readonly resolved: ResolvedText }) {
  if (resolved.length === 0) return null;
  return (
    <>
      <p>Rules see these texts in their canonical form:</p>
      <Facts
        items={resolved.map((one) => [one.pointer, <PlainText key={one.pointer} text={one.resolved} />])}
      />
    </>
  );
}

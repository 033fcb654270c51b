// The foot of a printed page: when it was printed, by whom, and from which address, filters included.

import { usePerson } from '../api/session.tsx';
import { usePlace } from '../navigation/navigation.ts';
import { useIsPrinting } from '../parts/layout/printing.ts';
import { At } from '../parts/layout/time.tsx';
import { PlainText } from '../parts/text/plain-text.tsx';

export function Printed() {
  const { email } = usePerson();
  // Renders again whenever the address changes.
  usePlace();
  if (!useIsPrinting()) return null;
  return (
    <p class="printed">
      Printed <At at={new Date().toISOString()} /> by <PlainText text={email} isShort /> from{' '}
      <PlainText text={location.href} />
    </p>
  );
}

// The control owner of an agent by name; the address is in the title.

import { PlainText } from '../text/plain-text.tsx';

/** The control owner that the service writes before it has a first admin; nobody's address. */
const nobodysAddress = 'owner@localhost';

interface OwnerNameProps {
  readonly address: string;
  /** Null when nobody has the address. */
  readonly name: string | null;
}

/** "of Kim Kay"; the address when nobody has it. */
export function ownerWords({ address, name }: OwnerNameProps): string {
  return address === nobodysAddress ? 'without a control owner' : `of ${name ?? address}`;
}

export function OwnerName({ address, name }: OwnerNameProps) {
  return (
    <span title={address}>
      {address === nobodysAddress ? 'nobody yet' : <PlainText text={name ?? address} isShort />}
    </span>
  );
}

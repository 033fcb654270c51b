// A QR code, drawn as one path. The drawing library is loaded on demand.

import { useEffect, useState } from 'preact/hooks';

interface QrPath {
  readonly size: number;
  readonly path: string;
}

/** Empty until the code is drawn. The caller also shows the content as text, in case drawing fails. */
export function QrCode({ text, label }: { readonly text: string; readonly label: string }) {
  const [drawing, setDrawing] = useState<QrPath | null>(null);
  useEffect(() => {
    let isWanted = true;
    drawn(text).then(
      (result) => {
        if (isWanted) setDrawing(result);
      },
      () => undefined,
    );
    return () => {
      isWanted = false;
    };
  }, [text]);
  if (drawing === null) return <div class="account-qr" />;
  return (
    <svg
      class="account-qr"
      viewBox={`0 0 ${drawing.size} ${drawing.size}`}
      shape-rendering="crispEdges"
      role="img"
      aria-label={label}
    >
      <path d={drawing.path} fill="#000000" />
    </svg>
  );
}

async function drawn(text: string): Promise<QrPath> {
  const { encode } = await import('uqr');
  const { size, data } = encode(text, { ecc: 'M', border: 2 });
  const squares = data.flatMap((row, y) =>
    row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])),
  );
  return { size, path: squares.join('') };
}

// Tells whether the page is being printed, so that paper shows what a screen folds.

import { useEffect, useState } from 'preact/hooks';

export function useIsPrinting(): boolean {
  const [isPrinting, setPrinting] = useState(false);
  useEffect(() => {
    const paper = window.matchMedia('print');
    const update = (): void => setPrinting(paper.matches);
    const begin = (): void => setPrinting(true);
    paper.addEventListener('change', update);
    window.addEventListener('beforeprint', begin);
    window.addEventListener('afterprint', update);
    update();
    return () => {
      paper.removeEventListener('change', update);
      window.removeEventListener('beforeprint', begin);
      window.removeEventListener('afterprint', update);
    };
  }, []);
  return isPrinting;
}

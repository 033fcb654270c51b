// Tells whether the page is being printed, so that paper shows what a screen folds.

import { useEffect, useState } from 'preact/hooks';

export function useIsPrinting(): boolean {
  const [isPrinting, setPrinting] = useState(false);
  useEffect(() => {
    const paper = window.matchMedia('print');
    const look = (): void => setPrinting(paper.matches);
    const begin = (): void => setPrinting(true);
    paper.addEventListener('change', look);
    window.addEventListener('beforeprint', begin);
    window.addEventListener('afterprint', look);
    look();
    return () => {
      paper.removeEventListener('change', look);
      window.removeEventListener('beforeprint', begin);
      window.removeEventListener('afterprint', look);
    };
  }, []);
  return isPrinting;
}

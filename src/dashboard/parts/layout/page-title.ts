// The title of the browser's tab: what the page is called, with the number of what waits for the person before it.

let pageTitle = '';
let waitingCount = 0;

export function setPageTitle(title: string): void {
  pageTitle = title;
  show();
}

/** 0 shows no number. */
export function setTitleCount(count: number): void {
  waitingCount = count;
  show();
}

function show(): void {
  const name = pageTitle === '' ? 'Writ' : `${pageTitle} · Writ`;
  document.title = waitingCount === 0 ? name : `(${waitingCount}) ${name}`;
}

// Sets the title of the browser's tab: the page's title, after the number of requests that wait for the
// person.

let pageTitle = '';
let waitingCount = 0;

export function setPageTitle(title: string): void {
  pageTitle = title;
  show();
}

/** Sets the number in the title; 0 shows no number. */
export function setTitleCount(count: number): void {
  waitingCount = count;
  show();
}

function show(): void {
  const name = pageTitle === '' ? 'Writ' : `${pageTitle} · Writ`;
  document.title = waitingCount === 0 ? name : `(${waitingCount}) ${name}`;
}

// Addresses of the documentation, which the service has under one address.

const base = '/docs';

/** `page`: a page by its path, such as `LANGUAGE`; none for the first page. */
export function docsHref(page?: string): string {
  return page === undefined ? base : `${base}/${page}`;
}

// The documentation as the service serves it: every page of docs is there and can be reached, every link of every
// page leads to a page and a heading, and every code has a page.

import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { codes } from '../../src/language/diagnostic/codes.ts';
import { problems } from '../../src/service/http/contract/problem.ts';
import { diagnosticAddress, documentationPath, errorAddress } from '../../src/site/address.ts';
import { addressOf, pagePaths } from '../../src/site/pages/sources.ts';

const folder = 'src/dashboard/dist/docs';

/** The HTML of each page by its address. */
const pages = new Map(
  globSync('**/*.html.br', { cwd: folder })
    .filter((file) => file !== '404.html.br')
    .map((file) => {
      const name = file
        .replaceAll('\\', '/')
        .replace(/\.html\.br$/, '')
        .replace(/(^|\/)index$/, '');
      return [name === '' ? documentationPath : `${documentationPath}/${name}`, read(file)] as const;
    }),
);

function read(file: string): string {
  return brotliDecompressSync(readFileSync(join(folder, file))).toString();
}

function linksOf(html: string): readonly string[] {
  return [...html.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, address = '']) =>
    address.replaceAll('&amp;', '&'),
  );
}

function isThere(address: string, from: string): boolean {
  const [path = '', anchor = ''] = address.split('#');
  const target = path === '' ? from : path;
  const html = pages.get(target);
  // The fragment of the playground is what it starts with.
  if (html !== undefined && !target.endsWith('/playground'))
    return anchor === '' || html.includes(`id="${decodeURIComponent(anchor)}"`);
  const file = target.slice(`${documentationPath}/`.length);
  return html !== undefined || globSync([file, `${file}.br`], { cwd: folder }).length === 1;
}

describe('the site', () => {
  it('has every page of docs', () => {
    const paths = pagePaths('.');
    expect(paths.length).toBeGreaterThan(250);
    expect(paths.filter((path) => !pages.has(addressOf(path)))).toEqual([]);
  });

  it('has no two pages at one address', () => {
    expect(pages.size).toBe(pagePaths('.').length);
  });

  it('has links that lead to pages and headings', () => {
    const astray = [...pages].flatMap(([from, html]) =>
      linksOf(html)
        .filter((address) => !/^(?:[a-z]+:|\/$)/.test(address))
        .filter((address) => !isThere(address, from))
        .map((address) => `${from} ${address}`),
    );
    expect(astray).toEqual([]);
  });

  it('leads from the first page to every page', () => {
    const reached = new Set([documentationPath]);
    for (const address of reached)
      for (const link of linksOf(pages.get(address) ?? '')) {
        const [path = ''] = link.split('#');
        if (pages.has(path)) reached.add(path);
      }
    expect([...pages.keys()].filter((address) => !reached.has(address))).toEqual([]);
  });

  it('has a page for every code', () => {
    const addresses = [
      ...Object.keys(codes).map(diagnosticAddress),
      ...Object.keys(problems).map(errorAddress),
    ];
    expect(addresses.length).toBeGreaterThan(200);
    expect(addresses.filter((address) => !pages.has(address))).toEqual([]);
  });

  it('has nothing inline, and loads nothing from elsewhere', () => {
    const bad = [...pages].filter(
      ([, html]) =>
        /<script(?![^>]*\bsrc=)|<style|\sstyle="|\son\w+="/.test(html) ||
        /<(?:script|link|img)[^>]*(?:src|href)="(?:https?:)?\/\//.test(html),
    );
    expect(bad.map(([address]) => address)).toEqual([]);
  });

  it('has a heading of the first level on every page, and a title', () => {
    const odd = [...pages].filter(([, html]) => !/<h1[ >]/.test(html) || /<title>(?: –|<)/.test(html));
    expect(odd.map(([address]) => address)).toEqual([]);
  });
});

// `npm run package [-- FOLDER]`: makes everything that is published in FOLDER (default `build`), from the
// checkout alone: the packages `writ` and `writ-service`, and the extension for VS Code.

import { execFileSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { Command } from 'commander';
import { bundle } from './bundle.ts';
import { moduleEntryPoints, packageManifest, serviceManifest } from './manifests.ts';
import { makeVsix } from './vscode.ts';

const root = resolve(import.meta.dirname, '../../..');

/** Files and folders that are copied unchanged. */
const copied = [
  'LICENSE',
  'README.md',
  'CHANGELOG.md',
  'grammar/generated',
  'policies',
  'examples/packs',
  'docs/diagnostics',
  'docs/LANGUAGE.md',
  'docs/COOKBOOK.md',
  'docs/cli/tests.md',
  'integrations/skills',
  'src/dashboard/dist',
  'src/cli/init',
];

const command = new Command('npm run package --')
  .description('build the npm packages writ and writ-service, and the VS Code extension')
  .argument('[folder]', 'the output folder', 'build')
  .parse();
const target = resolve(command.processedArgs[0]);
const making = mkdtempSync(join(tmpdir(), 'writ-package-'));
try {
  execFileSync(process.execPath, [join(root, 'src/dashboard/build.ts'), '--if-needed'], { stdio: 'inherit' });
  mkdirSync(target, { recursive: true });
  const packages = [
    await makePackage(join(making, 'writ')),
    makeServicePackage(join(making, 'writ-service')),
  ];
  console.log(await makeVsix(root, target, packageManifest.version));
  for (const one of packages) console.log(join(target, pack(one)));
} finally {
  rmSync(making, { recursive: true, force: true });
}

async function makePackage(place: string): Promise<string> {
  await bundle(root, place);
  makeTypes(join(place, 'types'));
  for (const path of [...copied, ...globSync('src/service/**/*.sql', { cwd: root })]) {
    cpSync(join(root, path), join(place, path), { recursive: true });
  }
  writeManifest(place, packageManifest);
  writeFileSync(join(place, 'src/cli/writ.js'), entryOfPackage());
  return place;
}

/** The start file of the package. It starts JavaScript, so it needs no loader for TypeScript. */
function entryOfPackage(): string {
  const entry = readFileSync(join(root, 'src/cli/writ.js'), 'utf8');
  const loader = /\n *\/\/ Node strips no types .*\n.*tsx\/esm\/api.*(?=\n)/;
  if (!loader.test(entry))
    throw new Error('writ.js loads TypeScript in a way that the package build does not support');
  return entry.replace(loader, '').replaceAll('./main.ts', './main.js');
}

function makeServicePackage(place: string): string {
  mkdirSync(place);
  writeManifest(place, serviceManifest);
  writeFileSync(join(place, 'writ.js'), "#!/usr/bin/env node\nimport 'writ/cli';\n");
  cpSync(join(root, 'LICENSE'), join(place, 'LICENSE'));
  return place;
}

/** Writes the types of the modules that a program imports, and of the modules that these name. */
function makeTypes(place: string): void {
  const settings = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: {
      noEmit: false,
      emitDeclarationOnly: true,
      declaration: true,
      rootDir: root,
      outDir: place,
      typeRoots: [join(root, 'node_modules/@types')],
    },
    include: [],
    files: Object.values(moduleEntryPoints).map((module) => join(root, `${module}.ts`)),
  };
  const settingsFile = join(making, 'types.json');
  writeFileSync(settingsFile, JSON.stringify(settings));
  execFileSync(join(root, 'node_modules/.bin/tsc'), ['-p', settingsFile], { stdio: 'inherit' });
  for (const path of globSync('**/*.d.ts', { cwd: place })) {
    const text = readFileSync(join(place, path), 'utf8');
    writeFileSync(join(place, path), text.replace(/((?:from |import\()['"]\.[^'"]+)\.ts(['"])/g, '$1.js$2'));
  }
}

function writeManifest(place: string, manifest: object): void {
  writeFileSync(join(place, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
}

/** Packs a folder with npm, and returns the name of the tarball. */
function pack(place: string): string {
  const stdout = execFileSync(
    'npm',
    ['pack', '--json', '--ignore-scripts', '--pack-destination', target, place],
    {
      cwd: dirname(place),
      encoding: 'utf8',
    },
  );
  const [packed] = Object.values(
    JSON.parse(stdout) as Readonly<Record<string, { readonly filename: string }>>,
  );
  return packed!.filename;
}

/** JsSIP for browsers: its CommonJS modules, joined to one ES module. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { gzip as gzipped } from 'node:zlib';

export interface Joined {
  readonly source: Buffer;
  readonly gzip: Buffer;
  /** Entity tag. */
  readonly tag: string;
}

/** What the page imports. */
const EXPORTS = 'C, UA, WebSocketInterface';

const REQUIRE = /\brequire\('([^']+)'\)/g;

/** Runs each module when it is first required; circles get the exports so far, as in Node.js. */
const LOADER = `const loaded = new Map();
function load(file) {
  const known = loaded.get(file);
  if (known !== undefined) return known.exports;
  const module = { exports: {} };
  loaded.set(file, module);
  const [run, files] = modules[file];
  run(module, module.exports, (name) => load(files[name]));
  return module.exports;
}`;

/**
 * Joins JsSIP with what it requires: the package has no file for browsers, and a bundler would be a build step.
 * @throws Error when a file of a package is missing
 */
export async function joinJsSip(): Promise<Joined> {
  const modules = new Map<string, string>();
  const entry = await pathOf('jssip', import.meta.filename);
  await collect(entry, entry, modules);
  const source = Buffer.from(
    [
      `const modules = {\n${[...modules.values()].join(',\n')}\n};`,
      LOADER,
      `export const { ${EXPORTS} } = load(${JSON.stringify(idOf(entry, entry))});\n`,
    ].join('\n'),
  );
  const tag = `"${createHash('sha256').update(source).digest('base64url')}"`;
  return { source, gzip: await promisify(gzipped)(source), tag };
}

/** Adds a file and those that it requires to `modules`. */
async function collect(file: string, entry: string, modules: Map<string, string>): Promise<void> {
  if (modules.has(file)) return;
  modules.set(file, '');
  const content = await readFile(file, 'utf8');
  const code = file.endsWith('.json') ? `module.exports = ${named(content)};` : content;
  const required: Record<string, string> = {};
  for (const [, name = ''] of code.matchAll(REQUIRE)) {
    const path = await pathOf(name, file);
    required[name] = idOf(path, entry);
    await collect(path, entry, modules);
  }
  const run = `function (module, exports, require) {\n${code}\n}`;
  modules.set(file, `${JSON.stringify(idOf(file, entry))}: [${run}, ${JSON.stringify(required)}]`);
}

/** Nobody learns where the node is installed. */
function idOf(file: string, entry: string): string {
  return relative(dirname(entry), file);
}

/** The file that a module requires by a name, as a browser would get it. */
async function pathOf(name: string, from: string): Promise<string> {
  const { resolve } = createRequire(from);
  if (name.startsWith('.')) return resolve(name);
  // A package such as `events` has the name of a module of Node.js.
  const manifest = resolve(`${name}/package.json`);
  const { browser, main } = JSON.parse(await readFile(manifest, 'utf8')) as { browser?: unknown; main?: string };
  return resolve(join(dirname(manifest), typeof browser === 'string' ? browser : (main ?? 'index.js')));
}

/** The fields of a package.json that JsSIP reads. */
function named(manifest: string): string {
  const { title, version } = JSON.parse(manifest) as { title: string; version: string };
  return JSON.stringify({ title, version });
}

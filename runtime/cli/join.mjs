// Joins the modules of the commands and of the embedded servers' threads, and the packages that they load, into a few scripts: see joined.mjs.
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import { basename, dirname, join, relative, sep } from 'node:path';
import { build } from 'esbuild';
import { areRight, contents, contentsOf } from './joined.mjs';
import { CODE, JOINED, ROOT, UNCHECKED_CODE } from './joined-script.mjs';

const COMMANDS = 'commands';
/** Scripts by their first module. */
const SCRIPTS = {
  'runtime/cli/main.ts': COMMANDS,
  'runtime/embedded/media/thread.ts': 'media',
  'runtime/embedded/sip/thread.ts': 'sip',
};
/** ES modules that become part of each script. They depend on no other package, so that nobody else loads a second copy of them. */
const MODULES = ['typebox', 'kysely', 'yaml', '@marcbachmann/cel-js'];
/**
 * The script of the packages: they come with all that they depend on. Their CommonJS is not strict, so it cannot stand among modules.
 * All other packages stay as they are.
 */
const PACKAGES = [
  '@fastify/cookie',
  '@fastify/multipart',
  'acorn',
  'ajv',
  'ajv-formats',
  'ajv/dist/2020.js',
  'aws4fetch',
  'drachtio-fsmrf',
  'drachtio-modesl',
  'drachtio-srf',
  'drachtio-srf/lib/sip-parser/message.js',
  'drachtio-srf/lib/sip-parser/parser.js',
  'fastify',
  'find-my-way',
  'prom-client',
  'sdp-transform',
  'ws',
];
/** Asked for by packages, and not joined: it starts threads with files beside it, or is loaded only where it is installed. */
const APART = ['pino', 'bufferutil', 'utf-8-validate'];
/** An import of it loads what `fetch` needs as well. */
const HTTP = 'node:http';
const BUILT_IN = 'built-in';
const PACKAGE = 'package';
const RELATIVE = /^\.{0,2}\//;
const OWN = /\.(ts|mjs)$/;
const OF_PACKAGE = `${sep}node_modules${sep}`;
const THREAD = /new URL\('(\.[^']+)', import\.meta\.url\)/g;
const RUNNER = relative(JOINED, join(ROOT, 'runtime/cli/joined-script.mjs')).replaceAll(sep, '/');
/** Of another package, or of what a variable names. */
const DYNAMIC = /\bimport\((?:'([^.'][^']*)'|(?=[a-zA-Z]))/g;
const resolvable = createRequire(import.meta.url);
const PARAMETERS = 'exports, require, module, __filename, joinedPackage, importModule, resolvePackage';

/**
 * Leaves what is right already: the first `npx ringmaster` installs the project again, and a running node loads some files late.
 * @throws Error when a module cannot be joined; nothing joined is left then
 */
export async function joinCommands() {
  if (areRight()) return;
  const unfinished = `${JOINED}.${process.pid}`;
  try {
    const made = [await joinPackages()];
    for (const [entry, name] of Object.entries(SCRIPTS)) made.push(await joinModules(entry, name));
    mkdirSync(unfinished, { recursive: true });
    const outputs = made.flatMap(({ outputFiles }) => outputFiles);
    for (const output of outputs) writeFileSync(join(unfinished, basename(output.path)), withoutFunctionNames(output));
    for (const name of threads()) writeFileSync(join(unfinished, `${name}.mjs`), threadOf(name));
    rmSync(JOINED, { recursive: true, force: true });
    renameSync(unfinished, JOINED);
    const manifests = [...MODULES, ...PACKAGES]
      .map((name) => `node_modules/${name}/package.json`)
      .filter((file) => existsSync(join(ROOT, file)));
    const inputs = made.flatMap(({ metafile }) => Object.keys(metafile.inputs)).filter((name) => isFile(name));
    // A debugger reads the source maps, and no start.
    const scripts = outputs.filter(({ path }) => path.endsWith('.cjs')).map(({ path }) => joinedFile(basename(path)));
    const stubs = threads().map((name) => joinedFile(`${name}.mjs`));
    const own = ['join.mjs', 'joined-script.mjs'].map((name) => `runtime/cli/${name}`);
    writeContents([...new Set([...own, ...manifests, ...inputs, ...scripts, ...stubs])]);
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    rmSync(JOINED, { recursive: true, force: true });
    throw error;
  }
}

/** Lets commands use the code that processes with `KEEPS_CODE` wrote, if they wrote any. */
export function takeCode() {
  if (!areRight()) return;
  const kept = readdirSync(JOINED).filter((name) => name.endsWith(UNCHECKED_CODE));
  if (kept.length === 0) return;
  const { files } = contents();
  // Without it no start uses what is changed here.
  rmSync(join(JOINED, 'contents.json'));
  const codes = kept.map((name) => `${name.slice(0, -UNCHECKED_CODE.length)}${CODE}`);
  for (const [at, name] of kept.entries()) renameSync(join(JOINED, name), join(JOINED, codes[at]));
  writeContents([...new Set([...files, ...codes.map((name) => joinedFile(name))])]);
}

const joinedFile = (name) => relative(ROOT, join(JOINED, name)).replaceAll(sep, '/');
const threads = () => Object.values(SCRIPTS).filter((name) => name !== COMMANDS);
const isFile = (input) => !input.startsWith(`${BUILT_IN}:`) && !input.startsWith(`${PACKAGE}:`) && input !== '<stdin>';
/** A worker thread begins with a module. */
const threadOf = (name) => `import { runScript } from '${RUNNER}';\n\nrunScript('${name}');\n`;

function writeContents(files) {
  writeFileSync(join(JOINED, 'contents.json'), contentsOf(files));
}

function joinPackages() {
  const text = PACKAGES.map((name) => `exports['${name}'] = () => require('${name}');`).join('\n');
  return buildScript('packages', '', {
    stdin: { contents: text, resolveDir: ROOT },
    plugins: [{ name: 'ringmaster', setup: takePackages }],
  });
}

function joinModules(entry, name) {
  return buildScript(name, `'use strict';`, {
    entryPoints: [entry],
    plugins: [{ name: 'ringmaster', setup: (plugin) => keepPlaces(plugin, name === COMMANDS ? PACKAGES : []) }],
  });
}

function buildScript(name, prologue, options) {
  return build({
    absWorkingDir: ROOT,
    outfile: join(JOINED, `${name}.cjs`),
    write: false,
    bundle: true,
    format: 'cjs',
    platform: 'node',
    target: 'node24',
    charset: 'ascii',
    // What is left of them are parts of the script.
    supported: { 'dynamic-import': false },
    // Names of classes stand in logs, and packages ask for some.
    keepNames: true,
    sourcemap: 'linked',
    sourcesContent: false,
    metafile: true,
    tsconfigRaw: { compilerOptions: { target: 'es2024', verbatimModuleSyntax: true } },
    banner: { js: `(function (${PARAMETERS}) {${prologue}` },
    footer: { js: '})' },
    logLevel: 'silent',
    ...options,
  });
}

const NAMES = 'var __name = (target, value) => __defProp(target, "name", { value, configurable: true });';
const CLASS_NAME = /(\bstatic \{\s+)__name\(this, /g;

/** esbuild names each closure when it is made, which took a third of the time of a short request. */
function withoutFunctionNames({ path, text }) {
  if (!path.endsWith('.cjs')) return text;
  if (!text.includes(NAMES)) throw new Error(`${basename(path)} names functions in another way`);
  const helpers = `${NAMES.replace('__name', '__className')} var __name = (target) => target;`;
  return text.replace(NAMES, () => helpers).replaceAll(CLASS_NAME, '$1__className(this, ');
}

/** Files beside a package are not beside a script. */
function takePackages({ onResolve, onLoad }) {
  onResolve({ filter: /^[^./]/ }, ({ path: name }) =>
    isBuiltin(name) || APART.includes(name) ? { path: name, external: true } : undefined,
  );
  onLoad({ filter: /\.c?js$/ }, ({ path: file }) => {
    if (/\b__(?:dirname|filename)\b/.test(readFileSync(file, 'utf8')))
      throw new Error(`${file} asks for its own place`);
  });
}

/**
 * Each module of ours has the URL of its own file.
 * @param packages come from their script; a thread loads its one or two as they are
 */
function keepPlaces({ onResolve, onLoad }, packages) {
  const isPart = (name) => MODULES.some((module) => name === module || name.startsWith(`${module}/`));
  onResolve({ filter: /./ }, ({ path: name, kind }) => {
    if (RELATIVE.test(name) || isPart(name)) return undefined;
    if (packages.includes(name)) return { path: name, namespace: PACKAGE };
    if (name === HTTP) return { path: name, namespace: BUILT_IN };
    // A script can only require it; some packages allow only `import`.
    if (kind === 'import-statement') resolvable.resolve(name);
    return { path: name, external: true };
  });
  onLoad({ filter: /./, namespace: BUILT_IN }, ({ path: name }) => ({
    contents: `module.exports = process.getBuiltinModule('${name}')`,
  }));
  onLoad({ filter: /./, namespace: PACKAGE }, ({ path: name }) => ({
    contents: `module.exports = joinedPackage('${name}')`,
  }));
  onLoad({ filter: OWN }, ({ path: file }) => {
    const written = readFileSync(file, 'utf8');
    if (file.includes(OF_PACKAGE)) {
      if (written.includes('import.meta')) throw new Error(`${file} asks for its own place`);
      return undefined;
    }
    const text = written.replaceAll(DYNAMIC, (whole, name = '') =>
      isPart(name) || packages.includes(name) ? whole : whole.replace('import', 'importModule'),
    );
    if (!text.includes('import.meta')) return { contents: text, loader: 'ts' };
    const place = JSON.stringify(relative(JOINED, file).replaceAll(sep, '/'));
    // In the first line, so that the others keep their numbers.
    const meta = `const ownPlace = placeOf(${place}, __filename, resolvePackage);`;
    const placed = text
      .replaceAll(THREAD, (whole, name) => threadUrl(join(dirname(file), name)) ?? whole)
      .replaceAll(/\bimport\.meta\b/g, 'ownPlace');
    return { contents: `${PLACE}${meta}${placed}`, loader: 'ts' };
  });
}

/** Code for the URL of a thread's script. */
function threadUrl(entry) {
  const name = SCRIPTS[relative(ROOT, entry).replaceAll(sep, '/')];
  return name === undefined ? undefined : `new URL('${name}.mjs', urlOfPath(__filename))`;
}

const PLACE = `import { fileURLToPath as pathOfUrl, pathToFileURL as urlOfPath } from 'node:url';const placeOf = (file, base, resolve) => {const url = new URL(file, urlOfPath(base)).href;const filename = pathOfUrl(url);return { url, filename, dirname: pathOfUrl(new URL('.', url)).replace(/[\\\\/]$/, ''), resolve };};`;

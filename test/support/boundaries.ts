/**
 * Checks the borders between rooms: dependencies point one way and go through doors (`index.ts`), a vendor library has one importer,
 * and files do not import each other in circles. Prints every wrong import as `file:line: message` and exits with 1.
 * `--write` writes the table of rooms into docs/architecture.md.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, normalize, relative, sep } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { importCycles, importedBy, importTangles, loadedBy } from './import-cycles.ts';
import { ROOMS, roomTable } from './rooms.ts';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const ARCHITECTURE = join(root, 'docs/architecture.md');
const TABLE = /(?<=<!-- rooms -->\n)[^]*?(?=\n<!-- \/rooms -->)/;

/** The room a file belongs to: the innermost folder that is one. */
function roomOf(file: string): string {
  const folders = file.split('/').slice(0, -1);
  for (let depth = folders.length; depth > 0; depth -= 1) {
    const folder = folders.slice(0, depth).join('/');
    if (ROOMS[folder] !== undefined) return folder;
  }
  return folders.slice(0, 2).join('/');
}

/** Files that may import each other in circles, types included. */
const MOST_TANGLED = 3;

const VENDORS: Readonly<Record<string, readonly string[]>> = {
  'isolated-vm': ['runtime/sandbox'],
  'drachtio-srf': ['runtime/signalling'],
  'drachtio-fsmrf': ['runtime/media'],
  'drachtio-modesl': ['runtime/media'],
  '@nats-io/transport-node': ['runtime/cluster'],
  '@nats-io/kv': ['runtime/cluster'],
  '@nats-io/jetstream': ['runtime/cluster'],
  fastify: ['rest-bridge'],
  jssip: ['rest-bridge'],
  esbuild: ['rest-bridge', 'runtime/cli'],
  preact: ['rest-bridge'],
  '@preact/signals': ['rest-bridge'],
  uplot: ['rest-bridge'],
  elkjs: ['rest-bridge'],
  '@codemirror/state': ['rest-bridge'],
  '@codemirror/view': ['rest-bridge'],
  '@codemirror/language': ['rest-bridge'],
  '@codemirror/lang-yaml': ['rest-bridge'],
  '@codemirror/lang-javascript': ['rest-bridge'],
  '@codemirror/autocomplete': ['rest-bridge'],
  '@codemirror/lint': ['rest-bridge'],
  '@codemirror/merge': ['rest-bridge'],
  '@codemirror/commands': ['rest-bridge'],
  '@codemirror/search': ['rest-bridge'],
  '@lezer/highlight': ['rest-bridge'],
  'axe-core': ['test'],
  'puppeteer-core': ['test'],
  'prom-client': ['runtime/metrics'],
  '@opentelemetry/api': ['runtime/tracing'],
  '@opentelemetry/sdk-trace': ['runtime/tracing'],
  '@electric-sql/pglite': ['runtime/storage'],
  pg: ['runtime/storage'],
  nodemailer: ['components'],
  werift: ['runtime/embedded', 'test'],
  'libopus-wasm': ['runtime/embedded', 'test'],
  'mpg123-decoder': ['runtime/prompts'],
  'ogg-opus-decoder': ['runtime/prompts'],
  '@wasm-audio-decoders/flac': ['runtime/prompts'],
};

function* sources(folder: string): Generator<string> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      if (entry.name !== 'node_modules') yield* sources(path);
    } else if (/\.(tsx?|mts|mjs|js)$/.test(entry.name)) {
      yield path;
    }
  }
}

const IMPORT = /(?:\bfrom\s+|\bimport\s*\(?\s*)'([^']+)'/g;

/** Violated borders, as `FROM TO`. */
const crossed = new Set<string>();

function problemsOf(file: string, source: string): string[] {
  const room = roomOf(file);
  if (ROOMS[room] === undefined) return [`${file}:1: ${room} is no known room: test/support/rooms.ts`];
  // Tests may import the inside of rooms.
  if (room === 'test') return [];
  const problems: string[] = [];
  source.split('\n').forEach((line, index) => {
    for (const [, specifier = ''] of line.matchAll(IMPORT)) {
      const problem = specifier.startsWith('.') ? wrongRoom(file, room, specifier) : wrongVendor(room, specifier);
      if (problem !== undefined) problems.push(`${file}:${index + 1}: ${problem}`);
    }
  });
  return problems;
}

function wrongRoom(file: string, room: string, specifier: string): string | undefined {
  const path = normalize(join(dirname(file), specifier))
    .split(sep)
    .join('/');
  const target = roomOf(path);
  if (target === room) return path === `${room}/index.ts` ? `${room} must not import its own door` : undefined;
  crossed.add(`${room} ${target}`);
  const { mayImport = [], alone = false } = ROOMS[room] ?? {};
  const isAllowed = mayImport === 'everything' || mayImport.includes(target) || (ROOMS[target]?.common && !alone);
  if (!isAllowed) return `${room} must not import ${target}`;
  const doors = ['index.ts', ...(ROOMS[target]?.doors ?? [])].map((door) => `${target}/${door}`);
  return doors.includes(path) ? undefined : `${target} is imported by its door, ${doors.join(' or ')}`;
}

function wrongVendor(room: string, specifier: string): string | undefined {
  const name = specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
  const importers = VENDORS[name];
  return importers === undefined || importers.includes(room)
    ? undefined
    : `only ${importers.join(', ')} imports ${name}`;
}

const files = new Map(
  ['runtime', 'components', 'rest-bridge', 'freeswitch-config', 'test'].flatMap((folder) =>
    [...sources(join(root, folder))].map((path): [string, string] => [
      relative(root, path).split(sep).join('/'),
      readFileSync(path, 'utf8'),
    ]),
  ),
);
const loads = new Map([...files].map(([file, source]) => [file, loadedBy(file, source)]));
const imports = new Map([...files].map(([file, source]) => [file, importedBy(file, source)]));
const architecture = readFileSync(ARCHITECTURE, 'utf8');
if (process.argv.includes('--write')) writeFileSync(ARCHITECTURE, architecture.replace(TABLE, roomTable));
const problems = [
  ...[...files].flatMap(([file, source]) => problemsOf(file, source)),
  ...importCycles(loads).map(
    (circle) => `${circle[0]}:1: imports go in a circle: ${[...circle, circle[0]].join(' -> ')}`,
  ),
  ...importTangles(imports)
    .filter((tangle) => tangle.length > MOST_TANGLED)
    .map((tangle) => `${tangle[0]}:1: ${tangle.length} files import each other in circles: ${tangle.join(', ')}`),
  ...[...new Set([...crossed].map((border) => border.split(' ')[1] ?? ''))]
    .filter((room) => !files.has(`${room}/index.ts`))
    .map((room) => `${room}/index.ts:1: the room has no door`),
  ...unusedBorders(),
  ...(TABLE.exec(readFileSync(ARCHITECTURE, 'utf8'))?.[0] === roomTable()
    ? []
    : ['docs/architecture.md:1: the table of rooms is old: node test/support/boundaries.ts --write']),
];
for (const problem of problems) process.stdout.write(`${problem}\n`);
if (problems.length > 0) process.exitCode = 1;

/** Runs after the check of all imports. */
function unusedBorders(): string[] {
  return Object.entries(ROOMS).flatMap(([room, { mayImport }]) =>
    mayImport === 'everything'
      ? []
      : mayImport
          .filter((target) => !crossed.has(`${room} ${target}`))
          .map((target) => `test/support/rooms.ts:1: ${room} may import ${target}, and does not`),
  );
}

/**
 * Checks the borders between rooms: dependencies point one way, and a vendor library has one importer; and that no files
 * load each other in a circle. Prints every wrong import as `file:line: message` and exits with 1.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative, sep } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { importCycles, importedBy, importTangles, loadedBy } from './import-cycles.ts';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');

/** The writer of the component pages: it reads every component, those made from operations included. */
const PAGES = 'components/docs';

/** The room a file belongs to: `runtime/<room>`, or the top-level folder. */
function roomOf(file: string): string {
  if (file.startsWith(PAGES)) return PAGES;
  const [top = '', room = ''] = file.split('/');
  return top === 'runtime' ? `runtime/${room}` : top;
}

/** What each room may import beside itself. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  'runtime/config': [],
  'runtime/sip-facts': [],
  'runtime/processes': [],
  'runtime/rate': [],
  'runtime/memory': [],
  'runtime/transitions': [],
  'runtime/words': [],
  'runtime/sandbox': [],
  'runtime/language': ['runtime/sandbox'],
  'runtime/runs': ['runtime/language', 'runtime/sandbox'],
  'runtime/workbench': ['runtime/language', 'runtime/runs', 'runtime/sandbox'],
  'runtime/callstore': [],
  'runtime/signalling': [],
  'runtime/media': [],
  'runtime/storage': [],
  'runtime/domain': ['runtime/storage', 'runtime/model'],
  'runtime/model': ['runtime/storage'],
  'runtime/script-store': [
    'runtime/storage',
    'runtime/domain',
    'runtime/iam',
    'runtime/language',
    'runtime/runs',
    'runtime/sandbox',
  ],
  'runtime/iam': ['runtime/storage', 'runtime/domain'],
  'runtime/events': [],
  'runtime/idempotency': ['runtime/storage'],
  'runtime/metrics': [],
  'runtime/recording': [
    'runtime/storage',
    'runtime/domain',
    'runtime/media',
    'runtime/model',
    'runtime/events',
    'runtime/speech',
  ],
  'runtime/speech': ['runtime/media', 'runtime/domain', 'runtime/events'],
  'runtime/embedded': ['runtime/sip-facts', 'runtime/transitions'],
  'runtime/switch': [
    'runtime/signalling',
    'runtime/media',
    'runtime/callstore',
    'runtime/conference',
    'runtime/domain',
    'runtime/language',
    'runtime/runs',
  ],
  'runtime/conference': ['runtime/signalling', 'runtime/media', 'runtime/callstore', 'runtime/domain'],
  'runtime/operations': [
    'runtime/callstore',
    'runtime/conference',
    'runtime/domain',
    'runtime/language',
    'runtime/runs',
  ],
  components: ['runtime/language', 'runtime/runs'],
  [PAGES]: ['components', 'runtime/component-registry', 'runtime/language'],
  'runtime/component-registry': ['components', 'runtime/operations', 'runtime/runs'],
  'rest-bridge': [
    'runtime/operations',
    'runtime/callstore',
    'runtime/iam',
    'runtime/domain',
    'runtime/model',
    'runtime/events',
    'runtime/recording',
    'runtime/language',
    'runtime/runs',
    'runtime/script-store',
    'runtime/idempotency',
  ],
  'freeswitch-config': ['runtime/config', 'runtime/embedded'],
};

/** Small rooms that any room may import; docs/architecture.md says what each holds. */
const COMMON = new Set([
  'runtime/sip-facts',
  'runtime/rate',
  'runtime/processes',
  'runtime/memory',
  'runtime/words',
  'runtime/transitions',
]);

/** Rooms that stand alone: they import no common room but those that {@link MAY_IMPORT} names. */
const ALONE = new Set(['runtime/embedded']);

/** Rooms that wire others together, and so may import any. */
const COMPOSERS = new Set(['runtime/node', 'runtime/cli', 'test']);

/** Rooms in which no more than {@link MOST_TANGLED} files may import each other in circles, types included. */
const UNTANGLED = new Set(['runtime/embedded', 'runtime/operations']);
const MOST_TANGLED = 3;

const VENDORS: Readonly<Record<string, readonly string[]>> = {
  'isolated-vm': ['runtime/sandbox'],
  'drachtio-srf': ['runtime/signalling'],
  'drachtio-fsmrf': ['runtime/media'],
  fastify: ['rest-bridge'],
  'prom-client': ['runtime/metrics'],
  '@electric-sql/pglite': ['runtime/storage'],
  pg: ['runtime/storage'],
};

function* sources(folder: string): Generator<string> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      if (entry.name !== 'node_modules') yield* sources(path);
    } else if (/\.(ts|mts|mjs|js)$/.test(entry.name)) {
      yield path;
    }
  }
}

const IMPORT = /(?:\bfrom\s+|\bimport\s*\(?\s*)'([^']+)'/g;

function problemsOf(file: string, source: string): string[] {
  const room = roomOf(file);
  if (COMPOSERS.has(room)) return [];
  const allowed = MAY_IMPORT[room];
  if (allowed === undefined) return [`${file}:1: ${room} is no known room`];
  const problems: string[] = [];
  source.split('\n').forEach((line, index) => {
    for (const [, specifier = ''] of line.matchAll(IMPORT)) {
      const problem = specifier.startsWith('.')
        ? wrongRoom(file, room, allowed, specifier)
        : wrongVendor(room, specifier);
      if (problem !== undefined) problems.push(`${file}:${index + 1}: ${problem}`);
    }
  });
  return problems;
}

function wrongRoom(file: string, room: string, allowed: readonly string[], specifier: string): string | undefined {
  const target = roomOf(
    normalize(join(dirname(file), specifier))
      .split(sep)
      .join('/'),
  );
  const isCommon = COMMON.has(target) && !ALONE.has(room);
  return target === room || isCommon || allowed.includes(target) ? undefined : `${room} must not import ${target}`;
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
const problems = [
  ...[...files].flatMap(([file, source]) => problemsOf(file, source)),
  ...importCycles(loads).map(
    (circle) => `${circle[0]}:1: imports go in a circle: ${[...circle, circle[0]].join(' -> ')}`,
  ),
  ...importTangles(imports)
    .filter((tangle) => tangle.length > MOST_TANGLED && tangle.some((file) => UNTANGLED.has(roomOf(file))))
    .map((tangle) => `${tangle[0]}:1: ${tangle.length} files import each other in circles: ${tangle.join(', ')}`),
];
for (const problem of problems) process.stdout.write(`${problem}\n`);
if (problems.length > 0) process.exitCode = 1;

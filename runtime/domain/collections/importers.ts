/** The importers of a script, and their mistakes with another text of it. */
import { type Kysely, sql } from 'kysely';
import type { Schema } from '../../storage/index.ts';
import { BrokenImporterError } from '../errors.ts';
import { DomainModules, KnownModules, readModules, SCRIPT_KINDS } from './script-modules.ts';
import type { CheckScript, ScriptData, ScriptKind, ScriptProblem, ScriptRow, ScriptVersion } from './script-row.ts';

/** A written script; `after` undefined: removed. */
export interface WrittenScript {
  readonly before: ScriptRow | undefined;
  readonly after: ScriptRow | undefined;
}

export interface Tools {
  readonly db: Kysely<Schema>;
  readonly check: CheckScript;
}

/** A script with one of its versions in use that imports a module. */
export interface Importer {
  readonly kind: ScriptKind;
  readonly row: ScriptRow;
  readonly version: Pick<ScriptVersion, 'number' | 'scriptdata' | 'problems' | 'modules'>;
}

/** What a mistake in an importer is. */
export interface BrokenImporter {
  readonly code: string;
  readonly kind: ScriptKind;
  /** The changed module. */
  readonly module: string;
  readonly problem: ScriptProblem;
}

/**
 * The mistakes that scripts in service would have with another text of a module.
 *
 * @param name of the module
 * @param except id of the script itself
 */
export async function wouldBreak(
  { domainId, name, text, except }: { domainId: string; name: string; text: string; except: string | undefined },
  { db, check }: Tools,
): Promise<readonly BrokenImporter[]> {
  const found: BrokenImporter[] = [];
  for (const { kind, row, version } of await importersOf(db, domainId, [name])) {
    // The draft of an importer ends together with that of the module.
    if (row.id === except || row.draft || !isServing(row, version.number)) continue;
    const texts = new Map([...(await readModules(db, version.modules)), [name, text]]);
    const modules = new KnownModules(texts, new DomainModules({ db, kind, domainId, newest: false }));
    const { problems } = await check(row.code, version.scriptdata, modules);
    const problem = problems.find(({ severity }) => severity === undefined);
    if (problem !== undefined)
      found.push({ code: row.code, kind, module: name, problem: placed(problem, row.code, version.scriptdata) });
  }
  return found;
}

function brokenText({ code, kind, problem }: BrokenImporter): string {
  const { file = '', line, column, message } = problem;
  return `would break the ${kind} "${code}" that imports it, at ${file}:${line}:${column}: ${message}`;
}

/** The mistake of an importer among the problems of the module. */
export function importerProblem(broken: BrokenImporter): ScriptProblem {
  const { severity: _, ...problem } = broken.problem;
  return { ...problem, importer: broken.code, message: brokenText(broken) };
}

/** A problem with the name of its file. */
export function placed(problem: ScriptProblem, code: string, { format }: ScriptData): ScriptProblem {
  return { file: `${code}.${format}`, ...problem };
}

/** The refusal, at the written script that changes the module. */
export function refusal(kind: ScriptKind, written: readonly WrittenScript[], broken: readonly BrokenImporter[]) {
  const [first] = broken;
  const code = first?.module.replace(/\.[jt]s$/, '');
  const index = written.findIndex(({ before, after }) => before?.code === code || after?.code === code);
  const { before, after } = written[index] ?? {};
  const field = before !== undefined && before.code !== after?.code ? 'code' : 'scriptdata';
  const place = written.length > 1 ? `${String(Math.max(0, index))}.${field}` : field;
  return new BrokenImporterError(kind, place, first === undefined ? '' : brokenText(first), broken);
}

export async function importersOf(
  db: Kysely<Schema>,
  domainId: string,
  names: readonly string[],
): Promise<readonly Importer[]> {
  if (names.length === 0) return [];
  const found: Importer[] = [];
  for (const kind of SCRIPT_KINDS) {
    const { rows } = await sql<{ row: ScriptRow; version: Importer['version'] }>`
      select to_jsonb(s) as row, to_jsonb(v) as version
      from ${sql.table(`${kind}s`)} s join ${sql.table(`${kind}_versions`)} v on v.script_id = s.id
      where s.domain_id = ${domainId} and v.modules ?| array[${sql.join(names)}]::text[]
        and v.number in (s.version, (s.serving->>'version')::integer, (s.serving->'trial'->>'version')::integer)
      order by s.code, v.number`.execute(db);
    found.push(...rows.map((each) => ({ kind, ...each })));
  }
  return found;
}

export function isServing({ serving }: ScriptRow, number: number): boolean {
  return number === serving.version || number === serving.trial?.version;
}

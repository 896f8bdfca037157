/** Versions of scripts: reading them, and which of them serve. */
import { type Kysely, sql } from 'kysely';
import type { Schema } from '../../storage/index.ts';
import { InvalidFieldError } from '../errors.ts';
import { canRun, type ScriptKind, type ScriptRow, type ScriptVersion, type Serving } from './script-row.ts';

export async function readScriptVersion(
  db: Kysely<Schema>,
  kind: ScriptKind,
  scriptId: string,
  number: number,
): Promise<ScriptVersion | undefined> {
  const { rows } = await sql<ScriptVersion>`
    select * from ${sql.table(`${kind}_versions`)} where script_id = ${scriptId} and number = ${number}`.execute(db);
  return rows[0];
}

/** Newest first. */
export async function listScriptVersions(
  db: Kysely<Schema>,
  kind: ScriptKind,
  scriptId: string,
): Promise<readonly ScriptVersion[]> {
  const { rows } = await sql<ScriptVersion>`
    select * from ${sql.table(`${kind}_versions`)} where script_id = ${scriptId} order by number desc`.execute(db);
  return rows;
}

/**
 * Serving after a rollback: first a trial is ended, then the previous version serves that can run and was no draft. Undefined without one.
 */
export function servingBefore(serving: Serving, versions: readonly ScriptVersion[]): Serving | undefined {
  if (serving.trial !== undefined) return { version: serving.version };
  const current = serving.version;
  if (current === null) return undefined;
  const earlier = versions.filter(({ number, problems, draft }) => number < current && !draft && canRun(problems));
  const version = Math.max(...earlier.map(({ number }) => number));
  return earlier.length === 0 ? undefined : { version };
}

/** The number of the next version; numbers of modules' changes are among them. */
export async function nextScriptVersion(db: Kysely<Schema>, kind: ScriptKind, scriptId: string): Promise<number> {
  const { rows } = await sql<{ number: number | null }>`
    select max(number) as number from ${sql.table(`${kind}_versions`)} where script_id = ${scriptId}`.execute(db);
  return (rows[0]?.number ?? 0) + 1;
}

export async function insertScriptVersion(
  db: Kysely<Schema>,
  kind: ScriptKind,
  { script_id: id, number, scriptdata, problems, modules, draft }: Omit<ScriptVersion, 'created'>,
): Promise<void> {
  await sql`
    insert into ${sql.table(`${kind}_versions`)} (script_id, number, scriptdata, problems, modules, draft, created)
    values (${id}, ${number}, ${JSON.stringify(scriptdata)}::jsonb, ${JSON.stringify(problems)}::jsonb,
      ${JSON.stringify(modules)}::jsonb, ${draft}, ${Date.now()})`.execute(db);
}

/** Replaces the problems of a version, which may change with what it imports. */
export async function noteProblems(
  db: Kysely<Schema>,
  kind: ScriptKind,
  { script_id: id, number, problems }: Pick<ScriptVersion, 'script_id' | 'number' | 'problems'>,
): Promise<void> {
  await sql`
    update ${sql.table(`${kind}_versions`)} set problems = ${JSON.stringify(problems)}::jsonb
    where script_id = ${id} and number = ${number}`.execute(db);
}

/** A version that serves is no draft any more. */
export async function endDraft(db: Kysely<Schema>, kind: ScriptKind, { id, serving }: ScriptRow): Promise<void> {
  await sql`
    update ${sql.table(`${kind}_versions`)} set draft = false
    where script_id = ${id} and number = ${serving.version} and draft`.execute(db);
}

/** @returns the percentage of new runs for a new version. @throws InvalidFieldError */
export function shareOf(opts: unknown, kind: ScriptKind): number {
  const share = (opts as { readonly share?: unknown } | undefined)?.share;
  if (share === undefined) return 100;
  if (typeof share === 'number' && share > 0 && share <= 100) return share;
  throw new InvalidFieldError(kind, 'opts.share', 'must be a number above 0, at most 100', share);
}

/** Serving after a new version; 0 percent when it has mistakes or is a draft. */
export function servingAfter(before: Serving | undefined, version: number, percent: number): Serving {
  if (percent === 0) return before ?? { version: null };
  if (percent === 100 || before === undefined || before.version === null) return { version };
  return { version: before.version, trial: { version, percent } };
}

/** @throws InvalidFieldError for a chosen version that cannot run */
export async function checkServing(
  kind: ScriptKind,
  { version, trial }: Serving,
  before: ScriptRow,
  db: Kysely<Schema>,
): Promise<void> {
  if (version === null && before.serving.version !== null)
    throw new InvalidFieldError(kind, 'serving.version', 'cannot be removed, only replaced', null);
  const chosen = [
    ['serving.version', version],
    ['serving.trial.version', trial?.version],
  ] as const;
  for (const [field, number] of chosen) {
    if (typeof number !== 'number') continue;
    const found = await readScriptVersion(db, kind, before.id, number);
    if (found === undefined) throw new InvalidFieldError(kind, field, 'must be a version of this script', number);
    if (!canRun(found.problems)) throw new InvalidFieldError(kind, field, 'is a version with mistakes', number);
  }
}

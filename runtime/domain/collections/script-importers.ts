/** The importers of changed scripts: each has a new version with the changed module, or the change is refused. */
import { type Kysely, sql } from 'kysely';
import type { Schema } from '../../storage/index.ts';
import { BrokenImporterError, EntityInUseError } from '../errors.ts';
import {
  canRun,
  type CheckScript,
  type Imports,
  type ScriptData,
  type ScriptKind,
  type ScriptProblem,
  type ScriptRow,
  type ScriptVersion,
  type Serving,
} from './script-row.ts';
import {
  DomainModules,
  dropModules,
  hashOf,
  keepModules,
  KnownModules,
  moduleOf,
  readModules,
  sameImports,
  SCRIPT_KINDS,
} from './script-modules.ts';
import { insertScriptVersion, nextScriptVersion, noteProblems, servingAfter, shareOf } from './script-versions.ts';

/** A written script; `after` undefined: removed. */
export interface WrittenScript {
  readonly before: ScriptRow | undefined;
  readonly after: ScriptRow | undefined;
}

export interface SettledScript {
  readonly kind: ScriptKind;
  readonly before: ScriptRow;
  readonly after: ScriptRow;
}

interface Tools {
  readonly db: Kysely<Schema>;
  readonly check: CheckScript;
}

/** A script with one of its versions in use that imports a module. */
interface Importer {
  readonly kind: ScriptKind;
  readonly row: ScriptRow;
  readonly version: Pick<ScriptVersion, 'number' | 'scriptdata' | 'problems' | 'modules'>;
}

/** Modules of a domain by name, before and after: those that serve, or the newest. */
interface Changes {
  readonly from: Map<string, string>;
  readonly to: Map<string, string>;
}

/**
 * Gives the importers of changed modules new versions, in the same transaction.
 *
 * @returns the scripts that it changed, also written ones
 * @throws BrokenImporterError when a version that serves would have mistakes
 */
export async function settleImporters(
  kind: ScriptKind,
  written: readonly WrittenScript[],
  tools: Tools,
): Promise<readonly SettledScript[]> {
  const domains = new Set(written.flatMap(({ before, after }) => [before?.domain_id, after?.domain_id]));
  const settled: SettledScript[] = [];
  const broken: BrokenImporter[] = [];
  for (const domainId of domains) {
    if (domainId === undefined) continue;
    const served = await changesIn(domainId, kind, written, tools.db, false);
    const newest = await changesIn(domainId, kind, written, tools.db, true);
    const importers = await importersOf(tools.db, domainId, [...namesOf(served), ...namesOf(newest)]);
    for (const several of Map.groupBy(importers, (each) => `${each.kind} ${each.row.id}`).values()) {
      const after = await follow(several, { served, newest }, tools, broken);
      const [first] = several;
      if (first !== undefined && after !== undefined) settled.push({ kind: first.kind, before: first.row, after });
    }
    settled.push(...(await warnOfDrafts(domainId, kind, written, tools)));
  }
  if (broken.length > 0) throw refusal(kind, written, broken);
  return settled;
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

/** Refuses the removal of an imported script. @throws EntityInUseError */
export async function refuseImported(kind: ScriptKind, before: ScriptRow, db: Kysely<Schema>): Promise<void> {
  const names = ['ts', 'js'].map((format) => `${before.code}.${format}`);
  const importers: Importer[] = [];
  for (const each of await importersOf(db, before.domain_id, names)) {
    const { kind: of, row, version } = each;
    const newest = row.draft && version.number === row.version;
    const domain = new DomainModules({ db, kind: of, domainId: row.domain_id, newest });
    // A script of the other kind may take its place.
    for (const name of names)
      if ((version.modules[name] ?? null) !== null && !('text' in (await domain.find(name)))) importers.push(each);
  }
  if (importers.length > 0) {
    const codes = new Set(importers.map((each) => `the ${each.kind} "${each.row.code}"`));
    throw new EntityInUseError(kind, before.code, `imports of ${[...codes].join(', ')}`);
  }
  if (Object.keys(before.modules).length > 0) await dropModules(db);
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
function placed(problem: ScriptProblem, code: string, { format }: ScriptData): ScriptProblem {
  return { file: `${code}.${format}`, ...problem };
}

/** The refusal, at the written script that changes the module. */
function refusal(kind: ScriptKind, written: readonly WrittenScript[], broken: readonly BrokenImporter[]) {
  const [first] = broken;
  const code = first?.module.replace(/\.[jt]s$/, '');
  const index = written.findIndex(({ before, after }) => before?.code === code || after?.code === code);
  const { before, after } = written[index] ?? {};
  const field = before !== undefined && before.code !== after?.code ? 'code' : 'scriptdata';
  const place = written.length > 1 ? `${String(Math.max(0, index))}.${field}` : field;
  return new BrokenImporterError(kind, place, first === undefined ? '' : brokenText(first), broken);
}

async function changesIn(
  domainId: string,
  kind: ScriptKind,
  written: readonly WrittenScript[],
  db: Kysely<Schema>,
  newest: boolean,
): Promise<Changes> {
  const changes: Changes = { from: new Map(), to: new Map() };
  const put = async (row: ScriptRow | undefined, into: Map<string, string>): Promise<void> => {
    const module = row?.domain_id === domainId ? await moduleOf(db, kind, row, newest) : undefined;
    if (module !== undefined) into.set(module.name, module.text);
  };
  for (const { before, after } of written) {
    await put(before, changes.from);
    await put(after, changes.to);
  }
  return changes;
}

/** The changed modules. */
function namesOf({ from, to }: Changes): readonly string[] {
  return [...new Set([...from.keys(), ...to.keys()])].filter((name) => from.get(name) !== to.get(name));
}

async function importersOf(
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

function isServing({ serving }: ScriptRow, number: number): boolean {
  return number === serving.version || number === serving.trial?.version;
}

/** New versions of one importer. @returns the changed row */
async function follow(
  several: readonly Importer[],
  changes: { readonly served: Changes; readonly newest: Changes },
  { db, check }: Tools,
  broken: BrokenImporter[],
): Promise<ScriptRow | undefined> {
  let after: ScriptRow | undefined;
  for (const { kind, row, version } of several) {
    const serves = isServing(row, version.number);
    const followed = serves || !row.draft ? changes.served : changes.newest;
    const names = namesOf(followed).filter((name) =>
      // A version that was rolled back to, or tries a draft, keeps its modules.
      serves ? version.modules[name] === hashOf(followed.from.get(name)) : name in version.modules,
    );
    if (names.length === 0 || (!serves && !row.draft && canRun(version.problems))) continue;
    const kept = new Map([...(await readModules(db, version.modules))].filter(([name]) => !names.includes(name)));
    const domain = new DomainModules({ db, kind, domainId: row.domain_id, newest: !serves && row.draft });
    const modules = serves ? new KnownModules(kept, domain) : domain;
    const { problems, imports } = await check(row.code, version.scriptdata, modules);
    const problem = problems.find(({ severity }) => severity === undefined);
    if (serves && problem !== undefined) {
      const [module = ''] = names;
      broken.push({ code: row.code, kind, module, problem: placed(problem, row.code, version.scriptdata) });
    }
    if (broken.length > 0) continue;
    const pins = await keepModules(db, imports);
    if (sameImports(pins, version.modules)) continue;
    const next = { problems, modules: pins, scriptdata: version.scriptdata };
    after = await save(kind, after ?? row, version.number, next, db);
  }
  return after;
}

/** Writes a new version of an importer, in place of one in use. */
async function save(
  kind: ScriptKind,
  row: ScriptRow,
  replaced: number,
  next: { readonly problems: readonly ScriptProblem[]; readonly modules: Imports; readonly scriptdata: ScriptData },
  db: Kysely<Schema>,
): Promise<ScriptRow> {
  const number = await nextScriptVersion(db, kind, row.id);
  const runs = canRun(next.problems);
  const serves = isServing(row, replaced);
  const isDraft = row.draft && replaced === row.version;
  await insertScriptVersion(db, kind, { ...next, script_id: row.id, number, draft: isDraft });
  const serving = serves
    ? servingInstead(row.serving, replaced, number, shareOf(row.opts, kind))
    : servingAfter(row.serving, number, runs && !isDraft ? shareOf(row.opts, kind) : 0);
  const newest =
    replaced === row.version
      ? { version: number, problems: next.problems, modules: next.modules }
      : { version: row.version, problems: row.problems, modules: row.modules };
  await sql`
    update ${sql.table(`${kind}s`)} set serving = ${JSON.stringify(serving)}::jsonb, version = ${newest.version},
      problems = ${JSON.stringify(newest.problems)}::jsonb, modules = ${JSON.stringify(newest.modules)}::jsonb
    where id = ${row.id}`.execute(db);
  return { ...row, ...newest, serving };
}

function servingInstead({ version, trial }: Serving, replaced: number, number: number, share: number): Serving {
  if (version === replaced && trial === undefined) return servingAfter({ version }, number, share);
  return {
    version: version === replaced ? number : version,
    ...(trial && { trial: { ...trial, version: trial.version === replaced ? number : trial.version } }),
  };
}

/** Adds to written drafts which scripts they would break. */
async function warnOfDrafts(
  domainId: string,
  kind: ScriptKind,
  written: readonly WrittenScript[],
  tools: Tools,
): Promise<readonly SettledScript[]> {
  const warned: SettledScript[] = [];
  for (const { before, after } of written) {
    if (after?.domain_id !== domainId || !after.draft || after.version === before?.version) continue;
    const module = await moduleOf(tools.db, kind, after, true);
    if (module === undefined || !canRun(after.problems)) continue;
    const broken = await wouldBreak({ domainId, ...module, except: after.id }, tools);
    if (broken.length === 0) continue;
    const warnings = broken.map((each) => ({ ...importerProblem(each), severity: 'warning' as const }));
    const problems = [...after.problems, ...warnings];
    const json = JSON.stringify(problems);
    await sql`update ${sql.table(`${kind}s`)} set problems = ${json}::jsonb where id = ${after.id}`.execute(tools.db);
    await noteProblems(tools.db, kind, { script_id: after.id, number: after.version, problems });
    warned.push({ kind, before: after, after: { ...after, problems } });
  }
  return warned;
}

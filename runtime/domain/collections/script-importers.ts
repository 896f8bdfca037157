/** The importers of changed scripts: each has a new version with the changed module, or the change is refused. */
import { type Kysely, sql } from 'kysely';
import type { Schema } from '../../storage/index.ts';
import { EntityInUseError } from '../errors.ts';
import {
  type BrokenImporter,
  type Importer,
  importerProblem,
  importersOf,
  isServing,
  placed,
  refusal,
  type Tools,
  wouldBreak,
  type WrittenScript,
} from './importers.ts';
import {
  canRun,
  type Imports,
  type ScriptData,
  type ScriptKind,
  type ScriptProblem,
  type ScriptRow,
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
} from './script-modules.ts';
import { insertScriptVersion, nextScriptVersion, noteProblems, servingAfter, shareOf } from './script-versions.ts';

export interface SettledScript {
  readonly kind: ScriptKind;
  readonly before: ScriptRow;
  readonly after: ScriptRow;
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

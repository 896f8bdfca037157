/** The collections `ivrscripts` and `svcscripts`. Every text of a script is kept as a numbered version. */
import { type Kysely, sql } from 'kysely';
import type { Static } from 'typebox';
import type { Schema } from '../../storage/index.ts';
import { InvalidFieldError, OutdatedChangeError } from '../errors.ts';
import type { CollectionDefinition, Input } from './definition.ts';
import type { WrittenScript } from './importers.ts';
import { refuseImported, settleImporters } from './script-importers.ts';
import { DomainModules, keepModules, NO_MODULES, type PendingScript, sameData, sameImports } from './script-modules.ts';
import {
  canRun,
  type CheckScript,
  type Imports,
  readOnly,
  schema,
  type ScriptData,
  type ScriptKind,
  type ScriptProblem,
  type ScriptRow,
  type Serving,
} from './script-row.ts';
import {
  checkServing,
  endDraft,
  insertScriptVersion,
  nextScriptVersion,
  noteProblems,
  readScriptVersion,
  servingAfter,
  shareOf,
} from './script-versions.ts';

/**
 * Checks limits of scenarios (`opts.limits` of scripts, the setting `scenario_limits`); returns the mistake, or
 * undefined.
 */
export type CheckLimits = (limits: unknown) => string | undefined;

export function scripts(kind: ScriptKind, check: CheckScript, checkLimits: CheckLimits): CollectionDefinition {
  const table = `${kind}s` as const;
  return {
    entity: kind,
    table,
    schema,
    readOnly,
    defaults: { name: '', draft: false, opts: {}, ext: {} },
    composites: ['opts', 'ext'],
    json: ['scriptdata', 'serving', 'problems', 'modules'],
    writeOnly: ['base_version', 'imports'],
    hidden: ['version', 'problems', 'modules'],
    constraints: { [`${table}_code_key`]: 'code', [`${table}_domain_id_fkey`]: 'domain_id' },
    async lock(db) {
      // Before any row: scripts import each other.
      await sql`lock table script_modules in share row exclusive mode`.execute(db);
    },
    async prepare({ code, scriptdata }) {
      if (!isScriptData(scriptdata)) return {};
      const { problems, imports } = await check(typeof code === 'string' ? code : kind, scriptdata, NO_MODULES);
      // What imports others is checked with them, in the transaction.
      return { problems, imports: imports.size > 0 };
    },
    async derive(entity, before, db, pending) {
      const share = shareOf(entity['opts'], kind);
      const { limits } = (entity['opts'] ?? {}) as { readonly limits?: unknown };
      const wrong = limits === undefined ? undefined : checkLimits(limits);
      if (wrong !== undefined) throw new InvalidFieldError(kind, 'opts.limits', wrong, limits);
      const last = before as ScriptRow | undefined;
      const { scriptdata, draft, base_version: base } = entity as Partial<Static<typeof schema>> & ScriptRow;
      if (base !== undefined) await checkBase(kind, base, last, db);
      const isSame = last !== undefined && sameData(last.scriptdata, scriptdata);
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- rows of this table
      const scriptsWritten = pending as readonly PendingScript[];
      const checked = await withModules(kind, entity, last, { db, check, pending: scriptsWritten });
      const modules = checked?.modules ?? (isSame ? last.modules : {});
      // An unchanged text with the same modules keeps its problems.
      if (isSame && sameImports(modules, last.modules)) {
        await checkServing(kind, entity['serving'] as Serving, last, db);
        const kept = { version: last.version, problems: checked?.problems ?? last.problems, modules };
        if (!last.draft || draft) return kept;
        // What it would break is checked again below.
        const problems = kept.problems.filter(({ importer }) => importer === undefined);
        return { ...kept, problems, serving: promoted(kind, last, share) };
      }
      if (last === undefined && entity['serving'] !== undefined)
        throw new InvalidFieldError(kind, 'serving', 'cannot be set before the first version');
      const problems = checked?.problems ?? ((entity['problems'] ?? []) as readonly ScriptProblem[]);
      if (isSame && last.draft && !draft) refuseMistakes(kind, problems);
      const version = last === undefined ? 1 : await nextScriptVersion(db, kind, last.id);
      const percent = canRun(problems) && !draft ? share : 0;
      return { version, problems, modules, serving: servingAfter(last?.serving, version, percent) };
    },
    async checkRemoval(before, db) {
      await refuseImported(kind, before as unknown as ScriptRow, db);
    },
    async record(after, before, db) {
      const row = after as unknown as ScriptRow;
      const { id: script_id, version: number } = row;
      const { problems } = row;
      if (before?.['version'] !== number) await insertScriptVersion(db, kind, { ...row, script_id, number });
      else if (before['problems'] !== problems) await noteProblems(db, kind, { script_id, number, problems });
      await endDraft(db, kind, row);
    },
    async settle(written, db) {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- rows of these tables
      const settled = await settleImporters(kind, written as readonly WrittenScript[], { db, check });
      return settled.map(({ kind: of, before, after }) => ({ table: `${of}s` as const, before, after }));
    },
  };
}

/**
 * Checks a text together with what it imports.
 * @returns undefined when it imports nothing, or nothing of it changes
 */
async function withModules(
  kind: ScriptKind,
  entity: Input,
  last: ScriptRow | undefined,
  { db, check, pending }: { db: Kysely<Schema>; check: CheckScript; pending: readonly PendingScript[] },
): Promise<{ readonly problems: readonly ScriptProblem[]; readonly modules: Imports } | undefined> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- validated before
  const { code, scriptdata, draft, domain_id: domainId } = entity as unknown as ScriptRow;
  const isMoved = last !== undefined && (last.draft !== draft || last.domain_id !== domainId);
  const isAsked = 'imports' in entity ? entity['imports'] === true : isMoved && Object.keys(last.modules).length > 0;
  if (!isAsked) return undefined;
  const modules = new DomainModules({ db, kind, domainId, newest: draft, pending });
  const { problems, imports } = await check(code, scriptdata, modules);
  return { problems, modules: await keepModules(db, imports) };
}

function isScriptData(value: unknown): value is ScriptData {
  if (typeof value !== 'object' || value === null) return false;
  const { format, source } = value as Partial<Record<keyof ScriptData, unknown>>;
  return (format === 'yaml' || format === 'js' || format === 'ts') && typeof source === 'string';
}

/**
 * Serving of a draft that is one no more.
 * @throws InvalidFieldError when its newest version cannot run
 */
function promoted(kind: ScriptKind, { version, problems, serving }: ScriptRow, share: number): Serving {
  const mistakes = problems.filter(({ severity }) => severity === undefined).length;
  if (mistakes > 0) {
    const found = mistakes === 1 ? '1 mistake' : `${mistakes} mistakes`;
    throw new InvalidFieldError(kind, 'draft', `cannot end: version ${version} has ${found}; see problems`, false);
  }
  return serving.version === version ? serving : servingAfter(serving, version, share);
}

/** @throws OutdatedChangeError, InvalidFieldError for a new script */
async function checkBase(
  kind: ScriptKind,
  base: number,
  last: ScriptRow | undefined,
  db: Kysely<Schema>,
): Promise<void> {
  if (last === undefined) throw new InvalidFieldError(kind, 'base_version', 'cannot be set for a new script', base);
  if (base === last.version) return;
  const before = await readScriptVersion(db, kind, last.id, base);
  // A change of what it imports has made the versions since, not an author.
  if (before !== undefined && sameData(before.scriptdata, last.scriptdata)) return;
  throw new OutdatedChangeError(
    kind,
    'base_version',
    before === undefined ? null : { version: base, scriptdata: before.scriptdata },
    { version: last.version, scriptdata: last.scriptdata },
  );
}

/** @throws InvalidFieldError when a draft has mistakes with the modules that serve */
function refuseMistakes(kind: ScriptKind, problems: readonly ScriptProblem[]): void {
  const problem = problems.find(({ severity }) => severity === undefined);
  if (problem === undefined) return;
  const { file, line, column, message } = problem;
  const place = `${file === undefined ? '' : `${file}:`}${line}:${column}`;
  const reason = `cannot end: with the modules that serve it has a mistake, ${place}: ${message}; end their drafts in the same request`;
  throw new InvalidFieldError(kind, 'draft', reason, false);
}

/** The collections `ivrscripts` and `svcscripts`. Every text of a script is kept as a numbered version. */
import { type Kysely, sql } from 'kysely';
import { type Static, Type } from 'typebox';
import type { Schema } from '../../storage/index.ts';
import { InvalidFieldError, OutdatedChangeError } from '../errors.ts';
import type { CollectionDefinition, Input } from './definition.ts';
import { Code, Composite, Id, Label } from './fields.ts';
import { entityValidator } from './validator.ts';

const VersionNumber = Type.Integer({ minimum: 1, maximum: 2_147_483_647 });

const ScriptDataSchema = Type.Object(
  {
    format: Type.Union([Type.Literal('yaml'), Type.Literal('js'), Type.Literal('ts')]),
    source: Type.String({ minLength: 1, maxLength: 524_288 }),
  },
  { additionalProperties: false },
);

/** Versions for new runs. `version` is null until one without mistakes exists. */
const ServingSchema = Type.Object(
  {
    version: Type.Union([VersionNumber, Type.Null()]),
    /** Runs `version` in `percent` of new runs, or for calls from the numbers `callers`, instead of the served version. */
    trial: Type.Optional(
      Type.Object(
        {
          version: VersionNumber,
          percent: Type.Optional(Type.Number({ exclusiveMinimum: 0, exclusiveMaximum: 100 })),
          callers: Type.Optional(
            Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { minItems: 1, maxItems: 100, uniqueItems: true }),
          ),
        },
        { additionalProperties: false, minProperties: 2 },
      ),
    ),
  },
  { additionalProperties: false },
);

const validateServing = entityValidator({
  entity: 'ivrscript',
  schema: Type.Object({ serving: ServingSchema }),
  writeOnly: [],
});

/** @throws InvalidFieldError for an invalid object, with a nested field such as `serving.trial.percent` */
export function servingOf(serving: unknown): Serving {
  validateServing({ serving });
  return serving as Serving;
}

/** A mistake, or with `severity` a warning; line and column count from 1. */
const ProblemSchema = Type.Object({
  line: Type.Integer(),
  column: Type.Integer(),
  message: Type.String(),
  suggestion: Type.Optional(Type.String()),
  severity: Type.Optional(Type.Literal('warning')),
});

const schema = Type.Object({
  id: Id,
  domain_id: Id,
  /** Code in featurecodes, routes, hooks and other scenarios; unique within the domain. */
  code: Code,
  name: Label,
  scriptdata: ScriptDataSchema,
  serving: Type.Optional(ServingSchema),
  /** A change of the text is a version that no call gets, until this is false. */
  draft: Type.Boolean(),
  /** Version from which a change of the text was made; another present version is a conflict. Not stored. */
  base_version: Type.Optional(VersionNumber),
  /** `share`: percent of new runs that a new version gets at first. `limits`: resource limits of a run. */
  opts: Composite,
  ext: Composite,
});

const readOnly = { version: VersionNumber, problems: Type.Array(ProblemSchema) };

export type ScriptData = Static<typeof ScriptDataSchema>;
export type Serving = Static<typeof ServingSchema>;
export type ScriptProblem = Static<typeof ProblemSchema>;
export type ScriptKind = 'ivrscript' | 'svcscript';

export type ScriptRow = Omit<Static<typeof schema>, 'serving' | 'base_version'> & {
  readonly serving: Serving;
  /** Number of the version in `scriptdata`. */
  readonly version: number;
  /** Problems in `scriptdata`. */
  readonly problems: readonly ScriptProblem[];
};

export interface ScriptVersion {
  readonly script_id: string;
  readonly number: number;
  readonly scriptdata: ScriptData;
  readonly problems: readonly ScriptProblem[];
  /** Milliseconds since the epoch. */
  readonly created: number;
}

/** Checks a script before it is written. */
export type CheckScript = (code: string, data: ScriptData) => Promise<readonly ScriptProblem[]>;

/** True when a text with these problems can run. */
export function canRun(problems: readonly ScriptProblem[]): boolean {
  return problems.every(({ severity }) => severity !== undefined);
}

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
    json: ['scriptdata', 'serving', 'problems'],
    writeOnly: ['base_version'],
    hidden: ['version', 'problems'],
    constraints: { [`${table}_code_key`]: 'code', [`${table}_domain_id_fkey`]: 'domain_id' },
    async prepare({ code, scriptdata }) {
      return isScriptData(scriptdata)
        ? { problems: await check(typeof code === 'string' ? code : kind, scriptdata) }
        : {};
    },
    async derive(entity, before, db) {
      const share = shareOf(entity['opts'], kind);
      const { limits } = (entity['opts'] ?? {}) as { readonly limits?: unknown };
      const wrong = limits === undefined ? undefined : checkLimits(limits);
      if (wrong !== undefined) throw new InvalidFieldError(kind, 'opts.limits', wrong, limits);
      const problems = (entity['problems'] ?? []) as readonly ScriptProblem[];
      const last = before as ScriptRow | undefined;
      const { scriptdata, draft, base_version: base } = entity as Partial<Static<typeof schema>> & ScriptRow;
      if (base !== undefined) await checkBase(kind, base, last, db);
      const isSame = last?.scriptdata.format === scriptdata.format && last.scriptdata.source === scriptdata.source;
      // An unchanged text keeps its problems.
      if (last !== undefined && isSame) {
        await checkServing(kind, entity['serving'], last, db);
        const kept = { version: last.version, problems: last.problems };
        return last.draft && !draft ? { ...kept, serving: promoted(kind, last, share) } : kept;
      }
      if (last === undefined && entity['serving'] !== undefined)
        throw new InvalidFieldError(kind, 'serving', 'cannot be set before the first version');
      const version = (last?.version ?? 0) + 1;
      const percent = canRun(problems) && !draft ? share : 0;
      return { version, problems, serving: servingAfter(last?.serving, version, percent) };
    },
    async record(after, before, db) {
      if (before?.['version'] === after['version']) return;
      const { id, version, scriptdata, problems } = after as unknown as ScriptRow;
      await sql`
        insert into ${sql.table(`${kind}_versions`)} (script_id, number, scriptdata, problems, created)
        values (${id}, ${version}, ${JSON.stringify(scriptdata)}::jsonb, ${JSON.stringify(problems)}::jsonb, ${Date.now()})
      `.execute(db);
    },
  };
}

function isScriptData(value: unknown): value is ScriptData {
  if (typeof value !== 'object' || value === null) return false;
  const { format, source } = value as Partial<Record<keyof ScriptData, unknown>>;
  return (format === 'yaml' || format === 'js' || format === 'ts') && typeof source === 'string';
}

/** @returns the percentage of new runs for a new version */
function shareOf(opts: unknown, kind: ScriptKind): number {
  const share = (opts as { readonly share?: unknown } | undefined)?.share;
  if (share === undefined) return 100;
  if (typeof share === 'number' && share > 0 && share <= 100) return share;
  throw new InvalidFieldError(kind, 'opts.share', 'must be a number above 0, at most 100', share);
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
  throw new OutdatedChangeError(
    kind,
    'base_version',
    before === undefined ? null : { version: base, scriptdata: before.scriptdata },
    { version: last.version, scriptdata: last.scriptdata },
  );
}

/** Serving after a new version; 0 percent when it has mistakes or is a draft. */
function servingAfter(before: Serving | undefined, version: number, percent: number): Serving {
  if (percent === 0) return before ?? { version: null };
  if (percent === 100 || before === undefined || before.version === null) return { version };
  return { version: before.version, trial: { version, percent } };
}

/** @throws InvalidFieldError for a chosen version that cannot run */
async function checkServing(
  kind: ScriptKind,
  given: Input[string],
  before: ScriptRow,
  db: Kysely<Schema>,
): Promise<void> {
  const { version, trial } = given as Serving;
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
 * Serving after a rollback: first a trial is ended, then the previous runnable version serves. Undefined without one.
 */
export function servingBefore(serving: Serving, versions: readonly ScriptVersion[]): Serving | undefined {
  if (serving.trial !== undefined) return { version: serving.version };
  const current = serving.version;
  if (current === null) return undefined;
  const earlier = versions.filter(({ number, problems }) => number < current && canRun(problems));
  const version = Math.max(...earlier.map(({ number }) => number));
  return earlier.length === 0 ? undefined : { version };
}

/** Scripts as they are stored: their fields and versions, and what a check finds in them. */
import { type Static, Type } from 'typebox';
import { Code, Composite, Id, Label } from './fields.ts';
import { entityValidator } from './validator.ts';

export const VersionNumber = Type.Integer({ minimum: 1, maximum: 2_147_483_647 });

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
  /** The module or script with the mistake, as `hours.ts`, when it is not this text. */
  file: Type.Optional(Type.String()),
  /** Code of the script that imports this text, and that the mistake would be in. */
  importer: Type.Optional(Type.String()),
  line: Type.Integer(),
  column: Type.Integer(),
  message: Type.String(),
  suggestion: Type.Optional(Type.String()),
  severity: Type.Optional(Type.Literal('warning')),
});

export const schema = Type.Object({
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

export const readOnly = { version: VersionNumber, problems: Type.Array(ProblemSchema) };

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
  /** What the version in `scriptdata` imports. */
  readonly modules: Imports;
};

export interface ScriptVersion {
  readonly script_id: string;
  readonly number: number;
  readonly scriptdata: ScriptData;
  readonly problems: readonly ScriptProblem[];
  readonly modules: Imports;
  /** True: it was saved as a draft and has never served. */
  readonly draft: boolean;
  /** Milliseconds since the epoch. */
  readonly created: number;
}

/** Imported modules by name, such as `hours.ts`, with the hash of their text; null: missing. */
export type Imports = Readonly<Record<string, string | null>>;

/** A module of the domain, or why there is none. */
export type FoundModule =
  | { readonly text: string }
  | { readonly others: readonly string[]; readonly instead: string | undefined };

/** The modules that a script may import. */
export interface ScriptModules {
  find(name: string): Promise<FoundModule>;
}

export interface ScriptCheck {
  readonly problems: readonly ScriptProblem[];
  /** The modules that it imports, directly or not, by name, with their text; undefined: missing. */
  readonly imports: ReadonlyMap<string, string | undefined>;
}

/** Checks a text, and what it imports. */
export type CheckScript = (code: string, data: ScriptData, modules: ScriptModules) => Promise<ScriptCheck>;

/** True when a text with these problems can run. */
export function canRun(problems: readonly ScriptProblem[]): boolean {
  return problems.every(({ severity }) => severity !== undefined);
}

/** The name by which others of the domain import a text; undefined: they cannot. */
export function moduleName(code: string, { format }: ScriptData): string | undefined {
  return format === 'yaml' ? undefined : `${code}.${format}`;
}

/** The collection of prompts: sounds of a domain that scenarios play by name. An upload makes each. */
import { type Static, Type } from 'typebox';
import { sql } from '../../storage/index.ts';
import { InvalidFieldError } from '../errors.ts';
import type { CollectionDefinition } from './definition.ts';
import { Composite, Id } from './fields.ts';

/** Prompts of a domain: each node holds their names in memory. */
const MAX_OF_DOMAIN = 10_000;
/** Endings of sound files: with one, a scenario means a file of the folder `prompts`. */
const ENDING = /\.(?:wav|mp3|opus|ogg|flac)$/i;

const schema = Type.Object({
  id: Id,
  domain_id: Id,
  /** Unique in its language within the domain. */
  name: Type.String({
    pattern: '^(?=.{1,128}$)[A-Za-z0-9_][A-Za-z0-9_.-]*(?:/[A-Za-z0-9_][A-Za-z0-9_.-]*)*$',
    description:
      '1 to 128 letters, digits, `_`, `.`, `-`, in parts separated by `/`, each beginning with a letter, digit or `_`',
  }),
  /** Empty: for every language. */
  language: Type.String({
    pattern: '^(?:[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*)?$',
    description: 'a language tag such as `de` or `de-AT`; empty: for every language',
  }),
  /** A `PromptFile`: nobody outside the node can make one. */
  file: Type.Optional(Type.Object({}, { additionalProperties: Type.Unknown() })),
  opts: Composite,
  ext: Composite,
});

const readOnly = {
  kind: Type.Enum(['wav', 'mp3', 'opus', 'flac'], { description: 'Of the uploaded file' }),
  filename: Type.String({ description: 'Of the uploaded file' }),
  size: Type.Integer({ description: 'Bytes of the uploaded file' }),
  milliseconds: Type.Integer({ description: 'Duration' }),
  mtime: Type.Integer({ description: 'Time of the upload, milliseconds since the epoch' }),
  hasha: Type.String({ description: '`sha256;<HEX>` of the uploaded file' }),
};

/** The columns of an uploaded file. */
export type PromptColumns = {
  readonly kind: 'wav' | 'mp3' | 'opus' | 'flac';
  readonly filename: string;
  readonly size: number;
  readonly milliseconds: number;
  readonly mtime: number;
  readonly hasha: string;
  readonly wav_hasha: string;
};

/** An uploaded file in the field `file` of a write. */
export class PromptFile {
  readonly columns: PromptColumns;
  constructor(columns: PromptColumns) {
    this.columns = columns;
  }
}

export type PromptRow = Omit<Static<typeof schema>, 'file'> & PromptColumns;

/** A language tag in its usual spelling: `DE-at` is `de-AT`; undefined for none. */
export function canonicalLanguage(tag: string): string | undefined {
  if (tag === '') return '';
  try {
    return Intl.getCanonicalLocales(tag)[0];
  } catch {
    return undefined;
  }
}

export const prompts: CollectionDefinition = {
  entity: 'prompt',
  table: 'prompts',
  schema,
  readOnly,
  defaults: { language: '', opts: {}, ext: {} },
  composites: ['opts', 'ext'],
  json: [],
  writeOnly: ['file'],
  hidden: [...Object.keys(readOnly), 'wav_hasha'],
  constraints: { prompts_name_key: 'name', prompts_domain_id_fkey: 'domain_id' },
  derive(entity) {
    const { name, language, file } = entity as Static<typeof schema>;
    if (ENDING.test(name))
      throw new InvalidFieldError('prompt', 'name', 'must not end like a file: leave its ending out', name);
    const canonical = canonicalLanguage(language);
    if (canonical === undefined) throw new InvalidFieldError('prompt', 'language', 'is no language tag', language);
    if (file !== undefined && !(file instanceof PromptFile))
      throw new InvalidFieldError('prompt', 'file', 'is changed by PUT with the file as the body, at /file');
    return Promise.resolve({ ...file?.columns, language: canonical });
  },
  async record(after, before, db) {
    const domainId = (after as PromptRow).domain_id;
    if (before?.['domain_id'] === domainId) return;
    const { rows } = await sql<{ count: number }>`
      select count(*) as count from prompts where domain_id = ${domainId}`.execute(db);
    if ((rows[0]?.count ?? 0) > MAX_OF_DOMAIN)
      throw new InvalidFieldError('prompt', 'domain_id', `has ${MAX_OF_DOMAIN} prompts, which is the limit`);
  },
};

/** Checks a text of a script without saving it. */
import { type Kysely, sql } from 'kysely';
import type { Schema } from '../../storage/index.ts';
import { importerProblem, wouldBreak } from './importers.ts';
import { DomainModules } from './script-modules.ts';
import {
  canRun,
  type CheckScript,
  moduleName,
  type ScriptData,
  type ScriptKind,
  type ScriptProblem,
} from './script-row.ts';

export interface ScriptText {
  readonly kind: ScriptKind;
  readonly domainId: string;
  /** Undefined: that of no script. */
  readonly code: string | undefined;
  readonly data: ScriptData;
  /** It imports the newest texts of modules, also of drafts, as a draft does. */
  readonly draft: boolean;
}

/**
 * The problems that a script would have with this text, and mistakes for each script in service that imports it and would
 * have some then.
 */
export async function checkScriptText(
  { kind, domainId, code, data, draft }: ScriptText,
  tools: { readonly db: Kysely<Schema>; readonly check: CheckScript },
): Promise<readonly ScriptProblem[]> {
  const { db, check } = tools;
  const modules = new DomainModules({ db, kind, domainId, newest: draft });
  const { problems } = await check(code ?? kind, data, modules);
  const name = code === undefined ? undefined : moduleName(code, data);
  if (name === undefined || !canRun(problems)) return problems;
  const { rows } = await sql<{ id: string }>`
    select id from ${sql.table(`${kind}s`)} where domain_id = ${domainId} and code = ${code}`.execute(db);
  const text = data.source.replace(/^\uFEFF/, '');
  const broken = await wouldBreak({ domainId, name, text, except: rows[0]?.id }, tools);
  return [...problems, ...broken.map(importerProblem)];
}

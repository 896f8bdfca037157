/** Classes that the node makes in every domain and alone writes: the audit log, the histories of calls and of runs. */
import type { ClassDefinition } from './class-definition.ts';
import { CannotApplyError, ConflictError, NotFoundError } from './errors.ts';
import type { Input } from './fields.ts';
import type { Model, ModelCollection } from './model.ts';

/** The settings of a built-in class. */
export interface BuiltInClass {
  /** Reserved in every domain. */
  readonly classname: string;
  /** What it is, for messages: `the audit log`. */
  readonly what: string;
  /** Key in `ext` that tells it from an older class of the same name. */
  readonly mark: string;
}

export const AUDIT: BuiltInClass = { classname: 'audit', what: 'the audit log', mark: 'audit_log' };
export const CALL_HISTORY: BuiltInClass = {
  classname: 'callhistory',
  what: 'the history of calls',
  mark: 'call_history',
};

export const RUN_HISTORY: BuiltInClass = {
  classname: 'runhistory',
  what: 'the history of runs',
  mark: 'run_history',
};

const BUILT_IN = [AUDIT, CALL_HISTORY, RUN_HISTORY];

type Named = Pick<ClassDefinition, 'classname' | 'ext'>;

/** The built-in class of this name. */
export function builtInName(classname: unknown): BuiltInClass | undefined {
  return BUILT_IN.find((each) => each.classname === classname);
}

/** The built-in class that this is; undefined for an older class of the same name. */
export function builtIn({ classname, ext }: Named): BuiltInClass | undefined {
  const named = builtInName(classname);
  return named !== undefined && ext[named.mark] === true ? named : undefined;
}

/** @throws CannotApplyError for a built-in class */
export function refuseBuiltInWrite(definition: Named): void {
  const found = builtIn(definition);
  if (found !== undefined) throw new CannotApplyError('classname', `is ${found.what}, which nobody writes by hand`);
}

/**
 * The collection of a built-in class in a domain; created if missing, changed if its settings are others.
 * @param domain id
 * @param settings as for `/domain/classes`, without name and mark
 * @throws Error when an older class has the name
 */
export async function openBuiltIn(
  model: Pick<Model, 'classes' | 'collection'>,
  domain: string,
  built: BuiltInClass,
  settings: Input,
): Promise<ModelCollection> {
  const { classname, mark, what } = built;
  const collection = await existing(model, domain, classname);
  if (collection === undefined) {
    try {
      await model.classes(domain).create({ ...settings, classname, ext: { [mark]: true } });
    } catch (error) {
      // Another request or node created it first.
      if (!(error instanceof ConflictError)) throw error;
    }
    return model.collection(domain, classname);
  }
  const { definition } = collection;
  if (builtIn(definition) === undefined)
    throw new Error(`The class ${classname} of domain ${domain} is not ${what}. Rename that class.`);
  // The settings of another release, or another retention.
  if (!has(definition, settings)) await model.classes(domain).update(definition.id, settings);
  return collection;
}

/** Whether a class has these settings; it has others beside them. */
function has(present: unknown, wanted: unknown): boolean {
  if (typeof wanted !== 'object' || wanted === null) return present === wanted;
  if (typeof present !== 'object' || present === null) return false;
  if (Array.isArray(wanted) && Array.isArray(present) && wanted.length !== present.length) return false;
  return Object.entries(wanted).every(([key, value]) =>
    has((present as Readonly<Record<string, unknown>>)[key], value),
  );
}

async function existing(
  model: Pick<Model, 'collection'>,
  domain: string,
  classname: string,
): Promise<ModelCollection | undefined> {
  try {
    return model.collection(domain, classname);
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error;
    return undefined;
  }
}

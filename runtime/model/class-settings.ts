/** Reads and checks the settings of a class. */
import { fieldsOf, flagOf, integerOf, onlyKnown, oneOf, textOf } from './check.ts';
import {
  type ClassDefinition,
  type ClassOptions,
  type PropertyDefinition,
  STORAGE_MODES,
  type StorageMode,
} from './class-definition.ts';
import { InvalidFieldError } from './errors.ts';
import { readProperties } from './property-settings.ts';

const KNOWN = 'id domain_id classname name description parent_id storage_mode properties opts ext'.split(' ');
const ID = /^(?!\.{1,2}$)[A-Za-z0-9_.-]{1,64}$/;
export const MAX_CLASSNAME_PARTS = 8;
const CLASSNAME = /^[A-Za-z0-9_-]{1,64}(?:\/[A-Za-z0-9_-]{1,64}){0,7}$/;

const DEFAULTS: ClassOptions = {
  lookup_properties: [],
  max_mask: '',
  max_limit: 1000,
  put_preread: true,
  notify: true,
  partition_property: '',
  partition_interval: 'month',
  store_days: 0,
  expires_mode: 'none',
  expires_ttl: 0,
};

/** Default name of the time property of history and transactionlog classes: the time of creation. */
export const IMPLICIT_TIME: PropertyDefinition = {
  name: 'ts',
  data_type: 'long',
  multi: false,
  required: false,
  items: [],
  index: false,
  unique: false,
  merge_levels: 0,
};

/**
 * Reads complete settings. Rules across classes are checked when the class is resolved.
 *
 * @throws InvalidFieldError naming the field
 */
export function readClass(input: Readonly<Record<string, unknown>>): ClassDefinition {
  onlyKnown(input, KNOWN, '');
  // Null is not a default: a PATCH with `properties: null` would lose data.
  const {
    id,
    classname,
    parent_id: parentId,
    name = '',
    description = '',
    properties = [],
    opts = {},
    ext = {},
  } = input;
  if (typeof id !== 'string' || !ID.test(id)) {
    throw new InvalidFieldError('id', 'must be 1 to 64 letters, digits, _, . or -, and neither . nor ..', id);
  }
  if (typeof classname !== 'string' || !CLASSNAME.test(classname)) {
    const reason = 'must be 1 to 8 parts of letters, digits, _ and -, with / between them';
    throw new InvalidFieldError('classname', classname === undefined ? 'is required' : reason, classname);
  }
  if (parentId !== null && parentId !== undefined && typeof parentId !== 'string') {
    throw new InvalidFieldError('parent_id', 'must be the id of a class', parentId);
  }
  if (input['storage_mode'] === undefined) throw new InvalidFieldError('storage_mode', 'is required');
  const mode = oneOf(input['storage_mode'], 'storage_mode', STORAGE_MODES);
  return {
    id,
    domain_id: textOf(input['domain_id'], 'domain_id', 64),
    classname,
    name: textOf(name, 'name', 256),
    description: textOf(description, 'description', 4096),
    parent_id: parentId ?? null,
    storage_mode: mode,
    properties: readProperties(properties),
    opts: readOptions(fieldsOf(opts, 'opts'), mode),
    ext: fieldsOf(ext, 'ext'),
  };
}

function readOptions(given: Readonly<Record<string, unknown>>, mode: StorageMode): ClassOptions {
  onlyKnown(given, Object.keys(DEFAULTS), 'opts.');
  const o = { ...DEFAULTS, ...given };
  const names = o.lookup_properties as unknown;
  if (!Array.isArray(names) || !names.every((name) => typeof name === 'string')) {
    throw new InvalidFieldError('opts.lookup_properties', 'must be an array of names of properties', names);
  }
  const options: ClassOptions = {
    lookup_properties: names,
    max_mask: textOf(o.max_mask, 'opts.max_mask', 4096),
    max_limit: integerOf(o.max_limit, 'opts.max_limit', 1, 100_000),
    put_preread: flagOf(o.put_preread, 'opts.put_preread'),
    notify: flagOf(o.notify, 'opts.notify'),
    partition_property: textOf(o.partition_property, 'opts.partition_property', 64),
    partition_interval: oneOf(o.partition_interval, 'opts.partition_interval', ['day', 'month']),
    store_days: integerOf(o.store_days, 'opts.store_days', 0, 36_500),
    expires_mode: oneOf(o.expires_mode, 'opts.expires_mode', ['none', 'create', 'modify']),
    expires_ttl: integerOf(o.expires_ttl, 'opts.expires_ttl', 0, 315_360_000),
  };
  if (options.expires_mode !== 'none' && mode !== 'runtime') {
    throw new InvalidFieldError('opts.expires_mode', 'is for storage_mode runtime', options.expires_mode);
  }
  if (options.expires_mode !== 'none' && options.expires_ttl === 0) {
    throw new InvalidFieldError('opts.expires_ttl', 'must be the lifetime of an entity in seconds, at least 1', 0);
  }
  return options;
}

export function isPartitioned(mode: StorageMode): mode is 'history' | 'transactionlog' {
  return mode === 'history' || mode === 'transactionlog';
}

export function isInMemory(mode: StorageMode): mode is 'ram' | 'runtime' | 'ets' {
  return mode === 'ram' || mode === 'runtime' || mode === 'ets';
}

export function hasTable({ storage_mode: mode }: Pick<ClassDefinition, 'storage_mode'>): boolean {
  return mode !== 'abstract' && !isInMemory(mode);
}

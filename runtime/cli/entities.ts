/** `ringmaster domain`, `user`, `sipuser`, `trunk`: lists and makes the entities of a running node's domain. */
import process from 'node:process';
import { parseArgs } from 'node:util';
import { NEW_FEATURE_CODES, USER_ROLE, featureCodesText, generatePassword } from '../iam/index.ts';
import { Collections, type Entity, RefusedError } from './node-collections.ts';
import { nodeUrl, tokenFor } from './node-access.ts';
import { numbersOf } from './phone-numbers.ts';
import { textIn } from './text-file.ts';
import { usageOf } from './usage.ts';

interface Kind {
  readonly collection: string;
  /** The field that names an entity, unique in its domain. */
  readonly key: string;
  /** The listed fields. */
  readonly columns: readonly string[];
  readonly example: string;
  /** The entity that gets a generated password when none is given. */
  readonly hasPassword: boolean;
  /** The keys that a word of the command line stands for, e.g. those of a range. */
  keys(word: string): readonly string[];
  /** Fields that follow from the key. */
  defaults(key: string): Entity;
  /** Makes what belongs to a new entity, and says what. */
  readonly complete?: (node: Collections, id: string) => Promise<string>;
}

const one = (word: string): readonly string[] => [word];
const none = (): Entity => ({});

const KINDS = {
  domain: {
    collection: '/domain/domains',
    key: 'name',
    columns: ['name', 'is_master'],
    example: 'garage.example',
    hasPassword: false,
    keys: one,
    defaults: none,
    complete: fillDomain,
  },
  user: {
    collection: '/iam/users',
    key: 'login',
    columns: ['login', 'name', 'roles', 'locked'],
    example: `anna name=Anna roles:='["user"]'`,
    hasPassword: true,
    keys: one,
    defaults: none,
  },
  sipuser: {
    collection: '/domain/sipusers',
    key: 'login',
    columns: ['login', 'phonenumber', 'name'],
    example: '101-110',
    hasPassword: true,
    keys: (word) => (/^\d/.test(word) ? numbersOf('NAME', word) : [word]),
    defaults: (key) => (/^\d+$/.test(key) ? { phonenumber: key } : {}),
  },
  trunk: {
    collection: '/domain/providers',
    key: 'code',
    columns: ['code', 'host', 'register', 'enabled', 'state', 'reachable'],
    example: 'carrier host=sip.carrier.example register=outbound login=4930123 pwd=@password.txt',
    hasPassword: false,
    keys: one,
    defaults: none,
  },
} as const satisfies Record<string, Kind>;

/**
 * Lists the entities of a kind, or with `add` makes one for each key; those that exist stay as they are. Exit code 1 when
 * the node refuses.
 */
export async function entities(name: keyof typeof KINDS, args: readonly string[]): Promise<number> {
  const kind: Kind = KINDS[name];
  const usage = `ringmaster ${name} [--domain D] [--url http://127.0.0.1:8080] [--token T]
       ringmaster ${name} add NAME [FIELD=TEXT | FIELD=@FILE | FIELD:=JSON ...]
  lists, or makes unless it exists, e.g. ${name} add ${kind.example}
  @-: standard input
  --domain: a domain below that of the login; without --token: RINGMASTER_TOKEN, see ringmaster login`;
  return usageOf(usage, args, async () => {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: { domain: { type: 'string' }, url: { type: 'string', default: nodeUrl() }, token: { type: 'string' } },
      allowPositionals: true,
    });
    const [verb, word, ...fields] = positionals;
    if (verb !== undefined && (verb !== 'add' || word === undefined)) throw new TypeError('write: add NAME');
    const given = fieldsOf(fields);
    const keys = word === undefined ? [] : kind.keys(word);
    try {
      const base = `${values.url}/rest/v1`;
      const node = new Collections(base, await tokenFor(base, values.token));
      const domain = name === 'domain' ? undefined : await node.domainId(values.domain);
      if (verb === undefined) await list(node, kind, domain);
      else for (const key of keys) await add(node, kind, key, { ...(domain && { domain_id: domain }), ...given });
      return 0;
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error;
      process.stderr.write(`ringmaster: ${error.message}\n`);
      return 1;
    }
  });
}

/** @throws TypeError for a word that is no field */
function fieldsOf(words: readonly string[]): Entity {
  const fields: Record<string, unknown> = {};
  for (const word of words) {
    const [, name, how, value] = /^([a-z_]+)(:?=)(.*)$/s.exec(word) ?? [];
    if (name === undefined || value === undefined)
      throw new TypeError(`"${word}" is none of FIELD=TEXT, FIELD=@FILE, FIELD:=JSON`);
    try {
      if (how === '=') fields[name] = value.startsWith('@') ? textIn(value.slice(1)) : value;
      else fields[name] = JSON.parse(value) as unknown;
    } catch (cause) {
      const problem = how === '=' ? (cause as Error).message : `"${value}" is not JSON`;
      throw new TypeError(`${name}: ${problem}`, { cause });
    }
  }
  return fields;
}

async function list(node: Collections, { collection, columns, key }: Kind, domain: string | undefined): Promise<void> {
  const found = await node.list(collection, { domain_id: domain }, key);
  const rows = [columns, ...found.map((entity) => columns.map((column) => cell(entity[column])))];
  const widths = columns.map((_, index) => Math.max(...rows.map((row) => row[index]?.length ?? 0)));
  for (const row of rows) {
    process.stdout.write(
      `${row
        .map((text, index) => text.padEnd(widths[index] ?? 0))
        .join('  ')
        .trimEnd()}\n`,
    );
  }
}

function cell(value: unknown): string {
  if (Array.isArray(value)) return value.join(',');
  if (typeof value === 'boolean') return value ? 'yes' : '-';
  return typeof value === 'string' ? value : '';
}

async function add(node: Collections, kind: Kind, key: string, given: Entity): Promise<void> {
  const { collection, key: field, hasPassword } = kind;
  const [present] = await node.list(collection, { [field]: key, domain_id: given['domain_id'] }, field);
  if (present !== undefined) {
    process.stdout.write(`${key}  (exists)\n`);
    return;
  }
  const pwd = hasPassword && given['pwd'] === undefined ? generatePassword() : undefined;
  const made = await node.create(collection, { ...kind.defaults(key), ...given, [field]: key, ...(pwd && { pwd }) });
  const more = (await kind.complete?.(node, String(made['id']))) ?? '';
  process.stdout.write(pwd === undefined ? `${key}${more}\n` : `${key}  password ${pwd}   (not shown again)\n`);
}

/** Gives a new domain the role and featurecodes that one of `ringmaster init` has. */
async function fillDomain(node: Collections, domain_id: string): Promise<string> {
  await node.create('/iam/roles', { domain_id, ...USER_ROLE });
  for (const featureCode of NEW_FEATURE_CODES) await node.create('/domain/featurecodes', { domain_id, ...featureCode });
  return `  featurecodes ${featureCodesText()}`;
}

/** Lists of the domain-center and of what is live are what a plain reference makes of the unfiltered list. Seeded. */
import { expect } from 'chai';
import { Random } from '../../model/support/random.ts';
import { DataNode, type Who } from '../support/data-node.ts';
import { dialog } from '../support/doubles.ts';
import { type Kind, ListGenerator } from './generator.ts';
import { answer, type Query, type Row, type Rules, shaped } from './reference.ts';

const WHO: Who = 'admin@demo.local';
const SEED = Number(process.env['RINGMASTER_FUZZ_SEED'] ?? 20_261_121);
const LISTS = Number(process.env['RINGMASTER_FUZZ_LISTS'] ?? 25);

const ANY = ['Rome', 'rome', '7', 7, 2.5, -3, true, false, ['a', 'b'], ['7'], { deep: 'x' }, null] as const;
const NAMES = [
  'Ann',
  'ann',
  'Bob',
  'bo%b',
  'C_d',
  'É',
  'z\\z',
  '',
  '10',
  'a|b',
  '\u{1F600}',
  '\uFFEE',
  'true',
  "O'Neil; x",
];

interface Collection extends Rules {
  readonly fields: Readonly<Record<string, Kind>>;
  /** The field that reads one. */
  readonly id: string;
}

/** Without what the server makes. */
const importable = ({ ext, ...rest }: Row): Row => {
  const { ct: _created, lwt: _changed, ...own } = ext as Row;
  return { ...rest, ext: own };
};
/** Of scripts the version, its problems and what serves are made, too; a file of the node becomes a script of its own. */
const importableScript = (row: Row): Row => {
  const { id, version: _version, problems: _problems, serving: _serving, ...rest } = row;
  return importable(String(id).startsWith('file.') ? rest : { id, ...rest });
};
/** Of providers the node knows a state, which is not theirs. */
const importableProvider = (row: Row): Row => {
  const {
    state: _state,
    reachable: _there,
    since: _since,
    expires: _end,
    last_answer: _answer,
    gateway_states: _gateways,
    ...rest
  } = row;
  return importable(rest);
};
const STORED = { aliases: {}, byId: true, id: 'id', importable };
const LIVE = { aliases: {}, byId: false };
const CALLS: Collection = {
  aliases: { esgdlgid: 'esgdlg' },
  byId: false,
  id: 'dialogid',
  fields: {
    acallid: 'text',
    dialogid: 'text',
    esgdlg: 'text',
    esgdlgid: 'text',
    inviteid: 'text',
    status: 'text',
    localuri: 'text',
    remoteuri: 'text',
    startts: 'number',
    callids: 'texts',
    uris: 'texts',
    'opts.referred-by': 'json',
    'legs.callid': 'json',
    'legs.side': 'json',
    'legs.expirets': 'json',
  },
};
const CONFERENCES: Collection = {
  ...LIVE,
  aliases: { confuri: 'uri' },
  id: 'confid',
  fields: { confid: 'text', confroomnum: 'text', confuri: 'text', uri: 'text', startts: 'number', uris: 'texts' },
};

const COLLECTIONS: Readonly<Record<string, Collection>> = {
  '/domain/sipusers': {
    ...STORED,
    fields: { id: 'text', login: 'text', name: 'text', user_id: 'text', 'opts.v': 'json', 'opts.deep.w': 'json' },
  },
  '/domain/providers': {
    ...STORED,
    importable: importableProvider,
    fields: {
      code: 'text',
      name: 'text',
      host: 'text',
      port: 'number',
      enabled: 'boolean',
      numbers: 'texts',
      'opts.v': 'json',
      'mapping.outbound.pattern': 'json',
      max_calls: 'number',
    },
  },
  '/domain/settings': { ...STORED, fields: { key: 'text', value: 'json', 'value.deep': 'json', 'opts.v': 'json' } },
  '/domain/recordingrules': {
    ...STORED,
    fields: { priority: 'number', record: 'boolean', direction: 'text', number_pattern: 'text', 'opts.v': 'json' },
  },
  '/domain/classes': {
    ...STORED,
    fields: {
      classname: 'text',
      name: 'text',
      'opts.max_limit': 'json',
      'properties.name': 'json',
      'ext.lwt': 'json',
    },
  },
  '/domain/ivrscripts': {
    ...STORED,
    importable: importableScript,
    fields: {
      id: 'text',
      code: 'text',
      name: 'text',
      version: 'number',
      'scriptdata.format': 'json',
      'ext.ct': 'json',
    },
  },
  '/iam/users': {
    ...STORED,
    fields: { login: 'text', name: 'text', roles: 'texts', 'opts.v': 'json', 'ext.ct': 'json' },
  },
  '/uc/calls': CALLS,
  '/user/sip/calls': CALLS,
  '/uc/conferences': CONFERENCES,
  '/uc/conferences_by_participation': CONFERENCES,
  '/uc/conferences/c-1/participants': {
    ...LIVE,
    id: 'participantid',
    fields: { participantid: 'text', state: 'text', ruri: 'text', rtag: 'text' },
  },
};

describe(`REST: random lists, seed ${SEED}`, () => {
  let node: DataNode;
  before(async function () {
    this.timeout(120_000);
    const random = new Random(SEED);
    node = await DataNode.start(liveConferences(random));
    await fill(node, random);
  });
  after(() => node.close());

  const get = async (path: string, query: object): Promise<unknown> => {
    const parameters = new URLSearchParams(
      Object.entries(query).map(([name, value]): [string, string] => [
        name,
        typeof value === 'string' ? value : JSON.stringify(value),
      ]),
    );
    const { status, body, text } = await node.as(WHO, 'GET', `${path}?${parameters}`);
    expect(status, `${path} ${JSON.stringify(query)} ${text}`).to.equal(200);
    return body;
  };

  for (const [path, { fields, id, ...rules }] of Object.entries(COLLECTIONS)) {
    it(`of ${path} equal those of a reference implementation`, async function () {
      this.timeout(600_000);
      const rows = (await get(path, {})) as Row[];
      expect(rows).to.have.length.greaterThan(5);
      const generator = new ListGenerator(new Random(SEED), fields, rows);
      let [found, cut] = [0, 0];
      for (let n = 0; n < LISTS; n += 1) {
        // Of what is live there is nothing that could be posted back.
        const isExport = rules.importable !== undefined && n % 4 === 3;
        const query: Query = { ...generator.query(), ...(isExport && { export: true }) };
        const { page, count } = answer(rows, query, rules);
        const what = `${path}, list ${n}: ${JSON.stringify(query)}`;
        expect(await get(path, query), what).to.deep.equal(page);
        expect(
          await get(path, { ...query, ...(n % 2 === 0 ? { limit: 0 } : { countonly: 'true' }) }),
          what,
        ).to.deep.equal({ count });
        found += count;
        cut += rows.length - count;
        const { mask, flat }: Query = query;
        const one = rows[n % rows.length] ?? {};
        const read = (await get(`${path}/${String(one[id])}`, {
          ...(mask !== undefined && { mask }),
          ...(flat && { flat }),
        })) as Row;
        // A single read shows the URI under both of its names.
        const { confuri: _, ...shown } = read;
        expect(shown, what).to.deep.equal(shaped(one, { ...query, export: false }, rules));
      }
      // A filter that always holds, or never, would prove nothing.
      expect(found).to.be.greaterThan(LISTS);
      expect(cut).to.be.greaterThan(LISTS);
    });
  }

  it('log no internal error', () => {
    expect(node.log).to.deep.equal([]);
  });
});

/** A list of random resources of each collection. */
async function fill(node: DataNode, random: Random): Promise<void> {
  const many = (make: (n: number) => object): object[] => Array.from({ length: 25 }, (_, n) => make(n));
  const opts = (): object => ({
    ...(random.chance(0.8) && { v: random.pick(ANY) }),
    ...(random.chance(0.6) && { deep: { w: random.pick(ANY) } }),
  });
  const post = async (path: string, list: readonly object[]): Promise<void> => {
    const { status, text } = await node.as(WHO, 'POST', path, list);
    expect(status, text).to.equal(200);
  };
  const name = (): string => random.pick(NAMES);
  await post(
    '/domain/sipusers',
    many((n) => ({ id: `s${(n * 7) % 25}`, login: `u${n % 5}.${n}`, name: name(), pwd: 'x', opts: opts() })),
  );
  await post(
    '/domain/providers',
    many((n) => ({
      code: `p${n}`,
      name: name(),
      host: random.pick(['a.example', 'b.example']),
      port: 5060 + random.below(4),
      enabled: random.chance(0.5),
      numbers: ['1', '2', '+49%'].filter(() => random.chance(0.5)),
      opts: opts(),
      max_calls: random.below(3),
      ...(random.chance(0.5) && { mapping: { outbound: [{ pattern: `${random.below(3)}%`, strip: 1, prepend: '' }] } }),
    })),
  );
  await post(
    '/domain/settings',
    many((n) => ({ key: `k${n}`, value: random.pick(ANY) ?? 'none', opts: opts() })),
  );
  await post(
    '/domain/recordingrules',
    many((n) => ({
      priority: n % 6,
      record: random.chance(0.5),
      direction: random.pick(['any', 'in', 'out']),
      number_pattern: random.pick(['%', '1%', '%2']),
      opts: opts(),
    })),
  );
  for (const n of [1, 2, 3, 4, 5, 6, 7]) {
    await post('/domain/classes', [
      {
        classname: `c${n % 3}/x${n}`,
        name: name(),
        storage_mode: 'ets',
        opts: { max_limit: 100 * (n % 3) + 1 },
        properties: [
          { name: 'a', data_type: 'int' },
          { name: `b${n % 2}`, data_type: 'string' },
        ],
      },
    ]);
  }
  await post(
    '/domain/ivrscripts',
    many((n) => ({ code: `i${n}`, name: name() || 'x', scriptdata: { format: n % 2 ? 'yaml' : 'js', source: 'x' } })),
  );
  await post(
    '/iam/users',
    many((n) => ({
      login: `user${n}`,
      name: name(),
      roles: ['admin', 'user'].filter(() => random.chance(0.5)),
      opts: opts(),
    })),
  );
  node.calls.dialogs.push(
    ...Array.from({ length: 25 }, (_, n) =>
      dialog(String((n * 7) % 25), {
        startts: 1_700_000_000_000 + (n % 6),
        status: n % 3 ? 'dialog' : 'forking',
        esgdlg: n % 4 ? '' : `gw${n}`,
        remoteuri: `<sip:10${n % 4}@demo.local>`,
        uris: [`<sip:10${n % 4}@demo.local>`, '<sip:bob@demo.local>'].slice(n % 2),
        opts: n % 2 ? {} : { 'referred-by': `<sip:${random.pick(['a', 'b'])}@x>` },
      }),
    ),
  );
  for (let n = 0; n < 25; n += 2) node.calls.own.add(String(n));
}

function liveConferences(random: Random) {
  const rooms = Array.from({ length: 12 }, (_, n) => ({
    confid: `c-${n}`,
    confroomnum: String(n % 5),
    confnumber: n.toString(16),
    uri: `<sip:*70${n % 5}@demo.local>`,
    site: 'default',
    startts: 1_700_000_000_000 + random.below(5),
    uris: ['<sip:101@demo.local>', '<sip:alice@demo.local>', '<sip:x@demo.local>'].filter(() => random.chance(0.6)),
  }));
  const participants = Array.from({ length: 12 }, (_, n) => ({
    participantid: `p${(n * 5) % 12}`,
    state: random.pick(['calling', 'ringing', 'connected', 'hold'] as const),
    callid: `x-${n}`,
    luri: '<sip:*701@demo.local>',
    ltag: 't',
    ruri: `<sip:10${n % 4}@demo.local>`,
    rtag: `r${n}`,
    moderator: random.chance(0.5),
    talking: random.chance(0.5),
  }));
  return {
    conferences: {
      list: async () => rooms,
      read: async (_scope: object, confid: string) => rooms.find((room) => room.confid === confid),
    },
    rooms: { participants: () => participants },
  };
}

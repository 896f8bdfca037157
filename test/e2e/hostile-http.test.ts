import { expect } from 'chai';
import { RestClient } from '../phones/rest-client.ts';
import { RawClient } from '../rest-bridge/http/raw-client.ts';
import { REFUSED_STREAMS } from '../rest-bridge/http/refused-streams.ts';
import { useHealthCheck } from '../support/health-check.ts';
import { useStage } from '../support/stage.ts';

const REST = '/rest/v1';
/** Concurrent connections, and the requests that each sends before it reads an answer. */
const CONNECTIONS = 20;
const PIPELINED = 100;
/** Milliseconds until an answer; quadratic parsing takes many seconds. */
const SLOW_MS = 5000;

describe('hostile HTTP', function () {
  this.timeout(60_000);
  const stage = useStage({ ownNode: true });

  describe('leaves the node healthy after', () => {
    useHealthCheck(stage);

    it(`${CONNECTIONS} times ${PIPELINED} pipelined requests`, async () => {
      const { token = '' } = await stage.rest();
      const head = 'HTTP/1.1\r\nHost: x\r\n';
      const kinds = [
        [`GET /healthz ${head}\r\n`, 200],
        [`GET ${REST}/uc/calls ${head}\r\n`, 401],
        [`GET ${REST}/domain/sipusers ${head}Authorization: Bearer ${token}\r\n\r\n`, 200],
        [
          `LOOKUP ${REST}/uc/calls ${head}Authorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`,
          400,
        ],
        [`GET /nothing ${head}\r\n`, 404],
      ] as const;
      const flood = Array.from({ length: PIPELINED }, (_, at) => kinds[at % kinds.length] ?? kinds[0]);
      const one = async (): Promise<void> => {
        const client = await RawClient.open(port());
        client.write(flood.map(([text]) => text).join(''));
        const statuses: (number | undefined)[] = [];
        for (const _ of flood) statuses.push((await client.answer())?.status);
        client.close();
        expect(statuses).to.deep.equal(flood.map(([, status]) => status));
      };
      await Promise.all([...Array.from({ length: CONNECTIONS }, one), quickHealth(20)]);
    });

    it(`${REFUSED_STREAMS.length} request smuggling streams: smuggled requests get no answer`, async () => {
      const smuggled = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n';
      await Promise.all(
        REFUSED_STREAMS.map(async ([name, , stream]) => {
          const client = await RawClient.open(port());
          client.write(stream + smuggled);
          const answer = await client.answer();
          expect(answer?.status, name).to.be.within(400, 505);
          await client.end();
          expect(client.rest, name).to.equal('');
          client.close();
        }),
      );
    });

    it('filters built for slow evaluation', async () => {
      const rest = await stage.rest();
      const text = `${'a'.repeat(20_000)}!`;
      const patterns = [
        '(a+)+$',
        '(a|a)*b',
        '(a|aa)+$',
        '(.*)*x',
        '.*.*.*.*.*.*x',
        '(a?){100}a{100}',
        '(a|b)*a(a|b){9}',
      ];
      const filters: unknown[] = [
        ...patterns.map((pattern) => ['regexp', text.slice(-5000), pattern]),
        ...patterns.map((pattern) => ({ name: `/reg/${pattern}` })),
        { name: `/reg/${'('.repeat(3000)}${')'.repeat(3000)}` },
        { name: '/reg/((a{99}){99}){99}' },
        ['like', text.slice(-5000), `${'%a'.repeat(120)}%b`],
        Array.from({ length: 400 }).reduce<unknown>((inner) => ['not', inner], true),
        ['or', ...Array.from({ length: 1000 }, (_, at) => ['==', ['property', 'login'], String(at)])],
      ];
      const statuses = new Set<number>();
      for (const filter of filters) {
        const what = JSON.stringify(filter).slice(0, 80);
        const asked = rest.get(`${REST}/domain/sipusers`, { filter: JSON.stringify(filter) });
        statuses.add((await within(SLOW_MS, what, asked)).status);
      }
      expect([...statuses]).to.include.members([200, 400]);
    });

    it('YAML scenarios built for slow or growing parsing', async () => {
      const rest = await stage.rest();
      const bomb = Array.from({ length: 12 }, (_, at) => `a${at + 1}: &a${at + 1} [${`*a${at},`.repeat(10)}]`);
      const sources: Readonly<Record<string, string>> = {
        aliases: `a0: &a0 [x]\n${bomb.join('\n')}\n`,
        'an alias in itself': 'a: &a [*a]\n',
        'merge keys': `a0: &a0 { x: 1 }\n${Array.from({ length: 20 }, (_, at) => `a${at + 1}: &a${at + 1} { <<: [*a${at}, *a${at}] }`).join('\n')}\n`,
        'deep lists': `start: a\nblocks: ${'['.repeat(100_000)}`,
        'deep maps': `start: a\nblocks: ${'{a: '.repeat(50_000)}`,
        'deep indentation': Array.from({ length: 700 }, (_, at) => `${' '.repeat(at)}k:`).join('\n'),
        'a huge key': `${'k'.repeat(400_000)}: 1\n`,
        'many keys': Array.from({ length: 5000 }, (_, at) => `k${at}: 1`).join('\n'),
        'many equal keys': 'k: 1\n'.repeat(5000),
        'many documents': '---\n'.repeat(50_000),
        'an open quote': `start: "${'\\"'.repeat(200_000)}`,
        'many quotes': `start: ${'"a" '.repeat(50_000)}`,
        'many tags': `start: ${'!a '.repeat(50_000)}`,
        'many comments': '#\n'.repeat(100_000),
        'many blanks': `start:${' '.repeat(500_000)}x\n`,
        'many blocks': `start: b0\nblocks:\n${Array.from({ length: 300 }, (_, at) => `  b${at}: { if: n < 0, exits: { then: b${at + 1}, else: b0 } }`).join('\n')}\n`,
        'a long expression': `start: a\nblocks:\n  a: { if: '${'1 + '.repeat(50_000)}1 > 0', exits: { then: end, else: end } }\n`,
        'a deep expression': `start: a\nblocks:\n  a: { if: '${'('.repeat(50_000)}', exits: { then: end, else: end } }\n`,
        'a deep template': `start: a\nblocks:\n  a: { set: { x: "${'${'.repeat(50_000)}" } }\n`,
      };
      for (const [what, source] of Object.entries(sources)) {
        const body = { code: 'hostile', scriptdata: { format: 'yaml', source } };
        const stored = await within(SLOW_MS, what, rest.send('POST', `${REST}/domain/ivrscripts`, { body }));
        expect(stored.status, `${what}: ${stored.text.slice(0, 200)}`).to.be.oneOf([200, 400, 413, 422]);
        if (stored.status !== 200) continue;
        const { id, problems } = stored.json<{ id: string; problems: [] }>();
        expect(problems, what).to.not.deep.equal([]);
        expect((await rest.send('DELETE', `${REST}/domain/ivrscripts/${id}`)).status).to.equal(204);
      }
    });

    it('sessions and requests for unknown and foreign domains', async () => {
      // Before the failed logins, which delay the whole address.
      const alice = await stage.rest('alice');
      const nobody = new RestClient(stage.node.base);
      for (const domain of ['nowhere.test', 'master', '', '..', 'demo.local\0', "' or 1=1 --"]) {
        const body = { domain, login: 'alice', pwd: 'demo-alice', session_type: 'token' };
        const refused = await nobody.send('POST', `${REST}/iam/sessions`, { body });
        expect(refused.status, domain).to.be.oneOf([400, 401, 403, 422, 429]);
      }
      nobody.close();
      for (const domain of ['nowhere.test', 'master']) {
        const moved = await alice.send('PATCH', `${REST}/iam/sessions/current`, { body: { domain } });
        expect(moved.status, domain).to.be.oneOf([403, 404, 422]);
      }
      expect((await alice.get(`${REST}/domain/domains`)).status).to.equal(403);
    });
  });

  function port(): number {
    return Number(new URL(stage.node.base).port);
  }

  /** The answer, which must arrive in time, like that of a concurrent /healthz. */
  async function within<T>(milliseconds: number, what: string, answer: Promise<T>): Promise<T> {
    const began = performance.now();
    const [value] = await Promise.all([answer, stage.node.health()]);
    expect(performance.now() - began, what).to.be.below(milliseconds);
    return value;
  }

  async function quickHealth(times: number): Promise<void> {
    for (let at = 0; at < times; at += 1) await within(SLOW_MS, '/healthz', Promise.resolve());
  }
});

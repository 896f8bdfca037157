import { expect } from 'chai';
import type { DataNode, Who } from '../support/data-node.ts';
import { describeNodes, describeTwoNodes } from '../support/data-nodes.ts';
import { eventually } from '../../support/eventually.ts';

const ADMIN: Who = 'admin@demo.local';
const ENTITIES = 30;
/** Answers that belong to a definition of the class, or say to come again. */
const RIGHT = [200, 204, 400, 404, 409, 422];

interface Property {
  readonly name: string;
  readonly data_type: string;
  readonly [setting: string]: unknown;
}

const NAME: Property = { name: 'name', data_type: 'string' };
const N: Property = { name: 'n', data_type: 'integer' };
const TAGS: Property = { name: 'tags', data_type: 'string', multi: true };

/** What a class of `NAME`, `N` and `TAGS` becomes; it is changed back each time. */
const CHANGES: readonly (readonly [title: string, changed: readonly Property[]])[] = [
  ['a number into text', [NAME, { ...N, data_type: 'string' }, TAGS]],
  ['a number into any JSON', [NAME, { ...N, data_type: 'any' }, TAGS]],
  ['one value into a list', [NAME, { ...N, multi: true }, TAGS]],
  ['a required property with a default', [NAME, N, TAGS, { ...N, name: 'more', required: true, default: 7 }]],
  ['a property that becomes required', [{ ...NAME, required: true }, N, TAGS]],
  ['a unique property', [NAME, { ...N, unique: true }, TAGS]],
  [
    'indexes',
    [
      { ...NAME, index: 'wildcard' },
      { ...N, index: true },
      { ...TAGS, index: 'list' },
    ],
  ],
  ['an enum', [{ ...NAME, data_type: 'enum', items: ['a', 'b', 'c'] }, N, TAGS]],
];

interface Traffic {
  /** What is being done meanwhile. */
  during(title: string): void;
  /** Tells the answers that were neither right nor 503 with Retry-After. */
  stop(): Promise<{ answers: number; wrong: string[] }>;
}

/** Reads and writes at `nodes` until it is stopped. */
function traffic(nodes: readonly DataNode[], path: string): Traffic {
  let isOver = false;
  let title = '';
  let answers = 0;
  const wrong: string[] = [];
  let next = ENTITIES;
  const names = ['a', 'b', 'c'];
  const entity = (): object => ({ name: names[next % 3], n: next, tags: names });
  const requests: readonly (() => readonly [string, string, unknown?])[] = [
    () => ['GET', `${path}?limit=20&order=["n"]&filter={"n":"5~"}`.replaceAll('"', '%22')],
    () => ['GET', `${path}/${next % ENTITIES}`],
    () => ['POST', path, { id: String(++next), ...entity() }],
    () => ['POST', path, [{ id: `${++next}-a`, ...entity() }, { id: `${next}-b` }]],
    () => ['PUT', `${path}/${next % ENTITIES}`, entity()],
    () => ['PATCH', `${path}/${next % ENTITIES}`, { n: next, tags: ['x'] }],
    () => ['DELETE', `${path}/${next}`],
    () => ['LOOKUP', path, { name: 'a' }],
    () => ['GET', `${path}?aggr={"n":["count"]}&groupby={"name":"name"}`.replaceAll('"', '%22')],
  ];
  const repeat = async (node: DataNode, request: (typeof requests)[number]): Promise<void> => {
    while (!isOver) {
      const [method, target, body] = request();
      const { status, text, headers } = await node.as(ADMIN, method, target, body);
      answers += 1;
      const isRight = RIGHT.includes(status) || (status === 503 && headers.has('retry-after'));
      if (!isRight) wrong.push(`${title}: ${method} ${target}: ${status} ${text}`);
    }
  };
  const running = nodes.flatMap((node) => requests.map((request) => repeat(node, request)));
  return {
    during(change) {
      title = change;
    },
    async stop() {
      isOver = true;
      await Promise.all(running);
      return { answers, wrong };
    },
  };
}

function describeChanges(nodes: () => readonly DataNode[]): void {
  const at = (index: number): DataNode => nodes()[index % nodes().length] as DataNode;

  for (const mode of ['category', 'history', 'ram', 'ets']) {
    it(`leaves them the old or the new definition; storage_mode ${mode}`, async function () {
      this.timeout(180_000);
      const classname = `changing-${mode}`;
      const properties = [NAME, N, TAGS];
      const settings = { classname, storage_mode: mode, properties, opts: { lookup_properties: ['name'] } };
      const made = await at(0).as(ADMIN, 'POST', '/domain/classes', settings);
      expect(made.status, made.text).to.equal(200);
      const { id } = made.body as { id: string };
      const path = `/model/${classname}`;
      const list = Array.from({ length: ENTITIES }, (_, n) => ({ id: String(n), name: 'a', n, tags: ['t'] }));
      for (const node of nodes()) await settledOn(node, id, properties);
      expect((await at(0).as(ADMIN, 'POST', path, list)).status).to.equal(200);

      const { during, stop } = traffic(nodes(), path);
      const changes = mode === 'history' ? CHANGES.filter(([title]) => !title.includes('unique')) : CHANGES;
      for (const [index, [title, changed]] of changes.entries()) {
        during(title);
        // What cannot be changed back is removed, and added anew.
        for (const wanted of [changed, [NAME, TAGS], properties]) {
          const change = () => at(index).as(ADMIN, 'PATCH', `/domain/classes/${id}`, { properties: wanted });
          let answer = await change();
          // What is there, or comes meanwhile, may not fit.
          for (let tries = 0; answer.status === 422 && tries < 3; tries += 1) {
            for (const node of nodes()) await node.as(ADMIN, 'CLEAR', path);
            answer = await change();
          }
          expect([200, 422], answer.text).to.include(answer.status);
          await Promise.all(list.slice(0, 5).map((each) => at(index).as(ADMIN, 'PUT', `${path}/${each.id}`, each)));
        }
      }
      const { answers, wrong } = await stop();
      expect(wrong).to.deep.equal([]);
      expect(answers).to.be.greaterThan(100);

      // Whatever was written fits the class as it is.
      const last = [{ ...NAME, required: true }, N, { name: 'more', data_type: 'string', default: 'd' }];
      for (const node of nodes()) await node.as(ADMIN, 'CLEAR', path);
      const changed = await at(1).as(ADMIN, 'PATCH', `/domain/classes/${id}`, { properties: last });
      expect(changed.status, changed.text).to.equal(200);
      for (const node of nodes()) {
        await settledOn(node, id, last);
        expect((await node.as(ADMIN, 'POST', path, { name: 'a', n: 1 })).status).to.equal(200);
        const interval = encodeURIComponent('["2000-01-01","2100-01-01"]');
        const rows = await node.as(ADMIN, 'GET', `${path}?interval=${interval}&limit=1000`);
        expect(rows.status, rows.text).to.equal(200);
        const names = ['id', ...last.map(({ name }) => name), ...(mode === 'history' ? ['ts'] : [])];
        for (const row of rows.body as object[]) expect(row).to.have.all.keys(names);
      }
    });
  }

  /** Waits until a node knows the class with these properties. */
  async function settledOn(
    node: DataNode,
    id: string,
    properties: readonly { readonly name: string }[],
  ): Promise<void> {
    await eventually(async () => {
      const known = node.model.classes(node.domainId('demo.local')).get(id)?.properties ?? [];
      expect(known.map(({ name }) => name)).to.have.members(properties.map(({ name }) => name));
    }, 20_000);
  }
}

describeNodes('REST: a change of a class beside reads and writes', (node) => describeChanges(() => [node()]));
describeTwoNodes('REST: a change of a class beside reads and writes', describeChanges);

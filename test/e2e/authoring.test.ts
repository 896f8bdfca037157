import { expect } from 'chai';
import type { RestAnswer } from '../phones/rest-client.ts';
import { eventually } from '../support/eventually.ts';
import { useStage } from '../support/stage.ts';

const IVR = '/rest/v1/domain/ivrscripts';
const TESTS = 'tests: [{ name: a choice, steps: [{ presses: "1" }], expect: { exits: { choice: 2 } } }]';
const FOR_EVER = 'export default async function () { for (;;) {} }';
const FOR_DAYS = 'start: a\nblocks:\n  a:\n    wait: 1h\n    next: a\n';
const NOBODY = 'tests: [{ name: x, from: none }]';

interface Tested {
  readonly problems: readonly { readonly line: number; readonly message: string }[];
  readonly tests: readonly {
    readonly passed: boolean;
    readonly found: readonly string[];
    readonly run?: { readonly outcome: { readonly status: string; readonly error?: { readonly code: string } } };
  }[];
}

interface Graph {
  readonly nodes: readonly {
    readonly id: string;
    readonly kind: string;
    readonly block?: string;
    readonly line?: number;
  }[];
  readonly edges: readonly { readonly from: string; readonly to: string; readonly label?: string }[];
}

describe('authoring over REST', () => {
  const stage = useStage();

  const send = async (method: string, body: unknown): Promise<RestAnswer> =>
    (await stage.rest()).send(method, IVR, { body });

  it('DRAW answers the graph of blocks and of modules, also of a text with mistakes', async () => {
    const yaml = 'start: a\nblocks:\n  a:\n    play: missing.wav\n    next: end\n';
    const { nodes, edges } = (await send('DRAW', { scriptdata: { format: 'yaml', source: yaml } })).json<Graph>();
    expect(nodes.find(({ block }) => block === 'a')).to.include({ kind: 'step', line: 3 });
    expect(edges).to.deep.include({ from: 'start', to: 'block-a' });
    const ts = 'export default async function (call: Call) {\n  await call.answer();\n}\n';
    const module = (await send('DRAW', { scriptdata: { format: 'ts', source: ts } })).json<Graph>();
    expect(module.nodes.find(({ block }) => block === 'call.answer')).to.include({ kind: 'step', line: 2 });
    const broken = await send('DRAW', { scriptdata: { format: 'ts', source: 'export default (' } });
    expect(broken.json<Graph>()).to.deep.equal({ nodes: [], edges: [] });
  });

  it('TEST runs tests of a scenario that serves, and names what is not met', async () => {
    const { tests } = (await send('TEST', { code: 'menu', tests: TESTS })).json<Tested>();
    expect(tests).to.have.length(1);
    expect(tests[0]).to.include({ passed: false });
    expect(tests[0]?.found.join()).to.contain('choice');
    expect(tests[0]?.run?.outcome.status).to.equal('completed');
  });

  it('TEST ends an endless scenario, and refuses mistakes of the tests and of the scenario', async () => {
    const busy = await send('TEST', { scriptdata: { format: 'js', source: FOR_EVER }, tests: NOBODY });
    expect(busy.json<Tested>().tests[0]?.run?.outcome.error?.code).to.equal('limit');
    const waiting = await send('TEST', { scriptdata: { format: 'yaml', source: FOR_DAYS }, tests: NOBODY });
    expect(waiting.json<Tested>().tests[0]?.found).to.deep.equal(['the simulation has not ended after two days']);
    const wrong = (await send('TEST', { code: 'menu', tests: 'tests: [{ nam: x }]' })).json<Tested>();
    expect(wrong.tests).to.deep.equal([]);
    expect(wrong.problems[0]?.line).to.equal(1);
    expect((await send('TEST', { code: 'nobody', tests: TESTS })).status).to.equal(422);
    expect((await send('TEST', { tests: TESTS })).status).to.equal(400);
  });

  it('TEST knows the classes of the domain, and refuses what they refuse', async () => {
    const admin = await stage.rest();
    const properties = [
      { name: 'number', data_type: 'string', required: true },
      { name: 'calls', data_type: 'integer', default: 0 },
    ];
    const classes = '/rest/v1/domain/classes';
    const body = { classname: 'tested', storage_mode: 'category', properties };
    const made = await admin.send('POST', classes, { body });
    expect(made.status, made.text).to.be.within(200, 201);
    try {
      const ask = async (entity: string, tests: string): Promise<Tested> => {
        const source = `start: keep\n\nblocks:\n  keep:\n    model_write: { class: tested, entity: ${entity} }\n    next: end\n`;
        return (await send('TEST', { scriptdata: { format: 'yaml', source }, tests })).json<Tested>();
      };
      const kept = 'tests: [{ name: kept, expect: { model: { tested: [{ number: "1", calls: 0 }] } } }]';
      expect((await ask('{ number: "1" }', kept)).tests[0]).to.include({ passed: true });
      const refused = 'tests: [{ name: refused, expect: { error: model_refused } }]';
      expect((await ask('{ calls: many }', refused)).tests[0]).to.include({ passed: true });
      const { problems } = await ask('{ number: "1" }', 'tests: [{ name: x, model: { testd: [{ number: "1" }] } }]');
      expect(problems[0]?.message).to.include('there is no class "testd" in /domain/classes');
    } finally {
      await admin.send('DELETE', `${classes}/${made.json<{ id: string }>().id}`);
    }
  });

  it('makes a test of a run, which passes', async () => {
    const alice = await stage.phone('alice');
    const call = await alice.call('501');
    await call.answered();
    call.play(440);
    await call.hears(440);
    await call.hangup();
    const admin = await stage.rest();
    const id = await eventually(async () => {
      const filter = JSON.stringify({ scenario: 'echo', status: 'ended' });
      const [run] = (await admin.get('/rest/v1/api/runs', { filter, limit: 1 })).json<{ id: string }[]>();
      if (run === undefined) throw new Error('the run is not over');
      return run.id;
    });
    const made = (await admin.get(`/rest/v1/api/runs/${id}/test`)).json<{ test: string; tried: boolean }>();
    expect(made.tried).to.equal(true);
    expect(made.test).to.contain('hangs_up');
    expect((await admin.get('/rest/v1/api/runs/none/test')).status).to.equal(404);
  });

  it('serves the schema of scenario files, and the functions of modules, without a session', async () => {
    const schema = await fetch(`${stage.node.base}/rest/v1/scenario-schema.json`);
    expect(await schema.json()).to.include({ title: 'Ringmaster scenario' });
    const functions = await fetch(`${stage.node.base}/rest/v1/scenario-functions.json`);
    expect(await functions.json()).to.deep.include({
      name: 'call.answer',
      component: 'answer',
      summary: 'Answers the incoming call.',
    });
  });
});

import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { RestAnswer } from '../phones/rest-client.ts';
import { eventually } from '../support/eventually.ts';
import { CALLS, useStage } from '../support/stage.ts';
import { expectError } from './expectations.ts';

const uri = (login: string): string => `<sip:${login}@demo.local>`;

/** A request that starts a call, and the behaviour of its parties; each party is called once. */
interface Request {
  readonly method: string;
  readonly path: string;
  readonly body: object;
  /** A different request, which must not use the same key. */
  readonly other: object;
  /** The parties answer or refuse, once. */
  readonly play: () => Promise<void>;
}

/** Every operation that starts a call (decisions, "retry safety"). */
describe('a repeated request with an Idempotency-Key', () => {
  const stage = useStage({ ownNode: true });

  /** Alice talks to bob. */
  async function talking() {
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    const { outgoing, incoming } = await stage.connect(alice, bob, '102');
    const { dialogid } = await stage.dialog();
    return { alice, bob, carol, outgoing, incoming, dialogid };
  }

  const OPERATIONS: Readonly<Record<string, () => Promise<Request>>> = {
    POST: async () => {
      const alice = await stage.phone('alice');
      const body = { from: '101', to: '102', response_mode: 4 };
      const play = async () => (await alice.incoming()).reject(486);
      return { method: 'POST', path: CALLS, body, other: { ...body, to: '103' }, play };
    },
    INVITEBYIVR: async () => {
      const alice = await stage.phone('alice');
      const body = { to: '101', scriptcode: 'echo' };
      const play = async () => (await alice.incoming()).reject(603);
      return { method: 'INVITEBYIVR', path: CALLS, body, other: { ...body, to: '103' }, play };
    },
    REFER: async () => {
      const { carol, incoming, dialogid } = await talking();
      const body = { by: uri('alice'), referto: '103', response_mode: 4 };
      const play = async () => {
        const arriving = await carol.incoming();
        await arriving.answer();
        arriving.play(620);
        await incoming.hears(620);
      };
      return { method: 'REFER', path: `${CALLS}/${dialogid}`, body, other: { ...body, referto: '104' }, play };
    },
    REFERREPLACES: async () => {
      const { alice, carol, outgoing, dialogid } = await talking();
      await outgoing.hold();
      await stage.connect(alice, carol, '103');
      const slave = (await stage.dialogs()).find((dialog) => dialog.dialogid !== dialogid)?.dialogid;
      const body = { masterby: uri('alice'), slaveby: uri('alice'), slavedialogid: slave };
      const play = async () => void (await outgoing.ended());
      return { method: 'REFERREPLACES', path: `${CALLS}/${dialogid}`, body, other: { ...body, binding: 'x' }, play };
    },
    SWITCHCONF: async () => {
      const { dialogid } = await talking();
      const play = async () => undefined;
      return { method: 'SWITCHCONF', path: `${CALLS}/${dialogid}`, body: { response_mode: 5 }, other: {}, play };
    },
    REFERCONF: async () => {
      const alice = await stage.phone('alice');
      const held = await alice.call('*7099');
      await held.answered();
      await held.hold();
      const bob = await stage.phone('bob');
      const { outgoing } = await stage.connect(alice, bob, '102');
      const dialogid = (await stage.dialogs()).find(({ uris }) => uris.includes(uri('bob')))?.dialogid;
      const body = { by: uri('alice'), referconfroomnum: '99', response_mode: 5 };
      const play = async () => void (await outgoing.ended());
      return { method: 'REFERCONF', path: `${CALLS}/${dialogid}`, body, other: { ...body, binding: 'x' }, play };
    },
  };

  async function send({ method, path }: Request, body: object, key: string, login = 'admin'): Promise<RestAnswer> {
    return (await stage.rest(login)).send(method, path, { body, headers: { 'idempotency-key': key } });
  }

  /** The answer, and whether it was a repeated one. */
  function summary(answer: RestAnswer) {
    return {
      status: answer.status,
      body: answer.json(),
      operation: answer.header('operation-id'),
      replayed: answer.header('idempotency-replayed'),
    };
  }

  /** Completed requests, to be repeated after a restart. */
  const done: { request: Request; key: string; first: ReturnType<typeof summary> }[] = [];

  for (const [name, prepare] of Object.entries(OPERATIONS)) {
    it(`${name}: concurrent, later and reordered repeats execute once; a different request with the key is refused`, async () => {
      const request = await prepare();
      const key = randomUUID();
      const both = [send(request, request.body, key), send(request, request.body, key)];
      await request.play();
      const answers = (await Promise.all(both)).map(summary);
      const first = answers.find(({ replayed }) => replayed === undefined);
      if (first === undefined) throw new Error(`both were answered as before: ${JSON.stringify(answers)}`);
      expect(first.status, JSON.stringify(first)).to.equal(200);
      expect(first.operation).to.match(/^[0-9a-f-]{36}$/);
      const again = { ...first, replayed: 'true' };
      expect(answers).to.deep.include(again);
      const turned = Object.fromEntries(Object.entries(request.body).toReversed());
      expect(summary(await send(request, turned, key))).to.deep.equal(again);
      const error = expectError(await send(request, request.other, key), 422, 1405);
      expect(error.error_details?.field).to.equal('Idempotency-Key');
      // For another user the key is unused: the call is over, or the party is unknown.
      const own = { ...request, path: request.path.replace(CALLS, '/rest/v1/user/sip/calls') };
      if (request.path !== CALLS) expect((await send(own, request.body, key, 'alice')).status).to.equal(404);
      done.push({ request, key, first });
    });
  }

  it('with dry_run does not use the key, and changes nothing', async () => {
    const alice = await stage.phone('alice');
    const rest = await stage.rest();
    const key = randomUUID();
    const body = { from: '101', to: '102', response_mode: 2 };
    const headers = { 'idempotency-key': key };
    const dry = await rest.send('POST', CALLS, { body, headers, query: { dry_run: true } });
    expect(dry.json()).to.deep.include({ dry_run: true, operation: 'invite', dialogs: [] });
    expect([dry.header('operation-id'), dry.header('idempotency-replayed')]).to.deep.equal([undefined, undefined]);
    expect(alice.waitingCalls).to.equal(0);
    const asked = rest.send('POST', CALLS, { body, headers });
    (await alice.incoming()).reject(486);
    expect((await asked).header('idempotency-replayed')).to.equal(undefined);
  });

  it('with an invalid key is refused, and a refused request leaves its key free', async () => {
    const alice = await stage.phone('alice');
    const rest = await stage.rest();
    const post = (body: object, key: string) => rest.send('POST', CALLS, { body, headers: { 'idempotency-key': key } });
    const body = { from: '101', to: '102', response_mode: 2 };
    expectError(await post(body, 'x'.repeat(256)), 400, 1400);
    expectError(await post({ ...body, response_mode: 9 }, 'free'), 400, 1400);
    const asked = post(body, 'free');
    (await alice.incoming()).reject(486);
    expect([(await asked).status, (await asked).header('idempotency-replayed')]).to.deep.equal([200, undefined]);
  });

  it('another user may use the same key', async () => {
    const alice = await stage.phone('alice');
    const own = '/rest/v1/user/sip/calls';
    for (const [login, base] of [
      ['admin', CALLS],
      ['alice', own],
    ] as const) {
      const asked = (await stage.rest(login)).send('POST', base, {
        body: { from: '101', to: '102', response_mode: 2 },
        headers: { 'idempotency-key': 'everybodys' },
      });
      (await alice.incoming()).reject(486);
      expect((await asked).header('idempotency-replayed'), login).to.equal(undefined);
    }
  });

  it('every operation on a live call has an Operation-Id with a record, also when it fails', async () => {
    const { outgoing, incoming, dialogid } = await talking();
    const rest = await stage.rest();
    const manyDigits = { side: 'a', dtmf: '1'.repeat(128) };
    for (const [method, body, status] of [
      ['SETUP_BINDINGS', { command: 'get' }, 200],
      ['STOP_HOLD_MELODY', { mode: 'once' }, 200],
      ...Array.from({ length: 4 }, () => ['SEND_DTMF', manyDigits, 200] as const),
      // The queue of digits is full.
      ['SEND_DTMF', manyDigits, 422],
    ] as const) {
      const answer = await rest.send(method, `${CALLS}/${dialogid}`, { body });
      expect(answer.status, `${method} ${answer.text}`).to.equal(status);
      const id = answer.header('operation-id');
      const record = (await rest.get(`/rest/v1/uc/operations/${id}`)).json<Record<string, unknown>>();
      expect(record, method).to.include({ id, operation: method.toLowerCase(), domain: 'demo.local' });
      expect(record).to.have.property('endts');
    }
    const found = await rest.send('LOOKUP', CALLS, { body: { dialogid } });
    expect(found.header('operation-id'), 'LOOKUP runs no scenario').to.equal(undefined);
    const refused = await rest.send('SETUP_RECORD', `${CALLS}/${dialogid}`, { body: { command: 'pause' } });
    expect([refused.status, refused.header('operation-id')], 'it has not begun').to.deep.equal([422, undefined]);
    await outgoing.hangup();
    await incoming.ended();
  });

  it('gets the same answer after a restart of the node, and changes nothing', async function () {
    this.timeout(90_000);
    await stage.node.stop();
    await stage.node.restart();
    const phones = await stage.phones('alice', 'bob', 'carol');
    for (const { request, key, first } of done) {
      expect(summary(await send(request, request.body, key))).to.deep.equal({ ...first, replayed: 'true' });
    }
    expect(done).to.have.length(Object.keys(OPERATIONS).length);
    await eventually(async () => expect(await stage.dialogs()).to.deep.equal([]));
    expect(phones.map(({ waitingCalls }) => waitingCalls)).to.deep.equal([0, 0, 0]);
  });
});

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { RunView } from '../../runtime/runs/run-view.ts';
import { readTestFile } from '../../runtime/workbench/tests/test-file.ts';
import { asTest } from '../../runtime/workbench/trace/as-test.ts';
import { eventually } from '../support/eventually.ts';
import { CALLS, useStage } from '../support/stage.ts';

/** Sends the digits of its start arguments. */
const KEYS = `id: keys
parameters:
  first: { type: string, description: Keys }
  second: { type: integer, default: 0, description: More of them }
variables:
  third: { type: string, value: "*" }
start: press
blocks:
  press:
    send_dtmf: \${first + string(second) + third}
    next: wait
  wait:
    wait: 20s
    next: end
`;

describe('INVITEBYIVR', () => {
  const stage = useStage();
  const OWN = '/rest/v1/user/sip/calls';

  before('put a scenario into the folder', async () => {
    const folder = join(stage.node.dataDir, 'scenarios');
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'keys.yaml'), KEYS);
  });

  async function call(body: object, { base = CALLS, login = 'admin' } = {}) {
    const answer = await (await stage.rest(login)).send('INVITEBYIVR', base, {
      body: { to: '101', scriptcode: 'keys', ...body },
    });
    return { status: answer.status, json: answer.json<Record<string, unknown>>(), answer };
  }

  for (const [what, body, keys] of [
    ['text for two parameters', { key: '12', param: '34' }, '1234*'],
    ['a JSON object for parameters and variables', { key: '{"first":"5","third":"#"}' }, '50#'],
  ] as const) {
    it(`runs the scenario for the called party, with ${what}`, async () => {
      const alice = await stage.phone('alice');
      const asked = call(body);
      const incoming = await alice.incoming();
      incoming.ring();
      await incoming.answer();
      const { status, json } = await asked;
      expect(status).to.equal(200);
      const { dialogid } = await stage.dialog();
      expect(json).to.deep.equal({ result: 'ok', ivrcallid: json['ivrcallid'], sipcode: 200, dialogid });
      await incoming.receivesDtmf(keys, { withinMs: 5000 });
      await incoming.hangup();
    });
  }

  it('stores start arguments with the run, from which a test can be made', async () => {
    const alice = await stage.phone('alice');
    const asked = call({ key: '{"first":"5","third":"#"}' });
    const incoming = await alice.incoming();
    await incoming.answer();
    const { json } = await asked;
    await incoming.receivesDtmf('50#', { withinMs: 5000 });
    await incoming.hangup();
    const filter = encodeURIComponent(JSON.stringify({ callid: json['ivrcallid'] }));
    const rest = await stage.rest();
    const [found] = (await rest.get(`/rest/v1/api/runs?filter=${filter}`)).json<readonly { id: string }[]>();
    const run = (await rest.get(`/rest/v1/api/runs/${found?.id}`)).json<RunView>();
    expect(run).to.deep.include({ args: { first: '5' }, variables: { third: '#' } });
    const made = readTestFile(asTest(run), 'made.test.yaml').tests.tests[0];
    expect(made).to.deep.include({ args: { first: '5' }, variables: { third: '#' } });
  });

  it('sends digits by INFO, headers, a label and the caller name as requested', async () => {
    const alice = await stage.phone('alice');
    const asked = call({
      to: "101'7",
      key: '1',
      dtmf_proto: 'sipinfo',
      headers: 'X-Ticket: 4711\r\nAlert-Info: <http://127.0.0.1/bell>',
      binding: 'seance_1',
      callerid: '900',
      callername: 'Survey',
      response_mode: 2,
    });
    const incoming = await alice.incoming();
    expect(incoming.header('X-Ticket')).to.equal('4711');
    expect(incoming.header('Alert-Info')).to.equal('<http://127.0.0.1/bell>');
    expect([incoming.callerId, incoming.callerName]).to.deep.equal(['900', 'Survey']);
    await incoming.answer();
    await asked;
    const { dialogid } = await stage.dialog();
    const labels = await (await stage.rest()).send('SETUP_BINDINGS', `${CALLS}/${dialogid}`, {
      body: { command: 'get' },
    });
    expect(labels.json<{ labels: string[] }>().labels).to.deep.equal(['seance_1']);
    const pressed = () => incoming.infos.map((info) => /Signal=(.)/.exec(info)?.[1]).join('');
    await eventually(async () => expect(pressed()).to.equal('710*'));
    await incoming.hangup();
  });

  it('makes the phone answer automatically with use_intercom', async () => {
    const alice = await stage.phone('alice');
    for (const use_intercom of [true, false]) {
      const asked = call({ key: '1', use_intercom });
      const incoming = await alice.incoming();
      const headers = ['Call-Info', 'Alert-Info', 'Answer-Mode'].map((name) => incoming.header(name) ?? '').join(' ');
      expect(/answer-after=0|auto/i.test(headers), headers).to.equal(use_intercom);
      expect(incoming.header('To')).to.match(/101@demo\.local/);
      incoming.reject(486);
      expect((await asked).json).to.include({ result: 'rejected', sipcode: 486 });
    }
  });

  it('refuses invalid parameters, and calls nobody', async () => {
    const alice = await stage.phone('alice');
    for (const [body, status, field] of [
      [{ scriptcode: 'none', key: '1' }, 422, 'scriptcode'],
      [{}, 422, 'key'],
      [{ key: '1', param: 'x' }, 422, 'param'],
      [{ key: '{"first":"1","other":2}' }, 422, 'key'],
      [{ key: '1', headers: 'Contact: <sip:x@y>' }, 422, 'headers'],
      [{ key: '1', headers: 'v: SIP/2.0/UDP x' }, 422, 'headers'],
      [{ key: '1', headers: 'no colon' }, 422, 'headers'],
      [{ key: '1', headers: `X-Long: ${'a'.repeat(1025)}` }, 422, 'headers'],
      [{ key: '1', headers: `X-Long: ${'a'.repeat(5000)}` }, 422, 'headers'],
      [{ key: '{"first":"1","third":3}' }, 422, 'key'],
      [{ key: '{"first":"1","third":null}' }, 422, 'key'],
      [{ key: '1', response_mode: 3 }, 400, 'response_mode'],
      [{ key: '1', dtmf_proto: 'x' }, 400, 'dtmf_proto'],
    ] as const) {
      const { status: got, answer } = await call(body);
      expect(got, answer.text).to.equal(status);
      expect(answer.json<{ error_details: { field: string } }>().error_details.field).to.equal(field);
    }
    expect(alice.waitingCalls).to.equal(0);
  });

  it('accepts a header value of 1,024 characters', async () => {
    const alice = await stage.phone('alice');
    const asked = call({ key: '1', headers: `X-Long: ${'a'.repeat(1024)}` });
    const incoming = await alice.incoming();
    expect(incoming.header('X-Long')).to.equal('a'.repeat(1024));
    incoming.reject(486);
    expect((await asked).json).to.include({ result: 'rejected', sipcode: 486 });
  });

  it('names the number of mistakes of a scenario that is not served, and the path that lists them', async () => {
    const rest = await stage.rest();
    const source = `start: hello
blocks:
  hello:
    play: { fil: x }
    next: nowhere
`;
    const created = await rest.send('POST', '/rest/v1/domain/ivrscripts', {
      body: { code: 'broken', scriptdata: { format: 'yaml', source } },
    });
    const { id, problems } = created.json<{ id: string; problems: { severity?: string }[] }>();
    expect(problems.length).to.be.greaterThan(1);
    const reasonOf = async (body: object) =>
      (await call(body)).answer.json<{ error_details: { field: string; reason: string } }>().error_details;
    expect(await reasonOf({ scriptcode: 'broken' })).to.deep.equal({
      field: 'scriptcode',
      reason: `'broken' has ${problems.length} mistakes and is not served; see GET /domain/ivrscripts/${id}`,
    });
    expect((await rest.get(`/rest/v1/domain/ivrscripts/${id}`)).json()).to.deep.include({ problems });
    expect((await rest.send('DELETE', `/rest/v1/domain/ivrscripts/${id}`)).status).to.equal(204);
    expect((await reasonOf({ scriptcode: 'broken' })).reason).to.equal("there is no scenario 'broken'");
    await writeFile(join(stage.node.dataDir, 'scenarios', 'torn.yaml'), 'id: torn\nstart: x\nblocks: {}\n');
    expect((await reasonOf({ scriptcode: 'torn' })).reason).to.match(
      /^'torn' has \d+ mistakes? and is not served; see npx ringmaster check torn\.yaml$/,
    );
  });

  it('on own calls calls only numbers of the user', async () => {
    const alice = await stage.phone('alice');
    const own = { base: OWN, login: 'alice' };
    const foreign = await call({ to: '102', key: '1' }, own);
    expect([foreign.status, foreign.json['error_code']]).to.deep.equal([403, 1401]);
    const asked = call({ key: '1', response_mode: 1 }, own);
    const incoming = await alice.incoming();
    incoming.ring();
    expect((await asked).json).to.include({ result: 'ok' });
    incoming.reject(603);
  });
});

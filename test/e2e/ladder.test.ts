import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { WebSocket } from 'ws';
import { Command, type Ended } from '../cli/command.ts';
import { type Hep, parseHep } from '../ladder/parse-hep.ts';
import type { LadderView } from '../../runtime/ladder/ladder.ts';
import { eventually } from '../support/eventually.ts';
import { CALLS, useStage } from '../support/stage.ts';
import { disposableFolder } from '../support/temporary-folder.ts';

const SCENARIO = `id: story
start: pick_up
blocks:
  pick_up:
    answer:
    next: tell
  tell:
    log: the caller is here
    next: listen
  listen:
    echo:
    next: end
`;

const ASKS_IN_SECRET = `id: pin
variables: { pin: "" }
start: pick_up
blocks:
  pick_up: { answer: , next: ask }
  ask: { collect: { max: 5, timeout: 10s, sensitive: true }, exits: { next: keep, timeout: end } }
  keep: { set: { pin: "\${ask.digits}" }, next: tell }
  tell: { log: "the PIN \${pin}", next: back }
  back: { return: "the PIN \${pin}" }
`;

type Line = Readonly<Record<string, unknown>>;
type Ids = Readonly<Record<'dialogid' | 'inviteid' | 'acallid', string>>;

const startLines = (view: LadderView) => view.messages.map(({ text }) => text.slice(0, text.indexOf('\r\n')));

describe('the story of a call', function () {
  this.timeout(60_000);
  const homer = createSocket('udp4');
  const captured: Hep[] = [];
  before('listen like a Homer', async () => {
    homer.on('message', (packet) => captured.push(parseHep(packet)));
    homer.bind(0, '127.0.0.1');
    await once(homer, 'listening');
  });
  after(() => homer.close());
  const stage = useStage({
    env: async () => ({
      RINGMASTER_LOG_LEVEL: 'debug',
      RINGMASTER_LOG_FORMAT: 'json',
      RINGMASTER_HEP: `udp:127.0.0.1:${homer.address().port}`,
      RINGMASTER_HEP_ID: '77',
      RINGMASTER_HEP_PASSWORD: 'homer-secret',
    }),
  });

  const ladder = async (...args: string[]): Promise<Ended> =>
    (await Command.run(['ladder', ...args, '--url', stage.node.base])).ended;
  const shown = async (id: string): Promise<LadderView> => {
    const answer = await (await stage.rest()).get(`${CALLS}/${encodeURIComponent(id)}/ladder`);
    expect(answer.status, answer.text).to.equal(200);
    return answer.json<LadderView>();
  };
  const ids = async (): Promise<Ids> => {
    const { dialogid, inviteid, acallid } = (await stage.dialog()) as unknown as Ids;
    return { dialogid, inviteid, acallid };
  };
  const lines = (): readonly Line[] =>
    stage.node.output
      .split('\n')
      .filter((line) => line.startsWith('{"level"'))
      .map((line) => JSON.parse(line) as Line);

  /** alice calls bob, who is then transferred away from: alice talks to carol. */
  async function transferredCall(): Promise<{
    first: Ids;
    second: Ids;
    operation: string;
    callids: readonly string[];
  }> {
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    const { outgoing, incoming } = await stage.connect(alice, bob, '102');
    const first = await ids();
    const body = { by: '<sip:bob@demo.local>', referto: '103', response_mode: 4 };
    const asked = (await stage.rest()).send('REFER', `${CALLS}/${first.dialogid}`, { body });
    const arriving = await carol.incoming();
    arriving.ring();
    await arriving.answer();
    const answer = await asked;
    expect(answer.status, answer.text).to.equal(200);
    await incoming.ended();
    const second = await ids();
    await outgoing.hangup();
    await arriving.ended();
    await stage.expectNoDialog();
    const callids = [outgoing, incoming, arriving].map(({ callId }) => callId);
    return { first, second, operation: answer.header('operation-id') ?? '', callids };
  }

  it('is a ladder of the messages of all legs, found by any id of the call', async () => {
    const { first, second, operation, callids } = await transferredCall();
    const view = await shown(first.inviteid);
    expect(view.complete).to.equal(true);
    expect(view.legs.map(({ callid }) => callid)).to.include.members([...callids]);
    expect(view.legs.find(({ callid }) => callid === callids[2])).to.include({
      side: 'b',
      number: '103',
      name: 'Carol',
    });
    for (const callid of callids) {
      const own = startLines({ ...view, messages: view.messages.filter((each) => each.callid === callid) });
      expect(own.map((line) => line.replace(/ sips?:\S+/, ''))).to.include.members([
        'INVITE SIP/2.0',
        'SIP/2.0 180 Ringing',
        'SIP/2.0 200 OK',
        'ACK SIP/2.0',
        'BYE SIP/2.0',
      ]);
    }
    const times = view.messages.map(({ time }) => time);
    expect(times.toSorted()).to.deep.equal(times);
    for (const { time, from, to, sent } of view.messages) {
      expect(Math.abs(Date.parse(time) - Date.now())).to.be.below(60_000);
      expect(sent ? from : to).to.equal(stage.node.sip);
      expect(sent ? to : from)
        .to.match(/^127\.0\.0\.1:\d+$/)
        .and.not.equal(stage.node.sip);
    }
    const others = [first.dialogid, first.acallid, second.inviteid, second.dialogid, operation, ...callids];
    for (const id of others) expect(startLines(await shown(id)), id).to.deep.equal(startLines(view));
  });

  it('is drawn by the command: as text, as a page, and as a capture', async () => {
    const alice = await stage.phone('alice');
    const call = await alice.call('500');
    await call.answered();
    const { inviteid } = await ids();
    const live = await ladder(inviteid);
    expect(live.code, live.err).to.equal(0);
    expect(live.out)
      .to.match(/\(1\) INVITE 500 \+SDP -*>/)
      .and.include('to now')
      .and.not.include('BYE');
    await call.hangup();
    await stage.expectNoDialog();
    await using folder = await disposableFolder();
    const [html, pcap] = [join(folder.path, 'call.html'), join(folder.path, 'call.pcap')];
    const { code, err } = await ladder(inviteid, '--html', html, '--pcap', pcap);
    expect(code, err).to.equal(0);
    expect(await readFile(html, 'utf8'))
      .to.include('INVITE sip:500@demo.local SIP/2.0')
      .and.include('BYE');
    expect((await readFile(pcap)).subarray(0, 4).toString('hex')).to.equal('d4c3b2a1');
    const full = await ladder(call.callId, '--full');
    expect(full.out).to.include('\nBYE sip:').and.include(`\nCall-ID: ${call.callId}\n`);
  });

  it('is only for administrators, and of a known call', async () => {
    const unknown = await ladder('no-such-call');
    expect(unknown.code).to.equal(1);
    expect(unknown.err).to.include('no call no-such-call of this domain');
    const wrong = await ladder('one', 'two');
    expect(wrong.code).to.equal(2);
    const answer = await (await stage.rest('alice')).get(`${CALLS}/no-such-call/ladder`);
    expect(answer.status).to.equal(403);
  });

  it('has no digest responses; the capture server gets none either, and the id of the call with each message', async () => {
    captured.length = 0;
    const dave = await stage.phone('dave', { unregistered: true });
    const call = await dave.call('500');
    await call.answered();
    const { inviteid } = await ids();
    await call.hangup();
    await stage.expectNoDialog();
    const view = await eventually(async () => {
      const found = await shown(inviteid);
      expect(found.messages.at(-1)?.text).to.match(/^SIP\/2\.0 200 [^]*\r\nCSeq: \d+ BYE\r\n/);
      return found;
    });
    const invites = view.messages.filter(({ text }) => text.startsWith('INVITE'));
    expect(invites.map(({ text }) => /\r\nProxy-Authorization: Digest .*response="\*\*\*"/i.test(text))).to.deep.equal([
      false,
      true,
    ]);
    const ofCall = () => captured.filter(({ text }) => text.includes(call.callId));
    await eventually(async () =>
      expect(ofCall().map(({ text }) => text)).to.have.members(view.messages.map(({ text }) => text)),
    );
    for (const { agent, password, protocol, type } of captured)
      expect({ agent, password, protocol, type }).to.deep.equal({
        agent: 77,
        password: 'homer-secret',
        protocol: 17,
        type: 1,
      });
    const correlations = ofCall().map(({ text, correlation }) => [/^\S+ \S+/.exec(text)?.[0], correlation]);
    // Before its authentication there is no call.
    expect(correlations.slice(0, 2).map(([, correlation]) => correlation)).to.deep.equal([undefined, undefined]);
    expect(new Set(correlations.slice(3).map(([, correlation]) => correlation))).to.deep.equal(new Set([inviteid]));
    const [last] = ofCall().slice(-1);
    expect([last?.from, last?.to]).to.include(stage.node.sip);
    expect(Math.abs((last?.seconds ?? 0) - Date.now() / 1000)).to.be.below(60);
  });

  it('is one id on every line of the log: signalling, switch, operation', async () => {
    const { first, second, operation, callids } = await transferredCall();
    const about = [...Object.values(first), ...Object.values(second), operation, ...callids];
    const calls = (await shown(first.inviteid)).calls.map(({ id }) => id);
    await eventually(async () => expect(JSON.stringify(lines())).to.include('operation ended'));
    const found = lines().filter((line) => about.some((id) => JSON.stringify(line).includes(id)) && !isRequest(line));
    for (const line of found) expect(line['call'], JSON.stringify(line)).to.be.oneOf(calls);
    const story = (id: string) => found.filter(({ call }) => call === id).map(({ msg }) => msg);
    expect(story(first.inviteid)).to.include.members([
      'INVITE received',
      'call began',
      'call rings',
      'INVITE answered',
      'call answered',
      'operation began',
      'call goes on as another',
      'call ended',
    ]);
    expect(story(second.inviteid)).to.include.members([
      'call began',
      'INVITE answered',
      'call answered',
      'operation ended',
    ]);
  });

  it('is one id on every line of the log: scenario', async () => {
    const scenarios = join(stage.node.dataDir, 'scenarios');
    await mkdir(scenarios, { recursive: true });
    await writeFile(join(scenarios, 'story.yaml'), SCENARIO);
    await eventually(async () => expect(stage.node.output).to.include('story.yaml'), 20_000);
    const alice = await stage.phone('alice');
    const call = await alice.call('*55story');
    await call.answered();
    const { inviteid, dialogid } = await ids();
    await eventually(async () => expect(stage.node.output).to.include('the caller is here'));
    await call.hangup();
    const runs = (await (await stage.rest()).get('/rest/v1/api/runs')).json<{ id: string; scenario: string }[]>();
    const run = runs.find(({ scenario }) => scenario === 'story');
    expect(run, 'the run').to.not.equal(undefined);
    const ended = () => lines().filter(({ msg, run: id }) => msg === 'scenario ended' && id === run?.id);
    await eventually(async () => expect(ended()).to.have.length(1));
    const about = [inviteid, dialogid, call.callId, run?.id ?? ''];
    const found = lines().filter((line) => about.some((id) => JSON.stringify(line).includes(id)) && !isRequest(line));
    for (const line of found) expect(line['call'], JSON.stringify(line)).to.equal(inviteid);
    expect(found.map(({ msg, text }) => text ?? msg)).to.include.members([
      'INVITE received',
      'call began',
      'scenario started',
      'the caller is here',
      'call answered',
      'call ended',
      'scenario ended',
    ]);
  });

  it('has no digits of a sensitive block: not in traces, lists, log, ladder, capture and events', async () => {
    const scenarios = join(stage.node.dataDir, 'scenarios');
    await mkdir(scenarios, { recursive: true });
    await writeFile(join(scenarios, 'pin.yaml'), ASKS_IN_SECRET);
    await eventually(async () => expect(stage.node.output).to.include('pin.yaml'), 20_000);
    const rest = await stage.rest();
    const socket = new WebSocket(`${stage.node.base.replace('http', 'ws')}/ws`, {
      headers: { authorization: `Bearer ${rest.token}` },
    });
    const events: string[] = [];
    socket.on('message', (text: Buffer) => void events.push(text.toString()));
    try {
      await once(socket, 'open');
      socket.send(JSON.stringify(['subscribe', { qid: '1', id: 's1', events: ['callevents'], expires: 60 }]));
      await eventually(async () => expect(events.join()).to.include('subscribe_result'));
      const call = await (await stage.phone('alice')).call('*55pin');
      await call.answered();
      const { inviteid } = await ids();
      await call.sendDtmf('8520', { by: 'info' });
      await call.sendDtmf('7');
      await call.ended(20_000);
      await eventually(async () => expect(events.join()).to.include('call_end'));
      await eventually(async () => expect(stage.node.output).to.match(/scenario ended.*"?pin|pin.*scenario ended/));
      const runs = await rest.get('/rest/v1/api/runs?filter={"scenario":"pin"}');
      const [run] = runs.json<{ id: string; version: string }[]>();
      const interval = encodeURIComponent('["2026-01-01","2100-01-01"]');
      const stored = await rest.get(`/rest/v1/model/runhistory?filter={"scenario":"pin"}&interval=${interval}`);
      const full = await rest.get(`/rest/v1/api/runs/${run?.id}`);
      expect(full.json()).to.have.nested.property('outcome.value', 'the PIN ****');
      expect(stored.text).to.include('the PIN ****');
      const view = await shown(inviteid);
      expect(startLines(view).join()).to.include('INFO ');
      const history = await rest.get(`/rest/v1/uc/history/${inviteid}`);
      expect(history.status).to.equal(200);
      const everything = [runs, stored, full, history].map(({ text }) => text);
      const told = [...everything, stage.node.output, ...events, ...captured.map(({ text }) => text)];
      expect(told.filter((text) => text?.includes('85207'))).to.deep.equal([]);
      const infos = [...view.messages, ...captured].flatMap(({ text }) => /^INFO [^]*$/.exec(text ?? '') ?? []);
      expect(infos).to.have.length.greaterThan(7);
      for (const info of infos) expect(info).to.match(/Signal=\*/);
    } finally {
      socket.close();
    }
  });
});

/** A REST request of the test itself names ids in its path. */
function isRequest({ msg }: Line): boolean {
  return msg === 'request' || msg === 'request body';
}

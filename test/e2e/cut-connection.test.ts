import { expect } from 'chai';
import { Phone } from '../phones/phone.ts';
import type { RestClient } from '../phones/rest-client.ts';
import { Cable } from '../support/cable.ts';
import type { Dialog } from '../support/dialog.ts';
import { eventually } from '../support/eventually.ts';
import { TestNode } from '../support/node.ts';
import {
  type MediaServerProgram,
  mediaServerProgram,
  type SipServerProgram,
  sipServerProgram,
} from '../support/server-programs.ts';
import { expectTalk } from './expectations.ts';

const CALLS = '/rest/v1/uc/calls';
const NUMBERS = { alice: '101', bob: '102', carol: '103' } as const;
type Login = keyof typeof NUMBERS;

describe('a cut connection to a SIP server that goes on running', function () {
  this.timeout(60_000);
  let sip: SipServerProgram;
  let media: MediaServerProgram;
  let cable: Cable;
  let node: TestNode;
  let rest: RestClient;
  let phones: Phone[] = [];

  before(async () => {
    [sip, media] = [await sipServerProgram(), await mediaServerProgram()];
    await Promise.all([sip.start(), media.start()]);
    const [host, port, secret] = sip.setting.split(':');
    cable = await Cable.to(Number(port));
    node = await TestNode.start({
      env: { RINGMASTER_DRACHTIO: `${host}:${cable.port}:${secret}`, RINGMASTER_FREESWITCH: media.setting },
    });
    rest = await node.login();
  });
  afterEach(async () => {
    cable.mend();
    await connected();
    const stopped = phones;
    phones = [];
    await Promise.all(stopped.map((each) => each.stop()));
    await eventually(async () => {
      const { counts } = await node.health();
      expect(counts).to.include({ dialogs: 0, endpoints: 0 });
    }, 10_000);
    expect(stopped.flatMap(({ violations }) => violations)).to.deep.equal([]);
  });
  after(async () => {
    rest.close();
    await node.remove();
    cable.close();
    await Promise.all([sip.stop(), media.stop()]);
  });

  const connected = () =>
    eventually(async () => expect((await node.health()).counts).to.include({ sip_servers: 1 }), 10_000);
  const unconnected = () =>
    eventually(async () => {
      const health = await node.health().then(
        () => 'ready',
        (error: Error) => error.message,
      );
      expect(health).to.include('"sip_servers":0');
    }, 10_000);
  const dialogs = async () => (await rest.get(CALLS)).json<Dialog[]>();

  async function phone(login: Login): Promise<Phone> {
    const started = await Phone.start({
      login,
      domain: 'demo.local',
      password: `demo-${login}`,
      registrar: sip.address,
    });
    phones.push(started);
    expect(await started.register()).to.include({ status: 200 });
    return started;
  }

  async function talk() {
    const [alice, bob] = [await phone('alice'), await phone('bob')];
    const outgoing = await alice.call(NUMBERS.bob);
    const incoming = await bob.incoming();
    await incoming.answer();
    await outgoing.answered();
    await expectTalk(outgoing, incoming);
    return { outgoing, incoming };
  }

  async function cut(meanwhile?: () => Promise<unknown>): Promise<void> {
    cable.cut();
    await unconnected();
    await meanwhile?.();
    cable.mend();
    await connected();
  }

  const history = (callId: string) =>
    eventually(async () => {
      const records = (await rest.get('/rest/v1/uc/history')).json<{ legs: { callid: string }[] }[]>();
      const record = records.find(({ legs }) => legs.some(({ callid }) => callid === callId));
      if (record === undefined) throw new Error('the call has no record');
      return record;
    });

  it('leaves calls alone: they talk, and the node ends them by BYE', async () => {
    const { outgoing, incoming } = await talk();
    await cut(() => expectTalk(outgoing, incoming));
    await expectTalk(outgoing, incoming);
    const [{ dialogid } = { dialogid: '' }] = await dialogs();
    expect((await rest.send('DELETE', `${CALLS}/${dialogid}`)).json()).to.deep.equal({ dialogid });
    expect((await outgoing.ended()).by).to.equal('there');
    expect((await incoming.ended()).by).to.equal('there');
  });

  it('leaves a call that the node later moves by re-INVITE', async () => {
    const { outgoing, incoming } = await talk();
    await cut();
    const carol = await phone('carol');
    const [{ dialogid } = { dialogid: '' }] = await dialogs();
    const moving = rest.send('REFER', `${CALLS}/${dialogid}`, {
      body: { referto: NUMBERS.carol, by: '<sip:bob@demo.local>', response_mode: 5 },
    });
    const called = await carol.incoming();
    await called.answer();
    expect((await moving).json()).to.include({ result: 'ok' });
    await incoming.ended();
    await expectTalk(outgoing, called);
    await outgoing.hangup();
    await called.ended();
  });

  it('the end of a phone meanwhile ends the call', async () => {
    const { outgoing, incoming } = await talk();
    await cut(async () => {
      // The server may answer 481, as the application is gone.
      await outgoing.hangup().catch(() => undefined);
    });
    await incoming.ended();
    expect(await history(outgoing.callId)).to.include({ result: 'answered' });
  });

  it('a call that is ended meanwhile is ended by BYE afterwards', async () => {
    const { outgoing, incoming } = await talk();
    const [{ dialogid } = { dialogid: '' }] = await dialogs();
    await cut(async () => {
      const ended = await rest.send('DELETE', `${CALLS}/${dialogid}`);
      expect(ended.json(), ended.text).to.deep.equal({ dialogid });
      expect(await dialogs()).to.deep.equal([]);
    });
    await Promise.all([outgoing.ended(), incoming.ended()]);
  });

  it('a call that rings is over: the caller is refused, and the phone cancelled', async () => {
    const [alice, bob] = [await phone('alice'), await phone('bob')];
    const outgoing = await alice.call(NUMBERS.bob);
    const incoming = await bob.incoming();
    incoming.ring();
    await outgoing.ringing();
    await cut();
    const { by, status } = await outgoing.ended();
    expect(by).to.equal('refused');
    // Of the embedded server, or of the node when it is back.
    expect(status).to.be.oneOf([503, 500]);
    expect((await incoming.ended()).by).to.equal('cancelled');
  });
});

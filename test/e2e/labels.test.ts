import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { PhoneCall } from '../phones/phone-call.ts';
import type { Phone } from '../phones/phone.ts';
import { eventually } from '../support/eventually.ts';
import { CALLS, useStage } from '../support/stage.ts';
import { expectTalk } from './expectations.ts';

const uri = (login: string): string => `<sip:${login}@demo.local>`;
const FIRST = ['seance_1', 'PCS:2'];

/** Labels stay with a call when its parties are moved (specification, "SETUP_BINDINGS"). */
describe('labels of a call', () => {
  const stage = useStage();

  before('make a featurecode for pickup', async () => {
    const body = { prefix: '*36', type: 'pickup' };
    const answer = await (await stage.rest()).send('POST', '/rest/v1/domain/featurecodes', { body });
    expect(answer.status, answer.text).to.be.oneOf([200, 409]);
  });

  before('put a scenario that parks into the folder', async () => {
    const folder = join(stage.node.dataDir, 'scenarios');
    await mkdir(folder, { recursive: true });
    const park = `id: park
start: pick_up
blocks:
  pick_up:
    answer:
    next: wait
  wait:
    park: "731"
    exits: { timeout: end }
`;
    await writeFile(join(folder, 'park.yaml'), park);
  });

  async function bindings(dialogid: string, body: object): Promise<string[]> {
    const answer = await (await stage.rest()).send('SETUP_BINDINGS', `${CALLS}/${dialogid}`, { body });
    expect(answer.status, answer.text).to.equal(200);
    return answer.json<{ labels?: string[] }>().labels ?? [];
  }

  /** The dialog of this leg, once it is answered. */
  async function dialogOf({ callId }: PhoneCall): Promise<string> {
    return eventually(async () => {
      const found = (await stage.dialogs()).find(
        ({ callids, status }) => callids.includes(callId) && status === 'dialog',
      );
      if (found === undefined) throw new Error('no such dialog');
      return found.dialogid;
    });
  }

  async function labelsOf(call: PhoneCall): Promise<string[]> {
    return bindings(await dialogOf(call), { command: 'get' });
  }

  async function operate(method: string, call: PhoneCall, body: object): Promise<void> {
    const dialogid = await dialogOf(call);
    const answer = await (await stage.rest()).send(method, `${CALLS}/${dialogid}`, {
      body: { response_mode: 5, ...body },
    });
    expect(answer.json(), answer.text).to.include({ result: 'ok' });
  }

  async function pair(from: Phone, to: Phone, number: string): Promise<{ outgoing: PhoneCall; incoming: PhoneCall }> {
    const call = await stage.connect(from, to, number);
    await bindings(await dialogOf(call.outgoing), { command: 'set', label: FIRST });
    return call;
  }

  it('stay through three REFER transfers in a row, each of which adds one', async () => {
    const [alice, bob, carol, dave] = await stage.phones('alice', 'bob', 'carol', 'dave');
    const { incoming } = await pair(alice, bob, '102');
    let by = uri('alice');
    for (const [number, phone, login] of [
      ['103', carol, 'carol'],
      ['104', dave, 'dave'],
      ['101', alice, 'alice'],
    ] as const) {
      const asked = operate('REFER', incoming, { by, referto: number, binding: `to_${login}` });
      const arriving = await phone.incoming();
      await arriving.answer();
      await asked;
      await expectTalk(incoming, arriving);
      by = uri(login);
    }
    expect(await labelsOf(incoming)).to.deep.equal([...FIRST, 'to_carol', 'to_dave', 'to_alice']);
  });

  it('stay through a transfer by a phone, REFERREPLACES and SWITCHCONF in a row', async () => {
    const [alice, bob, carol, dave] = await stage.phones('alice', 'bob', 'carol', 'dave');
    const { outgoing, incoming } = await pair(alice, bob, '102');
    // A transfer by the phone: bob talks to carol afterwards.
    const target = [{ name: 'Refer-To', value: '<sip:103@demo.local>' }];
    expect((await outgoing.request('REFER', target)).status).to.equal(202);
    const atCarol = await carol.incoming();
    await atCarol.answer();
    await outgoing.ended();
    expect(await labelsOf(incoming)).to.deep.equal(FIRST);
    // Carol calls dave, with a label on that call too; bob and dave are joined.
    const second = await stage.connect(carol, dave, '104');
    await bindings(await dialogOf(second.outgoing), { command: 'set', label: 'second' });
    await operate('REFERREPLACES', incoming, {
      masterby: uri('carol'),
      slaveby: uri('carol'),
      slavedialogid: await dialogOf(second.outgoing),
      binding: 'joined',
    });
    await expectTalk(incoming, second.incoming);
    expect(await labelsOf(incoming)).to.have.members([...FIRST, 'second', 'joined']);
    await operate('SWITCHCONF', incoming, { binding: 'together' });
    for (const call of [incoming, second.incoming]) {
      expect(await labelsOf(call)).to.have.members([...FIRST, 'second', 'joined', 'together']);
    }
    await expectTalk(incoming, second.incoming);
  });

  it('return with the call after a failed transfer, including the label of the transfer', async () => {
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    const { outgoing, incoming } = await pair(alice, bob, '102');
    const rest = await stage.rest();
    const asked = rest.send('REFER', `${CALLS}/${await dialogOf(incoming)}`, {
      body: { by: uri('alice'), referto: '103', binding: 'tried', response_mode: 4 },
    });
    (await carol.incoming()).reject(486);
    expect((await asked).json()).to.include({ result: 'rejected' });
    await expectTalk(outgoing, incoming);
    expect(await labelsOf(incoming)).to.deep.equal([...FIRST, 'tried']);
    // A failed transfer by the phone leaves the call unchanged.
    expect((await outgoing.request('REFER', [{ name: 'Refer-To', value: '<sip:103@demo.local>' }])).status).to.equal(
      202,
    );
    (await carol.incoming()).reject(486);
    await expectTalk(incoming, outgoing);
    expect(await labelsOf(incoming)).to.deep.equal([...FIRST, 'tried']);
  });

  it('stay when another phone replaces one, and when a ringing call is picked up', async () => {
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    const { outgoing, incoming } = await pair(alice, bob, '102');
    const taking = await carol.call('102', { headers: [{ name: 'Replaces', value: outgoing.replaces }] });
    await taking.answered();
    await outgoing.ended();
    expect(await labelsOf(incoming)).to.deep.equal(FIRST);
    await Promise.all([taking.hangup(), incoming.ended()]);
    await stage.expectNoDialog();
    const asked = (await stage.rest()).send('INVITEBYIVR', CALLS, {
      body: { to: '102', scriptcode: 'echo', binding: 'picked', response_mode: 2 },
    });
    const ringing = await bob.incoming();
    ringing.ring();
    await eventually(async () => expect((await stage.dialog()).status).to.equal('forking'));
    const picker = await carol.call('*36102');
    await picker.answered();
    expect((await asked).json()).to.include({ result: 'ok' });
    expect(await labelsOf(picker)).to.deep.equal(['picked']);
  });

  it('stay with a parked and retrieved party', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const parked = await alice.call('*55park');
    await parked.answered();
    await bindings(await dialogOf(parked), { command: 'set', label: FIRST });
    await parked.hearsSound({ withinMs: 5000 });
    const retriever = await bob.call('*55retrieve');
    await retriever.answered();
    await retriever.sendDtmf('731');
    await expectTalk(parked, retriever);
    expect(await labelsOf(parked)).to.deep.equal(FIRST);
  });
});

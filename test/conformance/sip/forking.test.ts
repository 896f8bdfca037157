import { expect } from 'chai';
import { header } from '../../phones/sip/message.ts';
import { Moment } from '../../phones/wait.ts';
import type { Agent } from '../support/agent.ts';
import { ForkingProxy } from '../support/forking-proxy.ts';
import { sdp } from '../support/sdp.ts';
import type { IncomingResponse, Request } from '../support/srf.ts';
import { useSipStage } from '../support/stage.ts';

const TYPE = { name: 'Content-Type', value: 'application/sdp' };

describe('Conformance, SIP server: an INVITE that is forked downstream', () => {
  const stage = useSipStage();
  let proxy: ForkingProxy;
  let one: Agent;
  let other: Agent;

  beforeEach(async () => {
    [one, other] = [await stage.agent(), await stage.agent()];
    proxy = await ForkingProxy.open([one, other].map(({ endpoint }) => Number(endpoint.hostPort.split(':')[1])));
  });
  afterEach(() => proxy.close());

  it('makes an early dialog with each phone, and the call with the answering one', async () => {
    const seen: IncomingResponse[] = [];
    const both = new Moment<true>('two provisional answers');
    const making = stage.srf.createUAC(
      proxy.uri,
      { localSdp: sdp() },
      {
        cbProvisional: (response) => {
          if (seen.push(response) === 2) both.reach(true);
        },
      },
    );
    const atOne = await one.request('INVITE');
    const atOther = await other.request('INVITE');
    atOne.respond(183, { headers: [one.contact, TYPE], body: sdp(42_000) });
    atOther.respond(180, { headers: [other.contact] });
    await both.wait(2000);
    const tags = seen.map((response) => response.getParsedHeader('to').params['tag']);
    expect(tags).to.have.members([atOne.localTag, atOther.localTag]);
    const { dialog: far } = await other.answer(atOther, sdp(43_000));
    const dialog = await making;
    expect(dialog.sip.remoteTag).to.equal(atOther.localTag);
    expect(dialog.remote.sdp).to.equal(sdp(43_000));
    const ended = dialog.destroy();
    const bye = await other.request('BYE');
    expect(far.receive(bye.request)).to.deep.equal([]);
    bye.respond(200);
    await ended;
  });

  it('sends PRACK to the phone with the reliable response', async () => {
    const making = stage.srf.createUAC(proxy.uri, { localSdp: sdp(), headers: { Supported: '100rel' } });
    const atOne = await one.request('INVITE');
    const atOther = await other.request('INVITE');
    atOther.respond(180, { headers: [other.contact] });
    const reliable = [
      { name: 'Require', value: '100rel' },
      { name: 'RSeq', value: '9' },
    ];
    atOne.respond(183, { headers: [one.contact, TYPE, ...reliable], body: sdp(42_000) });
    const prack = await one.request('PRACK');
    expect(header(prack.request, 'to')).to.match(new RegExp(`;tag=${atOne.localTag}$`));
    expect(header(prack.request, 'rack')).to.match(/^9 \d+ INVITE$/);
    prack.respond(200);
    await one.answer(atOne);
    const ended = (await making).destroy();
    (await one.request('BYE')).respond(200);
    await ended;
  });

  it('is cancelled at both phones', async () => {
    const sent = new Moment<Request>('INVITE sent');
    const ringing = new Moment<true>('180');
    const failing = stage.srf
      .createUAC(
        proxy.uri,
        { localSdp: sdp() },
        { cbRequest: (_err, request) => sent.reach(request), cbProvisional: () => ringing.reach(true) },
      )
      .catch((error: unknown) => (error as { status?: number }).status);
    const atOne = await one.request('INVITE');
    const atOther = await other.request('INVITE');
    atOne.respond(180, { headers: [one.contact] });
    await ringing.wait(1000);
    (await sent.wait(1000)).cancel();
    expect(await one.cancelled()).to.equal(atOne);
    expect(await other.cancelled()).to.equal(atOther);
    for (const agent of [one, other]) agent.forgive(/./);
    atOne.respond(487);
    expect(await failing).to.equal(487);
  });
});

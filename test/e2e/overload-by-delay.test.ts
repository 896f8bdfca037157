import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { type Load, SippPhones } from '../bench/support/sipp-phones.ts';
import type { LoadResult } from '../bench/support/sipp-load.ts';
import { requirePeer } from '../phones/peers.ts';
import { Phone } from '../phones/phone.ts';
import { eventually } from '../support/eventually.ts';
import { TestNode } from '../support/node.ts';
import { freeUdpRange } from '../support/ports.ts';
import { CALLS } from '../support/stage.ts';
import { expectError } from './expectations.ts';

/** More calls a second than one embedded media server sets up. */
const FLOOD = 600;

describe('admission by measured delay', function () {
  // Delays are measured on a machine that other processes may slow down meanwhile.
  this.retries(2);
  let node: TestNode;
  let phones: SippPhones;
  let carol: Phone;
  before('start a node, and phones', async function () {
    this.timeout(90_000);
    const sipp = requirePeer(this, 'sipp');
    const rtp = await freeUdpRange(3600);
    node = await TestNode.start({ env: { RINGMASTER_RTP_PORTS: `${rtp.from}-${rtp.to}` } });
    phones = await SippPhones.open(sipp);
    carol = await Phone.start({ login: 'carol', domain: 'demo.local', password: 'demo-carol', registrar: node.sip });
    await carol.register();
  });
  after('stop them', async () => {
    await carol?.stop();
    await node?.remove();
  });

  const overload = async (load: Load): Promise<LoadResult> => {
    await phones.register(node.sip);
    return (await phones.call(node.sip, load, 'overload')).caller;
  };

  it('20 calls at once on an idle node are all set up', async function () {
    this.timeout(40_000);
    const { succeeded, refusalTimes } = await overload({ calls: 20, rate: 1000 });
    expect({ succeeded, refused: refusalTimes.length }).to.deep.equal({ succeeded: 20, refused: 0 });
  });

  it('a process that stood still for a second refuses no call', async function () {
    this.timeout(40_000);
    const load = overload({ calls: 100, rate: 20 });
    await eventually(async () => expect((await node.health()).counts['dialogs']).to.be.greaterThan(3));
    process.kill(node.pid as number, 'SIGSTOP');
    await delay(1000);
    process.kill(node.pid as number, 'SIGCONT');
    const { answerTimes, refusalTimes } = await load;
    expect({ setUp: answerTimes.length, refused: refusalTimes.length }).to.deep.equal({ setUp: 100, refused: 0 });
  });

  it('an overloaded node refuses new calls with 503, and serves those that it has', async function () {
    this.timeout(60_000);
    const rest = await node.login();
    const call = await carol.call('501');
    await call.answered();

    const load = overload({ calls: 4 * FLOOD, rate: FLOOD });
    const figures = async (): Promise<string> => (await rest.get('/metrics')).text;
    await eventually(async () => expect(await figures()).to.match(/^ringmaster_overloaded 1$/m), 20_000);
    // At once: failed calls of a slow media server push it out of the end of the output that is kept.
    expect(node.output).to.contain('"the node is overloaded');
    // Now and then there is room for a call, which ends at once: its account has no phone.
    await eventually(async () => {
      const refused = await rest.send('POST', CALLS, { body: { from: '104', to: '103' } });
      expectError(refused, 503, 1503);
      expect(refused.header('retry-after')).to.equal('1');
    });
    await carol.register();
    await call.hangup();

    const { answerTimes, refusalTimes } = await load;
    expect(answerTimes.length).to.be.greaterThan(0);
    expect(refusalTimes.length).to.be.greaterThan(FLOOD);
    expect(await figures()).to.match(/^ringmaster_calls_refused_total\{by="rest"\} [1-3]$/m);
    // Most of them by the SIP server's thread, which the node counts afterwards.
    const counted = /^ringmaster_calls_refused_total\{by="sip"\} (\d+)$/m;
    await eventually(async () =>
      expect(Number(counted.exec(await figures())?.[1])).to.be.at.least(refusalTimes.length),
    );

    const again = await carol.call('501');
    await again.answered();
    await again.hangup();
    await eventually(async () => expect(await figures()).to.match(/^ringmaster_overloaded 0$/m), 20_000);
    expect(node.output).to.contain('"the overload is over"');
  });
});

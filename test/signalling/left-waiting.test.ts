import { join } from 'node:path';
import { expect } from 'chai';
import { startSipServer } from '../../runtime/embedded/index.ts';
import type { IncomingInvite } from '../../runtime/signalling/incoming-invite.ts';
import type { WaitingInvite } from '../../runtime/signalling/left-waiting.ts';
import { SipLink } from '../../runtime/signalling/link.ts';
import { RingingJournal } from '../../runtime/signalling/ringing-journal.ts';
import { eventually } from '../support/eventually.ts';
import { Agent } from '../conformance/support/agent.ts';
import { silentLog } from '../support/log.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const SECRET = 'waiting';
const HANDLERS = { invite: () => undefined, register: () => undefined, message: () => undefined };

describe('calls left unanswered by a killed process', () => {
  let server: Awaited<ReturnType<typeof startSipServer>>;
  const folder = temporaryFolder();
  before(async () => {
    server = await startSipServer({ app: '127.0.0.1:0', secret: SECRET, sip: ['127.0.0.1:0'] });
  });
  after(() => server.close());

  it('are refused by the next process of the node; answered ones are forgotten', async () => {
    const app = { host: '127.0.0.1', port: Number(server.addresses['app']?.split(':')[1]), secret: SECRET };
    const target = `sip:service@${server.addresses['sip']}`;
    const file = join(folder, 'waiting.jsonl');
    const { promise: came, resolve } = Promise.withResolvers<IncomingInvite>();
    let decline = false;
    const invite = (each: IncomingInvite): void => (decline ? each.reject(486) : resolve(each));
    // Its connection stays, as this server answers by itself when an application goes; drachtio-server does not.
    const hung = await SipLink.connect(app, { ...HANDLERS, invite }, silentLog, {
      waiting: RingingJournal.open<WaitingInvite>(file),
    });
    const agent = await Agent.open();
    const answer = agent.send('INVITE', target);
    const refused = await came;
    decline = true;
    expect((await agent.send('INVITE', target))?.status).to.equal(486);
    const waiting = RingingJournal.open<WaitingInvite>(file);
    expect(waiting.ringing.map(({ callId }) => callId)).to.deep.equal([refused.callId]);
    const next = await SipLink.connect(app, HANDLERS, silentLog, { waiting });
    expect((await answer)?.status).to.equal(500);
    await eventually(async () => expect(waiting.ringing).to.deep.equal([]));
    next.close();
    hung.close();
    await agent.close();
  });
});

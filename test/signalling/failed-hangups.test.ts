import { expect } from 'chai';
import { SipLink } from '../../runtime/signalling/link.ts';
import { Agent } from '../conformance/support/agent.ts';
import { type HeldSipServer, sipServer } from '../conformance/support/servers.ts';
import { sdp } from '../conformance/support/sdp.ts';
import type { Dialog, Srf } from '../conformance/support/srf.ts';
import { silentLog } from '../support/log.ts';

/** A rejection that nobody handles ends a node. */
describe('an unawaited hangup', () => {
  let server: HeldSipServer;
  let link: SipLink;
  let agent: Agent;

  const unhandled: unknown[] = [];
  const note = (reason: unknown): unknown => unhandled.push(reason);

  before(async () => {
    process.prependListener('unhandledRejection', note);
    server = await sipServer();
    const handlers = { invite: () => undefined, register: () => undefined, message: () => undefined };
    link = await SipLink.connect(server.address, handlers, silentLog);
    agent = await Agent.open();
  });
  after(async () => {
    process.off('unhandledRejection', note);
    link.close();
    await agent.close();
    await server.close();
  });

  const forms: Record<string, (srf: Srf) => Promise<Dialog>> = {
    'a promise': (srf) => srf.createUAC(agent.uri, { localSdp: sdp() }),
    'a callback': (srf) =>
      new Promise((resolve, reject) => {
        const done = (err: unknown, dialog: Dialog) => (dialog === undefined ? reject(err) : resolve(dialog));
        const create = srf.createUAC.bind(srf) as (...args: unknown[]) => void;
        create(agent.uri, { localSdp: sdp() }, {}, done);
      }),
  };
  for (const [name, make] of Object.entries(forms)) {
    it(`does not end the process when the dialog is already over (made with ${name})`, async () => {
      const making = make(link.srfForMedia as Srf);
      await agent.answer(await agent.request('INVITE'));
      const dialog = await making;
      const ended = dialog.destroy();
      (await agent.request('BYE')).respond(200);
      await ended;
      void dialog.destroy();
      const withHandledHangup = await dialog.destroy().then(
        () => undefined,
        (error: unknown) => (error as { code?: string }).code,
      );
      expect(withHandledHangup).to.equal('ENODIALOG');
      // Node reports rejections after the microtasks of a turn.
      await new Promise((resolve) => setImmediate(resolve));
      expect(unhandled).to.deep.equal([]);
    });
  }
});
